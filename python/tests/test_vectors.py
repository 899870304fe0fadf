"""The reference vectors (independent software or closed forms; each row names its source) through the package."""

import csv
import math

import pytest

import mfpg


def rows_of(shared, name):
    with open(shared / "vectors" / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def values_of(row):
    """The parameters of a row; what is no number stays text."""
    found = {}
    for part in row["parameters"].split(";"):
        name, _, value = part.partition("=")
        try:
            found[name] = float(value)
        except ValueError:
            found[name] = value
    return found


def accepted(row):
    """The interval that an answer has to lie in; what the tolerances mean is said in accounting.md."""
    kind, _, size = row["tolerance"].replace(" ", "=").partition("=")
    if kind == "bracket":
        low, high = map(float, row["expected"].split("|"))
        return low, high
    value, size = float(row["expected"]), float(size or 0)
    slack = {"rel": size * abs(value), "abs": size, "exact": 0.0}
    if kind in slack:
        return (value, value) if math.isinf(value) else (value - slack[kind], value + slack[kind])
    if kind == "upper_abs":
        return value - 1e-6 * max(1.0, value), value + size
    assert kind == "upper_rel", row
    return value * (1 - 1e-5), value * (1 + size)


def schedule(p):
    """The keywords of a row's schedule, for account with accountant exact or rdp."""
    given = {"accountant": "exact"}
    if p.get("adjacency") in ("add", "remove"):
        given["adjacency"] = p["adjacency"]
    if "orders" in p:
        given = {"accountant": "rdp", "order": range(2, 257)}
        if "integers" not in str(p["orders"]):
            given["order"] = [float(order) for order in str(p["orders"]).split("|")]
    if "blocks" in p:
        return {**given, "blocks": p["blocks"].replace("|", ",")}
    steps = int(p["T"]) if p["T"] == int(p["T"]) else p["T"]
    return {**given, "noise_multiplier": p["sigma"], "sampling_rate": p["q"], "steps": steps}


def priced(kind, p):
    if "delta_pld" in kind:
        return mfpg.account(**schedule(p), epsilon=p["eps"]).delta
    return mfpg.account(**schedule(p), delta=p["delta"]).epsilon


ACCOUNTED = ["delta_pld", "eps_pld", "eps_pld_bracket", "eps_rdp", "hetero_delta_pld", "hetero_eps_pld",
             "hetero_eps_pld_bracket", "hetero_eps_rdp"]


@pytest.mark.parametrize("kind", ACCOUNTED)
def test_accountant_vectors(shared, kind):
    rows = [row for row in rows_of(shared, "accountant_vectors.csv") if row["kind"] == kind]
    assert rows
    for row in rows:
        low, high = accepted(row)
        assert low <= priced(kind, values_of(row)) <= high, row


def test_vectors_of_one_release_are_calibrated(shared):
    rows = [row for row in rows_of(shared, "accountant_vectors.csv") if row["kind"] == "analytic_gaussian"]
    assert rows
    for row in rows:
        p, (low, high) = values_of(row), accepted(row)
        if math.isinf(p["eps"]):  # a target that every noise meets is none
            with pytest.raises(mfpg.InputError):
                mfpg.calibrate(epsilon=p["eps"], sensitivity=p["sensitivity"])
            continue
        found = mfpg.calibrate(epsilon=p["eps"], delta=p["delta"], sensitivity=p["sensitivity"])
        # what is found may exceed the least noise by a millionth (calibration.h)
        assert low <= found.noise_sd <= high * (1 + 1e-6), row


@pytest.mark.parametrize("kind", ["error_eps_pld", "error_eps_rdp", "error_analytic_gaussian"])
def test_vectors_of_errors_are_refused(shared, kind):
    rows = [row for row in rows_of(shared, "accountant_vectors.csv") if row["kind"] == kind]
    assert rows
    for row in rows:
        p = values_of(row)
        with pytest.raises(ValueError):
            if kind == "error_analytic_gaussian":
                mfpg.calibrate(epsilon=p["eps"], delta=p["delta"], sensitivity=p["sensitivity"])
            else:
                priced(kind, p)


def test_theory_vectors_of_gaussian_dp(shared):
    rows = [row for row in rows_of(shared, "theory_vectors.csv") if row["kind"] in ("gdp_eps", "comp_mu", "comp_rdp")]
    assert {row["kind"] for row in rows} == {"gdp_eps", "comp_mu", "comp_rdp"}
    for row in rows:
        p, (low, high) = values_of(row), accepted(row)
        if row["kind"] == "gdp_eps":
            answer = mfpg.account(mu=p["mu"], delta=p["delta"]).epsilon
        else:
            flow = {"strength": p["e"], "step": p["tau"], "steps": int(p["K"]), "sensitivity": p["S"]}
            order = {"order": p["order"]} if row["kind"] == "comp_rdp" else {}
            answer = mfpg.account(**flow, **order)
            answer = answer.rdp if order else answer.mu
        assert low <= answer <= high * (1 + 1e-9), row  # answers are rounded up


def test_theory_vectors_of_transport(shared):
    rows = [row for row in rows_of(shared, "theory_vectors.csv") if row["kind"] == "sinkhorn_pair"]
    assert rows
    for row in rows:
        pair, eta = row["parameters"].split(";")
        x = [float(value) for value in pair.removeprefix("x=").split("|")]
        found = mfpg.transport.project(x, regularisation=float(eta.removeprefix("eta=")))
        # x and the result are floats: 2^-24 of the largest, each
        assert found.x == pytest.approx([float(v) for v in row["expected"].split("|")], rel=2**-22)
