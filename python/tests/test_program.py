"""The program that comes with the package."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import warnings

import mfpg


def run(*command, **options):
    environment = {name: value for name, value in os.environ.items() if name != "MFPG_EXAMPLES"}
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=60, env=environment, **options)


COMMAND = pathlib.Path(sys.executable).with_name("mfpg")


def test_version_is_that_of_the_package():
    for command in ([COMMAND], [sys.executable, "-m", "mfpg"]):
        done = run(*command, "--version")
        assert done.returncode == 0 and mfpg.__version__ in done.stdout.split()


def test_examples_of_the_package_are_found(tmp_path):
    assert {line.split()[0] for line in run(COMMAND, "list", "examples", cwd=tmp_path).stdout.splitlines()} >= {
        "clinics", "hospitals"}
    done = run(COMMAND, "run", "clinics", "seed=1", "train.rounds=2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mfpg.MfpgWarning)
        run_of_package = mfpg.simulate("clinics", seed=1, train={"rounds": 2})
    name = tmp_path / "runs/clinics/clients.csv"
    epsilons = [float(line.split(",")[4]) for line in name.read_text().splitlines() if line[0].isdigit()]
    assert epsilons == run_of_package.clients["epsilon"].tolist()


def test_exit_codes_are_the_programs(tmp_path):
    done = run(COMMAND, "run", "clinic", cwd=tmp_path)
    assert done.returncode == 2 and "clinics" in done.stderr


def test_signals_reach_the_program(tmp_path):
    (tmp_path / "long.yaml").write_text("{method: dp-sgd, seed: 1, data: {format: synthetic}, train: {rounds: 100000}}")
    with subprocess.Popen([COMMAND, "run", "long.yaml"], cwd=tmp_path, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:  # the first line of a round
            if "/100000" in line:
                break
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        process.stderr.read()
        assert process.wait(60) == 130
