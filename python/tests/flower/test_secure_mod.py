"""Secure sums through mod and strategy with real messages: the sum, who drops out when, what a site keeps, what it pays, and what it
refuses."""

import asyncio
import json
import math
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import mfpg

pytest.importorskip("flwr", reason="flwr is not installed (make flower)")

from flwr.app import Array, ArrayRecord, ConfigRecord, Message, RecordDict  # noqa: E402
from flwr.clientapp import ClientApp  # noqa: E402

from messages import LocalGrid, answer, arrays_of, ask, context, record  # noqa: E402
from mfpg.flower import Game, PrivacyMod, PrivacyStrategy, SecureSum  # noqa: E402
from mfpg.flower._secure_sum import Part  # noqa: E402
from mfpg.secure_sum import Identity  # noqa: E402

__all__ = ["Part"]  # for the process that is killed

NAMES = ("cleveland", "hungarian", "switzerland", "va")
ROWS = {"cleveland": 303, "hungarian": 261, "switzerland": 46, "va": 130}
MODEL = {"w": np.linspace(-1, 1, 11).astype(np.float32), "bias": np.zeros(2), "count": np.array([3])}
STEPS = ("report", "keys", "shares", "masked", "consistency", "opened")


def private(**options):
    return PrivacyMod(**{"clip": 1.0, "noise_multiplier": 2.0, "stop_at_epsilon": 50.0, "secure_sum": SecureSum(3), **options})


def request(step, message=b""):
    """What a server asks in one exchange, with the model."""
    content = {"arrays": record(MODEL), "mfpg": ConfigRecord({"mfpg-step": step, "mfpg-bytes": message})}
    return Message(RecordDict(content), dst_node_id=1, message_type="train")


def write_roster(folder, names=NAMES):
    """Key files of the sites, and the roster."""
    lines = []
    for name in names:
        identity = Identity.create()
        identity.save(folder / f"{name}.key")
        lines.append(f"{name} {identity.public_key}\n")
    (folder / "roster").write_text("".join(lines))


def learn(message, own):
    """Moves the model by what the site has to teach: its own direction."""
    arrays = {name: array.numpy() for name, array in message.content["arrays"].items()}
    moved = {name: array + (own.node_id * np.arange(1, array.size + 1)).reshape(array.shape).astype(array.dtype) / 100
             for name, array in arrays.items() if array.dtype.kind == "f"}
    return answer(message, {**arrays, **moved}, {"loss": 0.3})


class Sites:
    """Four sites, each with an app of its own."""

    def __init__(self, folder, names=NAMES, learn=learn, **options):
        write_roster(folder, names)
        self.folder, self.names, self.step_of = folder, names, {}
        self.contexts = {node: context(node=node, ledger=str(folder / name), roster=str(folder / "roster"),
                                       identity=str(folder / f"{name}.key"), **{"num-examples": ROWS.get(name, 100)})
                         for node, name in enumerate(names, 1)}
        self.mods = dict.fromkeys(self.contexts, private(**options))
        self.learn = learn
        self.silent = set()  # (step, node), which do not answer

    def app(self, node, message):
        if (message.content["mfpg"]["mfpg-step"], node) in self.silent:
            return None
        app = ClientApp()
        app.train(mods=[self.mods[node]])(self.learn)
        return app(message, self.contexts[node])

    def grid(self, nodes=None):
        return LocalGrid({node: lambda message, node=node: self.app(node, message) for node in nodes or self.contexts})

    def strategy(self, **options):
        settings = {"roster": self.folder / "roster", "timeout": 0.2, "attempts": 1, **options.pop("sum", {})}
        return PrivacyStrategy(secure_sum=SecureSum(options.pop("threshold", 3), **settings), min_train_nodes=3,
                               min_available_nodes=3, patience=1.0, **options)

    def lines(self, node):
        path = self.folder / self.names[node - 1]
        return mfpg.Ledger.read(path).releases if path.exists() else ()

    def kept(self, node):
        return (self.folder / f"{self.names[node - 1]}.sum").read_bytes().partition(b"\n")


