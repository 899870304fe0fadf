"""Secure sums of four hospitals on a SuperLink and four SuperNodes of this machine, in the game of strengths: one is killed between
its shares and its masked vector, and one refuses for its budget; training goes on, to the very bytes of mfpg run."""

import os
import pathlib
import shutil
import signal
import threading
import time

import numpy as np
import pytest

import mfpg

pytest.importorskip("flwr", reason="flwr is not installed (make flower)")

from federation import LONGEST, Federation  # noqa: E402
from mfpg.secure_sum import Roster  # noqa: E402
from test_secure_run import NAMES, logistic, node_config, run, write_hospitals  # noqa: E402

@pytest.fixture
def federation(tmp_path):
    made = Federation(tmp_path, nodes=4)
    try:
        yield made
    finally:
        made.stop()


def kill_after_shares(log, process):
    """SIGKILL to a SuperNode and its apps as soon as three answers have left: the report, keys and shares."""
    def watch():
        end = time.monotonic() + LONGEST
        while log.read_text().count("Sent successfully") < 3 and time.monotonic() < end:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


def check_ledger(federation, name, rounds):
    """What the site logged as spent is what its file has."""
    path = federation.folder / f"{name}.ledger"
    assert len(mfpg.Ledger.read(path).releases) == rounds
    account = mfpg.account(ledger=path)
    assert account.certificate and account.view == "average" and account.clients[0].rounds == rounds
    with mfpg.Ledger.open(path) as ledger:
        spent = ledger.spending().spent
    assert f"of which {spent:.4g} is spent" in (federation.folder / f"{name}.log").read_text()


def individual_updates(folder):
    """Texts that no log of the server may hold: pieces of the updates and shares of the first round."""
    roster, start = Roster.load(folder / "roster"), np.zeros(logistic.DIMENSION, np.float32)
    for name in NAMES[:3]:
        release = mfpg.Ledger.read(folder / f"{name}.ledger").releases[0].release
        update = logistic.train(start, np.load(folder / f"{name}.npy"))
        share = mfpg.privatise(update, clip=logistic.CLIP, strength=release.action, step=logistic.RATE, scale="sensitivity",
                               weight=release.weight, grid=release.grid, seed=logistic.SEED, client=roster.place(name)).update
        share = share.tolist()
        yield from (f"{first}, {second}" for first, second in zip(share, share[1:], strict=False))
        yield from (repr(float(number))[:8] for number in update if number)


def test_four_hospitals_one_killed_one_refusing(federation, shared, tmp_path):
    write_hospitals(shared, tmp_path)
    app = tmp_path / "app"
    shutil.copytree(pathlib.Path(__file__).parent / "sum_app", app, ignore=shutil.ignore_patterns("__pycache__"))
    federation.link()
    nodes = {name: federation.node(name, port, **node_config(tmp_path, name))
             for name, port in zip(NAMES, federation.node_ports, strict=True)}
    kill_after_shares(tmp_path / "va.log", nodes["va"])
    result = federation.run(app, rounds=2, roster=str(tmp_path / "roster"), timeout=30.0)
    log = federation.told
    assert "round 1, attempt 1, shares: 4 of 4 sites answered" in log and "round 1, attempt 1, masked: 3 of 4" in log, log
    assert [int(result["rounds"][number]["clients"]) for number in ("1", "2")] == [3, 3]
    same = run(tmp_path, 2, ["1:va", "2:va"])
    assert bytes.fromhex(result["model"]) == same.model.tobytes()
    for name in NAMES[:3]:
        check_ledger(federation, name, 2)
    assert not (tmp_path / "va.ledger").exists()

    federation.node("va", federation.node_ports[3], **node_config(tmp_path, "va", epsilon=1e-3))
    result = federation.run(app, rounds=1, roster=str(tmp_path / "roster"), timeout=30.0)
    assert int(result["rounds"]["1"]["clients"]) == 3
    assert any("budget of this client is spent" in why for why in result["refused"]["1"])
    assert bytes.fromhex(result["model"]) == run(tmp_path, 1, ["1:va"]).model.tobytes()
    for name in NAMES[:3]:
        check_ledger(federation, name, 3)
    assert not (tmp_path / "va.ledger").exists()

    logs = log + federation.told + (tmp_path / "superlink.log").read_text()
    assert not any(piece in logs for piece in individual_updates(tmp_path))
