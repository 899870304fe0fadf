/* mfpg solve: numbers against references, options that do not go together, bad input, configurations. */
#include "program.h"

/* Keys of the interface. */
static const char *const fields[] = {"mean_action", "actions", "mixing", "exploitability",
    "exploitability_finite", "social", "cost", "price_of_anarchy", "unique", "converged", "iterations",
    "residual"};

static json_t *solve(const char *arguments) {
    char command[1024];
    snprintf(command, sizeof command, "solve %s --json", arguments);
    json_t *object = run_json(command);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (!json_object_get(object, fields[i])) fail_msg("no field %s", fields[i]);
    assert_true(json_is_true(json_object_get(object, "converged")));
    return object;
}

static double of(const json_t *object, const char *part, const char *key) {
    return json_get_number(json_object_get(object, part), key);
}

/* source: theory_vectors T187-T203 (theory S3.3), to their tolerance of 1e-6 */
static void test_entropic_game_meets_the_references(void **state) {
    (void)state;
    const struct {
        int clients;
        double mean, first, last, optimum, anarchy;
    } rows[] = {
        {5, 0.643715033755, 0.462961251071, 0.80187240879, 0.310509298806, 1.214518631},
        {20, 0.955984166023, 0.684317010466, 1.18527183061, 0.433277336891, 1.28699862279},
        {80, 1.02349871406, 0.731957616253, 1.26778778034, 0.483586660889, 1.28001216529},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char arguments[512];
        snprintf(arguments, sizeof arguments,
            "--cost entropic --players finite --population %d --beta 0.025:0.075 --curvature 1 --dimension 5 "
            "--optimum-norm2 1 --prior-variance 1 --step 0.1 --own-cost 0.045 --privacy-scale 1 "
            "--actions continuous",
            rows[i].clients);
        json_t *object = solve(arguments);
        const json_t *actions = json_object_get(object, "actions");
        assert_int_equal(json_array_size(actions), rows[i].clients);
        check_near(json_get_number(object, "mean_action"), rows[i].mean, 1e-6, 0, "mean");
        check_near(json_number_value(json_array_get(actions, 0)), rows[i].first, 1e-6, 0, "first");
        check_near(json_number_value(json_array_get(actions, (size_t)rows[i].clients - 1)), rows[i].last,
            1e-6, 0, "last");
        check_near(of(object, "social", "mean_action"), rows[i].optimum, 1e-6, 0, "optimum");
        check_near(json_get_number(object, "price_of_anarchy"), rows[i].anarchy, 1e-6, 0, "anarchy");
        check_near(json_get_number(object, "cost"),
            of(object, "social", "cost") * json_get_number(object, "price_of_anarchy"), 1e-14, 0, "costs");
        assert_true(of(object, "exploitability", "max") <= 1e-9);
        assert_true(json_is_null(json_object_get(object, "exploitability_finite")));
        assert_true(json_is_true(json_object_get(object, "unique")));
        json_decref(object);
    }
}

/* source: theory_vectors T163, T164 (theory S3.2) */
static void test_gaussian_game_meets_the_references(void **state) {
    (void)state;
    const char *game = "--cost gaussian --beta 0.5 --curvature 2 --dimension 10 --personalisation 0.5 "
                       "--learning-rate 0.1 --clip 1 --privacy-power 2 --actions continuous";
    char arguments[512];
    snprintf(arguments, sizeof arguments, "%s --players mean-field", game);
    json_t *object = solve(arguments);
    check_near(json_get_number(object, "mean_action"), 0.795270728767, 1e-9, 0, "mean field");
    json_decref(object);
    snprintf(arguments, sizeof arguments, "%s --players finite --population 20", game);
    object = solve(arguments);
    check_near(json_get_number(object, "mean_action"), 0.814910000328, 1e-9, 0, "20 players");
    assert_int_equal(json_array_size(json_object_get(object, "actions")), 20);
    json_decref(object);
}

