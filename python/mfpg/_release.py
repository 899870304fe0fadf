"""Releases: what an accountant prices and a ledger lists."""

from __future__ import annotations

import dataclasses
from typing import Any

from mfpg._call import InputError, listed, number, whole
from mfpg._interface import ffi, lib

UNITS = ["client", "example"]
ADJACENCIES = ["zero-out", "replace", "add", "remove"]  # in the order of the enum
VIEWS = ["local", "average", "final"]
PARTICLES = ["parameters", "data"]
CLIPPED = ["update", "examples", "records", "measurements"]
CONTROLS = ["none", "budget", "strength", "multiplier"]
SUM = ["run", "sum_round", "attempt", "members", "threshold", "colluders"]  # of a release that enters a secure sum
MOST = 2**62


@dataclasses.dataclass(frozen=True)
class Release:
    """Everything one client released in one round: `steps` Gaussian steps, each moved by data by at most `sensitivity`
    (zero-out, in the units of the weights) and blurred by noise of standard deviation `noise_sd` per coordinate.

    particles "data": the client's records, pushed through one map of the given contraction and noised once, ever.
    """

    sensitivity: float
    noise_sd: float
    steps: int = 1
    round: int = 0
    client: int = 0
    last_sd: float | None = None
    """Noise that protects the last step in the view at hand, in this client's units; None: noise_sd (view local)."""
    weight: float = 1.0
    """Of this round's average, in [0, 1]."""
    sampling_rate: float = 1.0
    """Of examples; 1 without sampling."""
    contraction: float = 1.0
    particles: str = "parameters"
    control: str = "none"
    """What `action` is: "none", "budget", "strength" or "multiplier"."""
    action: float | None = None
    unit: str = "client"
    """Whose presence the sensitivity bounds: "client" or "example". Accountants and ledgers of another unit refuse it."""
    clipped: str | None = None
    """What was clipped for that: "update", "examples", "records" or "measurements"; None: what the unit and particles say."""
    rounding: float = 0.0
    """Share by which the rounding of sums over examples raised the sensitivity, which includes it."""
    grid: float = 0.0
    """Step of the public grid of what leaves, a power of two up to a quarter of its noise; 0: nothing is known of its last
    digits."""
    run: int = 0
    """The secure sum that the release enters, if attempt is above 0: the first six bytes of the run's identifier, big-endian."""
    sum_round: int = 0
    """Round of that run; (run, sum_round, attempt) is used once."""
    attempt: int = 0
    """Attempt of that round, from 1; 0: no secure sum."""
    members: int = 0
    """Clients that were asked for a share, 3 to 255."""
    threshold: int = 0
    """Answers without which the sum reveals nothing, above (members + colluders)/2. last_sd is the noise in the worst case."""
    colluders: int = 0
    """Clients that may work together with the server."""

    def __post_init__(self) -> None:
        if self.clipped is None:
            usual = "records" if self.particles == "data" else "examples" if self.unit == "example" else "update"
            object.__setattr__(self, "clipped", usual)

    def to_c(self) -> Any:
        """A mfpg_release; what is not allowed is refused by whoever takes it."""
        out = ffi.new("mfpg_release *")
        out.particles = index("particles", self.particles, PARTICLES)
        out.unit, out.clipped = index("unit", self.unit, UNITS), index("clipped", str(self.clipped), CLIPPED)
        out.rounding, out.grid = self.rounding, self.grid
        out.steps = whole("steps", self.steps, 0, MOST)
        out.round = whole("round", self.round, 0, MOST)
        out.client = whole("client", self.client, 0, MOST)
        out.sensitivity, out.noise_sd, out.weight = self.sensitivity, self.noise_sd, self.weight
        out.last_sd = self.noise_sd if self.last_sd is None else self.last_sd
        for name in SUM:
            setattr(out, name, whole(name, getattr(self, name), 0, MOST))
        out.sampling_rate, out.contraction = self.sampling_rate, self.contraction
        out.action.control = index("control", self.control, CONTROLS)
        if self.control != "none":
            if self.action is None:
                raise InputError(f"action: None is no {self.control}; allowed: a number from 0")
            set_action(out.action, self.control, number("action", self.action, 0))
        return out


def index(noun: str, word: str, names: list[str]) -> int:
    """The number of a word; any other is refused with what is allowed."""
    if word in names:
        return names.index(word)
    raise InputError(f"{noun}: found {word!r}; allowed: {', '.join(names)}")


def set_action(action: Any, control: str, value: float) -> None:
    if control == "multiplier":
        action.multiplier = value
    elif control == "budget":
        action.budget.value = value
    elif control == "strength":
        action.strength.value = value


def from_c(release: Any) -> Release:
    """A Release of a mfpg_release."""
    control = CONTROLS[release.action.control]
    action = {"none": None, "budget": release.action.budget.value, "strength": release.action.strength.value,
              "multiplier": release.action.multiplier}[control]
    return Release(
        sensitivity=release.sensitivity, noise_sd=release.noise_sd, steps=release.steps, round=release.round,
        client=release.client, last_sd=release.last_sd, weight=release.weight, sampling_rate=release.sampling_rate,
        contraction=release.contraction, particles=PARTICLES[release.particles], control=control, action=action,
        unit=UNITS[release.unit], clipped=CLIPPED[release.clipped], rounding=release.rounding, grid=release.grid,
        **{name: getattr(release, name) for name in SUM})


ACCOUNTANTS = listed(lambda index: lib.mfpg_kind_name(ffi.addressof(lib.mfpg_accountants), index))
