"""privatise: one joint clip, noise of the right law, what passes untouched and what is refused."""

import math

import numpy as np
import pytest

import mfpg


def joint_norm(arrays):
    return math.sqrt(sum(float((np.asarray(a, float) ** 2).sum()) for a in arrays))


def test_all_arrays_are_clipped_together():
    # norms 3 and 4, jointly 5; clipped apart they would have sqrt(2). The noise is small beside the clip.
    update = {"a": np.array([[3.0, 0.0]], np.float32), "b": np.array([0.0, 4.0])}
    found, release = mfpg.privatise(update, clip=1, noise_multiplier=1e-4, seed=1)
    assert list(found) == ["a", "b"] and found["a"].shape == (1, 2) and found["b"].dtype == np.float64
    assert found["a"][0, 0] == pytest.approx(0.6, abs=1e-3) and found["b"][1] == pytest.approx(0.8, abs=1e-3)
    assert (release.sensitivity, release.steps, release.sampling_rate) == (1, 1, 1)
    assert release.noise_sd == pytest.approx(1e-4)


def test_noise_has_the_law_that_was_asked_for():
    n = 200_000
    laws = [({"noise_multiplier": 2.0}, 6.0), ({"budget": 0.5}, 12.0), ({"strength": 5.0}, 1.0),
            ({"strength": 5.0, "step": 0.4}, 2.0),
            ({"strength": 2.0, "scale": "sensitivity"}, math.sqrt(3.6)),
            ({"strength": 2.0, "scale": "sensitivity", "adjacency": "replace"}, math.sqrt(14.4)),
            ({"budget": 0.5, "law": "classical"}, 3 * math.sqrt(2 * math.log(1.25e5)) / 0.5)]
    for noise, sd in laws:  # by hand: z C; 2 C/b; sqrt(2 e tau), e times S^2; C sqrt(2 ln(1.25/delta))/b
        found, release = mfpg.privatise(np.zeros(n, np.float32), clip=3, seed=2, **noise)
        assert release.noise_sd == pytest.approx(sd, rel=1e-12)
        z = found / sd
        # five standard errors of mean, variance and fourth moment; a fixed seed
        assert abs(z.mean()) < 5 / math.sqrt(n) and abs(z.var() - 1) < 5 * math.sqrt(2 / n)
        assert abs((z**4).mean() - 3) < 5 * math.sqrt(96 / n)
        assert abs(np.corrcoef(z[:-1], z[1:])[0, 1]) < 5 / math.sqrt(n)


