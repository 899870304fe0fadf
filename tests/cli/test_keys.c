/* mfpg keys: an identity that only its owner can read, its line for the roster, and nothing that is there already is touched. */
#include "cli/program.h"

#include <sys/stat.h>

#include "mfpg/secure_sum.h"

static void path_of(const char *name, char path[256]) {
    snprintf(path, 256, "%s/%s", folder, name);
}

static mfpg_identity load(const char *name) {
    char path[256];
    struct stat info;
    mfpg_identity identity;
    mfpg_context *ctx = testing_context(1);
    path_of(name, path);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    CHECK_OK(ctx, mfpg_identity_load(ctx, path, &identity));
    mfpg_context_destroy(ctx);
    return identity;
}

/* What is printed is a line of a roster, whose key is the file's. */
static void test_printed_lines_make_a_roster(void **state) {
    (void)state;
    static const char *const arguments[] = {"keys north", "keys south.2 --out south", "keys a_B-9"};
    static const char *const files[] = {"north.key", "south", "a_B-9.key"};
    char text[1024] = "";
    mfpg_context *ctx = testing_context(1);
    mfpg_roster roster;
    for (int i = 0; i < 3; i++) {
        expect(arguments[i], 0);
        assert_non_null(strstr(ran.err, files[i]));
        strcat(text, ran.out);
    }
    CHECK_OK(ctx, mfpg_roster_read(ctx, text, strlen(text), "stdout", &roster));
    for (int i = 0; i < 3; i++) {
        mfpg_identity identity = load(files[i]);
        assert_memory_equal(identity.public_key, roster.entry[i].public_key, sizeof identity.public_key);
        remove_from_folder(files[i]);
    }
    mfpg_roster_clear(&roster);
    mfpg_context_destroy(ctx);
}

static void test_json_names_the_public_key_and_the_file(void **state) {
    (void)state;
    json_t *object = run_json("keys north --json");
    mfpg_identity identity = load("north.key");
    const char *key = json_string_value(json_object_get(object, "public_key"));
    assert_int_equal(json_object_size(object), 3);
    assert_string_equal(json_string_value(json_object_get(object, "name")), "north");
    assert_string_equal(json_string_value(json_object_get(object, "file")), "north.key");
    assert_int_equal(strlen(key), 64);
    for (size_t i = 0; i < sizeof identity.public_key; i++) {
        char two[3];
        snprintf(two, sizeof two, "%02x", identity.public_key[i]);
        assert_memory_equal(two, key + 2 * i, 2);
    }
    json_decref(object);
    remove_from_folder("north.key");
}

static void test_an_identity_is_never_overwritten(void **state) {
    (void)state;
    expect("keys north", 0);
    mfpg_identity before = load("north.key");
    REFUSED("keys north", "north.key: exists already and was left as it is", "--out");
    REFUSED("keys south -o north.key", "north.key: exists already");
    mfpg_identity after = load("north.key");
    assert_memory_equal(&before, &after, sizeof before);
    expect("keys south --out no/such/folder", 1);
    remove_from_folder("north.key");
}

static void test_names_that_no_roster_takes_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"''", "'no rth'", "../north", "'north\n'",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "n\xc3\xb6rd"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "keys %s", names[i]);
        REFUSED(arguments, "1 to 63 letters, digits");
    }
    REFUSED("keys north south", "one site at a time");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_printed_lines_make_a_roster, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_json_names_the_public_key_and_the_file, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_an_identity_is_never_overwritten, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_names_that_no_roster_takes_are_refused, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
