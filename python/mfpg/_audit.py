"""audit: what a configuration promises each client, attacked."""

from __future__ import annotations

import dataclasses
import math
import os
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mfpg._answer import number_or_none
from mfpg._call import Context, Job, choice, job, number, path_bytes, text, whole
from mfpg._config import Config, open_config
from mfpg._fields import Fields
from mfpg._interface import ffi, lib
from mfpg._run import create


METHODS = ["ranks", "few-runs", "one-run"]
FIELDS = Fields(lib.mfpg_audit_fields)
SCORE_FIELDS = Fields(lib.mfpg_score_fields)
TRANSCRIPT_FIELDS = Fields(lib.mfpg_transcript_fields)
TOGETHER = ffi.new("char[]", b"together")


@dataclasses.dataclass(frozen=True)
class AuditedClient:
    """What one client was promised, and what was proved: ..._lower is proved, and 0 where nothing is."""

    client: str
    mu: float | None
    """Promised; None where the accountant has none (sampling), infinity where nothing is promised."""
    mu_lower: float
    epsilon: float
    """Promised at the delta of the configuration, in nats."""
    epsilon_lower: float
    """What mu_lower means at that delta for Gaussian noise."""
    epsilon_lower_direct: float
    """Proved without any assumption."""
    route: str
    """How mu_lower was proved: "rank", "accuracy", "betting", "one-run" or "none"."""
    pattern: str
    """How the canaries were sent for it: "constant", "alternating", "cross", "both", "looks",
    "digits" or "none"."""
    mu_estimate: float | None
    """A fitted Gaussian: no proof."""
    auc: float | None
    """Share of pairs of runs that the attack orders rightly."""
    auc_cap: float | None
    """Where there is no mu: the most that the certificate admits; then auc_lower is proved of it."""
    auc_lower: float | None
    round_mu: float | None
    """Of one round."""
    round_mu_lower: float | None
    distance: float | None
    """Total variation, promised; tv_lower is proved of it."""
    tv_lower: float
    paper_delta: float | None
    """What the paper's bound of its entropic methods says of the total variation, view final: no promise."""
    gradient_norm: float | None
    """Of the canary, before the clip; clip_factor is what the clip leaves of it."""
    clip_factor: float | None
    input_mu_lower: float | None
    """With input_canaries: by rows of data; realistic, and not tight. Likewise the next three."""
    input_mu_estimate: float | None
    input_gradient: float | None
    input_clip_factor: float | None
    canaries: int
    """few-runs, one-run: of this client in a run; guesses were made in all runs, and correct of them were."""
    guesses: int
    correct: int
    ceiling: float | None
    """one-run: what it proves where every guess is right; expected: half of the time where the promise is exact."""
    expected: float | None
    stands: bool
    """False: a promise is broken."""


@dataclasses.dataclass(frozen=True)
class Audit:
    """An attack on every client's promise. All that is proved holds together with the confidence."""

    stands: bool
    """True where every promise stands, which is no proof of any."""
    clients: tuple[AuditedClient, ...]
    together: AuditedClient | None
    """few-runs and one-run with unit client: the clients' canaries as one sample."""
    method: str
    runs: int
    """Of each pattern; few-runs: that were played."""
    stopped: bool
    """few-runs: by Ctrl-C, before all of them were."""
    patterns: int
    pairs: int
    """How many others each client was compared with."""
    confidence: float
    client_confidence: float
    """Of what is proved of one client alone."""
    seed: int


class Watcher:
    """The caller's function, called now and then; its first error ends the audit."""

    def __init__(self, job: Job, progress: Callable[[int, int], object] | None) -> None:
        self.job, self.progress = job, progress
        self.error: BaseException | None = None


@ffi.def_extern(name="mfpg_python_audited")  # type: ignore[untyped-decorator]
def _progress(user: Any, done: int, total: int) -> None:
    watcher = ffi.from_handle(user)
    if watcher.progress is None or watcher.error is not None:
        return
    try:
        watcher.progress(done, total)
    except BaseException as error:  # it is raised again when the audit has ended
        watcher.error = error
        watcher.job.stop[0] = 1


def read_client(name: Any, client: Any) -> AuditedClient:
    record = ffi.new("mfpg_audit_record *", lib.mfpg_audit_record_of(name, math.nan, client))
    values: dict[str, Any] = dict(zip(FIELDS.names, FIELDS.row(record), strict=True))
    for key, value in values.items():
        values[key] = number_or_none(value) if isinstance(value, float) else value
    return AuditedClient(**values)


def open_any(ctx: Context, config: Any, overrides: Mapping[str, Any]) -> Config:
    """A configuration, or that of a run folder."""
    if isinstance(config, (str, os.PathLike)) and pathlib.Path(config, "config.yaml").is_file():
        config = pathlib.Path(config, "config.yaml")
    return open_config(ctx, config, overrides)


