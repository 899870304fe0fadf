/* Reads a ledger line by line in constant memory. */
#include "ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/error.h"
#include "base/memory.h"
#include "mfpg/secure_sum.h"

typedef struct line_reader {
    mfpg_context *ctx;
    const char *path;
    FILE *stream;
    int64_t number;      /* of the current line, from 1 */
    int64_t offset;      /* of its first byte */
    size_t length;       /* without the line end */
    mfpg_ledger_end end; /* of the lines that were accepted */
    int version;
    int64_t round; /* of the latest release */
    ledger_sums sums;
    const json_t *line; /* the current one as an object */
    /* status of the first fault; values that are read from the line afterwards must not be used */
    mfpg_status status;
    char text[MFPG_LEDGER_LONGEST];
} line_reader;

typedef enum line_kind { LINE_COMPLETE, LINE_UNFINISHED, LINE_NONE } line_kind;

static mfpg_status next_line(line_reader *reader, line_kind *kind) {
    if (reader->number > 0) reader->offset += (int64_t)reader->length + 1;
    reader->number++;
    reader->length = 0;
    int byte;
    while ((byte = getc_unlocked(reader->stream)) != EOF && byte != '\n') {
        if (reader->length == MFPG_LEDGER_LONGEST)
            return mfpg_fail(reader->ctx, MFPG_ERR_INPUT, "%s:%lld: the line is longer than %d bytes",
                reader->path, (long long)reader->number, MFPG_LEDGER_LONGEST);
        reader->text[reader->length++] = (char)byte;
    }
    if (byte == EOF && ferror(reader->stream))
        return mfpg_fail(reader->ctx, MFPG_ERR_IO, "%s: cannot read: %s", reader->path, strerror(errno));
    *kind = byte == '\n' ? LINE_COMPLETE : reader->length > 0 ? LINE_UNFINISHED : LINE_NONE;
    return MFPG_OK;
}

/* Sets the message, which is about the first fault of a line. */
static void fail_line(line_reader *reader, const char *what) {
    if (reader->status == MFPG_OK)
        reader->status = mfpg_fail(
            reader->ctx, MFPG_ERR_INPUT, "%s:%lld: %s", reader->path, (long long)reader->number, what);
}

static void fail_key(line_reader *reader, const char *key, const char *wanted) {
    char what[192];
    snprintf(what, sizeof what, "\"%s\" must be %s", key, wanted);
    fail_line(reader, what);
}

/* Loads the object without its chain: {...,"chain":"VALUE"} is read as {...}. */
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

/* Returns the line as an object, to be released with json_decref; NULL after a fault. */
static json_t *parse_line(line_reader *reader) {
    json_error_t error;
    json_t *line = load(reader, &error);
    /* Jansson has a message for every fault of the text; if it fails without a message, memory ran out. */
    if (!line && (json_error_code(&error) == json_error_out_of_memory || !error.text[0])) {
        reader->status = mfpg_fail_memory(reader->ctx);
    } else if (!line) {
        char what[sizeof error.text + 32];
        snprintf(what, sizeof what, "not a line of a ledger: %s", error.text);
        fail_line(reader, what);
    } else if (!json_is_object(line)) {
        fail_line(reader, "not a JSON object");
    }
    return line;
}

/* ---- values of keys ---- */

static int64_t integer_of(line_reader *reader, const char *key) {
    const json_t *value = json_object_get(reader->line, key);
    if (!json_is_integer(value)) fail_key(reader, key, "a whole number");
    return json_integer_value(value);
}

static double number_of(line_reader *reader, const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value)) fail_key(reader, key, "a number");
    return json_number_value(value);
}

/* Returns the index, below count, of the name that is the value of the key. */
static int name_of(line_reader *reader, const char *key, int count, const char *const *names) {
    const char *word = json_string_value(json_object_get(reader->line, key));
    for (int i = 0; word && i < count; i++)
        if (strcmp(word, names[i]) == 0) return i;
    char wanted[128];
    size_t used = (size_t)snprintf(wanted, sizeof wanted, "one of");
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(wanted + used, sizeof wanted - used, " \"%s\"", names[i]);
    fail_key(reader, key, wanted);
    return 0;
}

