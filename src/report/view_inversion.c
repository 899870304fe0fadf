/* Gradient inversion: what could be rebuilt of a client's examples from its gradients, by level of noise. */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "inversion_record.h"
#include "base/json_file.h"
#include "view.h"

static double number_in(const json_t *object, const char *key) {
    return json_file_number(json_object_get(object, key));
}

/* ---- charts ---- */

typedef enum source { CLOSED_FORM, OPTIMISATION, MEAN_PICTURE, OTHER_EXAMPLE } source;

static const json_t *quality_of(const json_t *inversion, const json_t *level, source from) {
    const json_t *chance = json_object_get(inversion, "chance");
    switch (from) {
    case CLOSED_FORM: return json_object_get(level, "closed_form");
    case OPTIMISATION: return json_object_get(level, "optimisation");
    case MEAN_PICTURE: return json_object_get(chance, "mean");
    default: return json_object_get(chance, "other");
    }
}

static json_t *begin_row(view *v, json_t *chart, const json_t *level, size_t number) {
    json_t *row = view_row(v, chart, view_format("%.4g", number_in(level, "mu")));
    view_put(v, row, "mark",
        json_boolean(json_is_false(json_object_get(json_object_get(level, "identification"), "stands"))));
    view_cell(v, row, view_format("%zu", number));
    return row;
}

static json_t *begin_chart(view *v, json_t *charts, const char *title, const char *y) {
    json_t *chart = view_chart(v, charts, "bar", title, "mu of one local step (zero-out; no unit)", y);
    view_put(v, chart, "named", json_true());
    view_column(v, chart, "x", view_text("mu of one local step (zero-out)"));
    view_column(v, chart, "", view_text("number"));
    return chart;
}

static void add_identification(view *v, const json_t *inversion, json_t *charts) {
    json_t *chart = begin_chart(v, charts, "Examples told apart", "picked out (share)");
    size_t i;
    json_t *level;
    view_add(v, json_object_get(chart, "notes"),
        view_text(
            "Which of the candidates was it? A blurred picture is no evidence of safety: this is the test."));
    view_column(v, chart, "bar", view_text("picked out (share of trials)"));
    view_column(v, chart, "bar", view_text("proved (share)"));
    view_column(v, chart, "bar", view_text("promised at most (share)"));
    view_column(v, chart, "", view_text("right"));
    view_column(v, chart, "", view_text("rank of the right one (median)"));
    view_column(v, chart, "", view_text("mu (zero-out)"));
    view_column(v, chart, "", view_text("mu (replace)"));
    view_column(v, chart, "", view_text("noise (sd of an entry where the clip is C)"));
    view_column(v, chart, "", view_text("the promise"));
    json_array_foreach(json_object_get(inversion, "levels"), i, level) {
        const json_t *found = json_object_get(level, "identification");
        json_t *row = begin_row(v, chart, level, i);
        view_cell(v, row, view_number(number_in(found, "rate")));
        view_cell(v, row, view_number(number_in(found, "lower")));
        view_cell(v, row, view_number(number_in(found, "cap")));
        view_cell(
            v, row, view_format("%.0f of %.0f", number_in(found, "correct"), number_in(found, "trials")));
        view_cell(v, row, view_number(number_in(found, "median_rank")));
        view_cell(v, row, view_number(number_in(level, "mu")));
        view_cell(v, row, view_number(number_in(level, "mu_replace")));
        view_cell(v, row, view_number(number_in(level, "noise_sd")));
        view_cell(v, row, view_text(json_is_true(json_object_get(found, "stands")) ? "stands" : "BROKEN"));
    }
}

static void add_quality(
    view *v, const json_t *inversion, const char *measure, const char *title, const char *y, json_t *charts) {
    static const struct {
        source from;
        const char *of, *role, *name;
    } columns[] = {{CLOSED_FORM, "median", "bar", "closed form (median)"},
        {OPTIMISATION, "median", "bar", "optimisation (median)"},
        {MEAN_PICTURE, "median", "bar", "chance: the mean of all (median)"},
        {CLOSED_FORM, "best", "", "closed form (best)"}, {OPTIMISATION, "best", "", "optimisation (best)"},
        {OTHER_EXAMPLE, "median", "", "chance: another example (median)"}};
    json_t *chart = begin_chart(v, charts, title, y);
    size_t i;
    json_t *level;
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
        view_column(v, chart, columns[k].role, view_text(columns[k].name));
    json_array_foreach(json_object_get(inversion, "levels"), i, level) {
        json_t *row = begin_row(v, chart, level, i);
        for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++) {
            json_t *cell = view_number(number_in(
                json_object_get(quality_of(inversion, level, columns[k].from), measure), columns[k].of));
            if (!json_is_null(cell)) {
                view_cell(v, row, cell);
                continue;
            }
            json_decref(cell);
            view_cell(v, row, view_text(""));
        }
    }
}

/* ---- pictures: one table an attack, one row an example, from the original to what is left of it ---- */

