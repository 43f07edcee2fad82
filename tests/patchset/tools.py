"""What the checks of a patch set read with."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import wheels  # noqa: E402


def packages(cache):
    """The folder of unpacked packages; fetched into `cache` the first time."""
    return wheels.unpacked(cache, "patchset-2.19.0-14.1.0", HERE / "requirements.txt")
