# SPDX-License-Identifier: BSD-2-Clause
"""Scalar expressions at a point, as nodes of a graph in which equal expressions are one node.

Made by scalar.py from forms; cut.py decides which nodes are stored, emit.py writes nodes as C. Nodes are
simplified as they are made, so that structure which tensor notation hides (symmetry, zeros, common factors)
is found. `Graph.evaluate` computes nodes with NumPy: for constants, and as the measure for tests.
"""
from __future__ import annotations

import math
from typing import Any, Callable, Dict, Hashable, Iterable, List, Optional, Sequence, Set, Tuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# Functions of C by the name that NumPy gives them.
_NUMPY: Dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asin": np.arcsin, "acos": np.arccos,
    "atan": np.arctan, "atan2": np.arctan2, "pow": np.power, "fabs": np.abs,
    "erf": np.vectorize(math.erf, otypes=[float]),
}
_OPERATIONS: Dict[str, Callable[..., Any]] = {
    "+": np.add, "*": np.multiply, "/": np.divide, "neg": np.negative, "min": np.minimum, "max": np.maximum,
    "cond": np.where, "<": np.less, ">": np.greater, "<=": np.less_equal, ">=": np.greater_equal,
    "==": np.equal, "!=": np.not_equal, "and": np.logical_and, "or": np.logical_or, "not": np.logical_not,
    **_NUMPY,
}
LOGICAL = {"<", ">", "<=", ">=", "==", "!=", "and", "or", "not"}

# Operations of a point that take as long, by the throughput of vector instructions: an addition or
# multiplication is 1. Divisions and roots: tables of instructions; functions: measured in kernels, where they
# are vector instructions of libmvec (tests/bench_forms.py functions).
_PRICES: Dict[str, float] = {
    "input": 0, "const": 0, "neg": 0, "/": 8, "sqrt": 8, "exp": 20, "log": 23, "sin": 16, "cos": 18, "tan": 25,
    "sinh": 43, "cosh": 20, "tanh": 42, "asin": 18, "acos": 43, "atan": 17, "atan2": 39, "pow": 92, "erf": 34,
}


class Node:
    """An operation and what it is of; `val` is a number of "const", the key of "input"."""

    __slots__ = ("id", "op", "args", "val")

    def __init__(self, number: int, op: str, args: Tuple["Node", ...], val: Any) -> None:
        self.id, self.op, self.args, self.val = number, op, args, val

    def __repr__(self) -> str:
        return f"<{self.id}: {self.op} {[a.id for a in self.args] if self.val is None else self.val}>"

    @property
    def price(self) -> float:
        """Operations that computing this node takes once its arguments are there."""
        return _PRICES.get(self.op, 1)

    @property
    def is_const(self) -> bool:
        return self.op == "const"

    @property
    def number(self) -> float:
        """The value of a constant."""
        return float(self.val)


