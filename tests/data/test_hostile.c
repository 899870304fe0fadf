/* Every reader of readers.def, and mfpg_data_check, against files that are cut, damaged, or lie: a clear refusal with the
 * place, or a correct read; never more than a second or 64 MiB of new memory for a file of a few kilobytes. */
#include "fixture.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <zlib.h>

#include "base/streams.h"
#include "data/readers.h"
#include "mfpg/data_check.h"
#include "zip_build.h"

enum { FILE_ROOM = 1 << 17, MOST_FILES = 64, MEMORY_LIMIT = 64 << 20 };

/* What must become of a file. */
typedef enum fate { REFUSED, READ, EITHER } fate;

typedef struct hostile {
    const char *reader, *what;
    unsigned char bytes[FILE_ROOM];
    size_t length;
    fate fate;           /* of the file as it is */
    int cut_is_refused;  /* 1: so is every beginning of it; 0: some are a smaller file */
    const char *message; /* part of the refusal; NULL: any */
} hostile;

static hostile files[MOST_FILES];
static int file_count;

static hostile *add(const char *reader, const char *what, fate wanted, const char *message) {
    assert_true(file_count < MOST_FILES);
    hostile *file = &files[file_count++];
    *file = (hostile){.reader = reader, .what = what, .fate = wanted, .message = message};
    return file;
}

static hostile *add_bytes(const char *reader, const char *what, fate wanted, const char *message,
    const void *bytes, size_t length) {
    hostile *file = add(reader, what, wanted, message);
    assert_true(length <= FILE_ROOM);
    memcpy(file->bytes, bytes, length);
    file->length = length;
    return file;
}

static hostile *add_text(
    const char *reader, const char *what, fate wanted, const char *message, const char *text) {
    return add_bytes(reader, what, wanted, message, text, strlen(text));
}

/* ---- files of text ---- */

static void add_csv(void) {
    add_text("csv", "a good file", READ, NULL,
        "a,b,\"the, label\"\r\n1,?,0\r\n.5,\"x \"\"y\"\"\",1\r\n3.38e-005,2,0");
    add_text("csv", "a short header", REFUSED, ":2: found 3 fields, expected 2", "a,b\n1,2,3\n");
    add_text("csv", "a short row", REFUSED, ":4: found 2 fields", "a,b,c\n1,2,3\n\n4,5\n");
    add_text("csv", "an open quote", REFUSED, ":2: the quote", "a,b\n\"1,2\n3,4\n");
    add_text("csv", "one name twice", REFUSED, ":1: columns 1 and 2", "a,a\n1,2\n");
    add_text("csv", "a header alone", REFUSED, ":2: no row", "a,b\n");
    add_text("csv", "blank lines alone", REFUSED, "the file is empty", "\n\n\n");
    add_bytes("csv", "a zero byte", REFUSED, ":2: a zero byte", "a,b\n1,\0\n", 8);
    add_bytes("csv", "UTF-16", REFUSED, "UTF-16",
        "\xFF\xFE"
        "a\0,\0b\0\n\0001\0,\0002\0\n\0",
        18);
    hostile *wide = add("csv", "a row of separators", REFUSED, ":1: more than 65535 columns");
    memset(wide->bytes, ',', FILE_ROOM);
    wide->length = FILE_ROOM;
}

static void add_libsvm(void) {
    add_text("libsvm", "a good file", READ, NULL, "+1 1:0.5 3:-1e-3 \n-1 2:1 # comment\n\n+1 1:.25 4:0\n");
    add_text("libsvm", "an index beyond all columns", REFUSED, ":2: an index", "1 1:1\n1 99999999999999:1\n");
    add_text("libsvm", "index 0", REFUSED, ":1: an index", "1 0:1\n");
    add_text("libsvm", "falling indices", REFUSED, ":1: indices of a line rise", "1 2:1 1:1\n");
    add_text("libsvm", "no feature at all", REFUSED, ":1: no example", "1\n0\n");
    hostile *sparse = add("libsvm", "rows far wider than the file", REFUSED, "too sparse");
    for (; sparse->length + 10 < FILE_ROOM; sparse->length += 10)
        memcpy(sparse->bytes + sparse->length, "1 65534:1\n", 10);
}

/* ---- files of arrays ---- */

static const unsigned char idx_bytes[] = {
    0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 255, 51, 102, 255, 0};

