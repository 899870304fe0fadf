/* Answers of any client to a server: what it refuses leaves the sum as it was. */
#include "secure_sum.h"

static void take(mfpg_sum_server *server, int step, int site) {
    const mfpg_bytes *answer = &fuzz_sum.answered[step][site];
    if (answer->data)
        fuzz_need(mfpg_sum_server_take(fuzz_context(), server, answer->data, answer->size, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mfpg_context *ctx = fuzz_context();
    mfpg_sum_server *server = NULL;
    int64_t sum[FUZZ_DIMENSION];
    mfpg_status status = MFPG_OK, taken = MFPG_ERR_INPUT;
    ptrdiff_t sender = -1;
    if (size < FUZZ_PREFIX) return 0;
    fuzz_record();
    const int strange = data[0] % MFPG_SUM_DONE, site = data[1] % (FUZZ_SITES - (strange >= MFPG_SUM_MASKED));
    fuzz_need(mfpg_sum_server_create(ctx, &fuzz_sum.roster, &fuzz_sum.terms, &server));
    for (int step = 0; step < MFPG_SUM_DONE && status == MFPG_OK; step++) {
        if (step == strange) {
            mfpg_bytes message = fuzz_message(data, size, site, &fuzz_sum.answered[step][site]);
            taken = mfpg_sum_server_take(ctx, server, message.data, message.size, &sender);
            mfpg_bytes_clear(&message);
        }
        for (int i = 0; i < FUZZ_SITES; i++)
            if (taken != MFPG_OK || step < strange || (step == strange && i != sender)) take(server, step, i);
        status = mfpg_sum_server_advance(ctx, server, NULL);
        /* What was taken is well formed but need not be what the others answered to. */
        if (taken == MFPG_OK && step >= strange) break;
    }
    if (taken != MFPG_OK) {
        fuzz_expect(status == MFPG_OK && mfpg_sum_server_sum(ctx, server, sum, NULL) == MFPG_OK,
            "a sum after a refusal");
        fuzz_expect(memcmp(sum, fuzz_sum.sum, sizeof sum) == 0, "the same sum after a refusal");
    }
    mfpg_sum_server_destroy(server);
    return 0;
}
