"""account and calibrate: the same answers, refusals and options as the command line, closed forms, reference vectors."""

import dataclasses
import inspect
import math
import re
import subprocess

import pytest

import mfpg
from conftest import ROOT, as_json, as_options

ACCOUNTS = [
    {"noise_multiplier": 5, "steps": 20, "delta": 1e-5},
    {"noise_multiplier": 1, "sampling_rate": 0.01, "steps": 1000, "delta": 1e-5},
    {"noise_multiplier": 1, "sampling_rate": 0.01, "steps": 1000, "accountant": "gdp"},
    {"noise_multiplier": 1, "sampling_rate": 0.01, "steps": 100, "order": 8},
    {"noise_multiplier": 1, "sampling_rate": 0.01, "steps": 100, "order": [2, 8, 32]},
    {"noise_multiplier": 2, "sampling_rate": 0.1, "steps": 50, "adjacency": "add", "unit": "client"},
    {"noise_multiplier": 2, "sampling_rate": 0.1, "steps": 50, "width": 1e-3},
    {"noise_multiplier": 0},
    {"noise_multiplier": 2, "steps": 0},
    {"noise_multiplier": 2, "steps": 10, "view": "final"},
    {"noise_multiplier": 2, "steps": 10, "view": "average", "clip": 3},
    {"noise_multiplier": 3, "sensitivity": 2, "steps": 10, "epsilon": 1.5},
    {"mechanism": "entropic", "strength": 1, "step": 0.1, "clip": 1, "adjacency": "replace", "steps": 10},
    {"strength": 1, "accountant": "paper_lsi", "steps": 10, "population": 20, "dimension": 3, "prior_variance": 2},
    {"noise_multiplier": 4, "accountant": "paper_rdp", "steps": 10},
    {"blocks": "0.1:3:200,0.05:2:300", "epsilon": 3},
    {"mu": 1, "epsilon": 2},
    {"mu": 0.5, "steps": 4, "delta": 0},
    {"particles": "data", "noise_multiplier": 4, "clip": 2},
    {"particles": "data", "noise_multiplier": 0},
    {"particles": "data", "noise_multiplier": 4, "sensitivity": 3, "unit": "client", "epsilon": 1},
    {"particles": "data", "strength": 1, "step": 0.1, "adjacency": "replace", "steps": 10, "exogenous": True},
    {"particles": "data", "strength": 0.5, "input_smoothness": 0.25},
    {"strength": 1, "step": 0.1, "steps": 1000, "view": "final", "assume": "glm", "smoothness": 1},
    {"strength": 1, "steps": 100, "view": "final", "assume": "convex", "smoothness": 1, "sampling_rate": 0.5},
    {"strength": 1, "steps": 100, "view": "final", "assume": "nonconvex", "smoothness": 1, "adjacency": "replace"},
    {"strength": 1, "steps": 100, "view": "final", "assume": "quadratic", "smoothness": 2, "strong_convexity": 1,
     "sensitivity": 1},
    {"strength": 1, "steps": 100, "view": "final", "assume": "quadratic", "smoothness": 2, "projection_radius": 3},
    {"strength": 1, "steps": 0, "view": "final", "assume": "quadratic", "smoothness": 2},
]

