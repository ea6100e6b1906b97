# SPDX-License-Identifier: BSD-2-Clause
"""Builds the package: the C library, unless one is given, and the module over it.

RITZ_PREFIX=PREFIX: the module uses the library installed there, which stays where it is.
RITZ_BUNDLE=PREFIX: a copy of that installation becomes part of the package (tools/build-wheels).
Neither: the library is built from the sources above this folder, in build/library, and becomes part of it.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Tuple

import setuptools
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))  # isolated builds have no current folder

PROGRAMS = ("ritz", "ritz-bench")


def build_library() -> Path:
    """The library from its sources, installed into a folder of the build."""
    build, stage = HERE / "build" / "library", HERE / "build" / "stage"
    if not (ROOT / "CMakeLists.txt").exists():
        sys.exit("ritz: no sources of the library above the package; set RITZ_PREFIX to an installation")
    shutil.rmtree(stage, ignore_errors=True)
    configure = ["cmake", "-S", str(ROOT), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release", "-DRITZ_TESTS=OFF",
                 f"-DCMAKE_C_FLAGS=-ffile-prefix-map={ROOT}/=", "-DRITZ_MPI=OFF", "-DRITZ_PETSC=OFF",
                 "-DRITZ_FORTRAN=OFF", "-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_SHARED_LINKER_FLAGS=-s", "-DCMAKE_EXE_LINKER_FLAGS=-s"]
    for command in (configure, ["cmake", "--build", str(build), "-j", str(os.cpu_count() or 2), "--target", "products"],
                    ["cmake", "--install", str(build), "--prefix", str(stage)]):
        subprocess.run(command, check=True)
    return stage


def find_prefix() -> Tuple[Path, bool]:
    """An installation of the library, and whether it becomes part of the package."""
    if os.environ.get("RITZ_PREFIX"):
        return Path(os.environ["RITZ_PREFIX"]).resolve(), False
    if os.environ.get("RITZ_BUNDLE"):
        return Path(os.environ["RITZ_BUNDLE"]).resolve(), True
    return build_library(), True


def copy_bundle(prefix: Path, library: Path, bundle: Path) -> None:
    """Library, by the name that programs look for, headers, programs and licence."""
    soname = min((path.name for path in library.parent.glob("libritz.so.*")), key=len)
    (bundle / "lib").mkdir(parents=True)
    (bundle / "bin").mkdir()
    shutil.copy(library.resolve(), bundle / "lib" / soname)
    shutil.copytree(prefix / "include", bundle / "include")
    shutil.copy(prefix / "share" / "doc" / "ritz" / "LICENSE", bundle / "LICENSE")
    for program in PROGRAMS:
        shutil.copy(prefix / "bin" / program, bundle / "bin" / program)


class BuildModule(build_ext):
    """The text of the module is generated and compiled when all options are known."""

    def run(self) -> None:
        from build_ffi import compile_options, find_library, make_ffi

        prefix, is_bundled = find_prefix()
        library = find_library(prefix)
        rpath = "$ORIGIN/_prefix/lib" if is_bundled else str(library.parent)
        source = Path(self.build_temp) / "ritz._lib.c"
        source.parent.mkdir(parents=True, exist_ok=True)
        make_ffi(prefix, rpath).emit_c_code(str(source))
        (extension,) = self.extensions
        extension.sources = [str(source)]
        for name, value in compile_options(prefix, rpath).items():
            setattr(extension, name, value)
        super().run()
        bundle = Path(self.get_ext_fullpath("ritz._lib")).parent / "_prefix"
        shutil.rmtree(bundle, ignore_errors=True)
        if is_bundled:
            copy_bundle(prefix, library, bundle)


# An installed library has its program beside it, which a script of the same name would replace.
scripts = [] if os.environ.get("RITZ_PREFIX") else ["ritz = ritz.__main__:main"]
setuptools.setup(
    entry_points={"console_scripts": scripts},
    ext_modules=[setuptools.Extension("ritz._lib", [], py_limited_api=True,
                                      define_macros=[("Py_LIMITED_API", "0x03090000")])],
    cmdclass={"build_ext": BuildModule},
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