static mfpg_particles particles_of(line_reader *reader) {
    const char *const names[] = {
        mfpg_particles_name(MFPG_PARTICLES_PARAMETERS), mfpg_particles_name(MFPG_PARTICLES_DATA)};
    return (mfpg_particles)name_of(reader, "particles", 2, names);
}

static mfpg_promise promise_of(line_reader *reader) {
    const char *const units[] = {mfpg_unit_name(MFPG_UNIT_CLIENT), mfpg_unit_name(MFPG_UNIT_EXAMPLE)};
    const char *const adjacencies[] = {
        mfpg_adjacency_name(MFPG_ADJACENCY_ZERO_OUT), mfpg_adjacency_name(MFPG_ADJACENCY_REPLACE)};
    const char *const views[] = {
        mfpg_view_name(MFPG_VIEW_LOCAL), mfpg_view_name(MFPG_VIEW_AVERAGE), mfpg_view_name(MFPG_VIEW_FINAL)};
    mfpg_promise promise = {.unit = (mfpg_unit)name_of(reader, "unit", 2, units)};
    promise.adjacency = (mfpg_adjacency)name_of(reader, "adjacency", 2, adjacencies);
    promise.view = (mfpg_view)name_of(reader, "view", 3, views);
    return promise;
}

/* ---- the first line ---- */

static void check_version(line_reader *reader) {
    const json_t *value = json_object_get(reader->line, "mfpg_ledger");
    json_int_t version = json_integer_value(value);
    reader->version = (int)version;
    if (!json_is_integer(value))
        fail_line(reader, "not the first line of a ledger");
    else if (version < MFPG_LEDGER_OLDEST)
        fail_line(reader,
            "is of a ledger version without a chain: changes to it cannot be seen, and it is not read");
    else if (version > MFPG_LEDGER_VERSION)
        fail_line(reader, "is of a ledger version that this program does not know");
}

/* stop_at_epsilon and filter, or null twice. */
static void read_budget(line_reader *reader, mfpg_ledger_header *out) {
    const char *const names[] = {mfpg_filter_word(MFPG_FILTER_ACCOUNTANT), mfpg_filter_word(MFPG_FILTER_GDP),
        mfpg_filter_word(MFPG_FILTER_ZCDP)};
    if (reader->version == MFPG_LEDGER_OLDEST) return;
    if (json_is_null(json_object_get(reader->line, "stop_at_epsilon"))) {
        if (!json_is_null(json_object_get(reader->line, "filter")))
            fail_key(reader, "filter", "null if \"stop_at_epsilon\" is");
        return;
    }
    out->stop_at_epsilon = number_of(reader, reader->line, "stop_at_epsilon");
    if (!(out->stop_at_epsilon > 0.0)) fail_key(reader, "stop_at_epsilon", "null or a number above 0");
    out->filter = (mfpg_filter_kind)name_of(reader, "filter", 3, names);
}

static void read_header(line_reader *reader, mfpg_ledger_header *out) {
    const json_t *seeded = json_object_get(reader->line, "seeded");
    mfpg_ledger_header header = {.particles = particles_of(reader)};
    header.clients = integer_of(reader, "clients");
    header.promise = promise_of(reader);
    header.delta = number_of(reader, reader->line, "delta");
    read_budget(reader, &header);
    if (reader->version == MFPG_LEDGER_VERSION) {
        header.secure_sum = json_is_true(json_object_get(reader->line, "secure_sum"));
        if (!header.secure_sum) fail_key(reader, "secure_sum", "true");
    }
    if (!json_is_boolean(seeded)) fail_key(reader, "seeded", "true or false");
    header.seeded = json_is_true(seeded);
    const char *fault = mfpg_ledger_header_fault(&header);
    if (fault) fail_line(reader, fault);
    if (reader->status == MFPG_OK) *out = header;
}

/* ---- releases ---- */

