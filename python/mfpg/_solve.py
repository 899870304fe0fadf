"""solve: the equilibrium of a game with its certificate, without training."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mfpg._account import as_option
from mfpg._call import Context, InputError, Job, choice, job, keywords, listed, path_bytes
from mfpg._config import open_config
from mfpg._equilibrium import Equilibrium, read
from mfpg._interface import ffi, lib


class Game:
    """A mfpg_posed_game by options, with what it borrows."""

    def __init__(self, ctx: Context, given: dict[str, Any]) -> None:
        names = listed(lambda index: lib.mfpg_kind_name(ffi.addressof(lib.mfpg_costs), index))
        choice(ctx, "cost", given["cost"], names)
        self.keep: list[Any] = []
        options = lib.mfpg_solve_options()
        request = self.hold(ffi.gc(ffi.new("mfpg_solve_request *"), lambda made: lib.mfpg_options_clear(options, made)))
        lib.mfpg_options_begin(options, request)
        self.posed = ffi.gc(ffi.new("mfpg_posed_game *"), lib.mfpg_posed_game_clear)
        with keywords():
            for name, value in given.items():
                if name in ("beta", "weights", "actions") and not isinstance(value, (str, int, float, type(None))):
                    out = getattr(request.game, name)
                    out.value, out.count = self.array(name, value)
                elif value is not None and value is not False:
                    ctx.check(lib.mfpg_option_set(ctx.pointer, options, name.replace("_", "-").encode(), as_option(name, value),
                                                  request))
            ctx.check(lib.mfpg_solve_check(ctx.pointer, request, lib.MFPG_SOLVE_GAME))
            ctx.check(lib.mfpg_game_pose(ctx.pointer, ffi.addressof(request, "game"), self.posed))
        self.c = ffi.addressof(self.posed, "game")

    def hold(self, pointer: Any) -> Any:
        self.keep.append(pointer)
        return pointer

    def array(self, name: str, values: Any) -> tuple[Any, int]:
        """A pointer to a contiguous array of doubles, the caller's own where its layout allows, and its length."""
        try:
            held = np.ascontiguousarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{name}: found {values!r}; allowed: numbers") from None
        if held.ndim != 1 or held.size == 0:
            raise InputError(f"{name}: found an array of shape {held.shape}; allowed: one number a client, in a row")
        return self.hold(ffi.from_buffer("double[]", held)), held.size


def finish(ctx: Context, solution: Any, price: bool, out: Any) -> Equilibrium:
    """The price, the file and the answer."""
    if price:
        priced = ffi.gc(ffi.new("mfpg_priced *"), lib.mfpg_priced_clear)
        ctx.check(lib.mfpg_solution_find_price(ctx.pointer, solution, priced))
        solution.priced = priced
    if out is not None:
        ctx.check(lib.mfpg_solution_write(ctx.pointer, solution, path_bytes(out)))
    return read(solution)


def solve_options(ctx: Context, given: dict[str, Any]) -> Equilibrium:
    price, out = given["price"], given["out"]
    game = Game(ctx, given)
    equilibrium = ffi.gc(ffi.new("mfpg_equilibrium *"), lib.mfpg_equilibrium_clear)
    ctx.check(lib.mfpg_game_solve(ctx.pointer, game.c, equilibrium))
    finite = ffi.new("double[2]", [math.nan, math.nan])
    if game.posed.named_population and game.c.players == lib.MFPG_PLAYERS_MEAN_FIELD:
        ctx.check(lib.mfpg_solution_judge_finite(ctx.pointer, game.c, equilibrium, finite, finite + 1))
    solution = ffi.new("mfpg_solution *", {"game": game.c, "equilibrium": equilibrium, "finite_max": finite[0],
                                           "finite_mean": finite[1]})
    return finish(ctx, solution, price, out)


