"""Ledger: the append-only file of everything that was released; and what its releases cost."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import pathlib
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from mfpg._answer import Account, make_answer, number_or_none
from mfpg._call import Context, InputError, Job, job, number, path_bytes, text, whole
from mfpg._interface import ffi, lib
from mfpg._records import ASSUMED_OF_RECORDS
from mfpg._release import ADJACENCIES, PARTICLES, UNITS, VIEWS, Release, from_c, index

MOST_SUMMARY = 1 << 30  # bytes


@dataclasses.dataclass(frozen=True)
class LedgerHeader:
    """What a ledger begins with: whose releases it lists, and what they promise."""

    clients: int
    unit: str = "client"
    adjacency: str = "zero-out"
    view: str = "local"
    delta: float = 1e-5
    particles: str = "parameters"
    seeded: bool = False
    """The noise came from a seed: reproducible, and therefore not private."""

    def to_c(self) -> Any:
        out = ffi.new("mfpg_ledger_header *")
        out.clients = whole("clients", self.clients, 1, 2**53)
        out.particles = index("particles", self.particles, PARTICLES)
        out.promise.unit = index("unit", self.unit, UNITS)
        out.promise.adjacency = index("adjacency", self.adjacency, ADJACENCIES)
        out.promise.view = index("view", self.view, VIEWS)
        out.delta, out.seeded = number("delta", self.delta, 0, 1, below=True), bool(self.seeded)
        return out


def header_of(header: Any) -> LedgerHeader:
    promise = header.promise
    return LedgerHeader(header.clients, UNITS[promise.unit], ADJACENCIES[promise.adjacency], VIEWS[promise.view],
                        header.delta, PARTICLES[header.particles], bool(header.seeded))


@dataclasses.dataclass(frozen=True)
class LedgerLine:
    """A release of clients first_client to last_client, alike in all of them."""

    release: Release
    first_client: int
    last_client: int


@dataclasses.dataclass(frozen=True)
class LedgerContents:
    """What a ledger file holds. Keep lines and chain elsewhere: only they show that lines were taken from its end."""

    header: LedgerHeader
    releases: tuple[LedgerLine, ...]
    lines: int
    chain: str


# ---- reading ----


class Reading:
    """The lines that C hands over."""

    def __init__(self) -> None:
        self.lines: list[tuple[Any, int, int]] = []


def _keep_error(_: Any, error: BaseException, __: Any) -> int:
    return int(lib.MFPG_ERR_MEMORY)  # nothing but memory can fail in the few lines below


@ffi.def_extern(name="mfpg_python_visit", onerror=_keep_error)  # type: ignore[untyped-decorator]
def _visit(user: Any, release: Any, first: int, last: int) -> int:
    ffi.from_handle(user).lines.append((ffi.new("mfpg_release *", release[0]), first, last))
    return int(lib.MFPG_OK)


def read_file(ctx: Context, path: Any) -> tuple[Any, list[tuple[Any, int, int]], Any]:
    """Header, (release, first, last) a line, and the end of a ledger file, as C structures."""
    reading = Reading()
    handle = ffi.new_handle(reading)
    header, end = ffi.new("mfpg_ledger_header *"), ffi.new("mfpg_ledger_end *")
    ctx.check(lib.mfpg_ledger_read(ctx.pointer, path_bytes(path), header, lib.mfpg_python_visit, handle, end))
    return header, reading.lines, end


def ledger_path(path: Any) -> pathlib.Path:
    """A run folder means its ledger."""
    named = pathlib.Path(path)
    return named / "ledger" if named.is_dir() else named


@job
def _read(job: Job, path: Any) -> LedgerContents:
    with Context(job, 1) as ctx:
        header, lines, end = read_file(ctx, ledger_path(path))
        return LedgerContents(header_of(header), tuple(LedgerLine(from_c(one), first, last) for one, first, last in lines),
                              end.lines, text(end.chain))


# ---- writing ----


class Ledger:
    """A ledger file that is being written, by one process at a time: every release is on disk when append returns.

    Make one with Ledger.create, go on with one by Ledger.open, and close it (or use it in a with statement).
    ``mfpg account --ledger FILE`` and account(ledger=FILE) price it.
    """

    def __init__(self, pointer: Any, path: pathlib.Path, header: LedgerHeader, last_round: int) -> None:
        self._pointer = ffi.gc(pointer, lib.mfpg_ledger_close)
        self._last_round = last_round
        self.path = path
        self.header = header

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, clients: int, unit: str = "client", adjacency: str = "zero-out",
               view: str = "local", delta: float = 1e-5, particles: str = "parameters", seeded: bool = False) -> Ledger:
        """A new file; AccessError where there is one already, since a ledger is never overwritten."""
        header = LedgerHeader(clients, unit, adjacency, view, delta, particles, seeded)
        out = ffi.new("mfpg_ledger **")
        with Context() as ctx:
            ctx.check(lib.mfpg_ledger_create(ctx.pointer, path_bytes(path), header.to_c(), out))
        return cls(out[0], pathlib.Path(path), header, 0)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Ledger:
        """Goes on with a file, behind its last round. InputError where a line was changed, removed, inserted or moved. The rest
        of a line that a crash cut short is completed by an append of the same release, and by nothing else."""
        job = Job()
        out = ffi.new("mfpg_ledger **")
        with Context(job) as ctx:
            header, lines, _ = read_file(ctx, path)
            last = max((release.round for release, _, _ in lines), default=0)
            ctx.check(lib.mfpg_ledger_resume(ctx.pointer, path_bytes(path), header, last + 1, out))
        return cls(out[0], pathlib.Path(path), header_of(header), last)

    @staticmethod
    def read(path: str | os.PathLike[str]) -> LedgerContents:
        """Everything in a ledger file or in that of a run folder; every line's place in the chain is checked."""
        return _read(path)

    @property
    def last_round(self) -> int:
        """The round of the latest release; 0 before the first."""
        return self._last_round

    def append(self, releases: Release | Iterable[Release], *, round: int | None = None) -> int:
        """Writes the releases of one round, ascending clients, and syncs them to disk; write first, release afterwards.

        round: their number, above that of every release before (default: the next). Returns it. No release is written where
        any of them is faulty (DomainError).
        """
        listed = [releases] if isinstance(releases, Release) else list(releases)
        number_of_round = self._last_round + 1 if round is None else whole("round", round, 0, 2**53)
        if number_of_round <= self._last_round:
            raise InputError(f"round: found {number_of_round}; allowed: from {self._last_round + 1}, as the ledger has the ones "
                             "before")
        made = ffi.new("mfpg_release[]", len(listed))
        for i, release in enumerate(listed):
            made[i] = dataclasses.replace(release, round=number_of_round).to_c()[0]
        with Context() as ctx:
            ctx.check(lib.mfpg_ledger_append(ctx.pointer, self._open(), made, len(listed)))
        if listed:
            self._last_round = number_of_round
        return number_of_round

    @property
    def end(self) -> tuple[int, str]:
        """Complete lines, and the chain value of the last of them: keep a copy elsewhere."""
        out = ffi.new("mfpg_ledger_end *")
        lib.mfpg_ledger_tell_end(self._open(), out)
        return out.lines, text(out.chain)

    def close(self) -> None:
        """Closes the file; closing twice is fine."""
        if self._pointer is not None:
            ffi.release(self._pointer)
            self._pointer = None

    def _open(self) -> Any:
        if self._pointer is None:
            raise InputError(f"{self.path}: this ledger was closed")
        return self._pointer

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


