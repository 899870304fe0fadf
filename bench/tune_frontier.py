#!/usr/bin/env python3
"""Chooses rounds, step and clip of the frontier suite on seeds that the suite never reports.

For every (unit, view, target epsilon) each point of a small grid is trained with dp-sgd, mapg-dp and mfpg on seeds 1001
to 1008; the best eight points are trained again on seeds 2001 to 2048, and the one with the best mean test accuracy over
the methods is printed as a line of src/experiment/bench/frontier.def.

    bench/tune_frontier.py build/release/mfpg          about ten minutes on two cores
"""
import itertools
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

COMMON = """
task: {model: logistic}
data: {format: synthetic, kind: logistic, clients: 8, rows: 100, dimension: 20, test_rows: 2000}
train: {weights: equal}
game: {actions: continuous, curvature: 5.25}
"""
FIRST, SECOND, FINALISTS = "seed=1001..1008", "seed=2001..2048", 8
ROUNDS = (8, 15, 30, 60)
STEPS = (0.1, 0.3, 0.5, 1, 2, 4, 8)
CLIPS = (0.05, 0.1, 0.2, 0.3, 0.5, 1)
METHODS = {"dp-sgd": ["train.learning_rate={step}"], "mapg-dp": ["train.learning_rate={step}"],
           "mfpg": ["entropic.step={step}", "entropic.scale=sensitivity"]}


def accuracy(program, folder, number, seeds, unit, view, target, method, rounds, step, clip):
    settings = [f"method={method}", f"privacy.unit={unit}", f"privacy.view={view}", f"privacy.clip={clip}",
                f"noise.target_epsilon={target}", f"train.rounds={rounds}", seeds]
    settings += [text.format(step=step) for text in METHODS[method]]
    done = subprocess.run([program, "run", f"{folder}/tune.yaml", *settings, "--json", "--threads", "1", "--out",
                           f"{folder}/{number}"], capture_output=True, text=True)
    if done.returncode != 0:  # a step too large for the noise it needs is refused: not a candidate
        return 0.0
    return json.loads(done.stdout)["accuracy"]["mean"]


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "build/release/mfpg"
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        with open(f"{folder}/tune.yaml", "w") as file:
            file.write(COMMON)
        number = itertools.count()

        def means(seeds, cell, points):
            jobs = [[pool.submit(accuracy, program, folder, next(number), seeds, *cell, method, *point)
                     for method in METHODS] for point in points]
            return [(sum(job.result() for job in row) / len(row), point) for row, point in zip(jobs, points)]

        for cell in itertools.product(("example", "client"), ("local", "average"), (0.5, 1, 2, 4, 8)):
            grid = means(FIRST, cell, list(itertools.product(ROUNDS, STEPS, CLIPS)))
            finalists = [point for _, point in sorted(grid, reverse=True)[:FINALISTS]]
            best, (rounds, step, clip) = max(means(SECOND, cell, finalists))
            unit, view, target = cell
            print(f'SETTING("logistic", 8, 100, "{unit}", "{view}", {target:g}, {rounds}, 0, {step:g}, {clip:g}) /* {best:.3f} */', flush=True)


if __name__ == "__main__":
    main()