/* gzip around a beginning and that many zeros after it. */
static void pack_zeros(hostile *file, const void *head, size_t head_length, size_t zeros) {
    static unsigned char blank[1 << 16];
    z_stream z = {.next_out = file->bytes, .avail_out = FILE_ROOM};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)head;
    z.avail_in = (uInt)head_length;
    assert_int_equal(deflate(&z, Z_NO_FLUSH), Z_OK);
    while (zeros > 0) {
        size_t take = zeros < sizeof blank ? zeros : sizeof blank;
        z.next_in = blank;
        z.avail_in = (uInt)take;
        assert_int_equal(deflate(&z, Z_NO_FLUSH), Z_OK);
        zeros -= take;
    }
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    file->length = z.total_out;
    deflateEnd(&z);
}

static void add_idx(void) {
    const unsigned char large[] = {0, 0, 8, 3, 0x00, 0x0F, 0, 0, 0, 0, 0, 32, 0, 0, 0,
        32}, /* 983,040 images of 1 KiB */
        huge[] = {0, 0, 8, 3, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 32, 0, 0, 0, 32},
                        small[] = {0, 0, 8, 3, 0, 0, 0, 4, 0, 0, 0, 32, 0, 0, 0, 32};
    add_bytes("idx", "a good file", READ, NULL, idx_bytes, sizeof idx_bytes)->cut_is_refused = 1;
    hostile *packed = add("idx", "a good file in gzip", READ, NULL);
    pack_zeros(packed, idx_bytes, sizeof idx_bytes, 0);
    packed->cut_is_refused = 1;
    add_bytes("idx", "a header that claims a gigabyte", REFUSED, "byte 16: the file ends too early", large,
        sizeof large);
    add_bytes("idx", "a header that claims more", REFUSED, "byte 8: more than 1 GiB", huge, sizeof huge);
    pack_zeros(add("idx", "gzip that claims a gigabyte and holds four megabytes", REFUSED, "ends too early"),
        large, sizeof large, 4 << 20);
    pack_zeros(add("idx", "gzip that claims two thousand gigabytes", REFUSED, "more than 1 GiB"), huge,
        sizeof huge, 4 << 20);
    pack_zeros(add("idx", "gzip that holds far more than it claims", REFUSED, "goes on after"), small,
        sizeof small, 100 << 20);
    add_bytes("idx", "three bytes", REFUSED, "byte 3: the file ends too early", idx_bytes, 3);
}

static void add_npy_array(const char *what, fate wanted, const char *message, const char *type,
    const char *shape, const void *values, size_t length) {
    hostile *file = add("npy", what, wanted, message);
    file->length = npy_build(file->bytes, type, shape, values, length);
    file->cut_is_refused = wanted == READ;
}

static void add_npy(void) {
    const float values[] = {1, 2, 0, 3, 4, 1};
    add_npy_array("a good file", READ, NULL, "<f4", "(2, 3)", values, sizeof values);
    add_npy_array("a header that claims a gigabyte", REFUSED, "byte 152: the file ends too early", "<f4",
        "(4000000, 64)", values, sizeof values);
    add_npy_array(
        "a header that claims more", REFUSED, "1 GiB", "<f8", "(1000000000, 60000)", values, sizeof values);
    add_npy_array("sizes whose product overflows", REFUSED, "1 GiB", "<f8",
        "(1000000000, 1000000000, 1000000000, 1000000000)", values, sizeof values);
    add_npy_array(
        "more values than claimed", REFUSED, "goes on after", "<f4", "(1, 3)", values, sizeof values);
    add_npy_array("a type that holds code", REFUSED, "types are", "|O", "(2, 3)", values, sizeof values);
    add_npy_array("no shape", REFUSED, "no shape", "<f4", "2, 3", values, sizeof values);
    add_bytes("npy", "a header of four gigabytes", REFUSED, "byte 12: a header of more than 64 KiB",
        "\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF{'descr'", 20);
}

static zip_build zip;

static hostile *finish_zip(const char *what, fate wanted, const char *message) {
    size_t length = zip_finish(&zip, 0);
    hostile *file = add_bytes("npz", what, wanted, message, zip.bytes, length);
    memset(&zip, 0, sizeof zip);
    return file;
}

