"""transport.project: against a plain Sinkhorn iteration, in place, and what it refuses."""

import numpy as np
import pytest

import mfpg


def plain_projection(x, regularisation):
    """The symmetric plan with unit row sums by the textbook iteration, in double."""
    points = np.asarray(x, dtype=float).reshape(len(x), -1)
    kernel = np.exp(-((points[:, None] - points[None]) ** 2).sum(axis=2) / regularisation)
    u = np.ones(len(points))
    for _ in range(2000):
        u = np.sqrt(u / (kernel @ u))
    return ((u[:, None] * kernel * u) @ points).reshape(np.shape(x))


@pytest.mark.parametrize("shape", [(40,), (30, 3)])
def test_projection_is_that_of_a_plain_iteration(shape):
    x = np.random.default_rng(7).normal(size=shape).astype(np.float32)
    found = mfpg.transport.project(x, regularisation=0.5)
    # rows of the plan are summed to 1e-9, the result is rounded to float
    np.testing.assert_allclose(found.x, plain_projection(x, 0.5), rtol=0, atol=4e-7)
    assert found.converged and found.residual <= 1e-9
    assert found.variance_ratio == pytest.approx(np.var(found.x) / np.var(x), rel=1e-3) or len(shape) == 2
    assert np.mean(found.x) == pytest.approx(np.mean(x), abs=1e-7)


def test_projection_leaves_its_input_unless_it_is_the_output():
    x = np.linspace(-1, 1, 50, dtype=np.float32)
    before = x.copy()
    found = mfpg.transport.project(x, regularisation=1)
    assert np.array_equal(x, before)
    again = mfpg.transport.project(x, regularisation=1, out=x)
    assert again.x is x and np.array_equal(x, found.x)


def test_threads_change_no_bit():
    x = np.random.default_rng(1).normal(size=(300, 4)).astype(np.float32)
    one, two = (mfpg.transport.project(x, regularisation=1, threads=n).x for n in (1, 2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize("x", [[0.0, np.nan], [np.inf, 1.0]])
def test_what_is_not_finite_is_refused(x):
    with pytest.raises(mfpg.DomainError):
        mfpg.transport.project(x, regularisation=1)


@pytest.mark.parametrize("regularisation", [0, -1, np.nan, np.inf])
def test_regularisation_is_checked(regularisation):
    with pytest.raises(mfpg.DomainError):
        mfpg.transport.project([0.0, 1.0], regularisation=regularisation)


@pytest.mark.parametrize("out", [np.zeros(3, np.float32), np.zeros(2), np.zeros(4, np.float32)[::2]])
def test_outputs_of_another_layout_are_refused(out):
    with pytest.raises(mfpg.InputError, match="C-contiguous float32"):
        mfpg.transport.project([0.0, 1.0], regularisation=1, out=out)


@pytest.mark.parametrize("x", [["a", "b"], [[[1.0]]], [1j, 2], 3.0])
def test_no_cloud_is_refused(x):
    with pytest.raises(mfpg.InputError):
        mfpg.transport.project(x, regularisation=1)


@pytest.mark.parametrize("shape", [(40,), (30, 3)])
def test_a_regularisation_in_units_of_the_variance(shape):
    x = np.random.default_rng(3).normal(size=shape).astype(np.float32)
    relative = mfpg.transport.project(x, regularisation=0.3, scale="variance")
    assert relative.eta == pytest.approx(0.3 * np.mean(np.var(x.astype(float), axis=0)), rel=1e-6)
    absolute = mfpg.transport.project(x, regularisation=relative.eta)
    assert np.array_equal(relative.x, absolute.x) and absolute.eta == relative.eta
    doubled = mfpg.transport.project(2 * x, regularisation=0.3, scale="variance")
    assert doubled.variance_ratio == pytest.approx(relative.variance_ratio, rel=1e-12)
    constant = mfpg.transport.project([1.0, 1.0], regularisation=0.3, scale="variance")
    assert constant.eta == 0 and constant.variance_ratio == 1


def test_a_wrong_scale_is_refused():
    with pytest.raises(mfpg.InputError, match="allowed: absolute, variance"):
        mfpg.transport.project([0.0, 1.0], regularisation=1, scale="relative")
