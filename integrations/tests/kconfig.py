#!/usr/bin/env python3
"""The configuration that Kconfig makes of the external tree, for Buildroot's make.

usage: kconfig.py CACHE INIT [OPTION=VALUE…]

Reads Config.in as Buildroot puts it into its menus, with Kconfiglib, where INIT is
SYSV or SYSTEMD, and sets the options; each has to come out as it was set.
"""

import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path.insert(0, str(TOP / "tests/patchset"))

import tools  # noqa: E402

# The names and types are Buildroot's.
BUILDROOT = """
config BR2_USE_MMU
	def_bool y
config BR2_ENDIAN
	string
	default "LITTLE"
choice
	prompt "Init system"
config BR2_INIT_BUSYBOX
	bool "BusyBox"
config BR2_INIT_SYSV
	bool "SYSV"
config BR2_INIT_SYSTEMD
	bool "SYSTEMD"
endchoice
"""


def main():
    cache, init, *options = sys.argv[1:]
    sys.path.insert(0, str(tools.packages(pathlib.Path(cache))))
    import kconfiglib

    tree = TOP / "integrations/buildroot"
    os.environ["CONFIG_"] = ""
    os.environ["BR2_EXTERNAL_BOOTLAP_PATH"] = str(tree)
    with tempfile.TemporaryDirectory() as work:
        file = pathlib.Path(work) / "Config.in"
        menu = f'menu "bootlap (in {tree})"\nsource "{tree}/Config.in"\nendmenu\n'
        file.write_text(BUILDROOT + menu)
        config = kconfiglib.Kconfig(str(file), warn_to_stderr=False)
        for option in [f"BR2_INIT_{init}=y", "BR2_PACKAGE_BOOTLAP_AGENT=y", *options]:
            name, value = option.split("=")
            config.syms[name].set_value(value)
        config.write_config(str(file))
        written = file.read_text()
    for option in options:
        if config.syms[option.split("=")[0]].str_value != option.split("=")[1]:
            sys.exit(f"{option} is not what comes out")
    if config.warnings:
        sys.exit("\n".join(config.warnings))
    print(written)


main()
