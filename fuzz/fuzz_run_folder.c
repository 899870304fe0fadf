/* A run folder of which one file is of any bytes: rounds.csv, clients.csv, summary.json or config.yaml, by the first byte, or
 * audit.json where that is an 'a'. It is read and made into a page in memory. */
#include "fuzz.h"

#include "base/file.h"
#include "report/template.h"
#include "report/view.h"

#define ROUNDS                                                                                               \
    "round,loss,accuracy,mean_action,noise_to_signal,epsilon,paper_epsilon,paper_delta,metrics\n"            \
    "1,0.5,0.75,1,2,0.5,1,0.5,x\n2,0.25,,1,2,inf,1,0.33,x\n"
#define CLIENTS                                                                                              \
    "client,preference,action,mu,epsilon,delta,unit,adjacency,view,accountant,rounds,paper_epsilon,paper_"   \
    "delta,"                                                                                                 \
    "steps,sampling_rate\n0,0.5,1,0.25,0.5,1e-05,example,zero-out,local,gdp,2,1,0.5,2,1\n"                   \
    "1,1.5,2,,inf,1e-05,example,zero-out,local,gdp,2,1,0.5,2,1\n"
#define SUMMARY                                                                                              \
    "{\"mfpg\":\"0\",\"name\":\"n\",\"status\":\"complete\",\"method\":{\"name\":\"mfpg\",\"mechanism\":"    \
    "\"entropic\",\"players\":\"mean-field\"},\"seeded\":true,\"rounds\":2,\"rounds_planned\":2,"            \
    "\"promise\":{"                                                                                          \
    "\"unit\":\"example\",\"adjacency\":\"zero-out\",\"view\":\"local\",\"delta\":1e-05,\"accountant\":"     \
    "\"gdp\"},"                                                                                              \
    "\"clients\":[{\"name\":\"a\",\"promise\":\"p\"},{\"name\":\"b\",\"promise\":\"q\"}],\"game\":{"         \
    "\"cost\":\"entropic\",\"mean_action\":1.5,\"exploitability\":{\"max\":0,\"mean\":0},\"warnings\":[]},"  \
    "\"assumptions\":[\"x\"]}"
#define CONFIG "name: n\nseed: 1\nmethod: mfpg\ndata: {format: synthetic}\n"

static const struct {
    const char *name, *text;
} files[] = {
    {"rounds.csv", ROUNDS}, {"clients.csv", CLIENTS}, {"summary.json", SUMMARY}, {"config.yaml", CONFIG}};
enum { FILES = sizeof files / sizeof files[0] };
static const char audit[] = "audit.json"; /* there only where it is the one */

static const char *folder(void) {
    static char path[64];
    if (path[0]) return path;
    snprintf(path, sizeof path, "%s/mfpg-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(path)) abort();
    return path;
}

static void put(const char *name, const void *bytes, size_t size) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder(), name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) abort();
}

static void take_away(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder(), name);
    remove(path);
}

static void remove_files(void) {
    for (int i = 0; i < FILES; i++) take_away(files[i].name);
    take_away(audit);
    rmdir(folder());
}

static ptrdiff_t count(const char *text, const char *word) {
    ptrdiff_t found = 0;
    for (; (text = strstr(text, word)); text++) found++;
    return found;
}

/* Scripts, images and handlers on the page are its own, whatever the file holds. */
static void check_page(const run_set *set) {
    mfpg_context *ctx = fuzz_context();
    char *page = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&page, &size);
    json_t *values = view_page(ctx, set, 1);
    if (!stream || !values) abort();
    for (int i = 0; i < 3; i++)
        json_object_set_new(
            values, (const char *const[]){"style_hash", "chart_hash", "script_hash"}[i], json_string("x"));
    mfpg_status status = mfpg_template_write(ctx, mfpg_embedded_find("page.html")->bytes, values, stream);
    fclose(stream);
    json_decref(values);
    fuzz_expect(status == MFPG_OK, "the page has no place for it");
    char *scripts = strstr(page, "<script>");
    fuzz_expect(scripts != NULL, "the page has lost its scripts");
    *scripts = 0; /* what stands before is markup and the run's texts */
    fuzz_expect(count(page, "<script") == 0 && count(page, "<svg") == 0 &&
                    count(page, "<img") == count(page, "<img src=\"data:image/png;base64,iVBORw0KGgo"),
        "markup of a text");
    free(page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int begun;
    mfpg_context *ctx = fuzz_context();
    run_set set = {0};
    if (!begun++) atexit(remove_files);
    if (size == 0) return 0;
    for (int i = 0; i < FILES; i++) put(files[i].name, files[i].text, strlen(files[i].text));
    take_away(audit);
    put(data[0] == 'a' ? audit : files[data[0] % FILES].name, data + 1, size - 1);
    mfpg_status status = run_set_read(ctx, folder(), &set);
    if (status == MFPG_OK) status = run_sets_label(ctx, &set, 1);
    fuzz_expect(status == MFPG_OK || status == MFPG_ERR_INPUT || status == MFPG_ERR_DOMAIN,
        "a failure of another kind");
    if (status == MFPG_OK)
        check_page(&set);
    else
        fuzz_expect(mfpg_context_message(ctx)[0] != 0, "a refusal without words");
    run_set_clear(&set);
    return 0;
}