static mfpg_action action_of(line_reader *reader) {
    const json_t *object = json_object_get(reader->line, "action");
    mfpg_action action = {.control = MFPG_CONTROL_NONE};
    if (json_is_null(object)) return action;
    if (json_object_size(object) != 1) { /* 0 for values that are not an object */
        fail_key(reader, "action", "null or name one budget, strength or multiplier");
    } else if (json_object_get(object, "budget")) {
        action.control = MFPG_CONTROL_BUDGET;
        action.budget.value = number_of(reader, object, "budget");
    } else if (json_object_get(object, "strength")) {
        action.control = MFPG_CONTROL_STRENGTH;
        action.strength.value = number_of(reader, object, "strength");
    } else {
        action.control = MFPG_CONTROL_MULTIPLIER;
        action.multiplier = number_of(reader, object, "multiplier");
    }
    return action;
}

/* Reads what was noised; it must be what the header says, and the line must have the keys that belong to it. */
static void read_particles(line_reader *reader, mfpg_particles expected, mfpg_release *out) {
    out->particles = particles_of(reader);
    out->contraction = 1.0;
    if (out->particles != expected) {
        char what[96];
        snprintf(what, sizeof what, "particles are %s, those of the ledger's first line %s",
            mfpg_particles_name(out->particles), mfpg_particles_name(expected));
        fail_line(reader, what);
    } else if (expected == MFPG_PARTICLES_DATA) {
        out->contraction = number_of(reader, reader->line, "contraction");
    } else if (json_object_get(reader->line, "contraction")) {
        fail_line(reader, "particles are parameters, which know no \"contraction\"");
    }
}

/* Reads the numbers that a line of its version has. */
static void read_numbers(line_reader *reader, mfpg_release *out) {
    int places = MFPG_LEDGER_ALWAYS | (reader->version == MFPG_LEDGER_OLDEST ? 0 : MFPG_LEDGER_LATELY);
    int summed = reader->version == MFPG_LEDGER_VERSION && json_object_get(reader->line, "attempt");
    if (summed) places |= MFPG_LEDGER_SUMMED;
    for (ptrdiff_t i = 0; i < mfpg_ledger_fields.count; i++) {
        const mfpg_record_field *field = &mfpg_ledger_fields.field[i];
        void *at = (char *)out + field->offset;
        if (!(field->places & places)) {
            if (field->places == MFPG_LEDGER_SUMMED) *(int64_t *)at = 0; /* the line before may have had it */
            continue;
        }
        if (field->kind == MFPG_FIELD_COUNT)
            *(int64_t *)at = integer_of(reader, field->name);
        else
            *(double *)at = number_of(reader, reader->line, field->name);
    }
}

/* Returns what was clipped. Before version 4, lines did not state it, and it follows from the rest of the
 * release. */
static mfpg_clipped clipped_of(
    line_reader *reader, const mfpg_ledger_header *header, const mfpg_release *release) {
    const char *const names[] = {mfpg_clipped_name(MFPG_CLIPPED_UPDATE),
        mfpg_clipped_name(MFPG_CLIPPED_EXAMPLES), mfpg_clipped_name(MFPG_CLIPPED_RECORDS),
        mfpg_clipped_name(MFPG_CLIPPED_MEASUREMENTS)};
    if (reader->version > MFPG_LEDGER_OLDEST) return (mfpg_clipped)name_of(reader, "clipped", 4, names);
    if (mfpg_release_is_choice(release)) return MFPG_CLIPPED_MEASUREMENTS;
    if (header->particles == MFPG_PARTICLES_DATA) return MFPG_CLIPPED_RECORDS;
    return header->promise.unit == MFPG_UNIT_EXAMPLE ? MFPG_CLIPPED_EXAMPLES : MFPG_CLIPPED_UPDATE;
}

static void read_range(line_reader *reader, mfpg_ledger_entry *entry) {
    const json_t *range = json_object_get(reader->line, "clients");
    const json_t *first = json_array_get(range, 0), *last = json_array_get(range, 1);
    if (json_array_size(range) != 2 || !json_is_integer(first) || !json_is_integer(last))
        fail_key(reader, "clients", "[first, last]");
    entry->release.client = json_integer_value(first);
    entry->last_client = json_integer_value(last);
}

