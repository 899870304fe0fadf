#include "mfpg/config.h"

#define METHOD(identifier, name, mechanism, players, paper_accountant, help)                                 \
    {name, mechanism, MFPG_PLAYERS_##players, paper_accountant, help},

static const mfpg_method methods[] = {
#include "methods.def"
};

const mfpg_method *mfpg_method_get(ptrdiff_t index) {
    ptrdiff_t count = (ptrdiff_t)(sizeof methods / sizeof methods[0]);
    return index >= 0 && index < count ? &methods[index] : NULL;
}

const char *mfpg_method_name(ptrdiff_t index) {
    const mfpg_method *method = mfpg_method_get(index);
    return method ? method->name : NULL;
}

const char *mfpg_method_help(ptrdiff_t index) {
    const mfpg_method *method = mfpg_method_get(index);
    return method ? method->help : NULL;
}
