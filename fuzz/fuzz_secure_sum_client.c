/* Requests of any server to a client that has answered the steps before. */
#include "secure_sum.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mfpg_context *ctx = fuzz_context();
    mfpg_sum_client *client = NULL;
    mfpg_bytes answer = {0};
    if (size < FUZZ_PREFIX) return 0;
    fuzz_record();
    const int step = data[0] % MFPG_SUM_DONE, site = data[1] % (FUZZ_SITES - (step >= MFPG_SUM_MASKED));
    const mfpg_bytes *saved = &fuzz_sum.saved[step][site], *asked = &fuzz_sum.asked[step][site];
    const mfpg_sum_client_options options = fuzz_options(site);
    fuzz_need(mfpg_sum_client_restore(ctx, &options, saved->data, saved->size, &client));
    mfpg_bytes message = fuzz_message(data, size, site, asked);
    mfpg_status status = mfpg_sum_client_answer(ctx, client, message.data, message.size, &answer);
    fuzz_expect((status == MFPG_OK) == (answer.data != NULL), "an answer of a client that refused");
    if (status != MFPG_OK)
        fuzz_expect(mfpg_sum_client_answer(ctx, client, asked->data, asked->size, &answer) == MFPG_ERR_INPUT,
            "an answer after a failure");
    mfpg_bytes_clear(&answer);
    mfpg_bytes_clear(&message);
    mfpg_sum_client_destroy(client);
    return 0;
}
