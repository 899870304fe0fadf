"""privatise: an update that was trained elsewhere, clipped as one vector and noised."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mfpg._call import Context, InputError, Job, job, number, whole
from mfpg._interface import ffi, lib
from mfpg._release import ADJACENCIES, CONTROLS, Release, from_c, index, set_action

LAWS = ["game", "classical"]
SCALES = ["absolute", "sensitivity"]
ELEMENTS = {np.dtype(np.float32): lib.MFPG_ELEMENT_FLOAT32, np.dtype(np.float64): lib.MFPG_ELEMENT_FLOAT64}


class Privatised(NamedTuple):
    """A private update and what was released for it."""

    update: Any
    """Of the kind that was given: a list, tuple, dict or array."""
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
              scale: str | None = None, law: str = "game", delta: float = 1e-5, adjacency: str = "zero-out", seed: int | None = None, round: int = 1, client: int = 0,
              in_place: bool = False) -> Privatised:
    """Makes an update private: all its floating-point arrays together are one vector, which is scaled to norm at most `clip`
    and blurred by Gaussian noise once. That is one release of one client.

    update: an array, or a list, tuple or dict of arrays of any shapes: what the client has learnt, minus what it started
        from. float32 and float64 are made private, whole numbers (counters) pass as they are, anything else is refused.
        Results of float64 have the digits of float32, since the noise has.
    clip: bound of the joint norm, in the units of the update; the sensitivity under zero-out, half of that under replace.
    One of
        noise_multiplier: noise sd over the clip;
        budget: the game's: sd 2 clip/budget, so that a release is budget-GDP under replace; with law "classical"
            clip sqrt(2 ln(1.25/delta))/budget;
        strength: entropic: sd sqrt(2 strength step), in the units of the update (step default 0.1). With scale "sensitivity"
            (default "absolute") the strength counts in units of S^2, S = clip, or 2 clip for adjacency "replace".
    seed: None takes randomness of the operating system, the only kind fit for a real release. With a seed the noise is a
        function of (seed, round, client): use no such triple twice.
    round, client: written into the release.
    in_place: writes into the arrays themselves, which must be C-contiguous and writable; they are left as they were where
        the call fails.

    Returns (update, release). A zero update comes back as noise alone. Raises InputError for NaN or infinity (which array,
    and where), and where there is no floating-point number; DomainError for noise that is not positive or too small to
    show. Threads: safe on different arrays.
    """
    noise = read_noise(noise_multiplier, budget, strength, {"step": step, "scale": scale})
    taken = [(name, take(name, value, in_place)) for name, value in named(update)]
    floats = [(name, array) for name, array in taken if array.dtype in ELEMENTS]
    if in_place:
        check_apart([array for _, array in floats])
    with Context(job, 1) as ctx:
        mechanism = make_mechanism(ctx, noise, clip, or_default(step), scale or "absolute", law, delta, adjacency)
        buffers = ffi.new("mfpg_buffer[]", len(floats))
        keep = [ffi.from_buffer(array.reshape(-1), require_writable=True) for _, array in floats]
        for buffer, memory, (_, array) in zip(buffers, keep, floats, strict=True):
            buffer.values, buffer.count, buffer.element = ffi.cast("void *", memory), array.size, ELEMENTS[array.dtype]
        action = ffi.new("mfpg_action *", {"control": CONTROLS.index(noise.control)})
        set_action(action, noise.control, number(noise.control, noise.value, 0))
        round, client = whole("round", round, 0, 2**62), whole("client", client, 0, 2**62)
        release = ffi.new("mfpg_release *")
        key = make_key(ctx, seed)
        stream = ffi.new("mfpg_stream *", lib.mfpg_stream_open(key, lib.MFPG_PURPOSE_NOISE, round, client))
        status = lib.mfpg_privatise(ctx.pointer, mechanism, action[0], stream, buffers, len(floats), release)
        try:
            ctx.check(status)
        except InputError as error:
            raise InputError(with_names(str(error), [name for name, _ in floats])) from None
        release.round, release.client = round, client
        return Privatised(like(update, [array for _, array in taken]), from_c(release))


def or_default(step: float | None) -> float:
    return float(lib.mfpg_mechanism_options_default().step) if step is None else step


def make_mechanism(ctx: Context, noise: Noise, clip: float, step: float, scale: str, law: str, delta: float,
                   adjacency: str) -> Any:
    """The mechanism that clips whole updates. What an entropic flow does besides is not done here, so it limits no step."""
    kind = ffi.new("char[]", noise.mechanism.encode())
    options = ffi.new("mfpg_mechanism_options *", lib.mfpg_mechanism_options_default())
    options.kind, options.clip, options.clip_at = kind, number("clip", clip, 0, above=True), lib.MFPG_CLIP_UPDATE
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


def with_names(message: str, names: list[str]) -> str:
    """The message with the caller's name in the place of the number of an array."""
    head, found, rest = message.partition("array ")
    digits, blank, words = rest.partition(" ")
    if head or not found or not digits.isdigit():
        return message
    return f"update: array {names[int(digits) - 1]}{blank}{words}"