/* source: theory_vectors T206, T211 (theory S3.4) */
static void test_tie_clients_mix(void **state) {
    (void)state;
    json_t *object = solve("--cost interaction --beta 0.5,0.8,0.81,1.39,1.47 --privacy-scale 1.21 "
                           "--interaction 4.3 --actions 0.1,0.3,0.5,1,2");
    const json_t *mixing = json_object_get(object, "mixing"), *one = json_array_get(mixing, 0);
    assert_int_equal(json_array_size(mixing), 1);
    check_near(json_get_number(object, "mean_action"), 0.594744186047, 1e-9, 0, "mean");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(one, "clients"), 0)), 4);
    check_near(json_get_number(one, "weight"), 0.947441860465, 1e-9, 0, "weight");
    assert_true(json_get_number(one, "action") == 1.0);
    assert_true(of(object, "exploitability", "max") < 1e-12);
    json_decref(object);
    object = solve("--cost interaction --beta 1 --population 4 --privacy-scale 0.2 --interaction 1");
    one = json_array_get(json_object_get(object, "mixing"), 0);
    assert_int_equal(json_array_size(json_object_get(one, "clients")), 4);
    check_near(json_get_number(object, "mean_action"), 1.0 / 3, 1e-9, 0, "mean");
    check_near(json_get_number(one, "weight"), 1.0 / 6, 1e-9, 0, "weight");
    json_decref(object);
}

/* source: theory_vectors T139 (theory S0 b): always the largest strength */
static void test_paper_cost_sits_in_the_corner(void **state) {
    (void)state;
    json_t *object =
        solve("--cost paper --loss 0.01 --beta 0.5 --gradient-norm 0.3 --offset 0.01 --dimension 5 "
              "--population 5 --rounds 10 --step 0.1 --variance-penalty 0.01 --prior-variance 1 "
              "--actions 0.1,0.3,0.5,1,2");
    assert_true(json_get_number(object, "mean_action") == 2.0);
    assert_true(json_get_number(object, "price_of_anarchy") == 1.0); /* nobody moves anybody else */
    assert_true(of(object, "exploitability_finite", "max") == 0.0);
    assert_true(json_array_size(json_object_get(object, "warnings")) == 1);
    json_decref(object);
}

/* Field `column` of the row of that client in a file in the folder. */
static double field(const char *name, int client, int column) {
    static char line[512];
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int i = 0; i <= client + 1; i++) assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    const char *at = line;
    for (int i = 0; i < column; i++) {
        at = strchr(at, ',');
        assert_non_null(at);
        at++;
    }
    return *at == ',' || *at == '\n' ? (double)NAN : strtod(at, NULL);
}

static void test_populations_are_what_they_are_called(void **state) {
    (void)state;
    const struct {
        const char *beta;
        double first, last;
    } rows[] = {
        {"--beta 0.5:1.5 --population 5", 0.5, 1.5},
        {"--population 5", 0.5, 1.5},
        {"--beta uniform:0.5:1.5 --population 5", 0.6, 1.4}, /* (k - 1/2)/5 of the way */
        {"--beta lognormal:2:0 --population 5", 2, 2},
        /* 2 exp(-+ 0.5 x 1.2815515655), the quantile of 0.9 from tables of the normal law */
        {"--beta lognormal:2:0.5 --population 5", 1.053767036592, 3.795905414669},
        {"--beta 0.5,1,1.5,2,3", 0.5, 3},
        {"--beta 0.7 --population 5", 0.7, 0.7},
        {"--beta-file b.csv --column beta", 0.25, 4},
    };
    write_in_folder("b.csv", "name,beta\na,0.25\nb,1\nc,2\nd,3\ne,4\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "--cost gaussian %s --out a.csv", rows[i].beta);
        json_t *object = solve(arguments);
        assert_int_equal(json_array_size(json_object_get(object, "actions")), 5);
        check_near(field("a.csv", 0, 2), rows[i].first, 1e-9, 0, rows[i].beta);
        check_near(field("a.csv", 4, 2), rows[i].last, 1e-9, 0, rows[i].beta);
        const json_t *actions = json_object_get(object, "actions");
        for (int k = 0; k < 5; k++)
            assert_true(field("a.csv", k, 3) == json_number_value(json_array_get(actions, (size_t)k)));
        json_decref(object);
    }
    remove_from_folder("a.csv");
    remove_from_folder("b.csv");
}

/* b_k = (2 A omega^2 k0^2/beta)^(1/3) and c = (h d/2) omega^2 2 tau (theory S3.2, S3.3): the letters of the options and the
 * defaults of the interface. */
