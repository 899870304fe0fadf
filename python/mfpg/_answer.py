"""What an accountant answers, with what the answer means."""

from __future__ import annotations

import dataclasses
import math


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


@dataclasses.dataclass(frozen=True)
class ClientAccount:
    """What one client spent."""

    client: int
    name: str | None
    mu: float | None
    epsilon: float
    delta: float
    rounds: int
    steps: int
    sampling_rate: float | None
    """None where it has none, or several."""
    survived_epsilon: float | None = None
    """The same with the survivors of secure sums known; None without secure sums."""
    survived_delta: float | None = None
    spent_epsilon: float | None = None
    """The sum of the releases, for display, where a filter certifies its whole budget; None without a filter."""
    spent_delta: float | None = None


@dataclasses.dataclass(frozen=True)
class LedgerEnd:
    """Where the ledger ends; summary: "agrees" where the summary of its run names the same end, "none" without one."""

    lines: int
    chain: str
    summary: str
    file: str = ""


@dataclasses.dataclass(frozen=True)
class Odometer:
    """At most this, whenever one looks."""

    epsilon: float
    rho: float
    delta: float
    note: str


@dataclasses.dataclass(frozen=True)
class LedgerAccount(Account):
    """The client that spent most, and all of them."""

    seeded: bool = False
    ledger: LedgerEnd = LedgerEnd(0, "", "none")
    """The first; `ledgers` has all that were priced together."""
    ledgers: tuple[LedgerEnd, ...] = ()
    epsilon_replace: float | None = None
    """Unit client, zero-out: the epsilon at which one record inside a client is protected."""
    survived_epsilon: float | None = None
    """What secure sums revealed, with the clients known that are in them; at most what was promised. None without them."""
    survived_delta: float | None = None
    spent_epsilon: float | None = None
    """What the first client spent of a filter's budget, for display; None without a filter."""
    spent_delta: float | None = None
    odometer: Odometer | None = None
    one_certificate: bool = False
    """True where all clients, of which there are several, spent the same."""
    clients: tuple[ClientAccount, ...] = ()
    """The largest first."""


def number_or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
