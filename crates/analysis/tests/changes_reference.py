#!/usr/bin/env python3
"""Writes changes_reference.json: where Apache Otava sees changes in fixed series.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install apache-otava
    /tmp/venv/bin/python crates/analysis/tests/changes_reference.py

The test `changes_reference.rs` compares the crate's changes with these.
"""

import importlib.metadata
import json
import pathlib

import numpy as np
from otava.analysis import compute_change_points

rng = np.random.default_rng(20261121)


def noisy(levels, noise):
    values = np.concatenate([np.full(n, level, float) for n, level in levels])
    return values + rng.normal(0, noise, len(values)) if noise else values


def skewed(levels, noise):
    """As a board has it: a tail to the slow side."""
    values = np.concatenate([np.full(n, level, float) for n, level in levels])
    return values + rng.gamma(2.0, noise, len(values))


SERIES = {
    "no change": noisy([(60, 1346)], 1.0),
    "no change, skewed": skewed([(60, 4000)], 4.0),
    "a step up": noisy([(30, 1346), (30, 1353)], 1.0),
    "a step down": noisy([(25, 5180), (35, 1346)], 2.0),
    "up and mended": noisy([(25, 1346), (12, 1360), (25, 1346)], 1.0),
    "three steps": noisy([(20, 100), (20, 104), (20, 102), (20, 110)], 0.5),
    "a step, skewed": skewed([(30, 4000), (30, 4060)], 4.0),
    "long, late": noisy([(170, 1346), (30, 1351)], 1.0),
    "long, two": noisy([(80, 1346), (60, 1340), (60, 1346)], 1.0),
    "simulated, a step": noisy([(15, 1344.1), (10, 1346.2)], 0.0),
    "simulated, the last one": noisy([(12, 1344.1), (1, 1346.2)], 0.0),
    "simulated, mended at once": noisy([(10, 1344.1), (1, 1346.2), (10, 1344.1)], 0.0),
    "one outlier": np.concatenate([noisy([(30, 1346)], 1.0), [1354.0], noisy([(29, 1346)], 1.0)]),
    "small step": noisy([(30, 1346), (30, 1347)], 1.0),
}


def case(name, series):
    series = [round(float(v), 3) for v in series]
    found, _ = compute_change_points(series, window_len=50, max_pvalue=0.001)
    return {"name": name, "series": series, "otava": [int(c.index) for c in found]}


path = pathlib.Path(__file__).with_suffix(".json")
document = {
    "otava": importlib.metadata.version("apache-otava"),
    "cases": [case(name, series) for name, series in SERIES.items()],
}
path.write_text(json.dumps(document, indent=None, ensure_ascii=False).replace('{"name"', '\n {"name"') + "\n")
for c in document["cases"]:
    print(c["name"], c["otava"])
