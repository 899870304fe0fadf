"""The secure sum: a server learns the sum of the clients' integer vectors and nothing else, although clients drop out.

It takes and gives byte strings; carrying them is left to the caller. One sum takes five answers of a client, each to a message
of the server:

    server = Server(roster, terms)
    for step in Step.KEYS, ..., Step.OPENED:              # server.advance() closes each
        for place in server.waiting:                      # places in the roster
            server.take(clients[place].answer(server.ask(place)))
        server.advance()
    total = server.sum()

docs/secure_sum.md says what is promised and who must be trusted with what. Secrets stay in the memory of the C library and in
what Client.save returns; no repr shows them, and no object that has them can be pickled.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import json
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from mfpg._call import AccessError, Context, Error, InputError, number, path_bytes, text, whole
from mfpg._interface import ffi, lib
from mfpg._privatise import make_key

MOST = 2**62
MOST_DIMENSION = 2**31 - 1

Release = Callable[["Terms", tuple[bool, ...]], npt.ArrayLike]
"""Called once a sum, with its terms and whose shares this client holds (flags by place in the roster), after all checks and
immediately before the vector leaves. It must charge the release, on disk, and then return the vector: `terms.dimension` whole
numbers. Any exception ends the sum; nothing leaves, and Client.answer raises it."""


class Step(enum.IntEnum):
    """The answers that a server waits for."""

    KEYS = lib.MFPG_SUM_KEYS
    SHARES = lib.MFPG_SUM_SHARES
    MASKED = lib.MFPG_SUM_MASKED
    CONSISTENCY = lib.MFPG_SUM_CONSISTENCY
    OPENED = lib.MFPG_SUM_OPENED
    DONE = lib.MFPG_SUM_DONE


class Secret:
    """What holds secrets: neither copied nor pickled."""

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} holds secrets and is neither pickled nor copied")


class Identity(Secret):
    """The long-lived key of one site, which signs its messages: Identity.create() or Identity.load(path)."""

    def __init__(self, pointer: Any) -> None:
        self._pointer = pointer

    @classmethod
    def create(cls) -> Identity:
        """A new one, from randomness of the operating system."""
        return cls._fill(lib.mfpg_identity_create)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Identity:
        """Reads a file of `save` or ``mfpg keys``. InputError if others can read or write it, or if it is not an identity."""
        return cls._fill(lib.mfpg_identity_load, path_bytes(path))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a new file that only its owner can read. AccessError if the file exists."""
        with Context() as ctx:
            ctx.check(lib.mfpg_identity_save(ctx.pointer, path_bytes(path), self._pointer))

    @property
    def public_key(self) -> str:
        """64 hexadecimal digits: "NAME KEY" is this site's line in the roster."""
        return bytes(self._pointer.public_key).hex()

    @classmethod
    def _fill(cls, make: Any, *arguments: Any) -> Identity:
        found = ffi.new("mfpg_identity *")
        with Context() as ctx:
            ctx.check(make(ctx.pointer, *arguments, found))
        return cls(found)

    def __del__(self) -> None:
        pointer = getattr(self, "_pointer", None)
        if pointer is not None:
            ffi.memmove(pointer, bytes(ffi.sizeof("mfpg_identity")), ffi.sizeof("mfpg_identity"))

    def __repr__(self) -> str:
        return f"<mfpg.secure_sum.Identity {self.public_key}>"


