"""Arrays of a message: what was learnt, apart from what was received, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from flwr.app import Array, ArrayRecord

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
    """Names, shapes and types of the reply are those that were received; anything else might carry data past the clip."""
    if received.keys() != trained.keys():
        odd = sorted(received.keys() ^ trained.keys())
        raise Refusal(f"the reply's arrays are not those received: {', '.join(map(repr, odd[:3]))} "
                      f"{'is' if len(odd) == 1 else 'are'} in one of them only")
    for name, before in received.items():
        after = trained[name]
        if before.shape != after.shape or before.dtype != after.dtype:
            raise Refusal(f"array {name!r} of the reply is {after.dtype} of shape {after.shape}; received was {before.dtype} "
                          f"of shape {before.shape}")
    if not any(array.dtype.kind == "f" and array.size for array in received.values()):
        raise Refusal("the model has no floating-point number, so that there is nothing to make private")


def difference(received: Arrays, trained: Arrays) -> Arrays:
    """trained - received where they are floating-point numbers; whole numbers as trained."""
    with np.errstate(all="ignore"):  # infinity and NaN are refused by privatise, by name
        return {name: np.asarray(trained[name] - before if before.dtype.kind == "f" else trained[name])
                for name, before in received.items()}


def add(received: Arrays, private: Arrays) -> ArrayRecord:
    """received + private: a function of what may leave, so it may."""
    made = {}
    for name, before in received.items():
        after = np.asarray(before + private[name], dtype=before.dtype) if before.dtype.kind == "f" else private[name]
        made[name] = Array(np.ascontiguousarray(after).reshape(before.shape))
    return ArrayRecord(made)
