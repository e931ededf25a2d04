"""Puts compiled code into a wheel: what lies in the folder that FOREBAY_WHEEL_CODE names, see build_release.py."""

import os
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledCode(BuildHookInterface):
    """Without such a folder the wheel is a pure one; editable installations never have code."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is built."""
        folder = os.environ.get("FOREBAY_WHEEL_CODE")
        if not folder or version == "editable":
            return
        # Numba links the code itself: it runs with any C library that Numba runs with.
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_").replace("linux_", "manylinux_2_17_", 1)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["force_include"][folder] = "forebay/_compiled"
