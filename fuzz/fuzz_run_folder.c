/* A run folder of which one file is of any bytes: rounds.csv, clients.csv, summary.json or config.yaml, by the first byte, or
 * audit.json if that is an 'a'. It is read and made into a page in memory. */
#include "fuzz.h"

#include "report/page.h"

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
static const char audit[] = "audit.json"; /* is there only if it is the one */

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
static void check_page(const run_group *group) {
    mfpg_context *ctx = fuzz_context();
    static const char script[] = "<script type=\"application/json\" id=\"report.json\">";
    char *html = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&html, &size);
    json_t *report = page_json(ctx, group, 1);
    if (!stream || !report) abort();
    mfpg_status status = page_write(ctx, report, stream);
    fclose(stream);
    json_decref(report);
    fuzz_expect(status == MFPG_OK, "the page cannot be written");
    char *json = strstr(html, script), *end = json ? strstr(json, "</script>") : NULL;
    fuzz_expect(end != NULL, "the page has lost its report.json");
    *json = *end = 0; /* before it is markup with the run's texts */
    json += strlen(script);
    fuzz_expect(!strpbrk(json, "<>&"), "markup in report.json");
    report = json_loads(json, 0, NULL);
    fuzz_expect(report != NULL, "report.json cannot be read");
    json_decref(report);
    fuzz_expect(count(html, "<script") == 0 && count(html, "<svg") == 0 &&
                    count(html, "<img") == count(html, "<img src=\"data:image/png;base64,iVBORw0KGgo"),
        "markup of a text");
    free(html);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static int begun;
    mfpg_context *ctx = fuzz_context();
    run_group group = {0};
    if (!begun++) atexit(remove_files);
    if (size == 0) return 0;
    for (int i = 0; i < FILES; i++) put(files[i].name, files[i].text, strlen(files[i].text));
    take_away(audit);
    put(data[0] == 'a' ? audit : files[data[0] % FILES].name, data + 1, size - 1);
    const char *run = folder();
    mfpg_status status = run_groups_read(ctx, &run, 1, &group);
    fuzz_expect(status == MFPG_OK || status == MFPG_ERR_INPUT || status == MFPG_ERR_DOMAIN,
        "a failure of another kind");
    if (status == MFPG_OK)
        check_page(&group);
    else
        fuzz_expect(mfpg_context_message(ctx)[0] != 0, "a refusal without words");
    run_groups_clear(&group, 1);
    return 0;
}
