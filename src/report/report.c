/* report.html: report.json, the script that renders it, and tables for readers without scripts. */
#include "mfpg/report.h"

#include <dirent.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/memory.h"
#include "base/names.h"
#include "base/number.h"
#include "experiment/config/settings.h"
#include "federation/run_folder.h"
#include "mfpg/experiment.h"
#include "mfpg/version.h"
#include "page.h"

/* ---- report.json ---- */

/* Keeps only the last part of absolute paths, because where a file was says more about its owner than about
 * the run. A path begins after a blank, a quote or a bracket, and ends with its line or at the beginning of
 * the next value. */
static json_t *without_folders(const char *text) {
    char *shown = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&shown, &size);
    if (!stream) return NULL;
    for (const char *at = text; *at; at++) {
        size_t length = strcspn(at, "\n,]\"'#");
        const char *last = *at == '/' ? memrchr(at, '/', length) : at;
        if (last > at && at[1] != ' ' && (at == text || strchr(" '\"[", at[-1]))) {
            fputs("...", stream);
            at = last;
        }
        putc(*at, stream);
    }
    json_t *value = fclose(stream) == 0 ? page_text(shown) : NULL;
    free(shown);
    return value;
}

static json_t *configuration_of(page *p, const run_record *run) {
    const mfpg_options *keys = mfpg_config_options();
    json_t *rows = json_array();
    for (const mfpg_option *key = keys->option; key < keys->option + keys->count; key++) {
        char *value = mfpg_config_value(run->config, key - keys->option);
        if (!value || strcmp(value, MFPG_NO_VALUE) != 0)
            page_add(p, rows,
                json_pack("{s:s, s:o, s:o, s:o}", "path", key->name, "value",
                    value ? without_folders(value) : NULL, "unit", page_text(key->unit), "help",
                    page_text(key->help)));
        free(value);
    }
    json_t *tables = page_charts(p, "configuration", NULL, rows);
    json_decref(rows);
    return tables;
}

/* Returns what the runs of a sweep have in common; null for a single run. */
static json_t *sweep_of(page *p, const run_group *group) {
    const run_record *first = &group->run[0], *last = &group->run[group->count - 1], *worst = first;
    if (!group->sweep) return json_null();
    json_t *sweep = json_pack("{s:f, s:f, s:b, s:b}", "first", mfpg_config_number(first->config, "seed"),
        "last", mfpg_config_number(last->config, "seed"), "same_epsilon", run_group_agrees(group, "epsilon"),
        "same_action", run_group_agrees(group, "action"));
    for (const run_record *run = first; run <= last; run++)
        if (run_table_number(&run->clients, "epsilon", run_client_extreme(run, 1)) >
            run_table_number(&worst->clients, "epsilon", run_client_extreme(worst, 1)))
            worst = run;
    page_put(p, sweep, "epsilon",
        page_text(run_table_text(&worst->clients, "epsilon", run_client_extreme(worst, 1))));
    page_put(p, sweep, "folder", page_text(worst->folder));
    return sweep;
}

/* The audit runs all rounds of the configuration with its own accountants; a run that was stopped has spent
 * less. */
static int attacks_other_epsilons(const run_group *group) {
    const json_t *clients = json_object_get(group->audit, "clients"), *client;
    size_t k;
    json_array_foreach(clients, k, client) {
        double attacked = run_number(client, "epsilon"),
               spent = run_table_number(&group->run[0].clients, "epsilon", (ptrdiff_t)k);
        if (attacked < spent || attacked > spent) return 1;
    }
    return 0;
}

