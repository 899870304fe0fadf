"""audit: the numbers of the command line, an object with what was proved, and stops."""

import dataclasses
import inspect
import json
import math
import os
import pathlib
import re
import signal
import subprocess

import numpy as np
import pytest

import mfpg
from mfpg import secure_sum as sums

ROOT = pathlib.Path(__file__).parents[2]


def by_command(program, *arguments):
    """The JSON of mfpg audit."""
    code, told, message = program("audit", *arguments, "--json")
    assert code == 0, message
    return told


def same(one, client):
    """An AuditedClient against its entry."""
    for name, value in client.items():
        if name in ("delta", "gap"):
            continue
        have = getattr(one, name)
        assert have == (math.inf if value == "inf" else value), name


@pytest.mark.parametrize("options, arguments", [
    ({"runs": 100}, ["--runs", "100"]),
    ({"runs": 60, "seed": 7, "confidence": 0.9, "input_canaries": True},
     ["--runs", "60", "--seed", "7", "--confidence", "0.9", "--input-canaries"]),
    ({"method": "few-runs", "runs": 20}, ["--method", "few-runs", "--runs", "20"]),
    ({"method": "one-run", "canaries": 2}, ["--method", "one-run", "--canaries", "2"]),
])
def test_numbers_are_those_of_the_command(program, options, arguments):
    told = by_command(program, "clinics", "train.rounds=2", *arguments)
    answer = mfpg.audit("clinics", train={"rounds": 2}, **options)
    assert len(answer.clients) == len(told["clients"]) == 4
    for one, client in zip(answer.clients, told["clients"], strict=True):
        same(one, client)
    for name in ("stands", "method", "runs", "stopped", "patterns", "pairs", "confidence", "client_confidence", "seed"):
        assert getattr(answer, name) == told[name], name
    assert answer.together is None and "together" not in told


def test_clients_are_one_sample_and_settings_reach_the_configuration(program):
    answer = mfpg.audit("clinics", {"privacy": {"unit": "client"}, "noise": {"target_epsilon": 200}}, method="one-run")
    told = by_command(program, "clinics", "privacy.unit=client", "noise.target_epsilon=200", "--method", "one-run")
    same(answer.together, {**told["together"], "client": "together"})
    assert answer.together.guesses == 4 and answer.together.ceiling is not None


def test_options_are_those_of_the_command(program):
    shown = subprocess.run([ROOT / "build/release/mfpg", "audit", "--help"], capture_output=True, text=True, check=True).stdout
    shown = shown[:shown.index("Gradient inversion:")]  # another attack, with options of its own
    names = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", shown, re.MULTILINE)) - {"json", "help", "usage", "version"}
    assert {"confidence", "delta", "seed"} <= set(inspect.signature(mfpg.audit_scores).parameters)
    assert {"seed_bits", "confidence"} <= set(inspect.signature(mfpg.audit_transcript).parameters)
    names -= {"scores", "delta", "transcript", "seed-bits"}  # other functions, audit_scores and audit_transcript
    have = set(inspect.signature(mfpg.audit).parameters)
    assert {"method", "runs", "seed"} <= {name.replace("-", "_") for name in names} <= have


def test_a_run_folder_is_attacked_and_the_report_lies_in_it(tmp_path):
    mfpg.run("clinics", out=tmp_path / "run", train={"rounds": 2})
    answer = mfpg.audit(tmp_path / "run", runs=40, out=tmp_path / "run")
    told = json.loads((tmp_path / "run/audit.json").read_text())
    assert told["runs"] == answer.runs == 40 and told["stands"] is answer.stands is True
    same(answer.clients[3], told["clients"][3])


def test_what_is_wrong_is_told():
    for options, words in [({"method": "few"}, "one-run"), ({"runs": 21}, "even"), ({"runs": 0.5}, "runs"),
                           ({"confidence": math.nan}, "confidence"), ({"seed": -1}, "seed"),
                           ({"canaries": 2}, "canar"), ({"method": "one-run", "runs": 2}, "takes 1"),
                           ({"privacy": {"clp": 1}}, "privacy.clip")]:
        with pytest.raises(mfpg.Error, match=words):
            mfpg.audit("clinics", **options)
    with pytest.raises(mfpg.InputError, match="each-round"):
        mfpg.audit("choices")


