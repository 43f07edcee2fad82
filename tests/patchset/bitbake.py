#!/usr/bin/env python3
"""What BitBake makes of a layer.

usage: bitbake.py CACHE LAYER

Parses with BitBake's own modules (from PyPI), as `bitbake -p` does: the layers'
configuration, the search for recipes and appends, and each recipe with its
appends. The core layer, which no registry has, is a stand-in with recipes of
the same names (CORE). Prints, as JSON, the variables that the layer is there to
change and the files that it adds, for each recipe. Exit code 1, with what BitBake said, if it had anything
to complain of.
"""

import json
import logging
import os
import pathlib
import re
import sys
import tempfile
import types

import tools

CORE = {
    "conf/bitbake.conf": """
PN = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0] or 'none'}"
PV = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1] or '1.0'}"
PROVIDES = "${PN}"
T = "${TMPDIR}/${PN}"
TMPDIR = "${TOPDIR}/tmp"
WORKDIR = "${TMPDIR}/build/${PN}"
UNPACKDIR = "${WORKDIR}/sources"
DEPLOYDIR = "${WORKDIR}/deploy"
IMAGE_ROOTFS = "${WORKDIR}/rootfs"
CACHE = "${TMPDIR}/cache"
PERSISTENT_DIR = "${TMPDIR}/cache"
STAMP = "${TMPDIR}/stamps/${PN}"
THISDIR = "${@os.path.dirname(d.getVar('FILE', False))}"
FILE_DIRNAME = "${@os.path.dirname(d.getVar('FILE', False))}"
FILESEXTRAPATHS = ""
FILESPATH = "${FILESEXTRAPATHS}${FILE_DIRNAME}"
DL_DIR = "${TOPDIR}/downloads"
SRC_URI = ""
require conf/local.conf
""",
    "classes/base.bbclass": """
addtask build
do_build() {
    :
}
addtask deploy
do_deploy() {
    :
}
""",
    "classes/kernel.bbclass": "",
    "classes/image.bbclass": "",
    "recipes-kernel/linux/linux-yocto_6.18.bb": "inherit kernel\n",
    "recipes-kernel/linux/linux-firmware_1.bb": "",
    "recipes-bsp/u-boot/u-boot_2026.01.bb": 'PROVIDES += "virtual/bootloader"\n',
    "recipes-bsp/u-boot/u-boot-tools_2026.01.bb": "",
    "recipes-core/images/initramfs_1.bb": "inherit image\n",
}
SHOWN = [
    "SRC_URI", "DEPENDS", "do_deploy", "APPEND",
    "FIT_KERNEL_COMP_ALG", "FIT_KERNEL_COMP_ALG_EXTENSION", "FIT_HASH_ALG",
    "UBOOT_LOADADDRESS", "INITRAMFS_FSTYPES", "ROOTFS_POSTPROCESS_COMMAND",
]  # fmt: skip


def lay_out(work, layer):
    """The folders of a build, with the core layer and `layer`."""
    conf = tools.lay_out(work, CORE, layer)
    classes = [c.stem for c in (layer / "classes").glob("*.bbclass")]
    with open(work / "core/recipes-core/images/initramfs_1.bb", "a") as image:
        image.writelines(f"inherit {name}\n" for name in classes)
    own = [c.name for c in (layer / "conf").glob("*.conf") if c.name != "layer.conf"]
    (conf / "local.conf").write_text("".join(f"require conf/{n}\n" for n in own))
    os.chdir(work / "build")


def read(path):
    """A file that BitBake found."""
    return pathlib.Path(path).read_text()


def parse(work, layer):
    """The shown variables, by recipe."""
    import bb.cooker
    import bb.cookerdata
    import bb.fetch2
    import bb.parse

    lay_out(work, layer)
    builder = bb.cookerdata.CookerDataBuilder(bb.cookerdata.CookerConfiguration())
    builder.parseBaseConfiguration()
    data = builder.data
    priorities = []
    for layer_name in data.getVar("BBFILE_COLLECTIONS").split():
        pattern = re.compile(data.getVar(f"BBFILE_PATTERN_{layer_name}"))
        priority = int(data.getVar(f"BBFILE_PRIORITY_{layer_name}"))
        priorities.append((layer_name, pattern.pattern, pattern, priority))
    collection = bb.cooker.CookerCollectFiles(priorities)
    recipes = collection.collect_bbfiles(data, data)[0]
    shown = {}
    unused = {append for _, append in collection.bbappends}
    for recipe in recipes:
        appends = collection.get_file_appends(recipe)
        unused -= set(appends)
        parsed = builder.parseRecipe(recipe, appends, collection.calc_bbfile_priority(recipe)[2])
        variables = {name: parsed.getVar(name) for name in SHOWN}
        functions = ["do_deploy"]
        functions += (variables["ROOTFS_POSTPROCESS_COMMAND"] or "").replace(";", " ").split()
        for name in functions:
            variables[name] = parsed.getVar(name)
            # With BitBake's own parser of shell.
            shell = bb.codeparser.ShellParser(name, logging.getLogger("BitBake"))
            shell.parse_shell(variables[name])
        urls = (variables["SRC_URI"] or "").split()
        fetch = bb.fetch2.Fetch(urls, parsed)
        variables["fetched"] = [read(fetch.localpath(url)) for url in urls]
        shown[pathlib.Path(recipe).stem] = {k: v for k, v in variables.items() if v is not None}
    return shown, sorted(unused)


def main():
    cache, layer = (pathlib.Path(arg).resolve() for arg in sys.argv[1:])
    sys.path.insert(0, str(tools.packages(cache)))
    # The package leaves out two servers, which no parser needs.
    for name in ["hashserv", "hashserv.client", "prserv", "prserv.serv"]:
        sys.modules[name] = types.ModuleType(name)
    import bb  # noqa: F401  sets up BitBake's logging

    complaints = tools.Complaints()
    logger = logging.getLogger("BitBake")
    logger.addHandler(complaints)
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work).resolve()
        try:
            shown, unused = parse(work, layer)
        except BaseException as error:  # BitBake has several that are no Exception
            sys.exit("\n".join([*complaints.said, f"{type(error).__name__}: {error}"]))
        finally:
            os.chdir("/")
    complaints.said += [f"no recipe for {append}" for append in unused]
    if complaints.said:
        sys.exit("\n".join(complaints.said))
    print(json.dumps(shown, indent=1).replace(str(layer), "LAYER").replace(str(work), "WORK"))


main()
