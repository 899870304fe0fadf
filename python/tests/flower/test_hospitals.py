"""The example app on the four hospitals of UCI Heart Disease, through mod and strategy, without processes in between."""

import pathlib
import sys

import numpy as np
import pytest

import mfpg

pytest.importorskip("flwr", reason="flwr is not installed (make flower)")

from flwr.app import Array, ArrayRecord, ConfigRecord  # noqa: E402

from messages import LocalGrid, context  # noqa: E402
from mfpg.flower import PrivacyStrategy, SecureSum  # noqa: E402
from test_secure_mod import write_roster  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "examples/flower-hospitals"))
from hospitals import client_app, task  # noqa: E402

ROWS = {"cleveland": 303, "hungarian": 261, "switzerland": 46, "va": 130}  # complete in the ten columns
CONFIG = {"clip": 0.5, "epsilon": 200.0, "delta": 1e-5, "game": False, "noise-multiplier": 0.2, "interaction": 0.5,
          "privacy-scale": 1.0, "threshold": 0}


class Nodes:
    def get_node_ids(self):
        return [1, 2, 3, 4]


@pytest.fixture
def hospitals(shared, tmp_path):
    made = {}
    for node, name in enumerate(ROWS, 1):
        made[node] = context(node=node, data=str(shared / f"data/heart/processed.{name}.data"),
                             ledger=str(tmp_path / name), beta=0.5 * node**2, epsilon=150.0, **{"num-examples": ROWS[name]})
        made[node].run_config.update(CONFIG)
    return made


def pooled(hospitals):
    x, y = zip(*(task.load(site.node_config["data"]) for site in hospitals.values()), strict=True)
    assert [len(one) for one in y] == list(ROWS.values())
    return np.vstack(x), np.hstack(y)


def rounds(strategy, hospitals, count):
    """The weights after so many rounds."""
    arrays = ArrayRecord({name: Array(value) for name, value in task.initial().items()})
    for number in range(1, count + 1):
        messages = strategy.configure_train(number, arrays, ConfigRecord(), Nodes())
        replies = [client_app.private(message, hospitals[message.metadata.dst_node_id], client_app.train)
                   for message in messages]
        arrays = strategy.aggregate_train(number, replies)[0] or arrays
    return arrays["weights"].numpy()


def test_four_hospitals_learn(hospitals, tmp_path):
    x, y = pooled(hospitals)
    weights = rounds(PrivacyStrategy(min_train_nodes=4), hospitals, 6)
    assert np.mean((x @ weights > 0) == (y > 0)) > 0.7  # 51.8 % are ill; without noise it is about 0.8
    for name in ROWS:
        assert mfpg.account(ledger=tmp_path / name).clients[0].rounds == 6


def test_four_hospitals_play(hospitals, tmp_path):
    for site in hospitals.values():
        site.run_config["game"] = True
    strategy = PrivacyStrategy(grid=[0.5, 1.0, 2.0, 4.0], min_train_nodes=4)
    rounds(strategy, hospitals, 3)
    last = [mfpg.Ledger.read(tmp_path / name).releases[-1].release for name in ROWS]
    assert [one.action for one in last] == sorted(one.action for one in last)  # who minds more takes more noise
    assert strategy.mean_field == np.mean([one.action for one in last]) and last[0].noise_sd < last[3].noise_sd


def test_four_hospitals_learn_by_sums_alone(hospitals, tmp_path):
    """The same noise protects each of them better, since that of the others counts."""
    write_roster(tmp_path, list(ROWS))
    for name, site in zip(ROWS, hospitals.values(), strict=True):
        site.run_config["threshold"] = 3
        site.node_config.update(roster=str(tmp_path / "roster"), identity=str(tmp_path / f"{name}.key"))
    strategy = PrivacyStrategy(min_train_nodes=4, secure_sum=SecureSum(3, roster=tmp_path / "roster", timeout=5.0))
    arrays = ArrayRecord({name: Array(value) for name, value in task.initial().items()})
    grid = LocalGrid({node: lambda message, site=site: client_app.app(message, site) for node, site in hospitals.items()})
    for number in range(1, 7):
        assert strategy.configure_train(number, arrays, ConfigRecord(), grid) == []
        arrays, _ = strategy.aggregate_train(number, [])
    x, y = pooled(hospitals)
    assert np.mean((x @ arrays["weights"].numpy() > 0) == (y > 0)) > 0.7
    alone = mfpg.account(noise_multiplier=CONFIG["noise-multiplier"], steps=6, unit="client", accountant="gdp").epsilon
    for name in ROWS:
        account = mfpg.account(ledger=tmp_path / name)
        assert account.view == "average" and account.clients[0].rounds == 6
        with mfpg.Ledger.open(tmp_path / name) as ledger:
            assert ledger.spending().spent < alone
