/* mfpg account --ledger on run folders: names, the end of the ledger against summary.json, accountants, and what is reported per
 * client. */
#include "accountants/accounting.h"
#include "cli/ledger.h"

#include "base/release_parts.h"
#include "mfpg/accountant.h"
#include "mfpg/filter.h"

static void forget(const char *run_folder) {
    char command[256];
    snprintf(command, sizeof command, "rm -r %s/%s", folder, run_folder);
    assert_int_equal(system(command), 0);
}

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static json_t *summary_of(const char *run_folder) {
    char path[256];
    json_error_t error;
    snprintf(path, sizeof path, "%s/%s/summary.json", folder, run_folder);
    json_t *summary = json_load_file(path, 0, &error);
    assert_non_null(summary);
    return summary;
}

static json_t *client_of(const json_t *object, size_t index) {
    return json_array_get(json_object_get(object, "clients"), index);
}

/* A run of the built-in clinics into folder a; all but the method is the default or named. */
static void run_clinics(const char *method, const char *settings) {
    char arguments[512], text[256];
    snprintf(text, sizeof text, "seed: 1\nmethod: %s\ndata: {format: synthetic, kind: clinics}\n", method);
    write_in_folder("c.yaml", text);
    snprintf(arguments, sizeof arguments, "run c.yaml %s --json --out a", settings);
    expect(arguments, 0);
    remove_from_folder("c.yaml");
}

/* ---- secure sums ---- */

/* When everybody stays, what a secure sum revealed is what a trusted sum promises, and the worst case is dearer. */
static void test_a_secure_sum_is_priced_as_promised_and_as_it_went(void **state) {
    (void)state;
    run_clinics("mfpg", "train.rounds=4 privacy.view=average game.curvature=1");
    assert_non_null(strstr(ran.out, "by somebody who is trusted, which was not done but assumed"));
    json_t *trusted = run_json("account --ledger a --json");
    assert_null(json_object_get(trusted, "survived_epsilon"));
    assert_null(json_object_get(client_of(trusted, 0), "survived_epsilon"));
    forget("a");
    run_clinics("mfpg", "train.rounds=4 privacy.view=average game.curvature=1 secure_sum.run=simulate");
    const char *const said[] = {"This run simulated it", "threshold (3 of 4)",
        "at most 0 of the clients work together", "roster of the clients' keys is right",
        "who drops out does not depend on private data", "robustness is not promised",
        "sees what the server of the secure sum sees"};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        if (!strstr(ran.out, said[i])) fail_msg("not said: %s", said[i]);
    json_t *object = run_json("account --ledger a --json");
    double promised = json_get_number(object, "epsilon"),
           survived = json_get_number(object, "survived_epsilon");
    assert_true(promised > survived);
    check_near(survived, json_get_number(trusted, "epsilon"), 1e-9, 0,
        "the sum of all"); /* accountants round mu to 1e-12 */
    assert_true(json_get_number(object, "survived_delta") == json_get_number(object, "delta"));
    assert_true(json_get_number(client_of(object, 0), "survived_epsilon") <= survived);
    json_t *summary = summary_of("a");
    check_near(
        json_get_number(client_of(summary, 0), "epsilon"), promised, 1e-9, 0, "the certificate of the run");
    json_decref(summary);
    json_decref(object);
    object = run_json("account --ledger a --epsilon 1 --json");
    assert_true(json_get_number(object, "survived_epsilon") == 1);
    assert_true(json_get_number(object, "survived_delta") < json_get_number(object, "delta"));
    json_decref(object);
    json_decref(trusted);
    expect("account --ledger a", 0);
    assert_non_null(strstr(ran.out, "\nsurvivors    epsilon "));
    assert_non_null(strstr(ran.out, "who dropped out did not depend on private data"));
    assert_null(strstr(ran.out, "nobody sees more than the view average"));
    write_in_folder("c.yaml", "seed: 2\nmethod: mfpg\ndata: {format: synthetic, kind: clinics}\n");
    expect("run c.yaml train.rounds=4 privacy.view=average game.curvature=1 --out b", 0);
    const char *const orders[] = {"account --ledger a --ledger b", "account --ledger b --ledger a"};
    for (int i = 0; i < 2; i++) { /* one sum was secure and one trusted: both are assumed */
        expect(orders[i], 0);
        assert_non_null(strstr(ran.out, "the releases entered secure sums"));
        assert_non_null(strstr(ran.out, "nobody sees more than the view average"));
    }
    remove_from_folder("c.yaml");
    forget("b");
    forget("a");
}

