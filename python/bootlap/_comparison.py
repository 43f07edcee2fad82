"""Two groups of boots."""

import os

from ._program import document, seconds


class Change:
    """A time in both groups, and what a test says of it."""

    def __init__(self, json):
        #: The whole entry.
        self.json = json
        self.name = json["name"]
        #: Medians, in seconds.
        self.before, self.after = seconds(json["before_ns"]), seconds(json["after_ns"])
        #: By how much it became longer, in seconds.
        self.shift = seconds(json["shift_ns"])
        #: `faster`, `slower`, `equivalent`, or `unknown` where the boots cannot tell.
        self.verdict = json["verdict"]

    def __repr__(self):
        if self.shift is None:
            return f"<Change {self.name}: {self.verdict}>"
        return f"<Change {self.name}: {self.shift:+.3f} s, {self.verdict}>"


class Comparison:
    """What `bootlap compare --json` tells (docs/schema/compare.json)."""

    def __init__(self, json):
        #: The whole document.
        self.json = json
        self.headline = json["headline"]
        self.total = Change(json["total"])
        self.phases = {phase["name"]: Change(phase) for phase in json["phases"]}

    def table(self):
        """A row for each span that both groups have."""
        return [{key: value for key, value in span.items() if not isinstance(value, (dict, list))}
                for span in self.json["spans"]]

    def arrow(self):
        """The same as a `pyarrow.Table`."""
        import pyarrow

        return pyarrow.Table.from_pylist(self.table())

    def pandas(self):
        """The same as a `pandas.DataFrame`."""
        return self.arrow().to_pandas()

    def __repr__(self):
        return f"<Comparison: {self.headline}>"


def compare(before, after, *, ready=None, margin=None):
    """Compares boots: each side is a run, a file, or a folder of them."""
    options = [] if ready is None else ["--ready", ready]
    options += [] if margin is None else ["--margin", margin]
    json = document("compare", os.fspath(before), os.fspath(after), *options)
    # An experiment has several variants; two sides have one comparison.
    return Comparison(json[0] if isinstance(json, list) else json)
