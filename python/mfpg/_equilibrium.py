"""A solved game with its certificate."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from mfpg._answer import number_or_none
from mfpg._call import Context, text
from mfpg._interface import ffi, lib

Doubles = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Gains:
    """What a client could gain by deviating alone: the largest and the mean, by exact best responses."""

    max: float
    mean: float


@dataclasses.dataclass(frozen=True)
class Mixing:
    """Clients that play `action` with probability `weight`, and otherwise their own in Equilibrium.actions."""

    clients: tuple[int, ...]
    action: float
    weight: float


@dataclasses.dataclass(frozen=True)
class Social:
    """The social optimum; None where it is not known."""

    mean_action: float | None
    actions: Doubles | None
    cost: float | None
    exact: bool = True
    """True where no profile is better; False for the best that was found."""


@dataclasses.dataclass(frozen=True)
class FixedPoint:
    """A mean that answers itself."""

    mean_action: float
    mixes: bool


@dataclasses.dataclass(frozen=True)
class Price:
    """The price on own noise that makes the selfish equilibrium the social optimum."""

    clients: Doubles
    mean_action: float
    difference: float
    exploitability: float


@dataclasses.dataclass(frozen=True)
class Equilibrium:
    """A solution of a game with its certificate, the exploitability. Arrays have one entry a client."""

    control: str
    """What a client chooses: "budget" (more means less noise) or "strength" (more means more noise)."""
    mean_action: float
    actions: Doubles
    preferences: Doubles
    mixing: tuple[Mixing, ...]
    exploitability: Gains
    exploitability_finite: Gains | None
    """Of the same actions among the N clients themselves."""
    social: Social
    cost: float
    price_of_anarchy: float | None
    unique: bool | None
    """None where it is not known."""
    converged: bool
    iterations: int
    residual: float
    consistency_gap: float
    certificate: str
    """The certificate in one sentence."""
    warnings: tuple[str, ...] = ()
    """Why a solution may be worthless all the same."""
    selection: str | None = None
    """The rule that chose this one of several."""
    fixed_points: tuple[FixedPoint, ...] = ()
    more_fixed_points: bool = False
    preference_factor: float | None = None
    """What all preferences were multiplied with, to meet a target epsilon."""
    price: Price | None = None
    names: tuple[str, ...] | None = None


def doubles(pointer: Any, count: int) -> Doubles:
    return np.frombuffer(ffi.buffer(pointer, count * 8), dtype=np.float64).copy()


def gains(most: float, mean: float) -> Gains | None:
    return None if math.isnan(most) else Gains(most, mean)


def read_mixing(q: Any) -> tuple[Mixing, ...]:
    """Clients that mix alike stand in one object."""
    found: list[tuple[list[int], float, float]] = []
    for i in range(q.mixing_count):
        one = q.mixing[i]
        if found and found[-1][1:] == (one.upper, one.weight):
            found[-1][0].append(one.client)
        else:
            found.append(([one.client], one.upper, one.weight))
    return tuple(Mixing(tuple(clients), action, weight) for clients, action, weight in found)


def read_words(solution: Any) -> tuple[str, tuple[str, ...]]:
    """The certificate and the warnings."""
    room = ffi.new("char[1024]")
    lib.mfpg_solution_certificate(solution, room, 1024)
    certificate = text(room)
    warnings: list[str] = []
    while lib.mfpg_solution_warning(solution, len(warnings), room, 1024):
        warnings.append(text(room))
    return certificate, tuple(warnings)


def read_social(q: Any) -> Social:
    actions = doubles(q.social_action, q.clients) if q.social_action else None
    return Social(number_or_none(q.social_mean), actions, number_or_none(q.social_cost),
                  bool(q.social_exact) or actions is None)


def read_price(priced: Any, clients: int) -> Price | None:
    if not priced:
        return None
    return Price(doubles(priced.price, clients), priced.mean_action, priced.difference, priced.exploitability)


def read(solution: Any) -> Equilibrium:
    """The Equilibrium of a mfpg_solution."""
    q, clients = solution.equilibrium, solution.equilibrium.clients
    certificate, warnings = read_words(solution)
    names = None
    if solution.name:
        names = tuple(text(solution.name(solution.name_user, k)) for k in range(clients))
    return Equilibrium(
        control=text(lib.mfpg_solution_control(solution)), mean_action=q.mean_action, actions=doubles(q.action, clients),
        preferences=doubles(solution.game.preference, clients), mixing=read_mixing(q),
        exploitability=Gains(q.exploitability_max, q.exploitability_mean),
        exploitability_finite=gains(solution.finite_max, solution.finite_mean), social=read_social(q), cost=q.cost,
        price_of_anarchy=number_or_none(q.price_of_anarchy), unique=None if q.unique < 0 else bool(q.unique),
        converged=bool(q.converged), iterations=q.iterations, residual=q.residual, consistency_gap=q.consistency_gap,
        certificate=certificate, warnings=warnings, selection=text(q.selection) if q.selection else None,
        fixed_points=tuple(FixedPoint(q.fixed_point[i].mean, bool(q.fixed_point[i].mixes))
                           for i in range(q.fixed_point_count)),
        more_fixed_points=bool(q.fixed_point_more), preference_factor=solution.preference_factor or None,
        price=read_price(solution.priced, clients), names=names)


def read_solution(ctx: Context, experiment: Any) -> Equilibrium | None:
    """That of an experiment; None where it plays no game."""
    solution = ffi.new("mfpg_solution *")
    return read(solution) if lib.mfpg_experiment_solution(experiment, solution) else None
