"""The programs that people use today, for scripts/table-source-speed.

They are unpacked into the cache and never installed; what cannot be had is
left out, with the reason in `missing`.
"""

import os
import pty
import resource
import subprocess
import sys
import time
import tty
import venv

from tables import say

missing = []


def attempt(what, *command, cwd=None):
    """Whether the command succeeded; if not, `what` is missing."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        missing.append(f"{what} ({lines[-1] if lines else 'failed'})")
    return done.returncode == 0


def package(name, what, cache):
    """The path of a Debian package, fetched."""
    found = sorted(cache.glob(f"{name}_*.deb"))
    if not found:
        say(f"fetching {name} for {what}")
        if not attempt(what, "apt-get", "download", name, cwd=cache):
            return None
        found = sorted(cache.glob(f"{name}_*.deb"))
    return found[-1]


def kernel_tools(cache):
    """The folder with bootgraph.pl and pm-graph's bootgraph.py."""
    folder = cache / "linux"
    what = "bootgraph.pl and bootgraph.py"
    if not (folder / "scripts/bootgraph.pl").exists():
        deb = package("linux-source-6.1", what, cache)
        if not deb:
            return None
        folder.mkdir(exist_ok=True)
        unpack = (
            'dpkg-deb --fsys-tarfile "$0" | tar -xOf - ./usr/src/linux-source-6.1.tar.xz | xz -dc |'
            ' tar -xf - -C "$1" --strip-components=1 --wildcards'
            " linux-source-6.1/scripts/bootgraph.pl 'linux-source-6.1/tools/power/pm-graph/*'"
        )
        say("unpacking the two programs from the kernel's source")
        if not attempt(what, "sh", "-c", unpack, deb, folder):
            return None
        deb.unlink()
    return folder


def grabserial(cache):
    """How to start grabserial."""
    folder = cache / "grabserial"
    for name in ["grabserial", "python3-serial"]:
        deb = package(name, "grabserial", cache)
        if not deb or not attempt("grabserial", "dpkg-deb", "-x", deb, folder):
            return None
    return folder


def python_with(cache, *packages):
    """A Python that has these packages of PyPI."""
    folder = cache / "venv"
    python = folder / "bin/python"
    if not (folder / "ready").exists():
        say(f"installing {', '.join(packages)} into {folder}")
        venv.create(folder, with_pip=True)
        pip = [python, "-m", "pip", "-q", "install", "--disable-pip-version-check", *packages]
        if not attempt(", ".join(packages), *pip):
            return None
        (folder / "ready").touch()
    return python


def grabserial_cpu(folder, path, work):
    """CPU seconds that grabserial takes for the bytes of `path`: the time on
    the wall is the wire's."""
    board, port = pty.openpty()
    tty.setraw(board)
    tty.setraw(port)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, folder / "usr/bin/grabserial", "-S", "-d", os.ttyname(port)]
    command += ["-t", "-Q", "-o", work / "grabserial.out", "-q", "Run /sbin/init", "-e", "300"]
    env = dict(os.environ, PYTHONPATH=str(folder / "usr/lib/python3/dist-packages"))
    program = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    time.sleep(1)
    rest = memoryview(path.read_bytes())
    os.set_blocking(board, False)
    while rest and program.poll() is None:
        try:
            rest = rest[os.write(board, rest[:4096]) :]
        except BlockingIOError:
            time.sleep(0.001)
    program.wait()
    os.close(board)
    os.close(port)
    if rest:
        missing.append("grabserial (it could not read a pseudo terminal)")
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
