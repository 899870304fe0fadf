"""privatise: an update that was trained elsewhere, clipped as one vector, or example by example, and noised on a public grid."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mfpg._call import Context, InputError, Job, job, number, whole
from mfpg._interface import ffi, lib
from mfpg._release import ADJACENCIES, CONTROLS, MOST, UNITS, Release, from_c, index, set_action

LAWS = ["game", "classical"]
ON_NONFINITE = ["zero", "raise"]
SCALES = ["absolute", "sensitivity"]
ELEMENTS = {np.dtype(np.float32): lib.MFPG_ELEMENT_FLOAT32, np.dtype(np.float64): lib.MFPG_ELEMENT_FLOAT64}

LOG = logging.getLogger("mfpg")


class Privatised(NamedTuple):
    """A private update and what was released for it."""

    update: Any
    """Of the kind that was given: a list, tuple, dict or array; of floats, multiples of release.grid, or of integers."""
    release: Release
    """For Accountant.record and Ledger.append."""


def named(update: Any) -> Iterator[tuple[str, Any]]:
    """The arrays of an update with their names."""
    if isinstance(update, Mapping):
        yield from ((f"{key!r}", value) for key, value in update.items())
    elif isinstance(update, np.ndarray):
        yield "the update", update
    elif isinstance(update, Sequence) and not isinstance(update, (str, bytes)):
        yield from ((f"number {i}", value) for i, value in enumerate(update))
    else:
        raise InputError(f"update: found {type(update).__name__}; allowed: an array, or a list, tuple or dict of arrays")


def like(update: Any, arrays: list[npt.NDArray[Any]]) -> Any:
    """The arrays in a container like that of the update."""
    if isinstance(update, Mapping):
        return dict(zip(update, arrays, strict=True))
    if isinstance(update, np.ndarray):
        return arrays[0]
    return tuple(arrays) if isinstance(update, tuple) else arrays


def take(name: str, value: Any, in_place: bool) -> npt.NDArray[Any]:
    """An array that may be written to: a copy, or in place the array itself."""
    array = np.asarray(value)
    floating = array.dtype.newbyteorder("=") in ELEMENTS
    if not floating and array.dtype.kind not in "iub":
        raise InputError(f"update: array {name} is of {array.dtype}; allowed: float32 or float64, which are made private, and "
                         "whole numbers, which pass as they are")
    if not in_place:
        return np.array(array, dtype=array.dtype.newbyteorder("=") if floating else array.dtype, order="C")
    usable = isinstance(value, np.ndarray) and array.flags.c_contiguous and array.flags.writeable
    if floating and not (usable and array.dtype.isnative):
        raise InputError(f"update: array {name} cannot be written in place; allowed: writable, C-contiguous arrays of native "
                         "byte order (in_place=False makes copies)")
    return array


def check_apart(arrays: list[npt.NDArray[Any]]) -> None:
    """Arrays that share memory would be noised twice."""
    spans = sorted((array.ctypes.data, array.ctypes.data + array.nbytes) for array in arrays if array.size)
    if any(end > start for (_, end), (start, _) in zip(spans, spans[1:])):
        raise InputError("update: two of its arrays share memory")


@dataclasses.dataclass(frozen=True)
class Noise:
    """The one control that was given."""

    control: str
    value: float

    @property
    def mechanism(self) -> str:
        return "entropic" if self.control == "strength" else "gaussian"


def read_noise(noise_multiplier: float | None, budget: float | None, strength: float | None,
               of_strength: dict[str, Any]) -> Noise:
    given = {"multiplier": noise_multiplier, "budget": budget, "strength": strength}
    found = [Noise(name, value) for name, value in given.items() if value is not None]
    if len(found) != 1:
        raise InputError(f"{'no noise' if not found else 'several kinds of noise'}; give one of noise_multiplier, budget and "
                         "strength")
    for name, value in of_strength.items():
        if value is not None and strength is None:
            raise InputError(f"{name} belongs to strength")
    return found[0]


@job
def privatise(job: Job, update: Any, *, clip: float = 1.0, noise_multiplier: float | None = None,
              budget: float | None = None, strength: float | None = None, step: float | None = None,
              scale: str | None = None, law: str = "game", delta: float = 1e-5, adjacency: str = "zero-out",
              unit: str = "client", rows: int | None = None, grid: float | None = None, integers: bool = False,
              weight: float | None = None, attempt: int = 1, on_nonfinite: str = "zero", seed: int | None = None, round: int = 1,
              client: int = 0, in_place: bool = False) -> Privatised:
    """Makes an update private: all its floating-point arrays together are one vector, which is scaled to norm at most `clip`
    and blurred by Gaussian noise once, on a public grid: what comes back are integers times the grid, whose law is exactly that
    of the real Gaussian mechanism, rounded. That is one release of one client.

    update: an array, or a list, tuple or dict of arrays of any shapes: what the client has learnt, minus what it started
        from. float32 and float64 are made private, whole numbers (counters) pass as they are and are not protected, anything
        else is refused.
    clip: bound of the joint norm, in the units of the update; the sensitivity under zero-out, half of that under replace.
    One of
        noise_multiplier: noise sd over the sensitivity;
        budget: the game's: sd 2 sensitivity/budget, so that a release is budget-GDP under replace; with law "classical"
            sensitivity sqrt(2 ln(1.25/delta))/budget;
        strength: entropic, unit "client" only: sd sqrt(2 strength step), in the units of the update (step default 0.1). With
            scale "sensitivity" (default "absolute") the strength counts in units of S^2, S = clip, or 2 clip for adjacency
            "replace".
    unit: "client": the promise is about the whole client. One of its records may change the whole update, so that a record is
        protected at the epsilon for adjacency "replace". "example": the promise is about one example. `update` then holds the
        updates of single examples: every array has a leading axis of examples, the arrays of one example together are one vector
        that is clipped by itself, and what comes back, without that axis, is their sum divided by `rows`, noised once. One
        example moves it by at most the sensitivity clip/rows; the sum is one of integers, exact.
    rows: the declared number of examples, a public constant; needed for unit "example". The number of examples at hand is private
        and may differ.
    grid: the step of the grid, a power of two up to a quarter of the noise; None: the largest power of two up to 1/16 of it.
    integers: True returns the integers (int64 arrays of the same shapes; times release.grid they are the update) instead of
        arrays of the type that was given. Their product with the grid is exact in float64, and in float32 below 2**24 steps.
    weight: None: the update itself. A number p in (0, 1]: the client's share of a sum instead, the integers [p (x + noise)/grid] on
        the round's common `grid`, which is needed then (int64 arrays of the same shapes); for unit "client". Float64 counts as
        rounded to float32. In a seeded run (mfpg.run) of the view "average" with clip_at "update" they are the client's integers
        of round `round`, counted from 1.
    attempt: with weight and a seed: which attempt at the round's sum this is; every one has noise of its own.
    on_nonfinite: "zero" (default): an update (or example) with NaN or infinity becomes zero and is noised like any other, with a
        warning in the log of this process (logger "mfpg"). "raise": InputError, with the place. Whether an update is finite
        depends on private data: an error that anybody else can see, by its message or by a reply that does not come, leaks
        it without noise and without charge. So "raise" is for looking for faults in data of your own only.
    seed: None takes randomness of the operating system, the only kind fit for a real release. With a seed the noise is a
        function of (seed, round, client): use no such triple twice.
    round, client: written into the release.
    in_place: writes into the arrays themselves, which must be C-contiguous and writable; they are left as they were if
        the call fails. For unit "client" without `integers`.

    Returns (update, release). Raises InputError if there is no floating-point number, DomainError for noise that is not positive or
    a grid that does not fit it; no error depends on the numbers in the arrays unless on_nonfinite is "raise". Threads: safe on
    different arrays.
    """
    noise = read_noise(noise_multiplier, budget, strength, {"step": step, "scale": scale})
    index("unit", unit, UNITS)
    index("on_nonfinite", on_nonfinite, ON_NONFINITE)
    declared = declared_rows(unit, rows, noise, in_place)
    if in_place and (integers or weight is not None):
        raise InputError(f"integers cannot be written in place; give one of {'integers' if integers else 'weight'} and in_place")
    if weight is not None and (grid is None or unit != "client"):
        raise InputError('weight makes a share of a sum: it needs the common grid of the round, and unit "client"')
    taken = [(name, take(name, value, in_place)) for name, value in named(update)]
    floats = [(name, array) for name, array in taken if array.dtype in ELEMENTS]
    held = count_examples(taken) if unit == "example" else 0
    if in_place:
        check_apart([array for _, array in floats])
    if on_nonfinite == "raise":
        check_finite(floats)
    with Context(job, 1) as ctx:
        step = or_default(step)
        own_grid = grid if weight is None else None
        mechanism = make_mechanism(ctx, noise, clip, step, scale or "absolute", law, delta, adjacency, unit, own_grid)
        action = ffi.new("mfpg_action *", {"control": CONTROLS.index(noise.control)})
        set_action(action, noise.control, number(noise.control, noise.value, 0))
        release = ffi.new("mfpg_release *")
        ctx.check(lib.mfpg_mechanism_release(ctx.pointer, mechanism, action[0], declared, release))
        release.round = whole("round", round, 0, MOST) if weight is None else whole("round", round, 1, 2**48)
        release.client = whole("client", client, 0, MOST)
        release.weight = 1
        of_round = release.round
        if weight is not None:  # as runs count their streams
            of_round += (whole("attempt", attempt, 1, 2**14) - 1) * 2**48 - 1
        stream = ffi.new("mfpg_stream *", lib.mfpg_stream_open(make_key(ctx, seed), lib.MFPG_PURPOSE_NOISE, of_round,
                                                               release.client))
        if weight is not None:
            release.weight, release.grid = number("weight", weight, 0, 1, above=True), number("grid", grid or 0, 0, above=True)
            made = share_of(ctx, mechanism, release, stream, floats)
            return Privatised(like(update, [made.get(name, array) for name, array in taken]), from_c(release))
        made = {name: np.zeros(array.shape[1:], array.dtype) if unit == "example" else array for name, array in floats}
        if integers:  # exact in float64
            made = {name: array.astype(np.float64) for name, array in made.items()}
        result, _keep = buffers_of(list(made.values()), writable=True)
        if unit == "example":
            arrays, _kept = buffers_of([array for _, array in floats], writable=False)
            examples = ffi.new("mfpg_example_updates *", {"array": arrays, "held": held, "rows": declared})
            left_out = ffi.new("int64_t *")
            ctx.check(lib.mfpg_privatise_examples(ctx.pointer, mechanism, release, stream, examples, result, len(made), left_out))
        else:
            left_out = ffi.new("int *")
            ctx.check(lib.mfpg_privatise(ctx.pointer, mechanism, release, stream, result, len(made), left_out))
        warn(unit, left_out[0])
        if integers:
            made = {name: np.asarray(array / release.grid).astype(np.int64) for name, array in made.items()}
        return Privatised(like(update, [made.get(name, array) for name, array in taken]), from_c(release))


def share_of(ctx: Context, mechanism: Any, release: Any, stream: Any,
             floats: list[tuple[str, npt.NDArray[Any]]]) -> dict[str, npt.NDArray[np.int64]]:
    """The integers of a client's share, array by array."""
    buffers, _keep = buffers_of([array for _, array in floats], writable=False)
    share, zeroed = np.empty(sum(array.size for _, array in floats), np.int64), ffi.new("int *")
    ctx.check(lib.mfpg_privatise_share(ctx.pointer, mechanism, release, stream, buffers, len(floats),
                                       ffi.cast("int64_t *", ffi.from_buffer(share)), zeroed))
    warn("client", zeroed[0])
    ends = np.cumsum([array.size for _, array in floats])[:-1]
    return {name: part.reshape(array.shape) for (name, array), part in zip(floats, np.split(share, ends), strict=True)}


