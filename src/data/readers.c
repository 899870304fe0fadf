#include "readers.h"

#include <string.h>

#include "base/names.h"

#define ENTRY(name) extern const mfpg_reader_ops mfpg_reader_##name;
#include "readers.def"
#undef ENTRY

static const mfpg_reader_ops *const readers[] = {
#define ENTRY(name) &mfpg_reader_##name,
#include "readers.def"
#undef ENTRY
};

enum { READERS = sizeof readers / sizeof readers[0] };

const char *mfpg_reader_name(ptrdiff_t index) {
    return index >= 0 && index < READERS ? readers[index]->name : NULL;
}

const char *mfpg_reader_help(ptrdiff_t index) {
    return index >= 0 && index < READERS ? readers[index]->help : NULL;
}

mfpg_status mfpg_reader_find(mfpg_context *ctx, const char *name, const mfpg_reader_ops **out) {
    const char *names[READERS + 1];
    for (ptrdiff_t i = 0; i < READERS; i++) {
        if (strcmp(readers[i]->name, name) == 0) {
            *out = readers[i];
            return MFPG_OK;
        }
        names[i] = readers[i]->name;
    }
    names[READERS] = "synthetic";
    return mfpg_names_unknown(ctx, "data.format", name, names, READERS + 1);
}

const mfpg_reader_ops *mfpg_reader_recognise(const unsigned char *head, size_t length) {
    for (ptrdiff_t i = 0; i < READERS; i++)
        if (readers[i]->sniff(head, length)) return readers[i];
    return NULL;
}
