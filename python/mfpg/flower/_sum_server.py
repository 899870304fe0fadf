"""The server's side of secure sums: terms from what sites report, five exchanges, and what is done about those who do not answer."""

from __future__ import annotations

import dataclasses
import math
import secrets
import time
from collections.abc import Iterable, Mapping
from logging import INFO, WARNING
from typing import Any, NamedTuple

import numpy as np
from flwr.app import ConfigRecord, Message, MessageType, RecordDict
from flwr.serverapp import Grid
from flwr.supercore import log

from mfpg._call import Error, InputError, number
from mfpg.flower._game import ACTION, NOISE
from mfpg.flower._refusal import Refusal
from mfpg.flower._secure_sum import BYTES, CLIP, REPORT, SITE, STEP, SecureSum
from mfpg.flower._update import Arrays, floats_of
from mfpg.secure_sum import Roster, Server, Share, Step, Sum, Terms, Transcript

NOBODY = Share(0.0, 0.0, 1.0)


class Report(NamedTuple):
    """The public numbers of one site: the weight that it declared, not yet a share of all."""

    place: int
    weight: float
    noise_sd: float
    clip: float
    action: float | None


class Outcome(NamedTuple):
    """What a round's sum gave."""

    move: Arrays
    """How far the floating-point arrays of the model move, in double."""
    survivors: int
    noise_sd: float
    """Of the averaged model."""