static json_t *run_json(page *p, const run_group *group) {
    const run_record *run = &group->run[0];
    json_t *one = json_object(), *summary = json_copy(run->summary), *audit = page_audit(p, group),
           *clients = page_clients(p, run);
    json_object_del(summary, "clients"); /* which may be many */
    page_put(p, one, "result", compare_result(p, group));
    page_put(p, one, "sweep", sweep_of(p, group));
    page_put(p, one, "control", page_text(page_control(run)));
    page_put(p, one, "summary", summary);
    if (!clients || !audit) p->failed = 1;
    page_share(p, one, "clients", clients); /* both are read below, even if memory runs out here */
    page_share(p, one, "audit", audit);
    page_put(p, one, "other_epsilons", json_boolean(attacks_other_epsilons(group)));
    page_put(p, one, "configuration", configuration_of(p, run));
    page_put(p, one, "file", without_folders(run->config_text));
    page_put(p, one, "promise", page_promise_charts(p, run, clients));
    page_put(p, one, "attack", page_attack_charts(p, audit));
    page_put(p, one, "inversion", page_inversion_charts(p, json_object_get(audit, "inversion")));
    page_put(p, one, "game", page_game_charts(p, run));
    json_decref(clients);
    json_decref(audit);
    return one;
}

/* Writes the result of a group with few digits, with epsilon rounded upwards. */
static json_t *overview_of(page *p, const run_group *group) {
    static const char *const keys[] = {"loss", "accuracy"};
    json_t *result = compare_result(p, group), *game = json_object_get(result, "game");
    const char *unit = run_text(result, "promise.unit");
    double epsilon = run_number(result, "epsilon"), exploitability = run_number(game, "exploitability");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (run_value(result, keys[i]))
            page_put(p, result, keys[i], page_format("%.5g", run_number(result, keys[i])));
    if (isfinite(epsilon)) page_put(p, result, "epsilon", page_number(mfpg_number_up(epsilon, 4)));
    if (isfinite(exploitability)) page_put(p, game, "exploitability", page_format("%.5g", exploitability));
    page_put(p, result, "promises",
        unit ? page_format("%s, %s, %s", unit, run_text(result, "promise.adjacency"),
                   run_text(result, "promise.view"))
             : json_string("nothing is promised"));
    return result;
}

/* Adds the comparison of the groups, and the keys in which they differ. */
static json_t *comparison_of(page *p, const run_group *groups, ptrdiff_t count) {
    json_t *results = json_array(), *keys = compare_keys(p, groups, count), *key, *value;
    size_t i, s;
    for (ptrdiff_t g = 0; g < count; g++) page_add(p, results, overview_of(p, &groups[g]));
    json_t *tables = page_charts(p, "results", NULL, results),
           *differ = page_chart(p, tables, json_array_get(json_object_get(p->forms, "keys"), 0),
               json_array_size(keys) ? "differ" : "same");
    page_column(p, differ, "", json_string("key"));
    for (ptrdiff_t g = 0; g < count; g++) page_column(p, differ, "", page_text(groups[g].label));
    json_array_foreach(keys, i, key) {
        json_t *row = page_add(p, json_object_get(differ, "rows"), json_array());
        page_add(p, row, json_incref(json_object_get(key, "path")));
        json_array_foreach(json_object_get(key, "values"), s, value)
            page_add(p, row, without_folders(json_string_value(value)));
    }
    json_decref(results);
    json_decref(keys);
    return tables;
}

static json_t *title_of(const run_group *groups, ptrdiff_t count) {
    const json_t *summary = groups[0].run[0].summary;
    if (count > 1) return page_format("%td runs compared", count);
    return page_format("%s: %s", run_text(summary, "name") ? run_text(summary, "name") : "run",
        run_text(summary, "method.name"));
}

/* A broken promise comes before everything else. */
static json_t *alarm_of(const run_group *groups, ptrdiff_t count) {
    ptrdiff_t broken = 0;
    for (ptrdiff_t s = 0; s < count; s++) broken += groups[s].audit && !audit_stands(groups[s].audit);
    if (broken == 0) return json_null();
    if (count == 1) return json_string("An attack has broken a promise of this run.");
    return page_format("Attacks have broken promises of %td of these %td runs.", broken, count);
}

json_t *page_json(mfpg_context *ctx, const run_group *groups, ptrdiff_t count) {
    json_t *forms = json_loads(mfpg_embedded_find("charts.json")->bytes, 0, NULL), *runs = json_array();
    page p = {.ctx = ctx, .forms = forms, .failed = !forms};
    for (ptrdiff_t s = 0; s < count; s++) page_add(&p, runs, run_json(&p, &groups[s]));
    json_t *report = json_pack("{s:s, s:o, s:o, s:s, s:s, s:o, s:o, s:o}", "mfpg", mfpg_version(), "title",
        title_of(groups, count), "alarm", alarm_of(groups, count), "metrics", MFPG_METRICS_NOTE, "selection",
        MFPG_SELECTION_NOTE, "runs", runs, "rounds", page_round_charts(&p, groups, count), "comparison",
        count > 1 ? comparison_of(&p, groups, count) : json_array());
    json_decref(forms);
    return mfpg_json_if_complete(report, report && !p.failed);
}

