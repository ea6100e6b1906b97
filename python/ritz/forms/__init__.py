# SPDX-License-Identifier: BSD-2-Clause
"""Forms of UFL as operators of the library: `assemble`, and what it is made of."""
import ufl

if not isinstance(ufl.Mesh.geometric_dimension, property):  # a method in UFL 2025.1, the last one for Python 3.9 and 3.10
    raise ImportError("ritz.forms needs UFL 2026.2 or later, and so Python 3.11 or later: pip install 'ritz[ufl]'", name="ufl")

from .assemble import BoundForm, FormOperator, assemble, bind, residual_operator
from .integrals import CompiledForm, FacetHeight, compile_form
from .scalar import UnsupportedForm

__all__ = ["BoundForm", "CompiledForm", "FacetHeight", "FormOperator", "UnsupportedForm", "assemble", "bind",
           "compile_form", "residual_operator"]
