#!/usr/bin/env python3
"""Accuracy at equal certified epsilon where every update is seen (view local) and where a secure sum shows only the sum (view average, certified for
the worst set of clients that its threshold allows), 20 draws each, unit example: the tables of docs/results.md, section "Secure sums".

usage: scripts/secure_sum_study.py [--write] [--seeds 1..20] [--program FILE]        the tables, printed or put into docs/results.md
       scripts/secure_sum_study.py --tune [--program FILE]                            rounds, steps and clips of the hospitals, on seeds 2001..2004

The logistic task and its rounds, steps and clips are those of `mfpg bench` (reproduction/frontier.def); a secure sum has those of view average. The
hospitals are examples/hospitals.yaml, read below the folder of reference data (MFPG_SHARED, default ../shared)."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/results.md"
BEGIN, END = "<!-- secure sums: scripts/secure_sum_study.py --write -->", "<!-- end secure sums -->"
METHODS = ("dp-sgd", "mfpg")
EPSILONS = (0.5, 1, 2)
VIEWS = {"local": ["privacy.view=local"], "secure sum": ["privacy.view=average", "secure_sum.run=simulate"]}
LOGISTIC = """task: {model: logistic}
data: {format: synthetic, kind: logistic, dimension: 20, test_rows: 2000, clients: 8, rows: 100}
game: {curvature: 5.25}
"""
# rounds, step, clip of every method and view at every epsilon; the prior of mfpg pulls, so that its steps stay below 2
FRONTIER = {"local": [(30, 0.5, 0.3), (30, 0.5, 1), (30, 1, 1)], "secure sum": [(30, 1, 1), (30, 2, 1), (60, 1, 1)]}
TASKS = {
    "logistic": ("Logistic regression, 8 clients of 100 rows", dict.fromkeys(METHODS, FRONTIER)),
    "hospitals": ("Four hospitals of the heart disease study, 123 to 303 patients", {
        "dp-sgd": {"local": [(30, 16, 0.3), (30, 32, 0.1), (30, 8, 0.3)], "secure sum": [(30, 16, 0.3), (30, 8, 0.3), (30, 16, 0.3)]},
        "mfpg": {"local": [(30, 1, 1)] * 3, "secure sum": [(30, 1, 1)] * 3}}),
}
GRIDS = {"dp-sgd": [(30, step, clip) for step in (4, 8, 16, 32) for clip in (0.1, 0.3)],
         "mfpg": [(30, step, clip) for step in (0.1, 0.25, 0.5, 1) for clip in (0.3, 1, 3)]}


def accuracy(program, folder, task, method, view, epsilon, setting, seeds):
    """Mean and standard error."""
    rounds, step, clip = setting
    if task == "logistic":
        named = folder / "logistic.yaml"
        named.write_text(LOGISTIC, encoding="utf-8")
        where = []
    else:
        named = ROOT / "examples/hospitals.yaml"
        where = [f"data.dir={pathlib.Path(os.environ.get('MFPG_SHARED', ROOT.parent / 'shared')) / 'data/heart'}", "train.weights=equal"]
    step_key = "entropic.step" if method == "mfpg" else "train.learning_rate"
    out = folder / f"{task}-{method}-{view}-{epsilon}-{step}-{clip}"
    entropic = ["entropic.scale=sensitivity", "entropic.free_energy=false"] if method == "mfpg" else []
    done = subprocess.run([program, "run", str(named), f"seed={seeds}", f"method={method}", "privacy.unit=example", f"noise.target_epsilon={epsilon}",
                           f"train.rounds={rounds}", f"evaluate_every={rounds}", f"{step_key}={step}", f"privacy.clip={clip}", "train.weights=equal",
                           "game.actions=continuous", *VIEWS[view], *where, *entropic, "--threads", "1", "--json", "--out", str(out)],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"secure-sum-study: {' '.join(done.args)}\n{done.stderr}")
    told = json.loads(done.stdout)
    if not all(epsilon * (1 - 1e-6) <= run["epsilon"] <= epsilon for run in told["runs"]):
        sys.exit(f"secure-sum-study: {out.name}: the largest epsilon is not {epsilon}")
    return told["accuracy"]["mean"], told["accuracy"]["standard_error"]


def table(program, folder, task, seeds):
    title, settings = TASKS[task]
    lines = [f"#### {title}", "", "| method | seen | " + " | ".join(f"epsilon {epsilon:g}" for epsilon in EPSILONS) + " |", "|---" * (2 + len(EPSILONS)) + "|"]
    for method in METHODS:
        for view, own in settings[method].items():
            cells = (accuracy(program, folder, task, method, view, epsilon, own[i], seeds) for i, epsilon in enumerate(EPSILONS))
            lines.append(f"| {method} | {view} | " + " | ".join(f"{mean:.3f} ± {error:.3f}" for mean, error in cells) + " |")
    for method in METHODS:
        for view, own in settings[method].items():
            lines.append(f"| *rounds, step, clip of {method}* | *{view}* | " + " | ".join("*" + ", ".join(f"{x:g}" for x in one) + "*" for one in own) + " |")
    return "\n".join(lines)


def tune(program, folder):
    for method in METHODS:
        for view in VIEWS:
            for epsilon in EPSILONS:
                found = {one: accuracy(program, folder, "hospitals", method, view, epsilon, one, "2001..2004")[0] for one in GRIDS[method]}
                best = max(found, key=found.get)
                print(f"{method}, {view}, epsilon {epsilon:g}: {best} {found[best]:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/release/mfpg"))
    parser.add_argument("--seeds", default="1..20")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/results.md")
    parser.add_argument("--tune", action="store_true", help="find steps and clips of the hospitals")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as name:
        folder = pathlib.Path(name)
        if options.tune:
            tune(options.program, folder)
            return
        text = "\n\n".join(table(options.program, folder, task, options.seeds) for task in TASKS)
    if not options.write:
        print(text)
        return
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
