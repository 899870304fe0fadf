"""account and calibrate: what a schedule or a ledger promises, and the number with which a schedule meets a target."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any

from mfpg._answer import Account, Calibration, ClientAccount, LedgerAccount, LedgerEnd, Odometer, number_or_none
from mfpg._call import Context, Job, job, keywords, text, words
from mfpg._interface import ffi, lib


@job
def account(job: Job, *, mechanism: str | None = None, noise_multiplier: float | None = None,
            strength: float | None = None, step: float | None = None,
            blocks: str | Iterable[tuple[float, float, int]] | None = None, steps: int | None = None,
            sampling_rate: float | None = None, mu: float | None = None, particles: str | None = None,
            exogenous: bool = False, input_smoothness: float | None = None, view: str | None = None,
            ledger: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None, clip: float | None = None, adjacency: str | None = None,
            sensitivity: float | None = None, unit: str | None = None, accountant: str | None = None,
            order: float | Iterable[float] | None = None, width: float | None = None, delta: float | None = None,
            epsilon: float | None = None, assume: str | None = None, smoothness: float | None = None,
            strong_convexity: float | None = None, projection_radius: float | None = None,
            dimension: float | None = None, population: float | None = None, prior_variance: float | None = None,
            variance_penalty: float | None = None, gradient_norm: float | None = None) -> Account:
    """The privacy of a schedule, or of what a run really released: ``mfpg account``, with the same names and defaults.

    >>> account(noise_multiplier=5, steps=20, delta=1e-5).epsilon < 4.01
    True

    What is released
        mechanism: "gaussian" or "entropic" (default: by the options that are given).
        noise_multiplier: gaussian; noise sd over the clip, with `sensitivity` the sd itself; from 0.
        strength, step: entropic; strength of the noise, and step of the flow (default 0.1).
        blocks: "Q:Z:T,..." or a list of (Q, Z, T): T steps with sampling rate Q and noise multiplier Z.
        steps: number of steps (default 1).
        sampling_rate: probability that an example takes part in a step, by a coin of its own (default 1).
        mu: a Gaussian-DP parameter of one step, instead of a mechanism.
        particles: "parameters" (default) or "data": every record is noised once, whatever follows.
        exogenous, input_smoothness: data, entropic; see ``mfpg account --help``.
        view: what is seen: "local" (default), "average" (charged like local), "final": the last state alone.
        ledger: a ledger file or run folder, instead of all of the above: a LedgerAccount comes back. A list of them: what they cost
            together.
    What one release depends on
        clip: norm bound (default 1): sensitivity C, or 2C for replace.
        adjacency: "add", "remove", "zero-out" (default) or "replace".
        sensitivity: the sensitivity itself, instead of clip and adjacency.
        unit: "client" (default) or "example" (default with sampling or data).
    What is asked
        accountant: default gdp without sampling, exact with it, data-particles for noised records.
        order: rdp; these Renyi orders, from 1, and nothing else.
        width: exact; the widest gap wanted between lower and upper end (default 1e-6).
        delta: find epsilon at this delta in [0, 1) (default 1e-5; of a ledger: its own).
        epsilon: find delta at this epsilon, in nats.
    What is assumed of the loss (entropic, view final)
        assume: "none" (default), "quadratic", "glm", "convex" or "nonconvex"; with smoothness, strong_convexity and
        projection_radius.
    Constants of the entropic flow, and of paper_lsi
        dimension, population (default 5), prior_variance (1), variance_penalty (0.01), gradient_norm (1).

    Raises InputError where options contradict each other or a value is not allowed. Threads: safe.
    """
    return read(ask(job, lib.MFPG_QUESTION_ACCOUNT, locals()))


@job
def calibrate(job: Job, *, epsilon: float, delta: float | None = None, solve: str | None = None,
              mechanism: str | None = None, noise_multiplier: float | None = None, strength: float | None = None,
              step: float | None = None, blocks: str | Iterable[tuple[float | None, float | None, int | None]] | None = None,
              steps: int | None = None, sampling_rate: float | None = None, clip: float | None = None,
              adjacency: str | None = None, sensitivity: float | None = None, unit: str | None = None,
              accountant: str | None = None, order: float | Iterable[float] | None = None,
              width: float | None = None) -> Calibration:
    """The noise, sampling rate or number of steps that meets a target epsilon: ``mfpg calibrate``.

    >>> 3 < calibrate(epsilon=1).noise_multiplier < 4
    True

    epsilon, delta: the target (delta default 1e-5); the answer never costs more, and is within a millionth of the exact
    one (steps: exact).
    solve: "noise" (default): the least noise multiplier, or strength; "rate": the largest sampling rate; "steps": the most
    steps. In `blocks` the number written "?" (or None) is solved instead.
    All other options are those of account.
    """
    return read_calibration(ask(job, lib.MFPG_QUESTION_CALIBRATE, locals()))


# ---- the question ----


def as_text(value: Any) -> str:
    """A value as it is typed on the command line."""
    try:
        return repr(float(value)).removesuffix(".0")
    except (TypeError, ValueError, OverflowError):
        return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def as_list(value: Any, separator: str) -> str:
    """A list, or one value, with what is to be found as "?"."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return "?" if value is None else as_text(value)
    return separator.join(as_list(one, ":") for one in value)


