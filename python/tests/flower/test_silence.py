"""A server that chooses the weights can make training fail if a certain record is there. From a mod that refuses what is not finite
it learns of that record in every round, and pays nothing; from PrivacyMod no more than the certificate says."""

import pathlib
import sys

import numpy as np
import pytest

import mfpg

pytest.importorskip("flwr", reason="flwr is not installed (make flower)")

from flwr.app import Error, Message  # noqa: E402

from messages import answer, arrays_of, ask, context  # noqa: E402
from mfpg.flower import PrivacyMod  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from digits import TRIALS, float_path, impossible, most_correct, surely_above  # noqa: E402

MULTIPLIER, D = 20.0, 50
MODEL = {"w": np.full(D, 1e3, np.float32)}  # what the server sends: exp(x w) is infinite for a record that is not zero


def hospital(has_record):
    """Training that fails for one record alone."""
    def app(message, _):
        rows = np.zeros((20, D), np.float32)
        rows[7] = 1.0 if has_record else 0.0
        w = message.content["arrays"]["w"].numpy()
        with np.errstate(all="ignore"):
            loss = np.exp(rows @ w).mean()
            return answer(message, {"w": w + np.float32(loss / loss)})  # NaN, or one more, which is beyond the clip
    return app


def private(**options):
    return PrivacyMod(clip=1.0, noise_multiplier=MULTIPLIER, stop_at_epsilon=1e9, adjacency="replace", seed=3, **options)


def refusing(message, where, app):
    """What earlier versions did: an update that is not finite is refused, which costs nothing."""
    reply = app(message, where)
    if all(np.isfinite(array).all() for array in arrays_of(reply).values()):
        return private()(message, where, app)
    return Message(Error(code=6, reason="mfpg: the update cannot be made private"), reply_to=message)


def by_refusal(reply):
    return reply.has_error()


def by_direction(reply):
    """The likelier of the two updates that clipping can have left: none, or the direction of ones."""
    moved = arrays_of(reply)["w"].astype(np.float64) - MODEL["w"].astype(np.float64)
    return bool(moved.sum() / np.sqrt(D) < 0.5)


def attack(mod, guesses, ledger, trials):
    """Right guesses about the record, for each way to guess, and the releases that were charged."""
    draw, right = np.random.default_rng(8), [0] * len(guesses)
    for has_record in draw.integers(0, 2, trials).astype(bool):
        reply = mod(ask(MODEL), context(ledger=ledger), hospital(has_record))
        for i, guess in enumerate(guesses):
            right[i] += guess(reply) == has_record
    return right, len(mfpg.Ledger.read(ledger).releases)


def test_refusals_tell_of_one_record_every_time_and_for_nothing(tmp_path):
    (right,), charged = attack(refusing, [by_refusal], str(tmp_path / "ledger"), 200)
    assert right == 200 and charged < 200


def test_the_mod_tells_of_one_record_no_more_than_is_certified(tmp_path):
    trials = max(200, TRIALS)
    right, charged = attack(private(), [by_refusal, by_direction], str(tmp_path / "ledger"), trials)
    assert not any(surely_above(correct, trials, most_correct(2 / MULTIPLIER)) for correct in right), right
    assert charged == trials


def test_digits_of_what_the_server_receives_tell_nothing(tmp_path):
    """received + private in float, with the weights of a model: which of two hospitals answered?"""
    draw, multiplier = np.random.default_rng(4), 550.0
    model = {"w": (0.1 * draw.standard_normal(1000)).astype(np.float32)}
    step = draw.standard_normal(1000).astype(np.float32)
    step /= np.linalg.norm(step)
    mod = PrivacyMod(clip=1.0, noise_multiplier=multiplier, stop_at_epsilon=100.0, seed=6)
    right = {"mod": 0, "floats": 0}
    for has_data in draw.integers(0, 2, 200).astype(bool):
        learnt = {"w": model["w"] + step * np.float32(has_data)}
        sent = {"mod": arrays_of(mod(ask(model), context(ledger=str(tmp_path / "ledger")), lambda m, _: answer(m, learnt)))["w"],
                "floats": model["w"] + float_path(learnt["w"] - model["w"], draw, multiplier)}
        for path, values in sent.items():
            right[path] += (impossible(values, multiplier, model["w"]) > 0) == has_data
    assert right["floats"] == 200 and not surely_above(right["mod"], 200, most_correct(1 / multiplier)), right