@pytest.fixture
def sites(tmp_path):
    return Sites(tmp_path)


def one_round(strategy, grid, number=1, model=MODEL):
    assert strategy.configure_train(number, record(model), ConfigRecord(), grid) == []
    arrays, metrics = strategy.aggregate_train(number, [])
    return None if arrays is None else {name: array.numpy() for name, array in arrays.items()}, metrics


def noiseless(nodes):
    """The average of the clipped updates."""
    moves, weights = [], []
    for node in nodes:
        move = np.concatenate([node * np.arange(1, 3) / 100, node * np.arange(1, 12) / 100])
        moves.append(move * min(1, 1 / np.linalg.norm(move)))
        weights.append(list(ROWS.values())[node - 1])
    return np.average(moves, axis=0, weights=weights)


# ---- the sum ----


def test_the_model_moves_by_the_average_and_the_ledgers_say_so(tmp_path):
    sites = Sites(tmp_path, noise_multiplier=1e-3, stop_at_epsilon=1e9)
    arrays, metrics = one_round(sites.strategy(), sites.grid())
    moved = np.concatenate([arrays["bias"], arrays["w"] - MODEL["w"]])
    assert moved == pytest.approx(noiseless((1, 2, 3, 4)), abs=0.005)
    assert arrays["w"].dtype == np.float32 and arrays["bias"].dtype == np.float64 and arrays["count"].tolist() == [3]
    total = sum(ROWS.values())
    weights = [rows / total for rows in ROWS.values()]
    assert metrics["clients"] == 4 and metrics["mfpg-noise-sd"] == pytest.approx(1e-3 * np.linalg.norm(weights))
    for node, weight in enumerate(weights, 1):
        (line,) = sites.lines(node)
        release = line.release
        others = sorted(other for place, other in enumerate(weights, 1) if place != node)[:2]  # t - c - 1 of the smallest
        assert release.weight == pytest.approx(weight) and release.noise_sd == 1e-3
        assert release.last_sd == pytest.approx(1e-3 * np.linalg.norm([weight, *others]) / weight, rel=1e-9)
        assert (release.sum_round, release.attempt, release.members, release.threshold, release.colluders) == (1, 1, 4, 3, 0)
        account = mfpg.account(ledger=sites.folder / sites.names[node - 1])
        assert account.certificate and account.view == "average"


def test_the_server_sees_no_update(tmp_path):
    """Two runs of the same seed have the same shares, and what leaves is different in both."""
    sites, masked = Sites(tmp_path, seed=5), []
    for number in (1, 2):
        grid = sites.grid()
        one_round(sites.strategy(), grid)
        assert [message.content["mfpg"]["mfpg-step"] for message, _ in grid.seen[::4]] == list(STEPS)
        assert not any(reply.content.array_records for _, reply in grid.seen)
        numbers = [set(one) for _, reply in grid.seen for one in reply.content.metric_records.values()]
        assert numbers == [{"num-examples", "mfpg-clip", "mfpg-noise-sd"}] * 4  # in the reports alone, and no loss
        masked += [reply.content["mfpg"]["mfpg-bytes"] for _, reply in grid.seen[12:16]]
    assert len(masked) == len({one[40:] for one in masked}) == 8


def test_what_the_server_wrote_down_opens_no_update(sites, tmp_path):
    strategy, sites.silent = sites.strategy(sum={"transcript": tmp_path / "transcript"}), {("masked", 3)}
    for number in (1, 2):
        assert one_round(strategy, sites.grid(), number)[1]["clients"] == 3
    found = mfpg.audit_transcript(tmp_path / "transcript", seed_bits=8)
    assert found.stands and found.sums == 2 and found.ignored == 0
    assert {site.site: (site.vectors, site.opened) for site in found.sites} == {
        name: (0 if place == 2 else 2, 0) for place, name in enumerate(sites.names)}