static void test_letters_and_defaults(void **state) {
    (void)state;
    json_t *object = solve("--cost gaussian --beta 2 --actions continuous");
    check_near(json_get_number(object, "mean_action"), cbrt(2 * 0.5 * 0.25 * 4e-4 / 2), 1e-14, 0, "gaussian");
    json_decref(object);
    object = solve("--cost gaussian --beta 2 --actions continuous --curvature 3 --dimension 7 "
                   "--personalisation 0.2 --learning-rate 0.3 --clip 4");
    check_near(
        json_get_number(object, "mean_action"), cbrt(2 * 10.5 * 0.04 * 4 * 0.09 * 16 / 2), 1e-14, 0, "");
    json_decref(object);
    object = solve("--cost gaussian --players finite --population 5 --beta 1 --actions continuous "
                   "--dimension 5"); /* the pure public good: source T176 */
    check_near(json_get_number(object, "mean_action"), 0.0430886938006, 1e-9, 0, "mapg-dp");
    json_decref(object);
    object = solve("--cost entropic --beta 2 --actions continuous"); /* c = 0.5 x 0.25 x 0.2 */
    check_near(json_get_number(object, "mean_action"), sqrt(2 / 0.025), 1e-14, 0, "entropic");
    json_decref(object);
    object = solve("--cost entropic --beta 2 --actions continuous --own-cost 8 --privacy-scale 9");
    check_near(json_get_number(object, "mean_action"), sqrt(2 * 9 / 8.0), 1e-14, 0, "entropic");
    json_decref(object);
    object = solve("--cost interaction --beta 2 --actions continuous"); /* own cost 1, no interaction */
    check_near(json_get_number(object, "mean_action"), sqrt(2), 1e-14, 0, "interaction");
    json_decref(object);
    object = solve("--cost measured --beta 2 --actions 0.5:100 --loss 0.02"); /* L e + beta B/e */
    check_near(json_get_number(object, "mean_action"), 10, 1e-14, 0, "measured");
    json_decref(object);
}

/* The mean field played by N players: the gain falls like N^-2. source: theory S3.5, 0.0115, 3.40e-4, 1.54e-5 (three
 * digits) */
static void test_mean_field_is_judged_among_its_clients(void **state) {
    (void)state;
    const struct {
        int clients;
        double gain;
    } rows[] = {{5, 0.0115}, {20, 3.40e-4}, {80, 1.54e-5}};
    for (int i = 0; i < 3; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments,
            "--cost entropic --population %d --beta 0.025:0.075 --dimension 5 --own-cost 0.045 "
            "--actions continuous",
            rows[i].clients);
        json_t *object = solve(arguments);
        check_near(of(object, "exploitability_finite", "mean"), rows[i].gain, 5e-3, 0, "gain among N");
        assert_true(
            of(object, "exploitability_finite", "max") >= of(object, "exploitability_finite", "mean"));
        assert_true(of(object, "exploitability", "max") < 1e-12);
        json_decref(object);
    }
}

static void test_many_clients_are_told_by_quantiles(void **state) {
    (void)state;
    const char *game = "--cost entropic --own-cost 1 --actions continuous --beta 1:4 --population 1001";
    char arguments[256];
    json_t *object = solve(game);
    const json_t *actions = json_object_get(object, "actions");
    assert_int_equal(json_array_size(actions), 101);
    assert_int_equal(json_array_size(json_object_get(object, "quantiles")), 101);
    check_near(json_number_value(json_array_get(actions, 0)), 1, 1e-14, 0, "least");
    check_near(json_number_value(json_array_get(actions, 50)), sqrt(2.5), 1e-14, 0, "median");
    check_near(json_number_value(json_array_get(actions, 100)), 2, 1e-14, 0, "most");
    json_decref(object);
    snprintf(arguments, sizeof arguments, "%s --out a.csv", game);
    object = solve(arguments);
    assert_int_equal(json_array_size(json_object_get(object, "actions")), 1001);
    assert_null(json_object_get(object, "quantiles"));
    check_near(field("a.csv", 1000, 3), 2, 1e-14, 0, "last client of the file");
    json_decref(object);
    remove_from_folder("a.csv");
}