class Roster:
    """Who may take part: names and public keys, in an order that all sites share. A client's number in a sum is its place."""

    def __init__(self, pointer: Any) -> None:
        self._pointer = ffi.gc(pointer, lib.mfpg_roster_clear)
        entries = [pointer.entry[i] for i in range(pointer.count)]
        self.names: tuple[str, ...] = tuple(text(one.name) for one in entries)
        self.keys: tuple[str, ...] = tuple(bytes(one.public_key).hex() for one in entries)
        """Public keys as 64 hexadecimal digits."""
        self.hash: str = bytes(pointer.hash).hex()
        """SHA-256 of the text below; it is signed into every message."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Roster:
        """Reads a file of lines "NAME KEY"; empty lines and lines that begin with # are skipped. InputError, with file and line, for
        anything else, for a name or a key that occurs twice, and for fewer than 3 or more than 255 sites."""
        out = ffi.new("mfpg_roster *")
        with Context() as ctx:
            ctx.check(lib.mfpg_roster_load(ctx.pointer, path_bytes(path), out))
        return cls(out)

    @classmethod
    def read(cls, lines: str, source: str = "roster") -> Roster:
        """The same from a text; `source` is its name in messages."""
        taken, out = lines.encode(), ffi.new("mfpg_roster *")
        with Context() as ctx:
            ctx.check(lib.mfpg_roster_read(ctx.pointer, taken, len(taken), source.encode(), out))
        return cls(out)

    @property
    def text(self) -> str:
        """The canonical lines."""
        return "".join(f"{name} {key}\n" for name, key in zip(self.names, self.keys, strict=True))

    def place(self, who: str | Identity) -> int:
        """The place of a site, given by its name or its identity; InputError if it is not in the roster."""
        wanted, among = (who.public_key, self.keys) if isinstance(who, Identity) else (who, self.names)
        if wanted not in among:
            raise InputError(f"{wanted!r} is not in the roster, which has {', '.join(self.names)}")
        return among.index(wanted)

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Roster) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.hash)

    def __reduce__(self) -> Any:
        return Roster.read, (self.text,)

    def __repr__(self) -> str:
        return f"<mfpg.secure_sum.Roster of {len(self)} sites, hash {self.hash[:16]}>"


@dataclasses.dataclass(frozen=True)
class Share:
    """What one client brings; public before the sum."""

    weight: float
    """p > 0 of its vector in the sum; 0: it takes no part."""
    noise_sd: float
    """s >= 0 in the client's own units: its share has noise p s."""
    clip: float
    """S > 0 in the client's own units: the zero-out sensitivity of its vector."""

    def fill(self, out: Any) -> None:
        out.weight, out.noise_sd, out.clip = self.weight, self.noise_sd, self.clip


@dataclasses.dataclass(frozen=True)
class Terms:
    """All public numbers of one sum. Every message carries their hash, and clients end a sum in which two hashes differ."""

    run: bytes
    """32 random bytes that identify the run."""
    round: int
    attempt: int
    """(run, round, attempt) is never used twice; both count from 1."""
    threshold: int
    """t: fewer answers than this reveal nothing; t > (n + c)/2 for n members and c colluders."""
    colluders: int
    """c >= 0: members that may work together with the server."""
    bits: int
    """2 to 64: the sum is that modulo 2**bits, read as a signed number. `bits_needed` says how many are enough."""
    dimension: int
    grid: float
    """A power of two: one step of the integers."""
    shares: tuple[Share, ...]
    """One for every entry of the roster."""

    def check(self, roster: Roster) -> None:
        """InputError or DomainError, with what is allowed, for terms that no client would accept."""
        with Context() as ctx:
            ctx.check(lib.mfpg_sum_check(ctx.pointer, roster._pointer, self.to_c(roster)))

    def bits_needed(self, roster: Roster) -> int:
        """The smallest number of bits for which the sum fits except with negligible probability, whatever `bits` says. InputError if
        64 are not enough."""
        found = int(lib.mfpg_sum_bits(roster._pointer, self.to_c(roster)))
        if found == 0:
            raise InputError(f"grid: {self.grid:g} is so fine that the sum does not fit into 64 bits")
        return found

    def noise(self, roster: Roster, member: int, survivors: Sequence[bool] | None = None) -> float:
        """The noise sd that protects a member in the worst case that the protocol allows, in its own units, rounded down: what its
        ledger charges as last_sd. survivors: flags of those whose vectors are in the sum, or None before that is known."""
        whole("member", member, 0, len(roster) - 1)
        flags = ffi.NULL if survivors is None else flags_of("survivors", survivors, len(roster))
        return float(lib.mfpg_sum_noise(roster._pointer, self.to_c(roster), member, flags))

    def to_c(self, roster: Roster) -> Any:
        if len(self.run) != 32:
            raise InputError(f"run: found {len(self.run)} bytes; allowed: 32")
        if len(self.shares) != len(roster):
            raise InputError(f"shares: found {len(self.shares)}; allowed: {len(roster)}, one for every site of the roster")
        shares = ffi.new("mfpg_sum_share[]", len(self.shares))
        for share, out in zip(self.shares, shares, strict=True):
            share.fill(out)
        made = ffi.gc(ffi.new("mfpg_sum_terms *"), lambda _, keep=shares: None)  # the shares live as long
        made.run = self.run
        made.round, made.attempt = whole("round", self.round, 1, MOST), whole("attempt", self.attempt, 1, MOST)
        made.threshold = whole("threshold", self.threshold, 1, lib.MFPG_SUM_MOST)
        made.colluders, made.bits = whole("colluders", self.colluders, 0, lib.MFPG_SUM_MOST), whole("bits", self.bits, 2, 64)
        made.dimension = whole("dimension", self.dimension, 1, MOST_DIMENSION)
        made.grid, made.share = number("grid", self.grid, 0, above=True), shares
        return made


