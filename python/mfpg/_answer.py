"""What an accountant answers, with what the answer means."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from typing import Any, TypeVar


@dataclasses.dataclass(frozen=True)
class Account:
    """A certificate with what it means. Without unit, adjacency, view and assumptions an epsilon means nothing."""

    epsilon: float
    """In nats, rounded up; infinity where nothing is certified."""
    delta: float
    mu: float | None
    """The Gaussian-DP parameter; None where the accountant has none."""
    rdp: float | None
    """The Renyi divergence at the one order that was named."""
    lower: float | None
    """Lower end of what was asked for: no bound could answer less."""
    upper: float | None
    accountant: str
    adjacency: str | None
    """None where the sensitivity or mu was given, whatever it is to."""
    unit: str
    view: str
    assumptions: tuple[str, ...]
    certificate: bool
    """True where the numbers are a guarantee under the assumptions."""
    particles: str = "parameters"
    contraction: float | None = None
    """Of noised records, and of a hidden state: what a step multiplies distances by at most."""


@dataclasses.dataclass(frozen=True)
class Calibration(Account):
    """The number that meets a target, and the certificate that the schedule then has."""

    solved: str = ""
    """Which of the numbers below was found."""
    target_epsilon: float = math.nan
    noise_multiplier: float | None = None
    noise_sd: float | None = None
    strength: float | None = None
    sampling_rate: float = 1.0
    steps: float = 1
    """Infinity where more than 2^53 steps are within the target."""
    evaluations: int = 0


def number_or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


A = TypeVar("A", bound=Account)


def make_answer(kind: type[A], *, mu: float, epsilon: float, delta: float, certificate: bool,
                assumptions: Iterable[str], rdp: float = math.nan, lower: float = math.nan,
                upper: float = math.nan, **rest: Any) -> A:
    """An answer: it promises nothing where epsilon is infinite or delta 1, whatever it assumes."""
    promises = certificate and math.isfinite(epsilon) and delta < 1
    if math.isinf(mu) and promises:
        mu = math.nan  # sampling is credited, which has none
    return kind(epsilon=epsilon, delta=delta, mu=number_or_none(mu), rdp=number_or_none(rdp), lower=number_or_none(lower),
                upper=number_or_none(upper), certificate=promises, assumptions=tuple(assumptions), **rest)
