"""The example app on a SuperLink and two SuperNodes of this machine: it trains, certificates are those of the ledgers, and a
hospital whose budget is spent is refused while the run goes on. No network but loopback."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

import mfpg

pytest.importorskip("flwr", reason="flwr is not installed (make flower)")

import certificates  # noqa: E402

ROOT = pathlib.Path(__file__).parents[3]
APP = ROOT / "examples/flower-hospitals"
BIN = pathlib.Path(sys.executable).parent
LONGEST = 80  # seconds, for the whole run on a busy machine


def free_ports(count):
    """Ports nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def patients(path, seed, count=200):
    """Rows like those of UCI Heart Disease, in which age and two others tell of the disease."""
    draw = np.random.default_rng(seed)
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(count):
            age, pulse, pain = draw.integers(30, 80), draw.integers(80, 200), draw.integers(1, 5)
            sick = int(age - pulse / 2 + 15 * pain + draw.normal() * 5 > 22)
            file.write(f"{age},1,{pain},130,240,0,0,{pulse},0,1.0,?,?,?,{sick}\n")


class Federation:
    """Processes, which end with the test in every case."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []
        self.port, *self.node_ports = free_ports(3)
        self.environment = {**os.environ, "FLWR_TELEMETRY_ENABLED": "0", "FLWR_HOME": str(folder / "flwr"),
                            "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1",
                            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
        (folder / "flwr").mkdir()
        (folder / "flwr/config.toml").write_text(
            f'[superlink]\ndefault = "here"\n\n[superlink.here]\naddress = "127.0.0.1:{self.port}"\n'
            f'root-certificates = "{folder / "ca.crt"}"\n')
        certificates.write(folder)

    def start(self, name, *command):
        log = open(self.folder / f"{name}.log", "w")
        self.processes.append(subprocess.Popen([BIN / command[0], *command[1:]], stdout=log, stderr=log, cwd=self.folder,
                                               env=self.environment, start_new_session=True))
        log.close()

    def link(self):
        self.start("superlink", "flower-superlink", "--port", str(self.port), "--ssl-ca-certfile", "ca.crt",
                   "--ssl-certfile", "server.crt", "--ssl-keyfile", "server.key", "--disable-runtime-dependency-installation")
        end = time.monotonic() + LONGEST
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            assert time.monotonic() < end and self.processes[0].poll() is None, self.logs()
            time.sleep(0.2)

    def node(self, name, port, **settings):
        words = " ".join(f'{key}="{value}"' if isinstance(value, str) else f"{key}={value}" for key, value in settings.items())
        self.start(name, "flower-supernode", "--superlink", f"127.0.0.1:{self.port}", "--root-certificates", "ca.crt",
                   "--port", str(port), "--node-config", words)

    def run(self, app, **config):
        words = " ".join(f'{key}={json.dumps(value)}' for key, value in config.items())
        try:
            done = subprocess.run([BIN / "flwr", "run", str(app), "here", "--stream", "--run-config", words], text=True,
                                  capture_output=True, env=self.environment, cwd=self.folder, timeout=LONGEST)
        except subprocess.TimeoutExpired as late:
            raise AssertionError(f"{late.stdout}\n{self.logs()}") from None
        found = [line for line in done.stdout.splitlines() if "result {" in line]
        assert found, done.stdout + done.stderr + self.logs()
        return json.loads(found[-1].partition("result ")[2])

    def logs(self):
        return "\n".join(f"== {path.name}\n{path.read_text()[-3000:]}" for path in sorted(self.folder.glob("*.log")))

    def stop(self):
        for sign in (signal.SIGTERM, signal.SIGKILL):
            for process in self.processes:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, sign)
            for process in self.processes:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5 if sign == signal.SIGTERM else None)


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
