/* The version and what the library was built with. The build passes MFPG_BUILD_COMPILER and MFPG_BUILD_KIND. */
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

static const char *compiler(void) {
    return MFPG_BUILD_COMPILER;
}

static const char *kind(void) {
    return MFPG_BUILD_KIND;
}

#define TEXT_OF(number)      #number
#define TEXT_OF_MACRO(macro) TEXT_OF(macro)

static const char *threads(void) {
    return "OpenMP " TEXT_OF_MACRO(_OPENMP);
}

static const char *registers(void) {
    switch (mfpg_widest_registers()) {
    case MFPG_REGISTERS_PLAIN: return "those of every processor";
    case MFPG_REGISTERS_AVX2: return "AVX2";
    case MFPG_REGISTERS_AVX512: return "AVX-512";
    }
    return "";
}

static const struct fact {
    const char *name;
    const char *(*value)(void);
} facts[] = {
    {"compiler", compiler},
    {"build", kind},
    {"threads", threads},
    {"registers", registers},
    {"libsodium", sodium_version_string},
    {"libyaml", yaml_get_version_string},
    {"jansson", jansson_version_str},
    {"zlib", zlibVersion},
};

enum { FACTS = sizeof facts / sizeof facts[0] };

const char *mfpg_build_name(ptrdiff_t index) {
    return index >= 0 && index < FACTS ? facts[index].name : NULL;
}

const char *mfpg_build_value(ptrdiff_t index) {
    return index >= 0 && index < FACTS ? facts[index].value() : NULL;
}
