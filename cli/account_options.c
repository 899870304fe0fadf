#include <stdlib.h>

#include "account.h"
#include "options.h"

enum { MOST_ROWS = 64, FIRST_KEY = 0x100 };

typedef struct reading {
    cli_common common;
    mfpg_context *ctx;
    mfpg_question *question;
    mfpg_question_kind kind;
} reading;

static error_t parse(int key, char *text, struct argp_state *state) {
    reading *input = state->input;
    mfpg_question_option option;
    if (key == ARGP_KEY_INIT) state->child_inputs[0] = &input->common;
    if (key == ARGP_KEY_ARG) cli_wrong_argument(state, "'%.60s' is no option", text);
    if (key < FIRST_KEY || !mfpg_question_option_get(input->kind, key - FIRST_KEY, &option))
        return ARGP_ERR_UNKNOWN;
    mfpg_status status = mfpg_question_set(input->ctx, input->question, option.name, text);
    if (status == MFPG_ERR_INPUT) cli_wrong_argument(state, "%s", mfpg_context_message(input->ctx));
    if (status != MFPG_OK) exit(cli_fail(input->ctx, "account", status));
    return 0;
}

/* The library's table as argp wants it: a heading before the first option of each group, and a row of zeros at the end. */
static void fill_rows(mfpg_question_kind kind, struct argp_option row[MOST_ROWS]) {
    mfpg_question_option option;
    int count = 0, group = 0;
    for (ptrdiff_t i = 0; count < MOST_ROWS - 2 && mfpg_question_option_get(kind, i, &option); i++) {
        if (option.group != group)
            row[count++] = (struct argp_option){.doc = option.heading, .group = option.group};
        group = option.group;
        row[count++] = (struct argp_option){.name = option.name,
            .key = FIRST_KEY + (int)i,
            .arg = option.argument,
            .doc = option.help,
            .group = group};
    }
}

int account_command(mfpg_question_kind kind, const char *command, const char *doc, int argc, char **argv,
    int (*print)(const mfpg_answer *answer, int json)) {
    static const struct argp_child children[] = {{.argp = &cli_common_argp}, {0}};
    struct argp_option row[MOST_ROWS] = {{0}};
    const struct argp argp = {.options = row, .parser = parse, .doc = doc, .children = children};
    reading input = {.ctx = cli_context(1), .kind = kind};
    mfpg_answer answer = {0};
    fill_rows(kind, row);
    mfpg_status status = mfpg_question_create(input.ctx, kind, &input.question);
    if (status == MFPG_OK) {
        cli_parse(&argp, command, argc, argv, &input);
        status = mfpg_question_answer(input.ctx, input.question, &answer);
    }
    int code = status == MFPG_OK ? print(&answer, input.common.json) : cli_fail(input.ctx, command, status);
    mfpg_answer_clear(&answer);
    mfpg_question_destroy(input.question);
    mfpg_context_destroy(input.ctx);
    return code;
}
