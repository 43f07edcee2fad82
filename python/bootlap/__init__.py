"""bootlap from Python: boots, logs and comparisons as objects and as tables.

>>> import bootlap
>>> boot = bootlap.read("boot.log", ready="login:")
>>> boot.ready
14.2

Everything is asked of the program `bootlap`, which a wheel brings, as JSON of `bootlap … --json`:
`Boot.json` has all of it. Times here are seconds; the documents have integer nanoseconds.
"""

from ._boot import Boot, boot, read
from ._comparison import Change, Comparison, compare
from ._program import Failed, program, run, version

__all__ = ["Boot", "Change", "Comparison", "Failed", "boot", "compare", "program", "read", "run",
           "version"]
