"""run and simulate: a federation trained, with or without a run folder."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mfpg._arrays import as_files
from mfpg._call import Context, InputError, Job, job, path_bytes, text
from mfpg._config import Config, open_config
from mfpg._equilibrium import Equilibrium, read_solution
from mfpg._fields import Fields, as_table
from mfpg._interface import ffi, lib

ROUND, CLIENT, METRICS = Fields(lib.mfpg_round_fields), Fields(lib.mfpg_client_fields), Fields(lib.mfpg_metrics_fields)
PROGRESS = [name for name in Fields(lib.mfpg_round_fields, lib.MFPG_ROUND_CSV).names if name != "metrics"]


@dataclasses.dataclass(frozen=True)
class Run:
    """A finished run."""

    folder: pathlib.Path | None
    """Where its files are; None for simulate."""
    summary: dict[str, Any]
    """What summary.json holds: promise, certificate, clients, metrics, game, assumptions."""
    rounds: npt.NDArray[Any]
    """One row a round: round, cohort (clients that took part), loss, accuracy (private, covered by no certificate),
    mean_action, noise_to_signal, epsilon (the largest certified, nats), paper_epsilon and paper_delta (no guarantee),
    free_energy, kl and variance of entropic runs, projections (Sinkhorn's) with variance_ratio_min and _mean. NaN where there
    is none."""
    clients: npt.NDArray[Any]
    """One row a client: name, rows, preference, action, mu, epsilon, epsilon_other (under the other adjacency),
    noise_multiplier, weight, rounds, steps, sampling_rate, stopped, certificate; loss, accuracy, auc and majority_rate on its
    test rows (private, covered by no certificate)."""
    promises: tuple[str, ...]
    """What each client was promised, in words."""
    assumptions: tuple[str, ...]
    """What every certificate takes for granted."""
    model: npt.NDArray[np.float32]
    """The global model, all parameters in a row."""
    equilibrium: Equilibrium | None
    """The game as it was solved before the first round; None without one."""
    config: str
    """The whole configuration, resolved, as YAML that loads again to the same run."""


# ---- what a run tells ----


class Watcher:
    """The caller's function, called after every round; its first error ends the run."""

    def __init__(self, job: Job, progress: Callable[[dict[str, Any], int], object] | None) -> None:
        self.job, self.progress = job, progress
        self.error: BaseException | None = None


@ffi.def_extern(name="mfpg_python_progress")  # type: ignore[untyped-decorator]
def _progress(user: Any, report: Any, rounds: int) -> None:
    watcher = ffi.from_handle(user)
    if watcher.progress is None or watcher.error is not None:
        return
    try:
        watcher.progress({name: getattr(report, name) for name in PROGRESS}, rounds)
    except BaseException as error:  # it is raised again when the run has ended
        watcher.error = error
        watcher.job.stop[0] = 1


def read_rounds(experiment: Any) -> npt.NDArray[Any]:
    count = ffi.new("ptrdiff_t *")
    reports = lib.mfpg_experiment_rounds(experiment, count)
    record, rows = ffi.new("mfpg_round_record *"), []
    for i in range(count[0]):
        record[0] = lib.mfpg_round_record_of(reports + i, lib.MFPG_PARTICLES_PARAMETERS)
        rows.append(ROUND.row(record))
    return as_table([ROUND], rows)


def read_clients(ctx: Context, experiment: Any) -> tuple[npt.NDArray[Any], tuple[str, ...]]:
    """The table of clients, and what each was promised."""
    client, metrics, room = ffi.new("mfpg_client_record *"), ffi.new("mfpg_metrics *"), ffi.new("char[1024]")
    rows, promises = [], []
    for k in range(lib.mfpg_experiment_clients(experiment)):
        ctx.check(lib.mfpg_experiment_client_record(ctx.pointer, experiment, k, client))
        ctx.check(lib.mfpg_experiment_metrics(ctx.pointer, experiment, k, metrics))
        lib.mfpg_experiment_promise(experiment, ffi.addressof(client.report), room, 1024)
        promises.append(text(room))
        rows.append((*CLIENT.row(client), *METRICS.row(metrics)))
    return as_table([CLIENT, METRICS], rows), tuple(promises)


def read_config(ctx: Context, experiment: Any) -> str:
    """The resolved configuration; C writes into a file in memory."""
    with os.fdopen(os.memfd_create("mfpg"), "w+", encoding="utf-8") as file:
        ctx.check(lib.mfpg_config_write(ctx.pointer, lib.mfpg_experiment_config(experiment), file))
        file.seek(0)
        return file.read()


def read_run(ctx: Context, experiment: Any, folder: pathlib.Path | None) -> Run:
    out, count = ffi.new("char **"), ffi.new("ptrdiff_t *")
    ctx.check(lib.mfpg_experiment_summary(ctx.pointer, experiment, out))
    summary = json.loads(text(ffi.gc(out[0], lib.free)))
    model = lib.mfpg_experiment_model(experiment, count)
    clients, promises = read_clients(ctx, experiment)
    assumptions: list[str] = []
    while line := lib.mfpg_experiment_assumption(experiment, len(assumptions)):
        assumptions.append(text(line))
    return Run(
        folder=folder, summary=summary, rounds=read_rounds(experiment), clients=clients, promises=promises, assumptions=tuple(assumptions),
        model=np.frombuffer(ffi.buffer(model, count[0] * 4), dtype=np.float32).copy(),
        equilibrium=read_solution(ctx, experiment), config=read_config(ctx, experiment))


# ---- training ----


def train(ctx: Context, job: Job, experiment: Any, folder: pathlib.Path | None,
          progress: Callable[[dict[str, Any], int], object] | None) -> Run:
    watcher = Watcher(job, progress)
    handle = ffi.new_handle(watcher)
    options = ffi.new("mfpg_run_options *")
    keep = ffi.new("char[]", path_bytes(folder)) if folder else ffi.NULL
    options.folder, options.stop = keep, job.stop
    options.progress, options.progress_user = lib.mfpg_python_progress, handle
    job.stoppable = True
    status = lib.mfpg_experiment_run(ctx.pointer, experiment, options)
    if watcher.error is not None:
        raise watcher.error
    ctx.check(status)
    told = read_run(ctx, experiment, folder)
    if told.equilibrium:
        job.warnings += told.equilibrium.warnings
    return told


def create(ctx: Context, make: Any, *arguments: Any) -> Any:
    out = ffi.new("mfpg_experiment **")
    ctx.check(make(ctx.pointer, *arguments, out))
    return ffi.gc(out[0], lib.mfpg_experiment_destroy)


def free_folder(name: str) -> pathlib.Path:
    """runs/NAME with the first number that is free, made at once so that no other run takes it too."""
    name = name.replace("/", "_")
    name = "_" + name[1:] if name.startswith(".") else name
    for i in range(1, 1 << 30):
        folder = pathlib.Path("runs") / (name if i == 1 else f"{name}-{i}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise InputError(f"runs/{name}: no number is free")


def run_new(ctx: Context, job: Job, config: Config, out: Any, progress: Any) -> Run:
    experiment = create(ctx, lib.mfpg_experiment_create, config.pointer)
    folder = pathlib.Path(out) if out is not None else free_folder(config.text("name") or "run")
    try:
        return train(ctx, job, experiment, folder, progress)
    finally:
        if out is None and not any(folder.iterdir()):
            folder.rmdir()


@job
def run(job: Job, /, config: str | os.PathLike[str] | Mapping[str, Any] | None = None, *,
        out: str | os.PathLike[str] | None = None, resume: str | os.PathLike[str] | None = None,
        threads: int | None = None, progress: Callable[[dict[str, Any], int], object] | None = None,
        **overrides: Any) -> Run:
    """Trains a federation and writes a run folder: ``mfpg run``.

    config: a YAML file, a mapping of the same keys, or the name of an example (mfpg.examples()).
    overrides: keys of the configuration (mfpg.keys()): seed=1, method="mfep", train={"rounds": 50}, or **{"train.rounds": 50}.
    out: the run folder, made if need be; an existing one must be empty (default: runs/NAME, or the first free runs/NAME-2, ...).
    resume: the folder of an interrupted run to go on with instead; it ends with the same bytes. With a config or overrides
        these must say the same as the run's own.
    threads: default all the machine's; results do not depend on it.
    progress: called after each round with its report (a dict) and the number of rounds; an error that it raises ends the run.

    Ctrl-C ends the run after a complete round, with its files written and a checkpoint to go on from, and raises Interrupted.
    Raises InputError with the key, file and line of what is wrong. Threads: safe on different folders.
    """
    with Context(job, threads) as ctx:
        if resume is None:
            if config is None:
                raise InputError("nothing to run; give a configuration, or the name of an example, such as 'clinics'")
            return run_new(ctx, job, open_config(ctx, config, overrides), out, progress)
        folder = pathlib.Path(resume)
        if out is not None:
            raise InputError(f"a run goes on in its own folder, {folder}; out does not go with resume")
        given: Any = ffi.NULL
        if config is not None:
            given = open_config(ctx, config, overrides)
        elif overrides:
            given = Config(ctx, lib.mfpg_run_configuration, path_bytes(folder))
            given.override(ctx, overrides)
        pointer = given.pointer if isinstance(given, Config) else given
        experiment = create(ctx, lib.mfpg_experiment_resume, path_bytes(folder), pointer)
        return train(ctx, job, experiment, folder, progress)


@job
def simulate(job: Job, /, config: str | os.PathLike[str] | Mapping[str, Any], *, features: npt.ArrayLike | None = None,
             labels: npt.ArrayLike | None = None, clients: npt.ArrayLike | None = None,
             bounds: tuple[npt.ArrayLike, npt.ArrayLike] | None = None, threads: int | None = None,
             progress: Callable[[dict[str, Any], int], object] | None = None, **overrides: Any) -> Run:
    """Trains a federation like run and keeps nothing: no folder, no ledger, no checkpoint. Its numbers are those of run.

    config, threads, progress, overrides: as in run.
    Data as arrays, in the place of the configuration's files:
        features: (n, p) numbers, one row an example; NaN is a missing value (data.missing).
        labels: (n,) numbers.
        clients: (n,) names or whole numbers: whose row it is. Clients stand in the order of their first rows.
        bounds: public bounds (low, high) of the features, numbers or one a feature: what data.scale.bounds is for files.
    Other keys of the configuration (data.test_fraction, data.label, ...) count as for files.

    What is released without a ledger cannot be priced again later: use it on public or synthetic data.
    """
    with contextlib.ExitStack() as stack:
        given = {"features": features, "labels": labels, "clients": clients}
        missing = [name for name, value in given.items() if value is None]
        if len(missing) < len(given) and missing or (missing and bounds is not None):
            raise InputError(f"{missing[0]}: missing; features, labels and clients go together")
        ctx = stack.enter_context(Context(job, threads))
        if not missing:
            overrides = {**overrides, **stack.enter_context(as_files(features, labels, clients, bounds))}
        made = open_config(ctx, config, overrides)
        return train(ctx, job, create(ctx, lib.mfpg_experiment_create, made.pointer), None, progress)