static void add_picture(view *v, const json_t *base64, json_t *alt, json_t *row) {
    json_t *one = view_add(v, row, json_object());
    view_put(v, one, "picture", view_text(json_string_value(base64)));
    view_put(v, one, "alt", alt);
}

static void add_example(view *v, const json_t *inversion, const char *key, size_t example, json_t *rows) {
    const json_t *pictures = json_object_get(inversion, "pictures");
    json_t *entry = view_add(v, rows, json_object()), *row = view_new_list(v, entry, "pictures"), *level;
    size_t i;
    view_put(v, entry, "example", view_format("%zu", example + 1));
    add_picture(v, json_array_get(json_object_get(pictures, "original"), example),
        view_format("example %zu as it is", example + 1), row);
    json_array_foreach(json_object_get(inversion, "levels"), i, level) add_picture(v,
        json_array_get(json_object_get(json_array_get(json_object_get(pictures, "levels"), i), key), example),
        view_format("example %zu rebuilt at mu %.4g", example + 1, number_in(level, "mu")), row);
    add_picture(v, json_object_get(pictures, "mean"), view_text("the mean of all pictures"), row);
}

/* 1 where the attack has a picture at every level. */
static int has_pictures(const json_t *inversion, const char *key) {
    size_t i;
    json_t *level;
    const json_t *pictures = json_object_get(inversion, "pictures");
    if (!json_is_object(pictures)) return 0;
    json_array_foreach(json_object_get(pictures, "levels"), i,
        level) if (json_array_size(json_object_get(level, key)) == 0) return 0;
    return 1;
}

static void add_grid(view *v, const json_t *inversion, const char *key, const char *title, json_t *grids) {
    if (!has_pictures(inversion, key)) return;
    json_t *grid = view_add(v, grids, json_object()), *heads = NULL, *level;
    size_t i;
    view_put(v, grid, "grid", view_text(title));
    heads = view_new_list(v, grid, "heads");
    view_add(v, heads, view_text("original"));
    json_array_foreach(json_object_get(inversion, "levels"), i, level)
        view_add(v, heads, view_format("mu %.4g", number_in(level, "mu")));
    view_add(v, heads, view_text("mean of all"));
    json_t *rows = view_new_list(v, grid, "examples");
    size_t count = json_array_size(json_object_get(json_object_get(inversion, "pictures"), "original"));
    for (size_t e = 0; e < count; e++) add_example(v, inversion, key, e, rows);
}

/* ---- words ---- */

static void add_range(view *v, const json_t *inversion, const char *key, const char *term, json_t *facts) {
    const json_t *range = json_object_get(inversion, key);
    if (isnan(number_in(range, "median"))) return;
    view_fact(v, facts, term,
        view_format("%.4g in the median, from %.4g to %.4g", number_in(range, "median"),
            number_in(range, "least"), number_in(range, "most")));
}

static void put_facts(view *v, const json_t *inversion, json_t *out) {
    json_t *facts = view_new_list(v, out, "facts");
    double confidence = number_in(inversion, "confidence");
    char text[MFPG_NUMBER_SIZE];
    view_fact(v, facts, "What was attacked",
        view_format(
            "the gradient of one local step of client %.60s, in batches of %.0f; %.0f examples, each to be "
            "picked out of %.0f candidates",
            json_string_value(json_object_get(inversion, "client")), number_in(inversion, "batch"),
            number_in(inversion, "examples"), number_in(inversion, "candidates")));
    if (!isnan(confidence))
        view_fact(v, facts, "Confidence",
            view_format("%s of everything proved", mfpg_number_format(confidence, text)));
    add_range(v, inversion, "gradient_norm", "Norm of an example's gradient, before the clip", facts);
    add_range(v, inversion, "clip_factor", "What the clip left of it (share)", facts);
    add_range(
        v, inversion, "exclusive_rows", "Rows of the first layer that one example alone activates", facts);
}

void view_inversion(view *v, const run_set *set, json_t *out) {
    const json_t *inversion = json_object_get(set->audit, "inversion");
    view_put(v, out, "inversion", inversion ? json_object() : json_null());
    if (!inversion) return;
    json_t *shown = json_object_get(out, "inversion");
    int stands = json_is_true(json_object_get(inversion, "stands"));
    view_put(v, shown, "broken_inversion", json_boolean(!stands));
    put_facts(v, inversion, shown);
    json_t *charts = view_new_list(v, shown, "charts");
    add_identification(v, inversion, charts);
    add_quality(v, inversion, "psnr", "Likeness of what was rebuilt", "PSNR (dB)", charts);
    add_quality(v, inversion, "ssim", "Structure of what was rebuilt", "SSIM (1: the same)", charts);
    add_quality(
        v, inversion, "pearson", "Correlation of what was rebuilt", "Pearson r (1: the same)", charts);
    json_t *grids = view_new_list(v, shown, "grids");
    add_grid(v, inversion, "closed_form", "Rebuilt in closed form", grids);
    add_grid(v, inversion, "optimisation", "Rebuilt by optimisation", grids);
}
