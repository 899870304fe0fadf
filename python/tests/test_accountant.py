"""Accountant: the price of schedules, budgets that are never overspent, ledgers that say the same, and failing closed."""

import math
import random

import pytest

import mfpg

RELEASE = mfpg.Release(sensitivity=1, noise_sd=5)


@pytest.mark.parametrize("kind", ["gdp", "rdp", "exact"])
def test_price_is_that_of_the_same_schedule(kind):
    accountant = mfpg.Accountant(kind, unit="example")
    accountant.record(mfpg.Release(sensitivity=2, noise_sd=4, sampling_rate=0.1, unit="example"), times=30)
    for _ in range(20):
        accountant.record(mfpg.Release(sensitivity=1, noise_sd=3, sampling_rate=0.5, unit="example"))
    expected = mfpg.account(blocks=[(0.1, 2, 30), (0.5, 3, 20)], accountant=kind)
    assert accountant.epsilon() == expected.epsilon and accountant.mu == expected.mu
    assert accountant.delta(2) == mfpg.account(blocks=[(0.1, 2, 30), (0.5, 3, 20)], accountant=kind, epsilon=2).delta


def test_nothing_recorded_costs_nothing():
    accountant = mfpg.Accountant()
    assert accountant.epsilon() == 0 == accountant.mu and accountant.releases == ()


@pytest.mark.parametrize("filter", ["accountant", "gdp", "zcdp"])
def test_budget_is_spent_and_never_overspent(filter):
    # by hand: gdp and accountant stop where sqrt(k)/5 passes the mu of the budget; zcdp where k/50 passes its rho
    accountant = mfpg.Accountant(stop_at_epsilon=2, filter=filter)
    spent = 0
    while accountant.spend(RELEASE):
        spent += 1
    mu = mfpg.account(noise_multiplier=5, steps=spent).epsilon
    assert not accountant.affords(RELEASE) and len(accountant.releases) == 1 and accountant.releases[0][1] == spent
    assert accountant.epsilon() <= 2 and mu <= 2
    if filter != "zcdp":
        assert mfpg.account(noise_multiplier=5, steps=spent + 1).epsilon > 2
    if filter != "accountant":  # the whole budget is what is certified
        assert accountant.epsilon() == pytest.approx(2, rel=1e-9)
    assert accountant.affords(mfpg.Release(sensitivity=1, noise_sd=1e6))  # a cheaper one still fits


def test_filter_answers_for_its_budget_at_other_deltas():
    accountant = mfpg.Accountant(stop_at_epsilon=1, filter="gdp")
    assert accountant.epsilon() == 0
    assert accountant.spend(mfpg.Release(sensitivity=1, noise_sd=1e3))
    assert accountant.epsilon(1e-7) > accountant.epsilon() == pytest.approx(1, rel=1e-9)
    with pytest.raises(mfpg.InputError):
        accountant.delta(1)


@pytest.mark.parametrize("fault", [{"noise_sd": -1}, {"noise_sd": math.nan}, {"sensitivity": math.inf},
                                   {"sampling_rate": 2}, {"steps": 0}, {"particles": "data"}, {"weight": -1},
                                   {"unit": "example"}], ids=str)
def test_what_cannot_be_recorded_is_never_forgotten(fault):
    accountant = mfpg.Accountant(stop_at_epsilon=5)
    wrong = mfpg.Release(**{"sensitivity": 1, "noise_sd": 5, **fault})
    for ask in accountant.affords, accountant.spend:  # False would say that the budget is spent
        with pytest.raises((mfpg.InputError, mfpg.DomainError)):
            ask(wrong)
    assert accountant.epsilon() == 0
    with pytest.raises((mfpg.InputError, mfpg.DomainError)):
        accountant.record(wrong)
    assert accountant.epsilon() == math.inf and not accountant.affords(RELEASE)