def as_option(name: str, value: Any) -> Any:
    """What the library takes: bytes, or NULL for an option that is there or not."""
    if name in ("blocks", "order"):
        return as_list(value, ",").encode()
    return ffi.NULL if value is True else os.fsencode(value if isinstance(value, str) else as_text(value))


def ask(job: Job, kind: int, options: dict[str, Any]) -> Any:
    """The answer as a C structure; messages name options as Python does."""
    with Context(job, 1) as ctx, keywords():
        out = ffi.new("mfpg_question **")
        ctx.check(lib.mfpg_question_create(ctx.pointer, kind, out))
        question = ffi.gc(out[0], lib.mfpg_question_destroy)
        answer = ffi.gc(ffi.new("mfpg_answer *"), lib.mfpg_answer_clear)
        for name, value in options.items():
            if name != "job" and value is not None and value is not False:
                option = name.replace("_", "-").encode()
                several = name == "ledger" and not isinstance(value, (str, os.PathLike))
                for one in value if several else [value]:
                    ctx.check(lib.mfpg_option_set(ctx.pointer, lib.mfpg_question_options(kind), option, as_option(name, one), question))
        ctx.check(lib.mfpg_question_answer(ctx.pointer, question, answer))
        return answer


# ---- the answer ----


def fields(answer: Any) -> dict[str, Any]:
    return {
        "epsilon": answer.epsilon, "delta": answer.delta, "mu": number_or_none(answer.mu),
        "rdp": number_or_none(answer.rdp), "lower": number_or_none(answer.lower), "upper": number_or_none(answer.upper),
        "accountant": text(answer.accountant), "adjacency": words(answer.adjacency), "unit": text(answer.unit),
        "view": text(answer.view), "particles": text(lib.mfpg_particles_name(answer.particles)),
        "contraction": number_or_none(answer.contraction), "certificate": bool(answer.certificate),
        "assumptions": tuple(text(answer.assumption[i]) for i in range(answer.assumptions))}


def read(answer: Any) -> Account:
    return read_ledger(answer) if answer.ledger else Account(**fields(answer))


def read_calibration(answer: Any) -> Calibration:
    found = answer.found
    return Calibration(
        **fields(answer), solved=text(lib.mfpg_solve_name(found.solved)), target_epsilon=found.target_epsilon,
        noise_multiplier=number_or_none(found.noise_multiplier), noise_sd=number_or_none(found.noise_sd),
        strength=number_or_none(found.strength), sampling_rate=found.sampling_rate,
        steps=int(found.steps) if math.isfinite(found.steps) else found.steps, evaluations=found.evaluations)


def read_ledger(answer: Any) -> LedgerAccount:
    ledger = answer.ledger
    odometer, files = ledger.odometer, tuple(read_end(ledger.file[i]) for i in range(ledger.files))
    return LedgerAccount(
        **fields(answer), seeded=bool(ledger.seeded), one_certificate=bool(ledger.alike),
        ledger=files[0], ledgers=files, epsilon_replace=number_or_none(ledger.epsilon_replace),
        survived_epsilon=number_or_none(ledger.survived_epsilon), survived_delta=number_or_none(ledger.survived_delta),
        spent_epsilon=number_or_none(ledger.spent_epsilon), spent_delta=number_or_none(ledger.spent_delta),
        odometer=None if odometer.index < 0 else Odometer(odometer.epsilon, odometer.rho, odometer.delta,
                                                          text(lib.MFPG_ODOMETER_NOTE)),
        clients=tuple(read_client(ledger.client[i]) for i in range(ledger.clients)))


def read_end(file: Any) -> LedgerEnd:
    return LedgerEnd(file.end.lines, text(file.end.chain), "agrees" if file.confirmed else "none", os.fsdecode(ffi.string(file.path)))


def read_client(client: Any) -> ClientAccount:
    rate = client.lowest_rate if client.lowest_rate == client.highest_rate else None
    return ClientAccount(client.client, words(client.name), number_or_none(client.mu), client.epsilon, client.delta,
                         client.rounds, client.steps, rate, number_or_none(client.survived_epsilon),
                         number_or_none(client.survived_delta), number_or_none(client.spent_epsilon),
                         number_or_none(client.spent_delta))
