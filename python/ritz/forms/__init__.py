# SPDX-License-Identifier: BSD-2-Clause
"""Forms of UFL as operators of the library: `assemble`, and what it is made of."""
from .assemble import BoundForm, FormOperator, assemble, bind, residual_operator
from .integrals import CompiledForm, FacetHeight, compile_form
from .scalar import UnsupportedForm

__all__ = ["BoundForm", "CompiledForm", "FacetHeight", "FormOperator", "UnsupportedForm", "assemble", "bind",
           "compile_form", "residual_operator"]