/* ---- for readers without scripts ---- */

/* Escapes what has a meaning in HTML; incomplete characters, and control characters except tabs and line
 * ends, become U+FFFD. */
static void write_text(FILE *out, const char *text) {
    static const char special[] = "&<>\"'";
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t left = strlen(text), size; left > 0; text += size, left -= size) {
        size = mfpg_utf8_length(text, left);
        const char *found = size == 1 ? strchr(special, *text) : NULL;
        if (size == 0 || mfpg_utf8_is_control(text, size))
            fputs("\xEF\xBF\xBD", out);
        else if (found)
            fputs(entities[found - special], out);
        else
            fwrite(text, 1, size, out);
        if (size == 0) size = 1;
    }
}

/* <name><bdi>text</bdi></name>; attributes: of the element */
static void write_element(FILE *out, const char *name, const char *attributes, const char *text) {
    fprintf(out, "<%s%s><bdi>", name, attributes);
    write_text(out, text ? text : "");
    fprintf(out, "</bdi></%s>", name);
}

static int is_listed(const json_t *list, size_t number) {
    const json_t *item;
    size_t i;
    json_array_foreach(list, i, item) if ((size_t)json_integer_value(item) == number) return 1;
    return 0;
}

static void write_tables(FILE *out, const json_t *charts) {
    const json_t *chart, *column, *note, *row, *cell;
    size_t i, k, c;
    json_array_foreach(charts, i, chart) {
        fputs("<figure class=\"chart\">", out);
        write_element(out, "figcaption", "", run_text(chart, "title"));
        json_array_foreach(json_object_get(chart, "notes"), k, note)
            write_element(out, "p", " class=\"note\"", json_string_value(note));
        fprintf(out, "<div class=\"scroll\" tabindex=\"0\"><table%s><thead><tr>",
            strcmp(run_text(chart, "kind"), "table") == 0 ? " class=\"keys\"" : "");
        json_array_foreach(json_object_get(chart, "columns"), k, column)
            write_element(out, "th", " scope=\"col\"", run_text(column, "title"));
        fputs("</tr></thead>\n<tbody>", out);
        json_array_foreach(json_object_get(chart, "rows"), k, row) {
            fputs(is_listed(json_object_get(chart, "broken"), k) ? "<tr class=\"broken\">" : "<tr>", out);
            json_array_foreach(row, c, cell)
                write_element(out, c ? "td" : "th", c ? "" : " scope=\"row\"", json_string_value(cell));
            fputs("</tr>\n", out);
        }
        fputs("</tbody></table></div></figure>\n", out);
    }
}

/* A picture is a PNG file in base64, as the reader of audit.json has verified; anything else is shown as
 * text. */
static void write_value(FILE *out, const char *path, const char *text) {
    static const char pictures[] = "inversion.pictures.", begin[] = "iVBORw0KGgo";
    int picture = strncmp(path, pictures, strlen(pictures)) == 0 && strncmp(text, begin, strlen(begin)) == 0;
    fputs("<tr>", out);
    write_element(out, "th", " scope=\"row\"", path);
    fputs(picture ? "<td><img src=\"data:image/png;base64," : "<td>", out);
    write_text(out, text);
    if (picture) {
        fputs("\" alt=\"", out);
        write_text(out, path + strlen(pictures));
        fputs("\">", out);
    }
    fputs("</td></tr>\n", out);
}