def declared_rows(unit: str, rows: int | None, noise: Noise, in_place: bool) -> int:
    """What a sum of examples is divided by; 1 for a client."""
    if unit == "client":
        if rows is not None:
            raise InputError('rows belongs to unit "example"')
        return 1
    if noise.control == "strength":
        raise InputError('strength belongs to unit "client"; give noise_multiplier or budget')
    if in_place:
        raise InputError('in_place belongs to unit "client": the result has fewer numbers than the examples')
    if rows is None:
        raise InputError('unit "example" needs rows, the declared number of examples (a public constant), and the updates of '
                         "single examples: every array has a leading axis of examples, and each example is clipped by itself. "
                         'A whole update has no such axis; its unit is "client"')
    return whole("rows", rows, 1, 2**53)


def count_examples(taken: list[tuple[str, npt.NDArray[Any]]]) -> int:
    """The length of the leading axis that all arrays share."""
    for name, array in taken:
        if array.dtype not in ELEMENTS:
            raise InputError(f'update: array {name} is of {array.dtype}; unit "example" allows float32 and float64 only')
        if array.ndim == 0 or array.shape[0] != taken[0][1].shape[0]:
            raise InputError(f'update: array {name} is of shape {array.shape}, array {taken[0][0]} of {taken[0][1].shape}; unit '
                             '"example" needs arrays with one leading axis, of examples, that all of them share')
    return int(taken[0][1].shape[0]) if taken else 0


