/* Runs the real program and looks at what came out. */
#ifndef MFPG_TESTS_CLI_PROGRAM_H
#define MFPG_TESTS_CLI_PROGRAM_H

#include "testing.h"

#include <dirent.h>
#include <jansson.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT_SIZE = 1 << 20 };

typedef struct outcome {
    int code; /* of the exit, or 1000 + the signal */
    char out[OUTPUT_SIZE], err[OUTPUT_SIZE];
} outcome;

static outcome ran;
static char folder[64]; /* every test runs in an empty one */

static inline void read_into(const char *name, char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s.%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, OUTPUT_SIZE - 1, file);
    text[length] = 0;
    fclose(file);
    remove(path);
}

/* Skips the test, and says why, if a program that it needs is not installed; package is its package in Debian. */
static inline void need_program(const char *program, const char *package) {
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", program);
    if (system(command) == 0) return;
    print_message("SKIPPED: %s (Debian: %s) is not installed\n", program, package);
    skip();
}

/* mfpg ARGUMENTS as the shell reads them; fills ran. */
static inline int run(const char *arguments) {
    char command[4096];
    int size = snprintf(command, sizeof command, "cd %s && '%s' %s >%s.out 2>%s.err </dev/null", folder,
        MFPG_PROGRAM, arguments, folder, folder);
    assert_true(size > 0 && size < (int)sizeof command);
    int status = system(command);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    read_into("out", ran.out);
    read_into("err", ran.err);
    return ran.code;
}

static inline void expect(const char *arguments, int code) {
    if (run(arguments) == code) return;
    print_error("mfpg %s: exit code %d, expected %d\n%s%s", arguments, ran.code, code, ran.out, ran.err);
    fail();
}

/* Exit code 2, nothing on stdout, and a message on stderr that holds every part (ends with NULL). */
static inline void expect_refusal(const char *arguments, const char *const *parts) {
    expect(arguments, 2);
    assert_string_equal(ran.out, "");
    for (; *parts; parts++) {
        if (strstr(ran.err, *parts)) continue;
        print_error("mfpg %s: no '%s' in: %s", arguments, *parts, ran.err);
        fail();
    }
}
#define REFUSED(arguments, ...) expect_refusal(arguments, (const char *const[]){__VA_ARGS__, NULL})

/* Runs with exit code 0 and parses stdout; the caller drops the reference. */
static inline json_t *run_json(const char *arguments) {
    json_error_t error;
    expect(arguments, 0);
    json_t *object = json_loads(ran.out, JSON_REJECT_DUPLICATES, &error);
    if (!object) {
        print_error("mfpg %s: no JSON (%s): %s\n", arguments, error.text, ran.out);
        fail();
    }
    return object;
}

/* A number of an object; "inf" is infinity, null NaN. */
static inline double json_get_number(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    assert_non_null(value);
    if (json_is_string(value)) {
        assert_string_equal(json_string_value(value), "inf");
        return (double)INFINITY;
    }
    if (json_is_null(value)) return (double)NAN;
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static inline int files_in_folder(void) {
    int count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *item; (item = readdir(directory));) count += item->d_name[0] != '.';
    closedir(directory);
    return count;
}

static int open_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/mfpg-cli-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int close_folder(void **state) {
    (void)state;
    return rmdir(folder); /* fails where a test left something behind */
}

static inline void write_in_folder(const char *name, const char *text) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static inline void remove_from_folder(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(remove(path), 0);
}

#endif
