#include "format.h"

#include <math.h>
#include <stdio.h>

#include "base/fields.h"
#include "accountants/release_check.h"
#include "base/release_parts.h"

const char *mfpg_ledger_header_fault(const mfpg_ledger_header *header) {
    if (header->clients < 1) return "clients is less than 1";
    if (header->particles != MFPG_PARTICLES_PARAMETERS && header->particles != MFPG_PARTICLES_DATA)
        return "particles are unknown";
    if (!(header->delta >= 0.0 && header->delta < 1.0)) return "delta is not in [0, 1)";
    if (header->promise.adjacency > MFPG_ADJACENCY_REPLACE)
        return "adjacency is one direction of zero-out alone, which no run promises";
    if (!(header->stop_at_epsilon >= 0.0 && header->stop_at_epsilon < HUGE_VAL))
        return "stop_at_epsilon is neither a number above 0 nor 0, which is none";
    if (header->filter < MFPG_FILTER_ACCOUNTANT || header->filter > MFPG_FILTER_ZCDP)
        return "filter is unknown";
    if (header->filter != MFPG_FILTER_ACCOUNTANT && !(header->stop_at_epsilon > 0.0))
        return "filter keeps a budget, and stop_at_epsilon is none";
    if (header->filter != MFPG_FILTER_ACCOUNTANT && header->delta == 0.0)
        return "filter needs a delta above 0";
    return mfpg_promise_fault(&header->promise);
}

const char *mfpg_ledger_release_fault(const mfpg_promise *promise, const mfpg_release *release) {
    const char *fault = mfpg_release_fault(release);
    if (!fault) fault = mfpg_promised_fault(promise, release);
    if (fault) return fault;
    /* Where every update is seen, the others' noise protects nobody. */
    return promise->view == MFPG_VIEW_LOCAL && release->last_sd > release->noise_sd
               ? "the view is local, but last_sd exceeds noise_sd"
               : NULL;
}

size_t mfpg_ledger_format_header(const mfpg_ledger_header *header, char out[MFPG_LEDGER_WRITTEN]) {
    char delta[MFPG_NUMBER_SIZE], epsilon[MFPG_NUMBER_SIZE], budget[96];
    if (header->stop_at_epsilon > 0.0)
        snprintf(budget, sizeof budget, "\"stop_at_epsilon\":%s,\"filter\":\"%s\"",
            mfpg_number_format(header->stop_at_epsilon, epsilon), mfpg_filter_word(header->filter));
    else
        snprintf(budget, sizeof budget, "\"stop_at_epsilon\":null,\"filter\":null");
    const mfpg_promise *promise = &header->promise;
    int length = snprintf(out, MFPG_LEDGER_WRITTEN,
        "{\"mfpg_ledger\":%d,\"particles\":\"%s\",\"clients\":%lld,\"unit\":\"%s\",\"adjacency\":\"%s\","
        "\"view\":\"%s\",\"delta\":%s,%s,\"seeded\":%s}",
        MFPG_LEDGER_VERSION, mfpg_particles_name(header->particles), (long long)header->clients,
        mfpg_unit_name(promise->unit), mfpg_adjacency_name(promise->adjacency), mfpg_view_name(promise->view),
        mfpg_number_format(header->delta, delta), budget, header->seeded ? "true" : "false");
    return (size_t)length;
}

#define RELEASE(name, kind, places, help)                                                                    \
    { #name, MFPG_FIELD_##kind, places, offsetof(mfpg_release, name), help }
enum { ALWAYS = MFPG_LEDGER_ALWAYS, LATELY = MFPG_LEDGER_LATELY };

static const mfpg_record_field release_fields[] = {
    RELEASE(steps, COUNT, ALWAYS, "noised steps of the round"),
    RELEASE(sensitivity, MAGNITUDE, ALWAYS, "of one step for zero-out, in units of the weights"),
    RELEASE(rounding, MAGNITUDE, LATELY, "share by which rounding raised the sensitivity"),
    RELEASE(noise_sd, MAGNITUDE, ALWAYS, "standard deviation of the noise of a step"),
    RELEASE(grid, MAGNITUDE, LATELY, "spacing of the public grid; 0: none is known"),
    RELEASE(last_sd, MAGNITUDE, ALWAYS, "of the noise that protects the last step in the view"),
    RELEASE(weight, MAGNITUDE, ALWAYS, "in the round's average"),
    RELEASE(sampling_rate, MAGNITUDE, ALWAYS, "chance of an example to be in a step's batch"),
};
const mfpg_fields mfpg_ledger_fields = MFPG_FIELDS("ledger", release_fields);

static void format_action(const mfpg_action *action, char *out, size_t size) {
    char number[MFPG_NUMBER_SIZE];
    const char *kind = NULL;
    switch (action->control) {
    case MFPG_CONTROL_BUDGET: kind = "budget"; break;
    case MFPG_CONTROL_STRENGTH: kind = "strength"; break;
    case MFPG_CONTROL_MULTIPLIER: kind = "multiplier"; break;
    case MFPG_CONTROL_NONE: break;
    }
    if (kind)
        snprintf(out, size, "{\"%s\":%s}", kind, mfpg_number_format(mfpg_action_value(action), number));
    else
        snprintf(out, size, "null");
}

size_t mfpg_ledger_format_release(
    const mfpg_release *release, int64_t last_client, char out[MFPG_LEDGER_WRITTEN]) {
    char contraction[MFPG_NUMBER_SIZE], number[MFPG_NUMBER_SIZE];
    char action[64], first_map[64] = "";
    if (release->particles == MFPG_PARTICLES_DATA)
        snprintf(first_map, sizeof first_map, "\"contraction\":%s,",
            mfpg_number_format(release->contraction, contraction));
    format_action(&release->action, action, sizeof action);
    int length = snprintf(out, MFPG_LEDGER_WRITTEN,
        "{\"round\":%lld,\"clients\":[%lld,%lld],\"particles\":\"%s\",%s\"clipped\":\"%s\",",
        (long long)release->round, (long long)release->client, (long long)last_client,
        mfpg_particles_name(release->particles), first_map, mfpg_clipped_name(release->clipped));
    for (const mfpg_record_field *f = release_fields; f < release_fields + mfpg_ledger_fields.count; f++)
        length += snprintf(out + length, MFPG_LEDGER_WRITTEN - (size_t)length, "\"%s\":%s,", f->name,
            mfpg_field_text(f, release, number));
    return (size_t)(length +
                    snprintf(out + length, MFPG_LEDGER_WRITTEN - (size_t)length, "\"action\":%s}", action));
}
