#include "complete.h"

#include <stdio.h>
#include <string.h>

#include "option_table.h"
#include "options.h"

/* The command line so far. */
typedef struct line {
    mfpg_context *ctx;
    char *const *words; /* of the command: the first behind its name, the last the one to be completed */
    int count;
    option_table options;
} line;

static const char *last_word(const line *typed) {
    return typed->words[typed->count - 1];
}

/* The option of a word "--name" or "--name=value"; NULL for any other. */
static const option_row *option_of(const line *typed, const char *word) {
    return strncmp(word, "--", 2) == 0 && word[2]
               ? option_table_find(&typed->options, word + 2, strcspn(word + 2, "="))
               : NULL;
}

/* An option whose argument is the next word. */
static const option_row *waits_for_value(const line *typed, int index) {
    const option_row *option = option_of(typed, typed->words[index]);
    return option && option->argument && !strchr(typed->words[index], '=') ? option : NULL;
}

static int is_given(const line *typed, const option_row *wanted) {
    for (int i = 0; i < typed->count - 1; i++)
        if (option_of(typed, typed->words[i]) == wanted) return 1;
    return 0;
}

static void complete_options(const line *typed) {
    const fragment word = {.ctx = typed->ctx, .text = last_word(typed), .list = ""};
    for (int i = 0; i < typed->options.count; i++) {
        const option_row *row = &typed->options.row[i];
        char name[WORD_SIZE + 2];
        if (!row->name || is_given(typed, row)) continue;
        snprintf(name, sizeof name, "--%s", row->name);
        complete_offer(&word, name, row->argument ? "=" : "", row->doc);
    }
}

/* ---- arguments without an option: args_doc of the command ---- */

/* How many such arguments stand before the last word; KEY=VALUE pairs are no part of the order. */
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

/* Where the arguments of a form of the command (a line of args_doc) begin. A form that begins with an option counts where
 * that is given, else NULL. */
static const char *skip_option(const line *typed, const char *form) {
    char name[WORD_SIZE];
    size_t length = strcspn(form, " \n");
    if (form[0] != '-') return form;
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), form);
    const option_row *option = option_of(typed, name);
    return option && is_given(typed, option) ? form + length : NULL;
}

static void complete_token(const line *typed, const char *token) {
    const char *word = last_word(typed), *equals = strchr(word, '=');
    if (strcmp(token, "KEY=VALUE") == 0 && equals)
        complete_value(typed->ctx, word, (size_t)(equals - word), equals + 1);
    else if (!equals)
        complete_placeholder(typed->ctx, token, word);
}

/* "[CONFIG.yaml|EXAMPLE [KEY=VALUE...]]": the token of the position, or the last one where that repeats. */
static void complete_form(const line *typed, const char *form) {
    size_t end = strcspn(form, "\n");
    int pairs = memmem(form, end, "KEY=VALUE", 9) != NULL, wanted = count_arguments(typed, !pairs), at = 0;
    int assigns = pairs && strchr(last_word(typed), '=') != NULL;
    for (const char *token = form; token < form + end; token += strcspn(token, " \n")) {
        token += strspn(token, " ");
        size_t length = strcspn(token, " \n");
        char name[256];
        const char *begin = token + strspn(token, "[");
        snprintf(name, sizeof name, "%.*s", (int)(length - (size_t)(begin - token)), begin);
        name[strcspn(name, "]")] = 0;
        char *repeats = strstr(name, "...");
        if (repeats) *repeats = 0;
        int fits = assigns ? strcmp(name, "KEY=VALUE") == 0 : at == wanted || (repeats && at < wanted);
        if (fits) complete_token(typed, name);
        at++;
    }
}

static void complete_arguments(const line *typed, const char *forms) {
    for (const char *form = forms; form; form = strchr(form, '\n'), form = form ? form + 1 : NULL) {
        const char *begin = skip_option(typed, form);
        if (begin) complete_form(typed, begin);
    }
}

/* ---- the whole ---- */

static void complete_command(void *user, const struct argp *argp) {
    line *typed = user;
    const char *word = last_word(typed), *equals = strchr(word, '=');
    option_table_read(argp, &typed->options);
    const option_row *option = typed->count > 1 ? waits_for_value(typed, typed->count - 2) : NULL;
    if (option) {
        complete_placeholder(typed->ctx, option->argument, word);
    } else if (word[0] == '-' && equals) {
        option = option_of(typed, word);
        if (option && option->argument) complete_placeholder(typed->ctx, option->argument, equals + 1);
    } else if (word[0] == '-') {
        complete_options(typed);
    } else if (argp->args_doc) {
        complete_arguments(typed, argp->args_doc);
    }
}

void complete_words(mfpg_context *ctx, char *const *words, int count) {
    line typed = {.ctx = ctx, .words = words + 2, .count = count - 2};
    if (count < 2) return;
    if (count > 2) {
        cli_describe(words[1], complete_command, &typed);
        return;
    }
    complete_placeholder(ctx, "COMMAND", words[1]);
    const fragment word = {.ctx = ctx, .text = words[1], .list = ""};
    complete_offer(&word, "--help", "", "what the commands are");
    complete_offer(&word, "--version", "", "the version, and what it was built with");
}