# ---- the price ----


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


@dataclasses.dataclass(frozen=True)
class LedgerEnd:
    """Where the ledger ends; summary: "agrees" where the summary of its run names the same end, "none" without one."""

    lines: int
    chain: str
    summary: str


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
    odometer: Odometer | None = None
    one_certificate: bool = False
    """True where all clients, of which there are several, spent the same."""
    clients: tuple[ClientAccount, ...] = ()
    """The largest first."""


class Spending:
    """One client while its releases are priced."""

    def __init__(self, client: int, accountant: Any) -> None:
        self.client, self.accountant = client, accountant
        self.mu = self.epsilon = self.delta = math.nan
        self.rounds = self.steps = 0
        self.rates: set[float] = set()

    def count(self, release: Any) -> None:
        if lib.mfpg_release_is_choice(release):
            return  # paid for, but no step of training
        self.rates.add(release.sampling_rate)
        self.steps += release.steps
        self.rounds += 1

    def shown_mu(self) -> float:
        return math.nan if math.isinf(self.mu) and math.isfinite(self.epsilon) else self.mu


class Audit:
    """A ledger on its way to its price."""

    def __init__(self, ctx: Context, path: pathlib.Path, chosen: Any) -> None:
        self.ctx, self.path, self.epsilon = ctx, path, chosen.epsilon
        summary = read_summary(path)
        self.header, self.lines, self.end = read_file(ctx, path)
        self.delta = chosen.delta if chosen.delta is not None else self.header.delta
        self.sampled = any(release.sampling_rate < 1 for release, _, _ in self.lines)
        self.adaptive = any(lib.mfpg_release_is_choice(release) for release, _, _ in self.lines)
        self.contraction = max((release.contraction for release, _, _ in self.lines), default=0.0)
        self.promise = ffi.new("mfpg_promise *", self.header.promise)
        if chosen.adjacency is not None:
            self.promise.adjacency = ADJACENCIES.index(chosen.adjacency)
        self.accountant = str(chosen.accountant or self.fitting_accountant())
        self.clients = self.create_accountants()
        self.names = client_names(summary)
        self.record()
        self.ask()
        self.summary = check_end(path, self.end, summary)

    def fitting_accountant(self) -> str:
        if self.header.particles == lib.MFPG_PARTICLES_DATA:
            return "data-particles"
        return "exact" if self.sampled and self.header.promise.unit == lib.MFPG_UNIT_EXAMPLE else "gdp"

    def create_accountants(self) -> list[Spending]:
        options = ffi.new("mfpg_accountant_options *", lib.mfpg_accountant_options_default())
        options.promise = self.promise[0]
        made = []
        out = ffi.new("mfpg_accountant **")
        for client in range(self.header.clients):
            self.ctx.check(lib.mfpg_accountant_create(self.ctx.pointer, self.accountant.encode(), options, out))
            made.append(Spending(client, ffi.gc(out[0], lib.mfpg_accountant_destroy)))
        first = made[0].accountant
        if not lib.mfpg_accountant_certifies(first):
            raise InputError(f"accountant {self.accountant} certifies nothing; a ledger wants one that does")
        known = lib.mfpg_accountant_particles(first)
        if known != self.header.particles:
            raise InputError(f"{self.path}: the particles of this ledger are {PARTICLES[self.header.particles]}; accountant "
                             f"{self.accountant} knows {PARTICLES[known]} only")
        return made

    def record(self) -> None:
        for release, first, last in self.lines:
            for client in self.clients[first:last + 1]:
                self.ctx.check(lib.mfpg_accountant_record(self.ctx.pointer, client.accountant, release))
                client.count(release)

    def ask(self) -> None:
        """Every client's answer, that of the one before where both released the same; then the largest first."""
        out = ffi.new("double *")
        before: Spending | None = None
        for client in self.clients:
            client.mu = lib.mfpg_accountant_mu(client.accountant)
            if before and all(lib.mfpg_accountant_covers(a, b) for a, b in (
                    (client.accountant, before.accountant), (before.accountant, client.accountant))):
                client.epsilon, client.delta = before.epsilon, before.delta
            elif self.epsilon is None:
                self.ctx.check(lib.mfpg_accountant_epsilon(self.ctx.pointer, client.accountant, self.delta, out))
                client.epsilon, client.delta = out[0], self.delta
            else:
                self.ctx.check(lib.mfpg_accountant_delta(self.ctx.pointer, client.accountant, self.epsilon, out))
                client.epsilon, client.delta = self.epsilon, out[0]
            before = client
        self.clients.sort(key=lambda one: (-one.epsilon, -one.delta, -one.mu, one.client))

    def ends(self) -> Any:
        """Both ends of the largest answer."""
        most, ends = self.clients[0], ffi.new("mfpg_bounds *")
        if self.epsilon is None:
            status = lib.mfpg_accountant_epsilon_bounds(self.ctx.pointer, most.accountant, most.delta, ends)
        else:
            status = lib.mfpg_accountant_delta_bounds(self.ctx.pointer, most.accountant, most.epsilon, ends)
        self.ctx.check(status)
        return ends

    def odometer(self) -> Odometer | None:
        read = lib.mfpg_odometer_read(self.clients[0].shown_mu(), self.delta)
        return None if read.index < 0 else Odometer(read.epsilon, read.rho, read.delta, text(lib.MFPG_ODOMETER_NOTE))

    def account_of(self, one: Spending) -> ClientAccount:
        rate = next(iter(one.rates)) if len(one.rates) == 1 and one.steps > 0 else None
        return ClientAccount(one.client, self.names.get(one.client), number_or_none(one.shown_mu()), one.epsilon, one.delta,
                             one.rounds, one.steps, rate)

    def alike(self) -> bool:
        def key(one: Spending) -> tuple[Any, ...]:
            return (number_or_none(one.shown_mu()), one.epsilon, one.delta, one.rounds, one.steps, one.rates)

        return len(self.clients) > 1 and all(key(one) == key(self.clients[0]) for one in self.clients)


