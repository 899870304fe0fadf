"""The example app on a SuperLink and two SuperNodes of this machine: it trains, certificates are those of the ledgers, and a
hospital whose budget is spent is refused while the run goes on. No network but loopback."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import mfpg

pytest.importorskip("flwr", reason="flwr is not installed (make flower)")

from federation import Federation  # noqa: E402

ROOT = pathlib.Path(__file__).parents[3]
APP = ROOT / "examples/flower-hospitals"


def patients(path, seed, count=200):
    """Rows like those of UCI Heart Disease, in which age and two others tell of the disease."""
    draw = np.random.default_rng(seed)
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(count):
            age, pulse, pain = draw.integers(30, 80), draw.integers(80, 200), draw.integers(1, 5)
            sick = int(age - pulse / 2 + 15 * pain + draw.normal() * 5 > 22)
            file.write(f"{age},1,{pain},130,240,0,0,{pulse},0,1.0,?,?,?,{sick}\n")


@pytest.fixture
def federation(tmp_path):
    made = Federation(tmp_path)
    try:
        yield made
    finally:
        made.stop()


def accuracy(weights, path):
    sys.path.insert(0, str(APP))
    try:
        from hospitals import task
    finally:
        sys.path.remove(str(APP))
    x, y = task.load(path)
    return float(np.mean((x @ np.array(weights) > 0) == (y > 0)))


def test_hospitals_train_and_the_one_without_budget_is_left_out(federation, tmp_path):
    noise = {"noise_multiplier": 0.1, "unit": "client", "accountant": "gdp"}  # little, for four rounds that are seen to learn
    of_two = mfpg.account(steps=2, **noise).epsilon
    app = tmp_path / "app"
    shutil.copytree(APP, app, ignore=shutil.ignore_patterns("__pycache__"))
    federation.link()
    for k, name in enumerate(("north", "south")):
        patients(tmp_path / f"{name}.csv", seed=k)
        federation.node(name, federation.node_ports[k], data=str(tmp_path / f"{name}.csv"),
                        ledger=str(tmp_path / f"{name}.ledger"), epsilon=1e4 if name == "north" else of_two * 1.01)
    result = federation.run(app, **{"rounds": 4, "noise-multiplier": 0.1, "epsilon": 2e4, "patience": 60.0})
    lasting = mfpg.account(ledger=tmp_path / "north.ledger")
    spent = mfpg.account(ledger=tmp_path / "south.ledger")
    assert [lasting.clients[0].rounds, spent.clients[0].rounds] == [4, 2]
    for name, account, rounds in (("north", lasting, 4), ("south", spent, 2)):
        assert account.certificate and account.epsilon == mfpg.account(steps=rounds, **noise).epsilon  # that of the schedule
        assert f"epsilon {account.epsilon:.4g} of" in (tmp_path / f"{name}.log").read_text()  # and that of the mod
        check_command_line(tmp_path / f"{name}.ledger", account.epsilon)
    assert [int(result["rounds"][str(n)]["clients"]) for n in range(1, 5)] == [2, 2, 1, 1]
    assert sorted(result["refused"]) == ["3", "4"]
    assert all("budget of this client is spent" in why for reasons in result["refused"].values() for why in reasons)
    assert accuracy(result["weights"], tmp_path / "north.csv") > 0.7  # the larger class has about half of the rows


def check_command_line(ledger, epsilon):
    """mfpg account --ledger says the same."""
    program = pathlib.Path(os.environ.get("MFPG_PROGRAM", ROOT / "build/release/mfpg"))
    if program.exists():
        done = subprocess.run([program, "account", "--ledger", ledger, "--json"], capture_output=True, text=True)
        assert json.loads(done.stdout)["epsilon"] == epsilon
