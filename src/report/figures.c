/* Writes charts as files: CSV tables with the gnuplot scripts that draw them. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/csv_writer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/number.h"
#include "page.h"

enum { NAME_SIZE = 96, STYLES = 8, LARGEST_LIST = 1 << 20 };

typedef struct writer {
    mfpg_context *ctx;
    const char *folder;
    FILE *all; /* figures.gp */
} writer;

/* ---- files ---- */

static mfpg_status open_file(const writer *to, const char *name, const char *extension, mfpg_file *file) {
    char full[NAME_SIZE + 8];
    snprintf(full, sizeof full, "%s.%s", name, extension);
    return mfpg_file_create_in(to->ctx, to->folder, full, file);
}

/* The chart "Epsilon of each client" of run 2 gets the name run-2-epsilon-of-each-client. */
static void name_chart(const json_t *chart, int run, char name[NAME_SIZE]) {
    int used = run > 0 ? snprintf(name, NAME_SIZE, "run-%d-", run) : 0;
    const char *at = json_string_value(json_object_get(chart, "title"));
    for (; *at && used < NAME_SIZE - 1; at++)
        if (*at != '\'') name[used++] = isalnum((unsigned char)*at) ? (char)tolower((unsigned char)*at) : '-';
    name[used] = 0;
}

static mfpg_status write_table(const writer *to, const json_t *chart, const char *name) {
    const json_t *column, *row, *cell;
    size_t i, k;
    mfpg_file file;
    mfpg_status status = open_file(to, name, "csv", &file);
    if (status != MFPG_OK) return status;
    mfpg_csv csv = {.stream = file.stream};
    json_array_foreach(json_object_get(chart, "columns"), i, column)
        mfpg_csv_text(&csv, json_string_value(json_object_get(column, "title")));
    mfpg_csv_end_row(&csv);
    json_array_foreach(json_object_get(chart, "rows"), i, row) {
        json_array_foreach(row, k, cell) mfpg_csv_text(&csv, json_string_value(cell));
        mfpg_csv_end_row(&csv);
    }
    return mfpg_file_commit(to->ctx, &file);
}

/* ---- scripts ---- */

static const char *role_of(const json_t *chart, size_t column) {
    const json_t *found = json_array_get(json_object_get(chart, "columns"), column);
    const char *role = json_string_value(json_object_get(found, "role"));
    return role ? role : "";
}

static int count_role(const json_t *chart, const char *role) {
    int count = 0;
    for (size_t i = 0; i < json_array_size(json_object_get(chart, "columns")); i++)
        count += strcmp(role_of(chart, i), role) == 0;
    return count;
}

/* Smallest and largest of the numbers that are drawn; infinite if there are none. */
typedef struct span {
    double least, most;
} span;

static span span_of(const json_t *chart) {
    span drawn = {INFINITY, -INFINITY};
    double value;
    size_t i, k;
    const json_t *row, *cell;
    json_array_foreach(json_object_get(chart, "rows"), i, row) json_array_foreach(row, k, cell) {
        const char *role = role_of(chart, k), *text = json_string_value(cell);
        if (!role[0] || strcmp(role, "x") == 0 || !mfpg_number_parse(text, strlen(text), &value)) continue;
        drawn.least = fmin(drawn.least, value);
        drawn.most = fmax(drawn.most, value);
    }
    return drawn;
}

/* A single point has no range, and gnuplot would print a warning. */
static void write_ranges(FILE *out, const json_t *chart, const char *kind) {
    const json_t *rows = json_object_get(chart, "rows");
    const span drawn = span_of(chart);
    const char *text = json_string_value(json_array_get(json_array_get(rows, 0), 0));
    double range = drawn.most - drawn.least, x;
    int log = json_is_true(json_object_get(chart, "log")) && range > 0.0; /* gnuplot wants a range */
    /* the same rule as in page.js: the axis begins at 0 if lines are nearly level or near 0 */
    int level = !log && (range < 0.05 * drawn.most || drawn.least < 0.25 * range);
    if (log) fputs("set logscale y\n", out);
    if (strcmp(kind, "line") == 0 && json_array_size(rows) == 1 && mfpg_number_parse(text, strlen(text), &x))
        fprintf(out, "set xrange [%g:%g]\n", x - 0.5, x + 0.5);
    if (drawn.least >= 0.0 && (level || strcmp(kind, "bar") == 0)) fputs("set yrange [0:*]\n", out);
}

