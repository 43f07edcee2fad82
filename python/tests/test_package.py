"""What the package says is what the program says."""

import json
import pathlib
import subprocess

import pytest

import bootlap


def test_a_boot_is_what_show_says(log):
    path, ready = log
    boot = bootlap.read(path, ready=ready)
    said = json.loads(subprocess.run([bootlap.program(), "show", "--json", "--ready", ready, path],
                                     check=True, capture_output=True).stdout)
    assert boot.json == said
    assert boot.ready == said["ready_ns"] / 1e9 == pytest.approx(13.578, abs=0.001)
    assert sum(boot.phases.values()) == pytest.approx(boot.ready)
    assert boot.took("kernel") == boot.phases["kernel"]
    assert boot.took("no such thing") is None


def test_tables_are_frames(log):
    import pandas
    import polars

    path, ready = log
    boot = bootlap.read(path, ready=ready)
    frame = boot.pandas("spans")
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == len(boot.table("spans")) > 40
    # What is not known is missing, not zero, and what is known is not rounded.
    started = [row["start_ns"] for row in boot.table("spans")]
    assert frame["start_ns"].tolist() == started
    other = boot.polars("spans")
    assert isinstance(other, polars.DataFrame)
    assert other["start_ns"].to_list() == started
    assert other.columns == list(frame.columns)
    with pytest.raises(ValueError, match="initcalls"):
        boot.table("nothing")


def test_two_sides_are_compared(log):
    path, ready = log
    same = bootlap.compare(path, path, ready=ready)
    assert same.total.shift == 0
    assert same.total.verdict == "unknown"
    assert same.table()


def test_what_fails_says_why(tmp_path):
    empty = tmp_path / "empty.log"
    empty.write_text("")
    with pytest.raises(bootlap.Failed, match="empty") as failed:
        bootlap.read(empty)
    assert failed.value.code == 4


def test_pages(log, tmp_path):
    path, ready = log
    page = bootlap.read(path, ready=ready).page(tmp_path / "boot.html")
    assert page.read_bytes().startswith(b"<!DOCTYPE html>") or b"<html" in page.read_bytes()[:200]


def test_the_version_is_the_programs():
    project = (pathlib.Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert f'version = "{bootlap.version()}"' in project
