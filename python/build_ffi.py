# SPDX-License-Identifier: BSD-2-Clause
"""The cffi module ritz._lib, in API mode with the limited ABI, from the headers of an installed library.

RITZ_PREFIX names the installation; without it the library is built from the sources above this folder and
becomes a part of the package (ritz/_prefix: library, headers, the program `ritz`). setup.py calls make_ffi;
run as a program, this file leaves the module beside the package's sources, for work in the tree.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).resolve().parent
BUNDLE = HERE / "ritz" / "_prefix"
CEED_HEADERS = ["ceed/types.h", "ceed/ceed.h", "ceed/backend.h", "ceed/jit-tools.h", "ceed/jit-tools-deprecated.h"]
NOT_FOR_BINDINGS = {"point-function.h", "mpi.h", "petsc.h"}  # texts for compilers, MPI, PETSc

# Python functions that C calls, each with the object that it gets as a handle in ctx (ritz/_core.py).
CALLBACKS = """
extern "Python" int ritz_python_monitor(void *ctx, CeedInt iteration, double residual, bool *stop);
extern "Python" int ritz_python_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *op);
extern "Python" int ritz_python_part_level(void *ctx, CeedInt level, RitzSpace space, CeedOperator *inside,
                                           CeedOperator *seam);
extern "Python" int ritz_python_begin(const RitzTransport *transport, CeedInt num, const RitzMessage messages[]);
extern "Python" int ritz_python_end(const RitzTransport *transport, CeedInt num, const RitzMessage messages[]);
extern "Python" int ritz_python_reduce(const RitzTransport *transport, RitzReduction kind, CeedInt num,
                                       double values[]);
extern "Python" int ritz_python_null(void *ctx, CeedInt level, RitzSpace space, CeedInt max, CeedInt *num,
                                     CeedVector null[]);
extern "Python" int ritz_python_apply(void *ctx, CeedVector x, CeedVector y);
extern "Python" int ritz_python_map(void *ctx, CeedInt dim, const double *X, double *x);
extern "Python" int ritz_python_update(void *ctx, CeedVector u);
void free(void *memory);
FILE *fopen(const char *path, const char *mode);
FILE *tmpfile(void);
int fclose(FILE *file);
long ftell(FILE *file);
void rewind(FILE *file);
size_t fread(void *data, size_t size, size_t num, FILE *file);
"""


def find_prefix() -> Path:
    """Where the library is installed: RITZ_PREFIX, or a bundle that is built here."""
    if os.environ.get("RITZ_PREFIX"):
        return Path(os.environ["RITZ_PREFIX"]).resolve()
    root = HERE.parent
    if not (root / "CMakeLists.txt").exists():
        sys.exit("ritz: no sources of the library beside the package; set RITZ_PREFIX to an installation")
    build, stage = HERE / "build" / "library", HERE / "build" / "stage"
    jobs = str(os.cpu_count() or 2)
    configure = ["cmake", "-S", str(root), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release", "-DRITZ_TESTS=OFF",
                 "-DCMAKE_INSTALL_LIBDIR=lib", f"-DCMAKE_INSTALL_PREFIX={stage}"]
    for command in (configure, ["cmake", "--build", str(build), "-j", jobs, "--target", "products"],
                    ["cmake", "--install", str(build)]):
        subprocess.run(command, check=True)
    shutil.rmtree(BUNDLE, ignore_errors=True)
    shutil.copytree(stage / "include", BUNDLE / "include")
    (BUNDLE / "lib").mkdir()
    (BUNDLE / "bin").mkdir()
    library = (stage / "lib" / "libritz.so").resolve()
    soname = next(path.name for path in sorted((stage / "lib").glob("libritz.so.*"), key=lambda p: len(p.name)))
    shutil.copy(library, BUNDLE / "lib" / soname)
    shutil.copy(stage / "bin" / "ritz", BUNDLE / "bin" / "ritz")
    return BUNDLE


def read_header(path: Path) -> str:
    """Declarations of a header in cffi's subset of C."""
    text = re.sub(r"(?m)^#(.*\\\n)*.*\n", "", path.read_text(encoding="utf-8"))  # directives with their next lines
    text = re.sub(r"(?ms)^static inline\b(?:[^\n]*\}$|.*?^\})", "", text)
    text = re.sub(r"\bCEED_EXTERN\b", "extern", text)
    text = re.sub(r"\bCEED_RESTRICT\b", "", text)
    return re.sub(r"\bva_list\b", "void *", text)


def headers_in_order(include: Path) -> "list[Path]":
    """The library's own headers, each behind those that it includes."""
    names = [f"ritz/{path.name}" for path in sorted((include / "ritz").glob("*.h")) if path.name not in NOT_FOR_BINDINGS]
    order: "list[str]" = []

    def add(name: str) -> None:
        if name in names and name not in order:
            for needed in re.findall(r"(?m)^#include <(.*)>", (include / name).read_text(encoding="utf-8")):
                add(needed)
            order.append(name)

    for name in names:
        add(name)
    single = "#define RITZ_SCALAR_F32\n" in (include / "ceed/types.h").read_text(encoding="utf-8")
    return [include / name for name in [f"ceed/ceed-f{32 if single else 64}.h"] + CEED_HEADERS + order]


def make_ffi() -> FFI:
    prefix = find_prefix()
    folder = next((prefix / name for name in ("lib", "lib64") if list((prefix / name).glob("libritz.so*"))), prefix / "lib")
    library = min(folder.glob("libritz.so*"), key=lambda path: len(path.name))
    rpath = "$ORIGIN/_prefix/lib" if prefix == BUNDLE else str(folder)
    ffi = FFI()
    for header in headers_in_order(prefix / "include"):
        text = read_header(header)
        ffi.cdef(text)
    ffi.cdef(CALLBACKS)
    ffi.set_source("ritz._lib", "#include <stdio.h>\n#include <stdlib.h>\n#include <ceed/backend.h>\n#include <ritz.h>\n"
                   "#include <ceed/jit-tools.h>\n#include <ceed/jit-tools-deprecated.h>\n",
                   include_dirs=[str(prefix / "include")],
                   extra_link_args=[str(library), f"-Wl,-rpath,{rpath}"], extra_compile_args=["-O1", "-g0", "-w"])
    return ffi


if __name__ == "__main__":
    make_ffi().compile(tmpdir=str(HERE), target="_lib.abi3.so", verbose=False)
