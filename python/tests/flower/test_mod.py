"""PrivacyMod with real messages: what leaves, what is refused, and what it costs across rounds, runs and crashes."""

import math

import numpy as np
import pytest

import mfpg

pytest.importorskip("flwr", reason="flwr is not installed (make flower)")

from flwr.app import ConfigRecord, Error, Message, RecordDict  # noqa: E402

from messages import answer, arrays_of, ask, context, record  # noqa: E402
from mfpg.flower import Game, PrivacyMod  # noqa: E402

MODEL = {"a": np.zeros((1, 2), np.float32), "b": np.zeros(2), "count": np.array([3])}


@pytest.fixture
def ledger(tmp_path):
    return str(tmp_path / "site.ledger")


def mod(**options):
    return PrivacyMod(**{"clip": 1.0, "noise_multiplier": 1e-4, "stop_at_epsilon": 1e12, **options})


def train(learnt, metrics=None):
    """A client app that learns this."""
    return lambda message, _: answer(message, learnt, metrics)


def reason(reply):
    assert reply.has_error() and not reply.has_content()
    return reply.error.reason


def test_one_norm_over_all_arrays_and_whole_numbers_stay_unless_public(ledger):
    # the update has norms 3 and 4, jointly 5; noise of 1e-4 is far below the differences
    start = {"a": np.full((1, 2), 10, np.float32), "b": np.full(2, -10.0), "count": np.array([3])}
    learnt = {"a": start["a"] + np.array([[3, 0]], np.float32), "b": start["b"] + [0, 4], "count": np.array([9])}
    found = arrays_of(mod()(ask(start), context(ledger=ledger), train(learnt)))
    assert found["a"] == pytest.approx(np.array([[10.6, 10]]), abs=1e-3) and found["a"].dtype == np.float32
    assert found["b"] == pytest.approx(np.array([-10, -9.2]), abs=1e-3) and found["b"].dtype == np.float64
    assert found["count"].tolist() == [3] and found["count"].dtype == np.array([3]).dtype
    found = arrays_of(mod(public_arrays=["count"])(ask(start), context(ledger=ledger), train(learnt)))
    assert found["count"].tolist() == [9]


def test_zero_stays_zero_but_for_the_noise(ledger):
    model = {"w": np.zeros(100_000, np.float32)}
    found = arrays_of(mod(noise_multiplier=2.0, seed=5)(ask(model), context(ledger=ledger), train(model)))["w"]
    assert abs(found.mean()) < 5 * 2 / math.sqrt(1e5) and abs(found.std() / 2 - 1) < 5 / math.sqrt(2e5)  # five standard errors


def test_randomness_is_the_systems_unless_seeded(ledger, tmp_path):
    def sent(path, **options):
        return arrays_of(mod(noise_multiplier=1.0, **options)(ask(MODEL), context(ledger=path), train(MODEL)))["b"].tolist()

    assert sent(ledger) != sent(ledger)
    one, other = str(tmp_path / "one"), str(tmp_path / "other")
    assert sent(one, seed=4) == sent(other, seed=4) != sent(other, seed=4)  # the second round of a ledger is another
    assert mfpg.Ledger.read(one).header.seeded and not mfpg.Ledger.read(ledger).header.seeded


def two_records(message, _):
    return Message(RecordDict({"x": record(MODEL), "y": record(MODEL)}), reply_to=message)


def raises(message, _):
    raise ValueError("could not convert 'patient 4711'")


def leaves(message, _):
    raise SystemExit("patient 4711")


def replies_with_an_error(message, _):
    return Message(Error(code=2, reason="patient 4711"), reply_to=message)


def replies_nothing(message, _):
    return None


@pytest.mark.parametrize("app", [
    *(train({**MODEL, "b": np.array([0, bad])}) for bad in (np.nan, np.inf, -np.inf)),
    train({"a": MODEL["a"], "b": MODEL["b"]}), train({**MODEL, "more": np.zeros(1)}), train({**MODEL, "b": np.zeros(3)}),
    train({**MODEL, "b": np.zeros(2, np.float32)}), train({**MODEL, "count": np.array([1.5])}),
    two_records, raises, leaves, replies_with_an_error, replies_nothing])