class Graph:
    """Makes nodes; all nodes that meet in an expression are of one graph."""

    def __init__(self) -> None:
        self._table: Dict[Tuple[str, Tuple[int, ...], Any], Node] = {}
        self._count = 0
        self.zero, self.one = self.const(0.0), self.const(1.0)

    def _make(self, op: str, args: Tuple[Node, ...] = (), val: Any = None) -> Node:
        key = (op, tuple(a.id for a in args), val)
        node = self._table.get(key)
        if node is None:
            node = self._table[key] = Node(self._count, op, args, val)
            self._count += 1
        return node

    # ---- Leaves ----

    def const(self, value: float) -> Node:
        return self._make("const", (), float(value) + 0.0)  # + 0.0: no negative zero

    def input(self, *key: Hashable) -> Node:
        """A number that is given, by what it is."""
        return self._make("input", (), key)

    # ---- Sums and products ----

    def neg(self, a: Node) -> Node:
        if a.is_const:
            return self.const(-a.number)
        return a.args[0] if a.op == "neg" else self._make("neg", (a,))

    def add(self, a: Node, b: Node) -> Node:
        if a.is_const and b.is_const:
            return self.const(a.number + b.number)
        if a is self.zero or b is self.zero:
            return b if a is self.zero else a
        if a.op == "neg" and b.op == "neg":
            return self.neg(self.add(a.args[0], b.args[0]))
        if (a.op == "neg" and a.args[0] is b) or (b.op == "neg" and b.args[0] is a):
            return self.zero
        if a is b:
            return self.mul(self.const(2), a)
        if a.op == "*" and b.op == "*" and a.args[0].is_const and a.args[0] is b.args[0]:
            return self.mul(a.args[0], self.add(a.args[1], b.args[1]))
        return self._make("+", (a, b) if a.id < b.id else (b, a))

    def sub(self, a: Node, b: Node) -> Node:
        return self.add(a, self.neg(b))

    def mul(self, a: Node, b: Node) -> Node:
        sign = (a.op == "neg") != (b.op == "neg")
        product = self._positive_product(*(n.args[0] if n.op == "neg" else n for n in (a, b)))
        return self.neg(product) if sign else product

    def _positive_product(self, a: Node, b: Node) -> Node:
        if b.is_const:
            a, b = b, a
        if a.is_const:
            return self._scaled(a.number, b)
        for p, q in ((a, b), (b, a)):  # constants to the front
            if p.op == "*" and p.args[0].is_const:
                return self.mul(p.args[0], self.mul(p.args[1], q))
        for p, q in ((a, b), (b, a)):  # x (1/x)
            if p.op == "/" and p.args[0] is self.one:
                if p.args[1] is q:
                    return self.one
                if q.op == "*" and p.args[1] in q.args:
                    return q.args[1] if q.args[0] is p.args[1] else q.args[0]
        return self._make("*", (a, b) if a.id < b.id else (b, a))

    def _scaled(self, factor: float, a: Node) -> Node:
        if a.is_const:
            return self.const(factor * a.number)
        if factor == 0:
            return self.zero
        if factor < 0:
            return self.neg(self._scaled(-factor, a))
        if factor == 1:
            return a
        if a.op == "*" and a.args[0].is_const:
            return self._scaled(factor * a.args[0].number, a.args[1])
        return self._make("*", (self.const(factor), a))

    def div(self, a: Node, b: Node) -> Node:
        if a is self.zero and b is not self.zero:
            return a
        if b.is_const and b.number != 0:
            return self.mul(a, self.const(1 / b.number))
        if a is b:
            return self.one
        if b.op == "neg":
            return self.neg(self.div(a, b.args[0]))
        if b.op == "/" and b.args[0] is self.one:
            return self.mul(a, b.args[1])
        # One division where a divisor serves several times.
        return self.mul(a, self._make("/", (self.one, b)))

    def sum(self, terms: Iterable[Node]) -> Node:
        total = self.zero
        for term in sorted(terms, key=lambda n: n.id):
            total = self.add(total, term)
        return total

    # ---- Functions ----

    def power(self, a: Node, b: Node) -> Node:
        if not b.is_const:
            return self._make("pow", (a, b))
        e = b.number
        if a.is_const:
            return self.func("pow", a, b)
        if e < 0:
            return self.div(self.one, self.power(a, self.const(-e)))
        if e == int(e) and e <= 16:
            return self._integer_power(a, int(e))
        if 2 * e == int(2 * e) and e <= 8:
            return self.mul(self._integer_power(a, int(e)), self.func("sqrt", a))
        return self._make("pow", (a, b))

    def _integer_power(self, a: Node, e: int) -> Node:
        result = self.one
        while e:
            if e & 1:
                result = self.mul(result, a)
            e >>= 1
            a = self.mul(a, a) if e else a
        return result

    def func(self, name: str, *args: Node) -> Node:
        """A function of C's math.h."""
        if all(a.is_const for a in args):
            with np.errstate(all="ignore"):
                return self.const(float(_NUMPY[name](*(a.number for a in args))))
        if name == "exp" and args[0].op == "log":
            return args[0].args[0]
        if name == "fabs" and args[0].op == "neg":
            return self.func("fabs", args[0].args[0])
        return self._make(name, args)

    def extreme(self, name: str, a: Node, b: Node) -> Node:
        """name: "min" or "max"."""
        if a is b:
            return a
        if a.is_const and b.is_const:
            return self.const((min if name == "min" else max)(a.number, b.number))
        return self._make(name, (a, b))

    def logical(self, op: str, *args: Node) -> Node:
        """A comparison of two numbers, or "and", "or", "not" of those."""
        if all(a.is_const for a in args):
            return self.const(float(_OPERATIONS[op](*(a.number for a in args))))
        return self._make(op, args)

    def cond(self, condition: Node, true: Node, false: Node) -> Node:
        if condition.is_const:
            return true if condition.number else false
        return true if true is false else self._make("cond", (condition, true, false))

    # ---- Walks ----

    @staticmethod
    def order(outs: Sequence[Node], stop: Iterable[Node] = ()) -> List[Node]:
        """Nodes that outs need, arguments before what is of them; nothing below those of `stop`."""
        stops, seen, result = {n.id for n in stop}, set(), []  # type: Set[int], Set[int], List[Node]
        stack = [(n, False) for n in reversed(outs)]
        while stack:
            node, is_ready = stack.pop()
            if is_ready:
                result.append(node)
            elif node.id not in seen:
                seen.add(node.id)
                stack.append((node, True))
                if node.id not in stops:
                    stack.extend((a, False) for a in reversed(node.args))
        return result

    @staticmethod
    def operations(outs: Sequence[Node], stop: Iterable[Node] = ()) -> float:
        """Price of computing outs when the nodes of `stop` are known."""
        stops = {n.id for n in stop}
        return sum(n.price for n in Graph.order(outs, stop) if n.id not in stops)

    @staticmethod
    def inputs(outs: Sequence[Node], stop: Iterable[Node] = ()) -> List[Node]:
        stops = {n.id for n in stop}
        return [n for n in Graph.order(outs, stop) if n.op == "input" and n.id not in stops]

    @staticmethod
    def evaluate(outs: Sequence[Node], value_of: Callable[[Any], Any]) -> List[Any]:
        """Values of outs; value_of: key of an input -> number or array, all of one shape."""
        values: Dict[int, Any] = {}
        for node in Graph.order(outs):
            if node.op in ("const", "input"):
                values[node.id] = node.number if node.is_const else value_of(node.val)
            else:
                values[node.id] = _OPERATIONS[node.op](*(values[a.id] for a in node.args))
        return [values[n.id] for n in outs]


def uses(order: Sequence[Node], outs: Sequence[Node], stop: Optional[Set[int]] = None) -> Dict[int, int]:
    """How often each node of order is an argument or an output."""
    count: Dict[int, int] = {}
    for node in order:
        if stop is None or node.id not in stop:
            for a in node.args:
                count[a.id] = count.get(a.id, 0) + 1
    for node in outs:
        count[node.id] = count.get(node.id, 0) + 1
    return count
