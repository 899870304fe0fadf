#!/usr/bin/env python3
"""Runs comparable software on the works of the performance suite, beside ours, and prints the ratios.

The comparable software comes from PyPI into a virtual environment (several GB: torch), which is made once and kept. Its scripts
are those of the folder `perf` of the reference data. Every row runs our program, then theirs, then ours again, and compares CPU
seconds for the same amount of work, one thread each; where our two runs differ much, the machine was not quiet.

usage: bench/compare.py [--programs build/gcc/bench] [--environment build/peers] [--only WORK]... [--json]"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

TREE = pathlib.Path(__file__).resolve().parent.parent
PACKAGES = ["numpy", "POT", "dp-accounting", "torch", "opacus"]
IMAGES = "/usr/share/datasets/fashion-mnist"
CALIBRATE = """
import sys; sys.path.insert(0, sys.argv.pop(1))
import benchlib
p = benchlib.parser(); a = benchlib.args(p)
import dp_accounting as dp
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
def event(sigma):
    return dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(256 / 60000, dp.GaussianDpEvent(sigma)), 14062)
for name, make in (("rdp", RdpAccountant), ("pld", PLDAccountant)):
    for epsilon in (1.0, 3.0):
        def solve():
            return dp.calibrate_dp_mechanism(make, event, epsilon, 1e-5, dp.LowerEndpointAndGuess(0.1, 3.0), tol=1e-4)
        benchlib.measure(f"dp_accounting calibrate {name} epsilon {epsilon:g}", solve, runs=1, warm=0, peer="dp-accounting")
