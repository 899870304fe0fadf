"""Attacks on the digits of a release, the float path that they beat, and the bound that they may not pass."""

import math
import os

import numpy as np

TRIALS = 300 * int(os.environ.get("MFPG_TEST_SCALE", "1"))


def float_path(update, draw, sd, clip=1.0):
    """How updates were noised before there was a grid: a float draw, scaled and added in double, rounded to float."""
    factor = 1 / max(1.0, np.linalg.norm(update) / clip)
    z = draw.standard_normal(len(update)).astype(np.float32)
    return (update * factor + sd * z.astype(np.float64)).astype(np.float32)


def impossible(values, sd, received=None):
    """How many of these floats no float draw can have produced from an update of zeros."""
    near, possible = values.astype(np.float32), np.zeros(len(values), bool)
    received = np.zeros(len(values), np.float32) if received is None else received
    sums = [near - received]
    for way in (-np.inf, np.inf):  # the addition may have rounded
        sums += [np.nextafter(sums[0], np.float32(way)), np.nextafter(np.nextafter(sums[0], np.float32(way)), np.float32(way))]
    for private in sums:
        z = (private.astype(np.float64) / sd).astype(np.float32)
        for one in (z, np.nextafter(z, np.float32(-np.inf)), np.nextafter(z, np.float32(np.inf))):
            made = (sd * one.astype(np.float64)).astype(np.float32)
            possible |= (made == private) & (received + made == near)
    return int((~possible).sum())


def most_correct(mu):
    """The share of right guesses that mu-GDP admits: Phi(mu/2)."""
    return 0.5 * math.erfc(-mu / 2 / math.sqrt(2))


def surely_above(correct, trials, share):
    """Clopper-Pearson at 99 %: whether so many right guesses refute that the chance of one is at most `share`."""
    log_p, log_q = math.log(share), math.log1p(-share)
    tail = math.fsum(math.exp(math.lgamma(trials + 1) - math.lgamma(i + 1) - math.lgamma(trials - i + 1)
                              + i * log_p + (trials - i) * log_q) for i in range(correct, trials + 1))
    return tail < 0.01
