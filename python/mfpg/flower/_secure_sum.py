"""Secure sums over Flower's messages: what both sides agree on, and what a site keeps between two messages."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

from mfpg._call import InputError, number, whole
from mfpg.flower._refusal import Refusal
from mfpg.secure_sum import Identity, Roster, Step, Terms

STEP, BYTES, SITE, CLIP = "mfpg-step", "mfpg-bytes", "mfpg-site", "mfpg-clip"  # keys of records
MODS_OF_FLOWER = os.path.join("client", "mod", "utils.py")  # where Flower wraps one mod into the next
REPORT = "report"
"""The exchange before the sum, in which sites tell their public numbers."""
UNPAID_REPORTS = 3
"""So many announcements of a game does a site answer between two releases."""
STEPS = tuple(step.name.lower() for step in Step if step != Step.DONE)


@dataclasses.dataclass(frozen=True)
class SecureSum:
    """The server learns the weighted sum of the updates and no single one; for PrivacyMod and PrivacyStrategy alike.

    threshold: t. With fewer answers nothing is learnt; t > (n + c)/2 for n sites and c colluders.
    colluders: c, sites that may work together with the server; 0: the promise is one against the server alone.
    roster: file of the sites' names and public keys, the same at all of them and at the server (``mfpg keys``).
    identity: a site's own key file.
    timeout: on the server: seconds that it waits for the answers of one exchange; a site that is late has dropped out of this sum.
    attempts: on the server: how often a round's sum is tried. Every attempt that got as far as the masked vectors is a release of its
        own, with fresh noise, which every site is charged for.
    transcript: on the server: a file to which everything that it sends and receives in sums is appended, for ``mfpg audit --transcript``.

    A site's SuperNode may name its files: --node-config 'roster="/path" identity="/path"'.
    """

    threshold: int
    colluders: int = 0
    roster: str | os.PathLike[str] | None = None
    identity: str | os.PathLike[str] | None = None
    timeout: float = 120.0
    attempts: int = 2
    transcript: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        whole("threshold", self.threshold, 2, 255)
        whole("colluders", self.colluders, 0, 255)
        whole("attempts", self.attempts, 1, 1000)
        number("timeout", self.timeout, 0, above=True)


def request_of(configs: Any) -> tuple[str, bytes]:
    """The step of a secure sum that the server is at, and its message."""
    found = [record for record in configs.values() if STEP in record]
    if len(found) != 1:
        raise Refusal("the server asks for an update of its own, and this app answers to secure sums only; its strategy must be "
                      "mfpg.flower.PrivacyStrategy with secure_sum")
    step, message = found[0][STEP], found[0].get(BYTES)
    if step not in (REPORT, *STEPS):
        raise Refusal(f"{STEP}: found {str(step)[:40]!r}, which is no step of a secure sum; is the server's mfpg another version?")
    if not isinstance(message, bytes):
        raise Refusal(f"{BYTES}: found {'nothing' if message is None else type(message).__name__}; allowed: bytes")
    return str(step), message


class Part:
    """A site's part in a secure sum: roster, identity, and the file next to the ledger in which it is kept between two messages,
    since every message may be answered by a process of its own."""

    def __init__(self, settings: SecureSum, own: Any, ledger: pathlib.Path) -> None:
        files = {name: own.get(name, getattr(settings, name)) for name in ("roster", "identity")}
        for name, file in files.items():
            if file is None:
                raise Refusal(f"this site has no {name} for secure sums",
                              f"start its SuperNode with --node-config '{name}=\"/path/of/file\"'")
        self.roster, self.identity = Roster.load(str(files["roster"])), Identity.load(str(files["identity"]))
        self.place = self.roster.place(self.identity)
        self.demands = {"threshold": settings.threshold, "colluders": settings.colluders}
        self.path = ledger.with_name(ledger.name + ".sum")

    @property
    def name(self) -> str:
        return self.roster.names[self.place]

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """One message at a time: a process that still trains for an earlier attempt writes its state before the next one begins."""
        with open(os.open(self.path.with_name(self.path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # it ends with the process, however that ends
            yield

    def read(self) -> tuple[dict[str, Any], bytes]:
        """What was kept: notes of this package, and the state of the client."""
        try:
            notes, _, state = self.path.read_bytes().partition(b"\n")
            return dict(json.loads(notes)), state
        except FileNotFoundError:
            return {"sum": None}, b""
        except ValueError as problem:
            raise Refusal("what this site kept of a sum is damaged", f"{self.path}: {problem}") from None

    def keep(self, notes: dict[str, Any], state: bytes) -> None:
        """On disk before the answer leaves, in the place of what was kept before. No state: the sum is over and is not begun
        again."""
        fresh = self.path.with_name(self.path.name + ".new")
        with contextlib.suppress(FileNotFoundError):
            fresh.unlink()
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(json.dumps(notes).encode() + b"\n" + state)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, self.path)
        folder = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def check_new(self, terms: Terms) -> None:
        """An attempt is begun once, and none before it afterwards."""
        before, now = self.read()[0]["sum"], sum_of(terms)
        if before and before[0] == now[0] and before >= now:
            raise Refusal(f"round {terms.round}, attempt {terms.attempt} of this run was begun here already, or a later one")


def sum_of(terms: Terms) -> list[Any]:
    """What identifies an attempt: run, round, attempt."""
    return [terms.run.hex(), terms.round, terms.attempt]


def check_outermost() -> None:
    """Refuses if another mod comes before PrivacyMod in the list: it could change what leaves, or read what comes."""
    frame, mods = sys._getframe(1), 0
    while frame is not None:
        code = frame.f_code
        mods += code.co_name == "new_ffn" and code.co_filename.endswith(MODS_OF_FLOWER)
        frame = frame.f_back  # type: ignore[assignment]
    if mods > 1:
        raise Refusal("another mod comes before PrivacyMod; in the list of mods it must be the first")
