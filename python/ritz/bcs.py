# SPDX-License-Identifier: BSD-2-Clause
"""Dirichlet conditions."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _base
from ._core import Vector, ffi, lib
from .function import Source, values_at_nodes
from .space import AnySpace, FunctionSpace, ProductSpace, SubSpace


class DirichletBC:
    """u = value on boundary parts: DirichletBC(V, 0, "all"), DirichletBC(V, f, ("left", "top"), component=2).

    value: a number, an array [shape], f(x) -> [components][nodes], a UFL expression or a function. With
    `component` the value is that component's alone. Of products: DirichletBC(W.sub(0), ...).
    """

    def __init__(self, space: FunctionSpace | SubSpace, value: Source, part: str | Sequence[str] = "all",
                 component: int | None = None):
        if isinstance(space, ProductSpace):
            raise TypeError("DirichletBC: a product of spaces; give one of its spaces, W.sub(i)")
        self.space = space.space if isinstance(space, SubSpace) else space
        self.index = space.index if isinstance(space, SubSpace) else 0
        self.value, self.component = value, component
        self.parts = (part,) if isinstance(part, str) else tuple(part)
        num = self.space.num_components
        if component is not None and not 0 <= component < num:
            raise ValueError(f"DirichletBC: component {component}, the space has {num}")
        nodes = np.unique(np.concatenate([self.space.boundary_nodes(name) for name in self.parts]))
        self.components = list(range(num)) if component is None else [component]
        self.nodes = nodes
        entries = (nodes[:, None] * num + np.array(self.components, np.int64)).ravel()
        self.entries: NDArray[np.int64] = space.entries(entries) if isinstance(space, SubSpace) else entries

    def values(self) -> NDArray[np.float64]:
        """At the entries."""
        target = self.space
        if self.component is not None and not self._is_whole():
            target = FunctionSpace(self.space.mesh, ("Lagrange" if self.space.is_continuous else "DG", self.space.degree))
        values = values_at_nodes(self.value, target)[self.nodes]
        chosen = values if values.shape[1] == len(self.components) else values[:, self.components]
        return np.asarray(chosen.ravel(), float)

    def _is_whole(self) -> bool:
        """Whether the value has all components of the space, though one alone is fixed."""
        if self.space.num_components == 1:
            return True
        shape = getattr(self.value, "ufl_shape", None) if _base.HAVE_UFL else None
        if shape is not None:
            return bool(np.prod(shape, dtype=int) == self.space.num_components)
        return hasattr(self.value, "space")

    def apply(self, u: Vector) -> None:
        """Writes the values into the L-vector u."""
        if u.ctx.lends_copies:
            changed = u.array_ro.copy()
            changed[self.entries] = self.values()
            u.array = changed
        else:
            u.array[self.entries] = self.values()

    def on(self, product: ProductSpace) -> DirichletBC:
        """The same entries, with zeros, of a product on a coarser level."""
        return DirichletBC(product.sub(self.index), 0, self.parts, self.component)

    def fixed_part(self, keep: list[Any]) -> list[dict[str, Any]]:
        """As multigrid wants to know it (RitzFixedPart), a dict for each part; `keep` holds the names."""
        found = []
        for name in self.parts:
            keep.append(ffi.new("char[]", name.encode()))
            found.append({"part": keep[-1], "num_comp": 0 if self.component is None else 1,
                          "comp": [self.component or 0, 0, 0]})
        return found


def dirichletbc(value: Source, part: str | Sequence[str], space: FunctionSpace | SubSpace) -> DirichletBC:
    """DirichletBC with the order of arguments of dolfinx; boundary parts stand for its lists of entries."""
    return DirichletBC(space, value, part)


def entries_of(bcs: Sequence[DirichletBC]) -> NDArray[np.int64]:
    """All constrained entries, ascending."""
    if not bcs:
        return np.zeros(0, np.int64)
    return np.unique(np.concatenate([bc.entries for bc in bcs]))


def constraints_of(bcs: Sequence[DirichletBC], space: AnySpace) -> Any:
    """The entries as the library wants them (RitzIndices)."""
    entries = entries_of(bcs)
    return space.ctx.new("RitzIndices", lib.RitzIndicesCreate, space.ctx.h, len(entries),
                         ffi.cast("int64_t *", entries.ctypes.data))


def as_list(bcs: DirichletBC | Sequence[DirichletBC] | None) -> list[DirichletBC]:
    return [] if bcs is None else [bcs] if isinstance(bcs, DirichletBC) else list(bcs)