def terms_of(terms: Any, sites: int) -> Terms:
    shares = tuple(Share(one.weight, one.noise_sd, one.clip) for one in (terms.share[i] for i in range(sites)))
    return Terms(bytes(terms.run), terms.round, terms.attempt, terms.threshold, terms.colluders, terms.bits, terms.dimension,
                 terms.grid, shares)


def flags_of(name: str, flags: Sequence[bool], sites: int) -> Any:
    if len(flags) != sites:
        raise InputError(f"{name}: found {len(flags)} flags; allowed: {sites}, one for every site of the roster")
    return ffi.new("unsigned char[]", bytes(bool(flag) for flag in flags))


def whole_numbers(vector: npt.ArrayLike, dimension: int) -> npt.NDArray[np.int64]:
    """A vector for a sum: that many int64, or nothing."""
    array = np.asarray(vector)
    if array.dtype.kind not in "iu" or array.shape != (dimension,) or (array.dtype.kind == "u" and array.itemsize == 8):
        raise InputError(f"vector: found {array.dtype} of shape {array.shape}; allowed: int64 of shape ({dimension},)")
    return np.ascontiguousarray(array, np.int64)


def taken(name: str, message: bytes | bytearray | memoryview) -> bytes:
    if not isinstance(message, (bytes, bytearray, memoryview)):
        raise InputError(f"{name}: found {type(message).__name__}; allowed: bytes")
    return bytes(message)


def to_bytes(call: Any, *arguments: Any) -> bytes:
    """What a call writes into its last argument."""
    out = ffi.new("mfpg_bytes *")
    with Context() as ctx:
        try:
            ctx.check(call(ctx.pointer, *arguments, out))
            return bytes(ffi.buffer(out.data, out.size)) if out.size else b""
        finally:
            lib.mfpg_bytes_clear(out)


class Asked:
    """What C calls for a client's vector, and what went wrong there."""

    def __init__(self, release: Release, sites: int) -> None:
        self.release, self.sites = release, sites
        self.error: BaseException | None = None

    def fill(self, terms: Any, members: Any, vector: Any) -> int:
        try:
            told = terms_of(terms, self.sites)
            numbers = whole_numbers(self.release(told, tuple(bool(members[i]) for i in range(self.sites))), told.dimension)
            ffi.memmove(vector, ffi.from_buffer(numbers), numbers.nbytes)
            return int(lib.MFPG_OK)
        except BaseException as problem:  # Client.answer raises it
            self.error = problem
            return int(lib.MFPG_ERR_INPUT)


@ffi.def_extern(name="mfpg_python_release", onerror=lambda *_: int(lib.MFPG_ERR_MEMORY))  # type: ignore[untyped-decorator]
def _release(_: Any, user: Any, terms: Any, members: Any, vector: Any) -> int:
    return int(ffi.from_handle(user).fill(terms, members, vector))


