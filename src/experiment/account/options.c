/* The table of options, and how a question is put together from them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/number.h"
#include "question.h"

/* ---- what a number may be ---- */

static int is_from_zero(double value) {
    return value >= 0;
}

static int is_above_zero(double value) {
    return value > 0;
}

static int is_from_one(double value) {
    return value >= 1;
}

static int is_share(double value) {
    return value >= 0 && value <= 1;
}

static int is_below_one(double value) {
    return value >= 0 && value < 1;
}

static int is_whole(double value) {
    return value >= 0 && value <= 0x1p53 && value == floor(value);
}

typedef struct range {
    int (*holds)(double value);
    const char *words;
} range;

#define FROM_ZERO                                                                                            \
    { is_from_zero, "a finite number from 0" }
#define ABOVE_ZERO                                                                                           \
    { is_above_zero, "a number above 0" }
#define FROM_ONE                                                                                             \
    { is_from_one, "a number from 1" }
#define SHARE                                                                                                \
    { is_share, "a number from 0 up to 1" }
#define BELOW_ONE                                                                                            \
    { is_below_one, "a number from 0 below 1" }
#define WHOLE                                                                                                \
    { is_whole, "a whole number from 0" }

/* ---- the table ---- */

enum {
    ACCOUNT = 1 << MFPG_QUESTION_ACCOUNT,
    CALIBRATE = 1 << MFPG_QUESTION_CALIBRATE,
    BOTH = ACCOUNT | CALIBRATE
};

typedef enum form { FORM_NUMBER, FORM_WORD, FORM_TEXT, FORM_FLAG, FORM_ORDERS, FORM_LIST } form;

typedef struct option {
    const char *name, *argument, *help;
    form form;
    size_t offset; /* in a question */
    range range;   /* of a number */
    int kinds, group;
} option;

#define GROUP(group, heading)
#define ROW(...) {__VA_ARGS__},
#define NUMBER(name, field, argument, range, kinds, group, help)                                             \
    ROW(name, argument, help, FORM_NUMBER, offsetof(mfpg_question, field), range, kinds, group)
#define WORD(name, field, argument, kinds, group, help)                                                      \
    ROW(name, argument, help, FORM_WORD, offsetof(mfpg_question, field), {0}, kinds, group)
#define TEXT(name, field, argument, kinds, group, help)                                                      \
    ROW(name, argument, help, FORM_TEXT, offsetof(mfpg_question, field), {0}, kinds, group)
#define LIST(name, field, argument, kinds, group, help)                                                      \
    ROW(name, argument, help, FORM_LIST, offsetof(mfpg_question, field), {0}, kinds, group)
#define FLAG(name, field, kinds, group, help)                                                                \
    ROW(name, NULL, help, FORM_FLAG, offsetof(mfpg_question, field), {0}, kinds, group)
#define ORDERS(name, argument, kinds, group, help)                                                           \
    ROW(name, argument, help, FORM_ORDERS, offsetof(mfpg_question, order), {0}, kinds, group)
static const option options[] = {
#include "options.def"
};
#undef GROUP
#undef NUMBER
#undef WORD
#undef TEXT
#undef LIST
#undef FLAG
#undef ORDERS

#define GROUP(group, heading) [group] = heading,
#define NUMBER(...)
#define WORD(...)
#define TEXT(...)
#define LIST(...)
#define FLAG(...)
#define ORDERS(...)
static const char *const headings[] = {
#include "options.def"
};

enum { OPTIONS = sizeof options / sizeof options[0] };

static double *number_of(mfpg_question *q, const option *o) {
    return (double *)(void *)((char *)q + o->offset);
}

static int *word_of(mfpg_question *q, const option *o) {
    return (int *)(void *)((char *)q + o->offset);
}

static char **text_of(mfpg_question *q, const option *o) {
    return (char **)(void *)((char *)q + o->offset);
}

int mfpg_question_option_get(mfpg_question_kind kind, ptrdiff_t index, mfpg_question_option *out) {
    for (int i = 0; index >= 0 && i < OPTIONS; i++) {
        const option *o = &options[i];
        if (!(o->kinds & 1 << kind) || index-- > 0) continue;
        *out = (mfpg_question_option){.name = o->name,
            .argument = o->argument,
            .help = o->help,
            .heading = headings[o->group],
            .group = o->group};
        return 1;
    }
    return 0;
}

/* ---- a question ---- */

mfpg_status mfpg_question_create(mfpg_context *ctx, mfpg_question_kind kind, mfpg_question **out) {
    mfpg_question *made = mfpg_alloc(1, sizeof *made);
    if (!made) return mfpg_fail_memory(ctx);
    made->kind = kind;
    for (int i = 0; i < OPTIONS; i++) {
        if (options[i].form == FORM_NUMBER) *number_of(made, &options[i]) = (double)NAN;
        if (options[i].form == FORM_WORD) *word_of(made, &options[i]) = -1;
    }
    made->view = made->assume = 0;
    *out = made;
    return MFPG_OK;
}

void mfpg_question_destroy(mfpg_question *question) {
    if (!question) return;
    free(question->accountant);
    free(question->blocks);
    for (ptrdiff_t i = 0; i < question->ledgers; i++) free(question->ledger[i]);
    free(question->ledger);
    free(question->order);
    free(question);
}