def read_options(ctx: Context, job: Job, method: str, given: Mapping[str, Any], watcher: Any) -> Any:
    """The options of the library; what was not given has its default."""
    options = ffi.new("mfpg_audit_options *")
    options[0] = lib.mfpg_audit_options_for(choice(ctx, "method", method, METHODS))
    if given["runs"] is not None:
        options.runs = whole("runs", given["runs"], 1, (1 << 31) - 2)
    if given["canaries"] is not None:
        options.canaries = whole("canaries", given["canaries"], 1, (1 << 31) - 2)
    if given["confidence"] is not None:
        options.confidence = number("confidence", given["confidence"], 0.5, 1, above=True, below=True)
    if given["seed"] is not None:
        options.seed = whole("seed", given["seed"], 0, 1 << 53)
    options.input_canaries = bool(given["input_canaries"])
    options.stop = job.stop
    options.progress, options.progress_user = lib.mfpg_python_audited, watcher
    return options


@job
def audit(job: Job, /, config: str | os.PathLike[str] | Mapping[str, Any], settings: Mapping[str, Any] | None = None, *,
          method: str = "ranks", runs: int | None = None, canaries: int | None = None, input_canaries: bool = False,
          confidence: float | None = None, seed: int | None = None, out: str | os.PathLike[str] | None = None,
          threads: int | None = None, progress: Callable[[int, int], object] | None = None, **overrides: Any) -> Audit:
    """Attacks what a configuration promises each client: ``mfpg audit``, with the same names and defaults.

    >>> audit("clinics", runs=100, train={"rounds": 2}).stands
    True

    config: as in run; or a run folder, whose configuration is then attacked.
    settings, overrides: keys of the configuration (mfpg.keys()). Those that are named like an option below, such as method
        and seed, go into settings: audit("clinics", {"method": "dp-sgd"}).
    method: "ranks": thousands of runs with one canary a client, which prove most. For models that take long to train
        "few-runs": many canaries in each of some hundred runs, or "one-run": in a single one, which proves least.
    runs: ranks: of each pattern of canaries, even, from 20 (default 20000); few-runs: at most (default 200).
    canaries: few-runs, one-run, unit example: in each client, at most (default: as many as fit, up to 1000).
    input_canaries: play rows of data under the configured model as well (ranks, generalised linear models).
    confidence: that everything proved of all clients holds (default 0.99).
    seed: of the attack (default 1): the same seed gives the same audit.
    out: a folder for audit.json, such as that of a run (default: nothing is written).
    threads: default all the machine's; results do not depend on it.
    progress: called now and then with the runs that are over and all of them; an error that it raises ends the audit.

    Ctrl-C during few-runs ends them and returns what is proved so far, with the same confidence; otherwise it raises
    Interrupted. A broken promise is no error: look at `stands`. Raises InputError for what cannot be audited, DomainError
    for options that do not go together. Threads: safe.
    """
    watcher = Watcher(job, progress)
    handle = ffi.new_handle(watcher)
    with Context(job, threads) as ctx:
        options = read_options(ctx, job, method, locals(), handle)
        made = open_any(ctx, config, {**(settings or {}), **overrides})
        experiment = create(ctx, lib.mfpg_experiment_create, made.pointer)
        count = lib.mfpg_experiment_clients(experiment)
        clients, plan = ffi.new("mfpg_audit_client[]", count), ffi.new("mfpg_audit_plan *")
        job.stoppable = True
        status = lib.mfpg_experiment_audit(ctx.pointer, experiment, options, clients, plan)
        if watcher.error is not None:
            raise watcher.error
        ctx.check(status)
        if out is not None:
            ctx.check(lib.mfpg_experiment_write_audit(ctx.pointer, experiment, options, clients, plan, path_bytes(out)))
        told = tuple(read_client(lib.mfpg_experiment_client_name(experiment, k), clients + k) for k in range(count))
        together = read_client(TOGETHER, ffi.addressof(plan.together)) if plan.pooled else None
        return Audit(
            stands=all(one.stands for one in (*told, *([together] if together else []))), clients=told, together=together,
            method=text(lib.mfpg_audit_method_name(plan.method)), runs=plan.runs, stopped=bool(plan.stopped),
            patterns=plan.patterns, pairs=plan.pairs, confidence=options.confidence,
            client_confidence=plan.client_confidence, seed=options.seed)


