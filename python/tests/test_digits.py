"""The last digits of a release say nothing: attacks that read the float path without an error guess among releases of privatise."""

import numpy as np
import pytest

import mfpg
from digits import TRIALS, float_path, impossible, most_correct, surely_above

D, MULTIPLIER = 1000, 300.0  # one release; the neighbour's update has norm 1 (zero-out), or there is none


@pytest.fixture(scope="module")
def scene():
    draw = np.random.default_rng(20)
    update = draw.standard_normal(D)
    update /= np.linalg.norm(update)
    received = (0.1 * draw.standard_normal(D)).astype(np.float32)  # the model that the server sent
    return update, received, draw


def guesses(scene, release, read, trials):
    """How many of the guesses are right, of which of the two updates was released."""
    update, _, draw = scene
    truth = draw.integers(0, 2, trials)
    return sum(int(read(release(update * bit, trial)) == bit) for trial, bit in enumerate(truth))


def by_digits(values, received=None, allowed=0):
    """The update was not zero if some number could not have come of zero."""
    return int(impossible(values, MULTIPLIER, received) > allowed)


def private(dtype, received=None):
    def release(update, trial):
        found = mfpg.privatise(update.astype(dtype), noise_multiplier=MULTIPLIER, seed=77, round=trial).update
        return found.astype(np.float32) if received is None else received + found.astype(np.float32)
    return release


def test_the_promise_is_a_small_one():
    assert mfpg.account(noise_multiplier=MULTIPLIER, unit="client").epsilon == pytest.approx(0.0079, abs=5e-5)


def test_digits_of_the_float_path_tell_everything(scene):
    update, received, draw = scene
    assert guesses(scene, lambda u, _: float_path(u, draw, MULTIPLIER), by_digits, TRIALS) == TRIALS
    sent = guesses(scene, lambda u, _: received + float_path(u, draw, MULTIPLIER), lambda v: by_digits(v, received), TRIALS)
    assert sent == TRIALS


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_digits_of_privatise_tell_nothing(scene, dtype):
    update, received, _ = scene
    bound = most_correct(1 / MULTIPLIER)
    middle = int(np.median([impossible(private(dtype)(0 * update, 10**6 + i), MULTIPLIER) for i in range(20)]))
    attacks = [by_digits, lambda v: by_digits(v, allowed=middle), lambda v: int(v @ update > 0.5),
               lambda v: int(((v / 2**4).astype(np.int64) & 1).mean() > 0.5)]  # grid 16: the lowest bit of the integers
    for attack in attacks:
        correct = guesses(scene, private(dtype), attack, TRIALS)
        assert not surely_above(correct, TRIALS, bound), correct


def test_digits_of_the_model_that_a_server_gets_tell_nothing(scene):
    update, received, _ = scene
    sent = private(np.float32, received)
    middle = int(np.median([impossible(sent(0 * update, 10**6 + i), MULTIPLIER, received) for i in range(20)]))
    for allowed in (0, middle):
        correct = guesses(scene, sent, lambda v: by_digits(v, received, allowed), TRIALS)
        assert not surely_above(correct, TRIALS, most_correct(1 / MULTIPLIER)), correct
