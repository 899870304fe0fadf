"""Data given as arrays: handed to the library as NumPy files in memory, one a client."""

from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from mfpg._call import InputError

MEMORY = "/dev/shm"  # files that never reach a disk
MOST_NAME = 200


def numbers(name: str, values: Any, dimensions: int) -> npt.NDArray[np.float32]:
    """An array of float32; what is infinite, or no number of that type, is refused. NaN is a missing value."""
    array = np.asarray(values)
    if array.dtype.kind not in "fiub" or array.ndim != dimensions or array.size == 0:
        raise InputError(f"{name}: found shape {array.shape} of {array.dtype}; allowed: numbers in {dimensions} "
                         f"dimension{'s' if dimensions > 1 else ''}, one row an example")
    with np.errstate(over="ignore"):
        single = array.astype(np.float32)
    if np.isinf(single).any():
        raise InputError(f"{name}: a value is infinite, or beyond the range of float32")
    return single


def client_name(value: Any) -> str:
    """The name of a client: a file is called after it."""
    name = str(value)
    if not name or "/" in name or "\0" in name or name in (".", "..") or len(os.fsencode(name)) > MOST_NAME:
        raise InputError(f"clients: found {name[:60]!r}; allowed: names of 1 to {MOST_NAME} bytes without a slash")
    return name


def groups(clients: Any, rows: int) -> dict[str, npt.NDArray[np.intp]]:
    """The rows of every client, in order of first appearance."""
    ids = np.asarray(clients)
    if ids.shape != (rows,) or ids.dtype.kind == "f":
        raise InputError(f"clients: found shape {ids.shape} of {ids.dtype}; allowed: {rows} names or whole numbers, one a row")
    _, first, member = np.unique(ids, return_index=True, return_inverse=True)
    found = {client_name(ids[first[k]]): np.flatnonzero(member == k) for k in np.argsort(first)}
    if len(found) < len(first):
        raise InputError("clients: two clients have one name")
    return found


def write_bounds(folder: pathlib.Path, bounds: Any, features: int) -> None:
    """Public bounds, one pair a feature, by the names that columns of arrays have."""
    try:
        low, high = (np.broadcast_to(np.asarray(end, dtype=float), features).tolist() for end in bounds)
    except (TypeError, ValueError):
        raise InputError(f"bounds: found {bounds!r}; allowed: (low, high), each a number or one a feature") from None
    lines = [f"c{j + 1},{low[j]!r},{high[j]!r}" for j in range(features)]
    (folder / "bounds.csv").write_text("\n".join(["column,low,high", *lines, ""]), encoding="ascii")


@contextlib.contextmanager
def as_files(features: Any, labels: Any, clients: Any, bounds: Any) -> Iterator[dict[str, Any]]:
    """The keys of a configuration that read these arrays, while the files are there."""
    x, y = numbers("features", features, 2), numbers("labels", labels, 1)
    if len(x) != len(y):
        raise InputError(f"labels: {len(y)} for {len(x)} rows of features; one a row is needed")
    rows = groups(clients, len(x))
    in_memory = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="mfpg-", dir=in_memory) as name:  # for this user alone
        folder = pathlib.Path(name)
        for client, of_client in rows.items():
            np.save(folder / f"{client}.npy", np.column_stack([x[of_client], y[of_client]]))
        keys: dict[str, Any] = {"data.format": "npy", "data.dir": folder, "data.files": [f"{client}.npy" for client in rows]}
        if bounds is not None:
            write_bounds(folder, bounds, x.shape[1])
            keys["data.scale.bounds"] = folder / "bounds.csv"
        yield keys
