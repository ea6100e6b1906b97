# SPDX-License-Identifier: BSD-2-Clause
"""Values of UFL expressions at the nodes of spaces: for interpolation and Dirichlet conditions."""
from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np
from ufl import classes as U

from .dag import Array, Graph, Node
from .scalar import Evaluator, UnsupportedForm, flat, lower


class _Leaves:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def side(self, terminal: Any, side: Optional[int], along: Optional[int]) -> int:
        if side is not None:
            raise UnsupportedForm(f"a side of {terminal} outside of integrals dS")
        return 0

    def function(self, terminal: Any, comp: int, along: Optional[int], side: int) -> Node:
        if along is not None:
            raise UnsupportedForm(f"the gradient of {terminal} at nodes, where it has several values: project it")
        return self._graph.input("f", terminal, comp)

    def other(self, terminal: Any, comp: Tuple[int, ...], side: int) -> Node:
        if isinstance(terminal, U.Constant):
            return self._graph.const(float(terminal.values[flat(comp, terminal.ufl_shape)]))
        if isinstance(terminal, U.SpatialCoordinate):
            return self._graph.input("x", comp[0])
        raise UnsupportedForm(f"{type(terminal).__name__} in an expression at nodes")


def evaluate_at_nodes(expression: Any, space: Any) -> Array:
    """Values [num_nodes][components] of an expression of positions, constants and functions at the nodes of a space."""
    from ..function import values_at_nodes

    graph = Graph()
    evaluator = Evaluator(graph, _Leaves(graph))
    lowered = lower(expression)
    outs = []
    for comp in np.ndindex(*expression.ufl_shape):
        value = evaluator(lowered, comp)
        if any(key != (None, None) for key in value):
            raise UnsupportedForm("an expression at nodes with test or trial functions")
        outs.append(value.get((None, None), graph.zero))
    if len(outs) != space.num_components:
        raise ValueError(f"interpolate: an expression of {len(outs)} components, needed {space.num_components}")
    x = space.node_coordinates()
    known: Dict[Any, Array] = {}

    def value_of(key: Any) -> Any:
        if key[0] == "x":
            return x[:, key[1]]
        if key[1] not in known:
            known[key[1]] = _values(values_at_nodes, key[1], space)
        return known[key[1]][:, key[2]]

    return np.stack([np.broadcast_to(v, len(x)) for v in graph.evaluate(outs, value_of)], axis=-1)


def _values(values_at_nodes: Any, function: Any, space: Any) -> Array:
    """Values of a function at the nodes of a space, whatever its components."""
    like = space if function.space.shape == space.shape else _Like(space, function.space)
    return np.asarray(values_at_nodes(function, like))


class _Like:
    """The nodes of a space with other components."""

    def __init__(self, space: Any, components: Any) -> None:
        self.num_nodes, self.num_components = space.num_nodes, components.num_components
        self.node_coordinates = space.node_coordinates
