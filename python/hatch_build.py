"""Puts the static program into the wheel: scripts/release says which, and for what.

Without BOOTLAP_PROGRAM the wheel is for every machine, and uses the `bootlap` that is in PATH.
"""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Program(BuildHookInterface):
    def initialize(self, version, build_data):
        program = os.environ.get("BOOTLAP_PROGRAM")
        if not program:
            return
        if not os.path.isfile(program):
            raise FileNotFoundError(f"BOOTLAP_PROGRAM={program} is no file")
        arch = os.environ["BOOTLAP_ARCH"]
        build_data["shared_scripts"] = {program: "bootlap"}
        build_data["pure_python"] = False
        # It is linked with nothing, so every libc will do.
        platforms = f"manylinux_2_17_{arch}.manylinux2014_{arch}.musllinux_1_1_{arch}"
        build_data["tag"] = f"py3-none-{platforms}"
