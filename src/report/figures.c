#include "figures.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/csv_writer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/number.h"
#include "figure_files.h"
#include "template.h"
#include "view.h"

enum { NAME_SIZE = 96, STYLES = 8 };

typedef struct writer {
    mfpg_context *ctx;
    const char *folder;
    FILE *all; /* figures.gp */
} writer;

/* ---- files ---- */

static mfpg_status open_file(const writer *to, const char *name, const char *extension, mfpg_file *file) {
    char full[NAME_SIZE + 8];
    snprintf(full, sizeof full, "%s.%s", name, extension);
    char *path = mfpg_path_join(to->folder, full);
    mfpg_status status = path ? mfpg_file_create(to->ctx, path, file) : mfpg_fail_memory(to->ctx);
    free(path);
    return status;
}

/* "Epsilon of each client" of run 2 is run-2-epsilon-of-each-client. */
static void name_chart(const json_t *chart, int run, char name[NAME_SIZE]) {
    int used = run > 0 ? snprintf(name, NAME_SIZE, "run-%d-", run) : 0;
    for (const char *at = json_string_value(json_object_get(chart, "title")); *at && used < NAME_SIZE - 1;
         at++)
        if (*at != '\'') name[used++] = isalnum((unsigned char)*at) ? (char)tolower((unsigned char)*at) : '-';
    name[used] = 0;
}

static mfpg_status write_table(const writer *to, const json_t *chart, const char *name) {
    mfpg_file file;
    mfpg_status status = open_file(to, name, "csv", &file);
    if (status != MFPG_OK) return status;
    mfpg_csv csv = {.stream = file.stream};
    size_t i, k;
    json_t *column, *row, *cell;
    json_array_foreach(json_object_get(chart, "columns"), i, column)
        mfpg_csv_text(&csv, json_string_value(json_object_get(column, "title")));
    mfpg_csv_end_row(&csv);
    json_array_foreach(json_object_get(chart, "rows"), i, row) {
        mfpg_csv_text(&csv, json_string_value(json_object_get(row, "head")));
        json_array_foreach(json_object_get(row, "cells"), k, cell)
            mfpg_csv_text(&csv, json_is_string(cell) ? json_string_value(cell) : "");
        mfpg_csv_end_row(&csv);
    }
    return mfpg_file_commit(to->ctx, &file);
}

/* ---- scripts ---- */

static const char *role_of(const json_t *columns, size_t i) {
    const char *role = json_string_value(json_object_get(json_array_get(columns, i), "role"));
    return role ? role : "";
}

/* A line with its band, where the two columns behind it are one. Columns count from 1. */
static void add_series(view *v, const json_t *columns, size_t i, int style, json_t *series) {
    json_t *one = view_add(v, series, json_object());
    int band = strcmp(role_of(columns, i + 1), "low") == 0;
    view_put(v, one, "column", json_integer((json_int_t)i + 1));
    view_put(v, one, "low", json_integer((json_int_t)i + 2));
    view_put(v, one, "high", json_integer((json_int_t)i + 3));
    view_put(v, one, "band", json_boolean(band));
    view_put(v, one, "dash", json_boolean(strcmp(role_of(columns, i), "dash") == 0));
    view_put(v, one, "style", json_integer(style));
}

static void add_bar(view *v, size_t i, json_t *bars) {
    json_t *one = view_add(v, bars, json_object());
    view_put(v, one, "column", json_integer((json_int_t)i + 1));
    view_put(v, one, "style", json_integer((json_int_t)(json_array_size(bars) - 1) % STYLES + 1));
}

/* Side by side around the number of their row, which leaves a third of the room free. */
static void place_bars(view *v, json_t *script, json_t *bars) {
    double width = 0.66 / (double)(json_array_size(bars) ? json_array_size(bars) : 1);
    size_t i;
    json_t *one;
    view_put(v, script, "width", view_number(width));
    json_array_foreach(bars, i, one) view_put(
        v, one, "place", view_number(((double)i - 0.5 * (double)(json_array_size(bars) - 1)) * width));
}

