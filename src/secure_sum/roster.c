#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "mfpg/program.h"
#include "mfpg/secure_sum.h"

enum { KEY_DIGITS = 2 * crypto_sign_PUBLICKEYBYTES, LIMIT = 1 << 20 /* bytes of a roster's file */ };

void mfpg_roster_clear(mfpg_roster *roster) {
    free(roster->entry);
    *roster = (mfpg_roster){0};
}

static int is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

/* Parses "name key"; NULL, or what is wrong. */
static const char *parse(const char *line, size_t length, mfpg_roster_entry *entry) {
    size_t name = 0;
    const char *end;
    while (name < length && is_name(line[name])) name++;
    if (name == 0 || name >= sizeof entry->name)
        return "a name has 1 to 63 letters, digits, '-', '_' and '.'";
    if (length != name + 1 + KEY_DIGITS || line[name] != ' ' ||
        sodium_hex2bin(entry->public_key, sizeof entry->public_key, line + name + 1, KEY_DIGITS, NULL, NULL,
            &end) != 0 ||
        end != line + length)
        return "a line is a name, one blank and a key of 64 hexadecimal digits";
    if (!crypto_core_ed25519_is_valid_point(entry->public_key))
        return "the key is not a public key of Ed25519";
    memset(entry->name, 0, sizeof entry->name);
    memcpy(entry->name, line, name);
    return NULL;
}

static const char *find_twin(const mfpg_roster *roster, const mfpg_roster_entry *entry) {
    for (ptrdiff_t i = 0; i < roster->count; i++) {
        if (strcmp(roster->entry[i].name, entry->name) == 0) return "this name has occurred before";
        if (memcmp(roster->entry[i].public_key, entry->public_key, sizeof entry->public_key) == 0)
            return "this key has occurred before";
    }
    return roster->count < MFPG_SUM_MOST ? NULL : "a roster has at most 255 sites";
}

static void hash_roster(mfpg_roster *roster) {
    crypto_hash_sha256_state hash;
    char digits[KEY_DIGITS + 1];
    crypto_hash_sha256_init(&hash);
    for (ptrdiff_t i = 0; i < roster->count; i++) {
        const mfpg_roster_entry *entry = &roster->entry[i];
        sodium_bin2hex(digits, sizeof digits, entry->public_key, sizeof entry->public_key);
        crypto_hash_sha256_update(&hash, (const unsigned char *)entry->name, strlen(entry->name));
        crypto_hash_sha256_update(&hash, (const unsigned char *)" ", 1);
        crypto_hash_sha256_update(&hash, (const unsigned char *)digits, KEY_DIGITS);
        crypto_hash_sha256_update(&hash, (const unsigned char *)"\n", 1);
    }
    crypto_hash_sha256_final(&hash, roster->hash);
}

static mfpg_status read_lines(
    mfpg_context *ctx, const char *text, size_t size, const char *source, mfpg_roster *roster) {
    int number = 1;
    for (const char *line = text, *end = text + size; line < end; number++) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t length = (size_t)((stop ? stop : end) - line);
        mfpg_roster_entry entry;
        if (length > 0 && line[0] != '#') {
            const char *fault = parse(line, length, &entry);
            if (!fault) fault = find_twin(roster, &entry);
            if (fault) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%d: %s", source, number, fault);
            roster->entry[roster->count++] = entry;
        }
        line += length + 1;
    }
    if (roster->count < MFPG_SUM_LEAST)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: a roster has at least %d sites, and this one has %td",
            source, MFPG_SUM_LEAST, roster->count);
    return MFPG_OK;
}

mfpg_status mfpg_roster_read(
    mfpg_context *ctx, const char *text, size_t size, const char *source, mfpg_roster *out) {
    if (sodium_init() < 0) return mfpg_fail(ctx, MFPG_ERR_IO, "the system provides no randomness");
    mfpg_roster roster = {.entry = mfpg_alloc(MFPG_SUM_MOST, sizeof *roster.entry)};
    mfpg_status status = roster.entry ? read_lines(ctx, text, size, source, &roster) : mfpg_fail_memory(ctx);
    if (status != MFPG_OK) {
        mfpg_roster_clear(&roster);
        return status;
    }
    hash_roster(&roster);
    *out = roster;
    return MFPG_OK;
}

mfpg_status mfpg_roster_load(mfpg_context *ctx, const char *path, mfpg_roster *out) {
    char *text = NULL;
    size_t size = 0;
    mfpg_status status = mfpg_file_read(ctx, path, LIMIT, &text, &size);
    if (status == MFPG_OK) status = mfpg_roster_read(ctx, text, size, path, out);
    free(text);
    return status;
}
