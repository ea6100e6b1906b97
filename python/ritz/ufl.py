# SPDX-License-Identifier: BSD-2-Clause
"""UFL's form language without the names that are the package's own (Mesh, FunctionSpace, Constant, ...).

`from ritz import *; from ritz.ufl import *` brings all that a program needs. UFL's i, j, k, l, p, q, r, s are left out.
"""
import ufl as _ufl

from . import _NAMES

_OTHERS = {name for names in _NAMES.values() for name in names} | set("ijklpqrs") | {
    "Cell", "Coefficient", "Cofunction", "Coargument", "Matrix", "Mesh", "MeshSequence", "MixedFunctionSpace",
    "TensorProductFunctionSpace"}
__all__ = [name for name in _ufl.__all__ if name not in _OTHERS]
globals().update({name: getattr(_ufl, name) for name in __all__})