def check_finite(floats: list[tuple[str, npt.NDArray[Any]]]) -> None:
    for name, array in floats:
        bad = np.flatnonzero(~np.isfinite(array))
        if bad.size:
            raise InputError(f"update: array {name} ({array.dtype}), number {bad[0] + 1}: "
                             f"{'NaN' if np.isnan(array.reshape(-1)[bad[0]]) else 'infinity'}")


def buffers_of(arrays: list[npt.NDArray[Any]], writable: bool) -> tuple[Any, Any]:
    """mfpg_buffer of every array, and what has to live as long."""
    buffers = ffi.new("mfpg_buffer[]", len(arrays))
    keep = [ffi.from_buffer(array.reshape(-1), require_writable=writable) for array in arrays]
    for buffer, memory, array in zip(buffers, keep, arrays, strict=True):
        buffer.values, buffer.count, buffer.element = ffi.cast("void *", memory), array.size, ELEMENTS[array.dtype]
    return buffers, keep


def warn(unit: str, zeroed: int) -> None:
    """For the client's own log."""
    if zeroed and unit == "example":
        LOG.warning("privatise: %d examples were not finite and count as zero", zeroed)
    elif zeroed:
        LOG.warning("privatise: the update was not finite; it became zero, which was noised")


def or_default(step: float | None) -> float:
    return float(lib.mfpg_mechanism_options_default().step) if step is None else step


