/* A program of somebody else: calls that reach into the library and into what the library needs. */
#include <stdio.h>
#include <stdlib.h>

#include <mfpg/accountant.h>
#include <mfpg/context.h>
#include <mfpg/random.h>
#include <mfpg/status.h>

int main(void) {
    mfpg_context *ctx = NULL;
    if (mfpg_context_create(NULL, &ctx) != MFPG_OK) return EXIT_FAILURE;
    const mfpg_key key = mfpg_key_from_seed(1);
    const double epsilon = mfpg_gdp_epsilon(1.0, 1e-5);
    mfpg_context_destroy(ctx);
    if (!key.seeded || !(epsilon > 4.37 && epsilon < 4.39)) return EXIT_FAILURE; /* 1-GDP at 1e-5: 4.377 */
    puts(mfpg_version());
    return EXIT_SUCCESS;
}
