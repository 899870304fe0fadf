"""A schedule as releases, and its price."""

from __future__ import annotations

import math
from typing import Any

from mfpg._answer import Account, make_answer
from mfpg._call import Context, InputError
from mfpg._interface import ffi, lib
from mfpg._options import ADJACENCIES, DELTA, VIEWS, Block, Chosen, or_else


class Schedule:
    """The releases that were asked for; one may hold a number that is to be found."""

    def __init__(self, chosen: Chosen) -> None:
        self.releases: list[dict[str, Any]] = []
        self.unknown = -1
        self.solve = lib.MFPG_SOLVE_NOISE
        self.rate = 1.0
        self.several_rates = bool(chosen.blocks)
        if chosen.blocks:
            for block in chosen.blocks:
                self._add_block(chosen, block)
        else:
            self._add_steps(chosen)

    def _add(self, sensitivity: float, sd: float, rate: float, steps: float, unknown: bool) -> None:
        self.rate = min(self.rate, rate)
        if (steps == 0 or rate == 0) and not unknown:
            return  # nothing is released
        if unknown:
            self.unknown = len(self.releases)
        self.releases.append({"steps": int(steps), "sensitivity": sensitivity, "noise_sd": sd, "last_sd": sd, "weight": 1,
                              "sampling_rate": rate, "action": {"control": lib.MFPG_CONTROL_NONE}})

    def _add_block(self, chosen: Chosen, block: Block) -> None:
        solves = (lib.MFPG_SOLVE_RATE, lib.MFPG_SOLVE_NOISE, lib.MFPG_SOLVE_STEPS)
        fields = (block.rate, block.noise, block.steps)
        rate, noise, steps = (1.0 if value is None else value for value in fields)
        if None in fields:
            self.solve = solves[fields.index(None)]
        self._add(or_else(chosen.sensitivity, 1), noise, rate, steps, None in fields)
        if block.rate is None:
            self.rate = 0.0

    def _add_steps(self, chosen: Chosen) -> None:
        steps, unknown = or_else(chosen.steps, 1), chosen.solve is not None
        if unknown:
            self.solve = {"rate": lib.MFPG_SOLVE_RATE, "steps": lib.MFPG_SOLVE_STEPS}.get(
                str(chosen.solve), lib.MFPG_SOLVE_STRENGTH if chosen.entropic else lib.MFPG_SOLVE_NOISE)
        rate = or_else(chosen.sampling_rate, 1)
        if chosen.entropic:
            strength = or_else(chosen.strength, 1)
            sd = lib.mfpg_strength_noise(strength, or_else(chosen.step, 0.1))
            self._add(or_else(chosen.sensitivity, or_else(chosen.clip, 1)), sd, rate, steps, unknown)
            if self.releases and strength > 0:
                self.releases[0]["action"] = {"control": lib.MFPG_CONTROL_STRENGTH, "strength": {"value": strength}}
        elif chosen.mu is not None:
            self._add(chosen.mu, 1, 1, steps, False)
        else:
            self._add(or_else(chosen.sensitivity, 1), or_else(chosen.noise_multiplier, 1), rate, steps, unknown)
        if chosen.solve == "rate":
            self.rate = 0.0


# ---- accountants ----


def accountant_options(chosen: Chosen) -> Any:
    """The options of the accountant that prices a schedule, and what has to live as long."""
    made = ffi.new("mfpg_accountant_options *", lib.mfpg_accountant_options_default())
    made.promise.unit = lib.MFPG_UNIT_EXAMPLE  # whatever the sampling rate draws
    made.promise.view = VIEWS.index(chosen.view or "local")
    made.promise.adjacency = ADJACENCIES[chosen.adjacency or "zero-out"]
    made.width = or_else(chosen.width, made.width)
    paper = made.paper
    paper.dimension = or_else(chosen.dimension, paper.dimension)
    paper.clients = or_else(chosen.population, paper.clients)
    if chosen.prior_variance is not None:
        paper.alpha = 1 / chosen.prior_variance
    paper.variance_penalty = or_else(chosen.variance_penalty, paper.variance_penalty)
    paper.gradient_norm = or_else(chosen.gradient_norm, paper.gradient_norm)
    paper.step = or_else(chosen.step, paper.step)
    orders = ffi.new("double[]", chosen.order)
    if chosen.order:
        made.orders, made.order_count = orders, len(chosen.order)
    return made, orders


def accountant_name(chosen: Chosen, sampled: bool) -> str:
    if chosen.accountant is not None:
        return str(chosen.accountant)
    if chosen.order:
        return "rdp"
    return "exact" if sampled or chosen.width is not None else "gdp"


def credits_sampling(name: str) -> bool:
    return name not in ("gdp", "hidden-state")


class Handle:
    """An accountant of the library, freed with its context."""

    def __init__(self, ctx: Context, name: str, options: Any) -> None:
        out = ffi.new("mfpg_accountant **")
        ctx.check(lib.mfpg_accountant_create(ctx.pointer, name.encode(), options, out))
        self.pointer = ffi.gc(out[0], lib.mfpg_accountant_destroy)
        self.certifies = bool(lib.mfpg_accountant_certifies(self.pointer))


