"""What something adds to a boot in simulated time, for table-collect and table-replay-cost.

A target is booted in several ways, of which only the kernel's command line differs, each
in several layouts of its memory. What was booted is kept in a folder, by its content, and
not booted again.
"""

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from tables import ROOT, asked, kept, say

# Longer than what any way adds to a command line.
LONGEST = 160
# Of what is written to a guest's disk: the same in each run.
THEN = 1577836800


def agent(arch, parts):
    """The path of a bootlap-agent for `arch`, with these commands beside collect and mark."""
    out = f"build/{arch}-{parts or 'collect'}"
    subprocess.run(["make", "-s", "-C", ROOT / "agent", f"ARCH={arch}", f"OUT={out}", f"WITH={parts}"],
                   check=True, stdout=sys.stderr)
    return ROOT / "agent" / out / "bootlap-agent"


def words(layout, init="", options=""):
    """What a way adds to the command line, as long as what the others add: the strings of
    the device tree lie behind it, and how they are aligned is worth 1.3 M instructions.
    Options stand where the kernel does not look for its own."""
    way = f" {init} -- {options}" if options else f" {init}" if init else ""
    return f"layout={'x' * (LONGEST + 37 * layout - len(way))}{way}"


class Guest:
    """A target of scripts/debian-guest, with programs on its disk."""

    def __init__(self, work, folder, programs):
        self.work, self.folder = work, folder
        self.disk = work / "guest.img"
        self.files = []  # all that was written to it
        subprocess.run(["cp", "--sparse=always", folder / "disk.img", self.disk], check=True)
        self.write(programs)

    def write(self, files):
        """Files by their paths on the disk, each a path here or a text."""
        commands = ""
        for path, content in files.items():
            if isinstance(content, str):
                text, content = content, self.work / f"file{path.replace('/', '-')}"
                content.write_text(text)
            self.files.append(content)
            for parent in list(Path(path).parents)[-2::-1]:
                commands += f"mkdir {parent}\n"
            commands += f"write {content} {path}\nsif {path} mode 0100755\n"
            commands += "".join(f"sif {path} {field} {THEN}\n" for field in ("atime", "ctime", "mtime", "crtime"))
        subprocess.run(["debugfs", "-w", "-f", "/dev/stdin", self.disk], input=commands, text=True,
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def target(self, name, line, edit=lambda text: text):
        target = self.work / name
        target.mkdir()
        for file in ("vmlinuz", "initrd", "config"):
            (target / file).symlink_to(self.folder / file)
        (target / "disk.img").symlink_to(self.disk)
        text = (self.folder / "target.toml").read_text()
        (target / "target.toml").write_text(edit(text.replace('ttyS0,115200"', f'ttyS0,115200 {line}"')))
        return target


def booted(target, files, keep):
    """What `boot --json` says of it, kept by its text and these files."""
    key = hashlib.sha256((target / "target.toml").read_bytes())
    for path in files:
        key.update(path.read_bytes())
    def boot():
        say(f"booting {target.name}")
        return asked("boot", target, "-n", 1, "--runs", keep / "runs" / target.name)

    return kept(keep / f"{target.name}-{key.hexdigest()[:12]}.json", boot)


def costs(variant, ways, layouts, files, keep):
    """Instructions until ready by way, a number for each layout."""
    cells = [(way, layout) for layout in range(layouts) for way in ways]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        reports = list(pool.map(lambda c: booted(variant(*c), files, keep), cells))
    all_costs = {way: [] for way in ways}
    for (way, _), report in zip(cells, reports):
        all_costs[way].append(report["instructions"])
    return all_costs


def added(costs, way, baseline):
    """The median and the range of what a way adds, each with its own layout's baseline."""
    differences = sorted(a - b for a, b in zip(costs[way], costs[baseline]))
    return median(differences), differences[0], differences[-1]


def in_millions(added, total):
    most, low, high = added
    return f"{most / 1e6:.2f} M ({low / 1e6:.2f} to {high / 1e6:.2f}), {most / total:.2%}"
