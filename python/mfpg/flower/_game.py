"""The client's side of the game: its best response to what the server announced."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import mfpg
from mfpg._call import InputError, number

GRID, MEAN, ACTION, NOISE = "mfpg-grid", "mfpg-mean", "mfpg-action", "mfpg-noise-sd"  # keys of records


class Game:
    """What a client minimises over the grid that the server sends, given the mean action of all.

    cost: a game of mfpg.solve whose cost reads public numbers only: "interaction" (default), the one in which the mean enters a
        client's own cost, c e (1 + zeta mean) + beta B/e, or "gaussian", "entropic", "measured" (a public loss) or "paper",
        whose best response in a mean field does not depend on it.
    constants: those of mfpg.solve for that cost (own_cost, interaction, privacy_scale, ...).

    beta, how much the client minds privacy loss, is not here: it is its own, and never sent. An action tells of it, though: who
    knows the constants can narrow beta down from noise or actions.
    """

    COSTS = ("interaction", "gaussian", "entropic", "measured", "paper")

    def __init__(self, cost: str = "interaction", **constants: Any) -> None:
        if cost not in self.COSTS:
            raise InputError(f"cost: found {cost!r}; allowed: {', '.join(self.COSTS)}")
        self.cost, self.constants = cost, constants
        self.best_response(1.0, [1.0], 0.0)  # constants that the cost does not read are refused here, not in the first round

    def best_response(self, beta: float, grid: list[float], mean: float) -> tuple[str, float]:
        """("budget" or "strength", the action of the grid that costs this client least); the more private one at a tie."""
        beta, mean = number("beta", beta, 0, above=True), number("mean", mean, 0)
        constants = dict(self.constants)
        if self.cost == "interaction":  # with the others' mean fixed, their part is a factor of the client's own cost
            factor = 1 + constants.pop("interaction", 0.0) * mean
            constants["own_cost"] = constants.get("own_cost", 1.0) * factor
        with warnings.catch_warnings():  # they are about populations that are all alike, and here is one client
            warnings.simplefilter("ignore", mfpg.MfpgWarning)
            solved = mfpg.solve(cost=self.cost, players="mean-field", beta=[beta], actions=list(grid), **constants)
        if not solved.converged:
            raise InputError("no best response was found")
        return solved.control, float(solved.actions[0])


@dataclasses.dataclass(frozen=True)
class Announcement:
    """What the server said about this round's game."""

    grid: list[float]
    mean: float


def read_announcement(configs: Any) -> Announcement:
    """Grid and mean field from the one ConfigRecord that has them."""
    found = [record for record in configs.values() if GRID in record]
    if len(found) != 1 or MEAN not in found[0]:
        raise InputError(f"the server announced no game: {GRID} and {MEAN} are missing; its strategy must be "
                         "mfpg.flower.PrivacyStrategy with a grid")
    grid = found[0][GRID]
    if not isinstance(grid, list) or not grid:
        raise InputError(f"{GRID}: found {grid!r}; allowed: a list of numbers")
    return Announcement([number(GRID, one, 0, above=True) for one in grid], number(MEAN, found[0][MEAN], 0))
