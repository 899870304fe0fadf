/* One sum of 100 clients with 109,386 coordinates of 16 or 32 bits and the least threshold without colluders: the CPU of one
 * client, and of the server if nobody or 10 clients drop out. The floor is the key stream of the masks that each must draw, by
 * libsodium. Also the bytes that a client sends and receives, and the 4 bytes a coordinate of an update in floats. */
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "mfpg/secure_sum.h"

enum { CLIENTS = 100, DROPOUTS = 10, DIMENSION = 109386, STEPS = MFPG_SUM_DONE, THRESHOLD = 51 };

/* Replaces that of the C library, so that the server's key, and with it the context, is the same in every repetition. */
int getentropy(void *buffer, size_t size) {
    memset(buffer, 5, size);
    return 0;
}

typedef struct sum {
    mfpg_context *ctx;
    mfpg_identity identity[CLIENTS];
    mfpg_roster roster;
    mfpg_sum_share share[CLIENTS];
    mfpg_sum_terms terms;
    mfpg_key key[CLIENTS];
    mfpg_bytes asked[STEPS], answered[STEPS][CLIENTS]; /* asked: of client 0 */
    int64_t *sum;
    unsigned char *stream; /* of one mask */
    size_t stream_size;
    int masks;
} sum;

static void need(const sum *job, mfpg_status status) {
    if (status == MFPG_OK) return;
    fprintf(stderr, "%s\n", mfpg_context_message(job->ctx));
    exit(EXIT_FAILURE);
}

static mfpg_status release(mfpg_context *ctx, void *user, const mfpg_sum_terms *terms,
    const unsigned char *members, int64_t *vector) {
    (void)ctx, (void)user, (void)members;
    for (ptrdiff_t i = 0; i < terms->dimension; i++) vector[i] = i % 101 - 50;
    return MFPG_OK;
}

static mfpg_sum_client *create_client(sum *job, int i) {
    mfpg_sum_client *client = NULL;
    const mfpg_sum_client_options options = {.roster = &job->roster,
        .identity = &job->identity[i],
        .threshold = THRESHOLD,
        .own = job->share[i],
        .release = release,
        .key = &job->key[i]};
    need(job, mfpg_sum_client_create(job->ctx, &options, &client));
    return client;
}

static void prepare(sum *job, int bits) {
    static char text[CLIENTS * 80];
    char *at = text;
    for (int i = 0; i < CLIENTS; i++) {
        unsigned char seed[32] = {(unsigned char)i};
        char digits[65];
        crypto_sign_seed_keypair(job->identity[i].public_key, job->identity[i].secret_key, seed);
        sodium_bin2hex(digits, sizeof digits, job->identity[i].public_key, 32);
        at += sprintf(at, "s%d %s\n", i, digits);
        job->share[i] = (mfpg_sum_share){.weight = 1.0 / CLIENTS, .noise_sd = 16.0, .clip = 100.0};
        job->key[i] = mfpg_key_from_seed((uint64_t)i);
    }
    need(job, mfpg_roster_read(job->ctx, text, (size_t)(at - text), "roster", &job->roster));
    job->terms = (mfpg_sum_terms){.round = 1,
        .attempt = 1,
        .threshold = THRESHOLD,
        .bits = bits,
        .dimension = DIMENSION,
        .grid = 0x1p-7,
        .share = job->share};
    job->stream_size = (size_t)DIMENSION * (bits <= 16 ? 2 : 4);
    job->stream = malloc(job->stream_size);
    job->sum = malloc(DIMENSION * sizeof *job->sum);
    if (!job->stream || !job->sum) exit(EXIT_FAILURE);
}

/* Plays the sum once and keeps what was said. The last `dropouts` clients do not send their vectors. */
static void record(sum *job, int dropouts) {
    mfpg_sum_client *client[CLIENTS];
    mfpg_sum_server *server = NULL;
    need(job, mfpg_sum_server_create(job->ctx, &job->roster, &job->terms, &server));
    for (int i = 0; i < CLIENTS; i++) client[i] = create_client(job, i);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < (step < MFPG_SUM_MASKED ? CLIENTS : CLIENTS - dropouts); i++) {
            mfpg_bytes message, *answer = &job->answered[step][i];
            need(job, mfpg_sum_server_ask(job->ctx, server, i, &message));
            need(job, mfpg_sum_client_answer(job->ctx, client[i], message.data, message.size, answer));
            need(job, mfpg_sum_server_take(job->ctx, server, answer->data, answer->size, NULL));
            if (i == 0)
                job->asked[step] = message;
            else
                mfpg_bytes_clear(&message);
        }
        need(job, mfpg_sum_server_advance(job->ctx, server, NULL));
    }
    for (int i = 0; i < CLIENTS; i++) mfpg_sum_client_destroy(client[i]);
    mfpg_sum_server_destroy(server);
}