/* An array that claims rows of 1 KiB and is followed by zeros. */
static void add_zeros(const char *name, const char *shape, size_t zeros) {
    unsigned char *bytes = calloc(zeros + 1024, 1);
    assert_non_null(bytes);
    size_t head = npy_build(bytes, "|u1", shape, NULL, 0);
    zip_add(&zip, name, bytes, head + zeros, ZIP_DEFLATE);
    free(bytes);
}

static void add_npz(void) {
    const float values[] = {1, 2, 3, 4, 5, 6};
    const unsigned char labels[] = {1, 0, 1};
    for (int way = 0; way < 2; way++) {
        zip_add_array(&zip, "x.npy", "<f4", "(3, 2)", values, sizeof values,
            way ? ZIP_DEFLATE | ZIP_DESCRIPTOR : ZIP_WIDE);
        zip_add_array(&zip, "y.npy", "|u1", "(3,)", labels, sizeof labels, way ? ZIP_DEFLATE : 0);
        finish_zip(way ? "a good file, deflated" : "a good file, stored", READ, NULL)->cut_is_refused = 1;
    }
    add_zeros("x.npy", "(983040, 1024)", 4 << 20);
    finish_zip("four megabytes that claim a gigabyte", REFUSED, "ends too early");
    add_zeros("x.npy", "(4, 1024)", 40 << 20);
    finish_zip("forty megabytes that claim four kilobytes", REFUSED, "goes on after");
    add_zeros("x.npy", "(4096, 1024)", 4 << 20);
    for (int i = 0; i < 4; i++) zip.bytes[22 + i] = zip.directory[24 + i] = 0x7F; /* both say two gigabytes */
    finish_zip("a size of two gigabytes", REFUSED, "the directory promises");
    add_zeros("x.npy", "(4096, 1024)", 4 << 20);
    zip.bytes[22] = zip.directory[24] = 1; /* both say less than there is */
    zip.bytes[24] = zip.directory[26] = 0;
    finish_zip("more than the directory promises", REFUSED, "unpacks to more");
    add_bytes("npz", "the end of an archive alone", REFUSED, "without a NumPy array",
        "PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
    add_bytes("npz", "the end of an archive that claims members", REFUSED, "byte 0: no entry",
        "PK\5\6\0\0\0\0\xFF\0\xFF\0\0\0\0\0\0\0\0\0\0\0", 22);
    add_bytes("npz", "a directory of four gigabytes", REFUSED, "byte 0: the directory goes",
        "PK\5\6\0\0\0\0\1\0\1\0\xFE\xFF\xFF\xFF\0\0\0\0\0\0", 22);
}

/* ---- reading them ---- */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A line, a byte, or a member is named, or the file is refused as a whole (by its counts, or by its name). */
static int names_a_place(const char *message) {
    const char *at = message;
    for (; *at; at++)
        if (at[0] == ':' && at[1] >= '0' && at[1] <= '9') return 1;
    return strstr(message, ": byte ") || strstr(message, "member") || strstr(message, "arrays could be") ||
           strstr(message, "archive without") || strstr(message, "too sparse");
}

static int complain(const hostile *file, const char *how, size_t length, const char *message) {
    print_error("%s, %s (%s, %zu bytes): %s\n", file->reader, file->what, how, length, message);
    return 1;
}

/* Number of complaints about one reading of one file. */
static int judge(
    const hostile *file, const char *how, size_t length, fate wanted, mfpg_status status, double took) {
    const char *message = mfpg_context_message(fixture_ctx);
    int wrong = 0;
    if (status != MFPG_OK && status != MFPG_ERR_INPUT)
        wrong += complain(file, how, length, mfpg_status_text(status));
    if (status == MFPG_OK && wanted == REFUSED) wrong += complain(file, how, length, "was read");
    if (status != MFPG_OK && wanted == READ) wrong += complain(file, how, length, message);
    if (status == MFPG_ERR_INPUT && !names_a_place(message)) wrong += complain(file, how, length, message);
    if (status == MFPG_ERR_INPUT && strchr(message, '\n')) wrong += complain(file, how, length, "two lines");
    if (took > 1) wrong += complain(file, how, length, "took more than a second");
    return wrong;
}

/* Reads bytes as the file's format, and has mfpg_data_check look at them. */
static int try_bytes(const hostile *file, const char *how, const unsigned char *bytes, size_t length,
    fate wanted, const char *message) {
    char path[1024];
    const mfpg_reader_ops *reader = NULL;
    mfpg_data_options options = mfpg_data_options_default();
    mfpg_table table = {0};
    mfpg_data_report *report = NULL;
    int wrong = 0;
    write_bytes("hostile", bytes, length);
    snprintf(path, sizeof path, "%s/hostile", fixture_folder);
    if (mfpg_reader_find(fixture_ctx, file->reader, &reader) != MFPG_OK)
        return complain(file, how, length, "no reader");
    double begin = seconds();
    mfpg_status status = reader->read(fixture_ctx, path, &options, &table);
    wrong += judge(file, how, length, wanted, status, seconds() - begin);
    if (status == MFPG_ERR_INPUT && message && !strstr(mfpg_context_message(fixture_ctx), message))
        wrong += complain(file, how, length, mfpg_context_message(fixture_ctx));
    mfpg_table_clear(&table);
    begin = seconds();
    status = mfpg_data_check(fixture_ctx, path, NULL, &report);
    /* Recognised by content, damage may make another format of it. */
    wrong +=
        judge(file, "data check", length, wanted == REFUSED ? EITHER : wanted, status, seconds() - begin);
    mfpg_data_report_destroy(report);
    return wrong;
}

/* The file as it is; a good one also cut everywhere, and with a bit turned in every byte. */
static int try_file(const hostile *file, uint64_t seed) {
    int wrong = try_bytes(file, "as it is", file->bytes, file->length, file->fate, file->message);
    if (file->fate != READ) return wrong;
    mfpg_key key = mfpg_key_from_seed(seed);
    mfpg_stream stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 7, (uint64_t)(file - files));
    for (size_t length = 0; length < file->length; length++)
        wrong += try_bytes(file, "cut", file->bytes, length, file->cut_is_refused ? REFUSED : EITHER, NULL);
    uint64_t drawn = 0;
    for (int round = 0; round < testing_repeats(2); round++) {
        for (size_t at = 0; at < file->length; at++) {
            unsigned char bytes[4096];
            memcpy(bytes, file->bytes, file->length);
            bytes[at] ^= (unsigned char)(1u << mfpg_stream_below(&stream, drawn++, 8));
            wrong += try_bytes(file, "a bit turned", bytes, file->length, EITHER, NULL);
        }
    }
    return wrong;
}