/* Under the corrective price the selfish equilibrium is the optimum. source of the optima: theory_vectors T190, T170 */
static void test_corrective_price_leads_to_the_optimum(void **state) {
    (void)state;
    const struct {
        const char *game;
        double optimum;
        int clients;
    } rows[] = {
        {"--cost entropic --players finite --population 5 --beta 0.025:0.075 --dimension 5 --own-cost 0.045",
            0.310509298806, 5},
        {"--cost gaussian --players finite --population 100 --beta 1.5 --dimension 5 --learning-rate 0.05 "
         "--clip 2 "
         "--privacy-power 2",
            0.191088558441, 100},
    };
    for (int i = 0; i < 2; i++) {
        char arguments[512];
        snprintf(arguments, sizeof arguments, "%s --actions continuous --price --out a.csv", rows[i].game);
        json_t *object = solve(arguments);
        const json_t *price = json_object_get(object, "price");
        check_near(json_get_number(price, "mean_action"), rows[i].optimum, 1e-6, 0, "mean under the price");
        assert_true(
            json_get_number(price, "difference") < 1e-9 && json_get_number(price, "exploitability") < 1e-9);
        assert_int_equal(json_array_size(json_object_get(price, "clients")), rows[i].clients);
        assert_true(
            field("a.csv", 1, 7) == json_number_value(json_array_get(json_object_get(price, "clients"), 1)));
        assert_true(field("a.csv", 1, 7) > 0);
        assert_true(json_get_number(object, "mean_action") != json_get_number(price, "mean_action"));
        json_decref(object);
    }
    remove_from_folder("a.csv");
}

/* Strengths that raise each other (interaction below 0): one client type of R = 0.2 on two actions. The averaged best response
 * plays 1 where R/(1 - 0.8 s) >= 0.5, s >= 0.75: the means 0.5 and 1 answer themselves, and 0.75 by mixing. */
static void test_all_fixed_points_are_told_with_the_rule(void **state) {
    (void)state;
    json_t *object = solve("--cost interaction --interaction -0.8 --beta 0.2 --population 4 --actions 0.5,1");
    const json_t *points = json_object_get(object, "fixed_points");
    assert_int_equal(json_array_size(points), 3);
    const double means[] = {0.5, 0.75, 1};
    for (size_t i = 0; i < 3; i++) {
        check_near(json_get_number(json_array_get(points, i), "mean_action"), means[i], 1e-12, 0, "mean");
        assert_true(json_is_true(json_object_get(json_array_get(points, i), "mixes")) == (i == 1));
    }
    assert_true(json_get_number(object, "mean_action") == 0.5);
    assert_true(json_is_false(json_object_get(object, "unique")));
    assert_string_equal(json_string_value(json_object_get(object, "selection")), "smallest mean");
    json_decref(object);
}

/* A million clients are a matter of a second. */
static void test_a_million_clients_are_quick(void **state) {
    (void)state;
    json_t *object =
        solve("--cost gaussian --personalisation 0.3 --beta lognormal:1:0.5 --population 1000000");
    assert_true(of(object, "exploitability", "max") == 0.0);
    assert_int_equal(json_array_size(json_object_get(object, "actions")), 101);
    json_decref(object);
}

/* ---- text ---- */

static void expect_text(const char *arguments, const char *const *parts) {
    expect(arguments, 0);
    for (; *parts; parts++)
        if (!strstr(ran.out, *parts)) fail_msg("mfpg %s: no '%s' in: %s", arguments, *parts, ran.out);
}
#define TELLS(arguments, ...) expect_text(arguments, (const char *const[]){__VA_ARGS__, NULL})

