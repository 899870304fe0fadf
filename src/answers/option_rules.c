/* Which options may be combined. Contradicting options are refused instead of ignored, so that nobody
 * assumes that an ignored option had an effect. */
#include <stdio.h>
#include <string.h>

#include "account_request.h"
#include "base/error.h"
#include "options/value.h"

/* If the condition holds, none of the options may be given; a rule without options is a fault whenever its
 * condition holds. The message names the given option between its two parts. */
typedef struct rule {
    int holds;
    const char *options; /* names between blanks; NULL: none */
    const char *before, *after;
} rule;

#define EXCLUDE " exclude each other; give one"

/* Finds the first of the named options that was given, or "". */
static void find_given(const mfpg_question *q, const char *names, char out[64]) {
    const mfpg_options *list = mfpg_question_options(q->kind);
    for (int length; *names; names += length + (names[length] == ' ')) {
        length = (int)strcspn(names, " ");
        snprintf(out, 64, "%.*s", length, names);
        ptrdiff_t index = mfpg_option_find(list, out);
        if (index >= 0 && mfpg_option_is_given(&list->option[index], q)) return;
    }
    out[0] = 0;
}

static mfpg_status check(mfpg_context *ctx, const mfpg_question *q, const rule *rules, size_t count) {
    for (const rule *r = rules; r < rules + count; r++) {
        char given[64] = "";
        if (r->holds && r->options) find_given(q, r->options, given);
        if (r->holds && (!r->options || given[0]))
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s%s%s%s", r->before, given[0] ? "--" : "", given,
                r->after ? r->after : "");
    }
    return MFPG_OK;
}

static int has_fact(const mfpg_question *q, int fact) {
    return (mfpg_accountant_facts(q->accountant) & fact) != 0;
}

/* Of both kinds of question. */
static mfpg_status check_promise(mfpg_context *ctx, const mfpg_question *q) {
    const rule rules[] = {
        {q->blocks != NULL, "steps sampling-rate", "--blocks and ", EXCLUDE},
        {account_given(q->sensitivity), "clip adjacency", "--sensitivity and ", EXCLUDE},
        {account_given(q->step) && !account_is_entropic(q), NULL, "--step belongs to --mechanism entropic",
            NULL},
        {q->order.value && q->accountant && !has_fact(q, MFPG_ACCOUNTANT_TAKES_ORDERS), NULL,
            "--order belongs to --accountant rdp", NULL},
        {account_given(q->width) &&
                (q->order.value || (q->accountant && !has_fact(q, MFPG_ACCOUNTANT_TAKES_WIDTH))),
            NULL, "--width belongs to --accountant exact", NULL},
    };
    return check(ctx, q, rules, sizeof rules / sizeof rules[0]);
}

static mfpg_status check_ledger(mfpg_context *ctx, const mfpg_question *q) {
    const rule rules[] = {
        {q->view || q->assume || has_fact(q, MFPG_ACCOUNTANT_CREDITS_FORGETTING), NULL,
            "--ledger has a view of its own, and no credit for hidden states is given from a ledger: it does "
            "not hold what was assumed of the loss",
            NULL},
        {q->mechanism >= 0 || q->blocks || q->order.value || q->unit >= 0 || q->particles >= 0 ||
                q->exogenous,
            NULL, "--ledger goes with --accountant, --delta, --epsilon, --adjacency and --json only", NULL},
        {q->adjacency == ACCOUNT_ADD, NULL,
            "--adjacency: found 'add'; with --ledger allowed: zero-out, replace", NULL},
        {q->adjacency == ACCOUNT_REMOVE, NULL,
            "--adjacency: found 'remove'; with --ledger allowed: zero-out, replace", NULL},
        {1,
            "noise-multiplier strength step mu steps sampling-rate clip sensitivity width dimension "
            "population prior-variance variance-penalty gradient-norm input-smoothness smoothness "
            "strong-convexity projection-radius",
            "--ledger and ", EXCLUDE},
    };
    return check(ctx, q, rules, sizeof rules / sizeof rules[0]);
}

static mfpg_status check_schedule(mfpg_context *ctx, const mfpg_question *q) {
    int entropic = account_given(q->strength), data = q->particles == MFPG_PARTICLES_DATA;
    int sources = account_given(q->noise_multiplier) + entropic + account_given(q->mu) + (q->blocks != NULL);
    const rule rules[] = {
        {sources == 0, NULL,
            "nothing to account for; give one of --noise-multiplier, --strength, --mu, --blocks, --ledger",
            NULL},
        {sources > 1, NULL, "--noise-multiplier, --strength, --mu and --blocks" EXCLUDE, NULL},
        {q->mechanism == ACCOUNT_ENTROPIC && !entropic, NULL, "--mechanism entropic needs --strength", NULL},
        {q->mechanism == ACCOUNT_GAUSSIAN && entropic, NULL, "--strength belongs to --mechanism entropic",
            NULL},
        {!data, "input-smoothness exogenous", "", " belongs to --particles data"},
        {data, "sampling-rate mu width dimension population gradient-norm blocks order", "",
            " does not go with --particles data, which are noised once"},
        {data && !entropic, "exogenous steps input-smoothness prior-variance variance-penalty", "",
            " belongs to --mechanism entropic; Gaussian noise on the records is drawn once, and nothing that "
            "follows costs anything"},
        {account_given(q->mu), "clip sensitivity sampling-rate adjacency", "--mu and ", EXCLUDE},
    };
    mfpg_status status = check(ctx, q, rules, sizeof rules / sizeof rules[0]);
    return status == MFPG_OK ? check_promise(ctx, q) : status;
}

