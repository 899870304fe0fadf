/* A data file of one format, the whole way to a federation. FUZZ_READER is the format's name. */
#include "fuzz.h"

#include <math.h>

#include "mfpg/dataset.h"

/* What reading promises: rows, finite values, norms that are those of the rows. */
static void check_set(const mfpg_dataset *set) {
    for (ptrdiff_t i = 0; i < set->rows; i++) {
        double norm2 = 0.0;
        for (ptrdiff_t j = 0; j < set->features; j++) {
            double value = (double)set->x[i * set->features + j];
            fuzz_expect(isfinite(value), "a feature is not finite");
            norm2 += value * value;
        }
        fuzz_expect(isfinite(set->y[i]), "a label is not finite");
        fuzz_expect(norm2 == set->norm2[i], "a norm is not that of its row");
    }
}

static void read_as(const mfpg_data_options *options) {
    mfpg_context *ctx = fuzz_context();
    mfpg_key key = mfpg_key_from_seed(1);
    mfpg_federated_data *data = NULL;
    mfpg_status status = mfpg_federated_data_create(ctx, options, &key, &data);
    if (status != MFPG_OK) {
        fuzz_expect(!data, "data in spite of an error");
        fuzz_expect(status == MFPG_ERR_INPUT, "an error that does not blame the file");
        fuzz_expect(mfpg_context_message(ctx)[0] != 0, "an error without a message");
        return;
    }
    fuzz_expect(data->clients >= 1, "no client");
    for (ptrdiff_t k = 0; k < data->clients; k++) {
        fuzz_expect(data->client[k].train.rows >= 1, "a client without rows");
        check_set(&data->client[k].train);
        check_set(&data->client[k].test);
    }
    mfpg_federated_data_destroy(data);
}

/* As it stands; then without a header, labels and values coarsened, and dealt to clients. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *files[] = {fuzz_file(0, data, size)};
    mfpg_data_options options = mfpg_data_options_default();
    options.format = FUZZ_READER;
    options.files = files;
    options.file_count = 1;
    read_as(&options);
    options.header = 0;
    options.missing = MFPG_MISSING_DROP;
    options.positive_above = 0;
    options.test_fraction = 0.5;
    options.partition = MFPG_PARTITION_SHARDS;
    options.clients = options.shards_per_client = 2;
    read_as(&options);
    options.labels = files; /* also as the labels of itself */
    options.label_file_count = 1;
    read_as(&options);
    return 0;
}