/* ---- the end ---- */

static void test_the_summary_beside_it_is_compared(void **state) {
    (void)state;
    expect("run clinics train.rounds=3 --out a", 0);
    json_t *summary = summary_of("a"), *told = json_object_get(summary, "ledger");
    json_t *object = run_json("account --ledger a/ledger --json"), *end = json_object_get(object, "ledger");
    assert_true(json_get_number(end, "lines") == json_get_number(told, "lines"));
    assert_string_equal(text_of(end, "chain"), text_of(told, "chain"));
    assert_int_equal(strlen(text_of(end, "chain")), 64);
    assert_string_equal(text_of(end, "summary"), "agrees");
    json_decref(object);
    expect("account --ledger a", 0); /* a run folder means its ledger */
    assert_non_null(strstr(ran.out, text_of(told, "chain")));
    assert_non_null(strstr(ran.out, "names the same end"));
    expect("account --ledger a/", 0);
    char *whole = text_in_folder("a/ledger"), *shorter = strdup(whole);
    for (size_t i = strlen(shorter) - 1; i > 0 && shorter[i - 1] != '\n'; i--) shorter[i - 1] = 0;
    write_in_folder("a/ledger", shorter); /* without its last line */
    REFUSED("account --ledger a/ledger", "summary.json next to it counts", "releases are missing at the end");
    size_t length = strlen(whole);
    char *doubled = calloc(1, 2 * length), *sealed;
    strcpy(doubled, whole);
    strcat(doubled, whole + strlen(shorter)); /* its last line twice, sealed */
    length = strlen(doubled);
    sealed = ledger_sealed(doubled, &length);
    write_in_folder("a/ledger", sealed);
    REFUSED("account --ledger a/ledger", "lines were added");
    free(sealed);
    strcpy(doubled, whole);
    char *rate = strstr(doubled, "\"weight\":0.");
    assert_non_null(rate);
    rate[11] = rate[11] == '1' ? '2' : '1'; /* a weight that no certificate of this view reads */
    length = strlen(doubled);
    sealed = ledger_sealed(doubled, &length);
    write_in_folder("a/ledger", sealed);
    REFUSED("account --ledger a/ledger", "was rewritten");
    remove_from_folder("a/summary.json");
    object = run_json("account --ledger a/ledger --json"); /* nobody is left who knows */
    assert_string_equal(text_of(json_object_get(object, "ledger"), "summary"), "none");
    json_decref(object);
    expect("account --ledger a/ledger", 0);
    assert_non_null(strstr(ran.out, "would not show"));
    write_in_folder("a/summary.json", "{\"clients\": 3, \"ledger\": [");
    REFUSED("account --ledger a/ledger", "a/summary.json:1: ", "a broken summary confirms nothing");
    write_in_folder("a/summary.json", "[]");
    REFUSED("account --ledger a/ledger", "a/summary.json:1: not a JSON object");
    const char *const ends[] = {"5", "{}", "{\"chain\": \"x\"}", "{\"chain\": 1, \"lines\": 2}"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char broken[100];
        snprintf(broken, sizeof broken, "{\"ledger\": %s}", ends[i]);
        write_in_folder("a/summary.json", broken);
        REFUSED("account --ledger a/ledger", "a/summary.json:1: ledger: needs a text 'chain'");
    }
    free(sealed);
    free(doubled);
    free(shorter);
    free(whole);
    json_decref(summary);
    forget("a");
}

static void test_folders_without_a_ledger_are_told(void **state) {
    (void)state;
    write_in_folder("summary.json", "{}");
    REFUSED("account --ledger .", "ledger: No such file", "No such file");
    remove_from_folder("summary.json");
}

/* ---- names, and clients that are alike ---- */

