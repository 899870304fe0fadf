"""PrivacyStrategy with real messages: weights, the mean field, and clients that refuse or stay away."""

import math

import numpy as np
import pytest

import mfpg

pytest.importorskip("flwr", reason="flwr is not installed (make flower)")

from flwr.app import ConfigRecord, Error, Message, MetricRecord, RecordDict  # noqa: E402

from messages import context, record  # noqa: E402
from mfpg.flower import Game, PrivacyMod, PrivacyStrategy  # noqa: E402

MODEL = {"w": np.zeros(3, np.float32), "count": np.array([2])}


class Nodes:
    """The part of a Grid that a strategy asks."""

    def __init__(self, *nodes):
        self.nodes = nodes

    def get_node_ids(self):
        return list(self.nodes)


def asked(strategy, *nodes, server_round=1, model=MODEL):
    messages = strategy.configure_train(server_round, record(model), ConfigRecord(), Nodes(*nodes))
    return {message.metadata.dst_node_id: message for message in messages}


def sends(message, w, examples, count=2, **metrics):
    arrays = {"w": np.full(3, w, np.float32), "count": np.array([count])}
    numbers = MetricRecord({"num-examples": examples, **{f"mfpg-{name}": value for name, value in metrics.items()}})
    return Message(RecordDict({"arrays": record(arrays), "metrics": numbers}), reply_to=message)


def test_the_model_is_weighted_by_examples_and_the_mean_field_is_not():
    strategy = PrivacyStrategy(grid=[0.5, 1.0, 2.0], mean_field=1.0)
    out = asked(strategy, 1, 2)
    for message in out.values():
        config = message.content["config"]
        assert (config["mfpg-grid"], config["mfpg-mean"], config["server-round"]) == ([0.5, 1.0, 2.0], 1.0, 1)
    arrays, metrics = strategy.aggregate_train(1, [
        sends(out[1], 1.0, 90, count=4, action=0.5, **{"noise-sd": 3.0}),
        sends(out[2], 2.0, 10, count=8, action=2.0, **{"noise-sd": 4.0})])
    # by hand: 0.9 + 0.2; counts 4.4, rounded; the mean of actions 1/2 each; noise sqrt(2.7^2 + 0.4^2), not /2
    assert arrays["w"].numpy() == pytest.approx(np.full(3, 1.1)) and arrays["w"].numpy().dtype == np.float32
    assert arrays["count"].numpy().tolist() == [4] and arrays["count"].numpy().dtype == MODEL["count"].dtype
    assert strategy.mean_field == metrics["mfpg-mean"] == 1.25
    assert metrics["mfpg-noise-sd"] == pytest.approx(math.hypot(2.7, 0.4)) and metrics["clients"] == 2
    assert asked(strategy, 1, 2, server_round=2)[1].content["config"]["mfpg-mean"] == 1.25


def test_equal_weights_and_damping():
    strategy = PrivacyStrategy(grid=[1.0, 3.0], mean_field=1.0, weights="equal", damping=0.25)
    out = asked(strategy, 1, 2)
    arrays, _ = strategy.aggregate_train(1, [sends(out[1], 1.0, 90, action=3.0), sends(out[2], 2.0, 10, action=3.0)])
    assert arrays["w"].numpy() == pytest.approx(np.full(3, 1.5)) and strategy.mean_field == 1.5
    out = asked(strategy, 1, 2)  # an action that is not of the grid moves nothing
    strategy.aggregate_train(2, [sends(out[1], 1.0, 1, action=1e9), sends(out[2], 2.0, 1)])
    assert strategy.mean_field == 1.5


def test_whoever_refuses_or_misbehaves_is_left_out_by_name():
    strategy = PrivacyStrategy()
    out = asked(strategy, *range(1, 9))
    other = Message(RecordDict({"arrays": record({"w": np.zeros(4, np.float32)}),
                                "metrics": MetricRecord({"num-examples": 1})}), reply_to=out[3])
    replies = [sends(out[1], 1.0, 30), Message(Error(code=6, reason="mfpg: the privacy budget of this client is spent"),
                                               reply_to=out[2]), other, sends(out[4], np.nan, 5), sends(out[5], 1.0, -5),
               sends(out[6], 1.0, math.nan), sends(out[8], 4.0, 10)]
    arrays, metrics = strategy.aggregate_train(1, replies)
    assert arrays["w"].numpy() == pytest.approx(np.full(3, 0.75 + 1.0)) and metrics["clients"] == 2
    why = strategy.refusals[1]
    assert sorted(why) == [2, 3, 4, 5, 6, 7]
    for node, words in ((2, "budget"), (3, "in one of them only"), (4, "not finite"), (5, "weight"), (6, "weight"),
                        (7, "no reply within the time-out")):
        assert words in why[node]
    assert strategy.aggregate_train(2, []) == (None, None)  # the model stays, and the run goes on


def test_waiting_ends_and_says_who_is_missing():
    strategy = PrivacyStrategy(patience=0.0)
    asked(strategy, 11, 12)
    with pytest.raises(RuntimeError, match="round 2: 1 of the 2 nodes needed .* now missing: 12"):
        asked(strategy, 11, server_round=2)


def test_settings_that_mean_nothing_are_refused():
    for options in ({"grid": [2.0, 1.0]}, {"grid": []}, {"grid": [math.nan]}, {"mean_field": 1.0}, {"damping": 2.0},
                    {"grid": [1.0], "damping": 0.0}, {"weights": "many"}, {"patience": -1.0}):
        with pytest.raises(mfpg.Error):
            PrivacyStrategy(**options)


def test_mod_and_strategy_reach_the_equilibrium_of_the_game(tmp_path):
    """Best responses to an announced mean, and the mean of the responses, settle where mfpg.solve has its fixed point."""
    betas, grid, zeta = [0.2, 0.9, 1.7, 3.1, 5.0], [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0], 0.4
    solved = mfpg.solve(cost="interaction", players="mean-field", beta=betas, actions=grid, interaction=zeta)
    assert not solved.mixing
    strategy = PrivacyStrategy(grid=grid, mean_field=3.0, min_train_nodes=5)
    private = PrivacyMod(game=Game(interaction=zeta), stop_at_epsilon=1e4)
    sites = {node: context(node=node, beta=beta, ledger=str(tmp_path / f"{node}")) for node, beta in enumerate(betas, 1)}
    for server_round in range(1, 9):
        out = asked(strategy, *sites, server_round=server_round)
        replies = [private(message, sites[node], lambda m, _: sends(m, 1.0, 10)) for node, message in out.items()]
        assert not any(reply.has_error() for reply in replies)
        strategy.aggregate_train(server_round, replies)
    assert strategy.mean_field == pytest.approx(solved.mean_action, rel=1e-12)
    assert [mfpg.Ledger.read(tmp_path / f"{node}").releases[-1].release.action for node in sites] == solved.actions.tolist()
