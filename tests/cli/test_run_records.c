/* mfpg run on noised records: the certificate does not grow with the rounds, the ledger says the same, and no ledger passes
 * for one of the other kind. */
#include "cli/ledger.h"

static const char *const CONFIG =
    "seed: 4\n"
    "task: {model: logistic}\n"
    "data: {format: synthetic, kind: logistic, clients: 4, rows: 30, dimension: 5, test_rows: 100}\n"
    "privacy: {unit: example, adjacency: replace, clip: 2}\n"
    "train: {learning_rate: 0.1}\n";

static const struct {
    const char *settings;
    double mu; /* D = 2 C = 4; input, law game: mu is the budget; entropic: c D/s = 0.9 4/sqrt(0.2) */
} runs[] = {
    {"method='{mechanism: input, players: none}' noise.law=game noise.action=0.7", 0.7},
    {"method='{mechanism: entropic, players: none}' entropic.particles=data noise.action=1",
        8.04984471899924},
    {"method='{mechanism: entropic, players: none}' entropic.particles=data noise.multiplier=2 "
     "entropic.prior_variance=80",
        0.5 * 2 * 0.9},
};
enum { RUNS = sizeof runs / sizeof runs[0] };

static void forget(const char *run_folder) {
    char command[256];
    snprintf(command, sizeof command, "rm -r %s/%s", folder, run_folder);
    assert_int_equal(system(command), 0);
}

static json_t *run_rounds(const char *settings, int rounds, const char *out) {
    char arguments[1024];
    snprintf(
        arguments, sizeof arguments, "run c.yaml %s train.rounds=%d --json --out %s", settings, rounds, out);
    return run_json(arguments);
}

static double client_number(const json_t *summary, size_t k, const char *key) {
    return json_get_number(json_array_get(json_object_get(summary, "clients"), k), key);
}

static void test_one_round_and_fifty_cost_the_same(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    for (int r = 0; r < RUNS; r++) {
        json_t *one = run_rounds(runs[r].settings, 1, "one"),
               *fifty = run_rounds(runs[r].settings, 50, "fifty");
        for (size_t k = 0; k < 4; k++) {
            check_near(client_number(one, k, "mu"), runs[r].mu, 1e-12, 0, "mu");
            assert_true(client_number(one, k, "epsilon") == client_number(fifty, k, "epsilon"));
            assert_true(client_number(fifty, k, "rounds") == 50 && client_number(fifty, k, "steps") == 1);
        }
        /* what was really released, priced again */
        json_t *audit = run_json("account --ledger fifty/ledger --json");
        assert_string_equal(json_string_value(json_object_get(audit, "accountant")), "data-particles");
        assert_true(json_get_number(audit, "epsilon") == client_number(fifty, 0, "epsilon"));
        json_decref(audit);
        json_decref(one);
        json_decref(fifty);
        forget("one");
        forget("fifty");
    }
    remove_from_folder("c.yaml");
}

static void test_a_target_means_the_same_noise_for_any_number_of_rounds(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    for (int r = 0; r < 2; r++) {
        char settings[512];
        const char *last = strrchr(runs[r].settings, ' ');
        snprintf(settings, sizeof settings, "%.*s noise.target_epsilon=3 entropic.prior_variance=50",
            (int)(last - runs[r].settings), runs[r].settings);
        json_t *few = run_rounds(settings, 2, "few"), *many = run_rounds(settings, 20, "many");
        double epsilon = client_number(few, 0, "epsilon");
        assert_true(epsilon <= 3.0 && epsilon > 3.0 * (1 - 1e-6));
        assert_true(epsilon == client_number(many, 0, "epsilon"));
        assert_true(client_number(few, 0, "action") == client_number(many, 0, "action"));
        json_decref(few);
        json_decref(many);
        forget("few");
        forget("many");
    }
    remove_from_folder("c.yaml");
}

