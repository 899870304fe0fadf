"""Ledger: written, gone on with, read and priced, with the command line as the second opinion."""

import concurrent.futures
import dataclasses
import math
import os
import random
import subprocess
import sys
import warnings

import pytest

import mfpg
from conftest import as_json, as_options


def release(**given):
    return mfpg.Release(**{"sensitivity": 1, "noise_sd": 5, **given})


def plain(answer):
    """An answer as the command line's JSON, which has prices with survivors only where there are secure sums, and what was spent only with a filter."""
    if dataclasses.is_dataclass(answer):
        return {field.name: plain(getattr(answer, field.name)) for field in dataclasses.fields(answer)
                if not field.name.startswith(("survived", "spent")) or getattr(answer, field.name) is not None}
    return [plain(one) for one in answer] if isinstance(answer, tuple) else as_json(answer)


def check_price(program, path, **options):
    code, printed, message = program("account", "--ledger", path, "--json", *as_options(options))
    assert code == 0, message
    found = plain(mfpg.account(ledger=path, **options))
    assert {name: value for name, value in found.items() if name in printed} == printed
    return found


def test_what_was_written_is_read_and_priced(tmp_path, program):
    path = tmp_path / "ledger"
    with mfpg.Ledger.create(path, clients=3) as ledger:
        for _ in range(4):
            ledger.append([release(client=0), release(client=1), release(client=2, noise_sd=8)])
        ledger.append(release(client=1, noise_sd=2, control="strength", action=3))
        assert ledger.last_round == 5
        lines, chain = ledger.end
    contents = mfpg.Ledger.read(path)
    assert (contents.lines, contents.chain) == (lines, chain) and lines == 10
    assert contents.header == mfpg.LedgerHeader(clients=3)
    first = contents.releases[0]
    assert (first.first_client, first.last_client, first.release) == (0, 1, release(round=1, last_sd=5))
    assert contents.releases[-1].release.action == 3
    found = check_price(program, path)
    check_price(program, path, epsilon=1)
    check_price(program, path, delta=1e-7, adjacency="replace", accountant="rdp")
    assert [one["client"] for one in found["clients"]] == [1, 0, 2]
    assert found["clients"][1]["epsilon"] == mfpg.account(noise_multiplier=5, steps=4).epsilon


@pytest.mark.parametrize("header, one", [
    ({"unit": "example", "delta": 1e-6}, {"sampling_rate": 0.1, "unit": "example", "grid": 0.25}), ({"view": "final", "seeded": True}, {"last_sd": 9}),
    ({"particles": "data", "unit": "example"}, {"particles": "data", "contraction": 0.9, "unit": "example"}),
    ({"adjacency": "replace", "view": "average"}, {"sampling_rate": 0.5}), ({}, {"noise_sd": 0}),
], ids=str)
def test_other_promises_are_priced_alike(tmp_path, program, header, one):
    path = tmp_path / "ledger"
    with mfpg.Ledger.create(path, clients=2, **header) as ledger:
        ledger.append([release(client=0, **one), release(client=1, **one)])
    assert check_price(program, path)["one_certificate"]


def test_empty_ledger_costs_nothing(tmp_path, program):
    mfpg.Ledger.create(tmp_path / "ledger", clients=1).close()
    assert check_price(program, tmp_path / "ledger")["epsilon"] == 0


def test_ledger_goes_on_where_it_ended(tmp_path):
    path = tmp_path / "ledger"
    with mfpg.Ledger.create(path, clients=1) as ledger:
        ledger.append(release())
        with pytest.raises(mfpg.InputError, match="another process"):
            mfpg.Ledger.open(path)
    with mfpg.Ledger.open(path) as ledger:
        assert ledger.header == mfpg.LedgerHeader(clients=1) and ledger.last_round == 1
        assert ledger.append(release(), round=7) == 7 and ledger.append(release()) == 8
        with pytest.raises(mfpg.InputError, match="from 9"):
            ledger.append(release(), round=8)
    assert [line.release.round for line in mfpg.Ledger.read(path).releases] == [1, 7, 8]


