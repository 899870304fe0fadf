/* Questions about privacy as calls: closed forms, what one says about an option, the table of options, and answers with the k-th
 * allocation failing. What the answers are worth is tested where they are computed, and by the command line. */
#include "fixture.h"

#include <math.h>
#include <sys/stat.h>

#include "failing_memory.h"
#include "ledger_text.h"
#include "mfpg/account.h"
#include "options/value.h"

static char folder[64]; /* of the ledger */

/* Asks with pairs of option and value, which end with NULL; the value of an option that takes none is "". */
static mfpg_status ask(mfpg_question_kind kind, const char *const *words, mfpg_answer *out) {
    mfpg_question *question = NULL;
    mfpg_status status = mfpg_question_create(ctx, kind, &question);
    for (; status == MFPG_OK && *words; words += 2)
        status = mfpg_option_set(
            ctx, mfpg_question_options(kind), words[0], words[1][0] ? words[1] : NULL, question);
    if (status == MFPG_OK) status = mfpg_question_answer(ctx, question, out);
    mfpg_question_destroy(question);
    return status;
}

#define ASK(kind, out, ...)                                                                                  \
    CHECK_OK(ctx, ask(MFPG_QUESTION_##kind, (const char *const[]){__VA_ARGS__, NULL}, out))

/* ---- closed forms ---- */

/* z = 5, 20 steps: mu = sqrt(20)/5; replace doubles it (theory S2.1). */
static void test_a_schedule_is_gaussian_dp(void **state) {
    (void)state;
    mfpg_answer answer;
    for (int replace = 0; replace < 2; replace++) {
        ASK(ACCOUNT, &answer, "noise-multiplier", "5", "steps", "20", "adjacency",
            replace ? "replace" : "add");
        double mu = (1 + replace) * sqrt(20) / 5;
        check_near(answer.mu, mu, 1e-12, 0, "mu");
        check_near(answer.epsilon, mfpg_gdp_epsilon(mu, 1e-5), 1e-9, 0, "epsilon");
        assert_true(answer.certificate && answer.epsilon == answer.upper && answer.lower <= answer.upper);
        assert_string_equal(answer.accountant, "gdp");
        assert_string_equal(answer.adjacency, replace ? "replace" : "add");
        assert_true(answer.assumptions >= 2 && !answer.ledger && isnan(answer.contraction));
        mfpg_answer_clear(&answer);
    }
}

/* Said again, the later value counts; and one record noised once is one release: mu = clip / sd = 1/4. */
static void test_noised_records_are_one_release(void **state) {
    (void)state;
    mfpg_answer answer;
    ASK(ACCOUNT, &answer, "noise-multiplier", "9", "particles", "data", "noise-multiplier", "4", "epsilon",
        "1");
    check_near(answer.mu, 0.25, 1e-12, 0, "mu");
    check_near(answer.delta, mfpg_gdp_delta(0.25, 1), 1e-9, 0, "delta");
    assert_true(answer.particles == MFPG_PARTICLES_DATA && answer.contraction == 1);
    mfpg_answer_clear(&answer);
}

/* Strength 1, step 0.1: a step has mu = S sqrt(tau/(2 e)) = sqrt(0.05); a last state costs no more than all of them. */
static void test_a_last_state_costs_no_more_than_all(void **state) {
    (void)state;
    mfpg_answer all, last;
    ASK(ACCOUNT, &all, "strength", "1", "steps", "1000");
    ASK(ACCOUNT, &last, "strength", "1", "steps", "1000", "view", "final", "assume", "glm", "smoothness",
        "1");
    check_near(all.mu, sqrt(1000 * 0.05), 1e-9, 0, "mu");
    assert_true(last.mu < all.mu && last.epsilon < all.epsilon && last.contraction < 1);
    mfpg_answer_clear(&all);
    mfpg_answer_clear(&last);
}

/* What is found goes back into a question, whose answer is at most the target; with clip 3 the sd is three multipliers. */
static void test_what_is_found_meets_the_target(void **state) {
    (void)state;
    mfpg_answer found, again;
    char noise[64];
    ASK(CALIBRATE, &found, "epsilon", "1", "clip", "3", "steps", "7");
    assert_string_equal(mfpg_solve_name(found.found.solved), "noise_multiplier");
    assert_true(found.found.noise_sd == 3 * found.found.noise_multiplier && isnan(found.found.strength));
    snprintf(noise, sizeof noise, "%.17g", found.found.noise_multiplier);
    ASK(ACCOUNT, &again, "noise-multiplier", noise, "clip", "3", "steps", "7");
    assert_true(again.epsilon <= 1 && again.epsilon > 1 - 1e-5 && again.epsilon == found.epsilon);
    mfpg_answer_clear(&found);
    mfpg_answer_clear(&again);
}

/* ---- ledgers ---- */

#define LEDGER                                                                                               \
    "{\"mfpg_ledger\":3,\"particles\":\"parameters\",\"clients\":2,\"unit\":\"client\",\"adjacency\":"       \
    "\"zero-out\",\"view\":\"local\",\"delta\":1e-05,\"seeded\":true}\n"                                     \
    "{\"round\":1,\"clients\":[0,1],\"particles\":\"parameters\",\"steps\":1,\"sensitivity\":0.5,"           \
    "\"noise_sd\":1,\"last_sd\":1,\"weight\":0.5,\"sampling_rate\":1,\"action\":{\"budget\":1}}\n"           \
    "{\"round\":2,\"clients\":[1,1],\"particles\":\"parameters\",\"steps\":1,\"sensitivity\":0.5,"           \
    "\"noise_sd\":1,\"last_sd\":1,\"weight\":0.5,\"sampling_rate\":1,\"action\":{\"budget\":1}}\n"
#define SUMMARY "{\"clients\": [{\"client\": 0, \"name\": \"north\"}, {\"client\": 1, \"name\": \"south\"}]}"

static void put_file(const char *name, const char *text, size_t length) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static int make_run_folder(void **state) {
    snprintf(folder, sizeof folder, "/tmp/mfpg-account-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    size_t length = strlen(LEDGER);
    char *sealed = ledger_sealed(LEDGER, &length);
    put_file("ledger", sealed, length);
    put_file("summary.json", SUMMARY, strlen(SUMMARY));
    free(sealed);
    return open_context(state);
}

static int remove_run_folder(void **state) {
    char path[128];
    snprintf(path, sizeof path, "%s/ledger", folder);
    remove(path);
    snprintf(path, sizeof path, "%s/summary.json", folder);
    remove(path);
    remove(folder);
    return close_context(state);
}

/* mu^2: client 0 has 1/4, client 1 has 1/4 + 1/4. */
static void test_a_run_folder_is_priced_with_its_names(void **state) {
    (void)state;
    mfpg_answer answer;
    ASK(ACCOUNT, &answer, "ledger", folder);
    const mfpg_ledger_account *ledger = answer.ledger;
    assert_non_null(ledger);
    assert_true(ledger->clients == 2 && ledger->client[0].client == 1 && !ledger->alike && ledger->seeded);
    assert_string_equal(ledger->client[0].name, "south");
    check_near(ledger->client[0].mu, sqrt(0.5), 1e-12, 0, "south");
    check_near(ledger->client[1].mu, 0.5, 1e-12, 0, "north");
    assert_true(ledger->client[0].rounds == 2 && ledger->client[0].lowest_rate == 1);
    assert_true(answer.epsilon == ledger->client[0].epsilon && !ledger->file->confirmed &&
                ledger->file->end.lines == 3);
    mfpg_answer_clear(&answer);
}

/* ---- refusals ---- */

static void test_one_option_is_refused_with_what_is_allowed(void **state) {
    (void)state;
    static const struct {
        const char *option, *value, *part;
    } wrong[] = {{"noise-multiplier", "nan", "found 'nan'; allowed: a number from 0"},
        {"sampling-rate", "1.5", "from 0 up to 1"}, {"view", "last", "local, average, final"},
        {"view", "finale", "did you mean final?"}, {"order", "2,0.5", "--order: found '0.5'"},
        {"step-size", "1", "unknown option \"step-size\""}, {"solve", "noise", "unknown option"},
        {"exogenous", "1", "takes no value"}, {"clip", NULL, "takes a value"}, {NULL, "1", "unknown option"}};
    const mfpg_options *list = mfpg_question_options(MFPG_QUESTION_ACCOUNT);
    mfpg_question *question = NULL;
    CHECK_OK(ctx, mfpg_question_create(ctx, MFPG_QUESTION_ACCOUNT, &question));
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(
            mfpg_option_set(ctx, list, wrong[i].option, wrong[i].value, question), MFPG_ERR_INPUT);
        check_message((const char *const[]){wrong[i].part, NULL});
    }
    mfpg_answer answer = {.epsilon = 7};
    assert_int_equal(mfpg_question_answer(ctx, question, &answer), MFPG_ERR_INPUT); /* nothing was said */
    assert_true(answer.epsilon == 7);
    mfpg_question_destroy(question);
    mfpg_question_destroy(NULL);
}

/* Every option can be found by its name, has a heading, and takes no NaN where it is a number. */
static void test_the_table_is_whole(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        mfpg_question *question = NULL;
        const mfpg_options *list = mfpg_question_options((mfpg_question_kind)kind);
        CHECK_OK(ctx, mfpg_question_create(ctx, (mfpg_question_kind)kind, &question));
        for (ptrdiff_t i = 0; i < list->count; i++) {
            const mfpg_option *option = &list->option[i];
            assert_true(mfpg_option_section(list, i)[0] && option->help[0]);
            assert_int_equal(mfpg_option_find(list, option->name), i);
            int is_text = option->kind == MFPG_OPTION_TEXT || option->kind == MFPG_OPTION_TEXTS;
            mfpg_status status = mfpg_option_set(ctx, list, option->name, "nan", question);
            assert_int_equal(status, is_text ? MFPG_OK : MFPG_ERR_INPUT);
            assert_null(strstr(mfpg_context_message(ctx), "unknown option"));
        }
        assert_true(list->count > 10);
        mfpg_question_destroy(question);
    }
}

/* ---- memory ---- */

typedef struct question_case {
    mfpg_question_kind kind;
    const char *words[16];
} question_case;

static mfpg_status answer_case(void *arg) {
    const question_case *asked = arg;
    mfpg_answer answer = {.epsilon = -1};
    mfpg_status status = ask(asked->kind, asked->words, &answer);
    if (status != MFPG_OK) {
        assert_true(answer.epsilon == -1);
        return status;
    }
    assert_true(answer.epsilon >= 0 && answer.assumptions > 0);
    for (ptrdiff_t i = 0; i < answer.assumptions; i++) assert_true(answer.assumption[i][0]);
    mfpg_answer_clear(&answer);
    return MFPG_OK;
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    question_case cases[] = {{MFPG_QUESTION_ACCOUNT, {"noise-multiplier", "5", "order", "2,4", NULL}},
        {MFPG_QUESTION_ACCOUNT, {"blocks", "1:3:2,1:2:3", "accountant", "gdp", NULL}},
        {MFPG_QUESTION_ACCOUNT, {"particles", "data", "strength", "1", "exogenous", "", NULL}},
        {MFPG_QUESTION_ACCOUNT, {"strength", "1", "view", "final", "assume", "convex", "smoothness", "1",
                                    "projection-radius", "2", NULL}},
        {MFPG_QUESTION_ACCOUNT, {"ledger", folder, NULL}},
        {MFPG_QUESTION_CALIBRATE, {"epsilon", "1", "blocks", "1:?:3", NULL}}};
    /* not those of the JSON library, which calls some of its failures faults of the text */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_true(sweep_allocations(answer_case, &cases[i]) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_schedule_is_gaussian_dp),
        cmocka_unit_test(test_noised_records_are_one_release),
        cmocka_unit_test(test_a_last_state_costs_no_more_than_all),
        cmocka_unit_test(test_what_is_found_meets_the_target),
        cmocka_unit_test(test_a_run_folder_is_priced_with_its_names),
        cmocka_unit_test(test_one_option_is_refused_with_what_is_allowed),
        cmocka_unit_test(test_the_table_is_whole), cmocka_unit_test(test_every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, make_run_folder, remove_run_folder);
}
