#compdef mfpg
# Completion of mfpg for zsh; made by: mfpg completion zsh
_mfpg() {
    local line word help files= folders= message=
    local -a complete open
    for line in "${(@f)$(${~words[1]} completion --words -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}"; do
        case $line in
        (':files '*) files=${line#:files } ;;
        (:folders) folders=1 ;;
        (':message '*) message=${line#:message } ;;
        (*$'\t'*)
            word=${line%%$'\t'*} help=${line#*$'\t'}
            line=${word//:/\\:}${help:+:$help}
            if [[ $word == *[=.,] ]]; then open+=("$line"); else complete+=("$line"); fi ;;
        esac
    done
    compset -P '*='
    local result=1
    (( $#complete )) && _describe -t values 'mfpg' complete && result=0
    (( $#open )) && _describe -t keys 'mfpg' open -S '' && result=0
    [[ -n $files ]] && _files -g "$files" && result=0
    [[ -n $folders ]] && _files -/ && result=0
    [[ -n $message ]] && _message "$message"
    return result
}
if [[ $funcstack[1] == _mfpg ]]; then _mfpg "$@"; else compdef _mfpg mfpg; fi
