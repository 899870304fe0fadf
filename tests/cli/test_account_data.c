/* mfpg account on noised records: --particles data and ledgers of it; the other kind is refused both ways round. */
#include "cli/ledger.h"

static double mu_of(const char *arguments) {
    char command[512];
    snprintf(command, sizeof command, "account --particles data %s --json", arguments);
    json_t *object = run_json(command);
    assert_string_equal(json_string_value(json_object_get(object, "accountant")), "data-particles");
    assert_string_equal(json_string_value(json_object_get(object, "particles")), "data");
    assert_non_null(strstr(ran.out, "labels are public: not protected"));
    double mu = json_get_number(object, "mu");
    assert_true(
        json_is_true(json_object_get(object, "certificate")) == isfinite(mu)); /* without noise: none */
    json_decref(object);
    return mu;
}

#define FLOW "--mechanism entropic --strength 1 --step 0.1 --adjacency replace "

static void test_mu_meets_the_references(void **state) {
    (void)state;
    /* theory S5.2: D = 2, e = prior variance = 1, tau = 0.1: 4.02, .725, .0100 where only the last state is seen */
    check_near(mu_of(FLOW "--steps 1 --exogenous"), 4.0249224, 1e-7, 0, "K = 1");
    check_near(mu_of(FLOW "--steps 10 --exogenous"), 0.725212, 1e-5, 0, "K = 10");
    check_near(mu_of(FLOW "--steps 50 --exogenous"), 0.010047, 1e-4, 0, "K = 50");
    double once = mu_of(FLOW);
    check_near(once, 4.0249224, 1e-7, 0, "without it");
    assert_true(mu_of(FLOW "--steps 50") == once && mu_of(FLOW "--steps 1000000") == once);
    assert_true(mu_of(FLOW "--steps 0") == 0);
    /* theory_vectors T098: step 0.1, noise 0.5 (strength 1.25), prior variance 1.25 for c = 0.9 */
    check_near(mu_of("--strength 1.25 --prior-variance 1.25 --steps 10 --exogenous --sensitivity 1"),
        0.324324648363, 1e-9, 0, "T098");
    /* a Hessian bound of 20 turns the flow round: c = |1 - 0.1 (20 + 0.01 - ...)| */
    check_near(
        mu_of(FLOW "--input-smoothness 18.9 --variance-penalty 0"), 0.99 * 2 / sqrt(0.2), 1e-12, 0, "M0");
    /* theory S5.3: mu = D/sigma */
    check_near(mu_of("--noise-multiplier 4 --adjacency replace"), 0.5, 1e-15, 0, "input, replace");
    check_near(mu_of("--noise-multiplier 4 --clip 7"), 0.25, 1e-15, 0, "input, zero-out");
    check_near(mu_of("--noise-multiplier 4 --sensitivity 6 --unit client"), 1.5, 1e-15, 0, "input, client");
    assert_true(isinf(mu_of("--noise-multiplier 0")));
}

static void test_the_conditions_are_said(void **state) {
    (void)state;
    expect("account --particles data " FLOW "--steps 10 --exogenous", 0);
    assert_non_null(strstr(ran.out, "other people's data only"));
    assert_non_null(strstr(ran.out, "view         final"));
    expect("account --particles data " FLOW "--steps 10", 0);
    assert_null(strstr(ran.out, "exogenous"));
    assert_non_null(strstr(ran.out, "view         local"));
    assert_non_null(strstr(ran.out, "particles    data"));
}

