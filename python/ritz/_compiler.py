# SPDX-License-Identifier: BSD-2-Clause
"""A compiler for kernels where the machine has none: that of the package ziglang (pip install ritz[compiler])."""
import importlib.util
import os
import shutil
from pathlib import Path

_ASKED_FOR = ("gcc", "clang", "cc")  # what the library looks for in PATH


def offer_zig() -> None:
    """Names zig in RITZ_CC unless the library finds a compiler by itself; called before the first context is made."""
    if os.environ.get("RITZ_CC") or any(shutil.which(name) for name in _ASKED_FOR):
        return
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return
    program = Path(spec.submodule_search_locations[0]) / "zig"
    if program.exists():
        os.environ["RITZ_ZIG"] = str(program)
        os.environ["RITZ_CC"] = str(Path(__file__).resolve().parent / "zig-cc")
