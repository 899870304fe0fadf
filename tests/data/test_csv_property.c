/* Random tables, written with random quoting, separators and line ends, read back equal. */
#include "fixture.h"

#include "base/streams.h"
#include "data/readers.h"
#include "mfpg/random.h"

enum { MOST_ROWS = 12, MOST_COLUMNS = 6, MOST_LETTERS = 12 };

typedef struct source {
    mfpg_stream stream;
    uint64_t next;
} source;

static int draw(source *s, int bound) {
    return (int)mfpg_stream_below(&s->stream, s->next++, (uint64_t)bound);
}

typedef struct writer {
    char text[1 << 16];
    size_t length;
    uint32_t line;
} writer;

static void put(writer *w, const char *bytes, size_t length) {
    assert_true(w->length + length < sizeof w->text);
    memcpy(w->text + w->length, bytes, length);
    w->length += length;
}

static void put_line_end(source *s, writer *w) {
    const char *ends[] = {"\n", "\r\n", "\r"};
    const char *end = ends[draw(s, 3)];
    /* A lone CR before an LF would be one line end, not two. */
    if (w->length > 0 && w->text[w->length - 1] == '\r' && end[0] == '\n') end = "\r\n";
    put(w, end, strlen(end));
    w->line++;
}

/* A random text out of letters that hurt. */
static size_t draw_cell(source *s, char *cell) {
    const char letters[] = "a1.,;\t \"\n\r|-\xC3\xA4?";
    size_t length = (size_t)draw(s, MOST_LETTERS);
    for (size_t i = 0; i < length; i++) cell[i] = letters[draw(s, (int)sizeof letters - 1)];
    return length;
}

static int needs_quotes(const char *cell, size_t length, char separator, int first) {
    if (length == 0) return separator == ' ' || first; /* a line of one empty cell would be blank */
    if (strchr(" \t\"", cell[0]) || strchr(" \t", cell[length - 1]) || (first && cell[0] == '|')) return 1;
    for (size_t i = 0; i < length; i++)
        if (cell[i] == separator || strchr(separator == ' ' ? "\t\n\r" : "\n\r", cell[i])) return 1;
    return 0;
}

/* The lines that the cell's own line ends make. */
static uint32_t count_lines(const char *cell, size_t length) {
    uint32_t lines = 0;
    for (size_t i = 0; i < length; i++)
        lines += cell[i] == '\n' || (cell[i] == '\r' && (i + 1 == length || cell[i + 1] != '\n'));
    return lines;
}

static void put_cell(source *s, writer *w, const char *cell, size_t length, char separator, int first) {
    const char *pads[] = {"", " ", "  "};
    const char *pad = pads[draw(s, 3)];
    if (!needs_quotes(cell, length, separator, first) && draw(s, 2)) {
        put(w, cell, length);
        return;
    }
    if (!first) put(w, pad, strlen(pad));
    put(w, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        if (cell[i] == '"') put(w, "\"", 1);
        put(w, &cell[i], 1);
    }
    put(w, "\"", 1);
    put(w, pad, strlen(pad));
    w->line += count_lines(cell, length);
}

typedef struct random_table {
    ptrdiff_t rows, columns;
    char cell[MOST_ROWS][MOST_COLUMNS][MOST_LETTERS];
    size_t length[MOST_ROWS][MOST_COLUMNS];
    uint32_t line[MOST_ROWS];
} random_table;

static void write_table(source *s, random_table *t, char separator, writer *w) {
    w->length = 0;
    w->line = 1;
    t->rows = 1 + draw(s, MOST_ROWS);
    t->columns = 1 + draw(s, MOST_COLUMNS);
    if (draw(s, 2)) put(w, "\xEF\xBB\xBF", 3);
    for (ptrdiff_t i = 0; i < t->rows; i++) {
        while (draw(s, 5) == 0) put_line_end(s, w);
        if (draw(s, 8) == 0) {
            put(w, "|\"", 2);
            put_line_end(s, w);
        }
        t->line[i] = w->line;
        for (ptrdiff_t j = 0; j < t->columns; j++) {
            if (j > 0) put(w, &separator, 1);
            t->length[i][j] = draw_cell(s, t->cell[i][j]);
            put_cell(s, w, t->cell[i][j], t->length[i][j], separator, j == 0);
        }
        if (i + 1 < t->rows || draw(s, 2)) put_line_end(s, w);
    }
}

