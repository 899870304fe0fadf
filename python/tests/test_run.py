"""run and simulate: the same bytes as the command line, resumed runs, Ctrl-C, progress, and what is refused."""

import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import mfpg

SHORT = {"seed": 1, "train": {"rounds": 3}}


@pytest.fixture(autouse=True)
def without_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mfpg.MfpgWarning)
        yield


def files_of(folder):
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir() if path.name != "timings.csv"}


@pytest.mark.parametrize("method", ["dp-sgd", "mfep", "mapg-dp", "mfpg", "none"])
def test_run_folder_has_the_bytes_of_the_command_line(program, tmp_path, method):
    file = tmp_path / "mine.yaml"
    file.write_text("data: {format: synthetic, kind: logistic, clients: 4, rows: 30, dimension: 3}\ngame: {curvature: 1}\n")
    code, _, message = program("run", file, "seed=1", "train.rounds=3", f"method={method}", "--out", tmp_path / "a", "--json")
    assert code == 0, message
    found = mfpg.run(file, out=tmp_path / "b", method=method, **SHORT)
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    assert found.summary == json.loads((tmp_path / "b/summary.json").read_text())
    assert np.array_equal(found.model, np.load(tmp_path / "b/model.npy")) and found.model.dtype == np.float32
    assert found.config == (tmp_path / "b/config.yaml").read_text()


def test_tables_are_those_of_the_files(tmp_path):
    found = mfpg.run("clinics", out=tmp_path / "run", **SHORT)
    with open(tmp_path / "run/rounds.csv", newline="") as file:
        for row, table in zip(csv.DictReader(file), found.rounds, strict=True):
            for name in ("round", "loss", "accuracy", "mean_action", "noise_to_signal", "epsilon", "paper_delta"):
                assert float(row[name]) == table[name]
    with open(tmp_path / "run/clients.csv", newline="") as file:
        for row, table in zip(csv.DictReader(file), found.clients, strict=True):
            for name in ("preference", "action", "mu", "epsilon", "rounds", "steps", "sampling_rate"):
                assert float(row[name]) == table[name]
    assert found.clients["name"].tolist() == ["city", "county", "coast", "valley"]
    assert np.array_equal(found.clients["action"], found.equilibrium.actions)
    assert list(found.promises) == [client["promise"] for client in found.summary["clients"]]
    for row, table in zip(found.summary["clients"], found.clients, strict=True):
        assert row["epsilon_replace"] == table["epsilon_other"] and row["certificate"] == table["certificate"]
        assert row["rows"] == table["rows"] and all(row["metrics"][name] == table[name] for name in ("loss", "auc"))
    assert found.assumptions and not any("rounding of floating-point noise" in line for line in found.assumptions)
    assert found.rounds["epsilon"][-1] == found.clients["epsilon"].max()
    assert mfpg.account(ledger=found.folder).epsilon == pytest.approx(found.clients["epsilon"].max(), rel=1e-12)


def test_many_clients_are_told_one_by_one():
    found = mfpg.simulate({"data": {"format": "synthetic", "clients": 1200, "rows": 3, "dimension": 2}, "method": "dp-sgd"},
                          seed=1, **{"train.rounds": 1, "data.test_fraction": 0})
    assert len(found.clients) == len(found.promises) == 1200 and found.clients["rows"].sum() == 3600


def test_simulation_has_the_numbers_of_the_run_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = mfpg.simulate("clinics", **SHORT)
    assert found.folder is None and not list(tmp_path.iterdir())
    other = mfpg.run("clinics", out="there", **SHORT)
    assert np.array_equal(found.model, other.model) and np.array_equal(found.clients, other.clients)
    assert found.rounds.tobytes() == other.rounds.tobytes()  # bits, as there are NaN
    assert np.array_equal(found.model, mfpg.simulate("clinics", threads=2, **SHORT).model)


def table(rows=120, seed=3):
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(rows, 3))
    return x, (x @ [2, -1, 0.5] > 0).astype(int), np.array(["north", "south", "east"])[draw.integers(0, 3, rows)]


