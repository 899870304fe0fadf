/* How an answer is printed. */
#include <math.h>
#include <stdio.h>

#include "account.h"
#include "options.h"

static json_t *assumptions_as_json(const mfpg_answer *answer) {
    json_t *list = json_array();
    for (ptrdiff_t i = 0; i < answer->assumptions; i++)
        json_array_append_new(list, json_string(answer->assumption[i]));
    return list;
}

json_t *account_json(const mfpg_answer *answer) {
    json_t *object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:s?, s:s, s:s, s:o, s:b}", "epsilon",
        cli_json_number(answer->epsilon), "delta", cli_json_number(answer->delta), "mu",
        cli_json_number(answer->mu), "rdp", cli_json_number(answer->rdp), "lower",
        cli_json_number(answer->lower), "upper", cli_json_number(answer->upper), "accountant",
        answer->accountant, "adjacency", answer->adjacency, "unit", answer->unit, "view", answer->view,
        "assumptions", assumptions_as_json(answer), "certificate", answer->certificate);
    if (answer->particles == MFPG_PARTICLES_DATA)
        json_object_set_new(object, "particles", json_string(mfpg_particles_name(answer->particles)));
    if (!isnan(answer->contraction))
        json_object_set_new(object, "contraction", cli_json_number(answer->contraction));
    return object;
}

static void print_number(const char *name, double value) {
    char text[CLI_TEXT_UP];
    if (!isnan(value)) printf("%-12s %s\n", name, cli_text_up(value, text));
}

/* The other end of what was asked for, rounded down, where more is known of it than 0. */
static void print_lower(const mfpg_answer *answer) {
    char text[CLI_TEXT_UP];
    if (answer->certificate && answer->lower > 0)
        printf("%-12s %s\n", "lower end", cli_text_down(answer->lower, text));
}

void account_print(const mfpg_answer *answer) {
    print_number("epsilon", answer->epsilon);
    print_number("delta", answer->delta);
    print_number("mu", answer->mu);
    print_number("rdp", answer->rdp);
    print_lower(answer);
    printf("%-12s %s\n%-12s %s\n%-12s %s\n%-12s %s\n", "accountant", answer->accountant, "adjacency",
        answer->adjacency ? answer->adjacency : "that of the sensitivity or mu given", "unit", answer->unit,
        "view", answer->view);
    if (answer->particles == MFPG_PARTICLES_DATA)
        printf("%-12s %s\n", "particles", mfpg_particles_name(answer->particles));
    else
        print_number("contraction", answer->contraction);
    printf("%-12s %s\n", "certificate",
        answer->certificate ? "yes, under these assumptions:"
        : answer->certifies ? "no: nothing is promised, whatever is assumed:"
                            : "no:");
    for (ptrdiff_t i = 0; i < answer->assumptions; i++) printf("  - %s\n", answer->assumption[i]);
}
