/* The forward equation alone, with coefficients that stay. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "check.h"
#include "flow.h"

static mfpg_status check(mfpg_context *ctx, const mfpg_pde_flow *flow, const double *density) {
    mfpg_status status = mfpg_pde_check_grid(ctx, flow->low, flow->high, flow->nodes, flow->horizon);
    if (status != MFPG_OK) return status;
    if (flow->steps < 1 || flow->steps > 10000000)
        return mfpg_pde_refuse(ctx, "the number of steps of time", (double)flow->steps, "1 to 1e7");
    if (flow->scheme != MFPG_PDE_HYBRID && flow->scheme != MFPG_PDE_UPWIND)
        return mfpg_pde_refuse(ctx, "the scheme", (double)flow->scheme, "hybrid or upwind");
    if (flow->form != MFPG_PDE_ADJOINT && flow->form != MFPG_PDE_PAPER)
        return mfpg_pde_refuse(ctx, "the form", (double)flow->form, "adjoint or paper");
    for (ptrdiff_t i = 0; i < flow->nodes; i++) {
        if (!isfinite(flow->drift[i])) return mfpg_pde_refuse(ctx, "a drift", flow->drift[i], "a number");
        if (!(flow->control[i] >= 0.0 && isfinite(flow->control[i])))
            return mfpg_pde_refuse(ctx, "a control", flow->control[i], "a number from 0 on");
        if (!(density[i] >= 0.0 && isfinite(density[i])))
            return mfpg_pde_refuse(ctx, "a density", density[i], "a number from 0 on");
    }
    return MFPG_OK;
}

static void fill_chain(const mfpg_pde_flow *flow, double dt, double h, mfpg_chain *chain) {
    for (ptrdiff_t i = 0; i < chain->n; i++) {
        mfpg_rates rates = mfpg_generator_rates(flow->scheme, h, 1.0 / h, flow->drift[i], flow->control[i]);
        chain->up[i] = dt * rates.up;
        chain->down[i] = dt * rates.down;
    }
    chain->up[chain->n - 1] = 0.0;
    chain->down[0] = 0.0;
}

mfpg_status mfpg_pde_forward(mfpg_context *ctx, const mfpg_pde_flow *flow, double *density) {
    mfpg_status status = check(ctx, flow, density);
    if (status != MFPG_OK) return status;
    ptrdiff_t n = flow->nodes;
    double *block = mfpg_alloc(n, 6 * sizeof *block);
    if (!block) return mfpg_fail_memory(ctx);
    double h = (flow->high - flow->low) / (double)(n - 1), dt = flow->horizon / (double)flow->steps;
    mfpg_chain chain = {.n = n, .up = block, .down = block + n, .pivot = block + 2 * n};
    double *further[4] = {block + 3 * n, block + 4 * n}, *p = block + 5 * n;
    memcpy(p, density, (size_t)n * sizeof *p);
    fill_chain(flow, dt, h, &chain);
    if (flow->form == MFPG_PDE_ADJOINT) mfpg_chain_factor(&chain);
    for (ptrdiff_t step = 0; step < flow->steps; step++) {
        if (flow->form == MFPG_PDE_ADJOINT)
            mfpg_chain_solve_transposed(&chain, p);
        else
            mfpg_flow_printed_step(&chain, dt / (h * h), flow->control, further, p);
    }
    for (ptrdiff_t i = 0; i < n && status == MFPG_OK; i++)
        if (!isfinite(p[i]))
            status = mfpg_fail(ctx, MFPG_ERR_NUMERIC,
                "forward equation: the density at node %td is no number after %td steps", i, flow->steps);
    if (status == MFPG_OK) memcpy(density, p, (size_t)n * sizeof *p);
    free(block);
    return status;
}