def solve_configuration(ctx: Context, config: Any, given: dict[str, Any], overrides: Mapping[str, Any]) -> Equilibrium:
    allowed = {"price", "out"}
    other = next((name for name, value in given.items() if value not in (None, False) and name not in allowed), None)
    if other is not None:
        raise InputError(f"{other} describes a game by options, and a configuration was given; there the game's keys are "
                         "changed by overrides, as in game={'cost': 'entropic'} (mfpg.keys() lists them)")
    made = open_config(ctx, config, overrides)
    out = ffi.new("mfpg_experiment **")
    ctx.check(lib.mfpg_experiment_create(ctx.pointer, made.pointer, out))
    experiment = ffi.gc(out[0], lib.mfpg_experiment_destroy)
    solution = ffi.new("mfpg_solution *")
    if not lib.mfpg_experiment_solution(experiment, solution):
        raise InputError(f"{config}: its method plays no game, so that there is nothing to solve; method mapg-dp, mfpg, or "
                         "method.players finite or mean-field with a mechanism do")
    return finish(ctx, solution, given["price"], given["out"])


@job
def solve(job: Job, /, config: str | os.PathLike[str] | Mapping[str, Any] | None = None, *, cost: str | None = None,
          players: str | None = None, population: int | None = None,
          beta: float | str | Iterable[float] | npt.NDArray[np.float64] | None = None,
          beta_file: str | os.PathLike[str] | None = None, column: str | None = None,
          weights: str | Iterable[float] | npt.NDArray[np.float64] | None = None,
          actions: str | Iterable[float] | npt.NDArray[np.float64] | None = None, curvature: float | None = None,
          dimension: float | None = None, personalisation: float | None = None, learning_rate: float | None = None,
          clip: float | None = None, privacy_power: float | None = None, own_cost: float | None = None,
          privacy_scale: float | None = None, optimum_norm2: float | None = None, prior_variance: float | None = None,
          step: float | None = None, interaction: float | None = None, loss: float | None = None,
          loss_table: str | os.PathLike[str] | None = None, offset: float | None = None,
          gradient_norm: float | None = None, variance_penalty: float | None = None, rounds: float | None = None,
          price: bool = False, no_optimum: bool = False, out: str | os.PathLike[str] | None = None,
          threads: int | None = None, **overrides: Any) -> Equilibrium:
    """The equilibrium of a privacy game with its certificate, without training: ``mfpg solve``.

    >>> found = solve(cost="entropic", players="finite", population=20, beta="0.025:0.075", dimension=5, own_cost=0.045,
    ...               actions="continuous")
    >>> bool(found.exploitability.max < 1e-9)
    True

    Of a configuration
        config, overrides: as in run; the game that its run would play.
    By options (`cost` chooses; what a cost does not read is refused)
        cost: what clients minimise: "gaussian", "entropic", "interaction", "measured", "measured-budget", "paper".
        players: "finite" (N players, each moving the average) or "mean-field" (default).
        population: number of clients (default: as many as beta lists; mean-field 1 for one value, else 1000 for the law).
        beta: preferences: an array with one a client (used without a copy where it is contiguous float64), a number for all, or
            a text: "LOW:HIGH", "uniform:LOW:HIGH", "lognormal:MEDIAN:SD" (default "0.5:1.5"); or beta_file and column.
        weights: of the clients in the average, summing to 1 (default 1/N each).
        actions: an ascending grid (default 0.1, 0.3, 0.5, 1, 2), "LOW:HIGH", or "continuous".
        curvature [h], dimension [d], personalisation [omega], learning_rate [eta], clip [C], privacy_power [p],
        own_cost [c], privacy_scale [B], optimum_norm2, prior_variance [sig2], step [tau], interaction [zeta], loss [L],
        loss_table, offset, gradient_norm [G], variance_penalty [lambda], rounds [K]: constants; ``mfpg solve --help``.
        no_optimum: leave out the social optimum, for time and memory.
    Both
        price: also the corrective price on own noise.
        out: also write a CSV file with one row a client.
        threads: default all the machine's; their number changes no bit.

    An equilibrium that was not reached has converged False. Raises InputError or DomainError for what is not allowed.
    """
    given = {name: value for name, value in locals().items() if name not in ("job", "config", "threads", "overrides")}
    with Context(job, threads) as ctx:
        if config is not None:
            found = solve_configuration(ctx, config, given, overrides)
            job.warnings += found.warnings
            return found
        if overrides:
            raise InputError(f"{next(iter(overrides))} is no option of solve; keys change a configuration, and none was given")
        if cost is None:
            raise InputError("nothing to solve; give a configuration, as in solve('clinics'), or a game by options, as in "
                             "solve(cost='entropic', beta='0.5:1.5')")
        found = solve_options(ctx, given)
        job.warnings += found.warnings
        return found
