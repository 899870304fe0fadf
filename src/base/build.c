/* The version and the build information. The build defines MFPG_BUILD_COMPILER and MFPG_BUILD_KIND. */
#include <jansson.h>
#include <omp.h>
#include <sodium.h>
#include <yaml.h>
#include <zlib.h>

#include "mfpg/version.h"

#include "base/wide.h"

const char *mfpg_version(void) {
    return MFPG_VERSION;
}

#define TEXT_OF(number)      #number
#define TEXT_OF_MACRO(macro) TEXT_OF(macro)

static const char *registers(void) {
    static const char *const NAMES[] = {[MFPG_REGISTERS_PLAIN] = "those of every processor",
        [MFPG_REGISTERS_AVX2] = "AVX2",
        [MFPG_REGISTERS_AVX512] = "AVX-512"};
    return NAMES[mfpg_widest_registers()];
}

/* A fact is a text, or a function that returns it. */
static const struct fact {
    const char *name, *text;
    const char *(*find)(void);
} FACTS[] = {
    {"compiler", MFPG_BUILD_COMPILER, NULL},
    {"build", MFPG_BUILD_KIND, NULL},
    {"threads", "OpenMP " TEXT_OF_MACRO(_OPENMP), NULL},
    {"registers", NULL, registers},
    {"libsodium", NULL, sodium_version_string},
    {"libyaml", NULL, yaml_get_version_string},
    {"jansson", NULL, jansson_version_str},
    {"zlib", NULL, zlibVersion},
};

enum { FACT_COUNT = sizeof FACTS / sizeof FACTS[0] };

const char *mfpg_build_name(ptrdiff_t index) {
    return index >= 0 && index < FACT_COUNT ? FACTS[index].name : NULL;
}

const char *mfpg_build_value(ptrdiff_t index) {
    if (index < 0 || index >= FACT_COUNT) return NULL;
    return FACTS[index].find ? FACTS[index].find() : FACTS[index].text;
}
