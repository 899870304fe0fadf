#include "testing.h"

#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mfpg/secure_sum.h"

/* Identities and rosters as files. */

static char folder[] = "/tmp/mfpg-roster-XXXXXX";
static char path[64];

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/key", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_text(const char *text, size_t size, mode_t mode) {
    unlink(path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
    assert_int_equal(chmod(path, mode), 0);
}

static void check_refused(mfpg_context *ctx, const char *why) {
    mfpg_identity out;
    assert_int_equal(mfpg_identity_load(ctx, path, &out), MFPG_ERR_INPUT);
    if (!strstr(mfpg_context_message(ctx), why)) print_error("%s: %s\n", why, mfpg_context_message(ctx));
    assert_non_null(strstr(mfpg_context_message(ctx), why));
}

static void test_an_identity_reads_back(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_identity a, b, c;
    struct stat info;
    unlink(path);
    CHECK_OK(ctx, mfpg_identity_create(ctx, &a));
    CHECK_OK(ctx, mfpg_identity_create(ctx, &b));
    assert_memory_not_equal(&a, &b, sizeof a);
    CHECK_OK(ctx, mfpg_identity_save(ctx, path, &a));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    CHECK_OK(ctx, mfpg_identity_load(ctx, path, &c));
    assert_memory_equal(&a, &c, sizeof a);
    assert_int_equal(mfpg_identity_save(ctx, path, &b), MFPG_ERR_IO); /* it exists */
    CHECK_OK(ctx, mfpg_identity_load(ctx, path, &c));
    assert_memory_equal(&a, &c, sizeof a);
    mfpg_context_destroy(ctx);
}

static void test_a_faulty_identity_is_refused(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_identity identity;
    char text[256], changed[256];
    unlink(path);
    check_refused(ctx, "No such file");
    CHECK_OK(ctx, mfpg_identity_create(ctx, &identity));
    CHECK_OK(ctx, mfpg_identity_save(ctx, path, &identity));
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    for (int bit = 3; bit < 9; bit++) {
        assert_int_equal(chmod(path, (mode_t)(0600 | 1 << (bit - 3))), 0);
        check_refused(ctx, "chmod 600");
    }
    for (size_t cut = 0; cut <= size; cut++) {
        if (cut == size) text[cut] = '\n'; /* and one byte too many */
        write_text(text, cut == size ? size + 1 : cut, 0600);
        check_refused(ctx, "not an identity");
    }
    for (size_t at = 0; at < size; at++) { /* no byte may be another */
        memcpy(changed, text, size);
        changed[at] = changed[at] == '0' ? '1' : '0';
        write_text(changed, size, 0600);
        check_refused(ctx, at > 16 && changed[at] != '\n' && text[at] != ' ' && text[at] != '\n'
                               ? "do not belong together"
                               : "");
    }
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    check_refused(ctx, "not a file");
    assert_int_equal(rmdir(path), 0);
    mfpg_context_destroy(ctx);
}

/* ---- rosters ---- */

static void key_digits(int number, char digits[65]) {
    unsigned char seed[32] = {(unsigned char)number, (unsigned char)(number >> 8)}, open[32], secret[64];
    crypto_sign_seed_keypair(open, secret, seed);
    sodium_bin2hex(digits, 65, open, 32);
}

static size_t roster_text(int n, char *text) {
    char *at = text, digits[65];
    for (int i = 0; i < n; i++) {
        key_digits(i, digits);
        at += sprintf(at, "clinic_%d.x-y %s\n", i, digits);
    }
    return (size_t)(at - text);
}

static void test_a_roster_reads_and_its_hash_is_of_its_entries(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    static char text[300 * 100], commented[300 * 100];
    for (int n = 3; n <= 255; n += 84) {
        mfpg_roster a, b, c;
        unsigned char hash[32];
        const size_t size = roster_text(n, text);
        CHECK_OK(ctx, mfpg_roster_read(ctx, text, size, "a", &a));
        assert_int_equal(a.count, n);
        assert_string_equal(a.entry[2].name, "clinic_2.x-y");
        crypto_hash_sha256(hash, (const unsigned char *)text, size); /* this text is canonical */
        assert_memory_equal(a.hash, hash, 32);
        const size_t longer =
            (size_t)sprintf(commented, "# who\n\n%.*s", (int)size - 1, text); /* no last line end */
        write_text(commented, longer, 0644);
        CHECK_OK(ctx, mfpg_roster_load(ctx, path, &b));
        assert_memory_equal(a.hash, b.hash, 32);
        text[0] = 'C';
        CHECK_OK(ctx, mfpg_roster_read(ctx, text, size, "c", &c));
        assert_memory_not_equal(a.hash, c.hash, 32);
        mfpg_roster_clear(&a);
        mfpg_roster_clear(&b);
        mfpg_roster_clear(&c);
    }
    mfpg_context_destroy(ctx);
}

static void refuse(mfpg_context *ctx, const char *text, const char *why) {
    mfpg_roster out = {0};
    assert_int_equal(mfpg_roster_read(ctx, text, strlen(text), "sites", &out), MFPG_ERR_INPUT);
    if (!strstr(mfpg_context_message(ctx), why)) print_error("%s: %s\n", why, mfpg_context_message(ctx));
    assert_non_null(strstr(mfpg_context_message(ctx), why));
    assert_null(out.entry);
}

static void test_a_faulty_roster_is_refused_with_its_line(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    static char text[300 * 100], line[400];
    char a[65], b[65];
    key_digits(0, a);
    key_digits(1, b);
    refuse(ctx, "", "sites: a roster has at least 3 sites, and this one has 0");
    roster_text(2, text);
    refuse(ctx, text, "this one has 2");
    roster_text(256, text);
    refuse(ctx, text, "sites:256: a roster has at most 255 sites");
    static const char *const formats[] = {"x  %s\n", " x %s\n", "x %s \n", "x\t%s\n", "x %s\r\n", "x %.63s\n",
        "x %s0\n", "x:y %s\n", "x%s\n", "x %.60szzzz\n"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        snprintf(line, sizeof line, formats[i], a);
        refuse(ctx, line, "sites:1: ");
    }
    snprintf(line, sizeof line, "%064d %s\n", 1, a);
    refuse(ctx, line, "1 to 63");
    snprintf(line, sizeof line, "x %s\n#\ny %s\n", a, a);
    refuse(ctx, line, "sites:3: this key has occurred before");
    snprintf(line, sizeof line, "x %s\nx %s\n", a, b);
    refuse(ctx, line, "sites:2: this name has occurred before");
    snprintf(line, sizeof line, "x %064d\n", 0); /* a point of small order */
    refuse(ctx, line, "not a public key of Ed25519");
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_an_identity_reads_back),
        cmocka_unit_test(test_a_faulty_identity_is_refused),
        cmocka_unit_test(test_a_roster_reads_and_its_hash_is_of_its_entries),
        cmocka_unit_test(test_a_faulty_roster_is_refused_with_its_line)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
