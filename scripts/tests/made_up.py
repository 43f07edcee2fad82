"""What the tests of the table scripts share: the scripts as modules, and a bootlap whose
answers are made up."""

import contextlib
import io
import os
import stat
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SCRIPTS))
sys.dont_write_bytecode = True

from tables import script  # noqa: E402, F401


def printed(do, *args):
    """What it prints as a page."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        do(*args)
    return out.getvalue()


def fake_bootlap(folder, answer):
    """A program in `folder` that answers as the body of `def answer(args)` says."""
    program = Path(folder) / "bootlap"
    program.write_text(f"""#!{sys.executable}
import json, sys
from pathlib import Path
args = [a for a in sys.argv[1:] if a not in ("--quiet", "--json")]
def value(option):
    return args[args.index(option) + 1]
if args == ["--version"]:
    print("bootlap 0.0.0")
    raise SystemExit
{answer}
print(json.dumps(answer(args)))
""")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def page(name, program, *args, **environment):
    """What a script prints that asks this bootlap."""
    command = [SCRIPTS / name, *args]
    done = subprocess.run(command, env={**os.environ, "BOOTLAP": str(program), **environment},
                          cwd=SCRIPTS.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout
