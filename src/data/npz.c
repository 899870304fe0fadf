/* NumPy archives (numpy.savez, numpy.savez_compressed): a zip of arrays, among which features and labels are chosen.
 *
 * Shape comes first: the features are the array with two or more numbers a row, the labels the one with one number for
 * each of these rows. If several have the shape, names decide: x, data, images, features or inputs, and y, labels,
 * label, targets or target, in any case, alone or with train (train_x, X_train). Arrays with test or val in their name are
 * left out; of data.test_files they are left out the other way round. Without labels the last column is the label, as in
 * an array of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "npy.h"
#include "readers.h"

enum { NAMES = 5, NONE = -1, UNDECIDED = -2 };
static const char *const feature_names[NAMES] = {"x", "data", "images", "features", "inputs"};
static const char *const label_names[NAMES] = {"y", "labels", "label", "targets", "target"};

typedef enum split { SPLIT_NONE = 0, SPLIT_TRAIN, SPLIT_TEST, SPLIT_VALIDATION } split;

/* One member that is an array. */
typedef struct candidate {
    ptrdiff_t member;
    mfpg_npy_array array;
    int usable;    /* a table can be made of it, and it belongs to the requested split */
    char stem[64]; /* its name without .npy, train and test */
    split split;
} candidate;

typedef struct archive {
    mfpg_context *ctx;
    const char *path;
    mfpg_zip zip;
    candidate *all;
    ptrdiff_t count;
} archive;

/* ---- what there is ---- */

/* Removes a word with its underscore from either end of the stem; returns 0 if it is at neither end. */
static int take_word(char *stem, const char *word) {
    size_t length = strlen(stem), size = strlen(word);
    if (length < size + 2) return 0;
    if (strncasecmp(stem, word, size) == 0 && stem[size] == '_') {
        memmove(stem, stem + size + 1, length - size);
        return 1;
    }
    if (strcasecmp(stem + length - size, word) != 0 || stem[length - size - 1] != '_') return 0;
    stem[length - size - 1] = 0;
    return 1;
}

static void read_name(candidate *c, mfpg_slice name) {
    static const struct {
        const char *word;
        split split;
    } words[] = {
        {"train", SPLIT_TRAIN}, {"test", SPLIT_TEST}, {"val", SPLIT_VALIDATION}, {"valid", SPLIT_VALIDATION}};
    size_t length = name.length - strlen(".npy");
    if (length >= sizeof c->stem) length = sizeof c->stem - 1;
    memcpy(c->stem, name.at, length);
    c->stem[length] = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0] && c->split == SPLIT_NONE; i++)
        if (take_word(c->stem, words[i].word)) c->split = words[i].split;
}

/* Marks the arrays that may be chosen: for training files all except test and validation arrays, for test
 * files the test arrays. If none remains, all arrays of the file may be chosen. */
static void mark_usable(archive *a, int test) {
    ptrdiff_t usable = 0;
    for (ptrdiff_t i = 0; i < a->count; i++) {
        candidate *c = &a->all[i];
        c->usable = !mfpg_npy_fault(&c->array) && (test ? c->split == SPLIT_TEST : c->split <= SPLIT_TRAIN);
        usable += c->usable;
    }
    for (ptrdiff_t i = 0; i < a->count && usable == 0; i++)
        a->all[i].usable = !mfpg_npy_fault(&a->all[i].array);
}

/* The headers of all members called something.npy. */
static mfpg_status read_headers(archive *a, int test) {
    mfpg_status status = MFPG_OK;
    a->all = mfpg_alloc(a->zip.members, sizeof *a->all);
    if (!a->all) return mfpg_fail_memory(a->ctx);
    for (ptrdiff_t i = 0; i < a->zip.members && status == MFPG_OK; i++) {
        mfpg_slice name = a->zip.member[i].name;
        mfpg_zip_bytes source;
        if (name.length <= 4 || memcmp(name.at + name.length - 4, ".npy", 4) != 0) continue;
        candidate *c = &a->all[a->count++];
        c->member = i;
        read_name(c, name);
        status = mfpg_zip_bytes_open(&a->zip, i, &source);
        if (status == MFPG_OK) status = mfpg_npy_read_header(&source.bytes, &c->array);
        mfpg_zip_bytes_close(&source);
    }
    mark_usable(a, test);
    return status;
}

/* ---- which of it is chosen ---- */

/* Which arrays may play a part. */
typedef struct wish {
    int wide;        /* 1: two or more numbers per row; 0: one */
    ptrdiff_t rows;  /* as many rows; 0: any */
    ptrdiff_t other; /* but not this one; NONE: all */
    const char *const *names;
} wish;

static int fits(const archive *a, ptrdiff_t index, const wish *wanted) {
    const candidate *c = &a->all[index];
    return c->usable && index != wanted->other && (c->array.columns > 1) == wanted->wide &&
           (wanted->rows == 0 || c->array.rows == wanted->rows);
}

/* Returns the index of a candidate's name among the names; NAMES if it is none of them. */
static int rank_of(const candidate *c, const char *const *names) {
    int rank = 0;
    while (rank < NAMES && strcasecmp(c->stem, names[rank]) != 0) rank++;
    return rank;
}

/* Returns the only candidate that fits or, of several, the one whose name comes first; or NONE, or
 * UNDECIDED. */
static ptrdiff_t choose(const archive *a, const wish *wanted) {
    ptrdiff_t count = 0, chosen = NONE;
    int best = NAMES;
    for (ptrdiff_t i = 0; i < a->count; i++) {
        if (!fits(a, i, wanted)) continue;
        int rank = rank_of(&a->all[i], wanted->names);
        if (count++ == 0 || rank < best)
            chosen = i;
        else if (rank == best)
            chosen = UNDECIDED; /* two candidates without a preferred name, or x and X */
        if (rank < best) best = rank;
    }
    return chosen;
}

enum { MEMBER_SHOWN = MFPG_SHOWN_SIZE + MFPG_NPY_SHOWN + 4 };

/* "x.npy" (type <f4, 100 x 5) */
static const char *show_member(const archive *a, ptrdiff_t index, char buffer[MEMBER_SHOWN]) {
    char name[MFPG_SHOWN_SIZE], array[MFPG_NPY_SHOWN];
    snprintf(buffer, MEMBER_SHOWN, "%s (%s)", mfpg_slice_show(a->zip.member[a->all[index].member].name, name),
        mfpg_npy_show(&a->all[index].array, array));
    return buffer;
}

/* All arrays, or those that fit. */
static void list_arrays(const archive *a, const wish *wanted, char *list, size_t size) {
    char shown[MEMBER_SHOWN];
    size_t used = 0;
    list[0] = 0;
    for (ptrdiff_t i = 0; i < a->count && used < size; i++)
        if (!wanted || fits(a, i, wanted))
            used += (size_t)snprintf(
                list + used, size - used, "%s%s", used ? ", " : "", show_member(a, i, shown));
    if (used >= size) strcpy(list + size - 4, "...");
}

static mfpg_status fail_none(const archive *a) {
    char list[512];
    list_arrays(a, NULL, list, sizeof list);
    if (a->count == 0)
        return mfpg_fail(a->ctx, MFPG_ERR_INPUT,
            "%s: a zip archive without a NumPy array (no member is called NAME.npy): unpack it, and name the "
            "files in it",
            a->path);
    return mfpg_fail(a->ctx, MFPG_ERR_INPUT, "%s: no array of numbers with rows; members: %s", a->path, list);
}

static mfpg_status fail_undecided(const archive *a, const wish *wanted, const char *part) {
    char list[512], names[128];
    list_arrays(a, wanted, list, sizeof list);
    snprintf(names, sizeof names, "%s, %s, %s, %s or %s", wanted->names[0], wanted->names[1],
        wanted->names[2], wanted->names[3], wanted->names[4]);
    return mfpg_fail(a->ctx, MFPG_ERR_INPUT,
        "%s: several arrays could be the %s: %s; the one called %s wins, alone or with train_ (of test files "
        "test_)",
        a->path, part, list, names);
}

/* Other vectors (weights, names) may belong to the rows, so if there is only one vector it must have a
 * label's name. */
static mfpg_status check_lost_labels(const archive *a, ptrdiff_t features) {
    char name[MFPG_SHOWN_SIZE], rows[MFPG_SHOWN_SIZE];
    for (ptrdiff_t i = 0; i < a->count; i++) {
        const candidate *c = &a->all[i];
        if (!c->usable || i == features || c->array.columns > 1 || rank_of(c, label_names) == NAMES) continue;
        return mfpg_fail(a->ctx, MFPG_ERR_INPUT, "%s: member %s: %td labels for the %td rows of %s", a->path,
            mfpg_slice_show(a->zip.member[c->member].name, name), c->array.rows, a->all[features].array.rows,
            mfpg_slice_show(a->zip.member[a->all[features].member].name, rows));
    }
    return MFPG_OK;
}

