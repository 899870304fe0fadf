"""account: the privacy of a schedule, or of what a run really released."""

from __future__ import annotations

import os
from collections.abc import Iterable

from mfpg._answer import Account
from mfpg._call import Context, Job, job
from mfpg._hidden import price_hidden
from mfpg._ledger import price_ledger
from mfpg._options import Chosen, check_account
from mfpg._records import price_records
from mfpg._schedule import price_schedule


@job
def account(job: Job, *, mechanism: str | None = None, noise_multiplier: float | None = None,
            strength: float | None = None, step: float | None = None,
            blocks: str | Iterable[tuple[float, float, int]] | None = None, steps: int | None = None,
            sampling_rate: float | None = None, mu: float | None = None, particles: str | None = None,
            exogenous: bool = False, input_smoothness: float | None = None, view: str | None = None,
            ledger: str | os.PathLike[str] | None = None, clip: float | None = None, adjacency: str | None = None,
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
        ledger: a ledger file or run folder, instead of all of the above: a LedgerAccount comes back.
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
    given = {name: value for name, value in locals().items() if name != "job"}
    with Context(job, 1) as ctx:
        chosen = Chosen(ctx, given)
        if ledger is not None:
            return price_ledger(ctx, ledger, chosen)
        check_account(chosen)
        if chosen.assume not in (None, "none"):
            return price_hidden(ctx, chosen)
        if chosen.particles == "data":
            return price_records(ctx, chosen)
        return price_schedule(ctx, chosen)
