"""The options of account and calibrate, each checked by itself, and which of them go together."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from mfpg._call import Context, InputError, choice, listed, number, whole
from mfpg._interface import lib

DELTA = 1e-5  # where neither delta nor epsilon is given
MOST_STEPS = 2**53
MECHANISMS = ["gaussian", "entropic"]
ADJACENCIES = {"add": lib.MFPG_ADJACENCY_ADD, "remove": lib.MFPG_ADJACENCY_REMOVE,
               "zero-out": lib.MFPG_ADJACENCY_ZERO_OUT, "replace": lib.MFPG_ADJACENCY_REPLACE}
UNITS = ["client", "example"]
PARTICLES = ["parameters", "data"]
VIEWS = ["local", "average", "final"]
SOLVES = ["noise", "rate", "steps"]
HIDDEN_CASES = listed(lib.mfpg_hidden_case_name)

# What a number may be: (low, high, low left out, high left out). The names are those of the command line.
RANGES: dict[str, tuple[float, float, bool, bool]] = {
    **dict.fromkeys(["noise_multiplier", "mu", "strength", "sensitivity", "epsilon", "variance_penalty", "gradient_norm",
                     "input_smoothness", "smoothness", "strong_convexity"], (0, math.inf, False, False)),
    **dict.fromkeys(["step", "clip", "width", "prior_variance", "projection_radius"], (0, math.inf, True, False)),
    **dict.fromkeys(["dimension", "population"], (1, math.inf, False, False)),
    "sampling_rate": (0, 1, False, False),
    "delta": (0, 1, False, True),
}


class Chosen:
    """The options of one call: None where nothing was given; every one is checked by itself."""

    noise_multiplier: float | None = None
    sampling_rate: float | None = None
    steps: float | None = None
    mu: float | None = None
    strength: float | None = None
    step: float | None = None
    clip: float | None = None
    sensitivity: float | None = None
    delta: float | None = None
    epsilon: float | None = None
    width: float | None = None
    dimension: float | None = None
    population: float | None = None
    prior_variance: float | None = None
    variance_penalty: float | None = None
    gradient_norm: float | None = None
    input_smoothness: float | None = None
    smoothness: float | None = None
    strong_convexity: float | None = None
    projection_radius: float | None = None
    mechanism: str | None = None
    adjacency: str | None = None
    unit: str | None = None
    accountant: str | None = None
    particles: str | None = None
    view: str | None = None
    assume: str | None = None
    solve: str | None = None
    exogenous: bool = False

    def __init__(self, ctx: Context, given: dict[str, Any]) -> None:
        words = {"mechanism": MECHANISMS, "adjacency": list(ADJACENCIES), "unit": UNITS, "particles": PARTICLES,
                 "view": VIEWS, "assume": HIDDEN_CASES, "solve": SOLVES}
        for name, value in given.items():
            if value is None or name in ("blocks", "order", "ledger"):
                continue
            if name in RANGES:
                low, high, above, below = RANGES[name]
                value = number(name, value, low, high, above=above, below=below)
            elif name == "steps":
                value = whole(name, value, 0, MOST_STEPS)
            elif name in words:
                choice(ctx, name, value, words[name])
            setattr(self, name, value)
        orders = given.get("order")
        if isinstance(orders, (int, float)):
            orders = [orders]
        self.order = [number("order", order, 1) for order in orders] if orders is not None else []
        self.blocks = read_blocks(given.get("blocks"), "solve" in given)

    @staticmethod
    def options() -> list[str]:
        """The names of all."""
        return [*Chosen.__annotations__, "order", "blocks"]

    def has(self, name: str) -> bool:
        """True where an option was given."""
        value = getattr(self, name)
        return value is not None and value is not False and value != []

    def first(self, names: Sequence[str]) -> str | None:
        """The first of names that was given."""
        return next((name for name in names if self.has(name)), None)

    def exclude(self, owner: str, names: Sequence[str]) -> None:
        other = self.first(names)
        if other:
            raise InputError(f"{owner} and {other} exclude each other; give one")

    @property
    def entropic(self) -> bool:
        return self.strength is not None or self.mechanism == "entropic"

    @property
    def example(self) -> bool:
        """True where what the clip bounds is an example."""
        return self.unit == "example"

    def adjacency_name(self) -> str | None:
        if self.sensitivity is not None or self.mu is not None:
            return None
        return self.adjacency or "zero-out"


def or_else(value: float | None, fallback: float) -> float:
    return fallback if value is None else value


# ---- blocks ----

@dataclasses.dataclass
class Block:
    """Equal steps: sampling rate, noise sd over sensitivity, number; a number that is to be found is None."""

    rate: float | None
    noise: float | None
    steps: float | None


def read_blocks(blocks: Any, calibrating: bool) -> list[Block]:
    """Blocks as "Q:Z:T,..." or as (Q, Z, T); calibrate: "?" or None stands for what is to be found."""
    if blocks is None:
        return []
    if isinstance(blocks, str):
        blocks = [block.split(":") for block in blocks.split(",")]
    limits = ((0.0, 1.0), (0.0, math.inf), (0.0, float(MOST_STEPS)))
    read = []
    for block in blocks:
        if isinstance(block, str) or len(block) != 3:
            raise InputError(f"blocks: found {block!r}; allowed: sampling rate, noise multiplier and steps")
        numbers = [None if calibrating and value in ("?", None) else number("blocks", value, *limits[i])
                   for i, value in enumerate(block)]
        if numbers[2] is not None and numbers[2] != int(numbers[2]):
            raise InputError(f"blocks: found {numbers[2]:g} steps; allowed: a whole number from 0")
        read.append(Block(*numbers))
    unknown = sum(value is None for block in read for value in (block.rate, block.noise, block.steps))
    if calibrating and unknown != 1:
        raise InputError(f"blocks: {unknown} numbers are written '?'; one is to be found")
    return read


# ---- which options go together ----


def check_promise(chosen: Chosen) -> None:
    """What account and calibrate have in common."""
    if chosen.blocks:
        chosen.exclude("blocks", ["steps", "sampling_rate"])
    if chosen.sensitivity is not None:
        chosen.exclude("sensitivity", ["clip", "adjacency"])
    if chosen.step is not None and not chosen.entropic:
        raise InputError("step belongs to mechanism entropic")
    if chosen.order and chosen.accountant not in (None, "rdp"):
        raise InputError("order belongs to accountant rdp")
    if chosen.width is not None and (chosen.order or chosen.accountant not in (None, "exact")):
        raise InputError("width belongs to accountant exact")


def check_mechanism(chosen: Chosen) -> None:
    kinds = [name for name in ("noise_multiplier", "strength", "mu", "blocks") if chosen.has(name)]
    if not kinds:
        raise InputError("nothing to account for; give one of noise_multiplier, strength, mu, blocks, ledger")
    if len(kinds) > 1:
        raise InputError("noise_multiplier, strength, mu and blocks exclude each other; give one")
    if chosen.mechanism == "entropic" and chosen.strength is None:
        raise InputError("mechanism entropic needs strength")
    if chosen.mechanism == "gaussian" and chosen.strength is not None:
        raise InputError("strength belongs to mechanism entropic")


def check_particles(chosen: Chosen) -> None:
    if chosen.particles != "data":
        wrong = chosen.first(["input_smoothness", "exogenous"])
        if wrong:
            raise InputError(f"{wrong} belongs to particles data")
        return
    wrong = chosen.first(["sampling_rate", "mu", "width", "dimension", "population", "gradient_norm", "blocks", "order"])
    if wrong:
        raise InputError(f"{wrong} does not go with particles data, which are noised once")
    if chosen.strength is None:
        wrong = chosen.first(["exogenous", "steps", "input_smoothness", "prior_variance", "variance_penalty"])
        if wrong:
            raise InputError(f"{wrong} belongs to mechanism entropic; Gaussian noise on the records is drawn once, and "
                             "nothing that follows costs anything")


def check_hidden(chosen: Chosen) -> None:
    if chosen.particles == "data" and (chosen.view not in (None, "local") or chosen.assume not in (None, "none")):
        raise InputError("view and assume are about parameters; of noised records exogenous says that the last state "
                         "alone is seen")
    if chosen.assume in (None, "none"):
        wrong = chosen.first(["smoothness", "strong_convexity", "projection_radius"])
        if wrong:
            raise InputError(f"{wrong} belongs to assume")
        if chosen.accountant == "hidden-state":
            raise InputError("accountant hidden-state needs view final and assume")
        return
    if chosen.view != "final":
        raise InputError("assume needs view final: states that are seen are not hidden")
    wrong = chosen.first(["noise_multiplier", "mu", "width", "input_smoothness", "blocks", "order"])
    if wrong or chosen.strength is None:
        raise InputError("assume goes with mechanism entropic and strength" + (f", not with {wrong}" if wrong else ""))
    if chosen.accountant not in (None, "hidden-state"):
        raise InputError(f"assume is priced by accountant hidden-state; accountant {chosen.accountant} knows no view")
    if chosen.smoothness is None:
        raise InputError(f"assume {chosen.assume} needs smoothness, a public bound on the Hessian's norm")
    if or_else(chosen.strong_convexity, 0) > chosen.smoothness:
        raise InputError(f"strong_convexity: found {chosen.strong_convexity:g}; allowed: a number from 0 up to "
                         f"smoothness, which is {chosen.smoothness:g}")


def check_account(chosen: Chosen) -> None:
    check_mechanism(chosen)
    check_particles(chosen)
    if chosen.mu is not None:
        chosen.exclude("mu", ["clip", "sensitivity", "sampling_rate", "adjacency"])
    check_promise(chosen)
    check_hidden(chosen)
    if chosen.delta is not None:
        chosen.exclude("delta", ["epsilon"])


def check_calibrate(chosen: Chosen) -> None:
    if chosen.epsilon is None:
        raise InputError("no target; give epsilon")
    if chosen.blocks:
        if chosen.solve is not None:
            raise InputError("blocks and solve exclude each other; write '?' for what is solved")
        if chosen.mechanism == "entropic":
            raise InputError("blocks belongs to mechanism gaussian")
        chosen.exclude("blocks", ["noise_multiplier", "strength"])
    else:
        noise = "strength" if chosen.entropic else "noise_multiplier"
        chosen.solve = chosen.solve or "noise"
        if chosen.mechanism == "gaussian" and chosen.strength is not None:
            raise InputError("strength belongs to mechanism entropic")
        if chosen.entropic and chosen.noise_multiplier is not None:
            raise InputError("noise_multiplier belongs to mechanism gaussian")
        found = {"noise": noise, "rate": "sampling_rate", "steps": "steps"}[chosen.solve]
        if chosen.has(found):
            raise InputError(f"{found} is what solve={chosen.solve!r} finds")
        if chosen.solve != "noise" and not chosen.has(noise):
            raise InputError(f"solve={chosen.solve!r} needs {noise}")
    if chosen.steps == 0:
        raise InputError("steps 0 releases nothing, whatever the noise")
    if chosen.accountant == "hidden-state":
        raise InputError("accountant hidden-state needs view final and assume, which account takes")
    check_promise(chosen)
