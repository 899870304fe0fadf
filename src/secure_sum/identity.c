#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "mfpg/program.h"
#include "mfpg/secure_sum.h"

/* One line: the words, the public key and the secret seed in hexadecimal digits. */
static const char WORDS[] = "mfpg-identity-1 ";
enum {
    SEED = crypto_sign_SEEDBYTES,
    PUBLIC_AT = sizeof WORDS - 1,
    SEED_AT = PUBLIC_AT + 2 * crypto_sign_PUBLICKEYBYTES + 1,
    LINE = SEED_AT + 2 * SEED + 1
};

/* The identity of a random seed, which is wiped. */
static void from_seed(unsigned char seed[SEED], mfpg_identity *out) {
    crypto_sign_seed_keypair(out->public_key, out->secret_key, seed);
    sodium_memzero(seed, SEED);
}

mfpg_status mfpg_identity_create(mfpg_context *ctx, mfpg_identity *out) {
    mfpg_key key;
    if (sodium_init() < 0 || mfpg_key_from_system(&key) != MFPG_OK)
        return mfpg_fail(ctx, MFPG_ERR_IO, "the system provides no randomness");
    from_seed(key.bytes, out);
    return MFPG_OK;
}

/* Writes at once, without a buffer of stdio that would keep the secret. */
static int write_line(const char *path, const char *line) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), code = 0;
    if (file < 0) return errno;
    ssize_t wrote = write(file, line, LINE);
    if (wrote != LINE) code = wrote < 0 ? errno : ENOSPC;
    if (!code && fsync(file) != 0) code = errno;
    if (close(file) != 0 && !code) code = errno;
    if (code) unlink(path);
    return code;
}

mfpg_status mfpg_identity_save(mfpg_context *ctx, const char *path, const mfpg_identity *identity) {
    char line[LINE + 1];
    memcpy(line, WORDS, PUBLIC_AT);
    sodium_bin2hex(line + PUBLIC_AT, 2 * crypto_sign_PUBLICKEYBYTES + 1, identity->public_key,
        sizeof identity->public_key);
    line[SEED_AT - 1] = ' ';
    sodium_bin2hex(line + SEED_AT, 2 * SEED + 1, identity->secret_key, SEED);
    line[LINE - 1] = '\n';
    int code = write_line(path, line);
    sodium_memzero(line, sizeof line);
    if (code) return mfpg_fail(ctx, MFPG_ERR_IO, "%s: cannot write: %s", path, strerror(code));
    return mfpg_path_sync_folder(ctx, path);
}

/* Reads size bytes and not one more; NULL, or what is wrong. */
static const char *read_line(const char *path, char *line, int *code) {
    struct stat info;
    const char *fault = NULL;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    *code = errno;
    if (file < 0) return strerror(*code);
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
        fault = "it is not a file";
    else if (info.st_mode & (S_IRWXG | S_IRWXO))
        fault = "others than its owner can read or write it; chmod 600 forbids that";
    else if (info.st_size != LINE || read(file, line, LINE) != LINE)
        fault = "it is not an identity of mfpg";
    close(file);
    return fault;
}

static const char *parse_line(const char *line, mfpg_identity *out) {
    unsigned char public_key[crypto_sign_PUBLICKEYBYTES], seed[SEED];
    const char *end_of_public, *end_of_seed, *fault = NULL;
    mfpg_identity made;
    if (memcmp(line, WORDS, PUBLIC_AT) != 0 || line[SEED_AT - 1] != ' ' || line[LINE - 1] != '\n' ||
        sodium_hex2bin(public_key, sizeof public_key, line + PUBLIC_AT, 2 * sizeof public_key, NULL, NULL,
            &end_of_public) != 0 ||
        sodium_hex2bin(seed, sizeof seed, line + SEED_AT, 2 * sizeof seed, NULL, NULL, &end_of_seed) != 0 ||
        end_of_public != line + SEED_AT - 1 || end_of_seed != line + LINE - 1)
        fault = "it is not an identity of mfpg";
    else {
        from_seed(seed, &made);
        if (memcmp(made.public_key, public_key, sizeof public_key) != 0)
            fault = "its public and its secret key do not belong together";
        else
            *out = made;
    }
    sodium_memzero(&made, sizeof made);
    sodium_memzero(seed, sizeof seed);
    return fault;
}

mfpg_status mfpg_identity_load(mfpg_context *ctx, const char *path, mfpg_identity *out) {
    char line[LINE];
    int code = 0;
    if (sodium_init() < 0) return mfpg_fail(ctx, MFPG_ERR_IO, "the system provides no randomness");
    const char *fault = read_line(path, line, &code);
    if (!fault) fault = parse_line(line, out);
    sodium_memzero(line, sizeof line);
    return fault ? mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: cannot read the identity: %s", path, fault) : MFPG_OK;
}
