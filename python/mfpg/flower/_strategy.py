"""PrivacyStrategy: federated averaging that announces the game, goes on without clients that refuse, and waits for nobody
without limit."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from logging import INFO, WARNING
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg
from flwr.supercore import log

from mfpg._call import InputError, number
from mfpg.flower._game import ACTION, GRID, MEAN, NOISE
from mfpg.flower._refusal import Refusal
from mfpg.flower._secure_sum import SecureSum
from mfpg.flower._sum_server import Outcome, SumServer
from mfpg.flower._update import Arrays, check_alike, only_arrays, read

WEIGHTS = ("examples", "equal")


class Reply:
    """What one client sent, checked against the model."""

    def __init__(self, message: Message, model: Arrays, weights: str, weight_key: str) -> None:
        self.node = message.metadata.src_node_id
        self.arrays = read(only_arrays(message.content, "the reply")[1], "the reply")
        check_alike(model, self.arrays)
        if not all(np.isfinite(array).all() for array in self.arrays.values() if array.dtype.kind == "f"):
            raise Refusal("an array is not finite")
        metrics: dict[str, Any] = {}
        for record in message.content.metric_records.values():
            metrics.update(record)
        self.metrics = {name: float(value) for name, value in metrics.items()
                        if isinstance(value, (int, float)) and math.isfinite(value)}
        self.weight = self.metrics.get(weight_key, math.nan) if weights == "examples" else 1.0
        if not self.weight > 0:
            raise Refusal(f"its weight {weight_key!r} is missing or not above 0")


class PrivacyStrategy(FedAvg):
    """FedAvg for clients with PrivacyMod.

    grid: actions that clients may choose (ascending, above 0); None where noise is fixed, and no game is announced.
    mean_field: the mean action that is announced first (default: the middle of the grid); later ones are the plain mean, 1/N, of
        the actions that clients reported, moved by `damping` in (0, 1] of the way.
    weights: "examples" (default; the numbers that sites declare in public) or "equal": of clients in the model. They are
        renormalised over the clients that answered, and
        the metric ``mfpg-noise-sd``, the noise of the averaged model, is that of the weights really used. What a client
        is promised does not depend on them: it noises for itself alone.
    secure_sum: a SecureSum with the roster: this server learns the weighted sum of the updates and no single one. The weights are
        those of all sites that have reported in this run, and the average divides by the weight of the sites in the sum. All
        connected nodes are asked. A round whose sum fails is tried again, and changes nothing after the last attempt.
    patience: seconds to wait before a round for min_available_nodes; RuntimeError after that says how many, and who, are missing.
    Others: those of FedAvg; clients are not asked to evaluate unless fraction_evaluate is set (PrivacyMod refuses it).

    A reply that is an error, has other arrays than the model, a number that is not finite or no weight is left out, with its
    reason in the log. Whole numbers of the model are averaged and rounded. A round without replies changes nothing.
    """

    def __init__(self, *, grid: Iterable[float] | None = None, mean_field: float | None = None, damping: float = 1.0,
                 weights: str = "examples", patience: float = 600.0, fraction_evaluate: float = 0.0,
                 secure_sum: SecureSum | None = None, **others: Any) -> None:
        super().__init__(fraction_evaluate=fraction_evaluate, **others)
        if weights not in WEIGHTS:
            raise InputError(f"weights: found {weights!r}; allowed: {', '.join(WEIGHTS)}")
        if grid is None and mean_field is not None:
            raise InputError("mean_field belongs to a game; give its grid")
        self.game_grid = None if grid is None else [number("grid", one, 0, above=True) for one in grid]
        if self.game_grid is not None and (not self.game_grid or sorted(set(self.game_grid)) != self.game_grid):
            raise InputError(f"grid: found {self.game_grid}; allowed: numbers above 0 in ascending order, each once")
        middle = self.game_grid[len(self.game_grid) // 2] if self.game_grid else 0.0
        self.mean_field = number("mean_field", middle if mean_field is None else mean_field, 0)
        self.damping = number("damping", damping, 0, above=True)
        if self.damping > 1:
            raise InputError(f"damping: found {damping:g}; allowed: a number above 0, at most 1")
        self.weights, self.patience = weights, number("patience", patience, 0)
        if secure_sum is not None and self.fraction_train != 1.0:
            raise InputError("fraction_train: all sites take part in a secure sum; allowed: 1")
        self._sums = None if secure_sum is None else SumServer(secure_sum, weights, self.weighted_by_key)
        self._outcome: Outcome | None = None
        self.refusals: dict[int, dict[int, str]] = {}
        """By round: the nodes that sent no update, and why."""
        self._known: set[int] = set()
        self._asked: list[int] = []
        self._model: Arrays = {}

    # ---- asking ----

    def configure_train(self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid) -> Iterable[Message]:
        self._wait(server_round, grid)
        self._model = read(arrays, "the model")
        if self.game_grid is not None:
            config[GRID], config[MEAN] = list(self.game_grid), self.mean_field
        if self._sums is not None:
            self._sum(server_round, arrays, config, grid)
            return []  # every exchange of the round is over
        messages = list(super().configure_train(server_round, arrays, config, grid))
        self._asked = [message.metadata.dst_node_id for message in messages]
        return messages

    def _wait(self, server_round: int, grid: Grid) -> None:
        """Until enough clients are connected; not without limit."""
        needed = max(self.min_available_nodes, self.min_train_nodes)
        end = time.monotonic() + self.patience
        while True:
            here = set(grid.get_node_ids())
            self._known |= here
            if len(here) >= needed:
                return
            if time.monotonic() >= end:
                gone = ", ".join(map(str, sorted(self._known - here))) or "none; the others never connected"
                raise RuntimeError(f"round {server_round}: {len(here)} of the {needed} nodes needed are connected after "
                                   f"{self.patience:g} s; connected before and now missing: {gone}")
            time.sleep(min(0.5, max(self.patience, 0.01)))

    def _sum(self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid) -> None:
        """The round as a secure sum."""
        assert self._sums is not None
        config["server-round"] = server_round
        record = RecordDict({self.arrayrecord_key: arrays, self.configrecord_key: config})
        self._asked = sorted(grid.get_node_ids())
        self._outcome, actions = self._sums.round(server_round, self._model, record, self._asked, grid)
        self._tell(server_round, self._sums.refusals, 0 if self._outcome is None else self._outcome.survivors)
        self._update_mean_field(server_round, actions)

    # ---- aggregating ----

    def aggregate_train(self, server_round: int, replies: Iterable[Message]) -> tuple[ArrayRecord | None, MetricRecord | None]:
        if self._sums is not None:
            return self._moved()
        used = self._take(server_round, list(replies))
        if not used:
            log(WARNING, "round %d: no client sent an update; the model stays as it is", server_round)
            return None, None
        total = sum(reply.weight for reply in used)
        shares = [reply.weight / total for reply in used]
        metrics = self._metrics(used, shares)
        self._update_mean_field(server_round, [reply.metrics[ACTION] for reply in used if ACTION in reply.metrics])
        metrics[MEAN] = self.mean_field
        return ArrayRecord({name: Array(average([reply.arrays[name] for reply in used], shares)) for name in self._model}), \
            MetricRecord({**metrics, "clients": len(used)})

    def _moved(self) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """The model, moved by the average of a secure sum; whole numbers stay as they are."""
        if self._outcome is None:
            return None, None
        move = self._outcome.move
        moved = {name: np.asarray(array + move[name]).astype(array.dtype) if name in move else array
                 for name, array in self._model.items()}
        return ArrayRecord({name: Array(array) for name, array in moved.items()}), MetricRecord({
            NOISE: self._outcome.noise_sd, MEAN: self.mean_field, "clients": self._outcome.survivors})

    def _take(self, server_round: int, replies: list[Message]) -> list[Reply]:
        """The replies that are fit for use; reasons for the others are logged and kept in `refusals`."""
        used, why = [], {}
        for message in replies:
            node = message.metadata.src_node_id
            if message.has_error():
                why[node] = str(message.error.reason)
                continue
            try:
                used.append(Reply(message, self._model, self.weights, self.weighted_by_key))
            except Refusal as refusal:
                why[node] = str(refusal)
        answered = {reply.node for reply in used} | why.keys()
        why.update({node: "no reply within the time-out of the round" for node in self._asked if node not in answered})
        self._tell(server_round, why, len(used))
        return sorted(used, key=lambda reply: reply.node)  # a sum that does not depend on who was first

    def _tell(self, server_round: int, why: dict[int, str], used: int) -> None:
        self.refusals[server_round] = why
        log(INFO, "round %d: %d of %d clients sent an update", server_round, used, len(self._asked))
        for node, reason in sorted(why.items()):
            log(WARNING, "round %d: nothing from node %d: %s", server_round, node, reason)

    def _metrics(self, used: list[Reply], shares: list[float]) -> dict[str, float]:
        """Means by the weights used, of what all clients sent; the noise of the average."""
        common = set.intersection(*(set(reply.metrics) for reply in used)) - {self.weighted_by_key, ACTION, NOISE}
        found = {name: math.fsum(share * reply.metrics[name] for share, reply in zip(shares, used, strict=True))
                 for name in sorted(common)}
        if all(NOISE in reply.metrics for reply in used):
            found[NOISE] = math.hypot(*(share * reply.metrics[NOISE] for share, reply in zip(shares, used, strict=True)))
        return found

    def _update_mean_field(self, server_round: int, reported: list[float]) -> None:
        """The plain mean of actions: a client counts once, however many examples it has. An action that is not of the grid is no
        action of this game."""
        if self.game_grid is None:
            return
        actions = [action for action in reported if action in self.game_grid]
        if actions:
            self.mean_field += self.damping * (math.fsum(actions) / len(actions) - self.mean_field)
        log(INFO, "round %d: mean field %.6g from %d actions", server_round, self.mean_field, len(actions))


def average(arrays: list[np.ndarray[Any, Any]], shares: list[float]) -> np.ndarray[Any, Any]:
    """In double, then of the type it was; whole numbers rounded."""
    mean = np.zeros(arrays[0].shape)
    for array, share in zip(arrays, shares, strict=True):
        mean = mean + share * array.astype(np.float64)
    kind = arrays[0].dtype
    return np.asarray(mean if kind.kind == "f" else np.rint(mean)).astype(kind)