# ---- the price ----


def assume_schedule(chosen: Chosen, schedule: Schedule, accountant: str, unit: str, view: str) -> list[str]:
    """What holds for a schedule."""
    lines = ["Gaussian noise is ideal up to floating-point rounding",
             "noise and number of steps are fixed in advance, or public"]
    if view != "local":
        lines.append(f"view {view}: charged as if every step were seen"
                     + ("; --assume says what the steps in between forget" if view == "final" else ""))
    lines += assume_contribution(chosen)
    if schedule.rate < 1 and credits_sampling(accountant):
        lines.append(f"Poisson sampling: every {unit} takes part in a step by a coin of its own, with the sampling rate"
                     f"{' of the block' if schedule.several_rates else ' given'}, and whether it did stays hidden")
    elif schedule.rate < 1:
        lines.append(f"sampling rate {schedule.rate:g} is not credited: accounted as if everything took part in every "
                     "step")
    return lines


def assume_contribution(chosen: Chosen) -> list[str]:
    if chosen.sensitivity is not None:
        lines = [f"a release moves by at most the sensitivity {chosen.sensitivity:g} that was given"]
    elif chosen.mu is not None:
        lines = [f"every step is Gaussian-DP with the mu {chosen.mu:g} that was given"]
    else:
        lines = [f"every contribution is clipped to norm {or_else(chosen.clip, 1):g}, flattened"]
    if chosen.adjacency_name() not in (None, "replace"):
        lines.append("whoever is left out still adds its noise; weights and row counts are public")
    return lines


def price_schedule(ctx: Context, chosen: Chosen) -> Account:
    schedule = Schedule(chosen)
    sampled = schedule.rate < 1
    name = accountant_name(chosen, sampled)
    options, keep = accountant_options(chosen)
    accountant = Handle(ctx, name, options)
    wants_delta = chosen.epsilon is not None
    if name == "paper_rdp" and wants_delta:
        raise InputError("paper_rdp has no delta of its own; give delta")
    for release in schedule.releases:
        ctx.check(lib.mfpg_accountant_record(ctx.pointer, accountant.pointer, ffi.new("mfpg_release *", release)))
    epsilon, delta, lower, upper = ask(ctx, chosen, accountant, name)
    del keep
    unit = "example" if (chosen.example if chosen.unit else sampled) else "client"
    view = chosen.view or "local"
    if accountant.certifies and view != "local":
        lower = 0.0  # of the steps, if each were seen; what that view hides may be worth more
    lines = ["the paper's formula, for reproduction only: it bounds nothing"]
    if accountant.certifies:
        lines = assume_schedule(chosen, schedule, name, unit, view)
    unit_width = upper if wants_delta else max(1.0, upper)
    if name == "exact" and math.isfinite(upper) and upper - lower > options.width * unit_width:
        lines.append("(the truth may lie below: the two ends are further apart than the width "
                     f"{options.width:g} asked for)")
    mu = rdp = math.nan
    if accountant.certifies and not chosen.order:
        mu = lib.mfpg_accountant_mu(accountant.pointer)
    if len(chosen.order) == 1:
        rdp = lib.mfpg_accountant_renyi(accountant.pointer, chosen.order[0])
    return make_answer(Account, mu=mu, epsilon=epsilon, delta=delta, certificate=accountant.certifies,
                       assumptions=lines, rdp=rdp, lower=lower, upper=upper, accountant=name,
                       adjacency=chosen.adjacency_name(), unit=unit, view=view)


def ask(ctx: Context, chosen: Chosen, accountant: Handle, name: str) -> tuple[float, float, float, float]:
    """epsilon, delta and the ends of the one that is asked for."""
    asked = chosen.epsilon if chosen.epsilon is not None else or_else(chosen.delta, DELTA)
    kind = "delta" if chosen.epsilon is not None else "epsilon"
    lower = upper = math.nan
    if accountant.certifies:
        ends = ffi.new("mfpg_bounds *")
        get = lib.mfpg_accountant_delta_bounds if kind == "delta" else lib.mfpg_accountant_epsilon_bounds
        ctx.check(get(ctx.pointer, accountant.pointer, asked, ends))
        answer, lower, upper = ends.upper, ends.lower, ends.upper
    else:
        answer = ask_once(ctx, accountant, kind, asked)
    if kind == "delta":
        return asked, answer, lower, upper
    if name == "paper_lsi":  # the paper's pair
        return answer, ask_once(ctx, accountant, "delta", answer), lower, upper
    return answer, asked, lower, upper


def ask_once(ctx: Context, accountant: Handle, kind: str, asked: float) -> float:
    out = ffi.new("double *")
    get = lib.mfpg_accountant_delta if kind == "delta" else lib.mfpg_accountant_epsilon
    ctx.check(get(ctx.pointer, accountant.pointer, asked, out))
    return float(out[0])