/* Every value below a path, one in a row, but for lists of objects, which are tables of their own. */
static void write_values(FILE *out, const char *path, const json_t *value) {
    char below[256], number[MFPG_NUMBER_SIZE];
    const char *key;
    json_t *item;
    size_t i;
    json_object_foreach((json_t *)value, key, item) {
        snprintf(below, sizeof below, "%s%s%s", path, *path ? "." : "", key);
        write_values(out, below, item);
    }
    json_array_foreach(value, i, item) {
        snprintf(below, sizeof below, "%s.%zu", path, i);
        if (!json_is_object(item) || strcmp(path, "inversion.pictures.levels") == 0)
            write_values(out, below, item);
    }
    if (json_is_string(value)) write_value(out, path, json_string_value(value));
    if (json_is_number(value)) write_value(out, path, mfpg_number_format(json_number_value(value), number));
    if (json_is_boolean(value)) write_value(out, path, json_is_true(value) ? "yes" : "no");
}

static void write_all_values(FILE *out, const char *title, const json_t *object) {
    write_element(out, "h3", "", title);
    fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"keys\"><tbody>\n", out);
    write_values(out, "", object);
    fputs("</tbody></table></div>\n", out);
}

static void write_run(FILE *out, const json_t *run) {
    static const char *const parts[] = {"promise", "attack", "inversion", "game", "configuration"};
    const json_t *client, *audit = json_object_get(run, "audit");
    size_t i;
    write_element(out, "h2", "", run_text(run, "result.label"));
    fputs("<ul class=\"words\">\n", out);
    json_array_foreach(json_object_get(run, "clients"), i, client) {
        write_element(out, "li", "", run_text(client, "name"));
        fputs("<p>", out);
        write_text(out, run_text(client, "promise"));
        fputs(".</p>\n", out);
    }
    fputs("</ul>\n", out);
    write_all_values(out, "The run (summary.json)", json_object_get(run, "summary"));
    if (json_is_object(audit)) write_all_values(out, "The attack (audit.json)", audit);
    for (i = 0; i < sizeof parts / sizeof parts[0]; i++) write_tables(out, json_object_get(run, parts[i]));
    fputs("<pre tabindex=\"0\">", out);
    write_text(out, run_text(run, "file"));
    fputs("</pre>\n", out);
}

/* ---- the page ---- */

enum { HASH_SIZE = sodium_base64_ENCODED_LEN(crypto_hash_sha256_BYTES, sodium_base64_VARIANT_ORIGINAL) };

static void hash_file(const char *name, char text[HASH_SIZE]) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    const mfpg_embedded *file = mfpg_embedded_find(name);
    crypto_hash_sha256(hash, (const unsigned char *)file->bytes, file->size);
    sodium_bin2base64(text, HASH_SIZE, hash, sizeof hash, sodium_base64_VARIANT_ORIGINAL);
}

/* The page may not load anything, and may run only its own style and scripts, identified by their hashes. */
static void write_policy(FILE *out) {
    static const char *const files[] = {"page.css", "chart.min.js", "page.js"};
    char hash[3][HASH_SIZE];
    for (int i = 0; i < 3; i++) hash_file(files[i], hash[i]);
    fprintf(out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-%s'; "
        "script-src 'sha256-%s' 'sha256-%s'; img-src data:; base-uri 'none'; form-action 'none'\">\n",
        hash[0], hash[1], hash[2]);
}

static void write_file(FILE *out, const char *before, const char *name, const char *after) {
    const mfpg_embedded *file = mfpg_embedded_find(name);
    fputs(before, out);
    fwrite(file->bytes, 1, file->size, out);
    fputs(after, out);
}

/* JSON within a script element: what could end it is escaped, as is all that is not ASCII. */
static int write_escaped(const char *text, size_t length, void *out) {
    for (; length > 0; text++, length--)
        if (strchr("<>&", *text))
            fprintf(out, "\\u%04x", (unsigned)*text);
        else
            putc(*text, out);
    return 0;
}

