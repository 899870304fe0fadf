#include <stdlib.h>

#include "account.h"
#include "option_table.h"
#include "options.h"

enum { FIRST_KEY = 0x100 };

typedef struct reading {
    cli_common common;
    mfpg_context *ctx;
    mfpg_question *question;
    mfpg_question_kind kind;
} reading;

static error_t parse(int key, char *text, struct argp_state *state) {
    reading *input = state->input;
    const mfpg_options *list = mfpg_question_options(input->kind);
    if (key == ARGP_KEY_INIT) state->child_inputs[0] = &input->common;
    if (key == ARGP_KEY_ARG) cli_wrong_argument(state, "'%.60s' is no option", text);
    int taken = cli_take_option(state, input->ctx, list, key - FIRST_KEY, text, input->question);
    return taken ? 0 : ARGP_ERR_UNKNOWN;
}

int account_command(mfpg_question_kind kind, const char *command, const char *doc, int argc, char **argv,
    int (*print)(const mfpg_answer *answer, int json)) {
    static const struct argp_child children[] = {{.argp = &cli_common_argp}, {0}};
    option_rows rows;
    const struct argp argp = {.options = rows.row, .parser = parse, .doc = doc, .children = children};
    reading input = {.ctx = cli_context(1), .kind = kind};
    mfpg_answer answer = {0};
    option_rows_fill(mfpg_question_options(kind), FIRST_KEY, &rows);
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