static void put_series(view *v, const json_t *chart, json_t *script) {
    const json_t *columns = json_object_get(chart, "columns");
    json_t *series = view_new_list(v, script, "series"), *bars = view_new_list(v, script, "bars");
    int lines = 0, dashes = 0;
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const char *role = role_of(columns, i);
        if (strcmp(role, "line") == 0) add_series(v, columns, i, lines++ % STYLES + 1, series);
        if (strcmp(role, "dash") == 0) add_series(v, columns, i, dashes++ % STYLES + 1, series);
        if (strcmp(role, "bar") == 0) add_bar(v, i, bars);
    }
    place_bars(v, script, bars);
    view_put(v, script, "legend", json_boolean(lines + dashes > 1 || json_array_size(bars) > 1));
    view_put(v, script, "tics",
        json_integer((json_int_t)json_array_size(json_object_get(chart, "rows")) / 20 + 1));
}

/* Of the numbers that are drawn; infinite where there are none. */
typedef struct span {
    double least, most;
} span;

static span span_of(const json_t *chart) {
    const json_t *columns = json_object_get(chart, "columns");
    span drawn = {INFINITY, -INFINITY};
    double value;
    size_t i, k;
    json_t *row, *cell;
    json_array_foreach(json_object_get(chart, "rows"), i, row)
        json_array_foreach(json_object_get(row, "cells"), k, cell) {
        const char *role = role_of(columns, k + 1), *text = json_string_value(cell);
        if (!role[0] || strcmp(role, "x") == 0 || !text || !mfpg_number_parse(text, strlen(text), &value))
            continue;
        drawn.least = fmin(drawn.least, value);
        drawn.most = fmax(drawn.most, value);
    }
    return drawn;
}

/* The rule of page.js: lines that are all but level, and lines near 0, stand on 0. */
static int stands_on_zero(span drawn) {
    double range = drawn.most - drawn.least;
    return drawn.least >= 0.0 && (range < 0.05 * drawn.most || drawn.least < 0.25 * range);
}

/* One point on a line has no range, of which gnuplot would complain. */
static void put_range(view *v, const json_t *rows, int line, json_t *script) {
    double x = NAN;
    const char *text = json_string_value(json_object_get(json_array_get(rows, 0), "head"));
    int alone = line && json_array_size(rows) == 1 && text && mfpg_number_parse(text, strlen(text), &x);
    view_put(v, script, "alone", json_boolean(alone));
    view_put(v, script, "left", view_number(alone ? x - 0.5 : 0.0));
    view_put(v, script, "right", view_number(alone ? x + 0.5 : 0.0));
}

/* Apostrophes end a text of gnuplot; the axes of charts are this program's and have none. */
static json_t *script_of(view *v, const json_t *chart, const char *name) {
    static const char *const kinds[] = {"line", "bar", "scatter"};
    const char *kind = json_string_value(json_object_get(chart, "kind"));
    const span drawn = span_of(chart);
    int log =
        json_is_true(json_object_get(chart, "log")) && drawn.least < drawn.most; /* gnuplot wants a range */
    json_t *script = json_object();
    view_put(v, script, "name", view_text(name));
    view_copy(v, script, "x", json_object_get(chart, "x"));
    view_copy(v, script, "y", json_object_get(chart, "y"));
    view_put(v, script, "log", json_boolean(log));
    view_copy(v, script, "named", json_object_get(chart, "named"));
    view_put(v, script, "from_zero",
        json_boolean((strcmp(kind, "bar") == 0 && drawn.least >= 0.0) || (!log && stands_on_zero(drawn))));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        view_put(v, script, kinds[i], json_boolean(strcmp(kind, kinds[i]) == 0));
    put_range(v, json_object_get(chart, "rows"), strcmp(kind, "line") == 0, script);
    put_series(v, chart, script);
    return script;
}

static mfpg_status write_script(const writer *to, const json_t *chart, const char *name) {
    view v = {.ctx = to->ctx};
    mfpg_file file = {0};
    json_t *script = script_of(&v, chart, name);
    mfpg_status status = v.failed ? mfpg_fail_memory(to->ctx) : open_file(to, name, "gp", &file);
    if (status == MFPG_OK)
        status = mfpg_template_write(to->ctx, mfpg_embedded_find("plot.gp")->bytes, script, file.stream);
    json_decref(script);
    if (status == MFPG_OK) return mfpg_file_commit(to->ctx, &file);
    mfpg_file_abandon(&file);
    return status;
}

