#!/usr/bin/env python3
"""What Kconfig and make make of an external tree for Buildroot.

usage: kconfig.py CACHE TREE

Reads the tree's Config.in and merges its fragment with Kconfiglib, then
includes the configuration and external.mk with GNU make, as Buildroot's
Makefile does. Buildroot itself no registry has: SYMBOLS are its names and
types. Reads the fragments for U-Boot and Linux alike. Prints, as JSON, the
configurations that came out. Exit code 1, with what was said, if there was
anything to complain of.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import tools

SYMBOLS = {
    "buildroot": {
        "string": [
            "BR2_LINUX_KERNEL_CONFIG_FRAGMENT_FILES",
            "BR2_TARGET_UBOOT_CONFIG_FRAGMENT_FILES",
            "BR2_PACKAGE_HOST_UBOOT_TOOLS_ENVIMAGE_SOURCE",
            "BR2_PACKAGE_HOST_UBOOT_TOOLS_ENVIMAGE_SIZE",
            "BR2_ROOTFS_POST_BUILD_SCRIPT",
            "BR2_ROOTFS_POST_IMAGE_SCRIPT",
        ],
        "bool": [
            "BR2_PACKAGE_HOST_UBOOT_TOOLS",
            "BR2_PACKAGE_HOST_UBOOT_TOOLS_ENVIMAGE",
            "BR2_PACKAGE_HOST_UBOOT_TOOLS_FIT_SUPPORT",
            "BR2_TARGET_ROOTFS_CPIO",
        ],
        "choice": [
            f"BR2_TARGET_ROOTFS_CPIO_{c}"
            for c in ["NONE", "GZIP", "BZIP2", "LZ4", "LZMA", "XZ", "ZSTD"]
        ],
    },
    "uboot": {
        "string": ["BOOTARGS"],
        "int": ["BOOTDELAY"],
        "bool": ["USE_BOOTARGS", "SILENT_CONSOLE", "GZIP", "BZIP2", "LZMA", "LZ4", "ZSTD"]
        + ["CRC32", "SHA1", "SHA256"],
    },
    "linux": {
        "string": ["CMDLINE"],
        "bool": ["BLK_DEV_INITRD", "CMDLINE_BOOL"]
        + [f"RD_{c}" for c in ["GZIP", "BZIP2", "LZMA", "XZ", "LZ4", "ZSTD"]],
    },
}


def kconfig_text(symbols):
    """A Kconfig file with these symbols, all of which can be set."""
    text = ""
    for kind in ["string", "int", "bool"]:
        for name in symbols.get(kind, []):
            text += f'config {name}\n\t{kind} "{name}"\n\n'
    if "choice" in symbols:
        text += 'choice\n\tprompt "one of them"\n\n'
        text += "".join(f'config {n}\n\tbool "{n}"\n\n' for n in symbols["choice"])
        text += "endchoice\n\n"
    return text


def merged(work, project, fragment, more=""):
    """The values that a fragment sets, once merged; the .config is in `work`."""
    import kconfiglib

    os.environ["CONFIG_"] = "" if project == "buildroot" else "CONFIG_"
    (work / project).write_text(kconfig_text(SYMBOLS[project]) + more)
    config = kconfiglib.Kconfig(str(work / project), warn_to_stderr=False)
    config.warn_assign_undef = True
    config.load_config(str(fragment))
    config.write_config(str(work / f"{project}.config"))
    values = {}
    for symbol in config.unique_defined_syms:
        if symbol.user_value is not None:
            values[symbol.name] = symbol.str_value
    return values, config.warnings


def made(work, tree, about):
    """What make reads in the configuration, with the tree as Buildroot has it."""
    (work / "Makefile").write_text(
        f"BR2_EXTERNAL_{about['name']}_PATH = {tree}\n"
        f"BR2_EXTERNAL_{about['name']}_DESC = {about['desc']}\n"
        f"include {work}/buildroot.config\n"
        f"include {tree}/external.mk\n"
        "show:\n\t@:$(foreach v,$(filter BR2_%,$(.VARIABLES)),$(info $v=$(subst \",,$($v))))\n"
    )
    done = subprocess.run(
        ["make", "--no-print-directory", "--warn-undefined-variables", "-f", work / "Makefile"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or done.stderr:
        sys.exit(done.stderr)
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


def main():
    cache, tree = (pathlib.Path(arg).resolve() for arg in sys.argv[1:])
    sys.path.insert(0, str(tools.packages(cache)))
    about = dict(
        line.split(": ", 1) for line in (tree / "external.desc").read_text().splitlines()
    )
    [fragment] = (tree / "configs").glob("*.fragment")
    board = tree / "board" / fragment.stem
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        # As Buildroot's support/scripts/br2-external puts it into the menus.
        menu = f'menu "{about["desc"]} (in {tree})"\nsource "{tree}/Config.in"\nendmenu\n'
        values, warnings = merged(work, "buildroot", fragment, menu)
        made_of = made(work, tree, about)
        for name, value in made_of.items():
            if value.startswith(str(tree)) and not pathlib.Path(value).exists():
                warnings.append(f"{name} names {value}, which does not exist")
        for project in ["uboot", "linux"]:
            if (board / f"{project}.fragment").exists():
                own, more = merged(work, project, board / f"{project}.fragment")
                values |= own
                warnings += more
    if warnings:
        sys.exit("\n".join(warnings))
    values |= {k: v for k, v in made_of.items() if k in values and v not in ("y", "n")}
    print(json.dumps(values, indent=1).replace(str(tree), "TREE"))


main()