def test_line_that_a_crash_cut_short_was_never_released(tmp_path):
    path = tmp_path / "ledger"
    with mfpg.Ledger.create(path, clients=1, stop_at_epsilon=4) as ledger:
        assert ledger.spend(release()) and ledger.spend(release())
        before = ledger.epsilon()
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    with pytest.warns(mfpg.MfpgWarning):
        assert len(mfpg.Ledger.read(path).releases) == 1
    with mfpg.Ledger.open(path) as ledger:
        assert ledger.last_round == 1 and ledger.epsilon() < before and ledger.end[0] == 2
        assert ledger.spend(release())
    assert path.read_bytes() == whole


# ---- the account ----


def test_spends_to_the_budget_across_objects(tmp_path, program):
    path = tmp_path / "ledger"
    with mfpg.Ledger.create(path, clients=2, stop_at_epsilon=4) as ledger:
        assert ledger.header.stop_at_epsilon == 4 and ledger.spending() == mfpg.Spending(0, 0, pytest.approx(4))
        assert all(ledger.spend(release()) for _ in range(9))
        with pytest.raises(mfpg.InputError, match="keeps a budget"):
            ledger.append(release())
    with mfpg.Ledger.open(path, stop_at_epsilon=3) as ledger:
        while ledger.spend(release()):
            assert ledger.spending().spent <= 3
        assert not ledger.affords(release())
    with mfpg.Ledger.open(path, stop_at_epsilon=100) as ledger:
        assert ledger.affords(release())
        while ledger.spend(release(round=99)):
            pass
        assert ledger.last_round == 21 and ledger.spend(release(client=1)) and ledger.last_round == 22
        spending = ledger.spending()
    assert spending.epsilon == spending.spent == mfpg.account(noise_multiplier=5, steps=21, accountant="gdp").epsilon
    assert spending.remaining == pytest.approx(4 - spending.spent) and spending.remaining <= 4 - spending.spent
    found = check_price(program, path)
    assert found["epsilon"] == spending.epsilon
    assert found["epsilon_replace"] == mfpg.account(ledger=path, adjacency="replace").epsilon > found["epsilon"]


def test_threads_share_one_budget(tmp_path):
    path = tmp_path / "ledger"
    for _ in range(5):
        with mfpg.Ledger.create(path, clients=1, stop_at_epsilon=4) as ledger:
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                admitted = list(pool.map(lambda _: ledger.spend(release()), range(60)))
        assert sum(admitted) == 21
        assert [line.release.round for line in mfpg.Ledger.read(path).releases] == list(range(1, 22))
        path.unlink()


def test_threads_that_append_leave_a_ledger(tmp_path):
    path = tmp_path / "ledger"
    with mfpg.Ledger.create(path, clients=1) as ledger, concurrent.futures.ThreadPoolExecutor(8) as pool:
        rounds = list(pool.map(lambda _: ledger.append(release()), range(100)))
    assert sorted(rounds) == list(range(1, 101))
    assert [line.release.round for line in mfpg.Ledger.read(path).releases] == list(range(1, 101))


CLIENT = """
import os, sys, mfpg
path = sys.argv[1]
ledger = mfpg.Ledger.open(path) if os.path.exists(path) else mfpg.Ledger.create(path, clients=1, stop_at_epsilon=4)
while ledger.spend(mfpg.Release(sensitivity=1, noise_sd=5)):
    print("sent", flush=True)
"""