static mfpg_status find(mfpg_context *ctx, const mfpg_question *q, const char *name, const option **out) {
    const char *names[OPTIONS];
    ptrdiff_t count = 0;
    for (int i = 0; i < OPTIONS; i++) {
        if (!(options[i].kinds & 1 << q->kind)) continue;
        *out = &options[i];
        if (name && strcmp(options[i].name, name) == 0) return MFPG_OK;
        names[count++] = options[i].name;
    }
    return mfpg_names_unknown(ctx, "option", name, names, count);
}

static mfpg_status set_number(mfpg_context *ctx, mfpg_question *q, const option *o, const char *text) {
    double value;
    if (!mfpg_number_parse(text, strlen(text), &value) || !o->range.holds(value))
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "--%s: found '%.60s'; allowed: %s", o->name, text, o->range.words);
    *number_of(q, o) = value;
    return MFPG_OK;
}

enum { MOST_WORDS = 8, WORD_SIZE = 16 };

static mfpg_status set_word(mfpg_context *ctx, mfpg_question *q, const option *o, const char *text) {
    char word[MOST_WORDS][WORD_SIZE] = {{0}}, list[MOST_WORDS * WORD_SIZE];
    const char *names[MOST_WORDS];
    int count = 0;
    for (const char *at = o->argument; count < MOST_WORDS; at++) {
        size_t length = strcspn(at, "|");
        memcpy(word[count], at, length < WORD_SIZE ? length : WORD_SIZE - 1);
        if (strcmp(word[count], text) == 0) {
            *word_of(q, o) = count;
            return MFPG_OK;
        }
        names[count] = word[count];
        count++;
        at += length;
        if (*at == 0) break;
    }
    const char *nearest = mfpg_names_nearest(text, names, count);
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "--%s: found '%.60s'; allowed: %s%s%s%s", o->name, text,
        mfpg_names_join(names, count, list, sizeof list), nearest ? "; did you mean " : "",
        nearest ? nearest : "", nearest ? "?" : "");
}

static mfpg_status set_text(mfpg_context *ctx, mfpg_question *q, const option *o, const char *text) {
    char *copy = mfpg_text_copy(text, strlen(text));
    if (!copy) return mfpg_fail_memory(ctx);
    free(*text_of(q, o));
    *text_of(q, o) = copy;
    return MFPG_OK;
}

/* The one list is that of ledgers. */
static mfpg_status add_text(mfpg_context *ctx, mfpg_question *q, const char *text) {
    char **longer = mfpg_resize(q->ledger, q->ledgers + 1, sizeof *longer);
    if (longer) q->ledger = longer;
    char *copy = longer ? mfpg_text_copy(text, strlen(text)) : NULL;
    if (!copy) return mfpg_fail_memory(ctx);
    q->ledger[q->ledgers++] = copy;
    return MFPG_OK;
}

static mfpg_status set_orders(mfpg_context *ctx, mfpg_question *q, const char *text) {
    double *order = mfpg_alloc((ptrdiff_t)strlen(text) + 1, sizeof *order); /* no more orders than letters */
    ptrdiff_t count = 0;
    if (!order) return mfpg_fail_memory(ctx);
    for (const char *at = text;; at++) {
        size_t length = strcspn(at, ",");
        if (!mfpg_number_parse(at, length, &order[count]) || !(order[count] >= 1)) {
            free(order);
            return mfpg_fail(ctx, MFPG_ERR_INPUT,
                "--order: found '%.60s'; allowed: A,B,... with every order a number from 1", at);
        }
        count++;
        at += length;
        if (*at == 0) break;
    }
    free(q->order);
    q->order = order;
    q->order_count = count;
    return MFPG_OK;
}

mfpg_status mfpg_question_set(
    mfpg_context *ctx, mfpg_question *question, const char *option_name, const char *value) {
    const option *o;
    mfpg_status status = find(ctx, question, option_name, &o);
    if (status != MFPG_OK) return status;
    if (!value != (o->form == FORM_FLAG))
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--%s takes %s", o->name, value ? "no value" : "a value");
    switch (o->form) {
    case FORM_NUMBER: return set_number(ctx, question, o, value);
    case FORM_WORD: return set_word(ctx, question, o, value);
    case FORM_TEXT: return set_text(ctx, question, o, value);
    case FORM_LIST: return add_text(ctx, question, value);
    case FORM_ORDERS: return set_orders(ctx, question, value);
    case FORM_FLAG: *word_of(question, o) = 1;
    }
    return MFPG_OK;
}

/* ---- what was given ---- */

static int is_given(const mfpg_question *q, const option *o) {
    const char *field = (const char *)q + o->offset;
    int word;
    double number;
    switch (o->form) {
    case FORM_NUMBER: memcpy(&number, field, sizeof number); return !isnan(number);
    case FORM_WORD: memcpy(&word, field, sizeof word); return word >= 0;
    case FORM_FLAG: memcpy(&word, field, sizeof word); return word;
    case FORM_TEXT:
    case FORM_LIST:
    case FORM_ORDERS: break;
    }
    const void *pointer;
    memcpy(&pointer, field, sizeof pointer);
    return pointer != NULL;
}

const char *account_first_given(const mfpg_question *q, const char *const *names) {
    for (; *names; names++)
        for (int i = 0; i < OPTIONS; i++)
            if (strcmp(options[i].name, *names) == 0 && is_given(q, &options[i])) return *names;
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
