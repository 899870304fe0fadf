"""Local training in the library's own arithmetic, and the numbers that a run and a federation share."""

import numpy as np

from mfpg._call import Context
from mfpg._interface import ffi, lib

SEED, STEPS, RATE, CLIP, DIMENSION = 11, 5, 0.5, 1.0, 11
ACTIONS, CONSTANTS = [0.4, 0.6, 0.8, 1.0, 1.25], {"curvature": 1.0, "own_cost": 1.375, "privacy_scale": 1.0, "prior_variance": 1e30}


def train(w, rows):
    """Gradient steps on all rows, whose last column is the label."""
    x, y = np.ascontiguousarray(rows[:, :-1]), np.ascontiguousarray(rows[:, -1])
    kind, w = ffi.new("char[]", b"logistic"), w.copy()
    options = ffi.new("mfpg_model_options *", {"kind": kind, "features": x.shape[1]})
    data = ffi.new("mfpg_dataset *", {"rows": len(x), "features": x.shape[1], "x": floats(x), "y": floats(y)})
    with Context() as ctx:
        out = ffi.new("mfpg_model **")
        ctx.check(lib.mfpg_model_create(ctx.pointer, options, out))
        model = ffi.gc(out[0], lib.mfpg_model_destroy)
        work, gradient = np.empty(lib.mfpg_model_workspace(model, len(x)), np.float32), np.empty_like(w)
        for _ in range(STEPS):
            lib.mfpg_model_gradient(model, floats(w), data, ffi.NULL, 0, len(x), floats(gradient), floats(work))
            w += np.float32(-RATE) * gradient
    return w


def floats(array):
    return ffi.cast("float *", ffi.from_buffer(array.reshape(-1), require_writable=True))
