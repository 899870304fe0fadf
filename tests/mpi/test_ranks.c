/* mfpg-mpi under a real launcher: the files of a run are those of mfpg, byte for byte, for any number of ranks, and what goes
 * wrong on one rank ends all with the cause. */
#include "cli/program.h"

#include <signal.h>
#include <sys/stat.h>

/* "mpirun -n RANKS mfpg-mpi ARGUMENTS" in the folder; fills ran. */
static int launch(int ranks, const char *before, const char *arguments) {
    char command[4096];
    int size = snprintf(command, sizeof command,
        "cd %s && %s OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun "
        "--oversubscribe -n %d '%s' %s >%s.out 2>%s.err </dev/null",
        folder, before, ranks, MFPG_MPI_PROGRAM, arguments, folder, folder);
    assert_true(size > 0 && size < (int)sizeof command);
    int status = system(command);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
    read_into("out", ran.out);
    read_into("err", ran.err);
    return ran.code;
}

static void expect_launch(int ranks, const char *arguments, int code) {
    if (launch(ranks, "", arguments) == code) return;
    print_error("%d ranks, mfpg-mpi %s: exit code %d, expected %d\n%s%s", ranks, arguments, ran.code, code,
        ran.out, ran.err);
    fail();
}

static void shell(const char *format, const char *a, const char *b) {
    char command[1024];
    snprintf(command, sizeof command, format, folder, a, b);
    if (system(command) != 0) fail_msg("%s", command);
}

/* Every file of two run folders but timings.csv. */
static void expect_same_files(const char *a, const char *b) {
    shell("cd %s && diff -r -x timings.csv %s %s", a, b);
}

static const char *const runs[] = {
    "run clinics seed=3 train.rounds=4",
    "run plain.yaml train.clients_per_round=3",
    "run plain.yaml privacy.view=average train.local_steps=2",
    "run plain.yaml privacy.view=average privacy.unit=example train.batch.rate=0.5",
    "run plain.yaml train.batch.rate=0.5 privacy.stop_at_epsilon=3",
    "run choices seed=5 train.rounds=4", /* private actions, measured each round */
    "run plain.yaml method=mfep noise.multiplier=1 entropic.particles=data", /* noised records */
    "run clinics seed=3 train.rounds=3 entropic.transport.regularisation=0.3 "
    "entropic.transport.scale=variance",
};

static void test_ranks_change_no_byte(void **state) {
    (void)state;
    char arguments[512];
    write_in_folder("plain.yaml",
        "method: dp-sgd\nseed: 8\ntask: {model: logistic}\ndata: {format: synthetic, kind: clinics}\n"
        "privacy: {unit: example}\nnoise: {multiplier: 4}\ntrain: {rounds: 3, learning_rate: 0.5}\n");
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        snprintf(arguments, sizeof arguments, "%s --out alone --threads 2", runs[i]);
        expect(arguments, 0);
        const int sizes[] = {1, 2, 4};
        for (int s = 0; s < 3; s++) {
            snprintf(arguments, sizeof arguments, "%s --out together --threads 1", runs[i]);
            expect_launch(sizes[s], arguments, 0);
            expect_same_files("alone", "together");
            shell("rm -r %s/together%s%s", "", "");
        }
        shell("rm -r %s/alone%s%s", "", "");
    }
    remove_from_folder("plain.yaml");
}

/* Without a seed the key is the system's, and one for all: the runs of two launches differ, and each is whole. */
static void test_ranks_share_one_key_of_the_system(void **state) {
    (void)state;
    const char *arguments = "run clinics train.rounds=2 seed=none --out ";
    char one[256], two[256];
    snprintf(one, sizeof one, "%sone", arguments);
    snprintf(two, sizeof two, "%stwo", arguments);
    expect_launch(2, one, 0);
    expect_launch(2, two, 0);
    shell("cd %s && ! cmp -s %s/model.npy %s/model.npy", "one", "two");
    shell("rm -r %s/%s %s", "one", "");
    shell("rm -r %s/%s %s", "two", "");
}

static void test_one_rank_speaks_and_failures_end_all(void **state) {
    (void)state;
    expect_launch(3, "run clinics train.rouns=2", 2);
    const char *found = strstr(ran.err, "did you mean train.rounds?");
    assert_non_null(found);
    assert_null(strstr(found + 1, "did you mean"));
    expect_launch(2, "account --noise-multiplier 1 --steps 10 --json", 0);
    json_t *object = json_loads(ran.out, JSON_REJECT_DUPLICATES, NULL); /* once, not twice */
    if (!object) fail_msg("%s", ran.out);
    json_decref(object);
    assert_int_equal(files_in_folder(), 0);
}

/* Only the third rank has no data: all end, and the first says why. */
static void test_a_file_missing_on_one_rank_ends_all(void **state) {
    (void)state;
    write_in_folder("a.csv", "x,y\n1,0\n2,1\n3,0\n4,1\n");
    write_in_folder(
        "run.yaml", "method: dp-sgd\nseed: 1\ndata: {dir: here, files: [a.csv, b.csv], test_fraction: 0}\n");
    write_in_folder("start.sh",
        "#!/bin/sh\nmkdir -p r$OMPI_COMM_WORLD_RANK/here && cp run.yaml r$OMPI_COMM_WORLD_RANK\n"
        "cp a.csv r$OMPI_COMM_WORLD_RANK/here\n"
        "[ $OMPI_COMM_WORLD_RANK = 2 ] || cp a.csv r$OMPI_COMM_WORLD_RANK/here/b.csv\n"
        "cd r$OMPI_COMM_WORLD_RANK && exec \"$@\"\n");
    char command[4096];
    snprintf(command, sizeof command,
        "cd %s && chmod +x start.sh && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun "
        "--oversubscribe -n 4 ./start.sh '%s' run run.yaml --threads 1 --out out >%s.out 2>%s.err </dev/null",
        folder, MFPG_MPI_PROGRAM, folder, folder);
    int status = system(command);
    read_into("out", ran.out);
    read_into("err", ran.err);
    if (WEXITSTATUS(status) != 2 || !strstr(ran.err, "b.csv: No such file or directory"))
        fail_msg("exit code %d, %s%s", WEXITSTATUS(status), ran.out, ran.err);
    shell("cd %s && rm -r r0 r1 r2 r3 a.csv run.yaml start.sh%s%s", "", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ranks_change_no_byte, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_ranks_share_one_key_of_the_system, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_one_rank_speaks_and_failures_end_all, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_a_file_missing_on_one_rank_ends_all, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