def make_mechanism(ctx: Context, noise: Noise, clip: float, step: float, scale: str, law: str, delta: float,
                   adjacency: str, unit: str, grid: float | None) -> Any:
    """The mechanism that clips whole updates, or those of examples. What an entropic flow does besides is not done here, so it
    limits no step."""
    kind = ffi.new("char[]", noise.mechanism.encode())
    options = ffi.new("mfpg_mechanism_options *", lib.mfpg_mechanism_options_default())
    options.kind, options.clip = kind, number("clip", clip, 0, above=True)
    options.clip_at = lib.MFPG_CLIP_STEP if unit == "example" else lib.MFPG_CLIP_UPDATE
    options.promise.unit = index("unit", unit, UNITS)
    options.learning_rate, options.sum_rounding = 1, 0  # updates are in the units of the weights, their sums exact
    options.grid = 0 if grid is None else number("grid", grid, 0, above=True)
    options.prior_variance, options.variance_penalty = 1e30, 0
    options.scale = index("scale", scale, SCALES)
    options.promise.adjacency = index("adjacency", adjacency, ADJACENCIES[:2])
    options.step, options.law = number("step", step, 0, above=True), index("law", law, LAWS)
    options.delta = number("delta", delta, 0, 1, above=True, below=True)
    out = ffi.new("mfpg_mechanism **")
    ctx.check(lib.mfpg_mechanism_create(ctx.pointer, options, out))
    return ffi.gc(out[0], lib.mfpg_mechanism_destroy)


def make_key(ctx: Context, seed: int | None) -> Any:
    key = ffi.new("mfpg_key *")
    if seed is None:
        ctx.check(lib.mfpg_key_from_system(key))
    else:
        key[0] = lib.mfpg_key_from_seed(whole("seed", seed, 0, 2**53))
    return key
