/* mfpg completion: the script with which a shell completes command lines of mfpg, and the candidates that the script asks for:
 * commands, options, their values, keys of the configuration and theirs. */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "mfpg/accountant.h"
#include "reproduction/bench_suites.h"
#include "mfpg/mechanism.h"
#include "mfpg/model.h"

#include "cli.h"
#include "solve.h"

enum { WORD_SIZE = 64, NAME_SIZE = 256 };

/* What has been typed of a thing. */
typedef struct fragment {
    mfpg_context *ctx;
    const char *text; /* "" for nothing */
    const char *list; /* if a list is typed, its complete entries, "a,b,"; otherwise "" */
} fragment;

/* Prints a word and its help if the word begins with what was typed; suffix ("", "=") follows the word. */
static void offer(const fragment *typed, const char *word, const char *suffix, const char *help) {
    if (strncmp(word, typed->text, strlen(typed->text)) != 0) return;
    printf("%s%s%s\t%s\n", typed->list, word, suffix, help);
}

/* ---- kinds of things ---- */

typedef const char *(*name_function)(ptrdiff_t index);

static mfpg_status offer_example(void *user, const char *name, const char *help, const char *path) {
    (void)path;
    offer(user, name, "", help);
    return MFPG_OK;
}

static void offer_examples(const fragment *typed) {
    fragment copy = *typed;
    mfpg_examples_list(typed->ctx, offer_example, &copy);
}

/* Lists the runs below ./runs by name, where `mfpg run` puts them; other runs are completed as folders. */
static void offer_runs(const fragment *typed) {
    DIR *runs = opendir("runs");
    struct dirent *item;
    while (runs && (item = readdir(runs))) {
        char path[sizeof item->d_name + 16], ledger[sizeof path + 8];
        snprintf(path, sizeof path, "runs/%s", item->d_name);
        snprintf(ledger, sizeof ledger, "%s/ledger", path);
        if (item->d_name[0] != '.' && access(ledger, F_OK) == 0) offer(typed, path, "", "a run");
    }
    if (runs) closedir(runs);
    puts(":folders");
}

/* "privacy." is offered once for all keys below it. */
static void offer_keys(const fragment *typed) {
    const mfpg_options *keys = mfpg_config_options();
    size_t done = strlen(typed->text);
    char group[128], last[128] = "";
    for (ptrdiff_t i = 0; i < keys->count; i++) {
        const mfpg_option *key = &keys->option[i];
        const char *dot = strlen(key->name) >= done ? strchr(key->name + done, '.') : NULL;
        snprintf(group, sizeof group, "%.*s", dot ? (int)(dot + 1 - key->name) : 0, key->name);
        if (!dot)
            offer(typed, key->name, "=", key->help);
        else if (strcmp(group, last) != 0)
            offer(typed, group, "", mfpg_option_section(keys, i));
        strcpy(last, group);
    }
}

static void offer_list(const fragment *typed, const mfpg_kinds *list) {
    for (ptrdiff_t i = 0; i < list->count; i++)
        offer(typed, mfpg_kind_name(list, i), "", mfpg_kind_help(list, i));
}

static void offer_accountants(const fragment *typed) {
    offer_list(typed, &mfpg_accountants);
}

static void offer_costs(const fragment *typed) {
    offer_list(typed, &mfpg_costs);
}

static const struct kind {
    const char *name;
    const char *line;                     /* printed as it is; or NULL */
    void (*offer)(const fragment *typed); /* or NULL */
    name_function list, help;             /* names from two functions; or NULL */
} kinds[] = {
    {"FILE", ":files *", NULL, NULL, NULL},
    {"CONFIG.yaml", ":files *.yaml", NULL, NULL, NULL},
    {"DIR", ":folders", NULL, NULL, NULL},
    {"FOLDER", ":folders", NULL, NULL, NULL},
    {"RUN", NULL, offer_runs, NULL, NULL},
    {"EXAMPLE", NULL, offer_examples, NULL, NULL},
    {"KEY=VALUE", NULL, offer_keys, NULL, NULL},
    {"COMMAND", NULL, NULL, cli_command_name, cli_command_help},
    {"COST", NULL, offer_costs, NULL, NULL},
    {"STUDY", NULL, NULL, solve_name_of_study, solve_help_of_study},
    {"ACCOUNTANT", NULL, offer_accountants, NULL, NULL},
    {"SUITE", NULL, NULL, mfpg_suite_name, mfpg_suite_help},
};

static void offer_kind(const fragment *typed, const char *name) {
    for (const struct kind *kind = kinds; kind < kinds + sizeof kinds / sizeof kinds[0]; kind++) {
        if (strcmp(kind->name, name) != 0) continue;
        if (kind->line) puts(kind->line);
        if (kind->offer) kind->offer(typed);
        for (ptrdiff_t i = 0; kind->list && kind->list(i); i++)
            offer(typed, kind->list(i), "", kind->help(i));
    }
}

/* Handles the parts of a placeholder (cli.h): words in lower case are offered unchanged, and for each kind
 * what exists. */
