#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/file.h"

/* A new folder under the system's place for temporary files; removed by the caller. */
static char *new_folder(void) {
    const char *place = getenv("TMPDIR");
    static char path[4096];
    snprintf(path, sizeof path, "%s/mfpg-test-XXXXXX", place && *place ? place : "/tmp");
    assert_non_null(mkdtemp(path));
    return path;
}

static void path_in(const char *folder, const char *name, char out[8192]) {
    snprintf(out, 8192, "%s/%s", folder, name);
}

static int exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

static void write_whole(mfpg_context *ctx, const char *path, const char *text) {
    mfpg_file file;
    CHECK_OK(ctx, mfpg_file_create(ctx, path, &file));
    fputs(text, file.stream);
    CHECK_OK(ctx, mfpg_file_commit(ctx, &file));
    mfpg_file_abandon(&file); /* harmless after commit */
}

static void check_content(mfpg_context *ctx, const char *path, const char *expected) {
    char *text = NULL;
    size_t length = 0;
    CHECK_OK(ctx, mfpg_file_read(ctx, path, 1000000, &text, &length));
    assert_int_equal(length, strlen(expected));
    assert_string_equal(text, expected);
    free(text);
}

static void test_a_file_appears_whole_and_replaces_the_old_one(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    char *folder = new_folder(), path[8192], part[8192];
    path_in(folder, "out.csv", path);
    path_in(folder, "out.csv.part", part);
    mfpg_file file;
    CHECK_OK(ctx, mfpg_file_create(ctx, path, &file));
    fputs("first", file.stream);
    fflush(file.stream);
    assert_false(exists(path)); /* not before commit */
    CHECK_OK(ctx, mfpg_file_commit(ctx, &file));
    check_content(ctx, path, "first");
    assert_false(exists(part));
    write_whole(ctx, path, "second");
    check_content(ctx, path, "second");
    CHECK_OK(ctx, mfpg_file_create(ctx, path, &file));
    fputs("thi", file.stream);
    fflush(file.stream);
    check_content(ctx, path, "second"); /* the old one stays until commit */
    mfpg_file_abandon(&file);
    check_content(ctx, path, "second");
    assert_false(exists(part));
    mfpg_file_abandon(&file);
    unlink(path);
    assert_int_equal(rmdir(folder), 0); /* nothing was left */
    mfpg_context_destroy(ctx);
}

static void test_a_commit_that_fails_leaves_nothing(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    char *folder = new_folder(), path[8192], inside[8192];
    path_in(folder, "taken", path);
    mfpg_file file;
    CHECK_OK(ctx, mfpg_file_create(ctx, path, &file));
    fputs("x", file.stream);
    path_in(folder, "taken/file", inside);
    assert_int_equal(mkdir(path, 0777), 0); /* a folder that is not empty cannot be replaced by a file */
    write_whole(ctx, inside, "");
    assert_int_equal(mfpg_file_commit(ctx, &file), MFPG_ERR_IO);
    assert_non_null(strstr(mfpg_context_message(ctx), "taken"));
    unlink(inside);
    rmdir(path);
    assert_int_equal(rmdir(folder), 0);
    mfpg_context_destroy(ctx);
}

static void test_files_that_cannot_be_made_or_read_say_which_and_why(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    char *folder = new_folder(), path[8192], *text = NULL;
    size_t length = 0;
    mfpg_file file;
    path_in(folder, "no/such/folder/out", path);
    assert_int_equal(mfpg_file_create(ctx, path, &file), MFPG_ERR_IO);
    assert_non_null(strstr(mfpg_context_message(ctx), path));
    assert_int_equal(mfpg_file_read(ctx, path, 100, &text, &length), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), path));
    assert_int_equal(mfpg_file_read(ctx, folder, 100, &text, &length), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "not a file"));
    assert_int_equal(mfpg_file_read(ctx, "/dev/zero", 100, &text, &length), MFPG_ERR_INPUT);
    assert_null(text);
    rmdir(folder);
    mfpg_context_destroy(ctx);
}

static void test_reading_stops_at_its_limit(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    char *folder = new_folder(), path[8192], *text = NULL, *content = malloc(200001);
    size_t length = 0;
    assert_non_null(content);
    path_in(folder, "long", path);
    memset(content, 'a', 200000);
    content[200000] = 0;
    write_whole(ctx, path, content);
    check_content(ctx, path, content);
    CHECK_OK(ctx, mfpg_file_read(ctx, path, 200000, &text, &length));
    free(text);
    text = NULL;
    assert_int_equal(mfpg_file_read(ctx, path, 199999, &text, &length), MFPG_ERR_INPUT);
    assert_non_null(strstr(mfpg_context_message(ctx), "199999"));
    assert_null(text);
    write_whole(ctx, path, "");
    check_content(ctx, path, "");
    unlink(path);
    rmdir(folder);
    free(content);
    mfpg_context_destroy(ctx);
}

