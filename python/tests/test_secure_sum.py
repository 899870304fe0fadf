"""Client and Server: sums that are right if clients drop out, and everything else refused; secrets that do not show."""

import base64
import copy
import itertools
import json
import math
import pickle

import numpy as np
import pytest

import mfpg
from mfpg.secure_sum import Client, Identity, Roster, Server, Share, Step, Terms, Transcript

D = 7
STEPS = [step for step in Step if step != Step.DONE]


class Sites:
    """A roster with its identities, and vectors."""

    def __init__(self, count, seed=0):
        self.identities = [Identity.create() for _ in range(count)]
        self.roster = Roster.read("".join(f"site-{i} {one.public_key}\n" for i, one in enumerate(self.identities)))
        self.vectors = np.random.default_rng(seed).integers(-100, 100, (count, D))
        self.charged = [0] * count

    def terms(self, threshold, *, attempt=1, bits=16, weights=None, **others):
        count = len(self.identities)
        shares = tuple(Share(weight, 8.0, 1.0) for weight in (weights or [1 / count] * count))
        return Terms(**{"run": b"r" * 32, "round": 3, "attempt": attempt, "threshold": threshold, "colluders": 0, "bits": bits,
                        "dimension": D, "grid": 2.0**-4, "shares": shares, **others})

    def client(self, place, threshold, release=None, **options):
        def charge(terms, members):
            self.charged[place] += 1
            assert members[place] and sum(members) >= threshold and len(members) == len(self.roster)
            return self.vectors[place]

        own = options.pop("own", Share(-1.0, 8.0, 1.0))
        return Client(self.roster, self.identities[place], threshold=threshold, own=own, release=release or charge, **options)


@pytest.fixture(scope="module")
def three():
    return Sites(3)


@pytest.fixture(scope="module")
def four():
    return Sites(4)


def play(sites, threshold, *, silent=(), order=None, through_disk=False, **terms):
    """A whole sum. silent: (step, place) that do not answer. order: of the answers."""
    server = Server(sites.roster, sites.terms(threshold, **terms))
    clients = {place: sites.client(place, threshold) for place in range(len(sites.roster))}
    for step in STEPS:
        assert server.step == step
        for place in sorted(server.waiting, key=order):
            if (step, place) in silent:
                continue
            answer = clients[place].answer(server.ask(place))
            if through_disk and step != Step.OPENED:
                clients[place] = sites.client(place, threshold, state=clients[place].save())
            assert server.take(answer) == place
        server.advance()
    assert server.step == Step.DONE
    return server.sum()


# ---- sums ----


def test_the_sum_is_that_of_the_vectors_whatever_the_order(three):
    for order in itertools.permutations(range(3)):
        found = play(three, 2, order=lambda place: order[place])
        assert found.vector.dtype == np.int64 and found.vector.tolist() == three.vectors.sum(0).tolist()
        assert found.survivors == (True, True, True)


def test_silent_clients_at_any_step(four):
    for step in STEPS:
        for silent in itertools.chain.from_iterable(itertools.combinations(range(4), count) for count in range(5)):
            fall_out = {(step, place) for place in silent}
            if len(silent) > 1:
                with pytest.raises(mfpg.InputError):
                    play(four, 3, silent=fall_out)
                continue
            found = play(four, 3, silent=fall_out)
            inside = [place for place in range(4) if step > Step.MASKED or place not in silent]
            assert found.survivors == tuple(place in inside for place in range(4))
            assert found.vector.tolist() == four.vectors[inside].sum(0).tolist()


def test_every_answer_by_a_process_of_its_own(three):
    assert play(three, 2, through_disk=True).vector.tolist() == three.vectors.sum(0).tolist()


def test_sums_wrap_at_the_modulus(three):
    found = play(three, 2, bits=9).vector
    assert found.tolist() == ((three.vectors.sum(0) + 256) % 512 - 256).tolist()


def test_sites_of_weight_zero_take_no_part(four):
    found = play(four, 2, weights=[0.25, 0.0, 0.5, 0.25])
    assert found.survivors == (True, False, True, True) and found.vector.tolist() == four.vectors[[0, 2, 3]].sum(0).tolist()


def test_a_vector_may_be_anything_that_is_whole_numbers(three):
    for given in ([1] * D, tuple(range(D)), np.arange(D, dtype=np.int8), np.arange(2 * D)[::2], np.arange(D, dtype=np.uint32)):
        server, asked = begun(three)
        client = three.client(0, 2, lambda terms, members, given=given: given)
        assert answers_until_masked(three, server, client) and asked


def begun(sites, threshold=2):
    server = Server(sites.roster, sites.terms(threshold))
    return server, server.ask(0)


def answers_until_masked(sites, server, client, threshold=2):
    """The masked vector of client 0, the others being as they should."""
    clients = [client, *(sites.client(place, threshold) for place in range(1, len(sites.roster)))]
    for _ in (Step.KEYS, Step.SHARES):
        for place in server.waiting:
            server.take(clients[place].answer(server.ask(place)))
        server.advance()
    return client.answer(server.ask(0))


