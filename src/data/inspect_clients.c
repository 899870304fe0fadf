/* Columns that seem to say whose a row is, by their name: what data.partition.column may be. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inspect.h"

enum { SMALL_CLIENT = 2 };

static const char *const words[] = {"client", "site", "hospital", "clinic", "center", "centre", "district",
    "school", "subject", "patient", "person", "user", "userid", "region", "lea", "ward", "bank", "branch",
    "institution", "station", "state", "country", "provider", "device", "sensor", "writer", "speaker", "area",
    "village", "county"};

/* 1 where the name has one of the words between what is no letter: "subject#", "native-country". */
static int names_a_client(const char *name) {
    char word[32];
    while (*name) {
        size_t length = 0;
        while (*name && !isalpha((unsigned char)*name)) name++;
        for (; isalpha((unsigned char)*name); name++)
            if (length < sizeof word - 1) word[length++] = (char)tolower((unsigned char)*name);
        word[length] = 0;
        for (size_t i = 0; i < sizeof words / sizeof words[0] && length > 0; i++)
            if (strcmp(word, words[i]) == 0) return 1;
    }
    return 0;
}

/* Rows and classes of the clients of one column. */
typedef struct tally {
    mfpg_lookup names;
    int64_t *rows;  /* of each client; as many as there are rows */
    int32_t *class; /* its one class; -1: none yet, -2: several */
    int64_t small;  /* clients of one or two rows */
} tally;

static mfpg_status count_rows(mfpg_inspection *check, ptrdiff_t column, tally *t) {
    mfpg_cell_view cell;
    t->rows = mfpg_alloc(check->table.rows, sizeof *t->rows);
    t->class = mfpg_alloc(check->table.rows, sizeof *t->class);
    if (!t->rows || !t->class) return mfpg_fail_memory(check->ctx);
    for (ptrdiff_t i = 0; i < check->table.rows; i++) {
        mfpg_inspect_cell(check, i, column, &cell);
        ptrdiff_t client = mfpg_lookup_add(&t->names, cell.text);
        if (client < 0) return mfpg_fail_memory(check->ctx);
        int32_t class = check->row_class ? check->row_class[i] : -2;
        if (t->rows[client]++ == 0)
            t->class[client] = class;
        else if (t->class[client] != class)
            t->class[client] = -2;
    }
    return MFPG_OK;
}

static mfpg_status push_column(mfpg_inspection *check, ptrdiff_t column, tally *t) {
    mfpg_data_report *report = check->report;
    mfpg_client_column found = {.clients = t->names.count, .smallest = check->table.rows};
    for (ptrdiff_t k = 0; k < t->names.count; k++) {
        if (t->rows[k] < found.smallest) found.smallest = t->rows[k];
        if (t->rows[k] > found.largest) found.largest = t->rows[k];
        found.one_class += t->class[k] >= 0;
        t->small += t->rows[k] <= SMALL_CLIENT;
    }
    mfpg_client_column *larger =
        mfpg_resize(report->client_column, report->client_columns + 1, sizeof *larger);
    if (!larger) return mfpg_fail_memory(check->ctx);
    report->client_column = larger;
    found.column = mfpg_inspect_text(mfpg_slice_of(check->table.names.keys[column]));
    if (!found.column) return mfpg_fail_memory(check->ctx);
    larger[report->client_columns++] = found;
    return MFPG_OK;
}

static mfpg_status odd_clients(mfpg_inspection *check, const tally *t) {
    const mfpg_client_column *found = &check->report->client_column[check->report->client_columns - 1];
    mfpg_status status = MFPG_OK;
    if (t->small > 0)
        status = mfpg_inspect_odd(check, "small-clients", NULL, 0, t->small,
            "column %s: %lld of %td clients with one or two rows; such a client has no row to test on, and "
            "its "
            "own rows are easy to guess from its update",
            found->column, (long long)t->small, found->clients);
    if (status == MFPG_OK && found->one_class > 0)
        status = mfpg_inspect_odd(check, "one-class-clients", NULL, 0, found->one_class,
            "column %s: %td of %td clients with rows of one class only", found->column, found->one_class,
            found->clients);
    return status;
}

static mfpg_status check_column(mfpg_inspection *check, ptrdiff_t column) {
    tally t = {0};
    mfpg_status status = count_rows(check, column, &t);
    if (status == MFPG_OK && t.names.count >= 2 && t.names.count <= check->table.rows / 2) {
        status = push_column(check, column, &t);
        if (status == MFPG_OK) status = odd_clients(check, &t);
    }
    mfpg_lookup_clear(&t.names);
    free(t.rows);
    free(t.class);
    return status;
}

mfpg_status mfpg_inspect_clients(mfpg_inspection *check) {
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t j = 0; check->table.cells && j < check->features && status == MFPG_OK; j++)
        if (j != check->label && names_a_client(check->table.names.keys[j])) status = check_column(check, j);
    return status;
}
