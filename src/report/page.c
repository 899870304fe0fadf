/* Building report.json. */
#include "page.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "base/number.h"

void page_put(page *p, json_t *object, const char *key, json_t *value) {
    if (json_object_set_new_nocheck(object, key, value) != 0) p->failed = 1;
}

json_t *page_add(page *p, json_t *list, json_t *value) {
    if (json_array_append_new(list, value) == 0) return value;
    p->failed = 1;
    return NULL;
}

void page_share(page *p, json_t *object, const char *key, const json_t *value) {
    page_put(p, object, key, value ? json_incref((json_t *)value) : json_null());
}

json_t *page_text(const char *text) {
    if (!text) return json_null();
    json_t *plain = json_string(text);
    if (plain) return plain;
    char *clean = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&clean, &size);
    if (!stream) return NULL;
    for (size_t left = strlen(text), length; left > 0; text += length, left -= length) {
        length = mfpg_utf8_length(text, left);
        if (length > 0) fwrite(text, 1, length, stream);
        if (length > 0) continue;
        fputs("\xEF\xBF\xBD", stream);
        length = 1;
    }
    if (fclose(stream) == 0) plain = json_string(clean);
    free(clean);
    return plain;
}

json_t *page_format(const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return page_text(text);
}

json_t *page_number(double value) {
    char text[MFPG_NUMBER_SIZE];
    return json_string(isnan(value) ? "" : mfpg_number_format(value, text));
}

static int by_rank(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->number != y->number) return (x->number > y->number) - (x->number < y->number);
    return (x->index > y->index) - (x->index < y->index);
}

void page_sort(ranked *list, ptrdiff_t count) {
    if (count > 0) qsort(list, (size_t)count, sizeof *list, by_rank);
}

ptrdiff_t page_choose(ranked *list, ptrdiff_t count, ptrdiff_t most) {
    page_sort(list, count);
    if (count > most) count = most;
    for (ptrdiff_t i = 0; i < count; i++) list[i].number = 0.0;
    page_sort(list, count);
    return count;
}

/* ---- charts ---- */

void page_note(page *p, json_t *chart, json_t *note) {
    page_add(p, json_object_get(chart, "notes"), note);
}

void page_column(page *p, json_t *chart, const char *role, json_t *title) {
    page_add(p, json_object_get(chart, "columns"), json_pack("{s:s, s:o}", "role", role, "title", title));
}

static json_t *cell_of(const json_t *value) {
    if (json_is_string(value)) return json_incref((json_t *)value);
    if (json_is_number(value)) return page_number(json_number_value(value));
    return json_string(json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "");
}

static int any_has(const json_t *rows, const char *field) {
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row) if (run_value(row, field)) return 1;
    return 0;
}

json_t *page_worded(const json_t *text, const char *word) {
    const char *form = json_string_value(json_is_object(text) ? json_object_get(text, word) : text);
    const char *at = form ? strstr(form, "%s") : NULL;
    return at ? page_format("%.*s%s%s", (int)(at - form), form, word, at + 2) : json_string(form ? form : "");
}

json_t *page_chart(page *p, json_t *charts, const json_t *form, const char *word) {
    static const char *const texts[] = {"kind", "title", "x", "y"};
    json_t *chart = page_add(p, charts, json_object()), *note = json_object_get(form, "note");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        page_put(p, chart, texts[i], page_worded(json_object_get(form, texts[i]), word));
    page_put(p, chart, "log", json_boolean(json_is_true(json_object_get(form, "log"))));
    page_put(p, chart, "named", json_boolean(json_is_true(json_object_get(form, "named"))));
    page_put(p, chart, "columns", json_array());
    page_put(p, chart, "rows", json_array());
    page_put(p, chart, "broken", json_array());
    page_put(p, chart, "notes", json_array());
    if (note) page_note(p, chart, page_worded(note, word));
    return chart;
}

static void fill_chart(page *p, json_t *chart, const json_t *form, const char *word, const json_t *rows) {
    const json_t *row, *column;
    json_t *texts = json_object_get(chart, "rows");
    size_t i, c;
    json_array_foreach(rows, i, row) {
        page_add(p, texts, json_array());
        if (json_is_false(run_value(row, "stands")))
            page_add(p, json_object_get(chart, "broken"), json_integer((json_int_t)i));
    }
    json_array_foreach(json_object_get(form, "columns"), c, column) {
        const char *field = json_string_value(json_array_get(column, 0));
        if (!any_has(rows, field)) continue;
        page_column(p, chart, json_string_value(json_array_get(column, 1)),
            page_worded(json_array_get(column, 2), word));
        json_array_foreach(rows, i, row)
            page_add(p, json_array_get(texts, i), cell_of(run_value(row, field)));
    }
}

json_t *page_charts(page *p, const char *part, const char *word, const json_t *rows) {
    const json_t *form;
    json_t *charts = json_array();
    size_t i;
    json_array_foreach(json_object_get(p->forms, part), i, form) {
        const char *needs = run_text(form, "needs");
        if (!needs || any_has(rows, needs))
            fill_chart(p, page_chart(p, charts, form, word), form, word, rows);
    }
    return charts;
}