# ---- the release ----


class Broke(Exception):
    pass


@pytest.mark.parametrize("error", [Broke("no budget"), KeyboardInterrupt(), SystemExit(3), mfpg.DomainError("as C says it")])
def test_errors_of_the_release_end_the_sum_and_come_back(three, error):
    def release(terms, members):
        raise error

    client = three.client(0, 2, release)
    server, _ = begun(three)
    with pytest.raises(type(error)) as raised:
        answers_until_masked(three, server, client)
    assert raised.value is error
    with pytest.raises(mfpg.InputError):
        client.answer(server.ask(0))
    with pytest.raises(mfpg.InputError):
        three.client(0, 2, state=client.save()).answer(server.ask(0))


@pytest.mark.parametrize("given", [np.zeros(D), np.zeros(D + 1, int), np.zeros((1, D), int), [1.5] * D, None, "text",
                                   np.zeros(D, np.uint64), np.zeros(D, bool)])
def test_other_vectors_are_refused(three, given):
    server, _ = begun(three)
    with pytest.raises(mfpg.InputError, match="vector: found .* allowed: int64 of shape"):
        answers_until_masked(three, server, three.client(0, 2, lambda terms, members: given))


def test_the_release_is_told_the_terms_and_asked_once(three):
    seen = []
    server, _ = begun(three)
    client = three.client(0, 2, lambda terms, members: seen.append((terms, members)) or three.vectors[0])
    assert client.terms is None
    answers_until_masked(three, server, client)
    assert seen == [(three.terms(2), (True, True, True))] and client.terms == three.terms(2)
    assert client.survivors == (False, False, False)


# ---- what ends a sum ----


@pytest.mark.parametrize("message", [b"", b"x", b"\0" * 200, None, "text", 3, [1], np.zeros(3)])
def test_other_messages_are_refused(three, message):
    server, asked = begun(three)
    with pytest.raises(mfpg.InputError):
        server.take(message)
    client = three.client(0, 2)
    with pytest.raises(mfpg.InputError):
        client.answer(message)
    server.take(three.client(0, 2).answer(asked))  # the server is as it was
    assert server.waiting == (1, 2)


def test_a_changed_or_repeated_message_ends_the_sum_of_that_client_alone(three):
    server, asked = begun(three)
    for changed in (asked[:-1], asked + b"\0", bytes([asked[0] ^ 1]) + asked[1:], asked[:-1] + bytes([asked[-1] ^ 1])):
        with pytest.raises(mfpg.InputError):
            three.client(0, 2).answer(changed)
    client = three.client(0, 2)
    answer = client.answer(asked)
    with pytest.raises(mfpg.InputError):
        client.answer(asked)
    server.take(answer)
    with pytest.raises(mfpg.InputError):
        server.take(answer)


def test_terms_that_the_client_did_not_ask_for(three):
    _, asked = begun(three)
    for options in ({"threshold": 3}, {"colluders": 1, "threshold": 3}, {"own": Share(-1.0, 9.0, 1.0)},
                    {"own": Share(-1.0, 8.0, 2.0)}, {"own": Share(0.25, 8.0, 1.0)}, {"dimension": D + 1}):
        client = three.client(0, options.pop("threshold", 2), **options)
        with pytest.raises(mfpg.InputError):
            client.answer(asked)


def test_terms_out_of_range(three):
    for threshold, changes in ((1, {}), (4, {}), (2, {"colluders": 1}), (2, {"colluders": -1}), (2, {"bits": 1}), (2, {"bits": 65}),
                               (2, {"dimension": 0}), (2, {"grid": 0.3}), (2, {"grid": math.nan}), (2, {"grid": -1.0}),
                               (2, {"round": 0}), (2, {"attempt": 0}), (2, {"run": b"short"}), (2, {"weights": [1.0, 0.0, 0.0]}),
                               (2, {"weights": [1.0, -1.0, 1.0]}), (2, {"weights": [math.nan, 1.0, 1.0]}),
                               (2, {"shares": (Share(1, 1, 1),)})):
        with pytest.raises((mfpg.InputError, mfpg.DomainError)):
            three.terms(threshold, **changes).check(three.roster)
        with pytest.raises((mfpg.InputError, mfpg.DomainError)):
            Server(three.roster, three.terms(threshold, **changes))


def test_places_and_states_out_of_range(three):
    server, asked = begun(three)
    for place in (-1, 3, 1.5, "a"):
        with pytest.raises(mfpg.InputError):
            server.ask(place)
    with pytest.raises(mfpg.InputError):
        server.sum()
    client = three.client(0, 2)
    client.answer(asked)
    state = client.save()
    for changed in (b"", state[:-1], state + b"\0", state[:50] + bytes([state[50] ^ 1]) + state[51:]):
        with pytest.raises(mfpg.InputError):
            three.client(0, 2, state=changed)
    with pytest.raises(mfpg.InputError):
        three.client(1, 2, state=state)  # another identity
    stranger = Sites(3)
    with pytest.raises(mfpg.InputError):
        stranger.client(0, 2, state=state)


