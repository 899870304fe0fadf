"""Ledger: written, gone on with, read and priced, with the command line as the second opinion."""

import dataclasses
import math

import pytest

import mfpg
from conftest import as_json, as_options


def release(**given):
    return mfpg.Release(**{"sensitivity": 1, "noise_sd": 5, **given})


def plain(answer):
    """An answer as the command line's JSON."""
    if dataclasses.is_dataclass(answer):
        return {field.name: plain(getattr(answer, field.name)) for field in dataclasses.fields(answer)}
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
    ({"unit": "example", "delta": 1e-6}, {"sampling_rate": 0.1}), ({"view": "final", "seeded": True}, {"last_sd": 9}),
    ({"particles": "data", "unit": "example"}, {"particles": "data", "contraction": 0.9}),
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


def test_line_that_a_crash_cut_short_is_completed_by_the_same_release_only(tmp_path):
    path = tmp_path / "ledger"
    with mfpg.Ledger.create(path, clients=1) as ledger:
        ledger.append(release())
        ledger.append(release())
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    with pytest.warns(mfpg.MfpgWarning):
        assert len(mfpg.Ledger.read(path).releases) == 1
    with mfpg.Ledger.open(path) as ledger, pytest.raises(mfpg.InputError, match="recorded before"):
        ledger.append(release(noise_sd=6))
    with mfpg.Ledger.open(path) as ledger:
        ledger.append(release())
    assert path.read_bytes() == whole


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
                                    {"adjacency": "add"}, {"view": "x"}, {"particles": "x"}], ids=str)
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