static void test_what_does_not_go_together_is_refused(void **state) {
    (void)state;
    REFUSED("account --exogenous --mu 1", "--exogenous belongs to --particles data");
    REFUSED("account --strength 1 --input-smoothness 2", "--input-smoothness belongs to --particles data");
    REFUSED("account --particles data --mu 1", "--mu does not go with --particles data");
    REFUSED("account --particles data --blocks 1:1:1", "--blocks does not go");
    REFUSED("account --particles data --noise-multiplier 1 --sampling-rate 0.1", "--sampling-rate");
    REFUSED("account --particles data --noise-multiplier 1 --steps 10",
        "--steps belongs to --mechanism entropic");
    REFUSED("account --particles data --noise-multiplier 1 --exogenous", "--exogenous belongs to");
    REFUSED("account --particles data --noise-multiplier 1 --adjacency remove", "zero-out or replace");
    REFUSED("account --particles data --noise-multiplier 1 --unit client", "sqrt(n)");
    REFUSED("account --particles data --strength 30", "unstable", "allowed: up to 2");
    REFUSED("account --particles data --strength 1 --input-smoothness 19", "unstable");
    REFUSED("account --particles data --strength 1 --input-smoothness -1", "a number from 0");
    REFUSED("account --particles dada --strength 1", "parameters, data");
    REFUSED("account --ledger x --particles data", "--ledger goes with");
}

static void test_each_kind_of_accountant_refuses_the_other(void **state) {
    (void)state;
    REFUSED("account --noise-multiplier 1 --accountant data-particles",
        "particles of this release are parameters");
    REFUSED("account --particles data --noise-multiplier 1 --accountant gdp", "gdp knows parameters only");
    REFUSED("account --particles data --noise-multiplier 1 --accountant paper_lsi", "knows parameters only");
}

/* ---- ledgers ---- */

#define HEADER(particles)                                                                                    \
    "{\"mfpg_ledger\":3,\"particles\":\"" particles "\",\"clients\":2,\"unit\":\"example\",\"adjacency\":"   \
    "\"replace\",\"view\":\"local\",\"delta\":1e-05,\"seeded\":false}\n"
#define LINE(particles, contraction)                                                                         \
    "{\"round\":1,\"clients\":[0,1],\"particles\":\"" particles "\"," contraction "\"steps\":1,"             \
    "\"sensitivity\":1,\"noise_sd\":4,\"last_sd\":4,\"weight\":0.5,\"sampling_rate\":1,\"action\":null}\n"

static void test_a_ledger_picks_its_accountant(void **state) {
    (void)state;
    write_ledger("ledger", HEADER("data") LINE("data", "\"contraction\":0.5,"));
    json_t *object = run_json("account --ledger ledger --json");
    assert_string_equal(json_string_value(json_object_get(object, "accountant")), "data-particles");
    check_near(json_get_number(object, "mu"), 0.25, 1e-15, 0, "0.5 2/4");
    check_near(json_get_number(object, "contraction"), 0.5, 0, 0, "contraction");
    assert_non_null(strstr(ran.out, "labels are public"));
    json_decref(object);
    REFUSED("account --ledger ledger --accountant gdp", "particles of this ledger are data");
    REFUSED("account --ledger ledger --accountant rdp", "rdp knows parameters only");
    remove_from_folder("ledger");
    write_ledger("ledger", HEADER("parameters") LINE("parameters", ""));
    REFUSED("account --ledger ledger --accountant data-particles", "particles of this ledger are parameters");
    remove_from_folder("ledger");
    write_ledger("ledger", HEADER("parameters")); /* also before the first release */
    REFUSED("account --ledger ledger --accountant data-particles", "particles of this ledger are parameters");
    remove_from_folder("ledger");
}

static void test_relabelled_ledgers_are_refused(void **state) {
    (void)state;
    const char *const texts[] = {
        HEADER("data") LINE("parameters", ""),
        HEADER("data") LINE("data", ""), /* both labels changed */
        HEADER("parameters") LINE("data", "\"contraction\":0.5,"),
        HEADER("parameters") LINE("parameters", "\"contraction\":0.5,"),
    };
    for (size_t i = 0; i < 4; i++) {
        write_ledger("ledger", texts[i]);
        REFUSED("account --ledger ledger", "ledger:2");
        remove_from_folder("ledger");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_mu_meets_the_references, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_the_conditions_are_said, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_what_does_not_go_together_is_refused, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(
            test_each_kind_of_accountant_refuses_the_other, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_a_ledger_picks_its_accountant, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(test_relabelled_ledgers_are_refused, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
