#!/usr/bin/env python3
"""Writes stats_reference.json: what SciPy says of fixed samples.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install scipy statsmodels
    /tmp/venv/bin/python crates/analysis/tests/stats_reference.py

The test `stats_reference.rs` compares the crate's statistics with it.
"""

import itertools
import json
import pathlib

import numpy as np
from scipy import optimize, stats
from statsmodels.stats.multitest import multipletests

ALPHA = 0.05
rng = np.random.default_rng(20261101)


def board(n, centre_ms, spread_ms):
    """Boot times of a board: skewed, with a rare outlier."""
    times = centre_ms + rng.gamma(2.0, spread_ms, n)
    times[rng.random(n) < 0.1] += 20 * spread_ms
    return [int(t * 1e6) for t in times]


CASES = {
    "no ties": ([5, 1, 9, 14, 22], [3, 8, 2, 31, 40, 55]),
    "ties": ([3, 3, 4, 5, 5, 8], [3, 5, 5, 9, 9]),
    "apart": ([100, 101, 102, 103], [10, 11, 12, 13]),
    "small": ([7, 9], [8, 1, 2]),
    "two against many": ([50, 4], [1, 2, 3, 60, 70]),
    "eight, mixed": ([110, 142, 128, 119, 150, 135, 123, 160], [105, 118, 101, 126, 131, 98, 139, 112]),
    "six and nine": ([31, 47, 39, 52, 28, 44], [40, 61, 55, 49, 70, 36, 58, 66, 63]),
    "board, 8 runs, −30 ms": (board(8, 4000, 4), board(8, 3970, 4)),
    "board, 10 and 12 runs, no change": (board(10, 4000, 4), board(12, 4000, 4)),
    "board, 40 runs, −3 ms": (board(40, 4000, 4), board(40, 3997, 4)),
    "board, 150 runs, −1 ms": (board(150, 4000, 4), board(150, 3999, 4)),
}


def hodges_lehmann(a, b, axis=-1):
    a, b = np.asarray(a, float), np.asarray(b, float)
    differences = b[..., None, :] - a[..., :, None]
    return np.median(differences.reshape(*differences.shape[:-2], -1), axis=-1)


def statistic(a, b):
    """Brunner and Munzel's, by SciPy; above 0 if b is longer. Divided by their
    own deviation, sides that do not overlap would be infinitely far apart;
    there the crate takes the variance of one exchange."""
    n, m = len(a), len(b)
    places = [[sum(y < x for y in b) for x in a], [sum(x < y for x in a) for y in b]]
    variance = n * np.var(places[0], ddof=1) + m * np.var(places[1], ddof=1)
    if variance > 2:
        # SciPy's counts ranks from the other side.
        t = -float(stats.brunnermunzel(b, a).statistic)
        ours = (sum(places[1]) - n * m / 2) / np.sqrt(variance)
        assert abs(t - ours) < 1e-9 * max(1, abs(t)), (t, ours)
        return t
    return (sum(places[1]) - n * m / 2) / np.sqrt(2)


ORDERS = {}


def orders(n, m):
    """The statistic's size in all orders."""
    if (n, m) not in ORDERS:
        sizes = []
        for chosen in itertools.combinations(range(n + m), m):
            b = list(chosen)
            a = sorted(set(range(n + m)) - set(b))
            first = np.searchsorted(b, a)
            second = np.searchsorted(a, b)
            variance = max(2, n * np.var(first, ddof=1) + m * np.var(second, ddof=1))
            sizes.append(abs(second.sum() - n * m / 2) / np.sqrt(variance))
        ORDERS[n, m] = np.array(sizes)
    return ORDERS[n, m]


def chance(a, b, t):
    """How often chance is so far from 0: by all orders, or by Student's t with
    Brunner and Munzel's degrees of freedom."""
    if len(a) + len(b) <= 16:
        return float((orders(len(a), len(b)) >= abs(t) - 1e-6).mean())
    return float(stats.brunnermunzel(a, b).pvalue)


def two_sided(a, b):
    """Values are whole numbers: moved by a half against the claim, equal ones
    are no longer equal."""
    greater = statistic(a, [y - 0.5 for y in b])
    less = statistic(a, [y + 0.5 for y in b])
    if greater > 0:
        return chance(a, [y - 0.5 for y in b], greater)
    return chance(a, [y + 0.5 for y in b], less) if less < 0 else 1.0


def inverted(a, b, alpha=ALPHA):
    """The shifts that the test does not reject: tried at each difference."""
    shifts = sorted({y - x for x in a for y in b})
    keeps = lambda s: two_sided(a, [y - s for y in b]) > alpha
    low = next((s for s in shifts if keeps(s)), None)
    high = next((s for s in reversed(shifts) if keeps(s)), None)
    # All of them: the test has too few values to reject anything.
    if two_sided(a, [y - shifts[0] + 1 for y in b]) > alpha:
        return None
    return [low, high]


def alike(a, b):
    """Whether neither side is far wider than the other, or far smaller."""
    spreads = [stats.median_abs_deviation(x) for x in (a, b)]
    few, many = sorted((len(a), len(b)))
    return max(spreads) <= 2.5 * min(spreads) and (few >= 6 or few == many)


def bootstrap(a, b):
    r = stats.bootstrap(
        (a, b),
        hodges_lehmann,
        vectorized=True,
        method="percentile",
        n_resamples=50_000,
        rng=np.random.default_rng(2),
        batch=1_000,
    )
    return [float(r.confidence_interval.low), float(r.confidence_interval.high)]