static void test_paths_join_and_folders_are_made_with_their_parents(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    const char *joined[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"", "b", "b"}, {"a", "/b", "/b"}, {"/", "b", "/b"}};
    for (size_t i = 0; i < sizeof joined / sizeof joined[0]; i++) {
        char *path = mfpg_path_join(joined[i][0], joined[i][1]);
        assert_non_null(path);
        assert_string_equal(path, joined[i][2]);
        free(path);
    }
    char *none = mfpg_path_join(NULL, "b");
    assert_string_equal(none, "b");
    free(none);
    char *folder = new_folder(), path[8192], file[8192];
    path_in(folder, "one/two/", path);
    CHECK_OK(ctx, mfpg_folder_create(ctx, path));
    CHECK_OK(ctx, mfpg_folder_create(ctx, path)); /* again is fine */
    path_in(folder, "one/two/file", file);
    write_whole(ctx, file, "x");
    assert_int_equal(mfpg_folder_create(ctx, file), MFPG_ERR_IO);
    path_in(folder, "one/two/file/below", path);
    assert_int_equal(mfpg_folder_create(ctx, path), MFPG_ERR_IO);
    unlink(file);
    path_in(folder, "one/two", path);
    rmdir(path);
    path_in(folder, "one", path);
    rmdir(path);
    assert_int_equal(rmdir(folder), 0);
    mfpg_context_destroy(ctx);
}

static void heard(int number) {
    (void)number;
}

/* Signals until one arrives while the call waits; the handler restarts nothing. */
static void signals(int begin) {
    struct sigaction action = {.sa_handler = begin ? heard : SIG_DFL};
    struct itimerval every = {{0, begin ? 5000 : 0}, {0, begin ? 5000 : 0}};
    if (begin) assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
    if (!begin) assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
}

/* A pipe that nobody writes into: waiting for a writer, then waiting for bytes, first or more. */
static void test_a_signal_ends_the_wait_for_a_pipe(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    char *folder = new_folder(), path[8192], *text = NULL;
    size_t length;
    path_in(folder, "pipe", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    for (int bytes = -1; bytes < 2; bytes++) {
        int writer = bytes < 0 ? -1 : open(path, O_RDWR);
        if (bytes > 0) assert_int_equal(write(writer, "x", 1), 1);
        signals(1);
        mfpg_status status = mfpg_file_read(ctx, path, 100, &text, &length);
        signals(0);
        assert_int_equal(status, MFPG_ERR_INTERRUPTED);
        assert_null(text);
        assert_non_null(strstr(mfpg_context_message(ctx), path));
        if (writer >= 0) close(writer);
    }
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
    mfpg_context_destroy(ctx);
}

static mode_t kind_of(const char *path) {
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    return info.st_mode & S_IFMT;
}

/* A rename would put a file where a device, a pipe or a link was. */
static void test_what_is_no_file_keeps_its_name(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    mfpg_file file;
    char *folder = new_folder(), pipe[8192], link[8192], target[8192], part[8192];
    path_in(folder, "pipe", pipe);
    path_in(folder, "link", link);
    path_in(folder, "target", target);
    path_in(folder, "pipe.part", part);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    int reader = open(pipe, O_RDONLY | O_NONBLOCK);
    write_whole(ctx, pipe, "through");
    char bytes[16] = "";
    assert_int_equal(read(reader, bytes, sizeof bytes), 7);
    assert_string_equal(bytes, "through");
    close(reader);
    assert_true(kind_of(pipe) == S_IFIFO && !exists(part));
    write_whole(ctx, target, "old");
    assert_int_equal(symlink("target", link), 0);
    write_whole(ctx, link, "new");
    check_content(ctx, target, "new");
    assert_true(kind_of(link) == S_IFLNK);
    write_whole(ctx, "/dev/null", "nothing");
    assert_true(kind_of("/dev/null") == S_IFCHR);
    CHECK_OK(ctx, mfpg_file_create(ctx, "/dev/full", &file)); /* a full disk at once */
    fputs("something", file.stream);
    assert_int_equal(mfpg_file_commit(ctx, &file), MFPG_ERR_IO);
    assert_true(kind_of("/dev/full") == S_IFCHR);
    assert_int_equal(mfpg_file_create(ctx, folder, &file), MFPG_ERR_IO);
    assert_int_equal(mfpg_file_create_private(ctx, pipe, &file), MFPG_ERR_IO);
    remove(pipe), remove(link), remove(target);
    assert_int_equal(rmdir(folder), 0);
    mfpg_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_appears_whole_and_replaces_the_old_one),
        cmocka_unit_test(test_a_commit_that_fails_leaves_nothing),
        cmocka_unit_test(test_files_that_cannot_be_made_or_read_say_which_and_why),
        cmocka_unit_test(test_reading_stops_at_its_limit),
        cmocka_unit_test(test_paths_join_and_folders_are_made_with_their_parents),
        cmocka_unit_test(test_a_signal_ends_the_wait_for_a_pipe),
        cmocka_unit_test(test_what_is_no_file_keeps_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
