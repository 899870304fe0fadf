#!/usr/bin/env python3
"""Chooses rounds, step and clip of the frontier suite on seeds that the suite never reports.

For every (unit, view, target epsilon) each point of a small grid is trained with dp-sgd, mapg-dp and mfpg on seeds 1001
to 1008; the best eight points are trained again on seeds 2001 to 2048, and the one with the best mean test accuracy over
the methods is printed as a line of src/reproduction/frontier.def. View final, where only the entropic methods gain, has a grid of
its own with more rounds and steps that its assumption allows; it is trained once, with mfep on seeds 2001 to 2012.

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
FINAL = {"mfep": ["entropic.step={step}", "entropic.scale=sensitivity", "privacy.assume=glm", "data.norm=4", "evaluate_every=100000"]}
FINAL_SEEDS, FINAL_GRID = "seed=2001..2012", ((60, 250, 600), (0.1, 0.25, 0.4), (0.3, 0.5, 1, 2))


def accuracy(program, folder, number, seeds, unit, view, target, method, rounds, step, clip):
    settings = [f"method={method}", f"privacy.unit={unit}", f"privacy.view={view}", f"privacy.clip={clip}",
                f"noise.target_epsilon={target}", f"train.rounds={rounds}", seeds]
    settings += [text.format(step=step) for text in (FINAL if view == "final" else METHODS)[method]]
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
            methods = FINAL if cell[1] == "final" else METHODS
            jobs = [[pool.submit(accuracy, program, folder, next(number), seeds, *cell, method, *point)
                     for method in methods] for point in points]
            return [(sum(job.result() for job in row) / len(row), point) for row, point in zip(jobs, points)]

        targets = (0.5, 1, 2, 4, 8)
        cells = [*itertools.product(("example", "client"), ("local", "average"), targets), *itertools.product(("example",), ("final",), targets)]
        for cell in cells:
            unit, view, target = cell
            if view == "final":
                finalists, seeds = list(itertools.product(*FINAL_GRID)), FINAL_SEEDS
            else:
                grid = means(FIRST, cell, list(itertools.product(ROUNDS, STEPS, CLIPS)))
                finalists, seeds = [point for _, point in sorted(grid, reverse=True)[:FINALISTS]], SECOND
            best, (rounds, step, clip) = max(means(seeds, cell, finalists))
            print(f'SETTING("logistic", 8, 100, "{unit}", "{view}", {target:g}, {rounds}, 0, {step:g}, {clip:g}) /* {best:.3f} */', flush=True)


if __name__ == "__main__":
    main()
