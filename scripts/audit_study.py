#!/usr/bin/env python3
"""How close `mfpg audit` comes to what is promised at the paper's settings, and how often it cries wolf.

One client, ten rounds, 21 parameters. Every noise is audited with seeds of its own. The promises are exact, so that a broken one is
a false alarm. Prints a table in Markdown, whose numbers depend on the first three options alone.

usage: scripts/audit_study.py [--seeds N] [--runs N] [--confidence P] [--program FILE]"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

PAPER = """\
method: mfep
task: {model: logistic}
data: {format: synthetic, kind: coins, clients: 1, rows: 100, dimension: 20, test_fraction: 0}
evaluate: train
privacy: {unit: client, adjacency: replace}
noise: {action: 1}
train: {rounds: 10}
"""
ENTROPIC = "`mfep`, strength {}"
GAUSSIAN = "`dp-sgd`, budget {}"
# mu of ten rounds: sqrt(2/strength) of the entropic step 0.1, and sqrt(10) budgets under the game's law. A strength of 50 needs a
# prior that does not pull the model across zero; what a round shows does not depend on it.
NOISES = [
    (ENTROPIC.format(50), ["noise.action=50", "entropic.prior_variance=10"]),
    (ENTROPIC.format(8), ["noise.action=8"]),
    (ENTROPIC.format(2), ["noise.action=2"]),
    (ENTROPIC.format(1), ["noise.action=1"]),
    (ENTROPIC.format(0.1), ["noise.action=0.1"]),
    (GAUSSIAN.format(0.1), ["noise.action=0.1", "method=dp-sgd", "noise.law=game"]),
    (GAUSSIAN.format(1), ["noise.action=1", "method=dp-sgd", "noise.law=game"]),
    (GAUSSIAN.format(2), ["noise.action=2", "method=dp-sgd", "noise.law=game"]),
]


def audit(program, config, runs, settings, confidence, seed):
    """What one audit tells of its client. Exit code 3 is an answer too."""
    done = subprocess.run([program, "audit", config, *settings, "--json", "--threads", "1", "--runs", str(runs),
                           "--seed", str(seed), "--confidence", str(confidence)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    if done.returncode not in (0, 3):
        raise SystemExit(f"audit-study: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)["clients"][0]


def most_alarms(audits, alpha):
    """The smallest count that as many audits of true promises exceed with a chance below 1/1000."""
    term = total = (1 - alpha) ** audits
    count = 0
    while total < 0.999:
        count += 1
        term *= (audits - count + 1) / count * alpha / (1 - alpha)
        total += term
    return count


def tell(found, options):
    print("| noise | mu | median | smallest | broken |")
    print("|---|---|---|---|---|")
    for name, clients in found.items():
        ratios = [client["mu_lower"] / client["mu"] for client in clients]
        broken = sum(not client["stands"] for client in clients)
        print(f"| {name} | {clients[0]['mu']:.4f} | {statistics.median(ratios):.3f} | {min(ratios):.3f} | {broken} of {len(clients)} |")
    audits = len(found) * options.seeds
    broken = sum(not client["stands"] for clients in found.values() for client in clients)
    print(f"\n{audits} audits of {options.runs} runs of each pattern at {100 * options.confidence:g} %: {broken} false alarms; "
          f"more than {most_alarms(audits, 1 - options.confidence)} happen by chance once in a thousand times.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=25, help="audits of each noise (default 25)")
    parser.add_argument("--runs", type=int, default=20000, help="runs of each pattern (default 20000)")
    parser.add_argument("--confidence", type=float, default=0.99, help="of each audit (default 0.99)")
    parser.add_argument("--program", type=pathlib.Path, help="default: build/release/mfpg of this tree")
    options = parser.parse_args()
    program = (options.program or pathlib.Path(__file__).parent.parent / "build/release/mfpg").resolve()
    if not program.exists():
        raise SystemExit(f"audit-study: {program} is not there; run make build")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        config = pathlib.Path(folder) / "paper.yaml"
        config.write_text(PAPER, encoding="utf-8")
        jobs = {name: [pool.submit(audit, program, config, options.runs, settings, options.confidence, seed)
                       for seed in range(1 + number * options.seeds, 1 + (number + 1) * options.seeds)]
                for number, (name, settings) in enumerate(NOISES)}
        tell({name: [answer.result() for answer in answers] for name, answers in jobs.items()}, options)


if __name__ == "__main__":
    main()