static void compare_tables(const random_table *t, const mfpg_table *read) {
    assert_int_equal(read->rows, t->rows);
    assert_int_equal(read->columns, t->columns);
    for (ptrdiff_t i = 0; i < t->rows; i++) {
        assert_int_equal(mfpg_table_line(read, i), t->line[i]);
        for (ptrdiff_t j = 0; j < t->columns; j++) {
            mfpg_slice cell = mfpg_table_text(read, i, j, NULL);
            assert_int_equal(cell.length, t->length[i][j]);
            assert_memory_equal(cell.at, t->cell[i][j], cell.length);
        }
    }
}

static void test_random_tables_read_back_equal(void **state) {
    (void)state;
    static writer w;
    static random_table t;
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    const mfpg_reader_ops *csv = NULL;
    CHECK_OK(fixture_ctx, mfpg_reader_find(fixture_ctx, "csv", &csv));
    print_message("seed %llu\n", (unsigned long long)testing_seed());
    int repeats = testing_repeats(500);
    for (int r = 0; r < repeats; r++) {
        source s = {.stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 1, (uint64_t)r)};
        mfpg_data_options options = mfpg_data_options_default();
        mfpg_table read = {0};
        options.header = 0;
        options.separator = ",;\t "[draw(&s, 4)];
        write_table(&s, &t, options.separator, &w);
        write_bytes("random.csv", w.text, w.length);
        char path[1024];
        snprintf(path, sizeof path, "%s/random.csv", fixture_folder);
        CHECK_OK(fixture_ctx, csv->read(fixture_ctx, path, &options, &read));
        compare_tables(&t, &read);
        mfpg_table_clear(&read);
    }
}

/* Any bytes at all end in a table or in an error with a message, never in a crash. */
static void test_random_bytes_never_crash(void **state) {
    (void)state;
    mfpg_key key = mfpg_key_from_seed(testing_seed());
    const mfpg_reader_ops *csv = NULL;
    CHECK_OK(fixture_ctx, mfpg_reader_find(fixture_ctx, "csv", &csv));
    int repeats = testing_repeats(500);
    for (int r = 0; r < repeats; r++) {
        source s = {.stream = mfpg_stream_open(&key, MFPG_PURPOSE_TEST, 2, (uint64_t)r)};
        char text[200], path[1024];
        size_t length = (size_t)draw(&s, sizeof text);
        for (size_t i = 0; i < length; i++) text[i] = "ab1,;\t \"\n\r|\xFF"[draw(&s, 12)];
        mfpg_data_options options = mfpg_data_options_default();
        mfpg_table read = {0};
        options.header = draw(&s, 2);
        options.separator = ",;\t "[draw(&s, 4)];
        if (draw(&s, 2)) options.separator = 0;
        write_bytes("random.csv", text, length);
        snprintf(path, sizeof path, "%s/random.csv", fixture_folder);
        mfpg_status status = csv->read(fixture_ctx, path, &options, &read);
        if (status == MFPG_OK) {
            assert_true(read.rows > 0 && read.columns > 0);
            for (ptrdiff_t i = 0; i < read.rows * read.columns; i++)
                assert_true((size_t)read.cells[i].start + read.cells[i].length <= length);
        } else {
            assert_int_equal(status, MFPG_ERR_INPUT);
            assert_non_null(strstr(mfpg_context_message(fixture_ctx), "random.csv"));
        }
        mfpg_table_clear(&read);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_tables_read_back_equal),
        cmocka_unit_test(test_random_bytes_never_crash),
    };
    return FIXTURE_RUN(tests);
}
