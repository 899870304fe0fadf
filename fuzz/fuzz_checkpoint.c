/* A checkpoint of any bytes: as they stand, and with a checksum that holds, so that what they say is reached behind it. */
#include "fuzz.h"

#include <math.h>

#include <sodium.h>

#include "federation/checkpoint.h"

/* What reading promises: arrays of the sizes that it tells, within what was read. */
static void check(const uint8_t *data, size_t size) {
    mfpg_checkpoint checkpoint;
    if (mfpg_checkpoint_read(fuzz_context(), fuzz_file(0, data, size), &checkpoint) != MFPG_OK) return;
    const mfpg_loop_state *loop = &checkpoint.loop;
    double sum = 0.0;
    fuzz_expect(strlen(checkpoint.identity.config) < size, "a configuration without an end");
    for (int part = 0; part < MFPG_STATE_PARTS; part++) {
        const char *bytes = mfpg_loop_state_part(loop, part);
        for (int64_t i = 0; i < loop->bytes[part]; i++) sum += (double)bytes[i];
    }
    for (int64_t i = 0; i < loop->round; i++) {
        fuzz_expect(checkpoint.rounds[i].round == i + 1, "rounds out of order");
        sum += checkpoint.seconds[i];
    }
    for (ptrdiff_t i = 0; i < checkpoint.told.count; i++) sum += (double)checkpoint.told.list[i].round;
    if (isnan(sum)) sum = 0.0; /* any number may be there: what sets a federation to it looks */
    mfpg_checkpoint_clear(&checkpoint);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check(data, size);
    if (size <= MFPG_DIGEST_SIZE) return 0;
    uint8_t *sealed = malloc(size);
    if (!sealed) return 0;
    size_t covered = size - MFPG_DIGEST_SIZE;
    memcpy(sealed, data, size);
    crypto_generichash(sealed + covered, MFPG_DIGEST_SIZE, sealed, covered, NULL, 0);
    check(sealed, size);
    free(sealed);
    return 0;
}
