"""PrivacyMod: what leaves a Flower client is private, and was paid for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from logging import INFO, WARNING
from typing import Any

import numpy as np
from flwr.app import Context, Message, MessageType, MetricRecord, RecordDict
from flwr.supercore import log

import mfpg
from mfpg._call import InputError, number, text
from mfpg._interface import lib
from mfpg.flower._game import ACTION, NOISE, Game, read_announcement
from mfpg.flower._refusal import Refusal, refuse
from mfpg.flower._site import STATE, Site
from mfpg.flower._update import add, check_alike, difference, only_arrays, read

CallNext = Callable[[Message, Context], Message]
Noise = dict[str, Any]  # the one control: {"strength": 0.5}


class PrivacyMod:
    """Makes the update of every training round private before it leaves: (reply - received), all floating-point arrays together
    clipped to one norm and noised once; whole numbers pass as they are.

        app = ClientApp()

        @app.train(mods=[PrivacyMod(clip=1.0, noise_multiplier=4.0)])
        def train(message, context): ...

    It goes first in the list of mods, so that it is the last to touch what leaves.

    clip, noise_multiplier or budget or strength, step, scale, law, delta, adjacency: as in mfpg.privatise.
    game: a Game instead of the noise: the client's best response to grid and mean field of the server, by its own preference.
    stop_at_epsilon: the budget of a client, over all runs; the site's own may be smaller.
    ledger: the file that lists its releases; without it, the site names it.
    public_metrics: names of metrics that may leave as they are. All others are removed: a loss tells of data. The number of
        examples, `weight_key`, is taken to be public.
    seed: for tests; None takes randomness of the operating system. Noise from a seed is reproducible, and not private.

    What a site sets when it starts its SuperNode (--node-config): ``ledger`` (path), ``epsilon`` (its budget: the smaller one
    counts) and, for a game, ``beta`` (its preference, never sent).

    Whatever is wrong, nothing leaves: the reply is an error with the reason in plain words, and the round goes on without this
    client. Only training passes; other messages are refused, since what they answer is not noised.
    """

    def __init__(self, *, clip: float = 1.0, noise_multiplier: float | None = None, budget: float | None = None,
                 strength: float | None = None, step: float | None = None, scale: str | None = None, law: str = "game",
                 delta: float = 1e-5, adjacency: str = "zero-out", game: Game | None = None,
                 stop_at_epsilon: float | None = None, ledger: str | os.PathLike[str] | None = None,
                 public_metrics: Iterable[str] = (), weight_key: str = "num-examples", seed: int | None = None) -> None:
        given = {"noise_multiplier": noise_multiplier, "budget": budget, "strength": strength}
        self.fixed: Noise = {name: value for name, value in given.items() if value is not None}
        if game is not None and self.fixed:
            raise InputError(f"game and {next(iter(self.fixed))} exclude each other: in a game the client chooses its noise")
        self.settings: dict[str, Any] = {"clip": clip, "law": law, "delta": delta, "adjacency": adjacency}
        self.of_strength: dict[str, Any] = {"step": step, "scale": scale}
        self.game, self.ledger, self.seed = game, ledger, seed
        self.stop_at_epsilon = stop_at_epsilon
        self.public_metrics, self.weight_key = frozenset(public_metrics), weight_key
        if game is None:
            self._price(self.fixed)  # what is not allowed is refused now
        if seed is not None:
            log(WARNING, "mfpg: the noise comes from seed %d: reproducible, and therefore NOT private", seed)

    def __call__(self, message: Message, context: Context, call_next: CallNext) -> Message:
        try:
            return self._train(message, context, call_next)
        except Refusal as refusal:
            return refuse(message, refusal)
        except mfpg.Error as problem:  # the library's texts may name files and places in arrays: for the site's log only
            return refuse(message, Refusal("the update cannot be made private, or its account cannot be kept; the site's log "
                                           "says why", str(problem)))

    def _train(self, message: Message, context: Context, call_next: CallNext) -> Message:
        if message.metadata.message_type.partition(".")[0] != MessageType.TRAIN:
            raise Refusal(f"a message of type {message.metadata.message_type!r} asks for something that is not noised; "
                          "PrivacyMod belongs to @app.train(mods=[...]), not to the whole app")
        received = read(only_arrays(message.content, "the message")[1], "the message")
        site = self.site(context)
        noise = self._choose(message, context)
        site.check(self._price(noise), context.state)
        reply = self._call(message, context, call_next)
        key, record = only_arrays(reply.content, "the reply")
        trained = read(record, "the reply")
        check_alike(received, trained)
        metrics = self._metrics(reply)
        private, release = self._privatise(difference(received, trained), noise, site.next_round())
        made = add(received, private)
        metrics.update(self._report(noise, release))
        if STATE not in context.state:  # once a run
            log(INFO, "mfpg: assumed: %s; the whole certificate: mfpg account --ledger %s",
                text(lib.mfpg_noise_assumption()), site.path)
        accountant = site.spend(release, context.state)  # on disk before anything leaves
        log(INFO, "mfpg: released with noise of sd %.4g; epsilon %.4g of %.4g at delta %g", release.noise_sd,
            accountant.epsilon(), site.stop_at_epsilon, site.header.delta)
        return Message(RecordDict({key: made, "metrics": MetricRecord(metrics)}), reply_to=message)

    def site(self, context: Context) -> Site:
        """The account of the client that this context belongs to."""
        own = context.node_config
        path = own.get("ledger", self.ledger)
        if path is None:
            raise Refusal("this site has no ledger", "start its SuperNode with --node-config 'ledger=\"/path/of/file\"'")
        limits = [number(name, value, 0, above=True) for name, value in
                  (("epsilon", own.get("epsilon")), ("stop_at_epsilon", self.stop_at_epsilon)) if value is not None]
        if not limits:
            raise Refusal("this client has no privacy budget", "give stop_at_epsilon, or --node-config 'epsilon=2.0'")
        return Site(str(path), stop_at_epsilon=min(limits), delta=self.settings["delta"],
                    adjacency=self.settings["adjacency"], filter="accountant" if self.game is None else "gdp",
                    seeded=self.seed is not None)

    # ---- steps of a round ----

    def _choose(self, message: Message, context: Context) -> Noise:
        """This round's noise, from public numbers and the client's preference; no data."""
        if self.game is None:
            return self.fixed
        if "beta" not in context.node_config:
            raise Refusal("this site has not said how much it minds privacy loss",
                          "start its SuperNode with --node-config 'beta=1.0'")
        try:
            said = read_announcement(message.content.config_records)
        except InputError as problem:
            raise Refusal(str(problem)) from None
        control, action = self.game.best_response(context.node_config["beta"], said.grid, said.mean)
        return {control: action}

    def _privatise(self, update: Any, noise: Noise, round: int) -> mfpg.Privatised:
        entropic = self.of_strength if "strength" in noise else {}
        return mfpg.privatise(update, **self.settings, **noise, **entropic, seed=self.seed, round=round)

    def _price(self, noise: Noise) -> mfpg.Release:
        """The release that such noise will be, without data."""
        if self.game is None:  # an option that belongs to another noise is refused
            return mfpg.privatise(np.zeros(1), **self.settings, **noise, **self.of_strength).release
        return self._privatise(np.zeros(1), noise, 1).release

    def _call(self, message: Message, context: Context, call_next: CallNext) -> Message:
        """Trains. What went wrong there may quote data, so the server is told no more than that."""
        try:
            reply = call_next(message, context)
        except Exception as problem:
            raise Refusal("training failed at this site; its log says why", f"{type(problem).__name__}: {problem}") from problem
        if reply.has_error():
            raise Refusal("training failed at this site; its log says why", str(reply.error.reason))
        return reply

    def _metrics(self, reply: Message) -> dict[str, Any]:
        """The metrics that may leave."""
        found = [item for record in reply.content.metric_records.values() for item in record.items()]
        kept = {name: value for name, value in found if name in self.public_metrics or name == self.weight_key}
        removed = sorted({name for name, _ in found} - kept.keys())
        if removed:
            log(INFO, "mfpg: metrics that are not public stay here: %s", ", ".join(removed))
        return kept

    def _report(self, noise: Noise, release: mfpg.Release) -> dict[str, float]:
        """What the server needs: the noise, and the action where there is one. Neither depends on data."""
        report = {NOISE: release.noise_sd}
        return report if self.game is None else {**report, ACTION: next(iter(noise.values()))}
