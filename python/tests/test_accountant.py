"""Accountant: the price of schedules, budgets that are never overspent, states that come back, and failing closed."""

import json
import math
import random

import pytest

import mfpg

RELEASE = mfpg.Release(sensitivity=1, noise_sd=5)


@pytest.mark.parametrize("kind", ["gdp", "rdp", "exact"])
def test_price_is_that_of_the_same_schedule(kind):
    accountant = mfpg.Accountant(kind, unit="example")
    accountant.record(mfpg.Release(sensitivity=2, noise_sd=4, sampling_rate=0.1), times=30)
    for _ in range(20):
        accountant.record(mfpg.Release(sensitivity=1, noise_sd=3, sampling_rate=0.5))
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
                                   {"sampling_rate": 2}, {"steps": 0}, {"particles": "data"}, {"weight": -1}], ids=str)
def test_what_cannot_be_recorded_is_never_forgotten(fault):
    accountant = mfpg.Accountant(stop_at_epsilon=5)
    wrong = mfpg.Release(**{"sensitivity": 1, "noise_sd": 5, **fault})
    assert not accountant.affords(wrong) and not accountant.spend(wrong)
    assert accountant.epsilon() == 0
    with pytest.raises((mfpg.InputError, mfpg.DomainError)):
        accountant.record(wrong)
    assert accountant.epsilon() == math.inf and not accountant.affords(RELEASE)
    assert mfpg.Accountant.from_bytes(accountant.to_bytes()).epsilon() == math.inf


def test_record_beyond_a_filter_is_never_forgotten():
    accountant = mfpg.Accountant(stop_at_epsilon=0.1, filter="gdp")
    with pytest.raises(mfpg.InputError, match="no budget"):
        accountant.record(mfpg.Release(sensitivity=1, noise_sd=1))
    assert accountant.epsilon() == math.inf


def test_release_without_noise_is_infinite():
    accountant = mfpg.Accountant()
    accountant.record(mfpg.Release(sensitivity=1, noise_sd=0))
    assert accountant.epsilon() == math.inf and accountant.delta(3) == 1


@pytest.mark.parametrize("settings", [{}, {"kind": "exact", "unit": "example"}, {"kind": "rdp", "order": [2, 4, 8]},
                                      {"adjacency": "replace", "stop_at_epsilon": 50.0, "filter": "zcdp"}], ids=str)
def test_state_comes_back_to_the_last_bit(settings):
    draw = random.Random(5)
    accountant = mfpg.Accountant(**settings)
    for _ in range(20):
        accountant.record(mfpg.Release(sensitivity=draw.random(), noise_sd=3 + draw.random(), round=draw.randrange(9)),
                          times=draw.randrange(3))
    data = accountant.to_bytes()
    again = mfpg.Accountant.from_bytes(data)
    assert again.epsilon() == accountant.epsilon() and again.mu == accountant.mu
    assert again.releases == accountant.releases and again.to_bytes() == data
    assert again.spend(RELEASE) == accountant.spend(RELEASE) and again.epsilon() == accountant.epsilon()


def test_other_bytes_are_refused():
    good = json.loads(mfpg.Accountant().to_bytes())
    broken = [b"", b"{}", b"[]", b"null", b"\xff", b'{"mfpg": "accountant"}', json.dumps({**good, "version": 2}).encode(),
              json.dumps({**good, "records": [[{"sensitivity": 1}, 1]]}).encode(),
              json.dumps({**good, "records": [[{"sensitivity": 1, "noise_sd": 1}, 0]]}).encode(),
              json.dumps({**good, "records": 3}).encode(), json.dumps({**good, "settings": {}}).encode()]
    for data in broken:
        with pytest.raises(mfpg.InputError):
            mfpg.Accountant.from_bytes(data)


@pytest.mark.parametrize("settings", [{"kind": "gpd"}, {"kind": "paper_rdp"}, {"unit": "person"}, {"view": "all"},
                                      {"adjacency": "x"}, {"delta": 0}, {"delta": 1}, {"delta": math.nan},
                                      {"stop_at_epsilon": 0}, {"filter": "gdp"}, {"filter": "x", "stop_at_epsilon": 1},
                                      {"kind": "exact", "width": 0.0}, {"kind": "rdp", "order": 0.5}], ids=str)
def test_settings_are_checked(settings):
    with pytest.raises((mfpg.InputError, mfpg.DomainError)):
        mfpg.Accountant(**settings)