def test_arrays_are_what_their_files_are(tmp_path):
    x, y, clients = table()
    names = list(dict.fromkeys(clients))
    for name in names:
        with open(tmp_path / f"{name}.csv", "w") as file:
            file.write("c1,c2,c3,label\n")
            for row, label in zip(x[clients == name].astype(np.float32), y[clients == name]):
                file.write(",".join(map(repr, [*map(float, row), int(label)])) + "\n")
    (tmp_path / "bounds.csv").write_text("column,low,high\nc1,-4,4\nc2,-4,4\nc3,-4,4\n")
    settings = {"method": "mfpg", "seed": 1, "train": {"rounds": 2}, "game": {"actions": "continuous"}}
    files = mfpg.simulate({**settings, "data": {"files": [f"{name}.csv" for name in names], "dir": tmp_path,
                                                "scale": {"bounds": tmp_path / "bounds.csv"}}})
    arrays = mfpg.simulate(settings, features=x, labels=y, clients=clients, bounds=(-4, [4, 4, 4]))
    assert arrays.clients["name"].tolist() == names == files.clients["name"].tolist()
    assert np.array_equal(arrays.model, files.model) and np.array_equal(arrays.clients, files.clients)


def test_arrays_leave_no_file_behind():
    x, y, clients = table()
    before = set(pathlib.Path("/dev/shm").glob("mfpg-*"))
    found = mfpg.simulate({"method": "dp-sgd"}, features=x, labels=y, clients=np.arange(len(x)) % 4, seed=1)
    assert found.clients["name"].tolist() == ["0", "1", "2", "3"]
    with pytest.raises(mfpg.InputError):
        mfpg.simulate({"method": "mfpg"}, features=x, labels=y, clients=clients, seed=1)  # no public bounds
    assert set(pathlib.Path("/dev/shm").glob("mfpg-*")) == before


@pytest.mark.parametrize("change, words", [
    ({"features": None}, "features: missing"), ({"clients": None}, "clients: missing"), ({"labels": [1.0]}, "labels"),
    ({"features": np.ones(120)}, "features"), ({"features": np.full((120, 3), np.inf)}, "infinite"),
    ({"features": np.full((120, 3), 1e300)}, "infinite"), ({"features": np.full((120, 3), "a")}, "features"),
    ({"features": np.full((120, 3), np.nan)}, "missing"), ({"clients": ["a/b"] * 120}, "slash"),
    ({"clients": [1.5] * 120}, "clients"), ({"clients": ["a"] * 3}, "clients"), ({"clients": [""] * 120}, "clients"),
    ({"bounds": (0, [1, 2])}, "bounds"), ({"bounds": 3}, "bounds"), ({"bounds": (1, 0)}, "bounds"),
], ids=str)
def test_arrays_that_are_no_data_are_refused(change, words):
    x, y, clients = table()
    with pytest.raises(mfpg.InputError, match=words):
        mfpg.simulate({"method": "dp-sgd"}, seed=1, **{"features": x, "labels": y, "clients": clients, **change})


def test_configuration_is_a_file_a_mapping_or_an_example(tmp_path):
    mapping = {"seed": 1, "method": "dp-sgd", "train": {"rounds": 2}, "data": {"format": "synthetic", "clients": 3},
               "game": {"actions": [0.5, 1.0]}}
    file = tmp_path / "mine.yaml"
    file.write_text(json.dumps(mapping))
    one, two = mfpg.simulate(mapping), mfpg.simulate(file)
    assert np.array_equal(one.model, two.model) and len(one.clients) == 3
    three = mfpg.simulate(mapping, **{"train.rounds": np.int64(4)}, data={"clients": 5}, name="other, [name]")
    assert len(three.rounds) == 4 and len(three.clients) == 5 and three.summary["name"] == "other, [name]"
    for name in mfpg.examples():
        assert mfpg.solve.__doc__ and name
    assert {"clinics", "hospitals"} <= set(mfpg.examples())