def outliers(sample):
    """Indices beyond a modified z-score of 3.5 (Iglewicz and Hoaglin)."""
    x = np.asarray(sample, float)
    z = np.abs(x - np.median(x)) / stats.median_abs_deviation(x, scale="normal")
    return [int(i) for i in np.flatnonzero(z > 3.5)]


def case(name, a, b):
    out = {
        "name": name,
        "before": a,
        "after": b,
        "median": [float(np.median(a)), float(np.median(b))],
        "mad": [float(stats.median_abs_deviation(x)) for x in (a, b)],
        "outliers": [outliers(x) for x in (a, b)] if len(a) >= 8 else None,
        "shift": float(hodges_lehmann(a, b)),
        "alike": bool(alike(a, b)),
        "exact": len(a) + len(b) <= 16,
        "p": two_sided(a, b),
        "interval": inverted(a, b) if len(a) + len(b) <= 16 else None,
        "bootstrap": bootstrap(a, b) if 8 <= len(a) <= 40 else None,
    }
    return out


PAIRS = {
    "six, all one way": [(10, 7), (12, 10), (9, 3), (14, 13), (8, 4), (11, 6)],
    "eight, two ways": [(50, 41), (58, 55), (43, 35), (60, 62), (51, 40), (48, 32), (66, 53), (40, 36)],
    "eight, no change": [(50, 41), (52, 58), (49, 61), (60, 59), (51, 55), (48, 43), (70, 63), (44, 60)],
    "board, 24": list(zip(board(24, 4000, 4), board(24, 3997, 4))),
}


# Halves of a nanosecond are rounded against a claim; here there are none.
PAIRS = {name: [(10 * a, 10 * b) for a, b in pairs] for name, pairs in PAIRS.items()}


def in_pairs(name, pairs):
    """Wilcoxon's signed rank test and that of two samples, each with half of the
    error: what either rules out is ruled out."""
    a, b = [list(side) for side in zip(*pairs)]
    assert alike(a, b), name
    d = np.array(b, float) - np.array(a, float)
    p = lambda d: float(stats.wilcoxon(d, method="exact").pvalue)
    means = sorted((x + y) / 2 for i, x in enumerate(d) for y in d[i:])
    exact = len(a) + len(b) <= 16
    interval = inverted(a, b, ALPHA / 2) if exact else None
    # Between two means no difference is 0 and no two are equal in size.
    middles = [(low + high) / 2 for low, high in zip(means, means[1:]) if high > low]
    if exact and 2 / 2 ** len(a) <= ALPHA / 2:
        kept = [m for m in middles if p(d - m - 1e-6) > ALPHA / 2]
        low = max(m for m in means if m < kept[0])
        high = min(m for m in means if m > kept[-1])
        interval = [max(interval[0], np.floor(low)), min(interval[1], np.ceil(high))]
    return {
        "name": name,
        "pairs": pairs,
        "exact": exact,
        "shift": float(np.median(means)),
        "p": min(1.0, 2 * min(p(d), two_sided(a, b))),
        "interval": [float(x) for x in interval] if interval else None,
    }


def levels(alpha):
    """Two-sided levels of three looks, after 1/4, 1/2 and all of the boots,
    that spend alpha · ln(1 + (e − 1)·t) until then. By integrating over the
    Brownian motion that has not stopped yet."""
    spent = [alpha * np.log(1 + (np.e - 1) * t) for t in (0.25, 0.5, 1.0)]
    nodes, weights = np.polynomial.legendre.leggauss(400)

    def crossing(z, density, x, time, since):
        edge, step = z * np.sqrt(time), np.sqrt(time - since)
        beyond = stats.norm.sf((edge - x) / step) + stats.norm.cdf((-edge - x) / step)
        return (density * beyond).sum()

    def solve(density, x, time, since, spend):
        f = lambda z: crossing(z, density, x, time, since) - spend
        return optimize.brentq(f, 0, 12, xtol=1e-13)

    z1 = stats.norm.isf(spent[0] / 2)
    x1 = nodes * z1 * 0.5
    density1 = weights * z1 * 0.5 * stats.norm.pdf(x1, scale=0.5)
    z2 = solve(density1, x1, 0.5, 0.25, spent[1] - spent[0])
    edge = z2 * np.sqrt(0.5)
    x2 = nodes * edge
    arrived = stats.norm.pdf(x2[:, None] - x1[None, :], scale=0.5) * density1[None, :]
    density2 = weights * edge * arrived.sum(axis=1)
    z3 = solve(density2, x2, 1.0, 0.5, spent[2] - spent[1])
    return [float(2 * stats.norm.sf(z)) for z in (z1, z2, z3)]


def holm(p):
    return {"p": p, "corrected": list(multipletests(p, method="holm")[1])}


ALPHAS = [1e-9, 1e-6, 1e-4, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 0.9]
BETWEEN = [0.000_5, 0.008_333_333, 0.012_5, 0.016_666_667, 0.3]
document = {
    "cases": [case(name, a, b) for name, (a, b) in CASES.items()],
    "pairs": [in_pairs(name, pairs) for name, pairs in PAIRS.items()],
    "levels": [[a, levels(a)] for a in ALPHAS],
    "levels_between": [[a, levels(a)] for a in BETWEEN],
    "holm": [
        holm([0.01, 0.04, 0.03, 0.005]),
        holm([0.2, 0.2, 0.001, 0.9, 0.012, 0.0125]),
        holm([0.5]),
    ],
}
path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps(document, ensure_ascii=False) + "\n")