static void test_clients_have_their_names(void **state) {
    (void)state;
    json_t *run = run_json("run clinics train.rounds=2 train.clients_per_round=3 --json --out a");
    json_t *object = run_json("account --ledger a --json");
    size_t clients = json_array_size(json_object_get(object, "clients"));
    assert_int_equal(clients, json_array_size(json_object_get(run, "clients")));
    for (size_t i = 0; i < clients; i++) {
        const json_t *own = client_of(object, i);
        const json_t *told = client_of(run, (size_t)json_get_number(own, "client"));
        assert_string_equal(text_of(own, "name"), text_of(told, "name"));
        assert_true(json_get_number(own, "rounds") == json_get_number(told, "rounds"));
        assert_true(json_get_number(own, "steps") == json_get_number(told, "steps"));
        assert_true(json_get_number(own, "epsilon") == json_get_number(told, "epsilon"));
    }
    expect("account --ledger a", 0);
    assert_non_null(strstr(ran.out, text_of(client_of(object, 0), "name")));
    json_decref(object);
    json_decref(run);
    forget("a");
}

static void test_one_certificate_is_one_line(void **state) {
    (void)state;
    run_clinics("dp-sgd", "train.rounds=2");
    json_t *object = run_json("account --ledger a --json");
    assert_true(json_is_true(json_object_get(object, "one_certificate")));
    assert_int_equal(json_array_size(json_object_get(object, "clients")), 4);
    expect("account --ledger a", 0);
    assert_non_null(strstr(ran.out, "all 4 alike"));
    assert_null(strstr(ran.out, text_of(client_of(object, 1), "name")));
    json_decref(object);
    forget("a");
    run_clinics("mapg-dp", "train.rounds=2 game.actions=continuous"); /* every client its own budget */
    object = run_json("account --ledger a --json");
    assert_true(json_is_false(json_object_get(object, "one_certificate")));
    json_decref(object);
    forget("a");
}

/* ---- accountants ---- */

/* Every accountant that certifies and knows parameters prices a run, both ways of asking agree, and none is worse than
 * Gaussian-DP composition by more than the 1e-4 that a grid may cost. */
static void test_every_accountant_prices_a_run(void **state) {
    (void)state;
    mfpg_context *ctx = testing_context(1);
    run_clinics("dp-sgd", "train.rounds=3 train.batch.rate=0.2 privacy.unit=example noise.multiplier=2");
    const char *const adjacencies[] = {"zero-out", "replace"};
    int priced = 0;
    for (int a = 0; a < 2; a++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "account --ledger a --accountant gdp --adjacency %s --json",
            adjacencies[a]);
        json_t *gdp = run_json(arguments);
        for (ptrdiff_t i = 0; mfpg_kind_name(&mfpg_accountants, i); i++) {
            mfpg_accountant *probe = NULL;
            CHECK_OK(ctx, mfpg_accountant_create(ctx, mfpg_kind_name(&mfpg_accountants, i), NULL, &probe));
            int fits = mfpg_accountant_certifies(probe) &&
                       mfpg_accountant_particles(probe) == MFPG_PARTICLES_PARAMETERS;
            mfpg_accountant_destroy(probe);
            if (strcmp(mfpg_kind_name(&mfpg_accountants, i), "hidden-state") == 0)
                fits = 0; /* a ledger knows no loss */
            if (!fits) continue;
            snprintf(arguments, sizeof arguments, "account --ledger a --accountant %s --adjacency %s --json",
                mfpg_kind_name(&mfpg_accountants, i), adjacencies[a]);
            json_t *object = run_json(arguments);
            double epsilon = json_get_number(object, "epsilon");
            assert_string_equal(text_of(object, "accountant"), mfpg_kind_name(&mfpg_accountants, i));
            assert_string_equal(text_of(object, "adjacency"), adjacencies[a]);
            assert_true(json_is_true(json_object_get(object, "certificate")));
            assert_true(epsilon > 0 && epsilon <= json_get_number(gdp, "epsilon") + 1e-4);
            assert_true(json_get_number(object, "lower") <= epsilon);
            assert_true(json_get_number(object, "upper") == epsilon);
            json_decref(object);
            snprintf(arguments, sizeof arguments,
                "account --ledger a --accountant %s --adjacency %s --epsilon %.17g --json",
                mfpg_kind_name(&mfpg_accountants, i), adjacencies[a], epsilon);
            object = run_json(arguments);
            assert_true(json_get_number(object, "delta") <= 1e-5 * (1 + 1e-9));
            json_decref(object);
            priced++;
        }
        json_decref(gdp);
    }
    assert_true(priced >= 4);
    REFUSED("account --ledger a --accountant hidden-state", "what was assumed of the loss");
    REFUSED("account --ledger a --adjacency add",
        "--adjacency: found 'add'; with --ledger allowed: zero-out, replace");
    REFUSED("account --ledger a --adjacency remove",
        "--adjacency: found 'remove'; with --ledger allowed: zero-out, replace");
    forget("a");
    mfpg_context_destroy(ctx);
}