# ---- numbers of the terms ----


def test_bits_and_noise(four):
    terms = four.terms(3)
    bits = terms.bits_needed(four.roster)
    reach = (1.0 + 9 * math.sqrt(4) * 2) / terms.grid + 4  # sum p S = 1; p s = 2 each
    assert 2 ** (bits - 1) > reach >= 2 ** (bits - 2)
    assert terms.noise(four.roster, 1) == pytest.approx(8 * math.sqrt(3), rel=1e-9)  # t - c - 1 = 2 others of the same noise
    assert terms.noise(four.roster, 1) <= 8 * math.sqrt(3)
    assert terms.noise(four.roster, 1, (True,) * 4) == pytest.approx(16.0, rel=1e-9)
    for survivors in ((True,) * 3, (True,) * 5):
        with pytest.raises(mfpg.InputError):
            terms.noise(four.roster, 1, survivors)
    with pytest.raises(mfpg.InputError):
        terms.noise(four.roster, 4)


# ---- identities and rosters ----


def test_an_identity_is_kept_in_a_private_file(tmp_path):
    made = Identity.create()
    made.save(tmp_path / "a.key")
    assert (tmp_path / "a.key").stat().st_mode & 0o777 == 0o600
    assert Identity.load(tmp_path / "a.key").public_key == made.public_key != Identity.create().public_key
    with pytest.raises(mfpg.AccessError):
        made.save(tmp_path / "a.key")
    (tmp_path / "a.key").chmod(0o640)
    with pytest.raises(mfpg.InputError, match="a.key"):
        Identity.load(tmp_path / "a.key")
    for text in ("", "what else"):
        (tmp_path / "b.key").write_text(text)
        (tmp_path / "b.key").chmod(0o600)
        with pytest.raises(mfpg.InputError):
            Identity.load(tmp_path / "b.key")
    with pytest.raises(mfpg.Error):
        Identity.load(tmp_path / "none.key")


def test_a_roster_has_every_site_once(three, tmp_path):
    lines = three.roster.text.splitlines()
    (tmp_path / "roster").write_text("# who takes part\n\n" + three.roster.text)
    read = Roster.load(tmp_path / "roster")
    assert read == three.roster and hash(read) == hash(three.roster)
    assert len(read) == 3 and read.names == ("site-0", "site-1", "site-2")
    assert read.place("site-2") == read.place(three.identities[2]) == 2 and read.keys[1] == three.identities[1].public_key
    for who in ("site-3", Identity.create()):
        with pytest.raises(mfpg.InputError, match="not in the roster"):
            read.place(who)
    twin = [*lines, lines[0].replace("site-0", "other")]
    for wrong in (lines[:2], [*lines, lines[0]], twin, [*lines, "name"], [*lines, "a b c"], [*lines, "a " + "g" * 64], []):
        with pytest.raises(mfpg.InputError, match="mine"):
            Roster.read("\n".join(wrong), "mine")


# ---- secrets ----


def test_secrets_are_neither_shown_nor_pickled(three, tmp_path):
    identity = Identity.create()
    identity.save(tmp_path / "key")
    secret = (tmp_path / "key").read_text().split()[-1]
    client = three.client(0, 2)
    server, asked = begun(three)
    client.answer(asked)
    for one in (identity, client):
        assert secret not in repr(one) and secret not in str(vars(one))
        for lose in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="holds secrets"):
                lose(one)
    assert pickle.loads(pickle.dumps(three.roster)) == three.roster
    assert "keys" in repr(server)


def test_one_vector_is_masked_differently_every_time(three):
    masked = set()
    for _ in range(2):
        server, _ = begun(three)
        masked.add(answers_until_masked(three, server, three.client(0, 2)))
    assert len(masked) == 2


def test_a_transcript_marks_what_the_server_refused(three, tmp_path):
    path = tmp_path / "transcript"
    server = Server(three.roster, three.terms(2), Transcript(path, three.roster))
    asked = server.ask(0)
    answer, second = (three.client(0, 2).answer(asked) for _ in range(2))
    forged = answer[:-1] + bytes([answer[-1] ^ 1])
    for given in (forged, b"no message"):
        with pytest.raises(mfpg.InputError):
            server.take(given)
    server.take(answer)
    with pytest.raises(mfpg.InputError):
        server.take(second)  # repeated
    for place in (1, 2):
        server.take(three.client(place, 2).answer(server.ask(place)))
    server.advance()
    with pytest.raises(mfpg.InputError):
        server.take(answer)  # late
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    told = [(name, base64.b64decode(text)) for line in lines[1:] for name, text in line.items()]
    assert list(lines[0]) == ["roster"] and told[:5] == [("message", asked), ("refused", forged), ("refused", b"no message"),
                                                         ("message", answer), ("refused", second)]
    assert [name for name, _ in told[5:]] == ["message"] * 4 + ["refused"]
