#!/usr/bin/env python3
"""The CPU of one client of Flower's SecAgg+ and of a client of ours in a sum of the same size.

Flower's client is run by the functions of its mod (flwr.client.mod.secure_aggregation), stage after stage, without network and
without training: two key pairs, shares for 100 clients, masks with all of them as neighbours, its default quantisation. What the
other clients and the server would send is made outside the clock; the shares for others are made once, since their values do not
matter for the time. Ours is the work secure_sum_client of bench/bench_secure_sum.c, which has signatures and the check of
consistency on top. CPU seconds of all threads, the least of some runs.

usage: bench/secure_sum_peer.py [--program build/gcc/bench/bench_secure_sum] [--environment build/flower-peer] [--runs 3]"""
import argparse
import json
import pathlib
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parent.parent
PEER = """
import json, sys, time
import numpy as np
import flwr.client.mod.secure_aggregation.secaggplus_mod
from flwr.common import ndarrays_to_parameters

mod = sys.modules["flwr.client.mod.secure_aggregation.secaggplus_mod"] # the package hides it behind a function
Key = mod.Key
clients, threshold, dimension, runs = map(int, sys.argv[1:])
configs = {Key.SAMPLE_NUMBER: clients, Key.SHARE_NUMBER: clients, Key.THRESHOLD: threshold, Key.CLIPPING_RANGE: 8.0,
           Key.TARGET_RANGE: 1 << 22, Key.MOD_RANGE: 1 << 32, Key.MAX_WEIGHT: 1000.0}
vector = ndarrays_to_parameters([np.random.default_rng(1).normal(size=dimension).astype(np.float32)])
others = {}
for number in range(1, clients):
    others[number] = tuple(mod.public_key_to_bytes(mod.generate_key_pairs()[1]) for _ in range(2))

def run():
    spent = 0.0
    def timed(stage, *arguments):
        nonlocal spent
        start = time.process_time()
        result = stage(*arguments)
        spent += time.process_time() - start
        return result
    state = mod.SecAggPlusState()
    keys = timed(mod._setup, state, configs)
    public = {0: (keys[Key.PUBLIC_KEY_1], keys[Key.PUBLIC_KEY_2])} | others
    timed(mod._share_keys, state, public)
    share = next(iter(state.rd_seed_share_dict.values()))
    key_share = next(iter(state.sk1_share_dict.values()))
    texts = [mod.encrypt(state.ss2_dict[n], mod.share_keys_plaintext_concat(n, 0, share, key_share)) for n in others]
    masked = timed(mod._collect_masked_vectors, state, {Key.CIPHERTEXT_LIST: texts, Key.SOURCE_LIST: list(others)}, 1000, vector)
    timed(mod._unmask, state, {Key.ACTIVE_NODE_ID_LIST: list(range(clients)), Key.DEAD_NODE_ID_LIST: []})
    return spent, sum(len(b) for b in masked[Key.MASKED_PARAMETERS])

results = [run() for _ in range(runs)]
print(json.dumps({"cpu_s": min(r[0] for r in results), "masked_bytes": results[0][1]}))
"""


def python_of(environment):
    """The Python of a virtual environment with Flower, which is made if it is not there."""
    python = environment / "bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "flwr>=1.42,<2"], check=True)
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", type=pathlib.Path, default=TREE / "build/gcc/bench/bench_secure_sum")
    parser.add_argument("--environment", type=pathlib.Path, default=TREE / "build/flower-peer")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    lines = subprocess.run([options.program], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    ours = {work["work"]: work for work in map(json.loads, lines)}
    size = [str(ours["secure_sum_size"][key]) for key in ("clients", "threshold", "dimension")]
    peer = subprocess.run([python_of(options.environment), "-c", PEER, *size, str(options.runs)], check=True, stdout=subprocess.PIPE,
                          text=True)
    theirs = json.loads(peer.stdout.splitlines()[-1])
    print(f"SecAgg+ of Flower: {theirs['cpu_s']:.3f} s, {theirs['masked_bytes']} bytes of masked vector")
    for bits, suffix in ((16, ""), (32, "_32")):
        own = ours[f"secure_sum_client{suffix}"]["cpu_s"]
        sent = ours[f"secure_sum_bytes{suffix}"]["sent"]
        print(f"ours, {bits} bits: {own:.4f} s, {sent} bytes sent in all; {theirs['cpu_s'] / own:.0f} times less CPU")


if __name__ == "__main__":
    main()