static const char *read_survivors(line_reader *reader, mfpg_ledger_entry *entry) {
    entry->survivors = integer_of(reader, "survivors");
    entry->release.attempt = integer_of(reader, "attempt");
    entry->release.last_sd = number_of(reader, reader->line, "last_sd");
    return entry->survivors > 0 ? NULL : "survivors are fewer than 1";
}

static const char *read_release(
    line_reader *reader, const mfpg_ledger_header *header, mfpg_ledger_entry *entry) {
    mfpg_release *release = &entry->release;
    entry->survivors = 0;
    read_particles(reader, header->particles, release);
    read_numbers(reader, release);
    release->action = action_of(reader);
    release->unit = header->promise.unit;
    release->clipped = clipped_of(reader, header, release);
    return mfpg_ledger_release_fault(header, release);
}

/* Reads a release or its survivors. */
static void read_entry(line_reader *reader, const mfpg_ledger_header *header, mfpg_ledger_entry *entry) {
    const mfpg_release *release = &entry->release;
    entry->release.round = integer_of(reader, "round");
    read_range(reader, entry);
    const char *fault = header->secure_sum && json_object_get(reader->line, "survivors")
                            ? read_survivors(reader, entry)
                            : read_release(reader, header, entry);
    if (!fault && (release->client < 0 || entry->last_client < release->client ||
                      entry->last_client >= header->clients))
        fault = "the range of clients is empty or exceeds the header's number of clients";
    if (!fault && entry->survivors == 0 && release->round < reader->round)
        fault = "an earlier round than the one before";
    if (entry->survivors == 0) reader->round = release->round;
    entry->offset = reader->offset;
    if (!fault && header->secure_sum && reader->status == MFPG_OK) {
        reader->status = mfpg_ledger_sums_reserve(
            reader->ctx, &reader->sums, header->clients, entry->last_client - release->client + 1);
        if (reader->status != MFPG_OK) return;
        fault = mfpg_ledger_sums_fault(&reader->sums, entry);
        if (!fault) mfpg_ledger_sums_take(&reader->sums, entry);
    }
    if (fault) fail_line(reader, fault);
}

/* ---- lines ---- */

static void check_chain(line_reader *reader) {
    if (!mfpg_ledger_is_sealed(reader->text, reader->length))
        fail_line(reader, "does not end with the key \"chain\" and its 64 digits");
    else if (!mfpg_ledger_follows(reader->text, reader->length, reader->end.chain))
        fail_line(reader, reader->number == 1 ? "the chain does not hold: this line was changed"
                                              : "the chain does not hold: this line was changed, or a line "
                                                "was removed, inserted or moved before it");
    reader->end.lines++;
}

/* Interprets the text of one complete line. */
static mfpg_status take_line(line_reader *reader, mfpg_ledger_header *header, mfpg_ledger_entry *entry) {
    json_t *line = parse_line(reader);
    reader->line = line;
    entry->before = reader->end;
    if (reader->status == MFPG_OK && reader->number == 1) check_version(reader);
    if (reader->status == MFPG_OK) check_chain(reader);
    if (reader->status == MFPG_OK && reader->number == 1)
        read_header(reader, header);
    else if (reader->status == MFPG_OK)
        read_entry(reader, header, entry);
    json_decref(line);
    return reader->status;
}

static mfpg_status scan_lines(line_reader *reader, mfpg_ledger_header *header,
    mfpg_status (*visit)(void *user, const mfpg_ledger_entry *entry), void *user) {
    mfpg_ledger_entry entry = {0};
    for (;;) {
        line_kind kind;
        mfpg_status status = next_line(reader, &kind);
        if (status != MFPG_OK) return status;
        if (kind != LINE_COMPLETE && reader->number == 1) {
            fail_line(reader, "there is no complete first line: this is not a ledger");
            return reader->status;
        }
        if (kind == LINE_NONE) return MFPG_OK;
        if (kind == LINE_UNFINISHED) break;
        status = take_line(reader, header, &entry);
        if (status == MFPG_OK && reader->number > 1 && visit) status = visit(user, &entry);
        if (status != MFPG_OK) return status;
    }
    /* A crash can leave the beginning of a line, but never a whole line with a different byte at its end. */
    if (mfpg_ledger_is_sealed(reader->text, reader->length - 1))
        fail_line(reader, "the line end was replaced by another byte");
    else
        mfpg_warn(reader->ctx, "%s:%lld: the last line is unfinished and is ignored", reader->path,
            (long long)reader->number);
    return reader->status;
}