/* No more address space than there is now and MEMORY_LIMIT on top of it; a sanitizer needs far more for itself. */
static void limit_memory(void) {
#if !TESTING_SANITIZED
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return;
    if (fscanf(file, "%ld", &pages) == 1 && pages > 0) {
        rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY_LIMIT;
        setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
    }
    fclose(file);
#endif
}

static void test_hostile_files_cost_little_and_are_refused_by_place(void **state) {
    (void)state;
    uint64_t seed = testing_seed();
    int failed = 0;
    for (int i = 0; i < file_count; i++) {
        fflush(NULL);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            limit_memory();
            _exit(try_file(&files[i], seed) > 0);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        print_error("%s, %s: seed %llu, %s %d\n", files[i].reader, files[i].what, (unsigned long long)seed,
            WIFEXITED(status) ? "exit code" : "signal",
            WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        failed++;
    }
    assert_int_equal(failed, 0);
}

/* A reader that is added without hostile files fails here. */
static void test_every_reader_has_hostile_files(void **state) {
    (void)state;
    for (ptrdiff_t r = 0; mfpg_kind_name(&mfpg_readers, r); r++) {
        int good = 0, bad = 0;
        for (int i = 0; i < file_count; i++) {
            if (strcmp(files[i].reader, mfpg_kind_name(&mfpg_readers, r)) != 0) continue;
            good += files[i].fate == READ;
            bad += files[i].fate == REFUSED;
        }
        if (good == 0 || bad == 0)
            fail_msg("no hostile files for reader %s", mfpg_kind_name(&mfpg_readers, r));
    }
}

static int open_files(void **state) {
    add_csv();
    add_libsvm();
    add_idx();
    add_npy();
    add_npz();
    return fixture_open(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_reader_has_hostile_files),
        cmocka_unit_test(test_hostile_files_cost_little_and_are_refused_by_place),
    };
    return cmocka_run_group_tests(tests, open_files, fixture_close);
}