static void test_text_says_what_numbers_mean(void **state) {
    (void)state;
    TELLS("solve --cost gaussian --players finite --population 4 --beta 1", "budget (more means less noise)",
        "no client can gain anything by changing its own budget alone", "only equilibrium",
        "Price of anarchy", "(social optimum)");
    assert_non_null(strstr(ran.err, "warning: free riding"));
    TELLS("solve --cost gaussian --players finite --population 1000 --beta 1 --personalisation 0.001",
        "only equilibrium");
    assert_non_null(strstr(ran.err, "times what its owner feels of it"));
    TELLS("solve --cost entropic --players finite --population 40 --beta 0.1:3", "the best profile found",
        "Price of anarchy at least 1.00");
    TELLS("solve --cost interaction --interaction -5", "Mean strength 2.");
    assert_non_null(strstr(ran.err, "own noise is a gain there"));
    json_t *object = solve("--cost entropic --actions 0.1:100 --population 4 --own-cost 1e-5");
    assert_non_null(strstr(ran.err, "the averaged model diverges"));
    assert_true(json_is_null(json_object_get(object, "exploitability_finite")));
    json_decref(object);
    TELLS("solve --cost entropic --own-cost 0.05 --beta 0.01:0.05 --population 40", "quantile",
        "strength (more means more noise)", "in the limit of many clients, no client");
    TELLS("solve --cost interaction --beta 1 --population 4 --privacy-scale 0.2 --interaction 1",
        "Mixing: 4 clients", "probability 0.166667");
    TELLS("solve --cost gaussian --players finite --population 30 --actions continuous --price",
        "price / budget^2", "price\n");
    TELLS("solve --cost interaction --interaction -0.8 --beta 0.2 --population 4 --actions 0.5,1",
        "smallest mean", "0.5, 0.75 (mixing), 1");
    TELLS("solve --cost paper --beta 1", "Price of anarchy 1:");
    assert_non_null(strstr(ran.err, "both of its terms"));
    TELLS("solve clinics", "valley", "coast");
}

/* Every number of the JSON is one, and every other value is null, true, false or a text that says so. */
static void check_values(const json_t *value) {
    const char *key;
    json_t *entry;
    size_t i;
    if (json_is_real(value)) assert_true(isfinite(json_real_value(value)));
    if (json_is_array(value)) json_array_foreach((json_t *)(size_t)value, i, entry) check_values(entry);
    if (json_is_object(value)) json_object_foreach((json_t *)(size_t)value, key, entry) check_values(entry);
}

static void test_every_printed_number_parses(void **state) {
    (void)state;
    const char *const costs[] = {"gaussian", "entropic", "interaction", "paper", "measured"};
    const char *const populations[] = {"--beta 1", "--beta 0.001:1000 --population 7",
        "--beta lognormal:1:2 --population 1500", "--players finite --population 3 --beta 1e-6:1e6"};
    const char *const actions[] = {"", "--actions 0.01:3", "--actions 1e-9,1e9"};
    for (size_t i = 0; i < 5 * 4 * 3; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "--cost %s %s %s", costs[i / 12], populations[i / 3 % 4],
            actions[i % 3]);
        json_t *object = solve(arguments);
        check_values(object);
        assert_true(json_get_number(object, "mean_action") > 0);
        json_decref(object);
    }
}

/* ---- configurations ---- */

static void test_game_of_a_configuration_is_that_of_its_run(void **state) {
    (void)state;
    json_t *object = solve("clinics"), *names = json_object_get(object, "names");
    assert_int_equal(json_array_size(names), 4);
    assert_string_equal(json_string_value(json_array_get(names, 3)), "valley");
    assert_true(json_get_number(object, "preference_factor") > 0); /* a target epsilon */
    assert_int_equal(files_in_folder(), 0);                        /* nothing is written */
    json_t *run = run_json("run clinics train.rounds=30 --json --out r");
    assert_non_null(strstr(ran.err, "game: mean strength"));
    assert_non_null(strstr(ran.err, "exact best response"));
    const json_t *clients = json_object_get(run, "clients");
    for (size_t k = 0; k < 4; k++)
        assert_true(json_get_number(json_array_get(clients, k), "action") ==
                    json_number_value(json_array_get(json_object_get(object, "actions"), k)));
    const json_t *game = json_object_get(run, "game");
    assert_true(of(game, "exploitability", "max") == of(object, "exploitability", "max"));
    assert_true(json_is_true(json_object_get(game, "unique")));
    assert_non_null(strstr(json_string_value(json_object_get(game, "certificate")), "can gain"));
    json_decref(run);
    json_decref(object);
    const char *files[] = {"r/ledger", "r/config.yaml", "r/rounds.csv", "r/free_energy.csv", "r/clients.csv",
        "r/model.npy", "r/timings.csv", "r/summary.json"};
    for (size_t i = 0; i < 8; i++) remove_from_folder(files[i]);
    remove_from_folder("r");
}

