/* The options of mfpg account and mfpg calibrate, their consequences, and the description in an answer. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/names.h"
#include "base/memory.h"
#include "options/value.h"
#include "options/columns.h"
#include "base/release_parts.h"
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

mfpg_adjacency account_adjacency(const mfpg_question *q) {
    switch (q->adjacency) {
    case ACCOUNT_ADD: return MFPG_ADJACENCY_ADD;
    case ACCOUNT_REMOVE: return MFPG_ADJACENCY_REMOVE;
    case ACCOUNT_REPLACE: return MFPG_ADJACENCY_REPLACE;
    default: return MFPG_ADJACENCY_ZERO_OUT;
    }
}

mfpg_accountant_options account_accountant_options(const mfpg_question *q) {
    mfpg_accountant_options made = mfpg_accountant_options_default();
    made.promise.unit = MFPG_UNIT_EXAMPLE;
    made.promise.view = (mfpg_view)q->view;
    made.promise.adjacency = account_adjacency(q);
    made.orders = q->order.value;
    made.order_count = q->order.count;
    made.width = account_or(q->width, made.width);
    made.paper.dimension = account_or(q->dimension, made.paper.dimension);
    made.paper.clients = account_or(q->population, made.paper.clients);
    if (account_given(q->prior_variance)) made.paper.alpha = 1 / q->prior_variance;
    made.paper.variance_penalty = account_or(q->variance_penalty, made.paper.variance_penalty);
    made.paper.gradient_norm = account_or(q->gradient_norm, made.paper.gradient_norm);
    made.paper.step = account_or(q->step, made.paper.step);
    return made;
}

/* ---- what an answer says ---- */

void account_describe(
    const mfpg_question *q, const char *accountant, mfpg_unit unit, mfpg_view view, mfpg_answer *out) {
    int given = account_given(q->sensitivity) || account_given(q->mu);
    const char *const *kind = mfpg_kind_find(&mfpg_accountants, accountant);
    out->accountant = kind ? *kind : NULL; /* the name as a constant */
    out->adjacency = given ? NULL : mfpg_adjacency_name(account_adjacency(q));
    out->unit = mfpg_unit_name(unit);
    out->view = mfpg_view_name(view);
}

void account_fill_gdp(const mfpg_question *q, double mu, mfpg_answer *out) {
    int wants_delta = account_given(q->epsilon);
    out->mu = mu;
    out->epsilon = q->epsilon;
    out->delta = account_delta(q);
    if (wants_delta)
        out->delta = mfpg_gdp_delta(mu, q->epsilon);
    else
        out->epsilon = mfpg_gdp_epsilon(mu, out->delta);
    out->lower = 0;
    out->upper = wants_delta ? out->delta : out->epsilon;
}

void account_assume(mfpg_answer *answer, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (answer->assumptions < 0) return;
    char **longer = mfpg_resize(answer->assumption, answer->assumptions + 1, sizeof *longer);
    if (longer) answer->assumption = longer;
    char *copy = longer ? mfpg_text_copy(text, strlen(text)) : NULL;
    if (copy) {
        answer->assumption[answer->assumptions++] = copy;
        return;
    }
    for (ptrdiff_t i = 0; i < answer->assumptions; i++) free(answer->assumption[i]);
    free(answer->assumption);
    answer->assumption = NULL;
    answer->assumptions = -1;
}

void account_assume_records(mfpg_answer *answer) {
    account_assume(answer, "every record is noised once, before anything else reads it; what is computed "
                           "from the noised records is free");
    account_assume(answer, "labels are public: not protected; so is how many records there are");
}

void account_assume_contribution(mfpg_answer *answer, const mfpg_question *q) {
    if (account_given(q->sensitivity))
        account_assume(
            answer, "a release moves by at most the sensitivity %g that was given", q->sensitivity);
    else if (account_given(q->mu))
        account_assume(answer, "every step is Gaussian-DP with the mu %g that was given", q->mu);
    else
        account_assume(answer, "every contribution is clipped to norm %g, flattened", account_clip(q));
    if (answer->adjacency && q->adjacency != ACCOUNT_REPLACE)
        account_assume(answer, "whoever is left out still adds its noise; weights and row counts are public");
}
