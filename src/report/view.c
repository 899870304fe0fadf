#include "view.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

void view_put(view *v, json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) != 0) v->failed = 1;
}

json_t *view_add(view *v, json_t *list, json_t *value) {
    if (json_array_append_new(list, value) == 0) return value;
    v->failed = 1;
    return NULL;
}

void view_copy(view *v, json_t *object, const char *key, const json_t *value) {
    view_put(v, object, key, value ? json_incref((json_t *)value) : json_null());
}

json_t *view_new_list(view *v, json_t *object, const char *key) {
    view_put(v, object, key, json_array());
    return json_object_get(object, key);
}

json_t *view_text(const char *text) {
    return text ? json_string_nocheck(text) : json_null();
}

json_t *view_format(const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return json_string_nocheck(text);
}

json_t *view_number(double value) {
    char text[MFPG_NUMBER_SIZE];
    return isnan(value) ? json_null() : json_string(mfpg_number_format(value, text));
}

void view_fact(view *v, json_t *list, const char *term, json_t *text) {
    json_t *fact = view_add(v, list, json_object());
    view_put(v, fact, "term", view_text(term));
    view_put(v, fact, "text", text);
}

/* ---- charts ---- */

json_t *view_chart(
    view *v, json_t *charts, const char *kind, const char *title, const char *x, const char *y) {
    json_t *chart = view_add(v, charts, json_object());
    view_put(v, chart, "kind", view_text(kind));
    view_put(v, chart, "title", view_text(title));
    view_put(v, chart, "x", view_text(x));
    view_put(v, chart, "y", view_text(y));
    view_put(v, chart, "columns", json_array());
    view_put(v, chart, "rows", json_array());
    view_put(v, chart, "notes", json_array());
    view_put(v, chart, "log", json_false());
    view_put(v, chart, "named", json_false());
    return chart;
}

void view_column(view *v, json_t *chart, const char *role, json_t *title) {
    json_t *column = view_add(v, json_object_get(chart, "columns"), json_object());
    view_put(v, column, "role", view_text(role));
    view_put(v, column, "title", title);
}

json_t *view_row(view *v, json_t *chart, json_t *head) {
    json_t *row = view_add(v, json_object_get(chart, "rows"), json_object());
    view_put(v, row, "head", head);
    view_put(v, row, "cells", json_array());
    return row;
}

void view_cell(view *v, json_t *row, json_t *text) {
    view_add(v, json_object_get(row, "cells"), text);
}

const char *view_control(const run_record *record) {
    mfpg_mechanism_kind kind = mfpg_mechanism_kind_of(run_text(record, "method.mechanism"));
    return kind.control == MFPG_CONTROL_STRENGTH ? "strength" : "budget";
}
