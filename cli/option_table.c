#include "option_table.h"
#include "options.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char list_end[] = ",...";

/* ---- options ---- */

static void add(option_table *out, option_row row) {
    if (out->count < OPTION_ROWS) out->row[out->count++] = row;
}

static int ends(const struct argp_option *o) {
    return !o->name && !o->key && !o->doc && !o->group;
}

/* A line without a group stands in that of the line before, and a heading without one begins the next (argp.h). */
static void collect(const struct argp *argp, option_table *out) {
    int group = 0;
    for (const struct argp_option *o = argp->options; o && !ends(o); o++) {
        int heading = !o->name && !o->key;
        group = o->group ? o->group : heading ? group + 1 : group;
        if (o->flags & (OPTION_HIDDEN | OPTION_DOC)) continue;
        add(out, (option_row){.name = o->name,
                     .argument = o->arg,
                     .doc = o->doc ? o->doc : "",
                     .key = o->key,
                     .group = group});
    }
    for (const struct argp_child *child = argp->children; child && child->argp; child++)
        collect(child->argp, out);
}

/* 0, 1, 2, ..., and then the negative groups (argp.h); headings before options. */
static int place(const option_row *row) {
    int group = row->group < 0 ? 1000000 + row->group : row->group;
    return 2 * group + (row->name != NULL);
}

static void sort(option_table *table) {
    for (int i = 1; i < table->count; i++) {
        option_row moved = table->row[i];
        int at = i;
        for (; at > 0 && place(&table->row[at - 1]) > place(&moved); at--)
            table->row[at] = table->row[at - 1];
        table->row[at] = moved;
    }
}

void option_table_read(const struct argp *argp, option_table *out) {
    out->count = 0;
    collect(argp, out);
    add(out, (option_row){
                 .name = "help", .doc = "Every option with its unit and default", .key = '?', .group = -1});
    add(out, (option_row){.name = "usage", .doc = "The options alone", .group = -1});
    sort(out);
}

const option_row *option_table_find(const option_table *table, const char *name, size_t length) {
    const option_row *begun = NULL;
    int beginnings = 0;
    for (int i = 0; i < table->count; i++) {
        const option_row *row = &table->row[i];
        if (!row->name || strncmp(row->name, name, length) != 0) continue;
        if (row->name[length] == 0) return row;
        begun = row;
        beginnings++;
    }
    return beginnings == 1 ? begun : NULL;
}

const option_row *option_table_by_key(const option_table *table, int key) {
    for (int i = 0; i < table->count; i++)
        if (table->row[i].name && table->row[i].key == key) return &table->row[i];
    return NULL;
}

/* ---- lists of the library ---- */

/* "a|b" behind what the room holds already; *used grows. */
static const char *join_words(const mfpg_option *option, option_rows *out, size_t *used) {
    const char *word, *begin = out->placeholder + *used;
    for (ptrdiff_t i = 0; (word = mfpg_option_word(option, i)); i++) {
        int wrote =
            snprintf(out->placeholder + *used, sizeof out->placeholder - *used, "%s%s", i ? "|" : "", word);
        assert(wrote > 0 && (size_t)wrote < sizeof out->placeholder - *used - 1);
        *used += (size_t)wrote;
    }
    *used += 1; /* the closing 0 */
    return begin;
}

void option_rows_fill(const mfpg_options *list, int first_key, option_rows *out) {
    size_t used = 0;
    int count = 0, group = 0;
    *out = (option_rows){0};
    for (ptrdiff_t i = 0; i < list->count && count < OPTION_ROWS - 2; i++) {
        const mfpg_option *option = &list->option[i];
        int words = option->kind == MFPG_OPTION_WORD && !option->argument;
        if (mfpg_option_group(list, i) != group) {
            group = (int)mfpg_option_group(list, i);
            out->row[count++] = (struct argp_option){.doc = mfpg_option_section(list, i), .group = group};
        }
        out->row[count++] = (struct argp_option){.name = option->name,
            .key = first_key + (int)i,
            .arg = words ? join_words(option, out, &used) : option->argument,
            .doc = option->help,
            .group = group};
    }
}

int cli_take_option(const struct argp_state *state, mfpg_context *ctx, const mfpg_options *list,
    ptrdiff_t index, const char *text, void *fields) {
    if (index < 0 || index >= list->count) return 0;
    mfpg_status status = mfpg_option_set(ctx, list, list->option[index].name, text, fields);
    if (status == MFPG_ERR_INPUT) cli_wrong_argument(state, "%s", mfpg_context_message(ctx));
    if (status != MFPG_OK) exit(cli_fail(ctx, "", status));
    return 1;
}

/* ---- placeholders ---- */

int placeholder_is_list(const char *placeholder) {
    size_t length = strlen(placeholder), end = sizeof list_end - 1;
    return length > end && strcmp(placeholder + length - end, list_end) == 0;
}

int placeholder_part(const char *placeholder, int index, char out[WORD_SIZE]) {
    const char *at = placeholder;
    size_t whole = strlen(placeholder) - (placeholder_is_list(placeholder) ? sizeof list_end - 1 : 0);
    for (; index > 0; index--) {
        at += strcspn(at, "|");
        if (*at++ == 0) return 0;
    }
    size_t length = strcspn(at, "|"), left = whole - (size_t)(at - placeholder);
    if (length > left) length = left;
    snprintf(out, WORD_SIZE, "%.*s", (int)(length < WORD_SIZE ? length : WORD_SIZE - 1), at);
    return 1;
}

int part_is_word(const char *part) {
    return islower((unsigned char)part[0]) && !strpbrk(part, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}
