"""What the checks of patch sets and layers read with."""

import logging
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

import wheels  # noqa: E402


def packages(cache):
    """The folder of unpacked packages; fetched into `cache` the first time."""
    return wheels.unpacked(cache, "patchset-2.19.0-14.1.0", HERE / "requirements.txt")


# A core layer as far as it takes to read another: no registry has the real one.
CORE_LAYER = """
BBPATH .= ":${LAYERDIR}"
BBFILES += "${LAYERDIR}/recipes-*/*/*.bb"
BBFILE_COLLECTIONS += "core"
BBFILE_PATTERN_core = "^${LAYERDIR}/"
BBFILE_PRIORITY_core = "5"
LAYERSERIES_CORENAMES = "wrynose"
LAYERSERIES_COMPAT_core = "wrynose"
"""


def lay_out(work, core, layer):
    """The folders of a build with the core layer, whose files are given, and `layer`; its
    `conf`."""
    for name, text in {"conf/layer.conf": CORE_LAYER, **core}.items():
        file = work / "core" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    conf = work / "build/conf"
    conf.mkdir(parents=True)
    (conf / "bblayers.conf").write_text(
        'BBPATH = "${TOPDIR}"\nBBFILES = ""\n' f'BBLAYERS = "{work}/core {layer}"\n'
    )
    return conf


class Complaints(logging.Handler):
    """Everything that BitBake warns of."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.said = []

    def emit(self, record):
        said = record.getMessage()
        if record.exc_info:
            said += f": {record.exc_info[1]}"
        self.said.append(said)
