/* The list of keys, and the list of methods. */
#include "settings.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/names.h"
#include "accountants/accounting.h"
#include "games/game_internal.h"
#include "mfpg/model.h"
#include "mfpg/mechanism.h"
#include "mfpg/optimiser.h"
#include "options/columns.h"

/* When a key applies: facts of the configuration, facts of the cost in use, and the same condition in words. */
#define FACT(name)      MFPG_FACT_##name, 0
#define PLAYED(costs)   MFPG_FACT_GAME, costs
#define ALWAYS          0, 0, ""
#define CLASSES         FACT(CLASSES), "with models softmax and mlp"
#define NETWORK         FACT(NETWORK), "with model mlp"
#define FROM_FILES      FACT(FROM_FILES), "for data from files"
#define BY_COLUMN       FACT(BY_COLUMN), "with partition kind column"
#define BY_CHANCE       FACT(BY_CHANCE), "with partition kind iid, dirichlet or shards"
#define BY_DIRICHLET    FACT(BY_DIRICHLET), "with partition kind dirichlet"
#define BY_SHARDS       FACT(BY_SHARDS), "with partition kind shards"
#define SYNTHETIC       FACT(SYNTHETIC), "with format synthetic"
#define SHAPED          FACT(SHAPED), "with format synthetic of a kind other than clinics"
#define NOISED          FACT(NOISED), "by private methods"
#define ASSUMED         FACT(ASSUMED), "with privacy.assume"
#define STOPPED         FACT(STOPPED), "with privacy.stop_at_epsilon"
#define UPDATES         FACT(UPDATES), "where parameters are noised"
#define NO_GAME         FACT(NO_GAME), "by private methods without a game"
#define GRADIENT        FACT(GRADIENT), "by mechanisms gaussian, input and none, and by entropic over data"
#define BUDGET          FACT(BUDGET), "by mechanisms gaussian and input"
#define ENTROPIC        FACT(ENTROPIC), "by mechanism entropic"
#define GAME            FACT(GAME), "with a game"
#define EACH_ROUND      FACT(EACH_ROUND), "with game.update each-round"
#define NOISY           FACT(NOISY), "with game.update each-round and selection noisy"
#define EXPONENTIAL     FACT(EXPONENTIAL), "with game.update each-round and selection exponential"
#define MOMENTUM        FACT(MOMENTUM), "with an optimiser that has a momentum"
#define SERVER_MOMENTUM FACT(SERVER_MOMENTUM), "with a server optimiser that has a momentum"
#define SUMMED          FACT(SUMMED), "with privacy.view average, where parameters are noised"
#define SECURE          FACT(SECURE), "with secure_sum.run simulate"
#define SERVER_MOMENTS  FACT(SERVER_MOMENTS), "with server optimiser adam"
#define NOISY_GRADIENT  FACT(NOISY_GRADIENT), "with game.update each-round, selection noisy and cost paper"
#define OWN_NOISE       PLAYED(MFPG_COST_READS_CURVATURE), "with a game of cost gaussian or entropic"
#define SCALED_LOSS                                                                                          \
    PLAYED(MFPG_COST_READS_PRIVACY_SCALE), "with a game of cost entropic, interaction or measured"
#define GAUSSIAN_COST PLAYED(MFPG_COST_READS_PRIVACY_POWER), "with a game of cost gaussian or measured-budget"
#define TABLE_COST    PLAYED(MFPG_COST_TAKES_TABLE), "with a game of cost measured or measured-budget"
#define PERSONAL_COST                                                                                        \
    PLAYED(MFPG_COST_READS_PERSONALISATION | MFPG_COST_TAKES_TABLE),                                         \
        "with a game of cost gaussian or entropic, and where a loss table is made"
#define ENTROPIC_COST    PLAYED(MFPG_COST_READS_OPTIMUM), "with a game of cost entropic"
#define INTERACTION_COST PLAYED(MFPG_COST_READS_INTERACTION), "with a game of cost interaction"
#define PAPER_COST       PLAYED(MFPG_COST_READS_OFFSET), "with a game of cost paper"
#define STRENGTH_COST    PLAYED(MFPG_COST_READS_OWN_COST), "with a game of cost entropic or interaction"
#define LOSS_COST        MFPG_FACT_CONSTANT_LOSS, MFPG_COST_READS_LOSS, "with a game of cost paper or measured"

