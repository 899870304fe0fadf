#include "mfpg/status.h"

const char *mfpg_status_text(mfpg_status status) {
    switch (status) {
    case MFPG_OK: return "done";
    case MFPG_ERR_INPUT: return "the input is wrong";
    case MFPG_ERR_DOMAIN: return "a number is out of range";
    case MFPG_ERR_IO: return "reading or writing failed";
    case MFPG_ERR_MEMORY: return "out of memory";
    case MFPG_ERR_NUMERIC: return "the computation left the range of its numbers";
    case MFPG_ERR_INTERRUPTED: return "interrupted";
    }
    return "unknown status";
}
