"""The entropic flow where nothing but its last state is seen (view final, assume)."""

from __future__ import annotations

import math
from typing import Any

from mfpg._answer import Account, make_answer
from mfpg._call import Context
from mfpg._interface import ffi, lib
from mfpg._options import HIDDEN_CASES, Chosen, or_else
from mfpg._records import gdp_pair
from mfpg._schedule import Handle


def clipping_of(chosen: Chosen) -> int:
    """A sensitivity that is given may be that of a gradient that is never clipped."""
    unclipped = chosen.sensitivity is not None and (
        chosen.assume == "quadratic" or or_else(chosen.strong_convexity, 0) > 0)
    if unclipped:
        return int(lib.MFPG_CLIPPING_NONE)
    return int(lib.MFPG_CLIPPING_EXAMPLE if chosen.assume == "glm" else lib.MFPG_CLIPPING_VECTOR)


def price_hidden(ctx: Context, chosen: Chosen) -> Account:
    """The entropic flow where nothing but its last state is seen."""
    assert chosen.strength is not None and chosen.smoothness is not None
    step, doubled = or_else(chosen.step, 0.1), 2 if chosen.adjacency == "replace" else 1
    hidden = ffi.new("mfpg_hidden_step *")
    hidden.shift = or_else(chosen.sensitivity, doubled * or_else(chosen.clip, 1))
    hidden.noise_sd = lib.mfpg_strength_noise(chosen.strength, step)
    hidden.times = int(or_else(chosen.steps, 1))
    assumption = ffi.new("mfpg_hidden_assumption *", {
        "kind": HIDDEN_CASES.index(str(chosen.assume)), "strong_convexity": or_else(chosen.strong_convexity, 0),
        "smoothness": chosen.smoothness, "clipping": clipping_of(chosen),
        "projection_radius": or_else(chosen.projection_radius, math.inf)})
    c = ffi.new("double *")
    ctx.check(lib.mfpg_hidden_contraction(
        ctx.pointer, assumption, step, chosen.strength / or_else(chosen.prior_variance, 1),
        or_else(chosen.variance_penalty, 0.01), int(min(or_else(chosen.dimension, 5), 1e9)), c))
    hidden.contraction = c[0]
    mu = hidden_mu(ctx, chosen, hidden)
    epsilon, delta, answer = gdp_pair(chosen, mu)
    return make_answer(Account, mu=mu, epsilon=epsilon, delta=delta, certificate=True,
                       assumptions=assume_hidden(chosen), lower=0.0, upper=answer, accountant="hidden-state",
                       adjacency=chosen.adjacency_name(), unit=chosen.unit or "client", view="final",
                       contraction=float(c[0]))


def hidden_mu(ctx: Context, chosen: Chosen, hidden: Any) -> float:
    if hidden.times == 0:
        return 0.0  # nothing is released
    options = ffi.new("mfpg_accountant_options *", lib.mfpg_accountant_options_default())
    options.promise.view = lib.MFPG_VIEW_FINAL  # replace is in the shift
    accountant = Handle(ctx, "hidden-state", options)
    release = ffi.new("mfpg_release *", {
        "steps": 1, "sensitivity": hidden.shift, "noise_sd": hidden.noise_sd, "last_sd": hidden.noise_sd, "weight": 1,
        "sampling_rate": 1, "hidden_contraction": hidden.contraction, "hidden_shift": hidden.shift})
    ctx.check(lib.mfpg_accountant_record_times(ctx.pointer, accountant.pointer, release, hidden.times))
    mu = float(lib.mfpg_accountant_mu(accountant.pointer))
    if chosen.projection_radius is None:
        return mu
    bounded = ffi.new("double *", math.inf)
    diameter = math.nextafter(2 * chosen.projection_radius / or_else(chosen.step, 0.1), math.inf)
    ctx.check(lib.mfpg_hidden_bounded_mu(ctx.pointer, hidden, diameter, bounded))
    return min(mu, float(bounded[0]))


def assume_hidden(chosen: Chosen) -> list[str]:
    lines = ["whoever this is promised to sees the last state only: no state, loss, metric or action before it",
             "Gaussian noise is ideal and states are real numbers, up to floating-point rounding",
             "the start is public; strength, step and number of steps are fixed in advance; no momentum and no Sinkhorn "
             "map"]
    if chosen.sensitivity is not None:
        lines.append(f"gradients of neighbours differ by at most the sensitivity {chosen.sensitivity:g} that was given")
    else:
        lines.append(f"every contribution is clipped to norm {or_else(chosen.clip, 1):g}, flattened")
    if chosen.adjacency_name() not in (None, "replace"):
        lines.append("whoever is left out still adds its noise; weights and row counts are public")
    lines += assume_case(chosen)
    if chosen.projection_radius is not None:
        lines.append(f"every state is projected onto a public ball of radius {chosen.projection_radius:g}, on which no "
                     "gradient of any data set exceeds the clip")
    if or_else(chosen.sampling_rate, 1) < 1:
        lines.append(f"sampling rate {chosen.sampling_rate:g} is not credited: the worst sequence of batches is "
                     "certified")
    return lines


def assume_case(chosen: Chosen) -> list[str]:
    low, high = or_else(chosen.strong_convexity, 0), or_else(chosen.smoothness, math.nan)
    everyone = "for every data set and minibatch, a public bound"
    unclipped = clipping_of(chosen) == lib.MFPG_CLIPPING_NONE
    if chosen.assume == "quadratic":
        lines = [f"the loss's Hessian lies between {low:g} and {high:g}, {everyone}" + (
            "; no gradient is clipped, and for two data sets the gradients differ by at most the sensitivity"
            if unclipped else "")]
        if not unclipped and chosen.projection_radius is None:
            lines.append("a clipped vector gradient need not be monotone, so the contraction is that of case convex; "
                         "--sensitivity is for gradients that are not clipped")
        return lines
    if chosen.assume == "glm":
        return ["a generalised linear model: every example's loss is convex in one scalar margin, its gradient is "
                f"clipped by itself, and the mean of their Hessians is at most {high:g}, {everyone}"]
    if chosen.assume == "convex":
        return [f"the loss is convex with a Hessian of at most {high:g}, {everyone}"]
    return [f"the loss's Hessian has a norm of at most {high:g}, {everyone}"]