static void test_a_public_good_is_warned_of_before_the_first_round(void **state) {
    (void)state;
    write_in_folder("c.yaml", "seed: 1\nmethod: mapg-dp\ndata: {format: synthetic, kind: clinics}\n"
                              "privacy: {unit: example}\ntrain: {rounds: 1}\n");
    expect("run c.yaml --out c.yaml", 2); /* where there can be no folder: before the first round */
    assert_non_null(strstr(ran.err, "warning: free riding"));
    expect("run c.yaml --out c.yaml game.personalisation=0.5", 2);
    assert_null(strstr(ran.err, "free riding"));
    json_t *object = solve("c.yaml game.actions=continuous");
    assert_true(json_get_number(object, "price_of_anarchy") > 1.1);
    json_decref(object);
    REFUSED("solve c.yaml method=dp-sgd", "plays no game");
    REFUSED("solve c.yaml game.actions=[0.3,0.1]", "game.actions", "found 0.1 after 0.3");
    REFUSED("solve c.yaml --cost gaussian", "--cost", "game.cost=");
    remove_from_folder("c.yaml");
}

/* ---- what goes wrong ---- */

/* Close to the end of all equilibria (interaction below 0) best responses in turn creep: the best profile is told. */
static void test_what_is_not_solved_is_told_and_exits_1(void **state) {
    (void)state;
    const char *game = "solve --cost interaction --players finite --population 100 --interaction -1 "
                       "--beta 0.1511561556 --actions continuous";
    char arguments[256];
    expect(game, 1);
    assert_non_null(strstr(ran.out, "not solved"));
    snprintf(arguments, sizeof arguments, "%s --json", game);
    expect(arguments, 1);
    json_t *object = json_loads(ran.out, 0, NULL);
    assert_non_null(object);
    assert_true(json_is_false(json_object_get(object, "converged")));
    assert_true(of(object, "exploitability", "max") < 1e-6);
    assert_int_equal(json_array_size(json_object_get(object, "actions")), 100);
    json_decref(object);
}

