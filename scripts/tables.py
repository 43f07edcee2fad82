"""What the scripts that make docs/tables/ share: the program that is measured, what it
says, what is kept of it, and how a page is written."""

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOOTLAP = Path(os.environ.get("BOOTLAP") or ROOT / "target/release/bootlap").absolute()
NAME = Path(sys.argv[0]).name
# A table is measured: what was kept of earlier boots is no measurement.
os.environ.setdefault("BOOTLAP_STORE", "none")


def say(text):
    """Progress, for whoever waits."""
    print(f"{NAME}: {text}", file=sys.stderr, flush=True)


def run(*command, **more):
    """What a program prints; the script ends if it fails."""
    return subprocess.run([str(word) for word in command], check=True, text=True,
                          stdout=subprocess.PIPE, **more).stdout


def ended(*args, cwd=None, codes=(0,)):
    """How bootlap ended, and what it printed; the script ends at any other exit code."""
    done = subprocess.run([BOOTLAP, "--quiet", *map(str, args)], cwd=cwd, text=True,
                          stdout=subprocess.PIPE)
    if done.returncode not in codes:
        sys.exit(f"{NAME}: bootlap {' '.join(map(str, args))} ended with {done.returncode}")
    return done.returncode, done.stdout


def bootlap(*args, **more):
    """What bootlap prints."""
    return ended(*args, **more)[1]


def asked(*args, **more):
    """The document that bootlap prints."""
    return json.loads(bootlap(*args, "--json", **more))


def example(name, folder, program, change):
    """A copy of an example, its text changed, with another QEMU if `program` says so."""
    shutil.copytree(ROOT / "targets" / name, folder)
    file = folder / "target.toml"
    text = file.read_text().replace("../kiosk", str(ROOT / "targets/kiosk"))
    if program:
        text = re.sub('program = "qemu-system-.*"', f'program = "{program}"', text)
    file.write_text(change(text))
    return folder


def with_cpu_s(do):
    """What `do` gives, and the host's CPU seconds that the programs it ran took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    given = do()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return given, sum(getattr(after, f) - getattr(before, f) for f in ("ru_utime", "ru_stime"))


def with_other_qemu(names):
    """Examples, each with a QEMU: None is the installed one. Each also has the one that
    scripts/other-qemu fetches, where it can."""
    more = []
    for name in names:
        text = (ROOT / "targets" / name / "target.toml").read_text()
        kind = re.search('"qemu-system-(.*)"', text)[1]
        other = subprocess.run([ROOT / "scripts/other-qemu", kind], text=True,
                               stdout=subprocess.PIPE)
        more += [(name, other.stdout.strip())] if other.returncode == 0 else []
    return [(name, None) for name in names] + more


def version():
    """The name and the number: what it finds of QEMU comes below."""
    return run(BOOTLAP, "--version").splitlines()[0]


def kept(path, make):
    """The document that `make` gave, now or another time."""
    if not path.exists():
        new = path.with_suffix(".new")
        new.write_text(json.dumps(make()))
        new.rename(path)
    return json.loads(path.read_text())


def of_this_bootlap(folder):
    """A folder in it for what this very program measured."""
    work = folder.absolute() / hashlib.sha256(BOOTLAP.read_bytes()).hexdigest()[:16]
    work.mkdir(parents=True, exist_ok=True)
    return work


def cache(name):
    """A folder in the cache that bootlap uses, too."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(os.environ.get("BOOTLAP_CACHE") or home / "bootlap") / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def machine():
    """The number of CPUs that are ours, and what they are."""
    lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(os.sched_getaffinity(0))} × {names[0] if names else 'unknown'}"


def script(name):
    """A script beside this one as a module; it does nothing but define."""
    argv, sys.argv = sys.argv, [name]
    try:
        loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"),
                                                      str(ROOT / "scripts" / name))
        spec = importlib.util.spec_from_loader(loader.name, loader)
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    finally:
        sys.argv = argv
    return module


def row(*cells):
    """A line of a table."""
    return "| " + " | ".join(map(str, cells)) + " |"