@dataclasses.dataclass(frozen=True)
class ScoreBounds:
    """What the scores of a membership attack prove. Each bound holds on its own with the confidence; 0: nothing is proved."""

    inside: int
    outside: int
    delta: float
    confidence: float
    auc: float
    """Share of pairs in which the member's score is larger: no proof."""
    mu_lower: float
    """By ranks, if every score comes from a separate run."""
    epsilon_lower: float
    """What mu_lower means at delta for Gaussian noise, in nats."""
    threshold: float
    """Above which a score says member: chosen on a random half of the scores, judged on the other half."""
    false_positives: int
    tested_outside: int
    false_negatives: int
    tested_inside: int
    epsilon_lower_direct: float
    """By these error rates, if every score comes from a separate run, without any other assumption."""
    guesses: int
    correct: int
    epsilon_lower_one_run: float
    """By these guesses, if all scores are of one run, in which each canary was a member by its own fair coin."""


@job
def audit_scores(job: Job, /, inside: npt.ArrayLike, outside: npt.ArrayLike, *, delta: float = 1e-5, confidence: float = 0.99,
                 seed: int = 1) -> ScoreBounds:
    """Lower bounds on epsilon from the scores of a membership attack of your own: ``mfpg audit --scores``.

    >>> import numpy as np
    >>> draw = np.random.default_rng(0)
    >>> found = audit_scores(draw.normal(size=1000) + 1, draw.normal(size=1000))
    >>> 2 < found.epsilon_lower < 4.4, 0 < found.epsilon_lower_direct < found.epsilon_lower
    (True, True)

    inside, outside: scores of members and of others, larger if membership is likelier, at least 2 each, in any order.
    delta: of the bounds, from 0, below 1.
    confidence: of each bound on its own, above 0.5.
    seed: of the random halves and of ties.

    Raises InputError for too few scores and options out of range, DomainError for scores that are not finite. Threads: safe.
    """
    scores = [np.ascontiguousarray(values, dtype=np.float64).reshape(-1) for values in (inside, outside)]
    with Context(job, 1) as ctx:
        options = ffi.new("mfpg_score_options *", {
            "delta": number("delta", delta, 0, 1, below=True), "seed": whole("seed", seed, 0, 1 << 53),
            "confidence": number("confidence", confidence, 0.5, 1, above=True, below=True)})
        bounds = ffi.new("mfpg_score_bounds *")
        arrays = [ffi.from_buffer("double[]", values) for values in scores]
        ctx.check(lib.mfpg_audit_scores(ctx.pointer, options, arrays[0], len(scores[0]), arrays[1], len(scores[1]), bounds))
        return ScoreBounds(**dict(zip(SCORE_FIELDS.names, SCORE_FIELDS.row(bounds), strict=True)))


@dataclasses.dataclass(frozen=True)
class AuditedSite:
    """What a transcript of secure sums shows of one site."""

    site: str
    vectors: int
    """Masked vectors of this site, also late ones."""
    opened: int
    """Of these: vectors that the server can read without the others."""
    how: str
    """What opened the first of them; empty if none is open."""
    first_round: int | None
    guesses: int
    """Canaries of this site, one guess each."""
    correct: int
    mu: float
    """Promised for one sum against replace, in the worst case that the threshold allows; 0 without canaries."""
    mu_lower: float
    """Proved by the guesses."""
    stands: bool


@dataclasses.dataclass(frozen=True)
class TranscriptAudit:
    """What the server of secure sums could learn."""

    sums: int
    ignored: int
    """Messages that belong to no sum of the transcript, for instance damaged ones."""
    searched: bool
    """Whether a vector with a single unknown mask was searched for a small key."""
    stands: bool
    sites: list[AuditedSite]


@job
def audit_transcript(job: Job, /, path: str | os.PathLike[str], *, seed_bits: int = 24, confidence: float = 0.99,
                     threads: int | None = None) -> TranscriptAudit:
    """Attacks everything that the server of secure sums sent and received: ``mfpg audit --transcript``.

    path: a transcript as mfpg.secure_sum.Server and PrivacyStrategy write it (docs/secure_sum.md), up to 1 GiB.
    seed_bits: the first vector with one unknown mask is searched for a key below 2^seed_bits, at most 40; 0: no search.
    confidence: with which the proved bounds of all sites hold together, above 0.5.

    Raises InputError, with file and line, for a faulty transcript and for options out of range. Threads: safe.
    """
    with Context(job, threads) as ctx:
        found = ffi.new("mfpg_transcript_audit *")
        ctx.check(lib.mfpg_audit_transcript(ctx.pointer, path_bytes(path), whole("seed_bits", seed_bits, 0, lib.MFPG_SEED_BITS),
                                            number("confidence", confidence, 0.5, 1, above=True, below=True), found))
        try:
            rows = [dict(zip(TRANSCRIPT_FIELDS.names, TRANSCRIPT_FIELDS.row(found.site + i), strict=True))
                    for i in range(found.sites)]
        finally:
            lib.free(found.site)
        sites = [AuditedSite(**{**row, "first_round": None if row["first_round"] < 0 else row["first_round"]}) for row in rows]
        return TranscriptAudit(found.sums, found.ignored, bool(found.searched), bool(found.stands), sites)
