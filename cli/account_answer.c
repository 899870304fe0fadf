/* How an answer of mfpg account is printed. */
#include "account.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"

void account_assume(account_answer *answer, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!answer->assumptions) answer->assumptions = json_array();
    json_array_append_new(answer->assumptions, json_string(text));
}

json_t *account_json(account_answer *answer) {
    json_t *assumptions = answer->assumptions ? answer->assumptions : json_array();
    answer->assumptions = NULL;
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s?, s:s, s:s, s:o, s:b}", "epsilon",
        cli_json_number(answer->epsilon), "delta", cli_json_number(answer->delta), "mu",
        cli_json_number(answer->mu), "rdp", cli_json_number(answer->rdp), "lower",
        cli_json_number(answer->lower), "upper", cli_json_number(answer->upper), "accountant",
        answer->accountant, "adjacency", answer->adjacency, "unit", answer->unit, "view", answer->view,
        "assumptions", assumptions, "certificate", answer->certificate);
    if (answer->particles == MFPG_PARTICLES_DATA) {
        json_object_set_new(object, "particles", json_string(mfpg_particles_name(answer->particles)));
        json_object_set_new(object, "contraction", cli_json_number(answer->contraction));
    }
    return object;
}

static void print_number(const char *name, double value) {
    char text[CLI_TEXT_UP];
    if (!isnan(value)) printf("%-12s %s\n", name, cli_text_up(value, text));
}

void account_print(account_answer *answer) {
    print_number("epsilon", answer->epsilon);
    print_number("delta", answer->delta);
    print_number("mu", answer->mu);
    print_number("rdp", answer->rdp);
    printf("%-12s %s\n%-12s %s\n%-12s %s\n%-12s %s\n", "accountant", answer->accountant, "adjacency",
        answer->adjacency ? answer->adjacency : "that of the sensitivity or mu given", "unit", answer->unit,
        "view", answer->view);
    if (answer->particles == MFPG_PARTICLES_DATA)
        printf("%-12s %s\n", "particles", mfpg_particles_name(answer->particles));
    printf("%-12s %s\n", "certificate", answer->certificate ? "yes, under these assumptions:" : "no:");
    for (size_t i = 0; i < json_array_size(answer->assumptions); i++)
        printf("  - %s\n", json_string_value(json_array_get(answer->assumptions, i)));
    json_decref(answer->assumptions);
    answer->assumptions = NULL;
}

int account_print_answer(const account_settings *chosen, account_answer *answer) {
    if (chosen->common.json) return cli_json_print("account", account_json(answer));
    account_print(answer);
    return cli_finish("account", CLI_DONE);
}