/* ---- nothing promised ---- */

static void test_without_noise_there_is_no_certificate(void **state) {
    (void)state;
    run_clinics("none", "train.rounds=2");
    json_t *run = summary_of("a");
    assert_true(json_is_null(json_object_get(run, "promise")));
    assert_true(json_is_false(json_object_get(run, "certificate")));
    assert_true(json_is_null(json_object_get(run, "odometer")));
    json_decref(run);
    json_t *object = run_json("account --ledger a --json");
    assert_true(isinf(json_get_number(object, "epsilon")));
    assert_true(json_is_false(json_object_get(object, "certificate")));
    assert_true(json_is_null(json_object_get(object, "odometer")));
    json_decref(object);
    expect("account --ledger a", 0);
    assert_non_null(strstr(ran.out, "certificate  no"));
    forget("a");
}

/* ---- odometer ---- */

static void test_the_odometer_is_shown_and_never_below(void **state) {
    (void)state;
    run_clinics("dp-sgd", "train.rounds=4 noise.multiplier=6");
    json_t *run = summary_of("a");
    json_t *object = run_json("account --ledger a --json");
    const json_t *shown = json_object_get(object, "odometer"), *told = json_object_get(run, "odometer");
    assert_true(json_is_true(json_object_get(run, "certificate")));
    double mu = json_get_number(object, "mu"); /* 2/6: rho 1/18 lies between 2^3/128 and 2^2/128 */
    check_near(mu, 2.0 / 6, 1e-12, 0, "mu");
    check_near(json_get_number(shown, "rho"), 0.0625, 0, 0, "rho");
    check_near(json_get_number(shown, "delta"), 1e-5 / 16, 0, 1e-20, "delta");
    mfpg_odometer read = mfpg_odometer_read(mu, 1e-5);
    assert_true(json_get_number(shown, "epsilon") == read.epsilon);
    assert_true(json_get_number(told, "epsilon") == read.epsilon);
    assert_true(read.epsilon > json_get_number(object, "epsilon"));
    assert_non_null(strstr(text_of(told, "note"), "display"));
    expect("account --ledger a", 0);
    assert_non_null(strstr(ran.out, "at delta 1e-05 (display"));
    json_decref(object);
    json_decref(run);
    forget("a");
}

/* ---- several ledgers, grids, and one record of a client ---- */

#define HEAD(clients, unit, adjacency, view, delta, particles)                                               \
    "{\"mfpg_ledger\":4,\"particles\":\"" particles "\",\"clients\":" clients ",\"unit\":\"" unit            \
    "\",\"adjacency\":\"" adjacency "\",\"view\":\"" view "\",\"delta\":" delta                              \
    ",\"stop_at_epsilon\":null,\"filter\":null,\"seeded\":false}\n"
#define OF_TWO HEAD("2", "client", "zero-out", "local", "1e-05", "parameters")
#define LINE(clients, noise, grid)                                                                           \
    "{\"round\":1,\"clients\":" clients ",\"particles\":\"parameters\",\"clipped\":\"update\",\"steps\":1,"  \
    "\"sensitivity\":1,\"rounding\":0,\"noise_sd\":" noise ",\"grid\":" grid ",\"last_sd\":" noise           \
    ",\"weight\":0.5,\"sampling_rate\":1,\"action\":null}\n"

