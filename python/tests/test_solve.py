"""solve: the same answers, refusals and options as the command line, closed forms of the theory, arrays as they are."""

import dataclasses
import inspect
import re
import subprocess
import warnings

import numpy as np
import pytest

import mfpg
from conftest import ROOT, as_json, as_options
from test_vectors import accepted, rows_of, values_of

GAMES = [
    {"cost": "gaussian", "beta": 0.5, "curvature": 2, "dimension": 10, "learning_rate": 0.1, "privacy_power": 2,
     "actions": "continuous"},
    {"cost": "gaussian", "players": "finite", "beta": "0.5,1,2", "weights": "0.2,0.3,0.5", "price": True,
     "actions": "0.01:5", "personalisation": 0.2},
    {"cost": "gaussian", "players": "finite", "population": 12, "beta": "uniform:0.5:1.5", "no_optimum": True},
    {"cost": "entropic", "players": "finite", "population": 20, "beta": "0.025:0.075", "dimension": 5,
     "own_cost": 0.045, "actions": "continuous"},
    {"cost": "entropic", "beta": "lognormal:1:0.4", "population": 50, "actions": "0.1,0.5,2"},
    {"cost": "interaction", "beta": "1", "interaction": 2, "actions": "0.1:3"},
    {"cost": "interaction", "beta": "0.5:1.5", "population": 8, "interaction": -0.5, "privacy_scale": 0.6},
    {"cost": "interaction", "players": "finite", "population": 5, "beta": "0.5:1.5", "interaction": 1},
    {"cost": "paper", "beta": "0.5:1.5", "population": 5, "dimension": 5, "loss": 0.02, "rounds": 15},
    {"cost": "measured", "beta": "0.5,1", "loss": 0.1},
]

REFUSED = [
    {}, {"cost": "entropc"}, {"cost": "entropic", "players": "finte"}, {"cost": "entropic", "players": "finite"},
    {"cost": "entropic", "learning_rate": 1}, {"cost": "gaussian", "curvature": 0}, {"cost": "gaussian", "privacy_power": 3},
    {"cost": "gaussian", "personalisation": 1.5}, {"cost": "gaussian", "price": True, "no_optimum": True},
    {"cost": "entropic", "own_cost": 1, "personalisation": 0.5}, {"cost": "measured-budget"},
    {"cost": "entropic", "actions": "1,0.5"}, {"cost": "entropic", "actions": "2:1"}, {"cost": "entropic", "actions": "no"},
    {"cost": "entropic", "actions": "0:1"}, {"cost": "entropic", "beta": "0.5,-1"}, {"cost": "entropic", "beta": "x"},
    {"cost": "entropic", "column": "beta"}, {"cost": "entropic", "beta": "1", "beta_file": "x.csv"},
    {"cost": "entropic", "population": 0}, {"cost": "entropic", "population": 2.5},
    {"cost": "gaussian", "weights": "0.5,0.5"}, {"cost": "entropic", "players": "finite", "beta": "1,2", "weights": "0.4,0.6"},
    {"cost": "gaussian", "players": "finite", "beta": "1,2", "weights": "1"},
    {"cost": "measured", "loss": 1, "loss_table": "x.csv"}, {"cost": "interaction", "price": True},
]


def plain(found):
    """An equilibrium as the command line's JSON."""
    told = {name: told_of(value) for name, value in vars(found).items()}
    told["unique"] = "unknown" if found.unique is None else found.unique
    if found.social.exact:
        told["social"].pop("exact")
    return told