def test_progress_is_told_and_its_error_ends_the_audit():
    seen = []
    mfpg.audit("clinics", runs=100, train={"rounds": 1}, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen) and seen[-1] == (100, 100)

    def fail(done, total):
        raise RuntimeError("enough")
    with pytest.raises(RuntimeError, match="enough"):
        mfpg.audit("clinics", runs=100000, progress=fail)


def test_a_stop_of_few_runs_tells_what_is_proved():
    asked = []

    def press(done, total):
        if not asked:
            asked.append(done)
            os.kill(os.getpid(), signal.SIGINT)  # Ctrl-C
    answer = mfpg.audit("clinics", method="few-runs", runs=300_000, progress=press)
    assert answer.stopped and asked[0] <= answer.runs < 300_000
    assert answer.clients[0].guesses == 3 * answer.runs


def test_scores_prove_what_the_command_prints(program, tmp_path):
    inside, outside = np.linspace(0, 4, 300), np.linspace(-2, 2, 200)
    for name, scores in (("in.csv", inside), ("out.csv", outside)):
        np.savetxt(tmp_path / name, scores, fmt="%.17g")
    told = by_command(program, "--scores", f"{tmp_path / 'in.csv'},{tmp_path / 'out.csv'}", "--delta", "1e-6", "--seed", "3")
    found = mfpg.audit_scores(inside, outside, delta=1e-6, seed=3)
    assert told == dataclasses.asdict(found)
    assert 0 < found.epsilon_lower_direct and 0 < found.epsilon_lower_one_run
    with pytest.raises(mfpg.InputError, match="at least 2"):
        mfpg.audit_scores([1.0], outside)
    with pytest.raises(mfpg.InputError, match="confidence"):
        mfpg.audit_scores(inside, outside, confidence=0.4)
    with pytest.raises(mfpg.DomainError, match="not a finite number"):
        mfpg.audit_scores([1, math.inf], outside)


def play_sums(path, rounds, faulty=None):
    """Sums of three sites by real clients and a real server, of which the last site sends its vector too late, with a canary of the
    first in each round."""
    identities = [sums.Identity.create() for _ in range(3)]
    roster = sums.Roster.read("".join(f"site-{i} {one.public_key}\n" for i, one in enumerate(identities)))
    transcript, draw = sums.Transcript(path, roster), np.random.default_rng(5)
    share = sums.Share(0.25, 320.0, 640.0)
    for round in range(1, rounds + 1):
        terms = sums.Terms(bytes(32), round, 1, 2, 0, 13, 32, 1.0, (share,) * 3)
        canary, coin = np.full(32, 28.0), int(draw.choice([-1, 1]))
        vectors = [np.rint(80 * draw.normal(size=32) + (coin * canary if i == 0 else 0)).astype(np.int64) for i in range(3)]
        transcript.canary("site-0", round, 1, canary, coin)
        clients = [sums.Client(roster, one, threshold=2, own=share, release=lambda *_, v=v: v)
                   for one, v in zip(identities, vectors, strict=True)]
        server = sums.Server(roster, terms, transcript)
        while server.step != sums.Step.DONE:
            late = b""
            for place in server.waiting:
                answer = clients[place].answer(server.ask(place))
                if place == 2 and server.step == sums.Step.MASKED:
                    late = answer
                else:
                    server.take(answer)
            server.advance()
            if late:
                with pytest.raises(mfpg.InputError):
                    server.take(late)


def test_a_transcript_of_real_sums_proves_nothing_beyond_its_certificate(program, tmp_path):
    path = tmp_path / "transcript"
    play_sums(path, 100)
    told = by_command(program, "--transcript", path, "--seed-bits", "12")
    found = mfpg.audit_transcript(path, seed_bits=12)
    assert found.stands and found.searched and found.sums == 100 and found.ignored == 0
    assert told["stands"] and [site["site"] for site in told["sites"]] == [site.site for site in found.sites]
    assert told["sites"][0]["mu_lower"] == pytest.approx(found.sites[0].mu_lower)
    first, late = found.sites[0], found.sites[2]
    assert first.guesses == 100 and 50 < first.correct and first.opened == late.opened == 0 and late.vectors == 100
    assert 0 < first.mu_lower < first.mu == pytest.approx(4 / math.sqrt(2))
    with pytest.raises(mfpg.InputError, match="seed_bits"):
        mfpg.audit_transcript(path, seed_bits=41)
    with pytest.raises(mfpg.InputError, match="first line"):
        path.write_text("{}\n")
        mfpg.audit_transcript(path)
