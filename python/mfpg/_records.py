"""Records that are clipped and noised once (particles data)."""

from __future__ import annotations

import math

from mfpg._answer import Account, make_answer
from mfpg._call import Context, InputError, text
from mfpg._interface import ffi, lib
from mfpg._options import DELTA, Chosen, or_else
from mfpg._schedule import Handle

ASSUMED_OF_RECORDS = (
    "every record is noised once, before anything else reads it; what is computed from the noised records is free",
    "labels are public: not protected; so is how many records there are",
)


def price_records(ctx: Context, chosen: Chosen) -> Account:
    """Records that are clipped and noised once."""
    if chosen.adjacency in ("add", "remove"):
        raise InputError("adjacency add and remove do not go with particles data: how many records there are is public; "
                         "take zero-out or replace")
    if chosen.unit == "client" and chosen.sensitivity is None:
        raise InputError("unit client: the n records of a client move by up to sqrt(n) clips together (2 sqrt(n) for "
                         "replace); give that as sensitivity")
    name = str(chosen.accountant or "data-particles")
    known = lib.mfpg_accountant_particles(Handle(ctx, name, ffi.NULL).pointer)
    if known != lib.MFPG_PARTICLES_DATA:
        raise InputError(f"accountant {name} knows {text(lib.mfpg_particles_name(known))} only, not particles data")
    mu, contraction = push_mu(chosen)
    epsilon, delta, answer = gdp_pair(chosen, mu)
    lower = 0.0 if chosen.strength is not None else answer if math.isinf(answer) else answer * (1 - 1e-9)
    return make_answer(
        Account, mu=mu, epsilon=epsilon, delta=delta, certificate=True, assumptions=assume_records(chosen), lower=lower,
        upper=answer, accountant=name, adjacency=None if chosen.sensitivity is not None else chosen.adjacency or "zero-out",
        unit=chosen.unit or "example", view="final" if chosen.exogenous else "local", particles="data",
        contraction=contraction)


def push_mu(chosen: Chosen) -> tuple[float, float]:
    """mu of the push, and what its first map multiplies distances by."""
    clip, doubled = or_else(chosen.clip, 1), 2 if chosen.adjacency == "replace" else 1
    distance, contraction = or_else(chosen.sensitivity, doubled * clip), 1.0
    if chosen.strength is None:
        sd = or_else(chosen.noise_multiplier, 1) * (clip if chosen.sensitivity is None else 1)
    else:
        step, decay = or_else(chosen.step, 0.1), chosen.strength / or_else(chosen.prior_variance, 1)
        penalty, bound = or_else(chosen.variance_penalty, 0.01), or_else(chosen.input_smoothness, 0)
        if not step * (decay + penalty + bound) <= 2:
            raise InputError("the flow is unstable: step times (strength/prior_variance + variance_penalty + "
                             f"input_smoothness) is {step * (decay + penalty + bound):g}; allowed: up to 2")
        contraction = lib.mfpg_flow_contraction(step, decay, penalty, bound)
        sd = math.sqrt(2 * chosen.strength * step)
        if sd > 0:
            sd = math.nextafter(math.nextafter(sd, 0), 0)  # rounded down
    steps = int(or_else(chosen.steps, 1))
    if steps == 0:
        return 0.0, contraction  # nothing is released
    if chosen.exogenous:
        return float(lib.mfpg_data_exogenous_mu(distance, sd, contraction, steps)), contraction
    release = ffi.new("mfpg_release *", {
        "particles": lib.MFPG_PARTICLES_DATA, "steps": 1, "sensitivity": distance, "noise_sd": sd, "last_sd": sd,
        "weight": 1, "contraction": contraction, "sampling_rate": 1})
    return float(lib.mfpg_data_release_mu(release, lib.MFPG_ADJACENCY_ZERO_OUT)), contraction  # replace: in distance


def gdp_pair(chosen: Chosen, mu: float) -> tuple[float, float, float]:
    """epsilon, delta, and the one of them that was asked for."""
    if chosen.epsilon is not None:
        answer = float(lib.mfpg_gdp_delta(mu, chosen.epsilon))
        return chosen.epsilon, answer, answer
    delta = or_else(chosen.delta, DELTA)
    answer = float(lib.mfpg_gdp_epsilon(mu, delta))
    return answer, delta, answer


def assume_records(chosen: Chosen) -> list[str]:
    lines = ["Gaussian noise is ideal up to floating-point rounding", *ASSUMED_OF_RECORDS]
    if chosen.sensitivity is None:
        lines.append(f"the features of every record are clipped to norm {or_else(chosen.clip, 1):g}")
    else:
        lines.append(f"two neighbours differ by at most the sensitivity {chosen.sensitivity:g} that was given")
    if chosen.strength is None:
        return lines
    where = "every model" if chosen.exogenous else "the public first model"
    lines.append("the loss is convex in the features, with a Hessian of at most "
                 f"{or_else(chosen.input_smoothness, 0):g} in them, at {where}")
    if chosen.exogenous:
        lines.append("exogenous: only the last state is seen, and the models are public, or trained on other people's "
                     "data only and bounded so that the contraction holds at every step")
    return lines