@pytest.mark.parametrize("call, words", [
    (lambda: mfpg.simulate("clinisc"), "clinics"), (lambda: mfpg.simulate("clinics", sede=1), "seed"),
    (lambda: mfpg.simulate("clinics", seed="x"), "seed"), (lambda: mfpg.simulate("clinics", seed=None), "seed"),
    (lambda: mfpg.simulate("clinics", train={"rounds": 0}), "train.rounds"), (lambda: mfpg.simulate(3), "config"),
    (lambda: mfpg.simulate({"train": {"rouns": 1}}), "rounds"), (lambda: mfpg.simulate({"seed": object()}), "object"),
    (lambda: mfpg.run(), "nothing to run"), (lambda: mfpg.simulate("clinics", threads=0), "threads"),
    (lambda: mfpg.simulate({"data": {"files": ["nowhere.csv"]}, "method": "dp-sgd"}), "nowhere.csv"),
])
def test_what_is_wrong_is_named(call, words):
    with pytest.raises(mfpg.InputError, match=words):
        call()


def test_keys_are_the_table_of_the_command_line():
    found = mfpg.keys()
    assert found["privacy.clip"].default == "1" and "above 0" in found["privacy.clip"].allowed
    assert found["train.rounds"].help and found["game.cost"].used == "with a game" or found["game.cost"].used


def test_folders_are_chosen_as_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert mfpg.run("clinics", **SHORT).folder == pathlib.Path("runs/clinics")
    assert mfpg.run("clinics", **SHORT).folder == pathlib.Path("runs/clinics-2")
    assert mfpg.run("clinics", name="../out", **SHORT).folder == pathlib.Path("runs/_._out")
    with pytest.raises(mfpg.InputError):
        mfpg.run("clinics", out="runs/clinics", **SHORT)
    with pytest.raises(mfpg.InputError):
        mfpg.run("clinics", name="bad", method="nonesuch")
    assert not pathlib.Path("runs/bad").exists()


def test_progress_is_told_and_its_error_ends_the_run():
    seen = []
    mfpg.simulate("clinics", progress=lambda report, rounds: seen.append((report["round"], rounds)), **SHORT)
    assert seen == [(1, 3), (2, 3), (3, 3)]

    def fail(report, rounds):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        mfpg.simulate("clinics", progress=fail, **SHORT)


def test_interrupted_run_goes_on_to_the_same_bytes(tmp_path):
    whole = mfpg.run("clinics", out=tmp_path / "whole", seed=1, **{"train.rounds": 6})

    def press(report, rounds):
        if report["round"] == 2:
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(0.2)  # until Python has handled it in the main thread

    with pytest.raises(mfpg.Interrupted, match="go on"):
        mfpg.run("clinics", out=tmp_path / "cut", seed=1, progress=press, **{"train.rounds": 6})
    assert not (tmp_path / "cut/summary.json").exists() or json.loads(
        (tmp_path / "cut/summary.json").read_text())["status"] != "complete"
    with pytest.raises(mfpg.InputError, match="train.rounds"):
        mfpg.run(resume=tmp_path / "cut", **{"train.rounds": 7})
    again = mfpg.run(resume=tmp_path / "cut")
    assert again.rounds.tobytes() == whole.rounds.tobytes() and np.array_equal(again.model, whole.model)
    assert files_of(tmp_path / "cut") == files_of(tmp_path / "whole")
    with pytest.raises(mfpg.InputError):
        mfpg.run(resume=tmp_path / "cut")
    with pytest.raises(mfpg.InputError, match="own folder"):
        mfpg.run(resume=tmp_path / "cut", out=tmp_path / "other")


def test_runs_at_once_do_not_meet(tmp_path):
    """Two runs in two threads, as bytes of two runs one after the other."""
    found = {}

    def work(seed):
        found[seed] = mfpg.simulate("clinics", seed=seed, threads=1, **{"train.rounds": 5}).model

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in (1, 2, 3):
        assert np.array_equal(found[seed], mfpg.simulate("clinics", seed=seed, **{"train.rounds": 5}).model)


def test_results_can_be_sent_to_other_processes():
    code = ("import multiprocessing, mfpg, warnings; warnings.simplefilter('ignore')\n"
            "if __name__ == '__main__':\n"
            "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
            "        print(pool.apply(mfpg.simulate, ('clinics',), {'seed': 1, 'train.rounds': 1}).model.size)\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip().isdigit(), done.stderr