#define DEFAULT(text) text, NULL
#define EXAMPLE(text) NULL, text
#define SECTION(path, title)
#define NOWHERE                   .field = MFPG_HOLDS_NONE
#define INTO(member)              FIELD(mfpg_settings, member)
#define INTO_LIST(member, number) INTO(member), .count_offset = offsetof(mfpg_settings, number)
#define INTO_FROM(number, member) INTO(member), .first = (number)
#define KEY(path, form, allowed, between, value, in, when, excludes, into, says)                             \
    {.line = __LINE__,                                                                                       \
        .name = path,                                                                                        \
        .kind = MFPG_OPTION_##form,                                                                          \
        allowed,                                                                                             \
        .range = between,                                                                                    \
        .default_value = value,                                                                              \
        .unit = in,                                                                                          \
        .facts = when,                                                                                       \
        .alternative = excludes,                                                                             \
        into,                                                                                                \
        .help = says},

static const mfpg_option keys[] = {
#include "keys.def"
};

#undef KEY
#undef SECTION
#define SECTION(path, title) {__LINE__, title},
#define KEY(...)

static const mfpg_option_heading sections[] = {
#include "keys.def"
};

const mfpg_options mfpg_keys = OPTION_LIST(keys, sections);

const mfpg_options *mfpg_config_options(void) {
    return &mfpg_keys;
}

/* ---- methods ---- */

#define METHOD(identifier, name, mechanism, players, paper_accountant, help)                                 \
    &(const mfpg_method){name, help, mechanism, MFPG_PLAYERS_##players, paper_accountant},
static const void *const methods[] = {
#include "methods.def"
};

const mfpg_kinds mfpg_methods = MFPG_KINDS(methods);

/* ---- paths ---- */

const char *mfpg_path_leaf(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

size_t mfpg_path_parent_length(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot ? (size_t)(dot - path) : 0;
}

int mfpg_path_is_below(const char *path, const char *below) {
    size_t length = strlen(path);
    return strncmp(path, below, length) == 0 && below[length] == '.';
}

const char *mfpg_path_column(const char *path) {
    static const char parent[] = "data.categories.";
    size_t length = sizeof parent - 1;
    return strncmp(path, parent, length) == 0 && path[length] ? path + length : NULL;
}

int mfpg_path_are_siblings(const char *a, const char *b) {
    size_t length = mfpg_path_parent_length(a);
    return length == mfpg_path_parent_length(b) && memcmp(a, b, length) == 0;
}

ptrdiff_t mfpg_config_key_find(const char *path) {
    const char *column = mfpg_path_column(path);
    for (ptrdiff_t i = 0; i < mfpg_keys.count; i++)
        if (strcmp(keys[i].name, path) == 0 || (column && mfpg_path_column(keys[i].name))) return i;
    return -1;
}

int mfpg_keys_exclude(const mfpg_option *a, const mfpg_option *b) {
    if (mfpg_path_is_below(a->name, b->name) || mfpg_path_is_below(b->name, a->name)) return 1;
    return a->alternative && b->alternative && mfpg_path_are_siblings(a->name, b->name) &&
           strcmp(a->alternative, b->alternative) != 0;
}

/* ---- the table for people ---- */

mfpg_status mfpg_config_keys_print(mfpg_context *ctx, FILE *out) {
    ptrdiff_t last = 0;
    for (ptrdiff_t i = 0; i < mfpg_keys.count; i++) {
        const mfpg_option *key = &keys[i];
        char allowed[512];
        ptrdiff_t group = mfpg_option_group(&mfpg_keys, i);
        if (group != last) fprintf(out, "\n%s\n", mfpg_option_section(&mfpg_keys, i));
        last = group;
        fprintf(out, "  %-34s %-12s %s%s%s%s\n", key->name, key->default_value ? key->default_value : "-",
            key->help, key->used[0] ? " (" : "", key->used, key->used[0] ? ")" : "");
        fprintf(out, "  %-34s %-12s   %s%s%s\n", "", "", mfpg_option_allowed(key, allowed, sizeof allowed),
            key->unit[0] ? "; " : "", key->unit);
    }
    return ferror(out) ? mfpg_fail(ctx, MFPG_ERR_IO, "cannot write the table of keys") : MFPG_OK;
}
