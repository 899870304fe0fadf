/* Reading a ledger, line by line and in constant memory. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "accountants/accounting.h"

#include "base/error.h"
#include "base/release_parts.h"
#include "chain.h"
#include "format.h"

typedef struct line_reader {
    const char *path;
    FILE *stream;
    int64_t number;      /* of the current line, from 1 */
    int64_t offset;      /* of its first byte */
    size_t length;       /* without the line end */
    mfpg_ledger_end end; /* of the lines that were accepted */
    int version;
    char text[MFPG_LEDGER_LONGEST];
} line_reader;

typedef enum line_kind { LINE_COMPLETE, LINE_UNFINISHED, LINE_NONE } line_kind;

static mfpg_status next_line(mfpg_context *ctx, line_reader *reader, line_kind *kind) {
    if (reader->number > 0) reader->offset += (int64_t)reader->length + 1;
    reader->number++;
    reader->length = 0;
    int byte;
    while ((byte = getc_unlocked(reader->stream)) != EOF && byte != '\n') {
        if (reader->length == MFPG_LEDGER_LONGEST)
            return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%lld: the line is longer than %d bytes", reader->path,
                (long long)reader->number, MFPG_LEDGER_LONGEST);
        reader->text[reader->length++] = (char)byte;
    }
    if (byte == EOF && ferror(reader->stream))
        return mfpg_fail(ctx, MFPG_ERR_IO, "%s: cannot read: %s", reader->path, strerror(errno));
    *kind = byte == '\n' ? LINE_COMPLETE : reader->length > 0 ? LINE_UNFINISHED : LINE_NONE;
    return MFPG_OK;
}

static mfpg_status fail_line(mfpg_context *ctx, const line_reader *reader, const char *what) {
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%lld: %s", reader->path, (long long)reader->number, what);
}

static mfpg_status fail_key(
    mfpg_context *ctx, const line_reader *reader, const char *key, const char *wanted) {
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%lld: \"%s\" must be %s", reader->path,
        (long long)reader->number, key, wanted);
}

/* The object that the text holds in front of its chain: {...,"chain":"VALUE"} is read as {...}. */
static json_t *load(line_reader *reader, json_error_t *error) {
    if (!mfpg_ledger_is_sealed(reader->text, reader->length))
        return json_loadb(reader->text, reader->length, JSON_REJECT_DUPLICATES, error);
    size_t length = reader->length - MFPG_LEDGER_SEAL;
    char *last = &reader->text[length - 1], comma = *last;
    *last = '}';
    json_t *line = json_loadb(reader->text, length, JSON_REJECT_DUPLICATES, error);
    *last = comma;
    return line;
}

/* The line as an object; *out is to be given back with json_decref. */
static mfpg_status parse_line(mfpg_context *ctx, line_reader *reader, json_t **out) {
    json_error_t error;
    json_t *line = load(reader, &error);
    /* Jansson has words for every fault of the text; where it fails without any, memory ran out. */
    if (!line && (json_error_code(&error) == json_error_out_of_memory || !error.text[0]))
        return mfpg_fail_memory(ctx);
    if (!line)
        return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s:%lld: is no line of a ledger: %s", reader->path,
            (long long)reader->number, error.text);
    if (!json_is_object(line)) {
        json_decref(line);
        return fail_line(ctx, reader, "is no JSON object");
    }
    *out = line;
    return MFPG_OK;
}

static mfpg_status get_integer(
    mfpg_context *ctx, const line_reader *reader, const json_t *line, const char *key, int64_t *out) {
    const json_t *value = json_object_get(line, key);
    if (!json_is_integer(value)) return fail_key(ctx, reader, key, "a whole number");
    *out = json_integer_value(value);
    return MFPG_OK;
}

static mfpg_status get_number(
    mfpg_context *ctx, const line_reader *reader, const json_t *line, const char *key, double *out) {
    const json_t *value = json_object_get(line, key);
    if (!json_is_number(value)) return fail_key(ctx, reader, key, "a number");
    *out = json_number_value(value);
    return MFPG_OK;
}