def test_a_client_that_is_killed_has_listed_what_it_sent(tmp_path):
    path, sent, draw = tmp_path / "ledger", 0, random.Random(7)
    for _ in range(8):
        process = subprocess.Popen([sys.executable, "-c", CLIENT, path], stdout=subprocess.PIPE, text=True)
        for _ in range(draw.randrange(4)):
            sent += process.stdout.readline() == "sent\n"
        process.kill()
        sent += process.communicate()[0].count("sent")
        if path.exists():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", mfpg.MfpgWarning)  # of a line that was cut
                assert sent <= len(mfpg.Ledger.read(path).releases) <= 21
    subprocess.run([sys.executable, "-c", CLIENT, path], check=True, capture_output=True)
    assert len(mfpg.Ledger.read(path).releases) == 21
    assert mfpg.Accountant.from_ledger(path).epsilon() <= 4


def test_a_forked_child_is_refused(tmp_path):
    with mfpg.Ledger.create(tmp_path / "ledger", clients=1) as ledger:
        child = os.fork()
        if child == 0:
            try:
                ledger.spend(release())
            except mfpg.InputError as refusal:
                os._exit(0 if "fork()" in str(refusal) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert ledger.spend(release())


def test_ledgers_are_priced_together(tmp_path, program):
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        with mfpg.Ledger.create(path, clients=1) as ledger:
            ledger.append(release(grid=0.25))
    found = mfpg.account(ledger=paths)
    assert found.mu == pytest.approx(math.sqrt(2) / 5) and [end.file for end in found.ledgers] == list(map(str, paths))
    assert not mfpg.Ledger.read(paths[0]).off_grid and not any("floating" in text for text in found.assumptions)
    code, printed, _ = program("account", "--ledger", paths[0], "--ledger", paths[1], "--json")
    assert code == 0 and printed["epsilon"] == found.epsilon and plain(found.ledgers) == printed["ledgers"]
    with pytest.raises(mfpg.InputError, match="named twice"):
        mfpg.account(ledger=[paths[0], paths[0]])


def test_nothing_is_written_over_or_changed_unseen(tmp_path, program):
    path = tmp_path / "ledger"
    with mfpg.Ledger.create(path, clients=1) as ledger:
        for _ in range(3):
            ledger.append(release())
    with pytest.raises(mfpg.AccessError, match="exists"):
        mfpg.Ledger.create(path, clients=1)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[1].replace(b"5", b"9", 1), *lines[2:]]))
    for call in (mfpg.Ledger.read, mfpg.Ledger.open, lambda path: mfpg.account(ledger=path)):
        with pytest.raises(mfpg.InputError, match="ledger:2"):
            call(path)


@pytest.mark.parametrize("wrong", [{"noise_sd": -1}, {"noise_sd": math.nan}, {"client": 5}, {"particles": "data"},
                                   {"last_sd": 6}, {"steps": 0}, {"control": "budget"}, {"control": "x"}], ids=str)
def test_faulty_releases_are_refused_whole(tmp_path, wrong):
    with mfpg.Ledger.create(tmp_path / "ledger", clients=2) as ledger:
        before = ledger.end
        with pytest.raises((mfpg.InputError, mfpg.DomainError)):
            ledger.append([release(client=0), release(**{"client": 1, **wrong})])
        assert ledger.end == before and ledger.last_round == 0
        assert ledger.append([release(client=0), release(client=1)]) == 1


def test_closed_ledgers_and_other_options_are_refused(tmp_path, program):
    path = tmp_path / "ledger"
    ledger = mfpg.Ledger.create(path, clients=1)
    ledger.close()
    ledger.close()
    with pytest.raises(mfpg.InputError, match="closed"):
        ledger.append(release())
    for options in ({"noise_multiplier": 1}, {"steps": 2}, {"unit": "client"}, {"view": "final"}, {"order": 2},
                    {"adjacency": "add"}, {"accountant": "hidden-state"}, {"accountant": "paper_rdp"},
                    {"accountant": "data-particles"}, {"exogenous": True}, {"blocks": "1:1:1"}):
        assert program("account", "--ledger", path, "--json", *as_options(options))[0] == 2
        with pytest.raises(mfpg.InputError):
            mfpg.account(ledger=path, **options)
    with pytest.raises((mfpg.InputError, mfpg.AccessError), match="nowhere"):
        mfpg.account(ledger=tmp_path / "nowhere")