def test_whatever_training_does_is_answered_by_noise_and_charged(tmp_path, app, caplog):
    """The reply and the ledger are, to the last bit, those of a client that has learnt nothing."""
    def sent(name, app):
        where = context(ledger=str(tmp_path / name))
        reply = mod(noise_multiplier=4.0, seed=5, public_metrics=["loss"])(ask(MODEL), where, app)
        assert not reply.has_error()
        lines = [line.release for line in mfpg.Ledger.read(tmp_path / name).releases]
        assert len(lines) == 1
        return {name: array.tobytes() for name, array in arrays_of(reply).items()}, dict(reply.content["metrics"]), lines, \
            sorted(reply.content.keys())

    assert sent("bad", app) == sent("zero", train(MODEL))


def test_what_went_wrong_is_in_the_sites_log(ledger, monkeypatch):
    told = []
    monkeypatch.setattr("mfpg.flower._mod.log", lambda _, words, *values: told.append(words % values))
    arrays_of(mod()(ask(MODEL), context(ledger=ledger), raises))
    assert any("ValueError: could not convert 'patient 4711'" in line for line in told)
    arrays_of(mod()(ask(MODEL), context(ledger=ledger), train({**MODEL, "b": np.zeros(3)})))
    assert any(r"float64 of shape (3,)" in line for line in told)


def test_models_that_cannot_be_made_private_are_refused_before_training(ledger, tmp_path):
    def never(message, _):
        raise AssertionError("trained")

    where = context(ledger=ledger)
    content = RecordDict({"x": record(MODEL), "y": record(MODEL)})
    assert "2 ArrayRecords" in reason(mod()(Message(content, dst_node_id=7, message_type="train"), where, never))
    assert "no floating-point number" in reason(mod()(ask({"count": np.array([3])}), where, never))
    assert "'w' of the model is float16" in reason(mod()(ask({"w": np.zeros(2, np.float16)}), where, never))
    for kind in ("evaluate", "query"):
        assert "not noised" in reason(mod()(ask(MODEL, kind=kind), where, never))
    assert list(tmp_path.iterdir()) == []


def test_a_release_is_charged_before_training(ledger):
    charged = []

    def app(message, _):
        charged.append(len(mfpg.Ledger.read(ledger).releases))
        raise KeyboardInterrupt

    arrays_of(mod()(ask(MODEL), context(ledger=ledger), app))  # silence would tell of data
    assert charged == [1] and len(mfpg.Ledger.read(ledger).releases) == 1


def test_the_number_of_examples_is_the_declared_one(ledger):
    def sent(options, **site):
        reply = mod(**options)(ask(MODEL), context(ledger=ledger, **site), train(MODEL))  # the app counts 10
        return reply.content["metrics"]["num-examples"]

    assert sent({}) == 1
    assert sent({"num_examples": 300}) == 300
    assert sent({"num_examples": 300}, **{"num-examples": 261}) == 261
    assert sent({"public_metrics": ["num-examples"]}) == 10  # let through on demand
    text = reason(mod()(ask(MODEL), context(ledger=ledger, **{"num-examples": 0}), train(MODEL)))
    assert "cannot be made private" in text


def test_only_public_metrics_and_no_other_record_leave(ledger):
    def app(message, _):
        reply = answer(message, MODEL, {"loss": 0.25, "epochs": 2})
        reply.content["notes"] = ConfigRecord({"patient": "secret"})
        return reply

    reply = mod(public_metrics=["epochs"])(ask(MODEL), context(ledger=ledger), app)
    assert sorted(reply.content.keys()) == ["arrays", "metrics"]
    assert dict(reply.content["metrics"]) == {"num-examples": 1, "epochs": 2, "mfpg-noise-sd": pytest.approx(1e-4)}


def test_once_a_run_the_site_is_told_where_its_certificate_is(ledger, monkeypatch):
    told = []
    monkeypatch.setattr("mfpg.flower._mod.log", lambda _, words, *values: told.append(words % values))
    private, where = mod(), context(ledger=ledger)
    for _ in range(2):
        arrays_of(private(ask(MODEL), where, train(MODEL)))
    assert len([line for line in told if f"mfpg account --ledger {ledger}" in line and "was fixed beforehand" in line]) == 1
    assert all(line.release.grid > 0 for line in mfpg.Ledger.read(ledger).releases)
    assert not any("rounding of floating-point noise" in line for line in mfpg.account(ledger=ledger).assumptions)


