# Completion of mfpg for bash; made by: mfpg completion bash
# Bash parts words at = and :, so that the words are put together again as they were typed, and what comes before the last such
# sign is not part of the replies.
_mfpg() {
    local line=${COMP_LINE:0:COMP_POINT} rest word gap words=() i
    rest=$line
    for ((i = 0; i <= COMP_CWORD; i++)); do
        gap=${rest%%[![:space:]]*}
        rest=${rest#"$gap"}
        word=${COMP_WORDS[i]}
        [[ $rest == "$word"* ]] || word=$rest
        rest=${rest#"$word"}
        if ((i > 0)) && [[ -z $gap ]]; then words[-1]+=$word; else words+=("$word"); fi
    done
    local last=${words[-1]} value prefix= cut=
    value=$last
    [[ $last == *=* ]] && value=${last#*=} prefix=${last%%=*}=
    local breaks=${COMP_WORDBREAKS//[^=:]/}
    [[ -n $breaks && $last == *[$breaks]* ]] && cut=${last%"${last##*[$breaks]}"}
    COMPREPLY=()
    local reply program=${1/#\~/$HOME}
    while IFS= read -r reply; do
        case $reply in
        ':files '*) compopt -o filenames 2>/dev/null
            while IFS= read -r word; do
                if [[ -d $word || ${word##*/} == ${reply#:files } ]]; then COMPREPLY+=("$prefix$word"); fi
            done < <(compgen -f -- "$value") ;;
        ':folders') compopt -o filenames 2>/dev/null
            while IFS= read -r word; do COMPREPLY+=("$prefix$word"); done < <(compgen -d -- "$value") ;;
        ':message '*) ;;
        *) COMPREPLY+=("$prefix${reply%%$'\t'*}") ;;
        esac
    done < <("$program" completion --words -- "${words[@]}" 2>/dev/null)
    [[ -z $cut ]] || COMPREPLY=("${COMPREPLY[@]#"$cut"}")
    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[=.,] ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _mfpg mfpg