static void forget(sum *job) {
    for (int step = 0; step < STEPS; step++) {
        mfpg_bytes_clear(&job->asked[step]);
        for (int i = 0; i < CLIENTS; i++) mfpg_bytes_clear(&job->answered[step][i]);
    }
}

static void one_client(void *arg) {
    sum *job = arg;
    mfpg_sum_client *client = create_client(job, 0);
    for (int step = 0; step < STEPS; step++) {
        mfpg_bytes answer;
        need(job,
            mfpg_sum_client_answer(job->ctx, client, job->asked[step].data, job->asked[step].size, &answer));
        mfpg_bytes_clear(&answer);
    }
    mfpg_sum_client_destroy(client);
}

static void one_server(void *arg) {
    sum *job = arg;
    mfpg_sum_server *server = NULL;
    need(job, mfpg_sum_server_create(job->ctx, &job->roster, &job->terms, &server));
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < CLIENTS && job->answered[step][i].data; i++) {
            mfpg_bytes message;
            need(job, mfpg_sum_server_ask(job->ctx, server, i, &message));
            mfpg_bytes_clear(&message);
            need(job, mfpg_sum_server_take(
                          job->ctx, server, job->answered[step][i].data, job->answered[step][i].size, NULL));
        }
        need(job, mfpg_sum_server_advance(job->ctx, server, NULL));
    }
    need(job, mfpg_sum_server_sum(job->ctx, server, job->sum, NULL));
    mfpg_sum_server_destroy(server);
}

static void draw_masks(void *arg) {
    sum *job = arg;
    unsigned char key[crypto_stream_chacha20_KEYBYTES] = {0}, nonce[crypto_stream_chacha20_NONCEBYTES] = {0};
    for (int k = 0; k < job->masks; k++) {
        key[0] = (unsigned char)k;
        crypto_stream_chacha20(job->stream, job->stream_size, nonce, key);
    }
}

static void print_bytes(const sum *job, const char *suffix) {
    size_t sent = 0, received = 0;
    for (int step = 0; step < STEPS; step++)
        sent += job->answered[step][0].size, received += job->asked[step].size;
    printf("{\"work\": \"secure_sum_bytes%s\", \"sent\": %zu, \"received\": %zu, \"float32_update\": %d, "
           "\"sent_share_of_float32\": %.3f}\n",
        suffix, sent, received, 4 * DIMENSION, (double)sent / (4.0 * DIMENSION));
}

static void measure(mfpg_context *ctx, int bits, const char *suffix) {
    static sum job;
    char work[64];
    job = (sum){.ctx = ctx};
    prepare(&job, bits);
    for (int dropouts = 0; dropouts <= DROPOUTS; dropouts += DROPOUTS) {
        record(&job, dropouts);
        if (dropouts == 0) {
            job.masks = CLIENTS;
            snprintf(work, sizeof work, "secure_sum_client%s", suffix);
            bench_work(work, one_client, draw_masks, &job, 0.0, "");
            print_bytes(&job, suffix);
        }
        const int survivors = CLIENTS - dropouts;
        job.masks = survivors + survivors * dropouts;
        snprintf(work, sizeof work, "secure_sum_server%s%s", dropouts ? "_dropouts" : "", suffix);
        bench_work(work, one_server, draw_masks, &job, 0.0, "");
        forget(&job);
    }
    free(job.stream);
    free(job.sum);
    mfpg_roster_clear(&job.roster);
}

int main(void) {
    mfpg_context *ctx = NULL;
    mfpg_context_options options = mfpg_context_options_default();
    options.threads = 1;
    if (sodium_init() < 0 || mfpg_context_create(&options, &ctx) != MFPG_OK) return EXIT_FAILURE;
    printf("{\"work\": \"secure_sum_size\", \"clients\": %d, \"threshold\": %d, \"dimension\": %d}\n",
        CLIENTS, THRESHOLD, DIMENSION);
    measure(ctx, 16, "");
    measure(ctx, 32, "_32");
    mfpg_context_destroy(ctx);
    return EXIT_SUCCESS;
}
