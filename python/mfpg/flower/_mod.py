"""PrivacyMod: what leaves a Flower client is private, and was paid for."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable
from itertools import pairwise
from logging import INFO, WARNING
from typing import Any

import numpy as np
from flwr.app import ConfigRecord, Context, Message, MessageType, MetricRecord, RecordDict
from flwr.supercore import log

import mfpg
from mfpg._call import InputError, number, whole
from mfpg._release import MOST
from mfpg.flower._game import ACTION, NOISE, Announcement, Game, read_announcement
from mfpg.flower._refusal import Refusal, refuse
from mfpg.flower._secure_sum import BYTES, CLIP, REPORT, SITE, STEP, STEPS, UNPAID_REPORTS, Part, SecureSum, check_outermost, request_of, sum_of
from mfpg.flower._site import STATE, Site
from mfpg.flower._update import Arrays, add, check_alike, check_model, difference, floats_of, only_arrays, read
from mfpg.secure_sum import Client, Share, Terms

CallNext = Callable[[Message, Context], Message]
Noise = dict[str, Any]  # the one control: {"strength": 0.5}


class PrivacyMod:
    """Makes the update of every training round private before it leaves: (reply - received), all floating-point arrays together
    clipped to one norm and noised once, on a public grid.

        app = ClientApp()

        @app.train(mods=[PrivacyMod(clip=1.0, noise_multiplier=4.0)])
        def train(message, context): ...

    It goes first in the list of mods, so that it is the last to touch what leaves.

    clip, noise_multiplier or budget or strength, step, scale, law, delta, adjacency: as in mfpg.privatise.
    game: a Game instead of the noise: the client's best response to grid and mean field of the server, by its own preference.
    stop_at_epsilon: the budget of a client, over all runs; the site's own may be smaller.
    ledger: the file that lists its releases; without it, the site names it.
    num_examples: the weight of this client in an average, which leaves as metric `weight_key`: a public number that is declared here
        or by the site, not what the app counts, which is private. Without either it is 1.
    public_metrics, public_arrays: names of metrics, and of arrays of whole numbers (counters of a model), that leave as the app made
        them. They are NOT covered by any certificate, nor is whether they come. All other metrics are removed, since a loss tells
        of data; all other arrays of whole numbers go back as they were received.
    secure_sum: a SecureSum: the update leaves masked, as a share of a weighted sum, and the server learns the sum alone. The promise
        is then one of the view "average" (docs/secure_sum.md), the ledger one of secure sums, and nothing is public but the numbers that
        go into the terms.
    seed: for tests; None takes randomness of the operating system. Noise from a seed is reproducible, and not private.

    What a site sets when it starts its SuperNode (--node-config): ``ledger`` (path), ``epsilon`` (its budget: the smaller one
    counts), ``num-examples`` (declared, public), for a game ``beta`` (its preference, never sent), for secure sums ``roster`` and
    ``identity`` (paths).

    Silence is for public reasons only. A refusal (an error with the reason in plain words, after which the round goes on without
    this client) names the budget, the ledger, the message or the configuration, and is decided before training. The release is
    charged before training as well. After that something always leaves: training that fails, or gives other arrays than were
    received or numbers that are not finite, counts as an update of zeros, which is noised like any other; what happened is in the
    site's log. Only training passes; other messages are refused, since what they answer is not noised.

    The promise is about the client: one record of its data is protected at the epsilon for adjacency "replace".
    """

    def __init__(self, *, clip: float = 1.0, noise_multiplier: float | None = None, budget: float | None = None,
                 strength: float | None = None, step: float | None = None, scale: str | None = None, law: str = "game",
                 delta: float = 1e-5, adjacency: str = "zero-out", game: Game | None = None,
                 stop_at_epsilon: float | None = None, ledger: str | os.PathLike[str] | None = None,
                 num_examples: int | None = None, public_metrics: Iterable[str] = (), public_arrays: Iterable[str] = (),
                 weight_key: str = "num-examples", secure_sum: SecureSum | None = None, seed: int | None = None) -> None:
        given = {"noise_multiplier": noise_multiplier, "budget": budget, "strength": strength}
        self.fixed: Noise = {name: value for name, value in given.items() if value is not None}
        if game is not None and self.fixed:
            raise InputError(f"game and {next(iter(self.fixed))} exclude each other: in a game the client chooses its noise")
        self.settings: dict[str, Any] = {"clip": clip, "law": law, "delta": delta, "adjacency": adjacency}
        self.of_strength: dict[str, Any] = {"step": step, "scale": scale}
        self.game, self.ledger, self.seed = game, ledger, seed
        self.stop_at_epsilon = stop_at_epsilon
        self.num_examples = whole("num_examples", 1 if num_examples is None else num_examples, 1, MOST)
        self.public_metrics, self.public_arrays = frozenset(public_metrics), frozenset(public_arrays)
        self.weight_key, self.secure_sum = weight_key, secure_sum
        if secure_sum is not None and (self.public_metrics or self.public_arrays):
            raise InputError("public_metrics and public_arrays do not go with secure_sum: nothing leaves but a share of the sum")
        if game is None:
            self._price(self.fixed)  # what is not allowed is refused now
        if seed is not None:
            log(WARNING, "mfpg: the noise comes from seed %d: reproducible, and therefore NOT private", seed)

    def __call__(self, message: Message, context: Context, call_next: CallNext) -> Message:
        try:
            if message.metadata.message_type.partition(".")[0] != MessageType.TRAIN:
                raise Refusal(f"a message of type {message.metadata.message_type!r} asks for something that is not noised; "
                              "PrivacyMod belongs to @app.train(mods=[...]), not to the whole app")
            return (self._train if self.secure_sum is None else self._sum)(message, context, call_next)
        except Refusal as refusal:
            return refuse(message, refusal)
        except (mfpg.Error, OSError) as problem:  # the library's texts may name files and places in arrays: for the site's log only
            return refuse(message, Refusal("the update cannot be made private, or its account cannot be kept; the site's log "
                                           "says why", str(problem)))

    def _train(self, message: Message, context: Context, call_next: CallNext) -> Message:
        if any(STEP in record for record in message.content.config_records.values()):
            raise Refusal("the server asks for a secure sum, and this app has none; give PrivacyMod secure_sum")
        key, record = only_arrays(message.content, "the message")
        received = read(record, "the message")
        check_model(received)
        site = self.site(context)
        examples = self._examples(context)
        noise = self._choose(message, context)
        site.check(self._price(noise), context.state)
        release = self._price(noise, site.next_round())
        if STATE not in context.state:  # once a run
            log(INFO, "mfpg: the certificate is the budget, epsilon %.4g, and a smaller one only if the number of rounds was fixed "
                "beforehand; what was spent, with what it assumes: mfpg account --ledger %s", site.header.stop_at_epsilon, site.path)
        _, spending = site.spend(release, context.state)  # on disk before training: whatever happens there was paid for
        update, metrics = self._learn(received, message, context, call_next)
        private, released = self._privatise(update, noise, release.round)
        if released != release:
            raise Refusal("the release is not the one that was charged", f"{released}, charged {release}")
        made = add(received, private)
        log(INFO, "mfpg: released with noise of sd %.4g; spent epsilon %.4g of %.4g at delta %g", release.noise_sd,
            spending.spent, site.header.stop_at_epsilon, site.header.delta)
        content = {self.weight_key: examples, **metrics, **self._report(noise, release)}
        return Message(RecordDict({key: made, "metrics": MetricRecord(content)}), reply_to=message)

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
        noise_is_fixed = self.game is None and self.secure_sum is None  # otherwise the server has a say, after earlier releases
        return Site(str(path), stop_at_epsilon=min(limits), delta=self.settings["delta"],
                    adjacency=self.settings["adjacency"], filter="accountant" if noise_is_fixed else "gdp",
                    seeded=self.seed is not None, secure_sum=self.secure_sum is not None)

    # ---- a secure sum ----

    def _sum(self, message: Message, context: Context, call_next: CallNext) -> Message:
        """One exchange: the public numbers of this site, or its next answer."""
        assert self.secure_sum is not None
        check_outermost()
        (step, given), site = request_of(message.content.config_records), self.site(context)
        part = Part(self.secure_sum, context.node_config, site.path)
        if step == REPORT:
            noise = self._choose_for_sums(message, context, part)
            told = {self.weight_key: self._examples(context), CLIP: self._price(noise).sensitivity,
                    **self._report(noise, self._price(noise))}
            return Message(RecordDict({"metrics": MetricRecord(told), "mfpg": ConfigRecord({SITE: part.name})}), reply_to=message)
        with part.alone():
            if step == "keys":
                answer = self._begin(given, message, context, site, part)
            else:
                answer = self._go_on(step, given, message, context, site, part, call_next)
        return Message(RecordDict({"mfpg": ConfigRecord({BYTES: answer})}), reply_to=message)

    def _client(self, part: Part, noise: Noise, release: Any, state: bytes | None = None) -> Client:
        price = self._price(noise)
        own = Share(-1.0, price.noise_sd, price.sensitivity)  # any weight: the promise is that of the weights in the terms
        return Client(part.roster, part.identity, **part.demands, own=own, release=release, seed=self.seed, state=state)

    def _begin(self, given: bytes, message: Message, context: Context, site: Site, part: Part) -> bytes:
        """Answers the terms: whether this site agrees to them, and can pay for them."""
        report = part.read()[0].get("report")
        noise = self.fixed if self.game is None else report and report["noise"]
        if not noise:
            raise Refusal("this site has not reported its noise, and is not asked for it by the terms of a sum")
        client = self._client(part, noise, None)
        answer, terms = client.answer(given), client.terms
        assert terms is not None
        part.check_new(terms)
        site.check(self._release_of_sum(noise, terms, part), context.state)
        part.keep({"sum": sum_of(terms), "step": "keys", "noise": noise, "report": report}, client.save())
        return answer

    def _go_on(self, step: str, given: bytes, message: Message, context: Context, site: Site, part: Part,
               call_next: CallNext) -> bytes:
        """Answers the later messages. A message that ends the sum ends what was kept of it too."""
        notes, state = part.read()
        if not state:
            raise Refusal("no secure sum is under way at this site")

        def release(terms: Terms, _: Any) -> Any:
            notes["round"], spending = site.spend(self._release_of_sum(notes["noise"], terms, part), context.state)
            if notes.get("report"):
                notes["report"]["unpaid"] = 0
            share = self._share(received, notes["noise"], terms, part, message, context, call_next)
            log(INFO, "mfpg: released in round %d, attempt %d of the secure sum; the certificate is the budget, epsilon %.4g at "
                "delta %g, of which %.4g is spent", terms.round, terms.attempt, spending.epsilon, site.header.delta, spending.spent)
            return share

        try:
            client = self._client(part, notes["noise"], release, state)
            terms, survivors = client.terms, client.survivors
            if (notes["step"], step) not in pairwise(STEPS):  # what the server says of a message decides what is checked before it
                raise Refusal(f"step {step!r} does not follow step {notes['step']!r} of the secure sum")
            received = self._model_of_sum(message, terms) if step == "masked" and terms is not None else {}  # before memory is taken
            answer = client.answer(given)
        except BaseException:
            part.keep({**notes, "step": "over"}, b"")
            raise
        done = client.terms is None
        if done and terms is not None:
            site.survived(notes["round"], terms.attempt, sum(survivors), terms.noise(part.roster, part.place, survivors),
                          context.state)
        part.keep({**notes, "step": step}, b"" if done else client.save())
        return answer

    def _model_of_sum(self, message: Message, terms: Terms) -> Arrays:
        """The model, whose numbers the sum is about."""
        received = read(only_arrays(message.content, "the message")[1], "the message")
        check_model(received)
        found = sum(array.size for array in floats_of(received).values())
        if found != terms.dimension:
            raise Refusal(f"the model has {found} floating-point numbers, the terms {terms.dimension}")
        return received

    def _share(self, received: Arrays, noise: Noise, terms: Terms, part: Part, message: Message, context: Context,
               call_next: CallNext) -> Any:
        """Trains, and makes the integers that leave masked. The release was charged."""
        update, _ = self._learn(received, message, context, call_next)
        private = self._privatise_share(floats_of(update), noise, terms, part).update
        return np.concatenate([array.reshape(-1) for array in private.values()])

    def _privatise_share(self, update: Any, noise: Noise, terms: Terms, part: Part) -> mfpg.Privatised:
        return self._privatise(update, noise, terms.round, client=part.place, weight=terms.shares[part.place].weight, grid=terms.grid,
                               attempt=terms.attempt)

    def _release_of_sum(self, noise: Noise, terms: Terms, part: Part) -> mfpg.Release:
        """The release that a share will be, with the noise of the others that is sure."""
        return dataclasses.replace(
            self._privatise_share(np.zeros(1, np.float32), noise, terms, part).release, client=0,
            last_sd=terms.noise(part.roster, part.place), run=int.from_bytes(terms.run[:6], "big"), sum_round=terms.round,
            attempt=terms.attempt, members=sum(share.weight > 0 for share in terms.shares), threshold=terms.threshold,
            colluders=terms.colluders)

    # ---- steps of a round ----

    def _examples(self, context: Context) -> int:
        return whole("num-examples", context.node_config.get("num-examples", self.num_examples), 1, MOST)

    def _choose(self, message: Message, context: Context) -> Noise:
        """This round's noise, from public numbers and the client's preference; no data."""
        return self.fixed if self.game is None else self._best_response(self._announced(message, context), context)

    def _choose_for_sums(self, message: Message, context: Context, part: Part) -> Noise:
        """The same, kept for the sums that follow. Each answer tells of the preference, and is free until a sum follows: so the same
        announcement has the same answer, and after a few that led to no release the last answer stands (docs/secure_sum.md)."""
        if self.game is None:
            return self.fixed
        said = self._announced(message, context)
        with part.alone():
            notes, state = part.read()
            kept = notes.get("report") or {"run": None, "grid": None, "mean": None, "unpaid": 0}
            if kept["run"] == context.run_id and kept["grid"] != said.grid:
                raise Refusal("the grid of actions is another one than before in this run")
            if kept["unpaid"] and (kept["grid"], kept["mean"]) == (said.grid, said.mean):
                return dict(kept["noise"])
            if kept["unpaid"] >= UNPAID_REPORTS:
                if kept["grid"] != said.grid:
                    raise Refusal(f"{UNPAID_REPORTS} reports led to no release; another grid is answered after the next release")
                log(WARNING, "mfpg: %d reports led to no release; the action stays as it is until the next one", UNPAID_REPORTS)
                return dict(kept["noise"])
            noise = self._best_response(said, context)
            part.keep({**notes, "report": {"run": context.run_id, "grid": said.grid, "mean": said.mean, "noise": noise,
                                           "unpaid": kept["unpaid"] + 1}}, state)
            return noise

    def _announced(self, message: Message, context: Context) -> Announcement:
        if "beta" not in context.node_config:
            raise Refusal("this site has not said how much it minds privacy loss",
                          "start its SuperNode with --node-config 'beta=1.0'")
        try:
            return read_announcement(message.content.config_records)
        except InputError as problem:
            raise Refusal(str(problem)) from None

    def _best_response(self, said: Announcement, context: Context) -> Noise:
        assert self.game is not None
        control, action = self.game.best_response(context.node_config["beta"], said.grid, said.mean)
        return {control: action}

    def _privatise(self, update: Any, noise: Noise, round: int, **share: Any) -> mfpg.Privatised:
        entropic = self.of_strength if "strength" in noise else {}
        return mfpg.privatise(update, **self.settings, **noise, **entropic, **share, seed=self.seed, round=round)

    def _price(self, noise: Noise, round: int = 1) -> mfpg.Release:
        """The release that such noise will be, without data."""
        if self.game is None:  # an option that belongs to another noise is refused
            return mfpg.privatise(np.zeros(1), **self.settings, **noise, **self.of_strength, round=round).release
        return self._privatise(np.zeros(1), noise, round).release

    def _learn(self, received: Arrays, message: Message, context: Context, call_next: CallNext) -> tuple[Arrays, dict[str, Any]]:
        """Trains: the update, and the metrics that may leave. What happens there depends on data, so nothing of it may show: whatever
        goes wrong, the update is zero."""
        try:
            reply = call_next(message, context)
            if reply.has_error():
                raise RuntimeError(reply.error.reason)
            trained = read(only_arrays(reply.content, "the reply")[1], "the reply")
            check_alike(received, trained)
            return difference(received, trained, self.public_arrays), self._metrics(reply)
        except BaseException as problem:  # whatever it is: the charge is made, and silence would tell of data
            detail = getattr(problem, "detail", None)
            log(WARNING, "mfpg: training gave no update: %s: %s%s; what is sent is the noise of a zero update",
                type(problem).__name__, problem, f" ({detail})" if detail else "")
            return difference(received, received, frozenset()), {}

    def _metrics(self, reply: Message) -> dict[str, Any]:
        """The metrics that may leave."""
        found = [item for record in reply.content.metric_records.values() for item in record.items()]
        kept = {name: value for name, value in found if name in self.public_metrics}
        removed = sorted({name for name, _ in found} - kept.keys())
        if removed:
            log(INFO, "mfpg: metrics that are not public stay here: %s", ", ".join(removed))
        return kept

    def _report(self, noise: Noise, release: mfpg.Release) -> dict[str, float]:
        """What the server needs: the noise, and the action where there is one. Neither depends on data."""
        report = {NOISE: release.noise_sd}
        return report if self.game is None else {**report, ACTION: next(iter(noise.values()))}