static void offer_placeholder(mfpg_context *ctx, const char *placeholder, const char *text) {
    char part[WORD_SIZE], before[1024] = "";
    const char *end = strstr(placeholder, ",..."), *comma = end ? strrchr(text, ',') : NULL;
    if (!end) end = placeholder + strlen(placeholder);
    if (comma) snprintf(before, sizeof before, "%.*s", (int)(comma + 1 - text), text);
    const fragment typed = {.ctx = ctx, .text = comma ? comma + 1 : text, .list = before};
    for (const char *at = placeholder; at < end; at += strlen(part) + 1) {
        snprintf(part, sizeof part, "%.*s", (int)(end - at), at);
        part[strcspn(part, "|")] = 0;
        if (islower((unsigned char)part[0]) && !strpbrk(part, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
            offer(&typed, part, "", "");
        else
            offer_kind(&typed, part);
    }
}

/* The values of an option or key. */
static void offer_values(mfpg_context *ctx, const mfpg_option *option, const char *text) {
    const fragment typed = {.ctx = ctx, .text = text, .list = ""};
    const char *set = option->default_value ? option->default_value : "", *word;
    char allowed[512];
    for (ptrdiff_t i = 0; (word = mfpg_option_word(option, i)); i++)
        offer(&typed, word, "", strcmp(word, set) == 0 ? "default" : "");
    if (option->argument) {
        offer_placeholder(ctx, option->argument, text);
    } else if (option->kind == MFPG_OPTION_TRUTH) {
        offer(&typed, "true", "", strcmp(set, "true") == 0 ? "default" : "");
        offer(&typed, "false", "", strcmp(set, "false") == 0 ? "default" : "");
    } else if (option->kind == MFPG_OPTION_PATH) {
        puts(":files *");
    } else if (option->kind != MFPG_OPTION_WORD) {
        printf(":message %s\n", mfpg_option_allowed(option, allowed, sizeof allowed));
    }
}

/* ---- the command line so far ---- */

typedef struct line {
    mfpg_context *ctx;
    const cli_command *command;
    char *const *words; /* of the command: the first after its name, the last the one to be completed */
    int count;
} line;

/* Returns the option of a word "--name" or "--name=value", whose name may be abbreviated; NULL for any other
 * word. */
static const mfpg_option *option_of(const line *typed, const char *word) {
    size_t length = strcspn(word, "= \n");
    const mfpg_option *option, *begun = NULL;
    int beginnings = 0;
    if (strncmp(word, "--", 2) != 0 || length == 2) return NULL;
    for (ptrdiff_t i = 0; (option = cli_command_option(typed->command, i)); i++) {
        if (strncmp(option->name, word + 2, length - 2) != 0) continue;
        if (option->name[length - 2] == 0) return option;
        begun = option;
        beginnings++;
    }
    return beginnings == 1 ? begun : NULL;
}

/* An option whose value is the next word. */
static const mfpg_option *waits_for_value(const line *typed, int index) {
    const mfpg_option *option = option_of(typed, typed->words[index]);
    return option && option->kind != MFPG_OPTION_FLAG && !strchr(typed->words[index], '=') ? option : NULL;
}

static int is_given(const line *typed, const mfpg_option *wanted) {
    for (int i = 0; i < typed->count - 1; i++)
        if (option_of(typed, typed->words[i]) == wanted) return 1;
    return 0;
}

/* Offers the options that are not given yet. Options without help are for scripts. */
static void offer_options(const line *typed, const char *word) {
    const fragment begun = {.ctx = typed->ctx, .text = word, .list = ""};
    const mfpg_option *option;
    for (ptrdiff_t i = 0; (option = cli_command_option(typed->command, i)); i++) {
        char name[WORD_SIZE + 2];
        if (!option->help[0] || is_given(typed, option)) continue;
        snprintf(name, sizeof name, "--%s", option->name);
        offer(&begun, name, option->kind == MFPG_OPTION_FLAG ? "" : "=", option->help);
    }
}

/* ---- arguments without an option: the forms of the command ---- */

/* Counts such arguments before the last word; KEY=VALUE pairs do not count. */
static int count_arguments(const line *typed, int pairs_count) {
    int count = 0, options_end = 0;
    for (int i = 0; i < typed->count - 1; i++) {
        if (!options_end && strcmp(typed->words[i], "--") == 0)
            options_end = 1;
        else if (!options_end && typed->words[i][0] == '-')
            i += waits_for_value(typed, i) && i + 1 < typed->count - 1;
        else
            count += pairs_count || !strchr(typed->words[i], '=');
    }
    return count;
}

static void offer_token(const line *typed, const char *token, const char *word) {
    const char *equals = strchr(word, '=');
    char key[NAME_SIZE];
    if (!equals) {
        offer_placeholder(typed->ctx, token, word);
    } else if (strcmp(token, "KEY=VALUE") == 0) {
        snprintf(key, sizeof key, "%.*s", (int)(equals - word), word);
        ptrdiff_t index = mfpg_config_key_find(key);
        if (index >= 0) offer_values(typed->ctx, &mfpg_config_options()->option[index], equals + 1);
    }
}

/* "[CONFIG.yaml|EXAMPLE [KEY=VALUE...]]": the token of the position, or the last one if that repeats. */
static void offer_form(const line *typed, const char *form, const char *word) {
    const char *end = form + strcspn(form, "\n");
    int pairs = memmem(form, (size_t)(end - form), "KEY=VALUE", 9) != NULL, at = 0;
    int wanted = count_arguments(typed, !pairs), assigns = pairs && strchr(word, '=');
    for (form += strspn(form, " ["); form < end; form += strspn(form, " []."), at++) {
        char token[NAME_SIZE];
        size_t length = strcspn(form, " []\n");
        snprintf(token, sizeof token, "%.*s", (int)length, form);
        char *repeats = strstr(token, "...");
        if (repeats) *repeats = 0;
        if (assigns ? strcmp(token, "KEY=VALUE") == 0 : at == wanted || (repeats && at < wanted))
            offer_token(typed, token, word);
        form += length;
    }
}

/* A form (a line) that begins with an option applies only if that option is given. */
static void offer_arguments(const line *typed, const char *word) {
    for (const char *form = typed->command->forms; form;
         form = strchr(form, '\n'), form = form ? form + 1 : NULL) {
        const mfpg_option *option = option_of(typed, form);
        if (!option)
            offer_form(typed, form, word);
        else if (is_given(typed, option))
            offer_form(typed, form + strcspn(form, " \n"), word);
    }
}

/* ---- the candidates ---- */

static void offer_for_command(const line *typed) {
    const char *word = typed->words[typed->count - 1], *equals = strchr(word, '=');
    const mfpg_option *option = typed->count > 1 ? waits_for_value(typed, typed->count - 2) : NULL;
    if (option) {
        offer_values(typed->ctx, option, word);
    } else if (word[0] == '-' && equals) {
        option = option_of(typed, word);
        if (option && option->kind != MFPG_OPTION_FLAG) offer_values(typed->ctx, option, equals + 1);
    } else if (word[0] == '-') {
        offer_options(typed, word);
    } else {
        offer_arguments(typed, word);
    }
}

/* Prints the candidates for the last of count words, of which the first is the program, one a line:
 *     WORD<TAB>HELP       a word; one that ends in = . , or / is not complete yet
 *     :files PATTERN      and names of files that match, such as *.yaml
 *     :folders            and names of folders
 *     :message TEXT       nothing to choose from; what is allowed
 * If the word holds a "=", the candidates belong after its first one. For a command line that is wrong there are none. */
static void offer_words(mfpg_context *ctx, char *const *words, int count) {
    if (count < 2) return;
    if (count == 2) {
        const fragment word = {.ctx = ctx, .text = words[1], .list = ""};
        offer_kind(&word, "COMMAND");
        offer(&word, "--help", "", "what the commands are");
        offer(&word, "--version", "", "the version, and what it was built with");
        return;
    }
    const line typed = {
        .ctx = ctx, .command = cli_command_find(words[1], NULL), .words = words + 2, .count = count - 2};
    if (typed.command) offer_for_command(&typed);
}

/* ---- the command ---- */

typedef struct settings {
    int asks;
} settings;

static mfpg_status completion(cli_call *call) {
    const char *shell = call->argument[0];
    if (((const settings *)call->options)->asks) {
        offer_words(call->ctx, call->argument, call->arguments);
        return MFPG_OK;
    }
    if (call->arguments > 1)
        return mfpg_fail(
            call->ctx, MFPG_ERR_INPUT, "one shell at a time; '%.60s' is a second", call->argument[1]);
    if (strcmp(shell, "bash") != 0 && strcmp(shell, "zsh") != 0)
        return mfpg_fail(call->ctx, MFPG_ERR_INPUT, "no script for shell '%.60s'; allowed: bash, zsh", shell);
    const char *script = cli_page(strcmp(shell, "zsh") == 0 ? "completion.zsh" : "completion.bash");
    if (call->json) return cli_json_print(cli_json("shell:s script:s", shell, script));
    fputs(script, stdout);
    return MFPG_OK;
}

const cli_command command_completion = {
    .list = CLI_LIST(CLI_OPTION("words", 0, FLAG, NULL, asks, "")), /* for the scripts */
    .size = sizeof(settings),
    .forms = "bash|zsh",
    .least = 1,
    .most = INT_MAX,
    .needed = "for which shell? allowed: bash, zsh",
    .doc = "Prints a script with which the shell completes commands, options and their values, keys of the "
           "configuration and theirs, examples, files and runs."
           "\vAn installed package has put both scripts where the shells find them. By hand:\n\n"
           "  eval \"$(mfpg completion bash)\"    in ~/.bashrc\n"
           "  eval \"$(mfpg completion zsh)\"     in ~/.zshrc, after compinit\n",
    .run = completion,
};
