#include "npy_header.h"

#include <string.h>

enum { PREAMBLE = 10, HEADER = 118 }; /* three sizes of 19 digits fit */

void mfpg_npy_write_header(FILE *stream, const char *type, const ptrdiff_t *shape, int rank) {
    char header[HEADER + 1];
    int used = snprintf(header, HEADER, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (int i = 0; i < rank; i++)
        used += snprintf(header + used, (size_t)(HEADER - used), "%s%td%s", i ? " " : "", shape[i],
            i + 1 < rank || rank == 1 ? "," : "");
    used += snprintf(header + used, (size_t)(HEADER - used), "), }");
    memset(header + used, ' ', (size_t)(HEADER - used));
    header[HEADER - 1] = '\n';
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, PREAMBLE, stream);
    fwrite(header, 1, HEADER, stream);
}
