#!/usr/bin/env python3
"""Writes stats_reference.json: what SciPy says of fixed samples.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install scipy statsmodels
    /tmp/venv/bin/python crates/analysis/tests/stats_reference.py

The test `stats_reference.rs` compares the crate's statistics with it.
"""

import itertools
import json
import pathlib
from fractions import Fraction

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
    "board, 8 runs, −30 ms": (board(8, 4000, 4), board(8, 3970, 4)),
    "board, 10 and 12 runs, no change": (board(10, 4000, 4), board(12, 4000, 4)),
    "board, 40 runs, −3 ms": (board(40, 4000, 4), board(40, 3997, 4)),
    "board, 150 runs, −1 ms": (board(150, 4000, 4), board(150, 3999, 4)),
}


def hodges_lehmann(a, b, axis=-1):
    a, b = np.asarray(a, float), np.asarray(b, float)
    differences = b[..., None, :] - a[..., :, None]
    return np.median(differences.reshape(*differences.shape[:-2], -1), axis=-1)


def one_sided(a, b, alternative):
    """Mann and Whitney's p. Values are whole numbers: moved by a half against
    the claim, equal ones are no longer equal, and SciPy's test is exact."""
    half = -0.5 if alternative == "greater" else 0.5
    b = np.asarray(b, float) + half
    method = "exact" if len(a) * len(b) <= 20_000 else "asymptotic"
    return float(stats.mannwhitneyu(b, a, alternative=alternative, method=method).pvalue)


def two_sided(a, b):
    return min(1.0, 2 * min(one_sided(a, b, "greater"), one_sided(a, b, "less")))


def inverted(a, b):
    """The shifts that the test does not reject: tried at each difference."""
    shifts = sorted({y - x for x in a for y in b})
    keeps = lambda s: two_sided(a, [y - s for y in b]) > ALPHA
    low = next((s for s in shifts if keeps(s)), None)
    high = next((s for s in reversed(shifts) if keeps(s)), None)
    # All of them: the test has too few values to reject anything.
    if two_sided(a, [y - shifts[0] + 1 for y in b]) > ALPHA:
        return None
    return [low, high]


def within(a, b, margin):
    """The larger p of two one-sided tests of a shift of the margin."""
    above = one_sided(a, [y + margin for y in b], "greater")
    below = one_sided(a, [y - margin for y in b], "less")
    return max(above, below)


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
    margins = [int(m) for m in (1, 4, 50, 2e6, 8e6, 40e6)]
    out = {
        "name": name,
        "before": a,
        "after": b,
        "median": [float(np.median(a)), float(np.median(b))],
        "mad": [float(stats.median_abs_deviation(x)) for x in (a, b)],
        "outliers": [outliers(x) for x in (a, b)] if len(a) >= 8 else None,
        "shift": float(hodges_lehmann(a, b)),
        "greater": one_sided(a, b, "greater"),
        "two_sided": two_sided(a, b),
        "interval": inverted(a, b) if len(a) <= 40 else None,
        "within": [[m, within(a, b, m)] for m in margins],
        "bootstrap": bootstrap(a, b) if 8 <= len(a) <= 40 else None,
    }
    if len(set(a + b)) == len(a) + len(b) <= 100:
        # Without ties SciPy has a p of its own for both sides at once.
        test = stats.mannwhitneyu(b, a, method="exact")
        out["mann_whitney"] = float(test.pvalue)
    if len(a) + len(b) <= 16:
        # All permutations; with ties it knows their distribution, and the
        # crate, which does not, must not say less.
        ranks = stats.rankdata(a + b)
        r = stats.permutation_test(
            (ranks[: len(a)], ranks[len(a) :]),
            lambda x, y, axis: abs(y.sum(axis) - len(b) * (len(a) + len(b) + 1) / 2),
            vectorized=True,
            alternative="greater",
            n_resamples=np.inf,
        )
        out["permutations"] = float(r.pvalue)
    return out


ROUNDS = {
    "no ties": [([5, 1], [3, 8]), ([101, 140], [96, 99]), ([207, 202], [190, 201])],
    "ties": [([5, 5], [5, 3]), ([8, 9, 9], [9, 4]), ([7], [7, 6])],
    "fours": [
        ([410, 405, 421, 400], [390, 395, 404, 380]),
        ([510, 505, 521, 500], [490, 495, 504, 480]),
        ([512, 507, 525, 503], [491, 499, 508, 489]),
    ],
}


def in_rounds(name, rounds):
    """All orders within each round, counted one by one."""
    ways = {0: Fraction(1)}
    for a, b in rounds:
        n, total, of = len(a) + len(b), 0, {}
        for chosen in itertools.combinations(range(n), len(b)):
            u = sum(chosen) - len(b) * (len(b) - 1) // 2
            of[u] = of.get(u, 0) + 1
            total += 1
        sums = {}
        for (u, p), (v, count) in itertools.product(ways.items(), of.items()):
            sums[u + v] = sums.get(u + v, Fraction(0)) + p * Fraction(count, total)
        ways = sums
    differences = sorted(y - x for a, b in rounds for x in a for y in b)

    def p(shift):
        not_above = sum(d <= shift for d in differences)
        not_below = sum(d >= shift for d in differences)
        rarest = min(not_above, not_below)
        return min(1.0, float(2 * sum(q for u, q in ways.items() if u <= rarest)))

    kept = [d for d in differences if p(d) > ALPHA]
    can_reject = p(differences[0] - 1) <= ALPHA
    return {
        "name": name,
        "rounds": rounds,
        "shift": float(np.median(differences)),
        "p": p(0),
        "interval": [kept[0], kept[-1]] if can_reject else None,
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
    "rounds": [in_rounds(name, rounds) for name, rounds in ROUNDS.items()],
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
