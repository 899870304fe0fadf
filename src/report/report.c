/* report.html: the view of the runs in the page's template. */
#include "mfpg/report.h"

#include <dirent.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "figures.h"
#include "template.h"
#include "view.h"

/* ---- what the page may run: its own style and scripts, by their hashes, and nothing else ---- */

enum { HASH_TEXT = sodium_base64_ENCODED_LEN(crypto_hash_sha256_BYTES, sodium_base64_VARIANT_ORIGINAL) };

static json_t *hash_of(const char *name) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    char text[HASH_TEXT];
    const mfpg_embedded *file = mfpg_embedded_find(name);
    crypto_hash_sha256(hash, (const unsigned char *)file->bytes, file->size);
    sodium_bin2base64(text, sizeof text, hash, sizeof hash, sodium_base64_VARIANT_ORIGINAL);
    return view_format("sha256-%s", text);
}

static int add_hashes(json_t *page) {
    return json_object_set_new(page, "style_hash", hash_of("page.css")) == 0 &&
           json_object_set_new(page, "chart_hash", hash_of("chart.min.js")) == 0 &&
           json_object_set_new(page, "script_hash", hash_of("page.js")) == 0;
}

/* ---- where it goes ---- */

/* A run folder may come from anybody: a link where the page is to stand could lead anywhere. */
static mfpg_status check_no_link(mfpg_context *ctx, const char *folder, const char *name) {
    struct stat info;
    char *path = mfpg_path_join(folder, name);
    mfpg_status status = path ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK && lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
        status = mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s: is a symbolic link in a run folder and not followed; name another folder for the page "
            "(--out)",
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

/* ---- the file ---- */

static mfpg_status write_page(mfpg_context *ctx, const char *path, const json_t *page) {
    mfpg_file file;
    mfpg_status status = mfpg_file_create(ctx, path, &file);
    if (status != MFPG_OK) return status;
    status = mfpg_template_write(ctx, mfpg_embedded_find("page.html")->bytes, page, file.stream);
    if (status == MFPG_OK) return mfpg_file_commit(ctx, &file);
    mfpg_file_abandon(&file);
    return status;
}

static mfpg_status read_sets(
    mfpg_context *ctx, const char *const *runs, ptrdiff_t count, run_set *sets, ptrdiff_t *read) {
    mfpg_status status = MFPG_OK;
    for (*read = 0; *read < count && status == MFPG_OK; ++*read) {
        status = run_set_read(ctx, runs[*read], &sets[*read]);
        if (status != MFPG_OK) return status;
    }
    return run_sets_label(ctx, sets, count);
}

static mfpg_status write_report(
    mfpg_context *ctx, const run_set *sets, ptrdiff_t count, const char *folder, char **path) {
    json_t *page = view_page(ctx, sets, count);
    char *name = mfpg_path_join(folder, "report.html"), *figures = mfpg_path_join(folder, "figures");
    mfpg_status status = page && name && figures && add_hashes(page) ? MFPG_OK : mfpg_fail_memory(ctx);
    if (status == MFPG_OK && folder[0]) status = mfpg_folder_create(ctx, folder);
    if (status == MFPG_OK) status = figures_write(ctx, page, figures);
    if (status == MFPG_OK) status = write_page(ctx, name, page);
    json_decref(page);
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
    if (!folder && count == 1) {
        mfpg_status safe = check_links(ctx, runs[0]);
        if (safe != MFPG_OK) return safe;
    }
    if (!folder) folder = count == 1 ? runs[0] : "";
    run_set *sets = mfpg_alloc(count, sizeof *sets);
    ptrdiff_t read = 0;
    mfpg_status status = sets ? read_sets(ctx, runs, count, sets, &read) : mfpg_fail_memory(ctx);
    if (status == MFPG_OK) status = write_report(ctx, sets, count, folder, path);
    for (ptrdiff_t i = 0; i < read; i++) run_set_clear(&sets[i]);
    free(sets);
    return status;
}
