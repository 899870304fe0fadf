"""The model and a hospital's rows: logistic regression for "has a heart disease", from ten measurements."""

import csv

import numpy as np

# Columns of UCI Heart Disease that all hospitals have, with public ranges: not those of the data, which would tell of it.
RANGES = {0: (20, 90), 1: (0, 1), 2: (1, 4), 3: (80, 220), 4: (80, 600), 5: (0, 1), 6: (0, 2), 7: (60, 220), 8: (0, 1), 9: (-3, 7)}
LABEL = 13  # 0: healthy; 1 to 4: diseased


def load(path):
    """Features in [-1, 1], with a one for the bias, and labels 0 or 1; rows with a gap in these columns are left out."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row and not any(row[i].strip() == "?" for i in (*RANGES, LABEL))]
    if not rows:
        raise ValueError("the data file has no complete row")
    x = np.array([[float(row[i]) for i in RANGES] for row in rows])
    low, high = np.array(list(RANGES.values()), float).T
    x = np.clip(2 * (x - low) / (high - low) - 1, -1, 1)
    y = np.array([float(row[LABEL]) > 0 for row in rows], float)
    return np.hstack([x, np.ones((len(x), 1))]), y


def initial():
    """The model before the first round."""
    return {"weights": np.zeros(len(RANGES) + 1, np.float32)}


def train(model, x, y, steps=20, rate=0.5):
    """Gradient steps on the logistic loss."""
    w = model["weights"].astype(np.float64)
    for _ in range(steps):
        w -= rate * x.T @ (1 / (1 + np.exp(-x @ w)) - y) / len(y)
    return {"weights": w.astype(np.float32)}