REFUSED_ACCOUNTS = [
    {}, {"noise_multiplier": -1}, {"noise_multiplier": math.nan}, {"noise_multiplier": math.inf},
    {"noise_multiplier": 1, "strength": 1}, {"noise_multiplier": 1, "sampling_rate": 1.5},
    {"noise_multiplier": 1, "steps": 1.5}, {"noise_multiplier": 1, "delta": 1}, {"noise_multiplier": 1, "clip": 0},
    {"noise_multiplier": 1, "delta": 1e-5, "epsilon": 1}, {"noise_multiplier": 1, "accountant": "gpd"},
    {"noise_multiplier": 1, "adjacency": "replcae"}, {"noise_multiplier": 1, "clip": 1, "sensitivity": 1},
    {"noise_multiplier": 1, "sensitivity": 1, "adjacency": "replace"}, {"noise_multiplier": 1, "step": 0.1},
    {"noise_multiplier": 1, "order": 2, "accountant": "gdp"}, {"noise_multiplier": 1, "width": 1, "order": 2},
    {"noise_multiplier": 1, "accountant": "paper_rdp", "epsilon": 1}, {"noise_multiplier": 1, "order": 0.5},
    {"noise_multiplier": 1, "accountant": "paper_lsi"}, {"noise_multiplier": 1, "input_smoothness": 1},
    {"noise_multiplier": 1, "exogenous": True}, {"noise_multiplier": 1, "smoothness": 1},
    {"noise_multiplier": 1, "accountant": "hidden-state"}, {"mechanism": "entropic"},
    {"mechanism": "gaussian", "strength": 1}, {"mu": 1, "clip": 1}, {"mu": 1, "adjacency": "replace"},
    {"blocks": "0.1:3"}, {"blocks": "2:3:4"}, {"blocks": "0.1:?:4"}, {"blocks": "0.1:1:1", "steps": 3},
    {"particles": "data", "noise_multiplier": 1, "steps": 3}, {"particles": "data", "mu": 1},
    {"particles": "data", "noise_multiplier": 1, "adjacency": "add"},
    {"particles": "data", "noise_multiplier": 1, "unit": "client"},
    {"particles": "data", "noise_multiplier": 1, "accountant": "gdp"},
    {"particles": "data", "noise_multiplier": 1, "view": "final"},
    {"particles": "data", "strength": 100, "step": 1},
    {"strength": 1, "assume": "convex", "smoothness": 1}, {"strength": 1, "view": "final", "assume": "convex"},
    {"noise_multiplier": 1, "view": "final", "assume": "convex", "smoothness": 1},
    {"strength": 1, "view": "final", "assume": "quadratic", "smoothness": 1, "strong_convexity": 2},
    {"strength": 1, "view": "final", "assume": "quadratic", "smoothness": 2, "strong_convexity": 1},
    {"strength": 1, "view": "final", "assume": "convex", "smoothness": 1, "accountant": "gdp"},
]

CALIBRATIONS = [
    {"epsilon": 1, "delta": 1e-5, "sampling_rate": 0.01, "steps": 1000},
    {"epsilon": 10, "clip": 1, "adjacency": "replace"},
    {"epsilon": 1, "clip": 3, "steps": 7},
    {"epsilon": 1, "sensitivity": 3, "accountant": "rdp", "order": [2, 4, 8]},
    {"epsilon": 3, "solve": "steps", "noise_multiplier": 1, "sampling_rate": 0.01},
    {"epsilon": 3, "solve": "rate", "noise_multiplier": 1, "steps": 1000},
    {"epsilon": 3, "blocks": "0.1:3:200,0.05:?:300"},
    {"epsilon": 3, "blocks": "0.1:3:200,0.05:2:?"},
    {"epsilon": 3, "blocks": "?:3:200"},
    {"epsilon": 2, "mechanism": "entropic", "steps": 10},
    {"epsilon": 2, "strength": 3, "solve": "steps"},
]

REFUSED_CALIBRATIONS = [
    {"epsilon": -1}, {"epsilon": 1, "noise_multiplier": 1}, {"epsilon": 1, "solve": "rate"}, {"epsilon": 1, "steps": 0},
    {"epsilon": 1, "solve": "steps", "noise_multiplier": 1, "steps": 3}, {"epsilon": 1, "solve": "stpes"},
    {"epsilon": 1, "solve": "rate", "noise_multiplier": 1, "sampling_rate": 0.1}, {"epsilon": 1, "blocks": "0.1:1:1"},
    {"epsilon": 1, "blocks": "?:?:1"}, {"epsilon": 1, "blocks": "0.1:?:1", "solve": "noise"},
    {"epsilon": 1, "blocks": "0.1:?:1", "mechanism": "entropic"}, {"epsilon": 1, "strength": 1},
    {"epsilon": 1, "mechanism": "entropic", "noise_multiplier": 1, "solve": "steps"},
    {"epsilon": 1, "accountant": "hidden-state"}, {"epsilon": 1, "accountant": "paper_rdp"},
    {"epsilon": 0.001, "blocks": "1:1:1,1:?:1"},
]