/* source: by hand, two runs of mu sqrt(10)/4 each have mu sqrt(20)/4 together, epsilon 4.98331 at delta 1e-5. */
static void test_two_runs_cost_what_they_cost_together(void **state) {
    (void)state;
    write_in_folder("c.yaml",
        "name: e\nmethod: dp-sgd\nseed: 1\nnoise: {multiplier: 4}\ntrain: {rounds: 10}\n"
        "data: {format: synthetic, kind: logistic, clients: 4, rows: 50, dimension: 5}\n");
    expect("run c.yaml -o a", 0);
    expect("run c.yaml -o b seed=2 train.start=a/model.npy", 0);
    json_t *one = run_json("account --ledger a --json");
    assert_null(json_object_get(one, "ledgers"));
    json_t *object = run_json("account --ledger a --ledger b --json");
    check_near(json_get_number(object, "mu"), sqrt(20.0) / 4, 1e-12, 0, "mu");
    check_near(json_get_number(object, "epsilon"), 4.98331, 1e-6, 0, "epsilon");
    assert_true(json_get_number(client_of(object, 3), "rounds") == 20);
    assert_int_equal(json_array_size(json_object_get(object, "ledgers")), 2);
    assert_string_equal(text_of(json_array_get(json_object_get(object, "ledgers"), 1), "file"), "b/ledger");
    json_decref(object);
    json_decref(one);
    expect("account --ledger a --ledger b", 0);
    assert_non_null(strstr(ran.out, "epsilon      4.98331"));
    assert_non_null(strstr(ran.out, "a/ledger: 11 lines"));
    assert_non_null(strstr(ran.out, "b/ledger: 11 lines"));
    assert_non_null(strstr(ran.out, "the ledgers hold every release of their runs"));
    REFUSED("account --ledger a --ledger b --ledger a/ledger", "a/ledger and a/ledger are one file");
    REFUSED("account --ledger a --ledger ./b/../a", "are one file, named twice");
    forget("a");
    forget("b");
    remove_from_folder("c.yaml");
}

#define KEPT(filter)                                                                                         \
    "{\"mfpg_ledger\":4,\"particles\":\"parameters\",\"clients\":2,\"unit\":\"client\",\"adjacency\":"       \
    "\"zero-out\",\"view\":\"local\",\"delta\":1e-05,\"stop_at_epsilon\":6,\"filter\":\"" filter             \
    "\",\"seeded\":false}\n"

/* A filter certifies its whole budget to whoever spent anything; the sum of the releases is for display. */
static void test_a_filter_certifies_its_budget(void **state) {
    (void)state;
    const char *const text[] = {
        KEPT("gdp") LINE("[0,0]", "8", "0.5"), KEPT("zcdp") LINE("[0,0]", "8", "0.5")};
    for (int i = 0; i < 2; i++) {
        write_ledger("a", text[i]);
        json_t *object = run_json("account --ledger a --json");
        check_near(json_get_number(object, "epsilon"), 6.0, 1e-6, 0, "budget");
        check_near(json_get_number(object, "spent_epsilon"), 0.434417, 1e-5, 0, "spent");
        assert_true(json_is_true(json_object_get(object, "certificate")));
        assert_true(json_get_number(client_of(object, 1), "epsilon") == 0.0);
        assert_true(json_get_number(client_of(object, 1), "spent_epsilon") == 0.0);
        json_decref(object);
        object = run_json("account --ledger a --epsilon 6 --json");
        check_near(json_get_number(object, "delta"), 1e-5, 1e-6, 0, "delta");
        json_decref(object);
        expect("account --ledger a", 0);
        assert_non_null(strstr(ran.out, "the whole budget is certified"));
        write_ledger("b", i ? KEPT("zcdp") LINE("[0,1]", "0.25", "0.015625")
                            : KEPT("gdp") LINE("[0,1]", "0.25", "0.015625"));
        const char *const uncertain[] = {"account --ledger b --json", "account --ledger a --ledger b --json",
            "account --ledger a --adjacency replace --json"};
        for (int j = 0; j < 3; j++) {
            object = run_json(uncertain[j]);
            assert_true(json_is_false(json_object_get(object, "certificate")));
            json_decref(object);
        }
        remove_from_folder("a");
        remove_from_folder("b");
    }
}