class Client(Secret):
    """One site in one sum.

    roster, identity: its own copies; the identity must be in the roster.
    threshold, colluders: what it demands; terms that name others end the sum.
    own: its share as it declared it; the terms must name the same numbers. A weight below 0 accepts any weight in (0, 1].
    release: called for the vector; see Release.
    dimension: demanded, or 0 for any.
    seed: for tests; None takes randomness of the operating system, the only kind that keeps anything secret.
    state: what `save` returned: this client goes on from there, with the options of the one that wrote it. InputError for a state
        that is damaged, or of another roster or identity.

    A client that meets anything unexpected ends the sum: `answer` raises InputError with what was wrong, its secrets are wiped, and
    every further call fails. Threads: calls wait for each other.
    """

    def __init__(self, roster: Roster, identity: Identity, *, threshold: int, colluders: int = 0, own: Share, release: Release,
                 dimension: int = 0, seed: int | None = None, state: bytes | None = None) -> None:
        self._lock, self._roster = threading.RLock(), roster
        self._asked = Asked(release, len(roster))
        self._handle = ffi.new_handle(self._asked)
        options = ffi.new("mfpg_sum_client_options *")
        options.roster, options.identity = roster._pointer, identity._pointer
        options.threshold = whole("threshold", threshold, 1, lib.MFPG_SUM_MOST)
        options.colluders = whole("colluders", colluders, 0, lib.MFPG_SUM_MOST)
        own.fill(options.own)
        options.dimension = whole("dimension", dimension, 0, MOST_DIMENSION)
        options.release, options.user = lib.mfpg_python_release, self._handle
        out = ffi.new("mfpg_sum_client **")
        with Context() as ctx:
            options.key = key = ffi.NULL if seed is None else make_key(ctx, seed)  # noqa: F841  until the call has ended
            if state is None:
                ctx.check(lib.mfpg_sum_client_create(ctx.pointer, options, out))
            else:
                ctx.check(lib.mfpg_sum_client_restore(ctx.pointer, options, taken("state", state), len(state), out))
        self._pointer = ffi.gc(out[0], lib.mfpg_sum_client_destroy)

    def answer(self, message: bytes) -> bytes:
        """The answer to a message of the server. Raises InputError for a message that ends the sum, or what `release` raised."""
        given = taken("message", message)
        with self._lock:
            try:
                return to_bytes(lib.mfpg_sum_client_answer, self._pointer, given, len(given))
            except Error:
                if self._asked.error is not None:
                    raise self._asked.error from None
                raise
            finally:
                self._asked.error = None

    @property
    def terms(self) -> Terms | None:
        """The terms of its sum, after the first answer and before the last."""
        with self._lock:
            found = lib.mfpg_sum_client_terms(self._pointer, ffi.NULL)
            return terms_of(found, len(self._roster)) if found else None

    @property
    def survivors(self) -> tuple[bool, ...]:
        """Flags by place, as the server said them: whose vectors are in the sum. No flag is set before Step.CONSISTENCY is answered;
        an answer to the last message shows that enough members agree."""
        with self._lock:
            flags = ffi.new("unsigned char[]", len(self._roster))
            lib.mfpg_sum_client_terms(self._pointer, flags)
            return tuple(bool(flag) for flag in flags)

    def save(self) -> bytes:
        """The state, secrets included, for a process that answers one message only. It must be on disk, where only the site can read
        it, and in the place of the state before, BEFORE the answer leaves: a state that is used twice can answer twice."""
        with self._lock:
            return to_bytes(lib.mfpg_sum_client_save, self._pointer)

    def __repr__(self) -> str:
        return f"<mfpg.secure_sum.Client of {self._roster!r}>"


class Sum(NamedTuple):
    """What a server has learnt."""

    vector: npt.NDArray[np.int64]
    """The sum over the survivors modulo 2**bits, in [-2**(bits - 1), 2**(bits - 1))."""
    survivors: tuple[bool, ...]
    """By place in the roster: whose vectors are in it."""


