"""calibrate: the number with which a schedule meets a target."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from mfpg._answer import Calibration, make_answer
from mfpg._call import Context, Job, job
from mfpg._interface import ffi, lib
from mfpg._options import DELTA, Chosen, check_calibrate, or_else
from mfpg._schedule import Schedule, accountant_name, accountant_options, assume_schedule


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
    given = {name: value for name, value in locals().items() if name != "job"}
    with Context(job, 1) as ctx:
        chosen = Chosen(ctx, given)
        check_calibrate(chosen)
        schedule = Schedule(chosen)
        return solve_schedule(ctx, chosen, schedule)


def solve_schedule(ctx: Context, chosen: Chosen, schedule: Schedule) -> Calibration:
    sampled = schedule.rate < 1
    name = accountant_name(chosen, sampled)
    options, keep = accountant_options(chosen)
    releases = ffi.new("mfpg_release[]", schedule.releases)
    kind = ffi.new("char[]", name.encode())
    asked = ffi.new("mfpg_calibration_options *", {
        "accountant": kind, "options": options, "epsilon": chosen.epsilon, "delta": or_else(chosen.delta, DELTA),
        "solve": schedule.solve, "schedule": releases, "count": len(schedule.releases), "unknown": schedule.unknown,
        "step": or_else(chosen.step, 0.1)})
    found = ffi.new("mfpg_calibration *")
    ctx.check(lib.mfpg_calibrate(ctx.pointer, asked, found))
    del keep
    unit = "example" if (chosen.example if chosen.unit else sampled) else "client"
    return make_answer(
        Calibration, mu=math.nan if chosen.order else found.mu, epsilon=found.epsilon.upper, delta=asked.delta,
        certificate=True, assumptions=assume_schedule(chosen, schedule, name, unit, "local"), lower=found.epsilon.lower,
        upper=found.epsilon.upper, accountant=name, adjacency=chosen.adjacency_name(), unit=unit, view="local",
        target_epsilon=chosen.epsilon, evaluations=found.evaluations,
        **solved_numbers(chosen, schedule, found.value))


def solved_numbers(chosen: Chosen, schedule: Schedule, value: float) -> dict[str, Any]:
    """The schedule's numbers, as they go back into account."""
    release = schedule.releases[schedule.unknown]
    names = {lib.MFPG_SOLVE_NOISE: "noise_multiplier", lib.MFPG_SOLVE_STRENGTH: "strength",
             lib.MFPG_SOLVE_RATE: "sampling_rate", lib.MFPG_SOLVE_STEPS: "steps"}
    solved = names[schedule.solve]
    numbers: dict[str, Any] = {
        "noise_multiplier": None if chosen.entropic else release["noise_sd"], "strength": chosen.strength,
        "sampling_rate": release["sampling_rate"], "steps": release["steps"]}
    numbers[solved] = int(value) if solved == "steps" and math.isfinite(value) else value
    noise = numbers["noise_multiplier"]
    # with a sensitivity the multiplier is the sd itself
    scale = 1 if chosen.sensitivity is not None else or_else(chosen.clip, 1)
    return {**numbers, "solved": solved, "noise_sd": None if noise is None else noise * scale}
