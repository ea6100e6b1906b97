# SPDX-License-Identifier: BSD-2-Clause
"""Ritz: matrix-free high-order finite elements with fused kernels for CPUs and GPUs.

Names are loaded when they are used first. Forms need UFL (pip install ritz[ufl]); all else does not.
"""
from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Module -> names of the package.
_NAMES = {
    "_core": ("AccessError", "Context", "ConvergenceError", "DimensionError", "Error", "FailedError", "IncompatibleError",
              "IncompleteError", "UnsupportedError", "Vector", "context", "device", "num_allocations"),
    "mesh": ("BoxMesh", "Mesh", "UnitCubeMesh", "UnitIntervalMesh", "UnitSquareMesh", "mesh_from_arrays"),
    "space": ("FunctionSpace", "ProductSpace", "VectorFunctionSpace"),
    "function": ("Constant", "Function"),
    "bcs": ("DirichletBC", "dirichletbc"),
    "operators": ("Operator", "diffusion", "load_vector", "mass"),
    "solvers": ("Blocks", "Direct", "Jacobi", "LinearSolver", "Multigrid", "NewtonSolver", "Preconditioner", "Result"),
    "parallel": ("set_communicator",),
    "io": ("VTUFile", "write_vtu"),
    "plotting": ("Film", "plot"),
    # With UFL (_OF_FORMS):
    "forms": ("FacetHeight", "UnsupportedForm", "assemble"),
    "problems": ("LinearProblem", "NonlinearProblem", "errornorm", "norm", "project", "solve"),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}
_OF_FORMS = ("forms", "problems")
__all__ = sorted(name for name, module in _MODULE_OF.items() if module not in _OF_FORMS or find_spec("ufl"))

if TYPE_CHECKING:
    from ._core import *
    from .bcs import *
    from .forms import *
    from .function import *
    from .io import *
    from .mesh import *
    from .operators import *
    from .parallel import *
    from .plotting import *
    from .problems import *
    from .solvers import *
    from .space import *


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'ritz' has no attribute {name!r}")
    try:
        module = import_module(f".{_MODULE_OF[name]}", __name__)
    except ModuleNotFoundError as error:
        if error.name == "ufl":
            raise ModuleNotFoundError(f"ritz.{name} needs UFL: pip install 'ritz[ufl]'", name="ufl") from None
        raise
    value = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