class Transcript:
    """A file of everything that a server of secure sums sends and receives, for ``mfpg audit --transcript``. It grows; a new file begins
    with the roster. It holds nothing that the server does not see, and no secret of a site. Threads: calls wait for each other."""

    def __init__(self, path: str | os.PathLike[str], roster: Roster) -> None:
        """AccessError if the file cannot be written."""
        self._lock, self.path = threading.Lock(), os.fspath(path)
        if not os.path.exists(self.path):
            self._write({"roster": roster.text})

    def message(self, message: bytes, refused: bool = False) -> None:
        """A message that was sent or received, in their order. refused: received, and faulty, forged, repeated or too late, so that it
        is in no sum."""
        self._write({"refused" if refused else "message": base64.b64encode(message).decode()})

    def canary(self, site: str, round: int, attempt: int, vector: npt.ArrayLike, coin: int) -> None:
        """That the site's vector, before its noise, was coin (1 or -1, fair) times this vector, in steps of the grid."""
        numbers = [float(one) for one in np.asarray(vector, np.float64).reshape(-1)]
        self._write({"canary": site, "round": round, "attempt": attempt, "coin": whole("coin", coin, -1, 1), "vector": numbers})

    def _write(self, line: dict[str, Any]) -> None:
        try:
            with self._lock, open(self.path, "a", encoding="ascii") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as problem:
            raise AccessError(f"{self.path}: {problem.strerror}") from None


class Server:
    """The server of one sum. Threads: calls wait for each other."""

    def __init__(self, roster: Roster, terms: Terms, transcript: Transcript | None = None) -> None:
        """Starts a sum over the members of the terms, which are checked as in Terms.check. What it sends and takes is written into the
        transcript, if one is given."""
        self._lock, self._roster, self._terms, self._transcript = threading.RLock(), roster, terms, transcript
        out = ffi.new("mfpg_sum_server **")
        with Context() as ctx:
            ctx.check(lib.mfpg_sum_server_create(ctx.pointer, roster._pointer, terms.to_c(roster), out))
        self._pointer = ffi.gc(out[0], lib.mfpg_sum_server_destroy)
        self.step = Step.KEYS
        self._asked = [place for place, share in enumerate(terms.shares) if share.weight > 0]
        self._answered: set[int] = set()

    @property
    def waiting(self) -> tuple[int, ...]:
        """Places of the members that take part in the current step and have not answered yet."""
        with self._lock:
            return tuple(place for place in self._asked if place not in self._answered)

    def ask(self, place: int) -> bytes:
        """The message of the current step for a member. InputError if it does not take part in this step."""
        with self._lock:
            message = to_bytes(lib.mfpg_sum_server_ask, self._pointer, whole("place", place, 0, len(self._roster) - 1))
            self._write_down(message)
            return message

    def take(self, message: bytes) -> int:
        """Takes an answer of the current step, and returns the place of its sender. InputError if it is faulty, late or repeated:
        nothing has changed then, and a member without a correct answer counts as silent."""
        given, sender = taken("message", message), ffi.new("ptrdiff_t *")
        with self._lock, Context() as ctx:
            try:
                ctx.check(lib.mfpg_sum_server_take(ctx.pointer, self._pointer, given, len(given), sender))
            except Error:
                self._write_down(given, refused=True)
                raise
            self._write_down(given)
            self._answered.add(int(sender[0]))
            return int(sender[0])

    def advance(self) -> Step:
        """Closes the current step and returns the next: members that have not answered have dropped out. InputError if fewer than the
        threshold are left: the sum reveals nothing then, and is to be repeated as another attempt."""
        step = ffi.new("mfpg_sum_step *")
        with self._lock, Context() as ctx:
            ctx.check(lib.mfpg_sum_server_advance(ctx.pointer, self._pointer, step))
            self.step, self._asked, self._answered = Step(step[0]), sorted(self._answered), set()
            return self.step

    def sum(self) -> Sum:
        """The sum, after Step.DONE."""
        vector = np.empty(self._terms.dimension, np.int64)
        flags = ffi.new("unsigned char[]", len(self._roster))
        with self._lock, Context() as ctx:
            ctx.check(lib.mfpg_sum_server_sum(ctx.pointer, self._pointer, ffi.cast("int64_t *", ffi.from_buffer(vector)), flags))
        return Sum(vector, tuple(bool(flag) for flag in flags))

    def _write_down(self, message: bytes, refused: bool = False) -> None:
        if self._transcript:
            self._transcript.message(message, refused)

    def __repr__(self) -> str:
        return f"<mfpg.secure_sum.Server of round {self._terms.round}, attempt {self._terms.attempt}: {self.step.name.lower()}>"


__all__ = ["Client", "Identity", "Release", "Roster", "Server", "Share", "Step", "Sum", "Terms", "Transcript"]
