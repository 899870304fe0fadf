"""Accountant: what one client has spent, asked at any time, and stopped before overspending."""

from __future__ import annotations

import dataclasses
import math
import os
import threading
from collections.abc import Iterable
from typing import Any

from mfpg._call import Context, InputError, Job, job, number, text, whole
from mfpg._interface import ffi, lib
from mfpg._ledger import FILTERS, read_file
from mfpg._release import ADJACENCIES, MOST, PARTICLES, UNITS, VIEWS, Release, from_c, index


@dataclasses.dataclass(frozen=True)
class Settings:
    """What an accountant is made of."""

    kind: str
    unit: str
    adjacency: str
    view: str
    delta: float
    stop_at_epsilon: float | None
    filter: str
    order: tuple[float, ...]
    width: float | None


class Accountant:
    """The releases of one client and what they cost.

    kind: "gdp" (default), "rdp", "exact" (credit for Poisson sampling), "data-particles", or another of
        ``mfpg list accountants`` that certifies.
    unit, adjacency, view: what is promised; a certificate means nothing without them.
    delta: of the promise, in (0, 1).
    stop_at_epsilon: the budget that `spend` keeps, in nats; None: no limit.
    filter: what keeps it. "accountant" (default): the releases themselves, whose noise and number must be public and fixed in
        advance. "gdp" or "zcdp": a privacy filter, also sound where each release was chosen after looking at those before;
        what is certified is then the whole budget once anything was spent.
    order, width: of rdp and exact.

    It lives in memory, for questions. Where releases really leave, the account is a Ledger, which keeps budget and list on disk as
    one; from_ledger asks about that.

    Threads: calls on one object wait for each other.
    """

    def __init__(self, kind: str = "gdp", *, unit: str = "client", adjacency: str = "zero-out", view: str = "local",
                 delta: float = 1e-5, stop_at_epsilon: float | None = None, filter: str = "accountant",
                 order: float | Iterable[float] | None = None, width: float | None = None) -> None:
        orders = () if order is None else (order,) if isinstance(order, (int, float)) else tuple(order)
        self._settings = Settings(
            kind, unit, adjacency, view, number("delta", delta, 0, 1, above=True, below=True),
            None if stop_at_epsilon is None else number("stop_at_epsilon", stop_at_epsilon, 0, above=True), filter,
            tuple(number("order", one, 1) for one in orders), width)
        self._lock = threading.RLock()
        self._records: list[tuple[Release, int]] = []
        self._failed = False
        if filter != "accountant" and stop_at_epsilon is None:
            raise InputError(f"filter {filter} keeps a budget; give stop_at_epsilon")
        with Context() as ctx:
            self._accountant = self._create(ctx)
            self._filter = self._start_filter(ctx)

    # ---- spending ----

    def record(self, release: Release, times: int = 1) -> None:
        """Adds a release that has happened, `times` times. A release that cannot be recorded, or that the filter has no budget
        for, raises, and the accountant answers infinity for ever: something is out that it does not know."""
        times = whole("times", times, 0, MOST)
        with self._lock:
            try:
                self._record(release, times)
            except BaseException:
                self._failed = True
                raise

    def affords(self, release: Release) -> bool:
        """True if everything recorded, and this release next, stays within stop_at_epsilon. Nothing is recorded. A release that this
        accountant cannot record, such as one of another unit, raises."""
        with self._lock:
            return self._affords(release)

    def spend(self, release: Release) -> bool:
        """Records a release that is about to happen and returns True, if it can be afforded; else False, and nothing is
        recorded. Spend before releasing. A release that this accountant cannot record raises."""
        with self._lock:
            if not self._affords(release):
                return False
            self.record(release)
            return True

    # ---- asking ----

    def epsilon(self, delta: float | None = None) -> float:
        """Smallest epsilon in nats, rounded up, for which everything recorded is (epsilon, delta)-DP (default: the delta of the
        promise). With a filter: that of its whole budget, once anything was spent. Infinity where none is known."""
        asked = number("delta", self._settings.delta if delta is None else delta, 0, 1, below=True)
        with self._lock:
            if self._failed:
                return math.inf
            if self._filter is None:
                return _ask(self._accountant, asked)
            if not self._records:
                return 0.0
            of_budget = lib.mfpg_gdp_epsilon if self._settings.filter == "gdp" else lib.mfpg_zcdp_epsilon
            return float(of_budget(self._filter.budget, asked))

    def delta(self, epsilon: float) -> float:
        """Smallest delta, rounded up, for which everything recorded is (epsilon, delta)-DP; not with a filter."""
        asked = number("epsilon", epsilon, 0)
        with self._lock:
            if self._filter is not None:
                raise InputError("a filter promises its budget at the delta of the promise; it has no delta of its own")
            return 1.0 if self._failed else _ask_delta(self._accountant, asked)

    @property
    def mu(self) -> float | None:
        """The Gaussian-DP parameter of everything recorded; None where there is none. With a filter for display only."""
        with self._lock:
            mu = math.inf if self._failed else float(lib.mfpg_accountant_mu(self._accountant))
            return None if math.isinf(mu) and math.isfinite(self.epsilon()) else mu

    @property
    def releases(self) -> tuple[tuple[Release, int], ...]:
        """Everything recorded, with how many times in a row."""
        return tuple(self._records)

    # ---- from a ledger ----

    @classmethod
    def from_ledger(cls, path: str | os.PathLike[str], *, client: int = 0, kind: str | None = None) -> Accountant:
        """An accountant of what a client of a ledger file has spent, budget included; nothing that it records later goes back
        there. kind: default the accountant that the ledger itself asks."""
        with Context(Job()) as ctx:
            header, lines, _ = read_file(ctx, path)
        promise = header.promise
        whole("client", client, 0, header.clients - 1)
        named = text(lib.mfpg_ledger_accountant(header)) if kind is None else kind
        made = cls(named, unit=UNITS[promise.unit], adjacency=ADJACENCIES[promise.adjacency], view=VIEWS[promise.view],
                   delta=header.delta, stop_at_epsilon=header.stop_at_epsilon or None, filter=FILTERS[header.filter])
        for release, first, last in lines:
            if first <= client <= last:
                made.record(dataclasses.replace(from_c(release), client=client))
        return made

    # ---- inside; the lock is held ----

    def _create(self, ctx: Context) -> Any:
        wanted = self._settings
        options = ffi.new("mfpg_accountant_options *", lib.mfpg_accountant_options_default())
        options.promise.unit = index("unit", wanted.unit, UNITS)
        options.promise.adjacency = index("adjacency", wanted.adjacency, ADJACENCIES)
        options.promise.view = index("view", wanted.view, VIEWS)
        orders = ffi.new("double[]", wanted.order)
        if wanted.order:
            options.orders, options.order_count = orders, len(wanted.order)
        if wanted.width is not None:
            options.width = wanted.width
        out = ffi.new("mfpg_accountant **")
        ctx.check(lib.mfpg_accountant_create(ctx.pointer, str(wanted.kind).encode(), options, out))
        made = ffi.gc(out[0], lib.mfpg_accountant_destroy)
        if not lib.mfpg_accountant_certifies(made):
            raise InputError(f"accountant {wanted.kind} certifies nothing; take one that does")
        return made

    def _start_filter(self, ctx: Context) -> Any:
        kind = index("filter", self._settings.filter, FILTERS)
        if kind == lib.MFPG_FILTER_ACCOUNTANT:
            return None
        out = ffi.new("mfpg_filter *")
        ctx.check(lib.mfpg_filter_start(ctx.pointer, kind, self._settings.stop_at_epsilon, self._settings.delta, out))
        return out

    def _mu_of(self, release: Any) -> float:
        adjacency = ADJACENCIES.index(self._settings.adjacency)
        data = release.particles == PARTICLES.index("data")
        price = lib.mfpg_data_release_mu if data else lib.mfpg_release_mu
        return float(price(release, adjacency))

    def _affords(self, release: Release) -> bool:
        made = release.to_c()
        limit = self._settings.stop_at_epsilon
        if self._failed:
            return False
        with Context() as ctx:  # a release that no budget could pay for raises: False would read as a spent budget
            ctx.check(lib.mfpg_accountant_record_times(ctx.pointer, self._create(ctx), made, 1))
        if self._filter is not None:
            return bool(lib.mfpg_filter_admits(self._filter, self._mu_of(made)))
        return _affords(self._accountant, made, self._settings.delta, math.inf if limit is None else limit)

    def _record(self, release: Release, times: int) -> None:
        made = release.to_c()
        with Context() as ctx:
            ctx.check(lib.mfpg_accountant_record_times(ctx.pointer, self._accountant, made, times))
        if self._filter is not None:
            mu = self._mu_of(made)
            if not all(lib.mfpg_filter_spend(self._filter, mu) for _ in range(times)):
                raise InputError(f"round {release.round}, client {release.client}: the filter has no budget for this release")
        if self._records and self._records[-1][0] == release:
            times += self._records.pop()[1]
        if times:
            self._records.append((release, times))

    def __repr__(self) -> str:
        promise = self._settings
        count = sum(times for _, times in self._records)
        return (f"<mfpg.Accountant {promise.kind}: {count} releases, epsilon {self.epsilon():.6g} at delta {promise.delta:g}, "
                f"unit {promise.unit}, adjacency {promise.adjacency}, view {promise.view}>")


@job
def _ask(job: Job, accountant: Any, delta: float) -> float:
    out = ffi.new("double *")
    with Context(job, 1) as ctx:
        ctx.check(lib.mfpg_accountant_epsilon(ctx.pointer, accountant, delta, out))
    return float(out[0])


@job
def _ask_delta(job: Job, accountant: Any, epsilon: float) -> float:
    out = ffi.new("double *")
    with Context(job, 1) as ctx:
        ctx.check(lib.mfpg_accountant_delta(ctx.pointer, accountant, epsilon, out))
    return float(min(out[0], 1.0))


@job
def _affords(job: Job, accountant: Any, release: Any, delta: float, epsilon: float) -> bool:
    with Context(job, 1) as ctx:
        return bool(lib.mfpg_accountant_affords(ctx.pointer, accountant, release, delta, epsilon))
