/* mfpg completion: the script that makes a shell complete command lines of mfpg, and what the script asks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complete.h"
#include "options.h"

enum { OPTION_WORDS = 0x2000 };

typedef struct settings {
    cli_common common;
    int asks, shell; /* shell: 0 none, 1 bash, 2 zsh */
    char **words;
    int count;
} settings;

static const struct argp_option options[] = {
    {"words", OPTION_WORDS, 0, OPTION_HIDDEN, "What can follow on the command line behind --", 0}, {0}};

static const char *const shells[] = {"", "bash", "zsh"};

static int find_shell(const struct argp_state *state, const char *text) {
    for (int i = 1; i < 3; i++)
        if (strcmp(shells[i], text) == 0) return i;
    cli_wrong_argument(state, "no script for shell '%.60s'; allowed: bash, zsh", text);
}

static error_t parse(int key, char *text, struct argp_state *state) {
    settings *chosen = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &chosen->common; return 0;
    case OPTION_WORDS: chosen->asks = 1; return 0;
    case ARGP_KEY_ARG:
        if (chosen->asks)
            chosen->words[chosen->count++] = text;
        else if (chosen->shell)
            cli_wrong_argument(state, "one shell at a time; '%.60s' is a second", text);
        else
            chosen->shell = find_shell(state, text);
        return 0;
    case ARGP_KEY_END:
        if (!chosen->asks && !chosen->shell) cli_wrong_argument(state, "for which shell? allowed: bash, zsh");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{.argp = &cli_common_argp}, {0}};
static const struct argp argp = {.options = options,
    .parser = parse,
    .args_doc = "bash|zsh",
    .doc = "Prints a script with which the shell completes commands, options and their values, keys of the "
           "configuration and theirs, examples, files and runs."
           "\vAn installed package has put both scripts where the shells find them. By hand:\n\n"
           "  eval \"$(mfpg completion bash)\"    in ~/.bashrc\n"
           "  eval \"$(mfpg completion zsh)\"     in ~/.zshrc, after compinit\n",
    .children = children};

/* Bash parts words at = and :, so that the words are put together again as they were typed, and what stands before the last
 * such sign is not part of the replies. */
static const char bash_script[] =
    "# Completion of mfpg for bash; made by: mfpg completion bash\n"
    "_mfpg() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} rest word gap words=() i\n"
    "    rest=$line\n"
    "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "        gap=${rest%%[![:space:]]*}\n"
    "        rest=${rest#\"$gap\"}\n"
    "        word=${COMP_WORDS[i]}\n"
    "        [[ $rest == \"$word\"* ]] || word=$rest\n"
    "        rest=${rest#\"$word\"}\n"
    "        if ((i > 0)) && [[ -z $gap ]]; then words[-1]+=$word; else words+=(\"$word\"); fi\n"
    "    done\n"
    "    local last=${words[-1]} value prefix= cut=\n"
    "    value=$last\n"
    "    [[ $last == *=* ]] && value=${last#*=} prefix=${last%%=*}=\n"
    "    local breaks=${COMP_WORDBREAKS//[^=:]/}\n"
    "    [[ -n $breaks && $last == *[$breaks]* ]] && cut=${last%\"${last##*[$breaks]}\"}\n"
    "    COMPREPLY=()\n"
    "    local reply program=${1/#\\~/$HOME}\n"
    "    while IFS= read -r reply; do\n"
    "        case $reply in\n"
    "        ':files '*) compopt -o filenames 2>/dev/null\n"
    "            while IFS= read -r word; do\n"
    "                if [[ -d $word || ${word##*/} == ${reply#:files } ]]; then "
    "COMPREPLY+=(\"$prefix$word\"); fi\n"
    "            done < <(compgen -f -- \"$value\") ;;\n"
    "        ':folders') compopt -o filenames 2>/dev/null\n"
    "            while IFS= read -r word; do COMPREPLY+=(\"$prefix$word\"); done < <(compgen -d -- "
    "\"$value\") ;;\n"
    "        ':message '*) ;;\n"
    "        *) COMPREPLY+=(\"$prefix${reply%%$'\\t'*}\") ;;\n"
    "        esac\n"
    "    done < <(\"$program\" completion --words -- \"${words[@]}\" 2>/dev/null)\n"
    "    [[ -z $cut ]] || COMPREPLY=(\"${COMPREPLY[@]#\"$cut\"}\")\n"
    "    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[=.,] ]]; then compopt -o nospace "
    "2>/dev/null; fi\n"
    "}\n"
    "complete -F _mfpg mfpg\n";

static const char zsh_script[] =
    "#compdef mfpg\n"
    "# Completion of mfpg for zsh; made by: mfpg completion zsh\n"
    "_mfpg() {\n"
    "    local line word help files= folders= message=\n"
    "    local -a complete open\n"
    "    for line in \"${(@f)$(${~words[1]} completion --words -- \"${(@Q)words[1,CURRENT-1]}\" "
    "\"${(Q)PREFIX}\" 2>/dev/null)}\"; do\n"
    "        case $line in\n"
    "        (':files '*) files=${line#:files } ;;\n"
    "        (:folders) folders=1 ;;\n"
    "        (':message '*) message=${line#:message } ;;\n"
    "        (*$'\\t'*)\n"
    "            word=${line%%$'\\t'*} help=${line#*$'\\t'}\n"
    "            line=${word//:/\\\\:}${help:+:$help}\n"
    "            if [[ $word == *[=.,] ]]; then open+=(\"$line\"); else complete+=(\"$line\"); fi ;;\n"
    "        esac\n"
    "    done\n"
    "    compset -P '*='\n"
    "    local result=1\n"
    "    (( $#complete )) && _describe -t values 'mfpg' complete && result=0\n"
    "    (( $#open )) && _describe -t keys 'mfpg' open -S '' && result=0\n"
    "    [[ -n $files ]] && _files -g \"$files\" && result=0\n"
    "    [[ -n $folders ]] && _files -/ && result=0\n"
    "    [[ -n $message ]] && _message \"$message\"\n"
    "    return result\n"
    "}\n"
    "if [[ $funcstack[1] == _mfpg ]]; then _mfpg \"$@\"; else compdef _mfpg mfpg; fi\n";

static int print_script(const settings *chosen) {
    const char *script = chosen->shell == 1 ? bash_script : zsh_script;
    if (chosen->common.json)
        return cli_json_print(
            "completion", json_pack("{s:s, s:s}", "shell", shells[chosen->shell], "script", script));
    fputs(script, stdout);
    return cli_finish("completion", CLI_DONE);
}

int command_completion(int argc, char **argv) {
    settings chosen = {.words = calloc((size_t)argc, sizeof(char *))};
    if (!chosen.words) return CLI_FAILED;
    cli_parse(&argp, "completion", argc, argv, &chosen);
    int code;
    if (chosen.asks) {
        mfpg_context *ctx = cli_context(1);
        complete_words(ctx, chosen.words, chosen.count);
        mfpg_context_destroy(ctx);
        code = cli_finish("completion", CLI_DONE);
    } else {
        code = print_script(&chosen);
    }
    free(chosen.words);
    return code;
}