/* Lines with their bands, each the two columns after its line. Columns count from 1. */
static void write_lines(FILE *out, const json_t *chart) {
    int lines = 0, dashes = 0;
    fputs("  plot ", out);
    for (size_t i = 0; i < json_array_size(json_object_get(chart, "columns")); i++) {
        int dash = strcmp(role_of(chart, i), "dash") == 0;
        if (!dash && strcmp(role_of(chart, i), "line") != 0) continue;
        int style = (dash ? dashes++ : lines++) % STYLES + 1;
        if (strcmp(role_of(chart, i + 1), "low") == 0)
            fprintf(out,
                "file using 1:%zu:%zu with filledcurves fs transparent solid 0.2 noborder ls %d notitle, ",
                i + 2, i + 3, style);
        fprintf(out, "file using 1:%zu with lines ls %d%s title columnheader(%zu), ", i + 1, style,
            dash ? " dashtype 2" : "", i + 1);
    }
    fputs("NaN notitle\n", out);
}

/* Bars are side by side around the number of their row, and leave a third of the space free. */
static void write_bars(FILE *out, const json_t *chart) {
    int count = count_role(chart, "bar"), named = json_is_true(json_object_get(chart, "named")), bar = 0;
    double width = 0.66 / (count > 0 ? count : 1);
    char number[MFPG_NUMBER_SIZE];
    fprintf(out, "  set boxwidth %s\n", mfpg_number_format(width, number));
    if (!named) fprintf(out, "  set xtics %zu\n", json_array_size(json_object_get(chart, "rows")) / 20 + 1);
    fputs("  plot ", out);
    for (size_t i = 0; i < json_array_size(json_object_get(chart, "columns")); i++) {
        if (strcmp(role_of(chart, i), "bar") != 0) continue;
        fprintf(out, "file using ($2 + %s):%zu with boxes fs solid 0.8 ls %d title columnheader(%zu), ",
            mfpg_number_format((bar - 0.5 * (count - 1)) * width, number), i + 1, bar % STYLES + 1, i + 1);
        bar++;
    }
    if (named) fputs("file using 2:(0):xtic(1) with points pt 0 lc rgb '#57606a' notitle, ", out);
    fputs("NaN notitle\n", out);
}

/* Apostrophes end a text of gnuplot; the axes of charts are this program's and have none. */
static mfpg_status write_script(const writer *to, const json_t *chart, const char *name) {
    const char *kind = json_string_value(json_object_get(chart, "kind"));
    int bars = strcmp(kind, "bar") == 0, named = json_is_true(json_object_get(chart, "named"));
    int legend = count_role(chart, "line") + count_role(chart, "dash") > 1 || count_role(chart, "bar") > 1;
    mfpg_file file;
    mfpg_status status = open_file(to, name, "gp", &file);
    if (status != MFPG_OK) return status;
    FILE *out = file.stream;
    fprintf(out,
        "# gnuplot %s.gp draws %s.svg, %s.png and %s.pdf from %s.csv.\nname = '%s'\nfile = name.'.csv'\n"
        "load 'style.gp'\n",
        name, name, name, name, name, name);
    fprintf(out, "set xlabel '%s%s' offset 0,0.4\nset ylabel '%s'\n",
        json_string_value(json_object_get(chart, "x")), bars && !named ? " (number)" : "",
        json_string_value(json_object_get(chart, "y")));
    fputs(legend ? "set key below height 0.5\n" : "unset key\n", out);
    write_ranges(out, chart, kind);
    fputs("do for [kind in kinds] {\n  eval(terminal(kind, 900, 560))\n  set output name.'.'.kind\n", out);
    if (bars)
        write_bars(out, chart);
    else if (strcmp(kind, "line") == 0)
        write_lines(out, chart);
    else
        fputs("  set offsets graph 0.05, graph 0.05, graph 0.05, graph 0.05\n"
              "  plot file using 2:3 with points ls 1 ps 1 title columnheader(3)\n",
            out);
    fputs("  unset output\n}\n", out);
    return mfpg_file_commit(to->ctx, &file);
}