/* The index below count whose name the key holds. */
static mfpg_status get_name(mfpg_context *ctx, const line_reader *reader, const json_t *line, const char *key,
    const char *const *names, int count, int *out) {
    const char *word = json_string_value(json_object_get(line, key));
    for (int i = 0; word && i < count; i++) {
        if (strcmp(word, names[i]) != 0) continue;
        *out = i;
        return MFPG_OK;
    }
    char wanted[128];
    size_t used = (size_t)snprintf(wanted, sizeof wanted, "one of");
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(wanted + used, sizeof wanted - used, " \"%s\"", names[i]);
    return fail_key(ctx, reader, key, wanted);
}

static mfpg_status get_particles(
    mfpg_context *ctx, const line_reader *reader, const json_t *line, mfpg_particles *out) {
    const char *const names[] = {
        mfpg_particles_name(MFPG_PARTICLES_PARAMETERS), mfpg_particles_name(MFPG_PARTICLES_DATA)};
    int particles = 0;
    mfpg_status status = get_name(ctx, reader, line, "particles", names, 2, &particles);
    if (status == MFPG_OK) *out = (mfpg_particles)particles;
    return status;
}

/* What the line says it protects must be what the header says, and the line must be made accordingly. */
static mfpg_status get_kind(mfpg_context *ctx, const line_reader *reader, const json_t *line,
    mfpg_particles expected, mfpg_release *out) {
    mfpg_status status = get_particles(ctx, reader, line, &out->particles);
    if (status != MFPG_OK) return status;
    if (out->particles != expected)
        return mfpg_fail(ctx, MFPG_ERR_INPUT,
            "%s:%lld: particles are %s, those of the ledger's first line %s", reader->path,
            (long long)reader->number, mfpg_particles_name(out->particles), mfpg_particles_name(expected));
    if (expected == MFPG_PARTICLES_DATA)
        return get_number(ctx, reader, line, "contraction", &out->contraction);
    if (json_object_get(line, "contraction"))
        return fail_line(ctx, reader, "particles are parameters, which know no \"contraction\"");
    out->contraction = 1.0;
    return MFPG_OK;
}

static mfpg_status get_promise(
    mfpg_context *ctx, const line_reader *reader, const json_t *line, mfpg_promise *out) {
    const char *const units[] = {mfpg_unit_name(MFPG_UNIT_CLIENT), mfpg_unit_name(MFPG_UNIT_EXAMPLE)};
    const char *const adjacencies[] = {
        mfpg_adjacency_name(MFPG_ADJACENCY_ZERO_OUT), mfpg_adjacency_name(MFPG_ADJACENCY_REPLACE)};
    const char *const views[] = {
        mfpg_view_name(MFPG_VIEW_LOCAL), mfpg_view_name(MFPG_VIEW_AVERAGE), mfpg_view_name(MFPG_VIEW_FINAL)};
    int unit = 0, adjacency = 0, view = 0;
    mfpg_status status = get_name(ctx, reader, line, "unit", units, 2, &unit);
    if (status == MFPG_OK) status = get_name(ctx, reader, line, "adjacency", adjacencies, 2, &adjacency);
    if (status == MFPG_OK) status = get_name(ctx, reader, line, "view", views, 3, &view);
    if (status == MFPG_OK) *out = (mfpg_promise){(mfpg_unit)unit, (mfpg_adjacency)adjacency, (mfpg_view)view};
    return status;
}

static mfpg_status check_version(mfpg_context *ctx, line_reader *reader, const json_t *line) {
    const json_t *value = json_object_get(line, "mfpg_ledger");
    if (!json_is_integer(value)) return fail_line(ctx, reader, "is no ledger's first line");
    json_int_t version = json_integer_value(value);
    reader->version = (int)version;
    if (version >= MFPG_LEDGER_OLDEST && version <= MFPG_LEDGER_VERSION) return MFPG_OK;
    if (version < MFPG_LEDGER_OLDEST)
        return fail_line(ctx, reader,
            "is of a ledger version without a chain: changes to it cannot be seen, and it is not read");
    return fail_line(ctx, reader, "is of a ledger version that this program does not know");
}