def told_of(value):
    if dataclasses.is_dataclass(value):
        return {field.name: told_of(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return [as_json(one) for one in value.tolist()]
    return [told_of(one) for one in value] if isinstance(value, tuple) else as_json(value)


def quiet(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mfpg.MfpgWarning)
        return mfpg.solve(*args, **kwargs)


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_solve_equals_the_command_line(program, tmp_path, game):
    # with a file the command line lists every client, and not quantiles
    code, printed, message = program("solve", "--json", "--out", tmp_path / "a.csv", *as_options(game))
    assert code == 0, message
    found = plain(quiet(**game, out=tmp_path / "b.csv"))
    assert {name: found[name] for name in printed} == printed
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


@pytest.mark.parametrize("game", REFUSED, ids=str)
def test_solve_refuses_what_the_command_line_refuses(program, game):
    assert program("solve", "--json", *as_options(game))[0] == 2
    with pytest.raises((mfpg.InputError, mfpg.DomainError)):
        quiet(**game)


def test_options_are_those_of_the_command_line():
    text = subprocess.run([ROOT / "build/release/mfpg", "solve", "--help"], capture_output=True, text=True).stdout
    groups = text[:text.index("Study continuous")]  # what follows is of studies
    options = set(re.findall(r"^ +(?:-\w, )?--([a-z0-9-]+)", groups, re.MULTILINE)) - {"seed", "study"}
    parameters = set(inspect.signature(mfpg.solve).parameters) - {"config", "threads", "overrides"}
    assert parameters == {name.replace("-", "_") for name in options}


def test_configurations_are_solved(program):
    code, printed, _ = program("solve", "--json", "clinics", "game.preferences.max=2", "seed=1")
    found = plain(quiet("clinics", game={"preferences": {"max": 2}}, seed=1))
    assert code == 0 and {name: found[name] for name in printed} == printed
    assert found["names"] == ["city", "county", "coast", "valley"]
    with pytest.raises(mfpg.InputError, match="plays no game"):
        quiet({"data": {"format": "synthetic"}, "method": "dp-sgd"})
    with pytest.raises(mfpg.InputError, match="curvature describes a game by options"):
        mfpg.solve("clinics", curvature=1)
    with pytest.raises(mfpg.InputError, match="curvatur is no option"):
        mfpg.solve(cost="gaussian", curvatur=1)


def test_arrays_are_taken_as_they_are():
    beta = np.linspace(0.025, 0.075, 20)
    options = {"cost": "entropic", "players": "finite", "dimension": 5, "own_cost": 0.045}
    text = mfpg.solve(population=20, beta="0.025:0.075", actions="continuous", **options)
    array = mfpg.solve(beta=beta, actions="continuous", **options)
    # the texts' even spacing rounds by itself
    np.testing.assert_allclose(array.actions, text.actions, rtol=1e-12)
    assert np.array_equal(array.preferences, beta)
    strided = mfpg.solve(beta=np.repeat(beta, 2)[::2], actions="continuous", **options)
    assert np.array_equal(strided.actions, array.actions)
    grid = mfpg.solve(beta=[0.05] * 4, actions=np.array([0.1, 0.3, 0.5, 1, 2]), **options)
    assert np.array_equal(grid.actions, quiet(beta="0.05,0.05,0.05,0.05", **options).actions)
    for wrong in (np.ones((2, 2)), [], ["a"], np.array([1.0, np.nan]), np.array([1.0, -1.0])):
        with pytest.raises((mfpg.InputError, mfpg.DomainError)):
            mfpg.solve(beta=wrong, **options)


def test_warnings_are_given_as_such():
    with pytest.warns(mfpg.MfpgWarning):
        found = mfpg.solve("clinics", entropic={"step": 2})  # the averaged model diverges at that step
    assert found.warnings


def test_theory_vectors_of_games(shared):
    kinds = {"gauss_nash_b", "ent_nash_ebar", "ent_social_ebar", "ent_poa", "ent_grid_nash", "gauss_mfne_b"}
    rows = [row for row in rows_of(shared, "theory_vectors.csv") if row["kind"] in kinds]
    assert {row["kind"] for row in rows} == kinds
    for row in rows:
        p = values_of(row)
        if row["kind"].startswith("gauss"):
            found = quiet(cost="gaussian", players="finite" if "N" in p else "mean-field",
                          population=int(p["N"]) if "N" in p else None, beta=p["beta"], curvature=p["h"],
                          dimension=p["d"], personalisation=p["omega"], learning_rate=p["eta"], clip=p["C"],
                          privacy_power=p["p"], actions="continuous")
        else:
            found = quiet(cost="entropic", players="finite", population=int(p["N"]), beta=f"{p['beta_lo']}:{p['beta_hi']}",
                          curvature=p["h"], dimension=p["d"], prior_variance=p["sig2"], step=p["tau"],
                          optimum_norm2=p["abar2"], own_cost=p["c"], privacy_scale=p["B"],
                          actions=p["grid"].replace("|", ",") if "grid" in p else "continuous")
        if row["kind"] == "ent_grid_nash":
            assert found.actions.tolist() == [float(one) for one in row["expected"].split("|")]
            continue
        answer = {"ent_social_ebar": found.social.mean_action, "ent_poa": found.price_of_anarchy}.get(
            row["kind"], found.mean_action)
        low, high = accepted(row)
        assert low <= answer <= high, row
