# SPDX-License-Identifier: BSD-2-Clause
"""Base classes of mesh, space, function and constant: UFL's where it is installed, so that they stand in forms."""
from __future__ import annotations

from typing import Any

try:
    import ufl as _ufl
    from ufl.finiteelement import AbstractFiniteElement
    from ufl.pullback import identity_pullback
    from ufl.sobolevspace import H1, L2
except ImportError:
    _ufl = None

HAVE_UFL = _ufl is not None
MeshBase: Any = _ufl.Mesh if HAVE_UFL else object
SpaceBase: Any = _ufl.FunctionSpace if HAVE_UFL else object
FunctionBase: Any = _ufl.Coefficient if HAVE_UFL else object
ConstantBase: Any = _ufl.Constant if HAVE_UFL else object

if HAVE_UFL:

    class Element(AbstractFiniteElement):
        """A Lagrange element of some degree and value shape, or a product of such, as UFL wants to know them."""

        def __init__(self, cell: Any, degree: int, shape: tuple[int, ...] = (), subs: tuple[Any, ...] = (),
                     is_continuous: bool = True):
            self._cell, self.degree, self._shape, self._subs = cell, degree, shape, subs
            self.is_continuous = is_continuous

        def __repr__(self) -> str:
            kind = "Lagrange" if self.is_continuous else "Discontinuous"
            return f"ritz.{kind}({self._cell}, {self.degree}, {self._shape}, {self._subs})"

        __str__ = __repr__

        def __hash__(self) -> int:
            return hash(repr(self))

        def __eq__(self, other: object) -> bool:
            return repr(self) == repr(other)

        @property
        def sobolev_space(self) -> Any:
            return H1 if self.is_continuous else L2

        @property
        def pullback(self) -> Any:
            return identity_pullback

        @property
        def embedded_superdegree(self) -> int:
            return self.degree

        @property
        def embedded_subdegree(self) -> int:
            return self.degree

        @property
        def cell(self) -> Any:
            return self._cell

        @property
        def reference_value_shape(self) -> tuple[int, ...]:
            return self._shape

        @property
        def sub_elements(self) -> list[Any]:
            return list(self._subs)


def ufl_cell(name: str) -> Any:
    return getattr(_ufl, name) if HAVE_UFL else name


def is_expression(x: Any) -> bool:
    """Whether x is an expression of UFL."""
    return HAVE_UFL and isinstance(x, _ufl.core.expr.Expr)