static mfpg_status check_chain(mfpg_context *ctx, line_reader *reader) {
    if (!mfpg_ledger_is_sealed(reader->text, reader->length))
        return fail_line(ctx, reader, "does not end with the key \"chain\" and its 64 digits");
    if (!mfpg_ledger_follows(reader->text, reader->length, reader->end.chain))
        return fail_line(ctx, reader,
            reader->number == 1 ? "the chain does not hold: this line was changed"
                                : "the chain does not hold: this line was changed, or a line was removed, "
                                  "inserted or moved in front of it");
    reader->end.lines++;
    return MFPG_OK;
}

/* stop_at_epsilon and filter, or null twice. */
static mfpg_status get_budget(
    mfpg_context *ctx, const line_reader *reader, const json_t *line, mfpg_ledger_header *out) {
    const char *const names[] = {mfpg_filter_word(MFPG_FILTER_ACCOUNTANT), mfpg_filter_word(MFPG_FILTER_GDP),
        mfpg_filter_word(MFPG_FILTER_ZCDP)};
    int filter = MFPG_FILTER_ACCOUNTANT;
    if (reader->version == MFPG_LEDGER_OLDEST) return MFPG_OK;
    if (json_is_null(json_object_get(line, "stop_at_epsilon")))
        return json_is_null(json_object_get(line, "filter"))
                   ? MFPG_OK
                   : fail_key(ctx, reader, "filter", "null if \"stop_at_epsilon\" is");
    mfpg_status status = get_number(ctx, reader, line, "stop_at_epsilon", &out->stop_at_epsilon);
    if (status == MFPG_OK && !(out->stop_at_epsilon > 0.0))
        status = fail_key(ctx, reader, "stop_at_epsilon", "null or a number above 0");
    if (status == MFPG_OK) status = get_name(ctx, reader, line, "filter", names, 3, &filter);
    if (status == MFPG_OK) out->filter = (mfpg_filter_kind)filter;
    return status;
}

static mfpg_status read_header(
    mfpg_context *ctx, const line_reader *reader, const json_t *line, mfpg_ledger_header *out) {
    mfpg_ledger_header header = {0};
    const json_t *seeded = json_object_get(line, "seeded");
    mfpg_status status = get_particles(ctx, reader, line, &header.particles);
    if (status == MFPG_OK) status = get_integer(ctx, reader, line, "clients", &header.clients);
    if (status == MFPG_OK) status = get_promise(ctx, reader, line, &header.promise);
    if (status == MFPG_OK) status = get_number(ctx, reader, line, "delta", &header.delta);
    if (status == MFPG_OK) status = get_budget(ctx, reader, line, &header);
    if (status == MFPG_OK && !json_is_boolean(seeded))
        status = fail_key(ctx, reader, "seeded", "true or false");
    if (status != MFPG_OK) return status;
    header.seeded = json_is_true(seeded);
    const char *fault = mfpg_ledger_header_fault(&header);
    if (fault) return fail_line(ctx, reader, fault);
    *out = header;
    return MFPG_OK;
}

static mfpg_status get_action(
    mfpg_context *ctx, const line_reader *reader, const json_t *line, mfpg_action *out) {
    const json_t *action = json_object_get(line, "action");
    mfpg_action read = {.control = MFPG_CONTROL_NONE};
    *out = read;
    if (json_is_null(action)) return MFPG_OK;
    if (json_object_size(action) != 1) /* 0 for what is no object */
        return fail_key(ctx, reader, "action", "null or name one budget, strength or multiplier");
    if (json_object_get(action, "budget")) {
        out->control = MFPG_CONTROL_BUDGET;
        return get_number(ctx, reader, action, "budget", &out->budget.value);
    }
    if (json_object_get(action, "strength")) {
        out->control = MFPG_CONTROL_STRENGTH;
        return get_number(ctx, reader, action, "strength", &out->strength.value);
    }
    out->control = MFPG_CONTROL_MULTIPLIER;
    return get_number(ctx, reader, action, "multiplier", &out->multiplier);
}

