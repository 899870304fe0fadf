"""Ledger: the append-only file of everything that was released."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from mfpg._call import Context, InputError, Job, job, number, path_bytes, text, whole
from mfpg._interface import ffi, lib
from mfpg._release import ADJACENCIES, PARTICLES, UNITS, VIEWS, Release, from_c, index


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
