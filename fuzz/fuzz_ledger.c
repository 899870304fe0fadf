/* A ledger of any text: read line by line, continued as that of an interrupted run, and spent from; as it is, and with its lines
 * sealed so that what they say is reached behind the chain. */
#include "fuzz.h"

#include <math.h>

#include "mfpg/accountant.h"

#include "ledger_text.h"
#include "accountants/accounting.h"

typedef struct reading {
    mfpg_accountant *accountant;
    int64_t moving, clients; /* moving: releases that data can move */
} reading;

/* What reading promises: a release that accountants take, of clients that the header counts. */
static mfpg_status visit(void *user, const mfpg_release *release, int64_t first, int64_t last) {
    reading *r = user;
    r->moving += release->sensitivity > 0.0;
    fuzz_expect(0 <= first && first <= last && last < r->clients, "clients out of range");
    fuzz_expect(isfinite(release->sensitivity) && release->sensitivity >= 0.0, "a sensitivity that is none");
    fuzz_expect(isfinite(release->noise_sd) && release->noise_sd >= 0.0, "noise that is none");
    fuzz_expect(release->steps >= 1, "a release of no steps");
    return mfpg_accountant_record(fuzz_context(), r->accountant, release);
}

static void resume(const uint8_t *data, size_t size, const mfpg_ledger_header *header) {
    mfpg_context *ctx = fuzz_context();
    mfpg_ledger *ledger = NULL;
    mfpg_release release = {.round = 1,
        .unit = header->promise.unit,
        .clipped = MFPG_CLIPPED_MEASUREMENTS,
        .client = 0,
        .steps = 1,
        .sensitivity = 1,
        .noise_sd = 1,
        .last_sd = 1,
        .weight = 1,
        .sampling_rate = 1};
    release.particles = header->particles;
    release.contraction = header->particles == MFPG_PARTICLES_DATA ? 1 : 0;
    release.action = (mfpg_action){.control = MFPG_CONTROL_MULTIPLIER, .multiplier = 1};
    if (mfpg_ledger_resume(ctx, fuzz_file(1, data, size), header, 1, &ledger) == MFPG_OK)
        mfpg_ledger_append(ctx, ledger, &release, 1);
    mfpg_ledger_close(ledger);
}

/* The same file as an account: what is admitted stays within the budget. */
static void spend(const uint8_t *data, size_t size) {
    mfpg_context *ctx = fuzz_context();
    mfpg_ledger *ledger = NULL;
    if (mfpg_ledger_open(ctx, fuzz_file(1, data, size), 0, &ledger) != MFPG_OK) return;
    mfpg_ledger_header header = mfpg_ledger_tell(ledger).header;
    mfpg_spending answer = {0};
    mfpg_release release = {.round = -1,
        .particles = header.particles,
        .unit = header.promise.unit,
        .clipped = MFPG_CLIPPED_MEASUREMENTS,
        .steps = 1,
        .sensitivity = 1,
        .noise_sd = 1,
        .last_sd = 1,
        .weight = 1,
        .contraction = 1,
        .sampling_rate = 1};
    int small = header.clients < 1 << 10; /* a ledger may speak of more clients than there is memory for */
    if (small && mfpg_ledger_spend(ctx, ledger, &release, &answer) == MFPG_OK && answer.admitted)
        fuzz_expect(!(header.stop_at_epsilon > 0.0) || answer.epsilon <= header.stop_at_epsilon,
            "more than the budget");
    mfpg_ledger_close(ledger);
}

static void check(const uint8_t *data, size_t size) {
    mfpg_context *ctx = fuzz_context();
    const char *path = fuzz_file(0, data, size);
    mfpg_ledger_header header = {0};
    if (mfpg_ledger_read(ctx, path, &header, NULL, NULL, NULL) != MFPG_OK) return;
    reading r = {.clients = header.clients};
    mfpg_accountant_options options = mfpg_accountant_options_default();
    options.promise = header.promise;
    const char *kind = header.particles == MFPG_PARTICLES_DATA ? "data-particles" : "gdp";
    fuzz_expect(mfpg_accountant_create(ctx, kind, &options, &r.accountant) == MFPG_OK, "no accountant");
    if (mfpg_ledger_read(ctx, path, NULL, visit, &r, NULL) == MFPG_OK) {
        double epsilon = -1.0;
        fuzz_expect(
            mfpg_accountant_epsilon(ctx, r.accountant, header.delta, &epsilon) == MFPG_OK, "no epsilon");
        fuzz_expect(epsilon >= 0.0, "an epsilon that is none");
        fuzz_expect(r.moving == 0 || epsilon > 0.0 || header.delta > 0.0, "something for nothing");
    }
    mfpg_accountant_destroy(r.accountant);
    resume(data, size, &header);
    spend(data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check(data, size);
    char *sealed = ledger_sealed((const char *)data, &size);
    if (sealed) check((const uint8_t *)sealed, size);
    free(sealed);
    return 0;
}
