#!/usr/bin/env python3
"""Writes stats_reference.json: what SciPy says of fixed samples.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install scipy
    /tmp/venv/bin/python crates/analysis/tests/stats_reference.py

The test `stats_reference.rs` compares the crate's statistics with it.
"""

import json
import pathlib

import numpy as np
from scipy import stats

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
}


def hodges_lehmann(a, b, axis=-1):
    a, b = np.asarray(a, float), np.asarray(b, float)
    differences = b[..., None, :] - a[..., :, None]
    return np.median(differences.reshape(*differences.shape[:-2], -1), axis=-1)


def rank_p(a, b):
    """p of the rank sum, two-sided and for b > a, and how it was computed."""
    n, k = len(a) + len(b), len(b)
    ranks = stats.rankdata(np.concatenate([a, b]))
    ra, rb = ranks[: len(a)], ranks[len(a) :]
    exact = n <= 16

    def p(statistic):
        r = stats.permutation_test(
            (ra, rb),
            statistic,
            vectorized=True,
            alternative="greater",
            n_resamples=np.inf if exact else 200_000,
            rng=np.random.default_rng(1),
            batch=10_000,
        )
        return float(r.pvalue)

    return {
        "exact": exact,
        "two_sided": p(lambda x, y, axis: abs(y.sum(axis) - k * (n + 1) / 2)),
        "greater": p(lambda x, y, axis: y.sum(axis)),
    }


def case(name, a, b):
    out = {
        "name": name,
        "before": a,
        "after": b,
        "median": [float(np.median(a)), float(np.median(b))],
        "mad": [float(stats.median_abs_deviation(x)) for x in (a, b)],
        "shift": float(hodges_lehmann(a, b)),
        "rank": rank_p(a, b),
        "interval": None,
    }
    if len(set(a + b)) == len(a) + len(b):
        test = stats.mannwhitneyu(b, a, method="exact")
        out["mann_whitney"] = float(test.pvalue)
    if min(len(a), len(b)) >= 8:
        r = stats.bootstrap(
            (a, b),
            hodges_lehmann,
            vectorized=True,
            method="percentile",
            n_resamples=50_000,
            rng=np.random.default_rng(2),
            batch=1_000,
        )
        interval = r.confidence_interval
        out["interval"] = [float(interval.low), float(interval.high)]
    return out


path = pathlib.Path(__file__).with_suffix(".json")
cases = [case(name, a, b) for name, (a, b) in CASES.items()]
path.write_text(json.dumps(cases, indent=1, ensure_ascii=False) + "\n")