/* Opens a separate stream that starts at the first byte; the writer of the descriptor does not use a shared
 * offset. */
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
        .ctx = ctx, .path = path, .stream = descriptor < 0 ? fopen(path, "rb") : open_again(descriptor)};
    if (!reader.stream) return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: %s", path, strerror(errno));
    mfpg_status status = scan_lines(&reader, header, visit, user);
    fclose(reader.stream);
    mfpg_ledger_sums_clear(&reader.sums);
    if (status == MFPG_OK)
        *extent =
            (mfpg_ledger_extent){.version = reader.version, .complete = reader.offset, .end = reader.end};
    return status;
}

/* Whoever reads a ledger. */
typedef struct visitor {
    mfpg_ledger_visit visit;
    void *user;
    mfpg_release *latest; /* NULL, or one per client: its latest release, which is not handed on yet */
} visitor;

static mfpg_status hand_on(void *user, const mfpg_ledger_entry *entry) {
    const visitor *to = user;
    if (entry->survivors > 0) return MFPG_OK;
    return to->visit(to->user, &entry->release, entry->release.client, entry->last_client);
}

static mfpg_status hand_on_latest(const visitor *to, int64_t client) {
    const mfpg_release *release = &to->latest[client];
    return release->steps > 0 ? to->visit(to->user, release, client, client) : MFPG_OK;
}

/* Holds the latest release of every client back until its survivors can be known. */
static mfpg_status hold(void *user, const mfpg_ledger_entry *entry) {
    const visitor *to = user;
    mfpg_status status = MFPG_OK;
    for (int64_t k = entry->release.client; k <= entry->last_client && status == MFPG_OK; k++) {
        if (entry->survivors > 0) {
            to->latest[k].last_sd = entry->release.last_sd;
            continue;
        }
        status = hand_on_latest(to, k);
        to->latest[k] = entry->release;
        to->latest[k].client = k;
    }
    return status;
}

mfpg_status mfpg_ledger_read(mfpg_context *ctx, const char *path, mfpg_ledger_header *header,
    mfpg_ledger_visit visit, void *user, mfpg_ledger_end *end) {
    visitor to = {.visit = visit, .user = user};
    mfpg_ledger_header unwanted;
    mfpg_ledger_extent found;
    mfpg_status status =
        mfpg_ledger_scan(ctx, path, -1, header ? header : &unwanted, visit ? hand_on : NULL, &to, &found);
    if (status == MFPG_OK && end) *end = found.end;
    return status;
}

mfpg_status mfpg_ledger_read_survived(mfpg_context *ctx, const char *path, mfpg_ledger_header *header,
    mfpg_ledger_visit visit, void *user, mfpg_ledger_end *end) {
    mfpg_ledger_header known;
    mfpg_ledger_extent found;
    mfpg_status status = mfpg_ledger_read(ctx, path, &known, NULL, NULL, NULL);
    if (status != MFPG_OK || !known.secure_sum || !visit)
        return status == MFPG_OK ? mfpg_ledger_read(ctx, path, header, visit, user, end) : status;
    visitor to = {visit, user, mfpg_alloc(MFPG_SUM_MOST, sizeof *to.latest)};
    if (!to.latest) return mfpg_fail_memory(ctx);
    status = mfpg_ledger_scan(ctx, path, -1, header ? header : &known, hold, &to, &found);
    for (int64_t k = 0; k < MFPG_SUM_MOST && status == MFPG_OK; k++) status = hand_on_latest(&to, k);
    if (status == MFPG_OK && end) *end = found.end;
    free(to.latest);
    return status;
}