mfpg_status page_write(mfpg_context *ctx, const json_t *report, FILE *out) {
    const json_t *run;
    size_t i;
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
    write_policy(out);
    fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
        out);
    write_text(out, run_text(report, "title"));
    write_file(out, "</title>\n<style>", "page.css", "</style>\n</head>\n<body>\n");
    fputs("<a class=\"skip\" href=\"#main\">To the content</a>\n<header>\n", out);
    write_element(out, "h1", "", run_text(report, "title"));
    fputs("\n</header>\n<main id=\"main\" tabindex=\"-1\">\n", out);
    if (run_text(report, "alarm")) write_element(out, "p", " class=\"broken\"", run_text(report, "alarm"));
    fputs("<p class=\"note\">Without JavaScript this page has tables and no charts.</p>\n", out);
    write_tables(out, json_object_get(report, "comparison"));
    json_array_foreach(json_object_get(report, "runs"), i, run) write_run(out, run);
    write_tables(out, json_object_get(report, "rounds"));
    fprintf(out,
        "</main>\n<footer>\n<p>Written by mfpg %s. Numbers in tables are those of the run's files, "
        "digit by digit.</p>\n",
        mfpg_version());
    write_file(out,
        "<details>\n<summary>Licence of Chart.js, which draws the charts</summary>\n<pre tabindex=\"0\">",
        "chart.notice.txt", "</pre>\n</details>\n</footer>\n");
    fputs("<script type=\"application/json\" id=\"report.json\">", out);
    if (json_dump_callback(report, write_escaped, out, JSON_COMPACT | JSON_ENSURE_ASCII) != 0)
        return mfpg_fail_memory(ctx);
    write_file(out, "</script>\n<script>", "chart.min.js", "</script>\n");
    write_file(out, "<script>", "page.js", "</script>\n</body>\n</html>\n");
    return MFPG_OK;
}

/* ---- where it goes ---- */

/* A run folder may come from anybody, and a link in place of the page could lead anywhere. */
static mfpg_status check_no_link(mfpg_context *ctx, const char *folder, const char *name) {
    struct stat info;
    char *path = mfpg_path_join(folder, name);
    mfpg_status status = path ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK && lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: is a symbolic link in a run folder and not followed; name another "
            "folder for the page (--out)",
            path);
    free(path);
    return status;
}

static mfpg_status check_links(mfpg_context *ctx, const char *folder) {
    mfpg_status status = check_no_link(ctx, folder, "report.html");
    if (status == MFPG_OK) status = check_no_link(ctx, folder, "figures");
    char *figures = mfpg_path_join(folder, "figures");
    DIR *directory = figures ? opendir(figures) : NULL;
    for (struct dirent *item; status == MFPG_OK && directory && (item = readdir(directory));)
        status = check_no_link(ctx, figures, item->d_name);
    if (directory) closedir(directory);
    free(figures);
    return status;
}

static mfpg_status write_report(
    mfpg_context *ctx, const run_group *groups, ptrdiff_t count, const char *folder, char **path) {
    json_t *report = page_json(ctx, groups, count);
    char *name = mfpg_path_join(folder, "report.html"), *figures = mfpg_path_join(folder, "figures");
    mfpg_file file;
    mfpg_status status = report && name && figures ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK && folder[0]) status = mfpg_folder_create(ctx, folder);
    if (status == MFPG_OK) status = page_write_figures(ctx, report, figures);
    if (status == MFPG_OK) status = mfpg_file_create(ctx, name, &file);
    if (status == MFPG_OK) {
        status = page_write(ctx, report, file.stream);
        if (status != MFPG_OK) mfpg_file_abandon(&file);
        if (status == MFPG_OK) status = mfpg_file_commit(ctx, &file);
    }
    json_decref(report);
    free(figures);
    if (status == MFPG_OK && path)
        *path = name;
    else
        free(name);
    return status;
}

mfpg_status mfpg_report_write(
    mfpg_context *ctx, const char *const *runs, ptrdiff_t count, const char *folder, char **path) {
    if (count < 1 || count > MFPG_REPORT_MOST_RUNS)
        return mfpg_fail(
            ctx, MFPG_ERR_INPUT, "%td runs; a page holds 1 to %d", count, (int)MFPG_REPORT_MOST_RUNS);
    run_group groups[MFPG_REPORT_MOST_RUNS] = {{0}};
    mfpg_status status = folder || count > 1 ? MFPG_OK : check_links(ctx, runs[0]);
    if (!folder) folder = count == 1 ? runs[0] : "";
    if (status == MFPG_OK) status = run_groups_read(ctx, runs, count, groups);
    if (status == MFPG_OK) status = write_report(ctx, groups, count, folder, path);
    run_groups_clear(groups, count);
    return status;
}
