"""One boot: what was recorded of it, or a target that is booted now."""

import os

from . import _program
from ._program import document, seconds

#: What `table` knows; each is a `bootlap show --by`.
TABLES = ("phases", "spans", "initcalls", "units", "processes", "functions", "deltas", "gaps",
          "reads", "files")


class Boot:
    """A boot, as `bootlap show --json` tells of it (docs/schema/report.json)."""

    def __init__(self, evidence, options, json):
        self._evidence, self._options = evidence, options
        #: The whole document.
        self.json = json

    @property
    def ready(self):
        """Seconds from the start to ready; None if it never came or nobody said what it is."""
        extent = self.json["extent"]
        if extent is None or not extent["ready"]:
            return None
        return seconds(extent["end_ns"] - extent["start_ns"])

    @property
    def total(self):
        """Seconds from the start to where the boot ends, `end` says where that is."""
        extent = self.json["extent"]
        return extent and seconds(extent["end_ns"] - extent["start_ns"])

    @property
    def end(self):
        """What the end of the boot is: `ready`, or what the log knows of (`login prompt` …)."""
        return self.json["extent"] and self.json["extent"]["end"]

    @property
    def phases(self):
        """Seconds of each phase, by its title."""
        return {phase["title"]: seconds(phase["end_ns"] - phase["start_ns"])
                for phase in self.json["phases"]}

    @property
    def costs(self):
        """The largest costs: `(name, seconds, why)`."""
        return [(cost["name"], seconds(cost["duration_ns"]), cost["why"])
                for cost in self.json["costs"]]

    @property
    def findings(self):
        """What to change: dictionaries with `title`, `fix`, `risk`, `saving_ns` …"""
        return self.json["findings"]

    def took(self, name):
        """Seconds of everything that is called `name`, added up; None if there is nothing.

        A phase, a part of one, or a span (a unit, an initcall, a process).
        """
        for phase in self.json["phases"]:
            for part in (phase, *phase["parts"]):
                if name in (part["name"], part.get("title")):
                    return seconds(part["end_ns"] - part["start_ns"])
        long = [span["end_ns"] - span["start_ns"] for span in self.json["spans"]
                if span["name"] == name and span["end_ns"] is not None]
        return seconds(sum(long)) if long else None

    def table(self, by="spans"):
        """The rows of one of `TABLES` as dictionaries."""
        if by not in TABLES:
            raise ValueError(f"there is no table {by!r}; these are: {', '.join(TABLES)}")
        return document("show", "--by", by, "--limit", "0", *self._options, *self._evidence)["rows"]

    def arrow(self, by="spans"):
        """The same as a `pyarrow.Table`; times stay integer nanoseconds."""
        import pyarrow

        return pyarrow.Table.from_pylist(self.table(by))

    def pandas(self, by="spans"):
        """The same as a `pandas.DataFrame`."""
        return self.arrow(by).to_pandas()

    def polars(self, by="spans"):
        """The same as a `polars.DataFrame`."""
        import polars

        return polars.from_arrow(self.arrow(by))

    def page(self, path, before=None):
        """Writes a report; the extension says which: .html, .svg, .md, .csv, .pftrace …"""
        against = [] if before is None else ["--before", *before._evidence]
        _program.run("report", "-o", path, *against, *self._options, *self._evidence)
        return path

    def check(self, budget, junit=None):
        """What `bootlap check` says of it and a budget (docs/schema/check.json)."""
        more = [] if junit is None else ["--junit", junit]
        return document("check", "--budget", budget, *more, *self._options, *self._evidence,
                        fine=(0, 3))

    def __repr__(self):
        name = self.json["target"] or " ".join(map(str, self._evidence))
        if self.ready is None:
            return f"<Boot {name}: not ready>"
        return f"<Boot {name}: ready after {self.ready:.3f} s>"


def read(*evidence, ready=None, format=None):
    """Reads what was recorded of one boot: logs, archives, folders, runs, in any mix.

    `ready` is a regular expression of the line that means ready, `format` what `--as` takes.
    """
    if not evidence:
        raise ValueError("name at least one file")
    evidence = [os.fspath(path) for path in evidence]
    options = [] if ready is None else ["--ready", ready]
    options += [] if format is None else ["--as", format]
    return Boot(evidence, options, document("show", *options, *evidence))


def boot(target, *, runs="runs", boots=1, plain=False):
    """Boots a target in QEMU (its folder), and reads that run. Time is counted, so one boot is
    enough, unless `plain` asks for real time."""
    words = ["boot", target, "--runs", runs, "-n", str(boots), *(["--plain"] if plain else [])]
    json = document(*words)
    return Boot([json["run"]], [], json)