def price_ledger(ctx: Context, path: Any, chosen: Any) -> LedgerAccount:
    """What account(ledger=path) answers."""
    check_options(chosen)
    audit = Audit(ctx, ledger_path(path), chosen)
    most, ends, promise = audit.clients[0], audit.ends(), audit.promise
    data = audit.header.particles == lib.MFPG_PARTICLES_DATA
    return make_answer(
        LedgerAccount, mu=most.shown_mu(), epsilon=most.epsilon, delta=most.delta, certificate=not audit.adaptive,
        assumptions=assume(audit), lower=ends.lower, upper=ends.upper, accountant=audit.accountant,
        adjacency=ADJACENCIES[promise.adjacency], unit=UNITS[promise.unit], view=VIEWS[promise.view],
        particles=PARTICLES[audit.header.particles], contraction=audit.contraction if data else None,
        seeded=bool(audit.header.seeded), ledger=LedgerEnd(audit.end.lines, text(audit.end.chain), audit.summary),
        odometer=audit.odometer(), one_certificate=audit.alike(),
        clients=tuple(audit.account_of(one) for one in audit.clients))


def check_options(chosen: Any) -> None:
    """A ledger says most things by itself."""
    allowed = {"accountant", "delta", "epsilon", "adjacency"}
    other = chosen.first([name for name in chosen.options() if name not in allowed])
    if other:
        raise InputError(f"ledger goes with accountant, delta, epsilon and adjacency only, not with {other}")
    if chosen.accountant == "hidden-state":
        raise InputError("no credit for hidden states is given from a ledger: it does not hold what was assumed of the loss")
    if chosen.adjacency in ("add", "remove"):
        raise InputError(f"adjacency: found {chosen.adjacency!r}; with a ledger allowed: zero-out, replace")