static mfpg_status get_range(
    mfpg_context *ctx, const line_reader *reader, const json_t *line, mfpg_ledger_entry *entry) {
    const json_t *range = json_object_get(line, "clients");
    const json_t *first = json_array_get(range, 0), *last = json_array_get(range, 1);
    if (json_array_size(range) != 2 || !json_is_integer(first) || !json_is_integer(last))
        return fail_key(ctx, reader, "clients", "[first, last]");
    entry->release.client = json_integer_value(first);
    entry->last_client = json_integer_value(last);
    return MFPG_OK;
}

/* What a promise's releases were clipped at before lines said so. */
static mfpg_clipped usual_clip(const mfpg_ledger_header *header, const mfpg_release *release) {
    if (mfpg_release_is_choice(release)) return MFPG_CLIPPED_MEASUREMENTS;
    if (header->particles == MFPG_PARTICLES_DATA) return MFPG_CLIPPED_RECORDS;
    return header->promise.unit == MFPG_UNIT_EXAMPLE ? MFPG_CLIPPED_EXAMPLES : MFPG_CLIPPED_UPDATE;
}

/* What was clipped; the rest of the release is read. */
static mfpg_status get_clipped(mfpg_context *ctx, const line_reader *reader, const json_t *line,
    const mfpg_ledger_header *header, mfpg_release *out) {
    const char *const names[] = {mfpg_clipped_name(MFPG_CLIPPED_UPDATE),
        mfpg_clipped_name(MFPG_CLIPPED_EXAMPLES), mfpg_clipped_name(MFPG_CLIPPED_RECORDS),
        mfpg_clipped_name(MFPG_CLIPPED_MEASUREMENTS)};
    int clipped = 0;
    out->unit = header->promise.unit;
    out->clipped = usual_clip(header, out);
    if (reader->version == MFPG_LEDGER_OLDEST) return MFPG_OK;
    mfpg_status status = get_name(ctx, reader, line, "clipped", names, 4, &clipped);
    if (status == MFPG_OK) out->clipped = (mfpg_clipped)clipped;
    return status;
}

/* The numbers that a line of its version has. */
static mfpg_status get_numbers(
    mfpg_context *ctx, const line_reader *reader, const json_t *line, mfpg_release *out) {
    int places = MFPG_LEDGER_ALWAYS | (reader->version == MFPG_LEDGER_OLDEST ? 0 : MFPG_LEDGER_LATELY);
    mfpg_status status = MFPG_OK;
    for (ptrdiff_t i = 0; i < mfpg_ledger_fields.count && status == MFPG_OK; i++) {
        const mfpg_record_field *field = &mfpg_ledger_fields.field[i];
        void *at = (char *)out + field->offset;
        if (field->places & places)
            status = field->kind == MFPG_FIELD_COUNT ? get_integer(ctx, reader, line, field->name, at)
                                                     : get_number(ctx, reader, line, field->name, at);
    }
    return status;
}

static mfpg_status read_release(mfpg_context *ctx, const line_reader *reader, const json_t *line,
    const mfpg_ledger_header *header, mfpg_ledger_entry *entry) {
    mfpg_release *release = &entry->release;
    int64_t earlier = release->round;
    mfpg_status status = get_integer(ctx, reader, line, "round", &release->round);
    if (status == MFPG_OK) status = get_range(ctx, reader, line, entry);
    if (status == MFPG_OK) status = get_kind(ctx, reader, line, header->particles, release);
    if (status == MFPG_OK) status = get_numbers(ctx, reader, line, release);
    if (status == MFPG_OK) status = get_action(ctx, reader, line, &release->action);
    if (status == MFPG_OK) status = get_clipped(ctx, reader, line, header, release);
    if (status != MFPG_OK) return status;
    const char *fault = mfpg_ledger_release_fault(&header->promise, release);
    if (!fault && (entry->last_client < release->client || entry->last_client >= header->clients))
        fault = "the range of clients is empty or exceeds the header's number of clients";
    if (!fault && release->round < earlier) fault = "an earlier round than the one before";
    entry->offset = reader->offset;
    return fault ? fail_line(ctx, reader, fault) : MFPG_OK;
}