/* ---- what stood there before ---- */

enum { LARGEST_LIST = 1 << 20 };

/* The chart's name in a line of figures.gp: "load 'NAME.gp'", or "# NAME: " of one that is not drawn. 0: none, or one that this
 * program would not have given. */
static int name_in(const char *line, size_t length, char name[NAME_SIZE]) {
    size_t skip = strncmp(line, "load '", 6) == 0 ? 6 : strncmp(line, "# ", 2) == 0 ? 2 : length;
    size_t size = skip < length ? strspn(line + skip, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;
    const char *end = skip == 6 ? ".gp'" : ": ";
    if (size == 0 || size >= NAME_SIZE || strncmp(line + skip + size, end, strlen(end)) != 0) return 0;
    snprintf(name, NAME_SIZE, "%.*s", (int)size, line + skip);
    return 1;
}

/* Charts of an earlier page would look like this one's. Only what its figures.gp lists goes; anybody else's files stay. */
static mfpg_status remove_old(const writer *to) {
    char *path = mfpg_path_join(to->folder, "figures.gp"), *list = NULL, name[NAME_SIZE];
    size_t length = 0;
    mfpg_status status = path ? MFPG_OK : mfpg_fail_memory(to->ctx);
    if (status == MFPG_OK && access(path, F_OK) == 0)
        status = mfpg_file_read(to->ctx, path, LARGEST_LIST, &list, &length);
    for (const char *line = list; status == MFPG_OK && line && *line; line += *line == '\n') {
        size_t size = strcspn(line, "\n");
        if (name_in(line, size, name)) status = mfpg_figure_remove(to->ctx, to->folder, name);
        line += size;
    }
    free(list);
    free(path);
    return status;
}

/* ---- all of them ---- */

static mfpg_status write_charts(const writer *to, const json_t *charts, int run) {
    mfpg_status status = MFPG_OK;
    size_t i;
    json_t *chart;
    json_array_foreach(charts, i, chart) {
        char name[NAME_SIZE];
        name_chart(chart, run, name);
        status = write_table(to, chart, name);
        if (status != MFPG_OK) return status;
        if (!isfinite(span_of(chart).least)) { /* gnuplot has nothing to say about infinities */
            fprintf(to->all, "# %s: no finite number to draw\n", name);
            continue;
        }
        status = write_script(to, chart, name);
        if (status != MFPG_OK) return status;
        fprintf(to->all, "reset\nload '%s.gp'\n", name);
    }
    return status;
}

static mfpg_status write_all(const writer *to, const json_t *page) {
    static const char *const parts[] = {"promise", "attack", "inversion", "game"};
    size_t i, count = json_array_size(json_object_get(page, "runs"));
    json_t *run;
    mfpg_status status = write_charts(to, json_object_get(page, "rounds"), 0);
    json_array_foreach(json_object_get(page, "runs"), i, run) {
        int number = count > 1 ? (int)i + 1 : 0;
        for (size_t p = 0; p < sizeof parts / sizeof parts[0] && status == MFPG_OK; p++)
            status = write_charts(to, json_object_get(json_object_get(run, parts[p]), "charts"), number);
    }
    return status;
}

mfpg_status figures_write(mfpg_context *ctx, const json_t *page, const char *folder) {
    writer to = {.ctx = ctx, .folder = folder};
    mfpg_file file;
    mfpg_status status = mfpg_folder_create(ctx, folder);
    if (status == MFPG_OK) status = remove_old(&to);
    if (status == MFPG_OK) status = mfpg_embedded_write(ctx, folder, "style.gp");
    if (status == MFPG_OK) status = open_file(&to, "figures", "gp", &file);
    if (status != MFPG_OK) return status;
    to.all = file.stream;
    fputs("# gnuplot figures.gp draws every figure of this folder.\n", file.stream);
    status = write_all(&to, page);
    if (status == MFPG_OK) return mfpg_file_commit(ctx, &file);
    mfpg_file_abandon(&file);
    return status;
}
