/* The lists of options of mfpg account and mfpg calibrate, and what follows from single options. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "options/columns.h"
#include "options/value.h"
#include "account_request.h"

#define OPTION(title, form, allowed, between, placeholder, member, says)                                     \
    {.line = __LINE__,                                                                                       \
        .name = title,                                                                                       \
        .kind = MFPG_OPTION_##form,                                                                          \
        allowed,                                                                                             \
        .range = between,                                                                                    \
        .unit = "",                                                                                          \
        .argument = placeholder,                                                                             \
        .used = "",                                                                                          \
        .help = says,                                                                                        \
        FIELD(mfpg_question, member)},
#define HEADING(title)
#define BOTH    OPTION
#define ACCOUNT OPTION
#define CALIBRATE(...)
static const mfpg_option of_account[] = {
#include "account_options.def"
};

#undef ACCOUNT
#undef CALIBRATE
#define ACCOUNT(...)
#define CALIBRATE OPTION
static const mfpg_option of_calibrate[] = {
#include "account_options.def"
};

#undef HEADING
#undef BOTH
#undef CALIBRATE
#define HEADING(title) {__LINE__, title},
#define BOTH(...)
#define CALIBRATE(...)
static const mfpg_option_heading headings[] = {
#include "account_options.def"
};

const mfpg_options *mfpg_question_options(mfpg_question_kind kind) {
    static const mfpg_options account = OPTION_LIST(of_account, headings);
    static const mfpg_options calibrate = OPTION_LIST(of_calibrate, headings);
    return kind == MFPG_QUESTION_CALIBRATE ? &calibrate : &account;
}

mfpg_status mfpg_question_create(mfpg_context *ctx, mfpg_question_kind kind, mfpg_question **out) {
    mfpg_question *made = mfpg_alloc(1, sizeof *made);
    if (!made) return mfpg_fail_memory(ctx);
    mfpg_options_begin(mfpg_question_options(MFPG_QUESTION_ACCOUNT), made);
    mfpg_options_begin(mfpg_question_options(MFPG_QUESTION_CALIBRATE), made);
    made->kind = kind;
    made->view = made->assume = 0;
    *out = made;
    return MFPG_OK;
}

void mfpg_question_destroy(mfpg_question *question) {
    if (!question) return;
    mfpg_options_clear(mfpg_question_options(question->kind), question);
    free(question);
}

const char *account_first_given(const mfpg_question *q, const char *const *names) {
    const mfpg_options *list = mfpg_question_options(q->kind);
    for (; *names; names++) {
        ptrdiff_t index = mfpg_option_find(list, *names);
        if (index >= 0 && mfpg_option_is_given(&list->option[index], q)) return *names;
    }
    return NULL;
}

int account_is_entropic(const mfpg_question *q) {
    return account_given(q->strength) || q->mechanism == ACCOUNT_ENTROPIC;
}

double account_clip(const mfpg_question *q) {
    return account_or(q->clip, 1);
}

double account_distance(const mfpg_question *q) {
    return account_or(q->sensitivity, (q->adjacency == ACCOUNT_REPLACE ? 2 : 1) * account_clip(q));
}

double account_delta(const mfpg_question *q) {
    return account_or(q->delta, 1e-5);
}

mfpg_adjacency account_adjacency(const mfpg_question *q) {
    switch (q->adjacency) {
    case ACCOUNT_ADD: return MFPG_ADJACENCY_ADD;
    case ACCOUNT_REMOVE: return MFPG_ADJACENCY_REMOVE;
    case ACCOUNT_REPLACE: return MFPG_ADJACENCY_REPLACE;
    default: return MFPG_ADJACENCY_ZERO_OUT;
    }
}

const char *account_adjacency_name(const mfpg_question *q) {
    if (account_given(q->sensitivity) || account_given(q->mu)) return NULL;
    return mfpg_adjacency_name(account_adjacency(q));
}