def test_record_beyond_a_filter_is_never_forgotten():
    accountant = mfpg.Accountant(stop_at_epsilon=0.1, filter="gdp")
    with pytest.raises(mfpg.InputError, match="no budget"):
        accountant.record(mfpg.Release(sensitivity=1, noise_sd=1))
    assert accountant.epsilon() == math.inf


def test_release_without_noise_is_infinite():
    accountant = mfpg.Accountant()
    accountant.record(mfpg.Release(sensitivity=1, noise_sd=0))
    assert accountant.epsilon() == math.inf and accountant.delta(3) == 1


@pytest.mark.parametrize("settings", [{}, {"kind": "exact", "unit": "example"}, {"adjacency": "replace", "filter": "zcdp"},
                                      {"view": "average", "filter": "gdp", "delta": 1e-6}], ids=str)
def test_a_ledger_says_what_was_spent(tmp_path, settings):
    draw, path = random.Random(5), tmp_path / "ledger"
    kind = settings.pop("kind", "gdp")
    unit = settings.get("unit", "client")
    with mfpg.Ledger.create(path, clients=2, stop_at_epsilon=50, **settings) as ledger:
        accountant = mfpg.Accountant(kind, stop_at_epsilon=50, **settings)
        for _ in range(20):
            release = mfpg.Release(sensitivity=draw.random(), noise_sd=3 + draw.random(), client=1, unit=unit)
            assert ledger.spend(release) and accountant.spend(release)
        assert ledger.spending(1).epsilon == accountant.epsilon() and ledger.epsilon(0) == 0
    again = mfpg.Accountant.from_ledger(path, client=1)
    assert again.epsilon() == accountant.epsilon() and again.mu == accountant.mu
    assert [release for release, _ in again.releases] == [line.release for line in mfpg.Ledger.read(path).releases]
    more = mfpg.Release(sensitivity=1, noise_sd=5, unit=unit)
    assert again.spend(more) and accountant.spend(more)
    assert mfpg.Accountant.from_ledger(path).epsilon() == 0
    if "filter" not in settings:
        assert mfpg.Accountant.from_ledger(path, client=1, kind="rdp").epsilon() > 0
    with pytest.raises(mfpg.InputError):
        mfpg.Accountant.from_ledger(path, client=2)


@pytest.mark.parametrize("wrong, words", [
    ({"unit": "example"}, "its unit is example"), ({"grid": 4.0}, "grid is more than a quarter"), ({"grid": 0.3}, "power of two"),
    ({"rounding": -1}, "rounding"), ({"unit": "person"}, "unit: found"), ({"clipped": "hair"}, "clipped: found")], ids=str)
def test_units_and_grids_are_checked_at_both_doors(tmp_path, wrong, words):
    release = mfpg.Release(**{"sensitivity": 1, "noise_sd": 5, **wrong})
    with pytest.raises((mfpg.InputError, mfpg.DomainError), match=words):
        mfpg.Accountant().record(release)
    with mfpg.Ledger.create(tmp_path / "ledger", clients=1) as ledger:
        with pytest.raises((mfpg.InputError, mfpg.DomainError), match=words):
            ledger.spend(release)
        with pytest.raises((mfpg.InputError, mfpg.DomainError), match=words):
            ledger.append(release)
        assert ledger.end[0] == 1


@pytest.mark.parametrize("settings", [{"kind": "gpd"}, {"kind": "paper_rdp"}, {"unit": "person"}, {"view": "all"},
                                      {"adjacency": "x"}, {"delta": 0}, {"delta": 1}, {"delta": math.nan},
                                      {"stop_at_epsilon": 0}, {"filter": "gdp"}, {"filter": "x", "stop_at_epsilon": 1},
                                      {"kind": "exact", "width": 0.0}, {"kind": "rdp", "order": 0.5}], ids=str)
def test_settings_are_checked(settings):
    with pytest.raises((mfpg.InputError, mfpg.DomainError)):
        mfpg.Accountant(**settings)
