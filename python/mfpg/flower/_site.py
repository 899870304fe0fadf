"""A site's account: its ledger file across runs, and within a run the state that Flower keeps for it."""

from __future__ import annotations

import os
import pathlib
from typing import Any

from flwr.app import ConfigRecord

import mfpg
from mfpg.flower._refusal import Refusal

STATE = "mfpg"  # name of the record in context.state


class Site:
    """One client: what it promises, and what it has spent. The ledger is the truth; the state of a run shows whether lines were
    taken from it meanwhile.

    path: the ledger file, made where there is none.
    stop_at_epsilon: the budget, over all runs, at `delta`.
    filter: as in mfpg.Accountant; "gdp" where the server chooses noise after looking at earlier releases.
    """

    def __init__(self, path: str | os.PathLike[str], *, stop_at_epsilon: float, delta: float = 1e-5,
                 adjacency: str = "zero-out", filter: str = "accountant", seeded: bool = False) -> None:
        self.path = pathlib.Path(path)
        self.header = mfpg.LedgerHeader(1, adjacency=adjacency, delta=delta, seeded=seeded)
        self.stop_at_epsilon, self.filter = stop_at_epsilon, filter
        self.accountant()  # settings that are not allowed are refused now

    def accountant(self) -> mfpg.Accountant:
        """Everything in the ledger, priced."""
        made = mfpg.Accountant(delta=self.header.delta, adjacency=self.header.adjacency, filter=self.filter,
                               stop_at_epsilon=self.stop_at_epsilon)
        lines = self._lines()
        try:
            for line in lines:
                made.record(line.release)
        except mfpg.InputError:  # the filter's budget was lowered below what it admitted before
            raise self._spent() from None
        return made

    def check(self, release: mfpg.Release, state: Any) -> None:
        """Refuses where the release cannot be afforded, without recording it: there is no use in training for it."""
        self._check_state(state)
        self._afford(release)

    def spend(self, release: mfpg.Release, state: Any) -> mfpg.Accountant:
        """Charges a release that is about to leave: in the ledger, synced to disk, then in the state. Refuses, with nothing
        charged, where the budget does not last."""
        with self._open() as ledger:  # nobody else writes from here on
            self._check_state(state)
            accountant = self._afford(release)
            ledger.append(release)
            accountant.record(release)
            lines, chain = ledger.end
        state[STATE] = ConfigRecord({"accountant": accountant.to_bytes(), "lines": lines, "chain": chain})
        return accountant

    def next_round(self) -> int:
        """The number that the next release will have in the ledger."""
        return max((line.release.round for line in self._lines()), default=0) + 1

    # ---- inside ----

    def _lines(self) -> tuple[mfpg.LedgerLine, ...]:
        if not self.path.exists():
            return ()
        contents = mfpg.Ledger.read(self.path)
        if contents.header != self.header:
            raise Refusal("the site's ledger promises something else than this app",
                          f"{self.path} has {contents.header}, the app {self.header}")
        return contents.releases

    def _open(self) -> mfpg.Ledger:
        if self.path.exists():
            return mfpg.Ledger.open(self.path)
        if not self.path.parent.is_dir():
            raise Refusal("the site's ledger cannot be made", f"no folder {self.path.parent}")
        h = self.header
        return mfpg.Ledger.create(self.path, clients=1, adjacency=h.adjacency, delta=h.delta, seeded=h.seeded)

    def _check_state(self, state: Any) -> None:
        """What this run has released stands in the ledger still: as many lines, and the same last one if none was added."""
        if STATE not in state:
            return
        kept, end = state[STATE], (0, "")
        if self.path.exists():
            contents = mfpg.Ledger.read(self.path)
            end = contents.lines, contents.chain
        changed = end[0] == kept["lines"] and end[1] != kept["chain"]
        if end[0] < kept["lines"] or changed:
            raise Refusal("the site's ledger no longer holds what this run has released",
                          f"{self.path} has {end[0]} lines, the run's state {kept['lines']}")

    def _afford(self, release: mfpg.Release) -> mfpg.Accountant:
        accountant = self.accountant()
        if not accountant.affords(release):
            raise self._spent()
        return accountant

    def _spent(self) -> Refusal:
        return Refusal(f"the privacy budget of this client is spent: one more release would pass epsilon "
                       f"{self.stop_at_epsilon:g} at delta {self.header.delta:g}")