static void test_the_promise_is_told_in_words(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    for (int r = 0; r < 2; r++) {
        char arguments[512];
        snprintf(arguments, sizeof arguments, "run c.yaml %s train.rounds=2 privacy.view=average --out a",
            runs[r].settings);
        expect(arguments, 0);
        const char *const said[] = {"Promised (noised records, unit example, adjacency replace",
            "accountant data-particles",
            "sees the noised records of this client and all that is computed from them",
            "each record was noised once", "labels are public: not protected",
            "the certificates are those of the local view"};
        for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
            if (!strstr(ran.out, said[i])) fail_msg("not said: %s", said[i]);
        assert_true(!strstr(ran.out, "the first model is public") == (r == 0));
        assert_null(strstr(ran.out, "the sum was computed as by somebody who is trusted"));
        forget("a");
    }
    remove_from_folder("c.yaml");
}

static void test_threads_and_the_written_configuration_change_no_byte(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    for (int r = 0; r < RUNS; r++) {
        char arguments[512], command[256];
        snprintf(arguments, sizeof arguments, "run c.yaml %s train.rounds=3 --threads 1 --out a",
            runs[r].settings);
        expect(arguments, 0);
        expect("run a/config.yaml --threads 2 --out b", 0);
        const char *const files[] = {"ledger", "model.npy", "rounds.csv", "clients.csv"};
        for (int i = 0; i < 4; i++) {
            snprintf(command, sizeof command, "cmp %s/a/%s %s/b/%s", folder, files[i], folder, files[i]);
            assert_int_equal(system(command), 0);
        }
        forget("a");
        forget("b");
    }
    remove_from_folder("c.yaml");
}

/* A ledger with one word changed into another everywhere, and sealed again: the chain alone would give it away. */
static void relabel(const char *path, const char *from, const char *to) {
    char command[512];
    snprintf(command, sizeof command, "sed -i 's/\"particles\":\"%s\"/\"particles\":\"%s\"/' %s/%s", from, to,
        folder, path);
    assert_int_equal(system(command), 0);
    seal_ledger(path);
}

static void test_ledgers_of_the_other_kind_are_refused(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    expect("run c.yaml method=dp-sgd train.rounds=2 --out a", 0);
    REFUSED(
        "account --ledger a/ledger --accountant data-particles", "particles of this ledger are parameters");
    relabel("a/ledger", "parameters", "data");
    REFUSED("account --ledger a/ledger", "ledger:2");
    forget("a");
    for (int r = 0; r < 2; r++) {
        char arguments[512];
        snprintf(arguments, sizeof arguments, "run c.yaml %s train.rounds=2 --out a", runs[r].settings);
        expect(arguments, 0);
        REFUSED("account --ledger a/ledger --accountant gdp", "particles of this ledger are data");
        relabel("a/ledger", "data", "parameters");
        REFUSED("account --ledger a/ledger", "ledger:2");
        forget("a");
    }
    remove_from_folder("c.yaml");
}

static void test_runs_under_the_other_kind_of_accountant_are_refused(void **state) {
    (void)state;
    write_in_folder("c.yaml", CONFIG);
    REFUSED("run c.yaml method=dp-sgd privacy.accountant=data-particles --out a", "privacy.accountant",
        "knows data only; this run noises parameters");
    REFUSED("run c.yaml method='{mechanism: input, players: none}' privacy.accountant=gdp --out a",
        "argument 'privacy.accountant=gdp'", "knows parameters only; this run noises data");
    REFUSED("run c.yaml method=mfep entropic.particles=data privacy.accountant=rdp --out a",
        "knows parameters only; this run noises data");
    remove_from_folder("c.yaml");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_round_and_fifty_cost_the_same, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_a_target_means_the_same_noise_for_any_number_of_rounds, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_the_promise_is_told_in_words, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_threads_and_the_written_configuration_change_no_byte, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_ledgers_of_the_other_kind_are_refused, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_runs_under_the_other_kind_of_accountant_are_refused, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
