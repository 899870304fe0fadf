"""A federation of secure sums leaves the model of mfpg run, to the last bit, when the same sites drop out."""

import pathlib
import sys

import numpy as np
import pytest

import mfpg

pytest.importorskip("flwr", reason="flwr is not installed (make flower)")

from flwr.app import Array, ArrayRecord, ConfigRecord  # noqa: E402

from messages import LocalGrid, context  # noqa: E402
from mfpg.flower import PrivacyStrategy, SecureSum  # noqa: E402
from test_secure_mod import NAMES, ROWS, write_roster  # noqa: E402

sys.path[:0] = [str(pathlib.Path(__file__).parent / "sum_app"), str(pathlib.Path(__file__).parents[3] / "examples/flower-hospitals")]
from hospitals import task  # noqa: E402
from sum_app import client_app, logistic  # noqa: E402

BETAS = dict(zip(NAMES, (0.5, 1.0, 1.5, 2.0), strict=True))


def write_hospitals(shared, folder):
    """The four hospitals as arrays of float32, with their keys."""
    write_roster(folder)
    for name in NAMES:
        x, y = task.load(shared / f"data/heart/processed.{name}.data")
        np.save(folder / f"{name}.npy", np.column_stack([x[:, :-1], y]).astype(np.float32))  # models add the bias themselves


def node_config(folder, name, **others):
    return {"data": str(folder / f"{name}.npy"), "ledger": str(folder / f"{name}.ledger"), "roster": str(folder / "roster"),
            "identity": str(folder / f"{name}.key"), "beta": BETAS[name], "num-examples": ROWS[name], **others}


def run(folder, rounds, dropouts):
    """The same federation in one process."""
    (folder / "beta.csv").write_text("beta\n" + "".join(f"{beta}\n" for beta in BETAS.values()))
    constants = {name: value for name, value in logistic.CONSTANTS.items() if name != "prior_variance"}
    return mfpg.simulate({
        "seed": logistic.SEED, "method": "mfpg", "task": {"model": "logistic"},
        "data": {"format": "npy", "dir": str(folder), "files": [f"{name}.npy" for name in NAMES], "test_fraction": 0},
        "evaluate": "none",
        "privacy": {"unit": "client", "view": "average", "clip": logistic.CLIP, "clip_at": "update"},
        "train": {"rounds": rounds, "local_steps": logistic.STEPS, "weights": "examples"},
        "game": {"actions": logistic.ACTIONS, "preferences": {"file": str(folder / "beta.csv"), "column": "beta"}, **constants},
        "entropic": {"step": logistic.RATE, "prior_variance": 1e30, "variance_penalty": 0, "scale": "sensitivity"},
        "secure_sum": {"run": "simulate", "threshold": 3, "dropouts": dropouts}})


@pytest.mark.parametrize("missing", [{}, {1: "va"}, {1: "va", 2: "va", 3: "cleveland"}])
def test_the_model_is_that_of_the_run(shared, tmp_path, missing):
    write_hospitals(shared, tmp_path)
    sites = {node: context(node=node, **node_config(tmp_path, name)) for node, name in enumerate(NAMES, 1)}
    strategy = PrivacyStrategy(grid=logistic.ACTIONS, min_train_nodes=4,
                               secure_sum=SecureSum(threshold=3, roster=tmp_path / "roster", timeout=0.1))
    arrays = ArrayRecord({"w": Array(np.zeros(logistic.DIMENSION, np.float32))})
    for number in (1, 2, 3):
        def reply(message, node, number=number):
            gone = NAMES[node - 1] == missing.get(number) and message.content["mfpg"]["mfpg-step"] == "masked"
            return None if gone else client_app.app(message, sites[node])

        strategy.configure_train(number, arrays, ConfigRecord(), LocalGrid(
            {node: lambda message, node=node, reply=reply: reply(message, node) for node in sites}))
        arrays, metrics = strategy.aggregate_train(number, [])
        assert metrics["clients"] == 4 - (number in missing)
    same = run(tmp_path, 3, [f"{number}:{name}" for number, name in missing.items()])
    assert arrays["w"].numpy().tobytes() == same.model.tobytes()
    for place, name in enumerate(NAMES):
        account = mfpg.account(ledger=tmp_path / f"{name}.ledger")
        lines = [line.release for line in mfpg.Ledger.read(tmp_path / f"{name}.ledger").releases]
        assert len(lines) == 3 - sum(name == other for other in missing.values()) == same.clients["rounds"][place]
        assert {line.action for line in lines} == {same.clients["action"][place]}
        assert account.certificate and account.view == "average"
        accountant = mfpg.Accountant("gdp", view="average")
        for line in lines:
            accountant.record(line)
        assert accountant.epsilon(1e-5) == same.clients["epsilon"][place]
