"""The program that was built here is the one that is tested."""

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("BOOTLAP", str(ROOT / "target/debug/bootlap"))

pytest_plugins = ["pytester"]


@pytest.fixture
def log():
    """A console's log of one boot, and the pattern of its ready line."""
    return ROOT / "tests/boots/debian13-systemd257/console.stamps.gz", "APP_READY"