def test_stops_before_overspending_and_trains_for_nothing(ledger):
    limit, trained = 2.0, []
    private = mod(noise_multiplier=4.0, stop_at_epsilon=limit)
    where = context(ledger=ledger)

    def app(message, _):
        trained.append(1)
        return answer(message, MODEL)

    sent = 0
    while not (reply := private(ask(MODEL), where, app)).has_error():
        sent += 1
        assert mfpg.account(ledger=ledger).epsilon <= limit
        assert mfpg.Accountant.from_ledger(ledger).epsilon() == mfpg.account(ledger=ledger).epsilon
        assert where.state["mfpg"]["lines"] == 1 + sent
    assert "budget of this client is spent" in reply.error.reason and len(trained) == sent > 1
    # by the closed form: mu = sqrt(n)/4, and one more would pass
    spent = [mfpg.account(noise_multiplier=4.0, steps=n, accountant="gdp", unit="client").epsilon for n in (sent, sent + 1)]
    assert spent[0] <= limit < spent[1]


def test_the_ledger_outlives_the_run_and_belongs_to_the_client(ledger, tmp_path):
    for run in range(3):  # every run begins with an empty state, the second one in a late round
        message = ask(MODEL, {"server-round": 1 + 5 * run})
        arrays_of(mod(noise_multiplier=4.0)(message, context(ledger=ledger), train(MODEL)))
    assert [line.release.round for line in mfpg.Ledger.read(ledger).releases] == [1, 2, 3]
    other = str(tmp_path / "other.ledger")
    arrays_of(mod(noise_multiplier=4.0)(ask(MODEL), context(node=8, ledger=other), train(MODEL)))
    assert len(mfpg.Ledger.read(other).releases) == 1


def test_a_client_that_comes_late_is_noised_and_charged_once(ledger):
    # nothing was sent in round 1, so that nothing can have been set up there
    learnt = {**MODEL, "b": MODEL["b"] + 1}
    reply = mod(noise_multiplier=4.0)(ask(MODEL, {"server-round": 2}), context(ledger=ledger), train(learnt))
    sent = arrays_of(reply)["b"]
    assert not np.array_equal(sent, learnt["b"]) and np.abs(sent).max() > 1e-3  # noise of sd 4
    assert [line.release.noise_sd for line in mfpg.Ledger.read(ledger).releases] == [4.0]
    assert mfpg.account(ledger=ledger).epsilon == mfpg.account(noise_multiplier=4.0, accountant="gdp", unit="client").epsilon


def test_the_smaller_budget_counts(ledger):
    for node, app in ((0.1, 9.0), (9.0, 0.1), (0.1, None)):
        private = mod(noise_multiplier=4.0, stop_at_epsilon=app)
        assert "epsilon 0.1" in reason(private(ask(MODEL), context(ledger=ledger, epsilon=node), train(MODEL)))
    assert "no privacy budget" in reason(mod(stop_at_epsilon=None)(ask(MODEL), context(ledger=ledger), train(MODEL)))
    assert "no ledger" in reason(mod()(ask(MODEL), context(), train(MODEL)))


def test_a_ledger_that_was_tampered_with_is_refused(ledger):
    private, where = mod(noise_multiplier=4.0), context(ledger=ledger)
    for _ in range(2):
        arrays_of(private(ask(MODEL), where, train(MODEL)))
    with open(ledger, encoding="utf-8") as file:
        lines = file.readlines()
    for kept, words in ((lines[:-1], "no longer holds"), ([], "cannot be made private, or its account")):
        with open(ledger, "w", encoding="utf-8") as file:
            file.writelines(kept)
        assert words in reason(private(ask(MODEL), where, train(MODEL)))
    with open(ledger, "w", encoding="utf-8") as file:
        file.writelines(lines)
    arrays_of(private(ask(MODEL), where, train(MODEL)))
    assert "promises something else" in reason(mod(noise_multiplier=4.0, delta=1e-6)(ask(MODEL), where, train(MODEL)))


