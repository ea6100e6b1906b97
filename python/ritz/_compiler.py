# SPDX-License-Identifier: BSD-2-Clause
"""Compilers for kernels where the machine has none, in packages of pip: zig (ritz[compiler]), NVRTC of NVIDIA's."""
import ctypes
import importlib.util
import os
import shutil
from pathlib import Path
from typing import List

_ASKED_FOR = ("gcc", "clang", "cc")  # what the library looks for in PATH
_NVRTC = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2")  # and where its loader looks, the first one first


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


def offer_nvrtc() -> None:
    """Names the NVRTC of a package nvidia-cuda-nvrtc* in RITZ_NVRTC, if there is one, unless the library finds another by
    itself; called before the first context of CUDA is made."""
    if any(os.environ.get(name) for name in ("RITZ_NVRTC", "CUDA_HOME", "CUDA_PATH")):
        return
    found = _find_nvrtc()
    if found and not _has_nvrtc():
        os.environ["RITZ_NVRTC"] = found[0]


def _find_nvrtc() -> List[str]:
    """The newest one first. Packages for CUDA 13 and later have all libraries in one folder."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(place) / folder / "lib" for place in (spec.submodule_search_locations or () if spec else ())
               for folder in ("cu13", "cuda_nvrtc")]
    return [str(folder / name) for name in _NVRTC for folder in folders if (folder / name).exists()]


def _has_nvrtc() -> bool:
    """Whether the library finds one without being told."""
    if any(Path("/usr/local").glob("cuda*/lib64/libnvrtc.so*")):
        return True
    for name in _NVRTC:
        try:
            ctypes.CDLL(name)
            return True
        except OSError:
            pass
    return False
