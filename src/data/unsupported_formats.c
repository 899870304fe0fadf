/* Files that no reader takes: what they are, and how to make a file of them that one does. */
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "readers.h"

enum { SHORT = 4 };

/* Formats with fixed bytes at a fixed place. The advice uses programs that users of the format have. */
static const struct magic {
    size_t place, length;
    const char *bytes;
    mfpg_unsupported format;
} magics[] = {
#define MAGIC(place, bytes, name, advice)                                                                    \
    {                                                                                                        \
        place, sizeof(bytes) - 1, bytes, {                                                                   \
            name, advice                                                                                     \
        }                                                                                                    \
    }
    MAGIC(0, "MATLAB 5.0 MAT-file", "a MATLAB file",
        "convert it in Python: m = scipy.io.loadmat('FILE.mat'); numpy.savez('FILE.npz', X=m['X'], "
        "y=m['y'])"),
    MAGIC(0, "MATLAB 7.3 MAT-file", "a MATLAB 7.3 file (HDF5)",
        "convert it in Python: f = h5py.File('FILE.mat'); numpy.savez('FILE.npz', X=f['X'][:].T, "
        "y=f['y'][:].T)"),
    MAGIC(0, "\x89HDF\r\n\x1a\n", "an HDF5 file",
        "convert it in Python: f = h5py.File('FILE.h5'); numpy.savez('FILE.npz', X=f['X'][:], y=f['y'][:])"),
    MAGIC(0, "PAR1", "a Parquet file",
        "convert it in Python: pandas.read_parquet('FILE').to_csv('FILE.csv', index=False)"),
    MAGIC(0, "ARROW1", "an Arrow (Feather) file",
        "convert it in Python: pandas.read_feather('FILE').to_csv('FILE.csv', index=False)"),
    MAGIC(0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an old Office file (Excel, perhaps)", "save it as CSV"),
    MAGIC(0, "SQLite format 3", "an SQLite database",
        "export a table: sqlite3 -header -csv FILE 'select * from TABLE' > FILE.csv"),
    MAGIC(0, "RDX", "an R data file", "save it in R: write.csv(DATA, 'FILE.csv', row.names = FALSE)"),
    MAGIC(0, "RDA", "an R data file", "save it in R: write.csv(DATA, 'FILE.csv', row.names = FALSE)"),
    MAGIC(0, "BZh", "a file compressed by bzip2", "unpack it: bunzip2 FILE"),
    MAGIC(0,
        "\xFD"
        "7zXZ",
        "a file compressed by xz", "unpack it: unxz FILE"),
    MAGIC(0, "\x28\xB5\x2F\xFD", "a file compressed by Zstandard", "unpack it: unzstd FILE"),
    MAGIC(0, "7z\xBC\xAF\x27\x1C", "a 7z archive", "unpack it"),
    MAGIC(0, "Rar!\x1a\x07", "a RAR archive", "unpack it"),
    MAGIC(257, "ustar", "a tar archive", "unpack it: tar xf FILE"),
    MAGIC(0, "$FL2", "an SPSS file",
        "convert it in Python: pandas.read_spss('FILE').to_csv('FILE.csv', index=False)"),
    MAGIC(0, "<stata_dta>", "a Stata file",
        "convert it in Python: pandas.read_stata('FILE').to_csv('FILE.csv', index=False)"),
    MAGIC(12, "\xC2\xEA\x81\x60\xB3\x14\x11\xCF\xBD\x92\x08\x00\x09\xC7\x31\x8C\x18\x1F\x10\x11",
        "a SAS file", "convert it in Python: pandas.read_sas('FILE').to_csv('FILE.csv', index=False)"),
    MAGIC(0, "%PDF-", "a PDF document", "look for the data themselves"),
    MAGIC(0, "\x89PNG\r\n\x1a\n", "a picture",
        "put all pictures into one array: numpy.savez('FILE.npz', X=pixels, y=labels)"),
    MAGIC(0, "\xFF\xD8\xFF", "a picture",
        "put all pictures into one array: numpy.savez('FILE.npz', X=pixels, y=labels)"),
    MAGIC(0, "\xFF\xFE", "text in UTF-16", "save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE > FILE.csv"),
    MAGIC(0, "\xFE\xFF", "text in UTF-16", "save it as UTF-8: iconv -f UTF-16 -t UTF-8 FILE > FILE.csv"),
#undef MAGIC
};

static const mfpg_unsupported pickle = {"a Python pickle",
    "it may run code when it is opened; if you trust it: numpy.savez('FILE.npz', X=..., y=...)"};
static const mfpg_unsupported json = {
    "a JSON file", "convert it in Python: pandas.read_json('FILE').to_csv('FILE.csv', index=False)"};
static const mfpg_unsupported leaf = {"a JSON file in the layout of LEAF",
    "write one CSV file a user, or one file with a column of users (data.partition.column)"};
static const mfpg_unsupported page = {
    "a web page (HTML) or XML", "the download may have failed: open it in a browser to see what it says"};
static const mfpg_unsupported arff = {"an ARFF file (Weka)",
    "convert it in Python: pandas.DataFrame(scipy.io.arff.loadarff('FILE')[0]).to_csv('FILE.csv', "
    "index=False)"};

/* The first byte after blanks and a byte order mark. */
static size_t skip_to_text(const unsigned char *head, size_t length) {
    size_t at = length >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < length && strchr(" \t\r\n", head[at]) && head[at]) at++;
    return at;
}

static int begins(const unsigned char *text, size_t length, const char *word) {
    return length >= strlen(word) && strncasecmp((const char *)text, word, strlen(word)) == 0;
}

/* Text formats that a reader of CSV could take for a table. */
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

/* A short magic in letters may be the first column's name in a text, but not before bytes that no text has. */
static int is_text(const unsigned char *head, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (head[i] < 0x20 && head[i] != '\t' && head[i] != '\n' && head[i] != '\r') return 0;
    return 1;
}

const mfpg_unsupported *mfpg_unsupported_recognise(const unsigned char *head, size_t length) {
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        const struct magic *m = &magics[i];
        if (length < m->place + m->length || memcmp(head + m->place, m->bytes, m->length) != 0) continue;
        if (m->length > SHORT || !is_text(head, length)) return &m->format;
    }
    if (length >= 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5) return &pickle;
    return recognise_text(head, length);
}

mfpg_status mfpg_unsupported_fail(mfpg_context *ctx, const char *path, const mfpg_unsupported *format) {
    return mfpg_fail(ctx, MFPG_ERR_INPUT, "%s: byte 0: this is %s, which is not read; %s", path, format->name,
        format->advice);
}