def test_two_processes_cannot_spend_at_once(ledger):
    arrays_of(mod()(ask(MODEL), context(ledger=ledger), train(MODEL)))
    with mfpg.Ledger.open(ledger):
        assert "account cannot be kept" in reason(mod()(ask(MODEL), context(ledger=ledger), train(MODEL)))
    assert len(mfpg.Ledger.read(ledger).releases) == 1


def test_the_game_is_played_by_the_sites_own_preference(tmp_path):
    grid, mean, own, zeta = [0.1, 0.5, 1.0, 2.0, 5.0], 0.8, 1.0, 0.5
    private = PrivacyMod(clip=1.0, game=Game(own_cost=own, interaction=zeta), stop_at_epsilon=500.0)
    for i, beta in enumerate((0.01, 0.3, 1.5, 6.0, 60.0)):
        # by hand: the cheapest of c e (1 + zeta mean) + beta/e, tried one by one
        best = min(grid, key=lambda e: own * e * (1 + zeta * mean) + beta / e)
        where = context(ledger=str(tmp_path / str(i)), beta=beta)
        reply = private(ask(MODEL, {"mfpg-grid": grid, "mfpg-mean": mean}), where, train(MODEL))
        metrics = dict(reply.content["metrics"])
        assert metrics.pop("mfpg-action") == best
        assert metrics.pop("mfpg-noise-sd") == pytest.approx(math.sqrt(2 * best * 0.1), rel=1e-12)
        assert metrics == {"num-examples": 1}  # beta stays
        line = mfpg.Ledger.read(where.node_config["ledger"]).releases[0].release
        assert (line.control, line.action) == ("strength", best)


def test_a_game_that_was_not_announced_is_not_played(ledger):
    private = PrivacyMod(game=Game(), stop_at_epsilon=5.0)
    assert "announced no game" in reason(private(ask(MODEL), context(ledger=ledger, beta=1.0), train(MODEL)))
    assert "how much it minds" in reason(private(ask(MODEL), context(ledger=ledger), train(MODEL)))
    for grid, mean in (([], 0.1), ([-1.0], 0.1), ([2.0, 1.0], 0.1), ([1.0], math.nan), ([math.inf], 0.1)):
        message = ask(MODEL, {"mfpg-grid": grid, "mfpg-mean": mean})
        reason(private(message, context(ledger=ledger, beta=1.0), train(MODEL)))
    with pytest.raises(mfpg.InputError, match="exclude each other"):
        PrivacyMod(game=Game(), noise_multiplier=1.0)
    with pytest.raises(mfpg.InputError, match="no noise"):
        PrivacyMod()
    with pytest.raises(mfpg.InputError, match="belongs to strength"):
        PrivacyMod(noise_multiplier=1.0, step=0.1)


def test_nothing_leaves_that_cannot_be_written_down(ledger, tmp_path):
    where = context(ledger=str(tmp_path / "missing/site.ledger"))
    assert "ledger cannot be made" in reason(mod()(ask(MODEL), where, train(MODEL)))
    folder = context(ledger=str(tmp_path))
    assert "account cannot be kept" in reason(mod()(ask(MODEL), folder, train(MODEL)))
    assert len(where.state) == len(folder.state) == 0


def test_a_budget_that_was_lowered_below_what_is_spent_is_spent(ledger):
    message = ask(MODEL, {"mfpg-grid": [1.0], "mfpg-mean": 1.0})
    private = PrivacyMod(game=Game(), stop_at_epsilon=50.0)
    arrays_of(private(message, context(ledger=ledger, beta=1.0), train(MODEL)))
    assert "budget of this client is spent" in reason(private(message, context(ledger=ledger, beta=1.0, epsilon=0.1), train(MODEL)))


def test_a_budget_of_the_ledger_is_not_raised(ledger):
    first = mod(noise_multiplier=4.0, stop_at_epsilon=2.0)
    while not first(ask(MODEL), context(ledger=ledger), train(MODEL)).has_error():
        pass
    spent = len(mfpg.Ledger.read(ledger).releases)
    larger = mod(noise_multiplier=4.0, stop_at_epsilon=9.0)
    assert "would pass epsilon 2 " in reason(larger(ask(MODEL), context(ledger=ledger), train(MODEL)))
    assert len(mfpg.Ledger.read(ledger).releases) == spent