@pytest.mark.parametrize("step", STEPS)
def test_one_site_may_drop_out_at_any_step(tmp_path, step):
    sites = Sites(tmp_path, noise_multiplier=1e-3, stop_at_epsilon=1e9)
    sites.silent = {(step, 3)}
    strategy = sites.strategy()
    arrays, metrics = one_round(strategy, sites.grid())
    inside = (1, 2, 3, 4) if step in ("consistency", "opened") else (1, 2, 4)
    assert np.concatenate([arrays["bias"], arrays["w"] - MODEL["w"]]) == pytest.approx(noiseless(inside), abs=0.005)
    assert metrics["clients"] == len(inside) and list(strategy.refusals[1]) == [node for node in (1, 2, 3, 4) if node not in inside]
    assert all("time-out" in why for why in strategy.refusals[1].values())
    assert len(sites.lines(3)) == (step in ("consistency", "opened"))
    assert len(sites.lines(1)) == 1
    sites.silent = set()
    assert one_round(strategy, sites.grid(), number=2)[1]["clients"] == 4
    assert strategy.refusals[2] == {}


@pytest.mark.parametrize("step", STEPS[1:])
def test_too_few_leave_the_model_as_it_is_and_a_repeated_sum_is_paid_again(sites, step):
    sites.silent = {(step, 3), (step, 4)}
    strategy = sites.strategy(sum={"attempts": 2})
    assert one_round(strategy, sites.grid()) == (None, None)
    charged = step in ("consistency", "opened") or (step == "masked")
    lines = [line.release for line in sites.lines(1)]
    assert [(one.sum_round, one.attempt) for one in lines] == ([(1, 1), (1, 2)] if charged else [])
    sites.silent = set()
    assert one_round(strategy, sites.grid(), number=2)[1]["clients"] == 4


def test_a_second_attempt_can_succeed(sites):
    failed = []

    def flaky(message, node):
        step = message.content["mfpg"]["mfpg-step"]
        if step == "consistency" and node > 2 and len(failed) < 2:
            failed.append(node)
            return None
        return sites.app(node, message)

    grid = LocalGrid({node: lambda message, node=node: flaky(message, node) for node in sites.contexts})
    strategy = sites.strategy(sum={"attempts": 2})
    assert one_round(strategy, grid)[1]["clients"] == 4 and strategy.refusals[1] == {}
    assert [line.release.attempt for line in sites.lines(1)] == [1, 2]


# ---- what a site keeps ----


def test_what_is_kept_is_private_and_gone_at_the_end(sites):
    modes, sizes = [], []

    def watch(message, node):
        reply = sites.app(node, message)
        path = sites.folder / f"{sites.names[node - 1]}.sum"
        if path.exists():
            modes.append(path.stat().st_mode & 0o777)
            sizes.append(len(sites.kept(node)[2]))
        return reply

    one_round(sites.strategy(), LocalGrid({node: lambda message, node=node: watch(message, node) for node in sites.contexts}))
    assert set(modes) == {0o600} and all(sizes[:16]) and sizes[16:] == [0, 0, 0, 0]
    assert not list(sites.folder.glob("*.new"))
    notes = json.loads(sites.kept(1)[0])
    assert notes["step"] == "opened" and notes["sum"][1:] == [1, 1]


def test_messages_are_answered_one_after_the_other(sites):
    """A process that still trains writes its state before the next attempt begins."""
    order, may_end = [], threading.Event()

    def slow(message, own):
        if own.node_id == 1:
            may_end.wait(20)
            order.append("trained")
        return learn(message, own)

    first = recorded(sites, "masked")
    sites.learn = slow
    training = threading.Thread(target=lambda: order.append(sites.app(1, first).has_error()))
    training.start()
    while not sites.lines(1):
        time.sleep(0.01)
    second = threading.Thread(target=lambda: order.append(recorded(sites, "shares").content["mfpg"]["mfpg-step"]))
    second.start()
    second.join(1)
    assert second.is_alive() and order == []
    may_end.set()
    training.join()
    second.join()
    assert order == ["trained", False, "shares"] and json.loads(sites.kept(1)[0])["step"] == "keys" and sites.kept(1)[2]


