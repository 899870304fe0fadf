/* The list of options of mfpg solve, and which reader reads which option. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "games/game_internal.h"
#include "mfpg/game_from_options.h"
#include "options/columns.h"
#include "options/value.h"

/* Memory is needed for every client, and more clients than this do not fit. */
#define POPULATION_MAX 200000000

/* Readers, as bits of mfpg_solve_reader, and costs. */
#define GAME          (1 << MFPG_SOLVE_GAME)
#define CONFIGURATION (1 << MFPG_SOLVE_CONFIGURATION)
#define COSTS         (1 << MFPG_SOLVE_COSTS)
#define CONTINUOUS    (1 << MFPG_SOLVE_CONTINUOUS)
#define LIMIT         (1 << MFPG_SOLVE_LIMIT)
#define FIGURE        (1 << MFPG_SOLVE_FIGURE)
#define OUTPUT        (1 << MFPG_SOLVE_OUTPUT)
#define ANYBODY       0
#define COST(name)    (UINT64_C(1) << MFPG_COST_INDEX_##name)
#define EVERY         0

#define HEADING(title)
#define OPTION(title, form, allowed, between, placeholder, member, readers, read_by, says)                   \
    {.line = __LINE__,                                                                                       \
        .name = title,                                                                                       \
        .kind = MFPG_OPTION_##form,                                                                          \
        allowed,                                                                                             \
        .range = between,                                                                                    \
        .unit = "",                                                                                          \
        .argument = placeholder,                                                                             \
        .facts = readers,                                                                                    \
        .costs = read_by,                                                                                    \
        .used = "",                                                                                          \
        .help = says,                                                                                        \
        FIELD(mfpg_solve_request, member)},
static const mfpg_option options[] = {
#include "solve.def"
};

#undef HEADING
#undef OPTION
#define HEADING(title) {__LINE__, title},
#define OPTION(...)
static const mfpg_option_heading headings[] = {
#include "solve.def"
};

static const char *const readers[] = {
    "game", "configuration", "costs", "continuous", "limit", "figure", "output"};

enum { READERS = sizeof readers / sizeof readers[0] };

const mfpg_options *mfpg_solve_options(void) {
    static const mfpg_options list = OPTION_LIST(options, headings);
    return &list;
}

/* ---- who reads which ---- */

/* Returns the bit of the named cost, or all bits if no cost or an unknown one was named. */
static uint64_t costs_of(const char *cost) {
    const char *name;
    for (ptrdiff_t i = 0; cost && (name = mfpg_kind_name(&mfpg_costs, i)); i++)
        if (strcmp(name, cost) == 0) return UINT64_C(1) << i;
    return ~UINT64_C(0);
}

/* Writes "; it is read by: a b" with costs (if it is the cost that does not read the option) or with
 * studies; "" if nothing reads it. */
static void name_readers(const mfpg_option *option, int by_cost, char *out, size_t size) {
    size_t used = 0;
    const char *name;
    out[0] = 0;
    for (ptrdiff_t i = 0; (name = by_cost           ? mfpg_kind_name(&mfpg_costs, i)
                                  : i + 1 < READERS ? readers[i + 1]
                                                    : NULL);
         i++) {
        uint64_t mask = by_cost ? option->costs >> i : option->facts >> (i + 1);
        if (mask & 1)
            used += (size_t)snprintf(out + used, size - used, "%s %s", used ? "" : "; it is read by:", name);
    }
}

static mfpg_status refuse(
    mfpg_context *ctx, const mfpg_option *option, mfpg_solve_reader reader, const char *cost) {
    char others[256];
    int by_cost = (option->facts >> reader & 1) != 0;
    if (reader == MFPG_SOLVE_CONFIGURATION)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "--%s describes a game by options, and a configuration was given; there the game's keys are "
            "changed by KEY=VALUE, as in game.cost=entropic (mfpg run --keys lists them)",
            option->name);
    name_readers(option, by_cost, others, sizeof others);
    if (reader == MFPG_SOLVE_GAME)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "--%s does nothing with cost %s%s", option->name, cost, others);
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "--%s does nothing with study %s%s%s%s", option->name,
        readers[reader], by_cost ? " with cost " : "", by_cost ? cost : "", others);
}

mfpg_status mfpg_solve_check(mfpg_context *ctx, const mfpg_solve_request *request, mfpg_solve_reader reader) {
    uint64_t costs = costs_of(request->game.cost);
    if (reader == MFPG_SOLVE_GAME && costs == ~UINT64_C(0))
        return MFPG_OK; /* without a cost no game is solved */
    for (ptrdiff_t i = 0; i < mfpg_solve_options()->count; i++)
        if (mfpg_option_is_given(&options[i], request) &&
            !mfpg_option_counts(&options[i], UINT64_C(1) << reader, costs))
            return refuse(ctx, &options[i], reader, request->game.cost);
    return MFPG_OK;
}