class SumServer:
    """The secure sums of one run. The weights are those of all sites that have ever reported in it, so that a site which drops out
    changes neither the others' weights nor the grid; the average divides by the weight of those in the sum.

    refusals: by node, why nothing of it is in the latest round.
    """

    def __init__(self, settings: SecureSum, weights: str, weight_key: str) -> None:
        if settings.roster is None:
            raise InputError("secure_sum: the server needs the roster; give SecureSum roster")
        self.settings, self.weights, self.weight_key = settings, weights, weight_key
        self.roster, self.run = Roster.load(settings.roster), secrets.token_bytes(32)
        self.transcript = None if settings.transcript is None else Transcript(settings.transcript, self.roster)
        self.reports: dict[int, Report] = {}
        self.refusals: dict[int, str] = {}

    def round(self, number: int, model: Arrays, record: RecordDict, nodes: list[int],
              grid: Grid) -> tuple[Outcome | None, list[float]]:
        """One round: what came of it, and the actions that were reported. None: the model stays as it is."""
        self.refusals = {}
        here = self._ask_reports(record, nodes, grid)
        actions = [action for place in here if (action := self.reports[place].action) is not None]
        for attempt in range(1, self.settings.attempts + 1):
            try:
                terms = self._terms(number, attempt, sum(array.size for array in floats_of(model).values()))
                found = self._attempt(terms, record, here, grid)
                for place, node in here.items():
                    if found.survivors[place]:
                        self.refusals.pop(node, None)  # it may have gone later, but its vector is in the sum
                return self._average(terms, found, model), actions
            except Error as problem:
                log(WARNING, "round %d, attempt %d: no sum: %s", number, attempt, problem)
        return None, actions

    # ---- exchanges ----

    def _exchange(self, contents: Mapping[int, RecordDict], grid: Grid) -> dict[int, Message]:
        """Sends each node its message and waits for the answers, not beyond the time-out. Errors stand in `refusals`."""
        sent = [Message(content, dst_node_id=node, message_type=MessageType.TRAIN) for node, content in contents.items()]
        waiting = {identity for identity in grid.push_messages(sent) if identity}
        end, answers = time.monotonic() + self.settings.timeout, {}
        for node in contents:
            self.refusals[node] = "no answer within the time-out of the secure sum"
        while waiting:
            for message in grid.pull_messages(waiting):
                waiting.discard(message.metadata.reply_to_message_id)
                node = message.metadata.src_node_id
                if message.has_error():
                    self.refusals[node] = str(message.error.reason)
                else:
                    answers[node] = message
                    self.refusals.pop(node, None)
            if not waiting or time.monotonic() >= end:
                break
            time.sleep(0.1)
        return answers

    def _ask_reports(self, record: RecordDict, nodes: list[int], grid: Grid) -> dict[int, int]:
        """The nodes of the sites that told their numbers, by place."""
        found: dict[int, dict[int, Report]] = {}
        for node, message in self._exchange({node: request(record, REPORT) for node in nodes}, grid).items():
            try:
                report = self._read_report(message)
                found.setdefault(report.place, {})[node] = report
            except (Refusal, Error) as problem:
                self.refusals[node] = str(problem)
        here = {}
        for place, told in found.items():
            if len(told) == 1:
                (here[place], self.reports[place]), = told.items()
            for node in told if len(told) > 1 else ():
                self.refusals[node] = f"several nodes say that they are site {self.roster.names[place]!r}; none of them takes part"
        return here

    def _read_report(self, message: Message) -> Report:
        metrics = {name: value for record in message.content.metric_records.values() for name, value in record.items()}
        names = [record[SITE] for record in message.content.config_records.values() if SITE in record]
        if len(names) != 1 or not all(isinstance(metrics.get(name), (int, float)) for name in (self.weight_key, NOISE, CLIP)):
            raise Refusal(f"its report lacks {SITE}, {self.weight_key}, {NOISE} or {CLIP}")
        weight = number(self.weight_key, metrics[self.weight_key], 0, above=True) if self.weights == "examples" else 1.0
        action = metrics.get(ACTION)
        return Report(self.roster.place(str(names[0])), weight, number(NOISE, metrics[NOISE], 0, above=True),
                      number(CLIP, metrics[CLIP], 0, above=True), None if action is None else number(ACTION, action, 0, above=True))

    # ---- one sum ----

    def _weights(self) -> dict[int, float]:
        """The weights of all sites that have reported, by ascending place: sums and quotients are those of ``mfpg run``."""
        total = in_order(self.reports[place].weight for place in sorted(self.reports))
        return {place: self.reports[place].weight / total for place in sorted(self.reports)}

    def _terms(self, round: int, attempt: int, dimension: int) -> Terms:
        """The public numbers of a sum; the grid is the largest power of two up to a sixteenth of every share's noise."""
        weights, shares = self._weights(), [NOBODY] * len(self.roster)
        total, least = in_order(weights.values()), math.inf
        for place, weight in weights.items():
            report = self.reports[place]
            shares[place] = Share(weight / total, report.noise_sd, report.clip)
            least = min(least, weight * report.noise_sd)
        grid = math.ldexp(1.0, math.frexp(least)[1] - 5) if weights else 1.0
        terms = Terms(self.run, round, attempt, self.settings.threshold, self.settings.colluders, 64, dimension, grid, tuple(shares))
        terms.check(self.roster)
        return dataclasses.replace(terms, bits=terms.bits_needed(self.roster))

    def _attempt(self, terms: Terms, record: RecordDict, here: dict[int, int], grid: Grid) -> Sum:
        server = Server(self.roster, terms, self.transcript)
        while server.step != Step.DONE:
            asked = {here[place]: place for place in server.waiting if place in here}
            step = server.step.name.lower()
            contents = {node: request(record, step, server.ask(place)) for node, place in asked.items()}
            for node, message in self._exchange(contents, grid).items():
                try:
                    taken = server.take(bytes(only_bytes(message)))
                    if taken != asked[node]:
                        self.refusals[here[taken]] = f"node {node} answered for it"
                except (Refusal, Error) as problem:
                    self.refusals[node] = str(problem)
            log(INFO, "round %d, attempt %d, %s: %d of %d sites answered", terms.round, terms.attempt, step,
                len(set(asked.values()) - set(server.waiting)), len(self.reports))
            server.advance()
        return server.sum()

    def _average(self, terms: Terms, found: Sum, model: Arrays) -> Outcome:
        """The sum in the units of the model, divided by the weight of those in it: what weights and noise were is public."""
        inside = [share for share, survived in zip(terms.shares, found.survivors, strict=True) if survived]
        kept, gone = (in_order(weight for place, weight in self._weights().items() if found.survivors[place] is survived)
                      for survived in (True, False))
        remaining = kept / (kept + gone) if gone > 0 else 1.0
        step = terms.grid / remaining
        ends = np.cumsum([array.size for array in floats_of(model).values()])[:-1]
        move = {name: step * part.astype(np.float64).reshape(model[name].shape)
                for name, part in zip(floats_of(model), np.split(found.vector, ends), strict=True)}
        log(INFO, "round %d, attempt %d: the sum of %d of %d sites", terms.round, terms.attempt, len(inside), len(self.reports))
        return Outcome(move, len(inside), math.hypot(*(share.weight * share.noise_sd for share in inside)) / remaining)


def in_order(values: Iterable[float]) -> float:
    """Their sum, one after the other as C adds, which later versions of Python's sum do not."""
    total = 0.0
    for value in values:
        total += value
    return total


def request(record: RecordDict, step: str, message: bytes = b"") -> RecordDict:
    """What a node is sent: the announcements of the round, the step, and with the last message before a vector leaves the model."""
    content = RecordDict(dict(record.config_records))
    if step == "masked":
        content.update(record.array_records)
    content["mfpg"] = ConfigRecord({STEP: step, BYTES: message})
    return content


def only_bytes(message: Message) -> Any:
    found = [record[BYTES] for record in message.content.config_records.values() if isinstance(record.get(BYTES), bytes)]
    if len(found) != 1:
        raise Refusal("its answer is not one of a secure sum")
    return found[0]