static void test_ledgers_of_two_promises_do_not_add_up(void **state) {
    (void)state;
    const struct {
        const char *head, *why;
    } other[] = {
        {HEAD("2", "example", "zero-out", "local", "1e-05", "parameters"),
            "unit is client in a, but example in b"},
        {HEAD("2", "client", "replace", "local", "1e-05", "parameters"),
            "adjacency is zero-out in a, but replace in b"},
        {HEAD("2", "client", "zero-out", "average", "1e-05", "parameters"),
            "view is local in a, but average in b"},
        {HEAD("2", "client", "zero-out", "local", "1e-06", "parameters"),
            "delta is 1e-05 in a, but 1e-06 in b"},
        {HEAD("2", "client", "zero-out", "local", "1e-05", "data"),
            "particles is parameters in a, but data in b"},
    };
    write_ledger("a", OF_TWO LINE("[0,1]", "2", "0"));
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        write_ledger("b", other[i].head);
        REFUSED("account --ledger a --ledger b", other[i].why);
    }
    write_ledger(
        "b", HEAD("3", "client", "zero-out", "local", "1e-05", "parameters") LINE("[1,2]", "2", "0"));
    json_t *object = run_json("account --ledger a --ledger b --json"); /* clients by number */
    assert_int_equal(json_array_size(json_object_get(object, "clients")), 3);
    assert_true(json_get_number(client_of(object, 0), "client") == 1);
    check_near(json_get_number(client_of(object, 0), "mu"), sqrt(0.5), 1e-12, 0, "client 1 is in both");
    check_near(json_get_number(client_of(object, 1), "mu"), 0.5, 1e-12, 0, "client 0 in one");
    json_decref(object);
    REFUSED("account --ledger a --ledger nowhere", "nowhere: No such file");
    remove_from_folder("a");
    remove_from_folder("b");
}

static void test_clients_of_one_number_and_two_names_do_not_add_up(void **state) {
    (void)state;
    expect("run clinics train.rounds=1 --out a", 0);
    expect("run clinics train.rounds=1 seed=2 --out b", 0);
    expect("account --ledger a --ledger b", 0);
    json_t *summary = summary_of("b");
    json_object_set_new(client_of(summary, 1), "name", json_string("elsewhere"));
    char path[256];
    snprintf(path, sizeof path, "%s/b/summary.json", folder);
    assert_int_equal(json_dump_file(summary, path, 0), 0);
    json_decref(summary);
    REFUSED("account --ledger a --ledger b", "client 1 is", "but 'elsewhere' in b/ledger");
    forget("a");
    forget("b");
}

/* The sentence about floating-point noise is of those certificates alone that need it. */
static void test_noise_on_a_grid_needs_no_word_about_floats(void **state) {
    (void)state;
    const char *sentence = mfpg_noise_assumption();
    write_ledger("a", OF_TWO LINE("[0,1]", "2", "0.125"));
    write_ledger("b", OF_TWO LINE("[0,1]", "2", "0.125") LINE("[0,0]", "2", "0"));
    expect("account --ledger a", 0);
    assert_null(strstr(ran.out, sentence));
    expect("account --ledger b", 0);
    assert_non_null(strstr(ran.out, sentence));
    expect("account --ledger a --ledger b", 0);
    assert_non_null(strstr(ran.out, sentence));
    write_ledger("b", OF_TWO LINE("[0,1]", "2", "1"));
    REFUSED("account --ledger b", "b:2: grid is more than a quarter of the noise");
    remove_from_folder("a");
    remove_from_folder("b");
}