static mfpg_status check_view(mfpg_context *ctx, const mfpg_question *q) {
    int data = q->particles == MFPG_PARTICLES_DATA, assumes = q->assume != MFPG_HIDDEN_NONE,
        forgets = has_fact(q, MFPG_ACCOUNTANT_CREDITS_FORGETTING);
    const rule rules[] = {
        {data && (q->view || assumes), NULL, assumes ? "--assume" : "--view",
            " is about parameters; of noised records --exogenous says that the last state alone is seen"},
        {!assumes, "smoothness strong-convexity projection-radius", "", " belongs to --assume"},
        {!assumes && forgets, NULL, "--accountant hidden-state needs --view final and --assume", NULL},
        {assumes && q->view != MFPG_VIEW_FINAL, NULL,
            "--assume needs --view final: states that are seen are not hidden", NULL},
        {assumes, "noise-multiplier mu width input-smoothness blocks order",
            "--assume goes with --mechanism entropic and --strength, not with ", NULL},
        {assumes && !account_given(q->strength), NULL,
            "--assume goes with --mechanism entropic and --strength", NULL},
        {assumes && q->accountant && !forgets, NULL,
            "--assume is priced by accountant hidden-state; no other --accountant knows a view", NULL},
        {assumes && !account_given(q->smoothness), NULL,
            "--assume needs --smoothness, a public bound on the Hessian's norm", NULL},
        {account_given(q->delta), "epsilon", "--delta and ", EXCLUDE},
    };
    mfpg_status status = check(ctx, q, rules, sizeof rules / sizeof rules[0]);
    if (status == MFPG_OK && account_or(q->strong_convexity, 0) > q->smoothness)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--strong-convexity: found %g; allowed: a number from 0 up to --smoothness, which is %g",
            q->strong_convexity, q->smoothness);
    return status;
}

static mfpg_status check_calibrate(mfpg_context *ctx, const mfpg_question *q) {
    int entropic = account_is_entropic(q), noise_solved = q->solve <= ACCOUNT_NOISE, alone = !q->blocks;
    int noise_given = account_given(entropic ? q->strength : q->noise_multiplier);
    const rule rules[] = {
        {!account_given(q->epsilon), NULL, "no target; give --epsilon", NULL},
        {!alone && q->solve >= 0, NULL, "--blocks and --solve exclude each other; write ? for what is solved",
            NULL},
        {!alone && q->mechanism == ACCOUNT_ENTROPIC, NULL, "--blocks belongs to --mechanism gaussian", NULL},
        {!alone, "noise-multiplier strength", "--blocks and ", EXCLUDE},
        {q->mechanism == ACCOUNT_GAUSSIAN && account_given(q->strength), NULL,
            "--strength belongs to --mechanism entropic", NULL},
        {entropic && account_given(q->noise_multiplier), NULL,
            "--noise-multiplier belongs to --mechanism gaussian", NULL},
        {alone && noise_solved, entropic ? "strength" : "noise-multiplier", "",
            " is what is solved; --solve rate and --solve steps take it"},
        {alone && !noise_solved && !noise_given, NULL,
            q->solve == ACCOUNT_RATE ? "--solve rate needs " : "--solve steps needs ",
            entropic ? "--strength" : "--noise-multiplier"},
        {q->solve == ACCOUNT_RATE, "sampling-rate", "", " is what --solve rate finds"},
        {q->solve == ACCOUNT_STEPS, "steps", "", " is what --solve steps finds"},
        {q->steps == 0, NULL, "--steps 0 releases nothing, whatever the noise", NULL},
        {has_fact(q, MFPG_ACCOUNTANT_CREDITS_FORGETTING), NULL,
            "--accountant hidden-state needs --view final and --assume, which mfpg account takes", NULL},
    };
    mfpg_status status = check(ctx, q, rules, sizeof rules / sizeof rules[0]);
    return status == MFPG_OK ? check_promise(ctx, q) : status;
}

mfpg_status account_check(mfpg_context *ctx, const mfpg_question *q) {
    if (q->kind == MFPG_QUESTION_CALIBRATE) return check_calibrate(ctx, q);
    if (q->ledger.text) return check_ledger(ctx, q);
    mfpg_status status = check_schedule(ctx, q);
    return status == MFPG_OK ? check_view(ctx, q) : status;
}
