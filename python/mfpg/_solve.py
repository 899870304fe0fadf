"""solve: the equilibrium of a game with its certificate, without training."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mfpg._call import Context, InputError, Job, choice, job, listed, number, path_bytes
from mfpg._config import open_config
from mfpg._equilibrium import Equilibrium, read
from mfpg._interface import ffi, lib
from mfpg._solve_table import COSTS, NUMBERS

PLAYERS = ["finite", "mean-field"]
STAND_INS = 1000  # quantiles that stand for a mean field whose population is not given
ACTIONS = (0.1, 0.3, 0.5, 1.0, 2.0)
DIRECT = ["curvature", "dimension", "privacy_power", "prior_variance", "step", "optimum_norm2", "interaction", "loss",
          "offset", "gradient_norm", "variance_penalty", "rounds"]  # options that are fields of a mfpg_game

# What the table of options says that numbers may be.
ALLOWED: dict[str, Callable[[float], bool]] = {
    "cli_is_positive": lambda x: x > 0,
    "cli_is_not_negative": lambda x: x >= 0,
    "cli_is_rate": lambda x: 0 <= x <= 1,
    "solve_is_power": lambda x: x in (1, 2),
    "solve_is_number": lambda x: True,
    "solve_is_population": lambda x: 1 <= x <= 200_000_000 and x == int(x),
}


def check_numbers(given: dict[str, Any]) -> None:
    """Every number by the table."""
    for name, value in given.items():
        if name not in NUMBERS or value is None:
            continue
        allowed, words = NUMBERS[name]
        try:
            real = float(value)
        except (TypeError, ValueError):
            real = math.nan
        if not (math.isfinite(real) and ALLOWED[allowed](real)):
            raise InputError(f"{name}: found {value!r}; allowed: {words}")
        given[name] = real


def check_readers(given: dict[str, Any], cost: str) -> None:
    """An option that is given and read by nobody is refused: nobody should believe that it did something."""
    for name, value in given.items():
        if value is not None and value is not False and cost not in COSTS[name]:
            readers = ", ".join(COSTS[name])
            raise InputError(f"{name} does nothing with cost {cost}; it is read by: {readers}")


class Game:
    """A mfpg_game by options, with the arrays that it borrows."""

    def __init__(self, ctx: Context, given: dict[str, Any]) -> None:
        self.ctx, self.given = ctx, given
        self.keep: list[Any] = []
        self.cost = listed(lib.mfpg_cost_name)[choice(ctx, "cost", given["cost"], listed(lib.mfpg_cost_name))]
        check_numbers(given)
        self.c = ffi.new("mfpg_game *", lib.mfpg_game_default())
        self.c.cost = self.hold(ffi.new("char[]", self.cost.encode()))
        finite = choice(ctx, "players", given["players"] or "mean-field", PLAYERS) == 0
        self.c.players = lib.MFPG_PLAYERS_FINITE if finite else lib.MFPG_PLAYERS_MEAN_FIELD
        self.finite, self.named_population = finite, given["population"] is not None
        self.read_constants()
        check_readers(given, self.cost)
        self.read_actions(given["actions"])
        self.read_loss_table()
        self.read_preferences()
        self.read_weights()
        self.set_shared()

    def hold(self, pointer: Any) -> Any:
        self.keep.append(pointer)
        return pointer

    def array(self, name: str, values: Any) -> tuple[Any, npt.NDArray[np.float64]]:
        """A pointer to a contiguous array of doubles: the caller's own where its layout allows."""
        try:
            held = np.ascontiguousarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"{name}: found {values!r}; allowed: numbers") from None
        if held.ndim != 1 or held.size == 0:
            raise InputError(f"{name}: found an array of shape {held.shape}; allowed: one number a client, in a row")
        return self.hold(ffi.from_buffer("double[]", held)), held

    def read_constants(self) -> None:
        given = self.given
        for name in DIRECT:
            if given[name] is not None:
                setattr(self.c, name, given[name])
        public_good = self.cost == "gaussian" and self.finite
        omega = given["personalisation"]
        self.c.personalisation = omega if omega is not None else 0.0 if public_good else 0.5
        if given["price"] and given["no_optimum"]:
            raise InputError("price and no_optimum exclude each other: the price leads to the optimum")
        if self.cost == "entropic" and given["own_cost"] is not None and omega is not None:
            raise InputError("own_cost and personalisation exclude each other: the own cost is (h d/2) omega^2 2 tau unless "
                             "it is given")

    def read_actions(self, actions: Any) -> None:
        wanted = self.c.actions
        wanted.low, wanted.high = 0.0, math.inf
        if isinstance(actions, str):
            actions = self.parse_actions(actions)
        if actions is None:
            actions = ACTIONS
        if isinstance(actions, tuple) and len(actions) == 0:
            return  # every positive number
        if isinstance(actions, slice):
            wanted.low, wanted.high = (number("actions", end, 0, above=True) for end in (actions.start, actions.stop))
            if wanted.low > wanted.high:
                raise InputError(f"actions: found {wanted.low:g}:{wanted.high:g}; allowed: the lower end first")
            return
        wanted.grid, held = self.array("actions", actions)
        wanted.count = held.size
        if not (np.isfinite(held).all() and (held > 0).all() and (np.diff(held) > 0).all()):
            raise InputError(f"actions: found {held.tolist()}; allowed: finite numbers above 0 in ascending order, each once")

    @staticmethod
    def parse_actions(actions: str) -> Any:
        """The texts of the command line."""
        if actions == "continuous":
            return ()
        low, colon, high = actions.partition(":")
        try:
            return slice(float(low), float(high)) if colon else [float(one) for one in actions.split(",")]
        except ValueError:
            raise InputError(f"actions: found {actions!r}; allowed: A,B,... ascending, LOW:HIGH with LOW not above HIGH, or "
                             "continuous, every action a finite number above 0") from None

    def read_loss_table(self) -> None:
        table = self.given["loss_table"]
        if table is None and self.cost == "measured-budget":
            raise InputError("loss_table: missing; cost measured-budget plays a loss table, which mfpg solve CONFIG.yaml "
                             "--study costs makes")
        if table is None:
            return
        if self.given["loss"] is not None:
            raise InputError("loss and loss_table exclude each other: the table stands for L e")
        out = ffi.new("double **")
        self.ctx.check(lib.mfpg_loss_table_read(self.ctx.pointer, path_bytes(table), self.c, out))
        self.c.loss_table = self.hold(ffi.gc(out[0], lib.free))

    def read_preferences(self) -> None:
        beta, file, column = self.given["beta"], self.given["beta_file"], self.given["column"]
        if beta is not None and file is not None:
            raise InputError("beta and beta_file exclude each other; give one")
        if column is not None and file is None:
            raise InputError("column belongs to beta_file")
        if beta is not None and not isinstance(beta, (str, int, float)):
            self.take_preferences(beta)
            return
        population = self.hold(ffi.gc(ffi.new("mfpg_population *"), lib.mfpg_population_clear))
        if file is not None:
            name = ffi.NULL if column is None else ffi.new("char[]", str(column).encode())
            self.ctx.check(lib.mfpg_population_read(self.ctx.pointer, path_bytes(file), name, population))
        else:
            words = "0.5:1.5" if beta is None else str(beta)
            self.ctx.check(lib.mfpg_population_parse(self.ctx.pointer, words.encode(), population))
        clients = self.count_clients(population)
        held = np.zeros(clients)
        self.c.preference, _ = self.array("beta", held)
        self.ctx.check(lib.mfpg_population_fill(self.ctx.pointer, population, clients, self.c.preference))
        self.c.clients = clients

    def take_preferences(self, beta: Any) -> None:
        """One preference a client, as an array."""
        self.c.preference, held = self.array("beta", beta)
        self.c.clients = held.size
        if self.named_population and self.given["population"] != held.size:
            raise InputError(f"beta: {held.size} numbers for {self.given['population']:g} clients; give one a client")

    def count_clients(self, population: Any) -> int:
        if self.named_population:
            return int(self.given["population"])
        if population.spread == lib.MFPG_SPREAD_LIST:
            return int(population.count)
        if not self.finite:
            return 1 if population.spread == lib.MFPG_SPREAD_ALIKE else STAND_INS
        raise InputError("population: missing; players finite need a number of clients, or beta with one preference a client")

    def read_weights(self) -> None:
        weights = self.given["weights"]
        if weights is None:
            return
        if self.cost == "entropic" and (self.finite or self.named_population):
            raise InputError("weights: among N players cost entropic needs equal weights: with others the mean strength does "
                             "not determine the model; take players mean-field without population")
        if self.cost == "gaussian" and not self.finite and not self.named_population:
            raise InputError("weights: in the mean field of cost gaussian no client's weight counts; they do with players "
                             "finite, or with population")
        values = weights.split(",") if isinstance(weights, str) else weights
        self.c.weight, held = self.array("weights", values)
        if held.size != self.c.clients or not (np.isfinite(held).all() and (held >= 0).all()):
            raise InputError(f"weights: found {held.size} numbers for {self.c.clients} clients; allowed: one a client, from 0")

    def set_shared(self) -> None:
        """What all clients have alike."""
        c, given = self.c, self.given
        own = 0.5 * c.curvature * c.dimension * c.personalisation**2 * 2.0 * c.step if self.cost == "entropic" else 1.0

        def value(name: str, fallback: float) -> float:
            return fallback if given[name] is None else float(given[name])

        c.noise_unit_all = 2.0 * value("learning_rate", 0.01) * value("clip", 1.0)
        c.privacy_scale_all = value("privacy_scale", 1.0)
        c.own_cost_all = value("own_cost", own)
        c.skip_optimum = bool(given["no_optimum"])


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
    if game.named_population and not game.finite:
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