"""


class Row:
    """A work of ours, the script and options that measure others on it, and where the costs stand: `theirs` makes a list of
    (what it is, CPU seconds of one work) of the JSON lines that their script prints, `ours` the seconds of ours."""

    def __init__(self, work, program, script, options, theirs, ours=None):
        self.work, self.program, self.script, self.options, self.theirs = work, program, script, options, theirs
        self.ours = ours or (lambda line: line["cpu_s"])


def per_unit(amount, pattern=""):
    """The lines with a rate per CPU second whose label matches: the seconds of `amount` units. What the line behind one adds
    (an epsilon, an error that is left) says what was computed."""
    def pick(lines):
        found = []
        for line, following in zip(lines, [*lines[1:], {}]):
            label = line.get("work", "")
            if "rate_per_cpu_s" not in line or not re.search(pattern, label):
                continue
            added = "".join(f", {key} {following[key]:.4g}" for key in ("epsilon", "niter", "err_last") if following.get(key) is not None)
            found.append((f"{label} ({line.get('peer', '')}{added})", amount / line["rate_per_cpu_s"]))
        return found
    return pick


def seconds_per_client(lines):
    return [("plain loop in torch", 1 / line["clients_per_cpu_s"]) for line in lines if "clients_per_cpu_s" in line]


DPSGD = "gemm,plain,ghost,opacus,opacus-ghost"
ROWS = [
    Row("dpsgd_mlp_batch64", "bench_mlp", "dpsgd_torch.py", ["--batch", "64", "--mode", DPSGD], per_unit(64)),
    Row("dpsgd_mlp_batch256", "bench_mlp", "dpsgd_torch.py", ["--batch", "256", "--mode", DPSGD], per_unit(256)),
    Row("federated_round", "bench_federation", "fed_torch.py", ["--clients", "10"], seconds_per_client,
        lambda line: line["ns_per_client"] * 1e-9),
    Row("noise_vector", "bench_random", "rng_peers.py", [], per_unit(109386)),
    Row("sinkhorn_1d_512", "bench_sinkhorn", "sinkhorn_pot.py",
        ["--n", "512", "--reg", "0.01", "--cap", "1000", "--runs", "3"], per_unit(1)),
    Row("sinkhorn_8d_5000", "bench_sinkhorn", "sinkhorn_pot.py",
        ["--n", "5000", "--d", "8", "--reg", "0.1", "--tol", "1e-9", "--runs", "1"], per_unit(1)),
    Row("rdp_epsilon", "bench_accountants", "accountants_peer.py", ["--runs", "3"], per_unit(1, r"rdp T=1000$")),
    Row("exact_epsilon", "bench_accountants", "accountants_peer.py", ["--runs", "3"], per_unit(1, r"(pld.*|prv) T=1000$")),
    Row("calibrate_exact", "bench_calibrate", None, [], per_unit(1, "epsilon 1$")),
    Row("calibrate_exact_epsilon_3", "bench_calibrate", None, [], per_unit(1, "epsilon 3$")),
    Row("best_response_1e6", "bench_games", "best_response_numpy.py", [], per_unit(1_000_000, "^best response")),
]


def environment(folder):
    """The Python of the virtual environment, which is made where it is not there."""
    python = folder / "bin" / "python"
    marker = folder / "complete"
    if not marker.exists():
        print(f"making {folder} with {', '.join(PACKAGES)} (several GB)", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        marker.write_text("\n".join(PACKAGES) + "\n")
    return python


def lines_of(command, **variables):
    """The JSON lines that a command prints, one thread for every library that it may use."""
    single = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    done = subprocess.run(command, env={**os.environ, **single, **variables}, stdout=subprocess.PIPE, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0:
        print(f"{' '.join(map(str, command))}: exit code {done.returncode}", file=sys.stderr)
    return lines


class Runner:
    def __init__(self, options, perf):
        self.programs, self.perf, self.python = options.programs, perf, environment(options.environment)

    def ours(self, row):
        found = [line for line in lines_of([str(self.programs / row.program)], MFPG_BENCH_CLIENTS="1000000")
                 if line["work"] == row.work]
        if not found:
            raise SystemExit(f"{row.program} prints no work '{row.work}'")
        return row.ours(found[0])

    def theirs(self, row):
        command = [str(self.python), str(self.perf / row.script)] if row.script else \
            [str(self.python), "-c", CALIBRATE, str(self.perf)]
        lines = lines_of(command + row.options, FASHION_MNIST_DIR=IMAGES, PYTHONPATH=str(self.perf))
        return row.theirs(lines)

    def compare(self, row):
        before = self.ours(row)
        peers = self.theirs(row)
        after = self.ours(row)
        mean = statistics.mean((before, after))
        return [{"work": row.work, "cpu_s": mean, "spread": abs(before - after) / mean, "peer": name, "peer_cpu_s": seconds,
                 "ratio": seconds / mean} for name, seconds in peers]


def show(result):
    print(f"| {result['work']} | {1e3 * result['cpu_s']:.3g} ms | {result['peer']} | {1e3 * result['peer_cpu_s']:.3g} ms | "
          f"{result['ratio']:.3g} | {100 * result['spread']:.0f} % |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, default=TREE / "build" / "gcc" / "bench")
    parser.add_argument("--environment", type=pathlib.Path, default=TREE / "build" / "peers")
    parser.add_argument("--only", action="append", metavar="WORK", choices=[row.work for row in ROWS])
    parser.add_argument("--json", action="store_true", help="one JSON line a comparison in place of the table")
    options = parser.parse_args()
    perf = pathlib.Path(os.environ.get("MFPG_SHARED", TREE.parent / "shared")) / "perf"
    if not (perf / "benchlib.py").exists():
        raise SystemExit(f"{perf}: the scripts of comparable software are not there (MFPG_SHARED names the folder above)")
    runner = Runner(options, perf)
    if not options.json:
        print("| work | ours | comparable software | theirs | theirs / ours | ours, twice |\n|---|---|---|---|---|---|")
    for row in ROWS:
        if options.only and row.work not in options.only:
            continue
        for result in runner.compare(row):
            print(json.dumps(result), flush=True) if options.json else show(result)


if __name__ == "__main__":
    main()
