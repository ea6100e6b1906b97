# SPDX-License-Identifier: BSD-2-Clause
"""Which numbers of an expression are stored at points, and which are computed with each apply.

Some inputs are known before an operator is applied (functions given, constants, positions), others not (the
operator's input). A node that is known before, and that the others need, is stored, for the price of reading a
number, or computed again, for its operations and, in turn, its arguments. The choice of least cost is a
minimal cut of a network, which a maximal flow finds (Dinic's algorithm). Called by integrals.py.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, Hashable, List, Sequence, Set

from .dag import LOGICAL, Graph, Node

NUMBER_PRICE = 8.0      # bytes of a stored number
OPERATION_PRICE = 0.37  # bytes that take as long as an operation at a point (geometry/choose.c)
_INFINITE = 1e30
_NOTHING = 1e-9         # less is rounding


class Network:
    """Vertices are numbers as they come; edges have capacities."""

    def __init__(self) -> None:
        self._edges: List[List[int]] = []  # of a vertex: even numbers lead away, their neighbours back
        self._to: List[int] = []
        self._left: List[float] = []

    def vertex(self) -> int:
        self._edges.append([])
        return len(self._edges) - 1

    def edge(self, a: int, b: int, capacity: float) -> None:
        for start, end, left in ((a, b, capacity), (b, a, 0.0)):
            self._edges[start].append(len(self._to))
            self._to.append(end)
            self._left.append(left)

    def _levels(self, source: int, sink: int) -> List[int]:
        """Steps from the source along edges that are not full; -1 where there is no way, or none shorter than the
        sink's."""
        to, left, edges = self._to, self._left, self._edges
        level = [-1] * len(edges)
        level[source] = 0
        front = [source]
        while front and level[sink] < 0:
            next_front = []
            for v in front:
                for e in edges[v]:
                    if left[e] > _NOTHING and level[to[e]] < 0:
                        level[to[e]] = level[v] + 1
                        next_front.append(to[e])
            front = next_front
        return level

    def _fill(self, source: int, sink: int, level: List[int]) -> None:
        """Fills all ways to the sink along ascending levels; at[v]: the edge of v that is to be tried next."""
        to, left, edges = self._to, self._left, self._edges
        at = [0] * len(edges)
        path: List[int] = []
        v = source
        while True:
            if v == sink:
                amount = min(left[e] for e in path)
                for e in path:
                    left[e] -= amount
                    left[e ^ 1] += amount
                full = next(k for k, e in enumerate(path) if left[e] <= _NOTHING)
                v = to[path[full] ^ 1]
                del path[full:]
            of_v, up = edges[v], level[v] + 1
            for k in range(at[v], len(of_v)):
                e = of_v[k]
                if left[e] > _NOTHING and level[to[e]] == up:
                    at[v] = k
                    path.append(e)
                    v = to[e]
                    break
            else:
                if not path:
                    return
                level[v] = -1  # a dead end
                v = to[path.pop() ^ 1]

    def cut(self, source: int, sink: int) -> Set[int]:
        """The vertices on the source's side of a minimal cut."""
        while True:
            level = self._levels(source, sink)
            if level[sink] < 0:
                return {v for v, steps in enumerate(level) if steps >= 0}
            self._fill(source, sink, level)


def choose_stored(outs: Sequence[Node], is_late: Callable[[Any], bool], is_free: Callable[[Any], bool],
                  field_of: Callable[[Any], Hashable], field_price: Callable[[Any], float],
                  number_price: float = NUMBER_PRICE,
                  operation_price: float = OPERATION_PRICE) -> List[Node]:
    """The nodes that are stored. Of the key of an input: is_late, it is not known before an apply; is_free, it
    costs nothing at either time; field_of, what it is read with at once, for field_price."""
    order = Graph.order(outs)
    late, free = _spread(order, is_late, is_free)
    early = [n for n in order if not late[n.id] and not free[n.id]]
    network = Network()
    source, sink = network.vertex(), network.vertex()
    made: Dict[int, int] = {n.id: network.vertex() for n in early}   # computed in an apply
    there: Dict[int, int] = {n.id: network.vertex() for n in early}  # known in an apply
    fields: Dict[Hashable, int] = {}
    for n in early:
        if n.op == "input":
            field = field_of(n.val)
            if field not in fields:
                fields[field] = network.vertex()
                network.edge(source, fields[field], max(field_price(field), 0.01))
            network.edge(fields[field], made[n.id], _INFINITE)
        else:
            network.edge(source, made[n.id], max(operation_price * n.price, 0.01))
        network.edge(made[n.id], there[n.id], _INFINITE if n.op in LOGICAL else number_price)
    for n in order:
        for a in n.args:
            if a.id in there and not free[n.id]:
                network.edge(there[a.id], sink if late[n.id] else made[n.id], _INFINITE)
    for n in outs:
        if n.id in there:
            network.edge(there[n.id], sink, _INFINITE)
    side = network.cut(source, sink)
    return [n for n in early if made[n.id] in side and there[n.id] not in side]


def _spread(order: Sequence[Node], is_late: Callable[[Any], bool],
            is_free: Callable[[Any], bool]) -> "tuple[Dict[int, bool], Dict[int, bool]]":
    late: Dict[int, bool] = {}
    free: Dict[int, bool] = {}
    for n in order:
        if n.op == "input":
            late[n.id], free[n.id] = is_late(n.val), is_free(n.val)
        else:
            late[n.id] = any(late[a.id] for a in n.args)
            free[n.id] = all(free[a.id] for a in n.args)
    return late, free
