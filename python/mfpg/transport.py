"""Entropic optimal transport of a cloud of points onto itself, with an error certificate."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from mfpg._call import Context, InputError, Job, job
from mfpg._interface import ffi, lib

__all__ = ["Projection", "project"]

_SCALES: dict[str, Any] = {"absolute": lib.MFPG_REGULARISATION_ABSOLUTE, "variance": lib.MFPG_REGULARISATION_VARIANCE}


@dataclasses.dataclass(frozen=True)
class Projection:
    """The projected cloud, and how exact it is."""

    x: npt.NDArray[np.float32]
    converged: bool
    iterations: int
    residual: float
    """max_i \\|row sum i - 1\\| of the plan."""
    kernel_error: float
    """Bound on what a row sum can be off because the kernel was not summed entry by entry."""
    variance_ratio: float
    """Var(projected) / Var(x); 1 where x is constant."""
    eta: float
    """The regularisation in the units of x squared; 0 where it is relative and x constant."""


@job
def project(job: Job, x: npt.ArrayLike, *, regularisation: float, scale: str = "absolute",
            out: npt.NDArray[np.float32] | None = None, threads: int | None = None) -> Projection:
    """Replaces x_i by sum_j P_ij x_j, P the symmetric plan of unit row sums with kernel exp(-\\|x_i-x_j\\|^2/eta).

    x: n scalars, or n points of d coordinates as an array of shape (n, d); finite. It is left as it is, unless it is given
    as `out` too: a C-contiguous float32 array of the same shape that takes the result without a copy.
    regularisation: above 0. With scale "absolute" it is eta, in the units of x squared; with "variance" eta is that number
    times the variance of x (of points, the mean over their coordinates).
    threads: for points; their number changes no bit (default: all the machine's).

    The mean is kept to rounding, no value leaves the range (points: the convex hull), equal entries stay equal. Applied to
    something that was released it is post-processing. Raises DomainError where x or regularisation is not finite.
    """
    cloud = np.asarray(x)
    if cloud.ndim not in (1, 2) or cloud.dtype.kind not in "fiu":
        raise InputError(f"x: found shape {cloud.shape} of {cloud.dtype}; allowed: (n,) or (n, d) numbers")
    if out is None:
        out = np.array(cloud, dtype=np.float32, order="C")
    else:
        if out.dtype != np.float32 or out.shape != cloud.shape or not out.flags.c_contiguous or not out.flags.writeable:
            raise InputError(f"out: found shape {out.shape} of {out.dtype}; allowed: a writable, C-contiguous float32 array "
                             f"of shape {cloud.shape}")
        if out is not x:
            out[...] = cloud
    if scale not in _SCALES:
        raise InputError(f"scale: found {scale!r}; allowed: {', '.join(_SCALES)}")
    told: Any = ffi.new("mfpg_regularisation *", {"value": regularisation, "scale": _SCALES[scale]})
    result: Any = ffi.new("mfpg_sinkhorn_result *")
    buffer = ffi.from_buffer("float[]", out, require_writable=True)
    with Context(job, threads) as ctx:
        if out.ndim == 1:
            ctx.check(lib.mfpg_sinkhorn_project(ctx.pointer, out.shape[0], told[0], buffer, result))
        else:
            ctx.check(lib.mfpg_sinkhorn_project_points(ctx.pointer, *out.shape, told[0], buffer, result))
    return Projection(out, bool(result.converged), result.iterations, result.residual, result.kernel_error,
                      result.variance_ratio, result.eta)