def expected_fields(answer, printed):
    """The fields of an answer under the names of the command line; those that it leaves out here are left out."""
    return {name: as_json(value) for name, value in dataclasses.asdict(answer).items() if name in printed}


@pytest.mark.parametrize("arguments", ACCOUNTS, ids=str)
def test_account_equals_the_command_line(program, arguments):
    code, printed, message = program("account", "--json", *as_options(arguments))
    assert code == 0, message
    assert expected_fields(mfpg.account(**arguments), printed) == printed


@pytest.mark.parametrize("arguments", CALIBRATIONS, ids=str)
def test_calibrate_equals_the_command_line(program, arguments):
    code, printed, message = program("calibrate", "--json", *as_options(arguments))
    assert code == 0, message
    assert expected_fields(mfpg.calibrate(**arguments), printed) == printed


@pytest.mark.parametrize("arguments", REFUSED_ACCOUNTS, ids=str)
def test_account_refuses_what_the_command_line_refuses(program, arguments):
    assert program("account", "--json", *as_options(arguments))[0] == 2
    with pytest.raises((mfpg.InputError, mfpg.DomainError)):
        mfpg.account(**arguments)


@pytest.mark.parametrize("arguments", REFUSED_CALIBRATIONS, ids=str)
def test_calibrate_refuses_what_the_command_line_refuses(program, arguments):
    assert program("calibrate", "--json", *as_options(arguments))[0] == 2
    with pytest.raises((mfpg.InputError, mfpg.DomainError)):
        mfpg.calibrate(**arguments)


@pytest.mark.parametrize("function", [mfpg.account, mfpg.calibrate], ids=["account", "calibrate"])
def test_options_are_those_of_the_command_line(program, function):
    help_text = subprocess.run([ROOT / "build/release/mfpg", function.__name__, "--help"], capture_output=True,
                               text=True, check=True).stdout
    options = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", help_text, re.MULTILINE))
    assert set(inspect.signature(function).parameters) == {
        name.replace("-", "_") for name in options - {"json", "help", "usage", "version"}}


def test_one_release_is_the_analytic_gaussian_mechanism():
    # Balle and Wang 2018: delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu) with mu = 1/z
    def normal(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    z, epsilon = 2.0, 0.75
    mu = 1 / z
    delta = normal(mu / 2 - epsilon / mu) - math.exp(epsilon) * normal(-mu / 2 - epsilon / mu)
    answer = mfpg.account(noise_multiplier=z, epsilon=epsilon)
    assert answer.delta == pytest.approx(delta, rel=1e-9)  # rounding of erfc, and the outward rounding
    assert answer.mu == pytest.approx(mu, rel=1e-12)


def test_nothing_certified_is_infinite():
    answer = mfpg.account(noise_multiplier=0)
    assert answer.epsilon == math.inf and not answer.certificate


def test_unknown_names_are_told_with_the_nearest():
    with pytest.raises(mfpg.InputError, match="gdp"):
        mfpg.account(noise_multiplier=1, accountant="gpd")
    with pytest.raises(ValueError, match="zero-out"):
        mfpg.account(noise_multiplier=1, adjacency="zero-outt")


def test_blocks_may_be_numbers():
    assert mfpg.account(blocks=[(0.1, 3, 200)]) == mfpg.account(blocks="0.1:3:200")


def test_calibration_goes_back_into_account():
    found = mfpg.calibrate(epsilon=2, sampling_rate=0.02, steps=500)
    again = mfpg.account(noise_multiplier=found.noise_multiplier, sampling_rate=0.02, steps=500)
    assert again.epsilon == found.epsilon <= 2