@pytest.mark.parametrize("header", [{"clients": 0}, {"clients": 1.5}, {"unit": "x"}, {"delta": 1}, {"delta": math.nan},
                                    {"adjacency": "add"}, {"view": "x"}, {"particles": "x"}, {"stop_at_epsilon": 0},
                                    {"stop_at_epsilon": math.nan}, {"filter": "gdp"},
                                    {"filter": "x", "stop_at_epsilon": 1}], ids=str)
def test_headers_are_checked(tmp_path, header):
    with pytest.raises((mfpg.InputError, mfpg.DomainError)):
        mfpg.Ledger.create(tmp_path / "ledger", **{"clients": 1, **header})
    assert not (tmp_path / "ledger").exists()


def test_run_folder_means_its_ledger_and_its_summary_is_believed(tmp_path, program):
    folder = tmp_path / "run"
    assert program("run", "clinics", "seed=1", "train.rounds=3", "--out", folder, "--json")[0] == 0
    found = check_price(program, folder)
    assert found["ledger"]["summary"] == "agrees" and found["seeded"] and found["clients"][0]["name"]
    ledger = folder / "ledger"
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(mfpg.InputError, match="missing at the end"):
        mfpg.account(ledger=folder)


# ---- secure sums ----


def share(attempt, **given):
    return release(weight=0.2, noise_sd=2, grid=2**-5, last_sd=2 * math.sqrt(2), run=2**48 - 1, sum_round=3, attempt=attempt, members=5,
                   threshold=4, colluders=1, **given)


def test_attempts_of_a_secure_sum_are_used_once_and_priced_twice(tmp_path, program):
    path = tmp_path / "ledger"
    with mfpg.Ledger.create(path, clients=1, view="average", secure_sum=True, stop_at_epsilon=9) as ledger:
        assert ledger.spend(share(1))
        with pytest.raises(mfpg.DomainError, match="never used twice"):
            ledger.spend(share(1))
        assert ledger.spend(share(2))
        ledger.survivors(ledger.last_round, 2, survivors=5, last_sd=4)
        with pytest.raises(mfpg.DomainError, match="known already"):
            ledger.survivors(ledger.last_round, 2, survivors=5, last_sd=4)
    with mfpg.Ledger.open(path) as ledger:
        assert ledger.header.secure_sum
        for attempt in (1, 2):
            with pytest.raises(mfpg.DomainError, match="never used twice"):
                ledger.spend(share(attempt))
        assert ledger.epsilon() == pytest.approx(mfpg.account(mu=math.sqrt(2 / 8)).epsilon, rel=1e-9)
    assert [line.release for line in mfpg.Ledger.read(path).releases] == [share(1, round=1), share(2, round=2)]
    found = check_price(program, path)
    assert found["epsilon"] == pytest.approx(mfpg.account(mu=math.sqrt(1 / 8 + 1 / 8)).epsilon, rel=1e-9)
    assert found["survived_epsilon"] == pytest.approx(mfpg.account(mu=math.sqrt(1 / 8 + 1 / 16)).epsilon, rel=1e-9)


@pytest.mark.parametrize("given, message", [
    ({"threshold": 3}, "threshold is not above"), ({"members": 2}, "members are not from"), ({"colluders": 3}, "threshold is not above"),
    ({"attempt": 0}, "there is no attempt"), ({"run": 2**48}, "run is not from 0")])
def test_releases_that_contradict_their_sum_are_refused(tmp_path, given, message):
    with mfpg.Ledger.create(tmp_path / "ledger", clients=1, view="average", secure_sum=True) as ledger, \
            pytest.raises(mfpg.DomainError, match=message):
        ledger.spend(dataclasses.replace(share(1), **given))
