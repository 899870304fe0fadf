"""Ledger: the account on disk, an append-only file of everything that was released and the budget that it keeps."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from mfpg._call import Context, InputError, Job, job, number, path_bytes, text, whole
from mfpg._interface import ffi, lib
from mfpg._release import ADJACENCIES, MOST, PARTICLES, UNITS, VIEWS, Release, from_c, index

FILTERS = ["accountant", "gdp", "zcdp"]


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
    stop_at_epsilon: float | None = None
    """The budget of every client, in nats at delta, that `Ledger.spend` keeps; None: no limit."""
    filter: str = "accountant"
    """What keeps it: "accountant" if noise and number of releases are public and fixed in advance, "gdp" or "zcdp" also if
    each was chosen after looking at those before (the whole budget is then certified)."""
    secure_sum: bool = False
    """The releases enter secure sums (view "average", parameters, at most 255 clients)."""

    def to_c(self) -> Any:
        out = ffi.new("mfpg_ledger_header *")
        out.clients = whole("clients", self.clients, 1, 2**53)
        out.particles = index("particles", self.particles, PARTICLES)
        out.promise.unit = index("unit", self.unit, UNITS)
        out.promise.adjacency = index("adjacency", self.adjacency, ADJACENCIES)
        out.promise.view = index("view", self.view, VIEWS)
        out.delta, out.seeded = number("delta", self.delta, 0, 1, below=True), bool(self.seeded)
        out.stop_at_epsilon = 0 if self.stop_at_epsilon is None else number("stop_at_epsilon", self.stop_at_epsilon, 0, above=True)
        out.filter = index("filter", self.filter, FILTERS)
        out.secure_sum = bool(self.secure_sum)
        return out


def header_of(header: Any) -> LedgerHeader:
    promise = header.promise
    return LedgerHeader(header.clients, UNITS[promise.unit], ADJACENCIES[promise.adjacency], VIEWS[promise.view],
                        header.delta, PARTICLES[header.particles], bool(header.seeded), header.stop_at_epsilon or None,
                        FILTERS[header.filter], bool(header.secure_sum))


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

    @property
    def off_grid(self) -> bool:
        """True if some release was noised off a grid, so that its certificate does not cover the rounding of floats."""
        return any(line.release.noise_sd > 0 and line.release.grid == 0 for line in self.releases)


@dataclasses.dataclass(frozen=True)
class Spending:
    """What one client has spent, as its ledger has it."""

    epsilon: float
    """Certified at the ledger's delta of everything in it; with a filter its whole budget, once anything was spent."""
    spent: float
    """The same; with a filter what was spent of the budget, for display."""
    remaining: float
    """The budget less `spent`, rounded down; infinity without a budget."""


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
    """A ledger file that is being written, and the account of its clients.

        with mfpg.Ledger.create("client.ledger", clients=1, stop_at_epsilon=4) as ledger:
            update, release = mfpg.privatise(...)
            if ledger.spend(release):           # asked, charged and on disk, or refused
                send(update)

    Make one with Ledger.create, go on with one by Ledger.open, and close it (or use it in a with statement). ``mfpg account --ledger
    FILE`` and account(ledger=FILE) price it.

    Threads: calls on one object wait for each other. Processes: one at a time has a file open, another one gets InputError; a child
    made by fork() opens it itself when its parent has closed it.
    """

    def __init__(self, pointer: Any, path: pathlib.Path) -> None:
        self._pointer = ffi.gc(pointer, lib.mfpg_ledger_close)
        self.path = path
        self.header = header_of(lib.mfpg_ledger_tell(pointer).header)

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, clients: int, unit: str = "client", adjacency: str = "zero-out",
               view: str = "local", delta: float = 1e-5, particles: str = "parameters", seeded: bool = False,
               stop_at_epsilon: float | None = None, filter: str = "accountant", secure_sum: bool = False) -> Ledger:
        """A new file; AccessError where there is one already, since a ledger is never overwritten."""
        header = LedgerHeader(clients, unit, adjacency, view, delta, particles, seeded, stop_at_epsilon, filter,
                              secure_sum)
        out = ffi.new("mfpg_ledger **")
        with Context() as ctx:
            ctx.check(lib.mfpg_ledger_create(ctx.pointer, path_bytes(path), header.to_c(), out))
        return cls(out[0], pathlib.Path(path))

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, stop_at_epsilon: float | None = None) -> Ledger:
        """Goes on with a file: all of it is read, and what was spent stays spent. The beginning of a line that a crash left is cut
        off: its release was never admitted. InputError if a line was changed, removed, inserted or moved, or another process has
        the file open.

        stop_at_epsilon: a smaller budget than the file's, for what is spent through this object.
        """
        limit = 0 if stop_at_epsilon is None else number("stop_at_epsilon", stop_at_epsilon, 0, above=True)
        out = ffi.new("mfpg_ledger **")
        with Context(Job()) as ctx:
            ctx.check(lib.mfpg_ledger_open(ctx.pointer, path_bytes(path), limit, out))
        return cls(out[0], pathlib.Path(path))

    @staticmethod
    def read(path: str | os.PathLike[str]) -> LedgerContents:
        """Everything in a ledger file or in that of a run folder; every line's place in the chain is checked."""
        return _read(path)

    @property
    def last_round(self) -> int:
        """The round of the latest release; 0 before the first."""
        return int(lib.mfpg_ledger_tell(self._open()).round)

    # ---- spending ----

    def spend(self, release: Release) -> bool:
        """True if the release is within its client's budget: it is then written down, synced to disk, and may leave. False if it
        is not, and nothing is written. Spend before releasing; an exception means that it must not leave.

        The release gets the next round number, whatever its own. DomainError for an attempt of a secure sum that the ledger has
        already, or a later one: it is never used twice.
        """
        return bool(_spend(lib.mfpg_ledger_spend, self._open(), release).admitted)

    def affords(self, release: Release) -> bool:
        """Whether spend would return True. Nothing is written."""
        return bool(_spend(lib.mfpg_ledger_affords, self._open(), release).admitted)

    def survivors(self, round: int, attempt: int, survivors: int, last_sd: float, *, client: int = 0) -> None:
        """Writes down how many shares are in the secure sum that a client's latest release entered, and the noise that protects it
        with these. What was charged stays charged; ``mfpg account --ledger`` prices both.

        round: as the ledger numbers it (last_round after spend). survivors: from the release's threshold to its members.
        last_sd: at least the release's. DomainError where they contradict the release.
        """
        known = ffi.new("mfpg_survivors *", {
            "round": whole("round", round, 0, MOST), "attempt": whole("attempt", attempt, 1, MOST),
            "client": whole("client", client, 0, self.header.clients - 1),
            "survivors": whole("survivors", survivors, 1, MOST), "last_sd": number("last_sd", last_sd, 0)})
        with Context() as ctx:
            ctx.check(lib.mfpg_ledger_survivors(ctx.pointer, self._open(), known, 1))

    def spending(self, client: int = 0) -> Spending:
        """What a client has spent, and what is left."""
        answer = _ask(self._open(), whole("client", client, 0, self.header.clients - 1))
        return Spending(answer.epsilon, answer.spent, answer.remaining)

    def epsilon(self, client: int = 0) -> float:
        """The epsilon of spending(client)."""
        return self.spending(client).epsilon

    # ---- writing what somebody else admitted ----

    def append(self, releases: Release | Iterable[Release], *, round: int | None = None) -> int:
        """Writes the releases of one round, ascending clients, and syncs them to disk; for a ledger without a budget.

        round: their number, above that of every release before (default: the next). Returns it. No release is written where
        any of them is faulty (DomainError).
        """
        if self.header.stop_at_epsilon is not None:
            raise InputError(f"{self.path}: this ledger keeps a budget, which append does not ask; call spend")
        listed = [releases] if isinstance(releases, Release) else list(releases)
        made = ffi.new("mfpg_release[]", len(listed))
        number_of_round = ffi.new("int64_t *")
        if round is not None:
            number_of_round[0] = whole("round", round, 0, 2**53)
            if number_of_round[0] <= self.last_round:
                raise InputError(f"round: found {round}; allowed: from {self.last_round + 1}, as the ledger has the ones before")
        for i, release in enumerate(listed):
            made[i] = release.to_c()[0]
            made[i].round = number_of_round[0]
        with Context() as ctx:
            if round is None:
                ctx.check(lib.mfpg_ledger_append_next(ctx.pointer, self._open(), made, len(listed), number_of_round))
            else:
                ctx.check(lib.mfpg_ledger_append(ctx.pointer, self._open(), made, len(listed)))
        return int(number_of_round[0])

    @property
    def end(self) -> tuple[int, str]:
        """Complete lines, and the chain value of the last of them: keep a copy elsewhere."""
        end = lib.mfpg_ledger_tell(self._open()).end
        return end.lines, text(end.chain)

    def close(self) -> None:
        """Closes the file, as soon as no other thread is in the middle of a call; closing twice is fine."""
        self._pointer = None

    def _open(self) -> Any:
        if self._pointer is None:
            raise InputError(f"{self.path}: this ledger was closed")
        return self._pointer

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _spend(call: Any, ledger: Any, release: Release) -> Any:
    made, answer = release.to_c(), ffi.new("mfpg_spending *")
    made.round = -1
    with Context() as ctx:
        ctx.check(call(ctx.pointer, ledger, made, answer))
    return answer


def _ask(ledger: Any, client: int) -> Any:
    answer = ffi.new("mfpg_spending *")
    with Context() as ctx:
        ctx.check(lib.mfpg_ledger_ask(ctx.pointer, ledger, client, answer))
    return answer
