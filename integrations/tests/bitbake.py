#!/usr/bin/env python3
"""Parses the layer and runs the recipe's do_compile and do_install, with BitBake.

usage: bitbake.py CACHE WORK

With BitBake's own modules (from PyPI, as tests/patchset has them). The core layer,
which no registry has, is a stand-in with the classes and variables that the recipe
uses. The compiler is that of this machine. Leaves WORK/image as a package would be
made of it, and prints which package each file goes to.
"""

import fnmatch
import logging
import os
import pathlib
import sys
import types

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path.insert(0, str(TOP / "tests/patchset"))

import tools  # noqa: E402

CORE = {
    "conf/bitbake.conf": """
PN = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0] or 'none'}"
PV = "${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[1] or '1.0'}"
PROVIDES = "${PN}"
TMPDIR = "${TOPDIR}/tmp"
CACHE = "${TMPDIR}/cache"
PERSISTENT_DIR = "${TMPDIR}/cache"
STAMP = "${TMPDIR}/stamps/${PN}"
WORKDIR = "${TMPDIR}/made/${PN}"
T = "${WORKDIR}/temp"
D = "${WORKDIR}/image"
OVERRIDES = "pn-${PN}"
prefix = "/usr"
sbindir = "${prefix}/sbin"
includedir = "${prefix}/include"
datadir = "${prefix}/share"
mandir = "${datadir}/man"
sysconfdir = "/etc"
systemd_system_unitdir = "/usr/lib/systemd/system"
CC = "gcc -pipe"
CFLAGS = "-O2 -g -fdebug-prefix-map=${WORKDIR}=/usr/src"
LDFLAGS = "-Wl,-O1 -Wl,--as-needed -Wl,-z,relro,-z,now"
MAKE = "make"
PACKAGES = "${PN}-dev ${PN}-doc ${PN}"
FILES:${PN}-dev = "${includedir}"
FILES:${PN}-doc = "${mandir}"
FILES:${PN} = "${sbindir}/* ${sysconfdir} ${datadir}/${PN}"
""",
    "classes/base.bbclass": """
addtask compile
addtask install after do_compile
addtask build after do_install
do_build() {
    :
}
oe_runmake() {
    ${MAKE} ${EXTRA_OEMAKE} "$@"
}
""",
    "classes/externalsrc.bbclass": """
S = "${EXTERNALSRC}"
B = "${EXTERNALSRC_BUILD}"
""",
    "classes/systemd.bbclass": "",
    "classes/update-rc.d.bbclass": "",
}


def parsed(work):
    """The recipe's variables."""
    import bb.cookerdata
    import bb.parse

    tools.lay_out(work, CORE, TOP / "integrations/meta-bootlap")
    os.chdir(work / "build")
    builder = bb.cookerdata.CookerDataBuilder(bb.cookerdata.CookerConfiguration())
    builder.parseBaseConfiguration()
    found = builder.data.getVar("BBFILES").split()
    [recipe] = [r for pattern in found for r in sorted(pathlib.Path("/").glob(pattern[1:]))]
    return builder.parseRecipe(str(recipe), [], "")


def run(data, task):
    """A task, as BitBake runs it: by a shell with what the recipe says."""
    import bb.build

    for name in ["T", "B", "D"]:
        os.makedirs(data.getVar(name), exist_ok=True)
    data.setVarFlag(task, "dirs", data.getVar("B"))
    try:
        bb.build.exec_func(task, data)
    finally:
        for log in pathlib.Path(data.getVar("T")).glob(f"log.{task}*"):
            sys.stderr.write(log.read_text())


def packages(data, image, out):
    """Tells which package each file of the image goes to: the first that names it."""
    files = sorted(f for f in image.rglob("*") if not f.is_dir())
    for file in files:
        path = "/" + str(file.relative_to(image))
        for package in data.getVar("PACKAGES").split():
            patterns = (data.getVar(f"FILES:{package}") or "").split()
            if any(fnmatch.fnmatch(path, p) or path.startswith(p + "/") for p in patterns):
                print(package, path, file=out)
                break
        else:
            sys.exit(f"{path} is in no package")


def main():
    cache, work = (pathlib.Path(arg).resolve() for arg in sys.argv[1:])
    sys.path.insert(0, str(tools.packages(cache)))
    # The package leaves out two servers, which no parser needs.
    for name in ["hashserv", "hashserv.client", "prserv", "prserv.serv"]:
        sys.modules[name] = types.ModuleType(name)
    import bb  # noqa: F401  sets up BitBake's logging
    import bb.utils

    # What tasks print is no result.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    complaints = tools.Complaints()
    logging.getLogger("BitBake").addHandler(complaints)
    try:
        data = parsed(work)
        for checksum in data.getVar("LIC_FILES_CHKSUM").split():
            _, _, file, _, _, about = bb.fetch2.decodeurl(checksum)
            if bb.utils.md5_file(file) != about["md5"]:
                sys.exit(f"{file} is not the licence that the recipe knows")
        for task in ["do_compile", "do_install"]:
            run(data, task)
    except BaseException as error:  # BitBake has several that are no Exception
        sys.exit("\n".join([*complaints.said, f"{type(error).__name__}: {error}"]))
    if complaints.said:
        sys.exit("\n".join(complaints.said))
    packages(data, pathlib.Path(data.getVar("D")), out)


main()