static mfpg_status choose_features(const archive *a, ptrdiff_t *features) {
    wish wanted = {.wide = 1, .other = NONE, .names = feature_names};
    *features = choose(a, &wanted);
    if (*features == NONE) {
        wanted.wide = 0; /* one feature */
        *features = choose(a, &wanted);
    }
    if (*features == UNDECIDED) return fail_undecided(a, &wanted, "features");
    return *features == NONE ? fail_none(a) : MFPG_OK;
}

static mfpg_status choose_labels(const archive *a, ptrdiff_t features, ptrdiff_t *labels) {
    wish wanted = {.other = features, .names = label_names};
    if (features != NONE) wanted.rows = a->all[features].array.rows;
    *labels = choose(a, &wanted);
    if (*labels == UNDECIDED) return fail_undecided(a, &wanted, "labels");
    if (*labels == NONE && features != NONE) return check_lost_labels(a, features);
    if (*labels == NONE) return fail_none(a);
    return MFPG_OK;
}

/* ---- reading ---- */

static mfpg_status read_array(archive *a, ptrdiff_t index, mfpg_table *table) {
    mfpg_zip_bytes source;
    mfpg_npy_array array;
    mfpg_status status = mfpg_zip_bytes_open(&a->zip, a->all[index].member, &source);
    if (status == MFPG_OK) status = mfpg_npy_read_table(&source.bytes, &array, table);
    mfpg_zip_bytes_close(&source);
    return status;
}

static void describe_choice(const archive *a, const char *part, ptrdiff_t index, mfpg_notes *notes) {
    char shown[MEMBER_SHOWN];
    size_t used = strlen(notes->about);
    snprintf(notes->about + used, sizeof notes->about - used, "%s%s %s", used ? ", " : "", part,
        show_member(a, index, shown));
}

static mfpg_status read_labels(archive *a, ptrdiff_t labels, mfpg_table *table) {
    mfpg_table apart = {0};
    mfpg_status status = MFPG_OK;
    if (!(apart.path = mfpg_text_copy(a->path, strlen(a->path)))) status = mfpg_fail_memory(a->ctx);
    if (status == MFPG_OK) status = read_array(a, labels, &apart);
    if (status == MFPG_OK) status = mfpg_table_add_label(a->ctx, table, &apart);
    mfpg_table_clear(&apart);
    return status;
}

static mfpg_status read_chosen(archive *a, mfpg_table *table) {
    ptrdiff_t features = NONE, labels = NONE;
    mfpg_status status = MFPG_OK;
    if (table->part != MFPG_PART_LABELS) status = choose_features(a, &features);
    if (status == MFPG_OK && table->part != MFPG_PART_FEATURES) status = choose_labels(a, features, &labels);
    if (status != MFPG_OK) return status;
    status = read_array(a, features != NONE ? features : labels, table);
    if (status != MFPG_OK) return status;
    if (features != NONE) describe_choice(a, "features", features, &table->notes);
    if (labels != NONE) describe_choice(a, "labels", labels, &table->notes);
    if (features != NONE && labels != NONE) return read_labels(a, labels, table);
    if (table->part == MFPG_PART_BOTH) mfpg_notes_add(&table->notes, MFPG_NOTE_LAST_IS_LABEL, 0);
    return MFPG_OK;
}

static mfpg_status read_npz(
    mfpg_context *ctx, const char *path, const mfpg_data_options *options, mfpg_table *table) {
    (void)options;
    archive a = {.ctx = ctx, .path = path};
    table->path = mfpg_text_copy(path, strlen(path));
    if (!table->path) return mfpg_fail_memory(ctx);
    mfpg_status status = mfpg_zip_open(ctx, path, &a.zip);
    if (status == MFPG_OK) status = read_headers(&a, table->test);
    if (status == MFPG_OK) status = read_chosen(&a, table);
    mfpg_zip_close(&a.zip);
    free(a.all);
    return status;
}

/* Recognises a zip archive by its magic: that of its first member, or that of an archive without members. */
static int sniff_npz(const unsigned char *head, size_t length) {
    return length >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

const mfpg_reader_ops mfpg_reader_npz = {
    .name = "npz",
    .help = "archive of numpy.savez: features by shape, then by name (x, data, images), with their labels "
            "(y, labels)",
    .arrays = 1,
    .splits = 1,
    .sniff = sniff_npz,
    .read = read_npz,
};
