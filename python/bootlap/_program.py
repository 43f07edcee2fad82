"""The program that does the work, and how it is run."""

import json
import os
import shutil
import subprocess
import sysconfig


class Failed(Exception):
    """bootlap could not do what was asked: `str()` is what it said, `code` its exit code.

    2: what was asked makes no sense; 4: nothing usable in the input; 5: the machine failed;
    6: it never got ready.
    """

    def __init__(self, words, code, said):
        super().__init__(said or f"bootlap {words[0]} ended with {code}")
        self.words, self.code = words, code


def program():
    """The path of the program: $BOOTLAP, the one that came with this package, or that of PATH."""
    beside = os.path.join(sysconfig.get_path("scripts"), "bootlap")
    found = os.environ.get("BOOTLAP") or shutil.which(beside) or shutil.which("bootlap")
    if not found:
        raise FileNotFoundError("there is no bootlap in PATH: install a wheel with the program in "
                                "it, or name it with BOOTLAP=/path/to/bootlap")
    return found


def run(*words, fine=(0,)):
    """What `bootlap WORDS…` prints; `fine` are exit codes that are an answer, too."""
    words = [os.fspath(word) for word in words]
    # Its own progress is for people at a terminal.
    done = subprocess.run([program(), "--quiet", *words], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", check=False)
    if done.returncode not in fine:
        raise Failed(words, done.returncode, done.stderr.strip())
    return done.stdout


def document(*words, fine=(0,)):
    """The same, read as JSON."""
    return json.loads(run(*words, "--json", fine=fine))


def version():
    """The program's version."""
    return run("-V").split()[-1]


def seconds(ns):
    """Seconds of nanoseconds; None stays None."""
    return None if ns is None else ns / 1e9