def test_state_does_not_travel_in_messages(sites):
    grid = sites.grid()
    one_round(sites.strategy(), grid)
    for own in sites.contexts.values():
        assert set(own.state) == {"mfpg"} and set(own.state["mfpg"]) == {"lines", "chain"}


@pytest.mark.parametrize("said", STEPS[2:])
def test_a_step_is_the_one_that_is_next(sites, said):
    """Whatever the server calls a message: what is checked before a vector leaves does not hang on that."""
    message = recorded(sites, "masked")
    if said != "masked":
        message.content["mfpg"]["mfpg-step"] = said
        assert "does not follow step 'shares'" in refused(sites.app(1, message))
    assert sites.app(1, message).has_error() is (said != "masked") and len(sites.lines(1)) == (said == "masked")


# ---- again, after it was charged ----


def recorded(sites, step, node=1):
    """The message of that step to a node, in a round in which the node was asked no further."""
    kept = []

    def stop(message):
        if message.content["mfpg"]["mfpg-step"] == step:
            kept.append(message)
            return None
        return sites.app(node, message)

    grid = sites.grid()
    grid.nodes[node] = stop
    one_round(sites.strategy(), grid)
    return kept[0]


def refused(reply):
    assert reply.has_error()
    return reply.error.reason


@pytest.mark.parametrize("step", STEPS[1:])
def test_a_message_is_answered_once(sites, step):
    message = recorded(sites, step)
    assert not sites.app(1, message).has_error()
    before = sites.lines(1)
    refused(sites.app(1, message))
    assert sites.lines(1) == before
    refused(sites.app(1, message))  # and the sum is over


def test_what_was_charged_is_refused_for_ever(sites, tmp_path):
    """Also from a state that somebody has put back."""
    message = recorded(sites, "masked")
    path = tmp_path / "cleveland.sum"
    before = path.read_bytes()
    assert not sites.app(1, message).has_error() and len(sites.lines(1)) == 1
    path.write_bytes(before)
    refused(sites.app(1, message))
    assert len(sites.lines(1)) == 1


PROCESS = """
import json, os, pathlib, signal, sys
sys.path[:0] = json.loads(sys.argv[1])
import messages, test_secure_mod as tests
folder, when = pathlib.Path(sys.argv[2]), sys.argv[3]
sites = tests.Sites.__new__(tests.Sites)
sites.mods, sites.silent, sites.learn = {1: tests.private()}, set(), tests.learn
sites.contexts = {1: messages.context(node=1, **json.loads((folder / "config").read_text()))}
die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
if when == "while it trains":
    sites.learn = die
elif when == "before the state is written":
    tests.Part.keep = die
elif when == "in the middle of the state":
    os.replace = die
elif when == "before the answer leaves":
    keep = tests.Part.keep
    tests.Part.keep = lambda *all: (keep(*all), die())
sites.app(1, tests.request((folder / "step").read_text(), (folder / "message").read_bytes()))
"""


MOMENTS = [(step, when) for step in STEPS[1:] for when in ("before the state is written", "in the middle of the state",
                                                           "before the answer leaves")] + [("masked", "while it trains")]


@pytest.mark.parametrize("step, when", MOMENTS)
def test_killed_at_any_moment(sites, tmp_path, step, when):
    """A new process refuses what was charged, and never answers one message twice."""
    message = recorded(sites, step)
    (tmp_path / "step").write_text(step)
    (tmp_path / "message").write_bytes(message.content["mfpg"]["mfpg-bytes"])
    (tmp_path / "config").write_text(json.dumps(sites.contexts[1].node_config))
    paths = [str(pathlib.Path(__file__).parent), *sys.path]
    done = subprocess.run([sys.executable, "-c", PROCESS, json.dumps(paths), tmp_path, when], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    charged = len(sites.lines(1))
    assert charged == (step in ("masked", "consistency", "opened"))
    reply = sites.app(1, message)
    if step == "masked" or when == "before the answer leaves":
        refused(reply)
    assert len(sites.lines(1)) == charged  # never charged twice for one attempt
    again = sites.strategy()
    assert one_round(again, sites.grid(), number=1)[1]["clients"] == 4  # a new run goes on
    assert len(sites.lines(1)) == charged + 1


# ---- games, budgets ----


def test_the_game_goes_on_as_before(tmp_path):
    sites = Sites(tmp_path, game=Game(interaction=0.4), noise_multiplier=None, stop_at_epsilon=1e4)
    for node, own in sites.contexts.items():
        own.node_config["beta"] = [0.2, 0.9, 1.7, 3.1][node - 1]
    grid = [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0]
    solved = mfpg.solve(cost="interaction", players="mean-field", beta=[0.2, 0.9, 1.7, 3.1], actions=grid, interaction=0.4)
    strategy = sites.strategy(grid=grid, mean_field=3.0)
    for number in range(1, 7):
        _, metrics = one_round(strategy, sites.grid(), number=number)
        assert metrics["clients"] == 4
    assert strategy.mean_field == pytest.approx(solved.mean_action, rel=1e-12)
    assert [sites.lines(node)[-1].release.action for node in sites.contexts] == solved.actions.tolist()
    for name in sites.names:
        account = mfpg.account(ledger=tmp_path / name)
        assert account.certificate and account.epsilon <= 1e4


class Asked:
    """The reports of a site that plays, to announcements of a server's choice."""

    def __init__(self, folder):
        self.sites = Sites(folder, game=Game(), noise_multiplier=None)
        for own in self.sites.contexts.values():
            own.node_config["beta"] = 1.2345678

    def ask(self, grid, mean=0.0, run=1):
        self.sites.contexts[1].run_id = run
        message = request("report")
        message.content["game"] = ConfigRecord({"mfpg-grid": grid, "mfpg-mean": mean})
        return self.sites.app(1, message)

    def action(self, *arguments, **options):
        return self.ask(*arguments, **options).content["metrics"]["mfpg-action"]


def test_the_preference_is_not_read_by_reports_alone(tmp_path):
    """Bisection of beta by pairs of neighbouring actions."""
    server, low, high, answered = Asked(tmp_path), 1e-3, 1e3, 0
    for run in range(40):
        middle = math.sqrt(low * high)
        reply = server.ask([middle * (1 - 1e-9), middle * (1 + 1e-9)], run=run)
        if not reply.has_error():
            answered += 1
            low, high = (middle, high) if reply.content["metrics"]["mfpg-action"] > middle else (low, middle)
    assert answered == 3 and high / low == pytest.approx(1e6 ** (1 / 8)) and server.sites.lines(1) == ()


def test_reports_between_two_releases(tmp_path):
    server, grid = Asked(tmp_path), [0.125, 0.25, 0.5, 1.0]
    server.sites.mods[1].game = Game(interaction=5.0)
    free = [server.sites.mods[1].game.best_response(1.2345678, grid, mean)[1] for mean in (0.0, 0.3, 3.0, 30.0)]
    assert len(set(free)) == 4
    assert [server.action(grid, mean) for mean in (0.0, 0.0, 0.3, 3.0, 3.0)] == [free[i] for i in (0, 0, 1, 2, 2)]
    assert [server.action(grid, mean, run) for run, mean in ((1, 30.0), (1, 0.0), (2, 30.0))] == [free[2]] * 3  # and no more
    assert "another one than before in this run" in refused(server.ask([0.5, 1.0]))
    assert "after the next release" in refused(server.ask([0.5, 1.0], run=2))
    (tmp_path / "cleveland.sum").unlink()  # the site's own decision
    assert server.action(grid, 30.0) == free[3]


def test_a_release_pays_for_the_next_reports(tmp_path):
    server, grid = Asked(tmp_path), [0.25, 0.5, 1.0, 2.0]
    strategy = server.sites.strategy(grid=grid)
    for number in range(1, 5):
        for mean in (10.0 * number, 10.0 * number + 1):
            server.action(grid, mean)
        assert json.loads(server.sites.kept(1)[0])["report"]["unpaid"] == 2
        assert one_round(strategy, server.sites.grid(), number)[1]["clients"] == 4
        report = json.loads(server.sites.kept(1)[0])["report"]
        assert report["unpaid"] == 0 and len(server.sites.lines(1)) == number


def test_terms_do_not_ask_for_the_preference(tmp_path):
    """The noise of a sum is the one that was reported, whatever is announced with the terms."""
    server = Asked(tmp_path)
    assert "has not reported" in refused(server.sites.app(1, request("keys")))
    strategy = server.sites.strategy(grid=[0.25, 4.0])
    grid = server.sites.grid()

    def announce(message):
        if message.content["mfpg"]["mfpg-step"] == "keys":
            for one in message.content.config_records.values():
                if "mfpg-grid" in one:
                    one["mfpg-grid"] = [0.01]
        return server.sites.app(1, message)

    grid.nodes[1] = announce
    assert one_round(strategy, grid)[1]["clients"] == 4
    assert server.sites.lines(1)[0].release.action in (0.25, 4.0)


def test_a_site_without_budget_refuses_before_anything_is_charged_and_the_others_go_on(sites):
    sites.contexts[4].node_config["epsilon"] = 0.01
    strategy = sites.strategy()
    assert one_round(strategy, sites.grid())[1]["clients"] == 3
    assert "budget of this client is spent" in strategy.refusals[1][4] and sites.lines(4) == ()


def test_noise_that_the_server_chose_later_is_within_the_budget_and_no_more_is_certified(sites):
    """The noise that protects a share follows from weights, which the server may choose after the sums before."""
    strategy = sites.strategy()
    assert one_round(strategy, sites.grid())[1]["clients"] == 4
    sites.contexts[1].node_config["num-examples"] *= 100
    assert one_round(strategy, sites.grid(), number=2)[1]["clients"] == 4
    first, second = (line.release.last_sd for line in sites.lines(1))
    assert second < first
    with mfpg.Ledger.open(sites.folder / "cleveland") as ledger:
        assert ledger.header.filter == "gdp" and ledger.spending().epsilon == pytest.approx(50.0)
        assert 0 < ledger.spending().spent < 10


# ---- what is refused, by whom ----


def test_a_site_with_another_roster(sites, tmp_path, caplog):
    (tmp_path / "other").mkdir()
    write_roster(tmp_path / "other", NAMES[:3])
    lines = (tmp_path / "other/roster").read_text() + (tmp_path / "roster").read_text().splitlines()[3]
    (tmp_path / "other/roster").write_text(lines)
    sites.contexts[4].node_config["roster"] = str(tmp_path / "other/roster")
    strategy = sites.strategy()
    assert one_round(strategy, sites.grid())[1]["clients"] == 3 and list(strategy.refusals[1]) == [4]
    assert sites.lines(4) == ()
    assert "roster" in " ".join(line.getMessage() for line in caplog.records if "nothing was sent" in line.getMessage())


def test_a_server_of_another_version(sites, caplog):
    def newer(message):
        content = message.content["mfpg"]
        if content["mfpg-step"] == "keys":
            content["mfpg-bytes"] = content["mfpg-bytes"][:4] + b"\2" + content["mfpg-bytes"][5:]
        return sites.app(4, message)

    grid = sites.grid()
    grid.nodes[4] = newer
    assert one_round(sites.strategy(), grid)[1]["clients"] == 3 and sites.lines(4) == ()
    (line,) = [line.getMessage() for line in caplog.records if "nothing was sent" in line.getMessage()]
    assert "has version 2 of the secure sum, and this program has version 1" in line


@pytest.mark.parametrize("spoil, words", [
    (lambda folder: (folder / "va.key").chmod(0o644), "va.key"),
    (lambda folder: (folder / "va.key").unlink(), "va.key"),
    (lambda folder: (folder / "roster.va").write_text((folder / "roster").read_text() + "again " +
                                                      (folder / "roster").read_text().split()[1]), "roster.va:5"),
    (lambda folder: (folder / "roster.va").write_text("what else"), "roster.va:1"),
])
def test_files_of_a_site_that_are_wrong(sites, tmp_path, caplog, spoil, words):
    spoil(tmp_path)
    if (tmp_path / "roster.va").exists():
        sites.contexts[4].node_config["roster"] = str(tmp_path / "roster.va")
    strategy = sites.strategy()
    assert one_round(strategy, sites.grid())[1]["clients"] == 3 and list(strategy.refusals[1]) == [4] and sites.lines(4) == ()
    lines = [line.getMessage() for line in caplog.records if "nothing was sent" in line.getMessage()]
    assert len(lines) == 1 and words in lines[0]
    assert str(tmp_path) not in strategy.refusals[1][4]  # paths stay in the site's log


def test_a_ledger_whose_folder_is_missing(sites, tmp_path, caplog):
    sites.contexts[4].node_config["ledger"] = str(tmp_path / "none/va")
    strategy = sites.strategy()
    assert one_round(strategy, sites.grid())[1]["clients"] == 3 and list(strategy.refusals[1]) == [4]
    (line,) = [line.getMessage() for line in caplog.records if "nothing was sent" in line.getMessage()]
    assert "none/va" in line and "none" not in strategy.refusals[1][4]


def test_two_sites_with_one_identity(sites, tmp_path):
    sites.contexts[3].node_config["identity"] = sites.contexts[4].node_config["identity"]
    strategy = sites.strategy()
    assert one_round(strategy, sites.grid()) == (None, None)  # two are left, and a sum takes three
    assert sorted(strategy.refusals[1]) == [3, 4] and "several nodes say that they are site 'va'" in strategy.refusals[1][3]
    assert not any(sites.lines(node) for node in (1, 2, 3, 4))


def test_thresholds_that_do_not_agree_or_protect_nothing(tmp_path):
    sites = Sites(tmp_path)
    strategy = sites.strategy(threshold=4)  # the sites demand 3
    assert one_round(strategy, sites.grid()) == (None, None) and sorted(strategy.refusals[1]) == [1, 2, 3, 4]
    low = sites.strategy(threshold=2)
    assert one_round(low, sites.grid()) == (None, None) and not any(sites.lines(node) for node in sites.contexts)
    for options in ({"threshold": 1}, {"threshold": 3.5}, {"threshold": 3, "colluders": -1}, {"threshold": 3, "timeout": 0},
                    {"threshold": 3, "attempts": 0}):
        with pytest.raises(mfpg.InputError):
            SecureSum(**options)


def test_settings_that_do_not_go_together(tmp_path):
    sites = Sites(tmp_path)
    for options in ({"public_metrics": ["loss"]}, {"public_arrays": ["count"]}):
        with pytest.raises(mfpg.InputError, match="secure_sum"):
            PrivacyMod(noise_multiplier=1.0, secure_sum=SecureSum(3), **options)
    with pytest.raises(mfpg.InputError, match="roster"):
        PrivacyStrategy(secure_sum=SecureSum(3))
    with pytest.raises(mfpg.InputError, match="fraction_train"):
        sites.strategy(fraction_train=0.5)
    for own, words in ((context(ledger=str(tmp_path / "l"), roster=str(tmp_path / "roster")), "no identity"),
                       (context(ledger=str(tmp_path / "l"), identity=str(tmp_path / "va.key")), "no roster")):
        sites.contexts[1] = own
        reply = sites.app(1, request("report"))
        assert words in refused(reply)


def test_apps_and_servers_that_do_not_fit(sites, tmp_path):
    plain = PrivacyMod(clip=1.0, noise_multiplier=2.0, stop_at_epsilon=50.0, ledger=str(tmp_path / "plain"))
    asked = request("report")
    assert "this app has none" in refused(plain(asked, context(), learn))
    assert "secure sums only" in refused(sites.mods[1](ask(MODEL), sites.contexts[1], learn))
    assert "no step" in refused(sites.app(1, request("vote")))
    for step in STEPS[2:]:
        assert "no secure sum is under way" in refused(sites.app(1, request(step)))
    assert "not noised" in refused(sites.mods[1](ask(MODEL, kind="evaluate"), sites.contexts[1], learn))
    assert sites.lines(1) == ()


@pytest.mark.parametrize("step, message", [(step, message) for step in STEPS for message in (None, 10**12, 3.0, "text", [b"one"])] +
                         [(step, b"") for step in (5, 1.5, ["keys"], b"keys", "../../keys", "done")])
def test_requests_of_other_types_are_refused(sites, step, message):
    content = {"mfpg-step": step} if message is None else {"mfpg-step": step, "mfpg-bytes": message}
    asked = Message(RecordDict({"arrays": record(MODEL), "mfpg": ConfigRecord(content)}), dst_node_id=1, message_type="train")
    app = ClientApp()
    app.train(mods=[sites.mods[1]])(learn)
    assert ("mfpg-step" if message == b"" else "mfpg-bytes") in refused(app(asked, sites.contexts[1]))
    assert not (sites.folder / "cleveland").exists() and not list(sites.folder.glob("*.sum"))


def test_a_report_of_another_type_is_left_out(sites):
    grid = sites.grid()
    for node, (name, value) in {3: ("mfpg-action", [1.0]), 4: ("mfpg-noise-sd", [2.0])}.items():
        def odd(message, node=node, name=name, value=value):
            reply = sites.app(node, message)
            for metrics in reply.content.metric_records.values():
                metrics[name] = value
            return reply
        grid.nodes[node] = odd
    strategy = sites.strategy()
    assert one_round(strategy, grid) == (None, None) and sorted(strategy.refusals[1]) == [3, 4]


def test_the_mod_must_be_the_first(sites):
    def other(message, own, call_next):
        return call_next(message, own)

    app = ClientApp(mods=[other])
    app.train(mods=[sites.mods[1]])(learn)
    asked = request("report")
    assert "must be the first" in refused(app(asked, sites.contexts[1]))
    app = ClientApp()
    app.train(mods=[sites.mods[1], other])(learn)
    assert not app(asked, sites.contexts[1]).has_error()


def test_a_model_that_the_terms_are_not_about(sites, monkeypatch):
    """Found before the memory for the terms' dimension is taken."""
    message = recorded(sites, "masked")
    monkeypatch.setattr("mfpg.flower._mod.Client.answer", lambda *_: pytest.fail("it was answered"))
    for arrays in (None, ArrayRecord({"w": Array(np.zeros(5, np.float32))})):
        path = sites.folder / "cleveland.sum"
        before = path.read_bytes()
        if arrays is None:
            del message.content["arrays"]
        else:
            message.content["arrays"] = arrays
        refused(sites.app(1, message))
        path.write_bytes(before)
    assert sites.lines(1) == ()


@pytest.mark.parametrize("problem", [SystemExit("row 7"), KeyboardInterrupt(), asyncio.CancelledError(), GeneratorExit(), MemoryError()])
def test_training_that_fails_counts_as_an_update_of_zeros(tmp_path, problem, caplog):
    def breaks(message, own):
        raise problem

    sites = Sites(tmp_path, learn=breaks, noise_multiplier=1e-3, stop_at_epsilon=1e9)
    arrays, metrics = one_round(sites.strategy(), sites.grid())
    assert metrics["clients"] == 4 and np.abs(arrays["w"] - MODEL["w"]).max() < 0.005
    assert all(len(sites.lines(node)) == 1 for node in sites.contexts)
    plain = PrivacyMod(clip=1.0, noise_multiplier=1e-3, stop_at_epsilon=1e9, ledger=str(tmp_path / "plain"))
    assert np.abs(arrays_of(plain(ask(MODEL), context(), breaks))["w"] - MODEL["w"]).max() < 0.005
    told = [line.getMessage() for line in caplog.records if "training gave no update" in line.getMessage()]
    assert len(told) == 5 and all(type(problem).__name__ in line for line in told)