def assume(audit: Audit) -> list[str]:
    lines = []
    promise, view = audit.header.promise, VIEWS[audit.header.promise.view]
    data = audit.header.particles == lib.MFPG_PARTICLES_DATA
    if audit.adaptive:
        lines.append("actions were chosen from what earlier releases showed: this sum is for display, and what is certified is "
                     "the budget of the run's filter (privacy.stop_at_epsilon), nothing where it had none")
    lines += ["the ledger holds every release of the run", "Gaussian noise is ideal up to floating-point rounding"]
    if data:
        lines += ASSUMED_OF_RECORDS
    elif view != "local":
        lines.append(f"nobody sees more than the view {view}")
    if view == "final" and not data:
        lines.append("no credit for hidden states is given from a ledger: charged as if every average had been seen, which may "
                     "be more than the run itself certified")
    credited = audit.accountant not in ("gdp", "hidden-state") and promise.unit == lib.MFPG_UNIT_EXAMPLE
    if audit.sampled and credited:
        lines.append("batches were Poisson samples of the recorded rates, and who was in them stays hidden")
    elif audit.sampled:
        lines.append("sampling is not credited: accounted as if everything took part")
    if audit.header.seeded:
        lines.append("the noise came from a seed (seeded: not private) that nobody may know")
    return lines


# ---- the summary of the run beside a ledger ----


def read_summary(ledger: pathlib.Path) -> dict[str, Any]:
    """summary.json in the folder of a ledger; empty where there is none."""
    path = ledger.parent / "summary.json"
    try:
        if not path.is_file() or path.stat().st_size > MOST_SUMMARY:
            return {}
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def client_names(summary: dict[str, Any]) -> dict[int, str]:
    rows = summary.get("clients")
    if isinstance(rows, dict):  # of a large federation
        names = rows.get("names")
        return {k: name for k, name in enumerate(names if isinstance(names, list) else []) if isinstance(name, str)}
    rows = rows if isinstance(rows, list) else []
    return {k: row["name"] for k, row in enumerate(rows)
            if isinstance(row, dict) and row.get("client") == k and isinstance(row.get("name"), str)}


def check_end(path: pathlib.Path, end: Any, summary: dict[str, Any]) -> str:
    """Lines that are missing at the end leave a chain without a fault; the run's summary knows where it ended."""
    told = summary.get("ledger")
    told = told if isinstance(told, dict) else {}
    lines, chain = told.get("lines"), told.get("chain")
    if not isinstance(chain, str) or not isinstance(lines, int):
        return "none"
    if end.lines < lines:
        raise InputError(f"{path}: ends after line {end.lines}, but summary.json beside it counts {lines} lines: releases are "
                         "missing at the end")
    if end.lines > lines:
        raise InputError(f"{path}: has {end.lines} lines, but summary.json beside it counts {lines}: it is not the ledger of that "
                         "run, or lines were added")
    if chain != text(end.chain):
        raise InputError(f"{path}: its last chain value is {text(end.chain)}, but summary.json beside it names another: the ledger "
                         "or the summary was rewritten")
    return "agrees"
