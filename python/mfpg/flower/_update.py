"""Arrays of a message: what was learnt, apart from what was received, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from flwr.app import Array, ArrayRecord

from mfpg._privatise import ELEMENTS
from mfpg.flower._refusal import Refusal

Arrays = dict[str, npt.NDArray[Any]]


def only_arrays(content: Any, whose: str) -> tuple[str, ArrayRecord]:
    """Key and value of the one ArrayRecord."""
    records = list(content.array_records.items())
    if len(records) != 1:
        raise Refusal(f"{whose} holds {len(records)} ArrayRecords; allowed: one")
    key, record = records[0]
    return str(key), record


def read(record: ArrayRecord, whose: str) -> Arrays:
    """The arrays by name. Objects cannot be read, since pickles are never loaded."""
    try:
        return {name: np.asarray(array.numpy()) for name, array in record.items()}
    except (ValueError, TypeError, EOFError, OSError) as problem:
        raise Refusal(f"an array of {whose} cannot be read", str(problem)) from None


def check_alike(received: Arrays, trained: Arrays) -> None:
    """Names, shapes and types are those that were received; anything else might carry data past the clip."""
    if received.keys() != trained.keys():
        odd = sorted(received.keys() ^ trained.keys())
        raise Refusal(f"the reply's arrays are not those received: {', '.join(map(repr, odd[:3]))} "
                      f"{'is' if len(odd) == 1 else 'are'} in one of them only")
    for name, before in received.items():
        after = trained[name]
        if before.shape != after.shape or before.dtype != after.dtype:
            raise Refusal(f"array {name!r} of the reply is {after.dtype} of shape {after.shape}; received was {before.dtype} "
                          f"of shape {before.shape}")


def check_model(received: Arrays) -> None:
    """Arrays that can be made private, before anything is trained."""
    for name, array in received.items():
        if array.dtype.kind not in "iub" and array.dtype.newbyteorder("=") not in ELEMENTS:
            raise Refusal(f"array {name!r} of the model is {array.dtype}; allowed: float32, float64 and whole numbers")
    if not any(array.dtype.kind == "f" and array.size for array in received.values()):
        raise Refusal("the model has no floating-point number, so that there is nothing to make private")


def difference(received: Arrays, trained: Arrays, public: frozenset[str]) -> Arrays:
    """trained - received of floating-point numbers; whole numbers as they were received, or as trained if they are public."""
    with np.errstate(all="ignore"):  # what is not finite becomes zero in privatise
        return {name: np.asarray(trained[name] - before if before.dtype.kind == "f" else
                                 trained[name] if name in public else before) for name, before in received.items()}


def floats_of(arrays: Arrays) -> Arrays:
    """Those that are made private, in an order that all sites and the server share."""
    return {name: arrays[name] for name in sorted(arrays) if arrays[name].dtype.kind == "f"}


def add(received: Arrays, private: Arrays) -> ArrayRecord:
    """received + private: a function of what may leave, so it may."""
    made = {}
    for name, before in received.items():
        after = np.asarray(before + private[name], dtype=before.dtype) if before.dtype.kind == "f" else private[name]
        made[name] = Array(np.ascontiguousarray(after).reshape(before.shape))
    return ArrayRecord(made)