static void test_wrong_input_says_what_where_and_what_is_allowed(void **state) {
    (void)state;
    const struct {
        const char *arguments, *first, *second;
    } rows[] = {
        {"", "nothing to solve", "--cost"},
        {"--cost entropc", "unknown cost", "did you mean \"entropic\""},
        {"--cost entropic --players none", "--players", "finite, mean-field"},
        {"--cost entropic --players finite", "--population", "missing"},
        {"--cost entropic --population 0", "--population: found '0'", "from 1"},
        {"--cost entropic --population 2.5", "--population", "whole number"},
        {"--cost entropic --population 1e18", "--population", "200000000"},
        {"--cost entropic --population nan", "--population: found 'nan'", "whole number"},
        {"--cost entropic --beta -1", "--beta: found '-1'", "above 0"},
        {"--cost entropic --beta 1,-2,3", "--beta: found '-2'", "above 0"},
        {"--cost entropic --beta 1,,2", "--beta: found ''", "above 0"},
        {"--cost entropic --beta ''", "--beta: found ''", "above 0"},
        {"--cost entropic --beta nan", "--beta: found 'nan'", "LOW:HIGH"},
        {"--cost entropic --beta 1:inf", "--beta: found 'inf'", "finite"},
        {"--cost entropic --beta 2:1", "--beta: found '2:1'", "LOW not above HIGH"},
        {"--cost entropic --beta unifrm:1:2", "unifrm", "did you mean \"uniform\""},
        {"--cost entropic --beta lognormal:1:-1", "'-1'", "0 or more"},
        {"--cost entropic --beta lognormal:1:900", "leaves the range", "smaller spread"},
        {"--cost entropic --beta 1,2 --population 3", "2 numbers for 3 clients", "--beta"},
        {"--cost entropic --beta-file none.csv", "none.csv", "No such file"},
        {"--cost entropic --column beta", "--column", "--beta-file"},
        {"--cost entropic --actions 0.3,0.1", "--actions: found 0.1 after 0.3", "ascending"},
        {"--cost entropic --actions 0.1,0.1", "--actions: found 0.1 after 0.1", "each once"},
        {"--cost entropic --actions 0.1,-1", "--actions: number 2", "above 0"},
        {"--cost entropic --actions 0,1", "--actions: number 1", "above 0"},
        {"--cost entropic --actions some", "--actions: number 1 of 'some'", "continuous"},
        {"--cost entropic --actions 2:1", "--actions: found '2:1'", "LOW not above HIGH"},
        {"--cost entropic --own-cost 0", "own cost", "positive own cost"},
        {"--cost entropic --personalisation 2", "--personalisation: found '2'", "from 0 up to 1"},
        {"--cost entropic --curvature -1", "--curvature: found '-1'", "above 0"},
        {"--cost entropic --curvature 1e308 --dimension 1e308", "own cost is inf", "finite"},
        {"--cost entropic --step 100 --players finite --population 3", "diverges", "below 2"},
        {"--cost entropic --own-cost 1 --personalisation 0.5", "--own-cost", "--personalisation"},
        {"--cost entropic --weights 0.5,0.5 --beta 1,2 --players finite", "--weights", "equal weights"},
        {"--cost gaussian --weights 0.5,0.5 --beta 1,2", "--weights", "players finite"},
        {"--cost gaussian --weights 0.5,0.6 --beta 1,2 --players finite", "sum to 1.1", "sum to 1"},
        {"--cost gaussian --weights 0.5,-0.5 --beta 1,2 --players finite", "--weights: number 2", "from 0"},
        {"--cost gaussian --step 1", "--step", "does nothing with cost gaussian"},
        {"--cost gaussian --interaction 1", "--interaction", "read by: interaction"},
        {"--cost gaussian --privacy-power 3", "--privacy-power", "from 1 up to 2"},
        {"--cost gaussian --personalisation 0 --actions continuous", "free riding", "personalisation > 0"},
        {"--cost interaction --interaction -20", "grows with its own noise", "must be positive"},
        {"--cost interaction --interaction -0.4 --actions continuous", "past every bound",
            "bound the actions"},
        {"--cost paper --actions continuous", "falls with the strength", "maximum"},
        {"--cost measured-budget", "loss table", "game.loss_table"},
        {"--cost entropic --price", "--price", "on an interval"},
        {"--cost gaussian --price --no-optimum", "--price", "--no-optimum"},
        {"--cost interaction --price", "--price", "does nothing with cost interaction"},
        {"--cost paper --no-optimum", "--no-optimum", "does nothing with cost paper"},
        {"--cost entropic --stp 1", "--stp", "did you mean --step"},
        {"--cost entropic game.cost=paper", "game.cost=paper", "configuration"},
        {"none.yaml", "none.yaml", "No such file"},
        {"clinics game.costt=paper", "game.costt", "did you mean game.cost"},
        {"clinics --population 3", "--population", "KEY=VALUE"},
        {"--study nonsense", "--study", "unknown study \"nonsense\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "solve %s", rows[i].arguments);
        REFUSED(arguments, rows[i].first, rows[i].second);
    }
    assert_int_equal(files_in_folder(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_entropic_game_meets_the_references),
        cmocka_unit_test(test_gaussian_game_meets_the_references),
        cmocka_unit_test(test_tie_clients_mix),
        cmocka_unit_test(test_paper_cost_sits_in_the_corner),
        cmocka_unit_test(test_populations_are_what_they_are_called),
        cmocka_unit_test(test_letters_and_defaults),
        cmocka_unit_test(test_mean_field_is_judged_among_its_clients),
        cmocka_unit_test(test_many_clients_are_told_by_quantiles),
        cmocka_unit_test(test_corrective_price_leads_to_the_optimum),
        cmocka_unit_test(test_all_fixed_points_are_told_with_the_rule),
        cmocka_unit_test(test_a_million_clients_are_quick),
        cmocka_unit_test(test_text_says_what_numbers_mean),
        cmocka_unit_test(test_every_printed_number_parses),
        cmocka_unit_test(test_game_of_a_configuration_is_that_of_its_run),
        cmocka_unit_test(test_a_public_good_is_warned_of_before_the_first_round),
        cmocka_unit_test(test_what_is_not_solved_is_told_and_exits_1),
        cmocka_unit_test(test_wrong_input_says_what_where_and_what_is_allowed),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