def test_whole_numbers_pass_and_nothing_else_does():
    counter, mask = np.array([7], np.int64), np.array([True, False])
    found, _ = mfpg.privatise([np.ones(2, np.float32), counter, mask], noise_multiplier=1)
    assert np.array_equal(found[1], counter) and np.array_equal(found[2], mask) and found[1] is not counter
    for other in (np.ones(2, np.float16), np.ones(2, np.longdouble), np.ones(2, complex), np.array(["a"]),
                  np.array([None])):
        with pytest.raises(mfpg.InputError, match="number 1 is of"):
            mfpg.privatise([np.ones(2), other], noise_multiplier=1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_not_finite_becomes_zero_and_only_the_log_knows(bad, dtype, caplog):
    update = {"count": np.array([1]), "head": np.ones(3, dtype), "tail": np.array([1, 2, bad], dtype)}
    zeros = {"count": np.array([1]), "head": np.zeros(3, dtype), "tail": np.zeros(3, dtype)}
    found, release = mfpg.privatise(update, noise_multiplier=1, seed=4)
    assert "not finite" in caplog.text and caplog.records[0].name == "mfpg"
    caplog.clear()
    expected, same = mfpg.privatise(zeros, noise_multiplier=1, seed=4)
    assert release == same and not caplog.records
    for name in update:
        assert np.array_equal(found[name], expected[name])
    with pytest.raises(mfpg.InputError, match=rf"'tail' \({np.dtype(dtype)}\), number 3"):
        mfpg.privatise(update, noise_multiplier=1, on_nonfinite="raise")


def test_what_comes_back_lies_on_the_grid():
    update = {"a": np.full((2, 3), 0.3, np.float32), "n": np.array([7]), "b": np.full(4, -0.2)}
    for grid, expected in ((None, 0.125), (0.5, 0.5), (2.0**-20, 2.0**-20)):
        options = {"clip": 2.0, "noise_multiplier": 1.0, "seed": 9, "grid": grid}
        floats, release = mfpg.privatise(update, **options)
        whole, same = mfpg.privatise(update, integers=True, **options)
        assert release == same and (release.unit, release.clipped, release.grid, release.rounding) == ("client", "update", expected, 0)
        for name in ("a", "b"):
            assert whole[name].dtype == np.int64 and whole[name].shape == floats[name].shape
            assert floats[name].dtype == update[name].dtype
            assert np.array_equal((whole[name] * release.grid).astype(update[name].dtype), floats[name])
        assert np.array_equal(whole["n"], update["n"]) and len(np.unique(whole["a"])) > 1
    for wrong in (0.3, 1.0, 2.0**-60, 0, -1.0, math.nan):  # no power of two, coarser than a quarter, too fine, not positive
        with pytest.raises((mfpg.InputError, mfpg.DomainError)):
            mfpg.privatise(np.ones(3), noise_multiplier=1, grid=wrong)
    with pytest.raises(mfpg.InputError, match="integers cannot"):
        mfpg.privatise(np.ones(3), noise_multiplier=1, integers=True, in_place=True)


def test_examples_are_clipped_one_by_one_and_divided_by_the_declared_rows():
    draw = np.random.default_rng(3)
    update = {"a": draw.normal(size=(30, 2, 3)).astype(np.float32), "b": 5 * draw.normal(size=(30, 4))}
    flat = np.hstack([update["a"].reshape(30, -1), update["b"]])
    clipped = flat * np.minimum(1, 1.5 / np.linalg.norm(flat, axis=1))[:, None]
    options = {"unit": "example", "rows": 40, "clip": 1.5, "noise_multiplier": 1e-6, "seed": 1}
    found, release = mfpg.privatise(update, **options)
    mean = np.hstack([found["a"].reshape(-1), found["b"]])
    assert found["a"].shape == (2, 3) and found["a"].dtype == np.float32 and found["b"].shape == (4,)
    assert mean == pytest.approx(clipped.sum(axis=0) / 40, abs=1e-6)  # over the declared rows, not those at hand
    assert release.sensitivity == pytest.approx(1.5 / 40, rel=1e-12) and release.sensitivity >= 1.5 / 40
    assert (release.unit, release.clipped, release.noise_sd) == ("example", "examples", pytest.approx(1.5e-6 / 40))
    whole = mfpg.privatise(update, integers=True, **options).update
    assert np.array_equal(whole["b"] * release.grid, found["b"])
    account = mfpg.Accountant(unit="example")
    account.record(release)
    assert account.epsilon() > 0
    with pytest.raises(mfpg.InputError, match="unit"):
        mfpg.Accountant().record(release)


def test_examples_that_are_not_finite_count_as_zero(caplog):
    update = np.ones((5, 3))
    update[2, 1], update[4, 0] = np.nan, np.inf
    options = {"unit": "example", "rows": 5, "noise_multiplier": 1, "seed": 2}
    found = mfpg.privatise(update, **options).update
    assert "2 examples were not finite" in caplog.text
    update[2] = update[4] = 0
    assert np.array_equal(found, mfpg.privatise(update, **options).update)
    none = mfpg.privatise(np.ones((0, 3)), **options).update
    assert np.array_equal(none, mfpg.privatise(np.zeros((5, 3)), **options).update)


def test_unit_example_says_what_it_needs():
    def refuses(words, update, **options):
        with pytest.raises(mfpg.InputError, match=words):
            mfpg.privatise(update, **{"unit": "example", "noise_multiplier": 1, **options})

    refuses("leading axis of examples", np.ones(3))
    refuses("rows belongs", np.ones(3), unit="client", rows=3)
    refuses("allowed: client, example", np.ones(3), unit="record")
    refuses("share", [np.ones((3, 2)), np.ones((4, 2))], rows=3)
    refuses("share", [np.ones((3, 2)), np.float64(1)], rows=3)
    refuses("float32 and float64 only", [np.ones((3, 2)), np.ones(3, int)], rows=3)
    refuses("strength belongs", np.ones((3, 2)), rows=3, noise_multiplier=None, strength=1)
    refuses("in_place belongs", np.ones((3, 2)), rows=3, in_place=True)
    refuses("nothing to privatise", np.ones((3, 0)), rows=3)
    refuses("zero, raise", np.ones((3, 2)), rows=3, on_nonfinite="drop")
    for rows in (0, -1, 2.5, math.nan):
        with pytest.raises((mfpg.InputError, mfpg.DomainError)):
            mfpg.privatise(np.ones((3, 2)), unit="example", noise_multiplier=1, rows=rows)


@pytest.mark.parametrize("empty", [[], {}, (), [np.array([1])], np.zeros((0, 3))])
def test_update_without_floating_point_numbers_is_refused(empty):
    with pytest.raises(mfpg.InputError, match="nothing to privatise"):
        mfpg.privatise(empty, noise_multiplier=1)


@pytest.mark.parametrize("other", [None, 3.0, "abc", iter([1.0])])
def test_what_is_no_update_is_refused(other):
    with pytest.raises(mfpg.InputError, match="allowed: an array"):
        mfpg.privatise(other, noise_multiplier=1)


@pytest.mark.parametrize("noise", [
    {}, {"noise_multiplier": 1, "strength": 1}, {"noise_multiplier": 0}, {"noise_multiplier": -1},
    {"noise_multiplier": math.nan}, {"noise_multiplier": math.inf}, {"budget": 0}, {"strength": 0},
    {"noise_multiplier": 1, "step": 0.1}, {"strength": 1, "step": 0}, {"noise_multiplier": 1, "clip": 0},
    {"noise_multiplier": 1, "clip": math.nan}, {"noise_multiplier": 1, "clip": math.inf}, {"noise_multiplier": 2**-60},
    {"budget": 1, "law": "clasical"}, {"budget": 1, "scale": "sensitivity"}, {"strength": 1, "scale": "x"},
    {"strength": 1, "adjacency": "add"}, {"noise_multiplier": 1, "seed": -1}, {"noise_multiplier": 1, "round": -1},
], ids=str)
def test_noise_that_protects_nothing_is_refused(noise):
    update = np.ones(4)
    with pytest.raises((mfpg.InputError, mfpg.DomainError)):
        mfpg.privatise(update, in_place=True, **noise)
    assert np.array_equal(update, np.ones(4))


def test_zero_is_noised_like_any_other():
    found, release = mfpg.privatise([np.zeros(1000)], noise_multiplier=1)
    assert np.isfinite(found[0]).all() and 0.8 < found[0].std() < 1.2 and release.noise_sd == 1


def test_seeds_decide_the_noise_and_the_system_draws_anew():
    def noise(**key):
        return mfpg.privatise(np.zeros(20, np.float32), noise_multiplier=1, **key).update

    assert np.array_equal(noise(seed=3), noise(seed=3))
    others = [noise(seed=4), noise(seed=3, round=2), noise(seed=3, client=1), noise(), noise()]
    for i, one in enumerate(others):
        assert not any(np.array_equal(one, other) for other in [noise(seed=3), *others[:i]])


def test_in_place_writes_into_the_arrays_that_can_be_written():
    update = [np.ones(3, np.float32), np.array([2])]
    found, _ = mfpg.privatise(update, noise_multiplier=1, seed=5, in_place=True)
    assert found[0] is update[0] and not np.array_equal(update[0], np.ones(3))
    assert np.array_equal(found[0], mfpg.privatise([np.ones(3, np.float32)], noise_multiplier=1, seed=5).update[0])
    fixed = np.ones(3)
    fixed.flags.writeable = False
    shared = np.ones(6)
    for wrong in ([np.ones(6)[::2]], [np.ones((3, 2)).T], [fixed], [np.ones(3, ">f8")], [[1.0, 2.0]]):
        with pytest.raises(mfpg.InputError, match="in place"):
            mfpg.privatise(wrong, noise_multiplier=1, in_place=True)
    with pytest.raises(mfpg.InputError, match="share memory"):
        mfpg.privatise([shared, shared[2:4]], noise_multiplier=1, in_place=True)


def test_any_layout_is_copied():
    base = np.arange(12, dtype=np.float64).reshape(3, 4)
    plain = mfpg.privatise([base.copy()], clip=100, noise_multiplier=1, seed=6).update[0]
    for other in (np.asfortranarray(base), base.astype(">f8"), np.repeat(base, 2, axis=0)[::2]):
        assert np.array_equal(mfpg.privatise([other], clip=100, noise_multiplier=1, seed=6).update[0], plain)


def test_release_is_priced_as_the_same_schedule():
    _, release = mfpg.privatise(np.ones(3), clip=2, noise_multiplier=3, round=4, client=1)
    assert (release.round, release.client, release.control, release.action) == (4, 1, "multiplier", 3)
    accountant = mfpg.Accountant()
    accountant.record(release, times=10)
    assert accountant.epsilon() == mfpg.account(noise_multiplier=3, steps=10).epsilon


# ---- shares of a sum ----


def test_a_share_is_the_weighted_update_on_the_common_grid():
    update = {"a": np.linspace(-0.1, 0.1, 12, dtype=np.float32).reshape(3, 4), "n": np.arange(3), "b": np.full(5, 0.01)}
    made, release = mfpg.privatise(update, noise_multiplier=1e-4, weight=0.25, grid=2.0**-20, seed=1)
    assert made["a"].dtype == made["b"].dtype == np.int64 and made["a"].shape == (3, 4) and made["n"].tolist() == [0, 1, 2]
    for name in ("a", "b"):
        assert made[name] * release.grid == pytest.approx(0.25 * update[name], abs=6 * 0.25e-4)
    assert (release.weight, release.grid, release.noise_sd) == (0.25, 2.0**-20, 1e-4)
    whole = mfpg.privatise(update, noise_multiplier=1e-4, grid=2.0**-20, integers=True, seed=1, round=6).update
    share = mfpg.privatise(update, noise_multiplier=1e-4, weight=1.0, grid=2.0**-20, seed=1, round=7).update
    assert all((whole[name] == share[name]).all() for name in update)  # rounds of sums count from 1, their streams from 0


def test_every_attempt_at_a_share_has_noise_of_its_own():
    made = [mfpg.privatise(np.zeros(50, np.float32), noise_multiplier=1.0, weight=0.5, grid=2.0**-6, seed=1, **which).update
            for which in ({}, {"attempt": 2}, {"attempt": 3}, {"round": 2}, {"client": 1}, {"round": 2, "attempt": 2})]
    assert all((a == b).sum() < 20 for i, a in enumerate(made) for b in made[:i])
    again = mfpg.privatise(np.zeros(50, np.float32), noise_multiplier=1.0, weight=0.5, grid=2.0**-6, seed=1, attempt=2).update
    assert (again == made[1]).all()


def test_shares_that_mean_nothing_are_refused():
    good = {"noise_multiplier": 1.0, "weight": 0.5, "grid": 2.0**-6}
    for options in ({"grid": None}, {"weight": 0.0}, {"weight": 1.5}, {"weight": np.nan}, {"grid": 0.3}, {"grid": 0.5}, {"round": 0},
                    {"unit": "example", "rows": 3}, {"in_place": True}, {"attempt": 0}, {"attempt": 2**15}, {"round": 2**49}):
        with pytest.raises((mfpg.InputError, mfpg.DomainError)):
            mfpg.privatise(np.zeros((2, 3), np.float32), **{**good, **options})
    with pytest.raises(mfpg.InputError, match="nothing to privatise"):
        mfpg.privatise({"n": np.arange(3)}, **good)
