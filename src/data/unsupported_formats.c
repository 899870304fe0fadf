/* Recognises files that no reader accepts, and says how to convert them. */
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "readers.h"

enum { SHORT = 4 };

#define PANDAS(reader) "convert it in Python: pandas.read_" reader "('FILE').to_csv('FILE.csv', index=False)"
#define MATRIX(open, x, y)                                                                                   \
    "convert it in Python: f = " open "; numpy.savez('FILE.npz', X=f['X']" x ", y=f['y']" y ")"
#define PICTURES "put all pictures into one array: numpy.savez('FILE.npz', X=pixels, y=labels)"
#define UTF_16   "save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE > FILE.csv"
#define R_DATA   "save it in R: write.csv(DATA, 'FILE.csv', row.names = FALSE)"

/* Formats with fixed bytes at a fixed offset. The advice uses programs that users of the format have. */
#define BYTES(place, bytes) place, sizeof(bytes) - 1, bytes
static const struct magic {
    size_t place, length;
    const char *bytes;
    mfpg_unsupported format;
} magics[] = {
    {BYTES(0, "MATLAB 5.0 MAT-file"), {"a MATLAB file", MATRIX("scipy.io.loadmat('FILE.mat')", "", "")}},
    {BYTES(0, "MATLAB 7.3 MAT-file"),
        {"a MATLAB 7.3 file (HDF5)", MATRIX("h5py.File('FILE.mat')", "[:].T", "[:].T")}},
    {BYTES(0, "\x89HDF\r\n\x1a\n"), {"an HDF5 file", MATRIX("h5py.File('FILE.h5')", "[:]", "[:]")}},
    {BYTES(0, "PAR1"), {"a Parquet file", PANDAS("parquet")}},
    {BYTES(0, "ARROW1"), {"an Arrow (Feather) file", PANDAS("feather")}},
    {BYTES(0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), {"an old Office file (Excel, perhaps)", "save it as CSV"}},
    {BYTES(0, "SQLite format 3"),
        {"an SQLite database", "export a table: sqlite3 -header -csv FILE 'select * from TABLE' > FILE.csv"}},
    {BYTES(0, "RDX"), {"an R data file", R_DATA}},
    {BYTES(0, "RDA"), {"an R data file", R_DATA}},
    {BYTES(0, "BZh"), {"a file compressed by bzip2", "unpack it: bunzip2 FILE"}},
    {BYTES(0, "\xFD\x37zXZ"), {"a file compressed by xz", "unpack it: unxz FILE"}},
    {BYTES(0, "\x28\xB5\x2F\xFD"), {"a file compressed by Zstandard", "unpack it: unzstd FILE"}},
    {BYTES(0, "7z\xBC\xAF\x27\x1C"), {"a 7z archive", "unpack it"}},
    {BYTES(0, "Rar!\x1a\x07"), {"a RAR archive", "unpack it"}},
    {BYTES(257, "ustar"), {"a tar archive", "unpack it: tar xf FILE"}},
    {BYTES(0, "$FL2"), {"an SPSS file", PANDAS("spss")}},
    {BYTES(0, "<stata_dta>"), {"a Stata file", PANDAS("stata")}},
    {BYTES(12, "\xC2\xEA\x81\x60\xB3\x14\x11\xCF\xBD\x92\x08\x00\x09\xC7\x31\x8C\x18\x1F\x10\x11"),
        {"a SAS file", PANDAS("sas")}},
    {BYTES(0, "%PDF-"), {"a PDF document", "look for the data themselves"}},
    {BYTES(0, "\x89PNG\r\n\x1a\n"), {"a picture", PICTURES}},
    {BYTES(0, "\xFF\xD8\xFF"), {"a picture", PICTURES}},
    {BYTES(0, "\xFF\xFE"), {"text in UTF-16", UTF_16}},
    {BYTES(0, "\xFE\xFF"), {"text in UTF-16", UTF_16}},
};

static const mfpg_unsupported pickle = {"a Python pickle",
    "it may run code when it is opened; if you trust it: numpy.savez('FILE.npz', X=..., y=...)"};
static const mfpg_unsupported json = {"a JSON file", PANDAS("json")};
static const mfpg_unsupported leaf = {"a JSON file in the layout of LEAF",
    "write one CSV file a user, or one file with a column of users (data.partition.column)"};
static const mfpg_unsupported page = {
    "a web page (HTML) or XML", "the download may have failed: open it in a browser to see what it says"};
static const mfpg_unsupported arff = {"an ARFF file (Weka)",
    "convert it in Python: pandas.DataFrame(scipy.io.arff.loadarff('FILE')[0]).to_csv('FILE.csv', "
    "index=False)"};

/* Returns the first byte after blanks and a byte order mark. */
static size_t skip_to_text(const unsigned char *head, size_t length) {
    size_t at = length >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < length && strchr(" \t\r\n", head[at]) && head[at]) at++;
    return at;
}

static int begins(const unsigned char *text, size_t length, const char *word) {
    return length >= strlen(word) && strncasecmp((const char *)text, word, strlen(word)) == 0;
}

/* Text formats that the CSV reader could mistake for a table. */
static const mfpg_unsupported *recognise_text(const unsigned char *head, size_t length) {
    size_t at = skip_to_text(head, length);
    const unsigned char *text = head + at;
    length -= at;
    if (begins(text, length, "<!doctype") || begins(text, length, "<html") || begins(text, length, "<?xml"))
        return &page;
    if (begins(text, length, "@relation") ||
        (begins(text, length, "%") && memmem(text, length, "@relation", 9)) ||
        (begins(text, length, "%") && memmem(text, length, "@RELATION", 9)))
        return &arff;
    if (length < 2 || (text[0] != '{' && text[0] != '[')) return NULL;
    size_t next = 1;
    while (next < length && text[next] && strchr(" \t\r\n", text[next])) next++;
    if (next == length || !text[next] || !strchr(text[0] == '{' ? "\"}" : "[{\"", text[next])) return NULL;
    return memmem(text, length, "\"user_data\"", 11) || memmem(text, length, "\"num_samples\"", 13) ? &leaf
                                                                                                    : &json;
}

const mfpg_unsupported *mfpg_unsupported_recognise(const unsigned char *head, size_t length) {
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        const struct magic *m = &magics[i];
        if (length < m->place + m->length || memcmp(head + m->place, m->bytes, m->length) != 0) continue;
        /* Short magic bytes may also be the beginning of a text's first column name. */
        if (m->length > SHORT || !mfpg_is_text(head, length)) return &m->format;
    }
    if (length >= 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5) return &pickle;
    return recognise_text(head, length);
}

mfpg_status mfpg_unsupported_fail(mfpg_context *ctx, const char *path, const mfpg_unsupported *format) {
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: byte 0: this is %s, which is not read; %s", path, format->name,
        format->advice);
}
