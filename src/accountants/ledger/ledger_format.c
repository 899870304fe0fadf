#include "ledger.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "base/fields.h"
#include "accountants/release_check.h"
#include "mfpg/secure_sum.h"

const char *mfpg_ledger_header_fault(const mfpg_ledger_header *header) {
    if (header->clients < 1) return "clients is less than 1";
    if (header->particles != MFPG_PARTICLES_PARAMETERS && header->particles != MFPG_PARTICLES_DATA)
        return "particles are unknown";
    if (!(header->delta >= 0.0 && header->delta < 1.0)) return "delta is not in [0, 1)";
    if (header->promise.adjacency > MFPG_ADJACENCY_REPLACE)
        return "adjacency is one direction of zero-out alone, which no run promises";
    if (!(header->stop_at_epsilon >= 0.0 && header->stop_at_epsilon < HUGE_VAL))
        return "stop_at_epsilon is neither a number above 0 nor 0 for no budget";
    if (header->filter < MFPG_FILTER_ACCOUNTANT || header->filter > MFPG_FILTER_ZCDP)
        return "filter is unknown";
    if (header->filter != MFPG_FILTER_ACCOUNTANT && !(header->stop_at_epsilon > 0.0))
        return "filter keeps a budget, but stop_at_epsilon is 0";
    if (header->filter != MFPG_FILTER_ACCOUNTANT && header->delta == 0.0)
        return "filter needs a delta above 0";
    const char *fault = mfpg_promise_fault(&header->promise);
    if (fault || !header->secure_sum) return fault;
    if (header->promise.view != MFPG_VIEW_AVERAGE)
        return "there are secure sums, but the view is not average";
    if (header->particles != MFPG_PARTICLES_PARAMETERS) return "records enter no secure sum";
    return header->clients > MFPG_SUM_MOST ? "there are secure sums, but more than 255 clients" : NULL;
}

const char *mfpg_ledger_release_fault(const mfpg_ledger_header *header, const mfpg_release *release) {
    const char *fault = mfpg_release_fault(release);
    if (!fault) fault = mfpg_promised_fault(&header->promise, release);
    if (fault) return fault;
    if (release->attempt > 0 && !header->secure_sum) return "the header names no secure sums";
    /* If every update is seen, the noise of the others protects no client. */
    if (!(release->last_sd > release->noise_sd)) return NULL;
    if (header->promise.view == MFPG_VIEW_LOCAL) return "the view is local, but last_sd exceeds noise_sd";
    return header->secure_sum && release->attempt == 0
               ? "it enters no secure sum, but last_sd exceeds noise_sd"
               : NULL;
}