/* ---- charts of an earlier page ---- */

/* The chart's name in a line of figures.gp: "load 'NAME.gp'", or "# NAME: " of one that is not drawn. 0:
 * none, or one that this program would not have given. */
static int name_in(const char *line, size_t length, char name[NAME_SIZE]) {
    size_t skip = strncmp(line, "load '", 6) == 0 ? 6 : strncmp(line, "# ", 2) == 0 ? 2 : length;
    size_t size = skip < length ? strspn(line + skip, "abcdefghijklmnopqrstuvwxyz0123456789-") : 0;
    const char *end = skip == 6 ? ".gp'" : ": ";
    if (size == 0 || size >= NAME_SIZE || strncmp(line + skip + size, end, strlen(end)) != 0) return 0;
    snprintf(name, NAME_SIZE, "%.*s", (int)size, line + skip);
    return 1;
}

/* Removes NAME.csv, .gp, .svg, .png and .pdf, those that are there: a picture of an earlier run next to a
 * table of this one would pass for its picture. Symbolic links are removed, not followed. */
static mfpg_status remove_figure(mfpg_context *ctx, const char *folder, const char *name) {
    static const char *const extensions[] = {"csv", "gp", "svg", "png", "pdf"};
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++) {
        char full[NAME_SIZE + 8];
        snprintf(full, sizeof full, "%s.%s", name, extensions[i]);
        char *path = mfpg_path_join(folder, full);
        if (!path) return mfpg_fail_memory(ctx);
        unlink(path); /* what is not there is gone */
        free(path);
    }
    return MFPG_OK;
}

/* Files with these names would look like this page's. Only what its figures.gp lists is removed; all other
 * files remain. */
static mfpg_status remove_old(const writer *to) {
    char *path = mfpg_path_join(to->folder, "figures.gp"), *list = NULL, name[NAME_SIZE];
    size_t length = 0;
    mfpg_status status = path ? MFPG_OK : mfpg_fail_memory(to->ctx);
    if (status == MFPG_OK && access(path, F_OK) == 0)
        status = mfpg_file_read(to->ctx, path, LARGEST_LIST, &list, &length);
    for (const char *line = list; status == MFPG_OK && line && *line; line += *line == '\n') {
        size_t size = strcspn(line, "\n");
        if (name_in(line, size, name)) status = remove_figure(to->ctx, to->folder, name);
        line += size;
    }
    free(list);
    free(path);
    return status;
}

/* ---- all of them ---- */

static mfpg_status write_charts(const writer *to, const json_t *charts, int run) {
    mfpg_status status = MFPG_OK;
    const json_t *chart;
    size_t i;
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

static mfpg_status write_all(const writer *to, const json_t *report) {
    static const char *const parts[] = {"promise", "attack", "inversion", "game"};
    const json_t *runs = json_object_get(report, "runs"), *run;
    size_t i;
    mfpg_status status = write_charts(to, json_object_get(report, "rounds"), 0);
    json_array_foreach(runs, i,
        run) for (size_t p = 0; p < sizeof parts / sizeof parts[0] && status == MFPG_OK; p++) status =
        write_charts(to, json_object_get(run, parts[p]), json_array_size(runs) > 1 ? (int)i + 1 : 0);
    return status;
}

mfpg_status page_write_figures(mfpg_context *ctx, const json_t *report, const char *folder) {
    writer to = {.ctx = ctx, .folder = folder};
    mfpg_file file;
    mfpg_status status = mfpg_folder_create(ctx, folder);
    if (status == MFPG_OK) status = remove_old(&to);
    if (status == MFPG_OK) status = mfpg_embedded_write(ctx, folder, "style.gp");
    if (status == MFPG_OK) status = open_file(&to, "figures", "gp", &file);
    if (status != MFPG_OK) return status;
    to.all = file.stream;
    fputs("# gnuplot figures.gp draws every figure of this folder.\n", file.stream);
    status = write_all(&to, report);
    if (status == MFPG_OK) return mfpg_file_commit(ctx, &file);
    mfpg_file_abandon(&file);
    return status;
}