static void test_one_record_of_a_client_has_the_replace_number(void **state) {
    (void)state;
    write_ledger("a", OF_TWO LINE("[0,1]", "2", "0"));
    json_t *object = run_json("account --ledger a --json"),
           *replace = run_json("account --ledger a --adjacency replace --json");
    assert_true(json_get_number(object, "epsilon_replace") == json_get_number(replace, "epsilon"));
    assert_true(json_is_null(json_object_get(replace, "epsilon_replace")));
    char epsilon[64];
    expect("account --ledger a --adjacency replace", 0);
    assert_int_equal(sscanf(ran.out, "epsilon %63s", epsilon), 1);
    expect("account --ledger a", 0);
    const char *line =
        strstr(ran.out, "one record inside a client is protected at the epsilon for replace: epsilon ");
    assert_non_null(line);
    assert_non_null(strstr(line, epsilon));
    json_decref(replace);
    json_decref(object);
    remove_from_folder("a");
}

/* ---- clients of different sizes ---- */

static void write_rows(const char *name, int rows) {
    char *text = malloc((size_t)rows * 24 + 16), *at = text;
    at += sprintf(at, "x,y\n");
    for (int i = 0; i < rows; i++) at += sprintf(at, "%.3f,%d\n", (i * 37 % 1000) / 1000.0, i * 7 % 3 == 0);
    write_in_folder(name, text);
    free(text);
}

/* Clients of 100, 1000 and 10000 rows, batches of 10, one epoch, 5 rounds: rate and steps of each are its own, and so is its
 * epsilon, which is that of the schedule. */
static void test_clients_of_different_sizes_have_their_own_numbers(void **state) {
    (void)state;
    const double rates[] = {0.1, 0.01, 0.001}, steps[] = {50, 500, 5000};
    write_rows("a.csv", 100);
    write_rows("b.csv", 1000);
    write_rows("c.csv", 10000);
    write_in_folder("c.yaml",
        "seed: 1\nmethod: dp-sgd\n"
        "data: {files: [a.csv, b.csv, c.csv], label: {column: y}, test_fraction: 0, scale: none}\n"
        "privacy: {unit: example}\nnoise: {multiplier: 1}\nevaluate: none\n"
        "train: {rounds: 5, local_epochs: 1, batch: {size: 10}}\n");
    json_t *run = run_json("run c.yaml --json --out r"), *object = run_json("account --ledger r --json");
    assert_string_equal(text_of(json_object_get(run, "promise"), "unit"), "example");
    assert_string_equal(text_of(json_object_get(run, "promise"), "adjacency"), "zero-out");
    for (size_t i = 0; i < 3; i++) {
        size_t k = (size_t)json_get_number(client_of(object, i), "client");
        char arguments[256];
        snprintf(arguments, sizeof arguments,
            "account --noise-multiplier 1 --sampling-rate %g --steps %g --accountant %s --json", rates[k],
            steps[k], text_of(object, "accountant"));
        json_t *schedule = run_json(arguments);
        const json_t *const told[] = {client_of(object, i), client_of(run, k)};
        for (int j = 0; j < 2; j++) {
            assert_true(json_get_number(told[j], "sampling_rate") == rates[k]);
            assert_true(json_get_number(told[j], "steps") == steps[k]);
            assert_true(json_get_number(told[j], "rounds") == 5);
            check_near(json_get_number(told[j], "epsilon"), json_get_number(schedule, "epsilon"), 1e-4, 0,
                "epsilon of the schedule");
        }
        json_decref(schedule);
    }
    json_decref(object);
    json_decref(run);
    forget("r");
    remove_from_folder("a.csv");
    remove_from_folder("b.csv");
    remove_from_folder("c.csv");
    remove_from_folder("c.yaml");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_a_secure_sum_is_priced_as_promised_and_as_it_went, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_the_summary_beside_it_is_compared, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_folders_without_a_ledger_are_told, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_clients_have_their_names, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_one_certificate_is_one_line, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_every_accountant_prices_a_run, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_without_noise_there_is_no_certificate, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_the_odometer_is_shown_and_never_below, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_two_runs_cost_what_they_cost_together, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_a_filter_certifies_its_budget, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_ledgers_of_two_promises_do_not_add_up, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_clients_of_one_number_and_two_names_do_not_add_up, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_noise_on_a_grid_needs_no_word_about_floats, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_one_record_of_a_client_has_the_replace_number, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_clients_of_different_sizes_have_their_own_numbers, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