#define RELEASE(name, kind, places, help)                                                                    \
    { #name, MFPG_FIELD_##kind, places, offsetof(mfpg_release, name), help }
enum { ALWAYS = MFPG_LEDGER_ALWAYS, LATELY = MFPG_LEDGER_LATELY, SUMMED = MFPG_LEDGER_SUMMED };

static const mfpg_record_field release_fields[] = {
    RELEASE(steps, COUNT, ALWAYS, "noised steps of the round"),
    RELEASE(sensitivity, MAGNITUDE, ALWAYS, "of one step for zero-out, in units of the weights"),
    RELEASE(rounding, MAGNITUDE, LATELY, "share by which rounding raised the sensitivity"),
    RELEASE(noise_sd, MAGNITUDE, ALWAYS, "standard deviation of the noise of a step"),
    RELEASE(grid, MAGNITUDE, LATELY, "spacing of the public grid; 0: none is known"),
    RELEASE(last_sd, MAGNITUDE, ALWAYS, "of the noise that protects the last step in the view"),
    RELEASE(weight, MAGNITUDE, ALWAYS, "in the round's average"),
    RELEASE(sampling_rate, MAGNITUDE, ALWAYS, "chance of an example to be in a step's batch"),
    RELEASE(run, COUNT, SUMMED, "first six bytes of the identifier of a run of secure sums"),
    RELEASE(sum_round, COUNT, SUMMED, "round of that run"),
    RELEASE(attempt, COUNT, SUMMED, "attempt of that round, from 1"),
    RELEASE(members, COUNT, SUMMED, "clients that were asked for a share of the secure sum"),
    RELEASE(threshold, COUNT, SUMMED, "answers without which the secure sum reveals nothing"),
    RELEASE(colluders, COUNT, SUMMED, "clients that may work together with the server"),
};
const mfpg_fields mfpg_ledger_fields = MFPG_FIELDS("ledger", release_fields);

/* Appends text to a line of that length, which must have room for it, and returns the new length. */
static size_t add(char *out, size_t length, const char *format, ...) __attribute__((format(printf, 3, 4)));

static size_t add(char *out, size_t length, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int more = vsnprintf(out + length, MFPG_LEDGER_WRITTEN - length, format, values);
    va_end(values);
    return length + (size_t)more;
}

size_t mfpg_ledger_format_header(const mfpg_ledger_header *header, char out[MFPG_LEDGER_WRITTEN]) {
    char number[MFPG_NUMBER_SIZE];
    const mfpg_promise *promise = &header->promise;
    size_t length = add(out, 0,
        "{\"mfpg_ledger\":%d,\"particles\":\"%s\",\"clients\":%lld,\"unit\":\"%s\",\"adjacency\":\"%s\","
        "\"view\":\"%s\",\"delta\":%s,",
        header->secure_sum ? MFPG_LEDGER_VERSION : MFPG_LEDGER_PLAIN, mfpg_particles_name(header->particles),
        (long long)header->clients, mfpg_unit_name(promise->unit), mfpg_adjacency_name(promise->adjacency),
        mfpg_view_name(promise->view), mfpg_number_format(header->delta, number));
    if (header->stop_at_epsilon > 0.0)
        length = add(out, length, "\"stop_at_epsilon\":%s,\"filter\":\"%s\"",
            mfpg_number_format(header->stop_at_epsilon, number), mfpg_filter_word(header->filter));
    else
        length = add(out, length, "\"stop_at_epsilon\":null,\"filter\":null");
    return add(out, length, "%s,\"seeded\":%s}", header->secure_sum ? ",\"secure_sum\":true" : "",
        header->seeded ? "true" : "false");
}

size_t mfpg_ledger_format_release(
    const mfpg_release *release, int64_t last_client, char out[MFPG_LEDGER_WRITTEN]) {
    static const char *const controls[] = {[MFPG_CONTROL_BUDGET] = "budget",
        [MFPG_CONTROL_STRENGTH] = "strength",
        [MFPG_CONTROL_MULTIPLIER] = "multiplier"};
    char number[MFPG_NUMBER_SIZE];
    size_t length = add(out, 0, "{\"round\":%lld,\"clients\":[%lld,%lld],\"particles\":\"%s\",",
        (long long)release->round, (long long)release->client, (long long)last_client,
        mfpg_particles_name(release->particles));
    if (release->particles == MFPG_PARTICLES_DATA)
        length = add(out, length, "\"contraction\":%s,", mfpg_number_format(release->contraction, number));
    length = add(out, length, "\"clipped\":\"%s\",", mfpg_clipped_name(release->clipped));
    for (const mfpg_record_field *f = release_fields; f < release_fields + mfpg_ledger_fields.count; f++)
        if (f->places != SUMMED || release->attempt > 0)
            length = add(out, length, "\"%s\":%s,", f->name, mfpg_field_text(f, release, number));
    if (release->action.control == MFPG_CONTROL_NONE) return add(out, length, "\"action\":null}");
    return add(out, length, "\"action\":{\"%s\":%s}}", controls[release->action.control],
        mfpg_number_format(mfpg_action_value(&release->action), number));
}

size_t mfpg_ledger_format_survivors(
    const mfpg_survivors *known, int64_t last_client, char out[MFPG_LEDGER_WRITTEN]) {
    char number[MFPG_NUMBER_SIZE];
    return add(out, 0,
        "{\"round\":%lld,\"attempt\":%lld,\"clients\":[%lld,%lld],\"survivors\":%lld,\"last_sd\":%s}",
        (long long)known->round, (long long)known->attempt, (long long)known->client, (long long)last_client,
        (long long)known->survivors, mfpg_number_format(known->last_sd, number));
}

/* ---- the chain ---- */

static const char key[] = ",\"chain\":\"", end[] = "\"}";
enum { KEY = sizeof key - 1, END = sizeof end - 1, DIGITS = MFPG_LEDGER_CHAIN_SIZE - 1 };

/* body: the line without its closing brace. */
static void hash(const char *chain, const char *body, size_t length, char out[MFPG_LEDGER_CHAIN_SIZE]) {
    crypto_hash_sha256_state state;
    unsigned char value[crypto_hash_sha256_BYTES];
    crypto_hash_sha256_init(&state);
    crypto_hash_sha256_update(&state, (const unsigned char *)chain, strlen(chain));
    crypto_hash_sha256_update(&state, (const unsigned char *)body, length);
    crypto_hash_sha256_update(&state, (const unsigned char *)"}", 1);
    crypto_hash_sha256_final(&state, value);
    sodium_bin2hex(out, MFPG_LEDGER_CHAIN_SIZE, value, sizeof value);
}

size_t mfpg_ledger_seal(char *line, size_t length, char chain[MFPG_LEDGER_CHAIN_SIZE]) {
    char value[MFPG_LEDGER_CHAIN_SIZE];
    size_t body = length - 1;
    hash(chain, line, body, value);
    memcpy(chain, value, sizeof value);
    memcpy(line + body, key, KEY);
    memcpy(line + body + KEY, value, DIGITS);
    memcpy(line + body + KEY + DIGITS, end, END);
    return body + KEY + DIGITS + END;
}

int mfpg_ledger_is_sealed(const char *line, size_t length) {
    if (length < 1 + KEY + DIGITS + END) return 0;
    const char *at = line + length - (KEY + DIGITS + END);
    return memcmp(at, key, KEY) == 0 && memcmp(at + KEY + DIGITS, end, END) == 0;
}

int mfpg_ledger_follows(const char *line, size_t length, char chain[MFPG_LEDGER_CHAIN_SIZE]) {
    char value[MFPG_LEDGER_CHAIN_SIZE];
    size_t body = length - (KEY + DIGITS + END);
    hash(chain, line, body, value);
    if (memcmp(line + body + KEY, value, DIGITS) != 0) return 0;
    memcpy(chain, value, sizeof value);
    return 1;
}
