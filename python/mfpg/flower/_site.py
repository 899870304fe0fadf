"""A site's account: its ledger file across runs, and within a run the state that Flower keeps for it."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from typing import Any

from flwr.app import ConfigRecord

import mfpg
from mfpg.flower._refusal import Refusal

STATE = "mfpg"  # name of the record in context.state


class Site:
    """One client: what it promises, and what it has spent. The ledger is the account; the state of a run only shows whether lines
    were taken from it meanwhile.

    path: the ledger file, made if there is none, with its budget.
    stop_at_epsilon: the budget, over all runs, at `delta`; of this and the file's the smaller one counts.
    filter: as in mfpg.Ledger; "gdp" if the server chooses noise, or that of the others, after looking at earlier releases.
    secure_sum: the releases are shares of secure sums.
    """

    def __init__(self, path: str | os.PathLike[str], *, stop_at_epsilon: float, delta: float = 1e-5,
                 adjacency: str = "zero-out", filter: str = "accountant", seeded: bool = False, secure_sum: bool = False) -> None:
        self.path = pathlib.Path(path)
        self.header = mfpg.LedgerHeader(1, adjacency=adjacency, view="average" if secure_sum else "local", delta=delta, seeded=seeded,
                                        stop_at_epsilon=stop_at_epsilon, filter=filter, secure_sum=secure_sum)
        self.header.to_c()  # settings that are not allowed are refused now

    def check(self, release: mfpg.Release, state: Any) -> None:
        """Refuses where the release cannot be afforded, without recording it: there is no use in training for it."""
        if not self.path.exists():  # nothing is made before something is released
            wanted = self.header
            fresh = mfpg.Accountant(view=wanted.view, delta=wanted.delta, adjacency=wanted.adjacency, filter=wanted.filter,
                                    stop_at_epsilon=wanted.stop_at_epsilon)
            self._check_state((0, ""), state)
            if not fresh.affords(release):
                raise self._spent(wanted)
            return
        with self.open() as ledger:
            self._check_state(ledger.end, state)
            if not ledger.affords(release):
                raise self._spent(ledger.header)

    def spend(self, release: mfpg.Release, state: Any) -> tuple[int, mfpg.Spending]:
        """Charges a release that is about to leave: on disk, then in the state. Refuses, with nothing charged, if the budget does
        not last. Returns its number in the ledger, and what is spent."""
        with self.open() as ledger:
            self._check_state(ledger.end, state)
            if not ledger.spend(release):
                raise self._spent(ledger.header)
            self._note(ledger.end, state)
            return ledger.last_round, ledger.spending()

    def survived(self, round: int, attempt: int, survivors: int, last_sd: float, state: Any) -> None:
        """Writes down whose shares are in a secure sum, as in mfpg.Ledger.survivors."""
        with self.open() as ledger:
            self._check_state(ledger.end, state)
            ledger.survivors(round, attempt, survivors, last_sd)
            self._note(ledger.end, state)

    def next_round(self) -> int:
        """The number that the next release will have in the ledger."""
        if not self.path.exists():
            return 1
        with self.open() as ledger:
            return ledger.last_round + 1

    def open(self) -> mfpg.Ledger:
        """The ledger, made if there is none."""
        wanted = self.header
        if self.path.exists():
            ledger = mfpg.Ledger.open(self.path, stop_at_epsilon=wanted.stop_at_epsilon)
            found = ledger.header
            if found.stop_at_epsilon is None or dataclasses.replace(found, stop_at_epsilon=wanted.stop_at_epsilon) != wanted:
                ledger.close()
                raise Refusal("the site's ledger promises something else than this app", f"{self.path} has {found}, the app {wanted}")
            return ledger
        if not self.path.parent.is_dir():
            raise Refusal("the site's ledger cannot be made", f"no folder {self.path.parent}")
        return mfpg.Ledger.create(self.path, clients=1, adjacency=wanted.adjacency, view=wanted.view, delta=wanted.delta,
                                  seeded=wanted.seeded, stop_at_epsilon=wanted.stop_at_epsilon, filter=wanted.filter,
                                  secure_sum=wanted.secure_sum)

    # ---- inside ----

    def _note(self, end: tuple[int, str], state: Any) -> None:
        state[STATE] = ConfigRecord({"lines": end[0], "chain": end[1]})

    def _check_state(self, end: tuple[int, str], state: Any) -> None:
        """What this run has released stands in the ledger still: as many lines, and the same last one if none was added."""
        if STATE not in state:
            return
        kept, (lines, chain) = state[STATE], end
        if lines < kept["lines"] or (lines == kept["lines"] and chain != kept["chain"]):
            raise Refusal("the site's ledger no longer holds what this run has released",
                          f"{self.path} has {lines} lines, the run's state {kept['lines']}")

    def _spent(self, found: mfpg.LedgerHeader) -> Refusal:
        limit = min(self.header.stop_at_epsilon or 0.0, found.stop_at_epsilon or 0.0)
        return Refusal(f"the privacy budget of this client is spent: one more release would pass epsilon {limit:g} at delta "
                       f"{self.header.delta:g}")