/* One complete line, from its text to what it says. */
static mfpg_status take_line(
    mfpg_context *ctx, line_reader *reader, mfpg_ledger_header *header, mfpg_ledger_entry *entry) {
    json_t *line = NULL;
    mfpg_status status = parse_line(ctx, reader, &line);
    if (status == MFPG_OK && reader->number == 1) status = check_version(ctx, reader, line);
    entry->before = reader->end;
    if (status == MFPG_OK) status = check_chain(ctx, reader);
    if (status == MFPG_OK)
        status = reader->number == 1 ? read_header(ctx, reader, line, header)
                                     : read_release(ctx, reader, line, header, entry);
    json_decref(line);
    return status;
}

/* A crash leaves the beginning of a line, never a line with other bytes behind it. */
static mfpg_status end_unfinished(mfpg_context *ctx, const line_reader *reader) {
    if (mfpg_ledger_is_sealed(reader->text, reader->length - 1))
        return fail_line(ctx, reader, "a byte stands in the place of the line end");
    mfpg_warn(
        ctx, "%s:%lld: the last line is unfinished and is ignored", reader->path, (long long)reader->number);
    return MFPG_OK;
}

static mfpg_status scan_lines(mfpg_context *ctx, line_reader *reader, mfpg_ledger_header *header,
    mfpg_status (*visit)(void *user, const mfpg_ledger_entry *entry), void *user) {
    mfpg_ledger_entry entry = {0};
    for (;;) {
        line_kind kind;
        mfpg_status status = next_line(ctx, reader, &kind);
        if (status != MFPG_OK) return status;
        if (kind != LINE_COMPLETE && reader->number == 1)
            return fail_line(ctx, reader, "no complete first line: this is no ledger");
        if (kind == LINE_UNFINISHED) return end_unfinished(ctx, reader);
        if (kind == LINE_NONE) return MFPG_OK;
        status = take_line(ctx, reader, header, &entry);
        if (status == MFPG_OK && reader->number > 1 && visit) status = visit(user, &entry);
        if (status != MFPG_OK) return status;
    }
}

/* A stream of its own from the first byte on; the writer of the descriptor uses no offset that is shared. */
static FILE *open_again(int descriptor) {
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return NULL;
    FILE *stream = lseek(copy, 0, SEEK_SET) == 0 ? fdopen(copy, "rb") : NULL;
    if (!stream) close(copy);
    return stream;
}

mfpg_status mfpg_ledger_scan(mfpg_context *ctx, const char *path, int descriptor, mfpg_ledger_header *header,
    mfpg_status (*visit)(void *user, const mfpg_ledger_entry *entry), void *user,
    mfpg_ledger_extent *extent) {
    line_reader reader = {
        .path = path, .stream = descriptor < 0 ? fopen(path, "rb") : open_again(descriptor)};
    if (!reader.stream) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s", path, strerror(errno));
    mfpg_status status = scan_lines(ctx, &reader, header, visit, user);
    fclose(reader.stream);
    if (status == MFPG_OK)
        *extent =
            (mfpg_ledger_extent){.version = reader.version, .complete = reader.offset, .end = reader.end};
    return status;
}

typedef struct visitor {
    mfpg_status (*visit)(void *user, const mfpg_release *release, int64_t first_client, int64_t last_client);
    void *user;
} visitor;

static mfpg_status hand_on(void *user, const mfpg_ledger_entry *entry) {
    const visitor *to = user;
    return to->visit(to->user, &entry->release, entry->release.client, entry->last_client);
}

mfpg_status mfpg_ledger_read(mfpg_context *ctx, const char *path, mfpg_ledger_header *header,
    mfpg_status (*visit)(void *user, const mfpg_release *release, int64_t first_client, int64_t last_client),
    void *user, mfpg_ledger_end *end) {
    visitor to = {.visit = visit, .user = user};
    mfpg_ledger_header unwanted;
    mfpg_ledger_extent found;
    mfpg_status status =
        mfpg_ledger_scan(ctx, path, -1, header ? header : &unwanted, visit ? hand_on : NULL, &to, &found);
    if (status == MFPG_OK && end) *end = found.end;
    return status;
}
