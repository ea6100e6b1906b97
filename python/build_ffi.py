# SPDX-License-Identifier: BSD-2-Clause
"""The cffi module ritz._lib, in API mode with the limited ABI, from the headers of an installed library.

setup.py calls it. Run as a program, it leaves the module beside the package's sources, for work in the tree:
RITZ_PREFIX=PREFIX python build_ffi.py.
"""
import os
import re
import sys
from pathlib import Path
from typing import Dict, List

from cffi import FFI

HERE = Path(__file__).resolve().parent
CEED_HEADERS = ["ceed/types.h", "ceed/ceed.h", "ceed/backend.h", "ceed/jit-tools.h", "ceed/jit-tools-deprecated.h"]
NOT_FOR_BINDINGS = {"point-function.h", "mpi.h", "petsc.h"}  # texts for compilers, MPI, PETSc
INCLUDED = ("stdarg.h", "stdio.h", "stdlib.h", "ceed/backend.h", "ceed/jit-tools.h", "ceed/jit-tools-deprecated.h", "ritz.h")

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

# y = op x on memory of the caller's, which vectors of these lengths borrow meanwhile: in one call, not five.
APPLY = """int ritz_python_apply_to(CeedOperator op, CeedVector u, CeedVector v, CeedMemType x_type, CeedScalar *x,
                         CeedMemType y_type, CeedScalar *y)"""
APPLY_BODY = """ {
  int ierr = CeedVectorSetArray(u, x_type, CEED_USE_POINTER, x);

  if (!ierr) ierr = CeedVectorSetArray(v, y_type, CEED_USE_POINTER, y);
  if (!ierr) ierr = CeedOperatorApply(op, u, v, CEED_REQUEST_IMMEDIATE);
  if (!ierr) ierr = CeedVectorTakeArray(v, y_type, NULL);
  return ierr ? ierr : CeedVectorTakeArray(u, x_type, NULL);
}
"""


def read_header(path: Path) -> str:
    """Declarations of a header in cffi's subset of C."""
    text = re.sub(r"(?m)^#(.*\\\n)*.*\n", "", path.read_text(encoding="utf-8"))  # directives with their next lines
    text = re.sub(r"(?ms)^static inline\b(?:[^\n]*\}$|.*?^\})", "", text)
    text = re.sub(r"\bCEED_EXTERN\b", "extern", text)
    return re.sub(r"\bCEED_RESTRICT\b", "", text)


def headers_in_order(include: Path) -> List[Path]:
    """The library's own headers, each behind those that it includes."""
    names = [f"ritz/{path.name}" for path in sorted((include / "ritz").glob("*.h")) if path.name not in NOT_FOR_BINDINGS]
    order: List[str] = []

    def add(name: str) -> None:
        if name in names and name not in order:
            for needed in re.findall(r"(?m)^#include <(.*)>", (include / name).read_text(encoding="utf-8")):
                add(needed)
            order.append(name)

    for name in names:
        add(name)
    single = "#define RITZ_SCALAR_F32\n" in (include / "ceed/types.h").read_text(encoding="utf-8")
    return [include / name for name in [f"ceed/ceed-f{32 if single else 64}.h"] + CEED_HEADERS + order]


def find_library(prefix: Path) -> Path:
    """The shared library of an installation, of either precision, by the shortest of its names."""
    found = [path for name in ("lib", "lib64", "lib/*-linux-gnu") for kind in ("libritz", "libritz-f32")
             for path in prefix.glob(f"{name}/{kind}.so*")]
    if not found:
        sys.exit(f"ritz: no libritz.so or libritz-f32.so in {prefix}/lib, {prefix}/lib64 or Debian's {prefix}/lib/*-linux-gnu")
    return min(found, key=lambda path: len(path.name))  # where both are: of doubles


def find_headers(prefix: Path) -> Path:
    """The folder of that library's headers."""
    is_single = find_library(prefix).name.startswith("libritz-f32")
    return prefix / "include" / "ritz-f32" if is_single else prefix / "include"


def compile_options(prefix: Path, rpath: str) -> Dict[str, List[str]]:
    """How the module is compiled over the library in `prefix`, which it looks for in `rpath` at run time."""
    return {"include_dirs": [str(find_headers(prefix))],
            "extra_link_args": [str(find_library(prefix)), f"-Wl,-rpath,{rpath}"],
            "extra_compile_args": ["-O1", "-g0", "-w"]}


def make_ffi(prefix: Path, rpath: str) -> FFI:
    """The module, ready to be written or compiled."""
    ffi = FFI()
    ffi.cdef("typedef ... va_list;")
    for header in headers_in_order(find_headers(prefix)):
        ffi.cdef(read_header(header))
    ffi.cdef(CALLBACKS + APPLY + ";")
    ffi.set_source("ritz._lib", "".join(f"#include <{name}>\n" for name in INCLUDED) + "static " + APPLY + APPLY_BODY,
                   **compile_options(prefix, rpath))
    return ffi


if __name__ == "__main__":
    if not os.environ.get("RITZ_PREFIX"):
        sys.exit(__doc__)
    installed = Path(os.environ["RITZ_PREFIX"]).resolve()
    make_ffi(installed, str(find_library(installed).parent)).compile(tmpdir=str(HERE), target="_lib.abi3.so")
