# SPDX-License-Identifier: BSD-2-Clause
"""UFL expressions as scalar expressions (dag.py), linear in test and trial functions.

UFL expands tensor algebra and derivatives; geometry is left to the library, whose functions at points get
physical gradients. What remains is evaluated component by component. Test functions, and trial functions where
the caller wants it, stay symbols: a value is a dict {(test slot, trial slot): node}, a slot None where the
factor is not there. What is not linear in them is refused with the term. Called by integrals.py.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple, Optional, Protocol, Tuple

from ufl import classes as U
from ufl.algorithms.apply_algebra_lowering import apply_algebra_lowering
from ufl.algorithms.apply_derivatives import apply_derivatives
from ufl.algorithms.remove_complex_nodes import remove_complex_nodes
from ufl.core.multiindex import FixedIndex

from .dag import Graph, Node


class UnsupportedForm(NotImplementedError):
    """A form, or a term of it, that no operator of the library computes; the message says which."""


class Slot(NamedTuple):
    """A value, or its derivative along `along`, of component `comp` (of all) of a test or trial function."""

    comp: int
    along: Optional[int]
    side: int  # of an interior facet


Value = Dict[Tuple[Optional[Slot], Optional[Slot]], Node]


class Leaves(Protocol):
    """What terminals are: nodes of inputs."""

    def function(self, terminal: Any, comp: int, along: Optional[int], side: int) -> Node:
        """A value or derivative of a coefficient, or of a trial function that is an input."""

    def other(self, terminal: Any, comp: Tuple[int, ...], side: int) -> Node:
        """A component of any other terminal."""

    def side(self, terminal: Any, side: Optional[int], along: Optional[int]) -> int:
        """The side that a function is taken from; `side` None: not restricted to one."""


_MATH: Dict[Any, str] = {
    U.Sqrt: "sqrt", U.Exp: "exp", U.Ln: "log", U.Sin: "sin", U.Cos: "cos", U.Tan: "tan", U.Sinh: "sinh",
    U.Cosh: "cosh", U.Tanh: "tanh", U.Asin: "asin", U.Acos: "acos", U.Atan: "atan", U.Erf: "erf",
}
_CONDITIONS: Dict[Any, str] = {U.LT: "<", U.GT: ">", U.LE: "<=", U.GE: ">=", U.EQ: "==", U.NE: "!=", U.AndCondition: "and",
               U.OrCondition: "or", U.NotCondition: "not"}


def lower(form: Any) -> Any:
    """A form or expression without tensor algebra but sums over indices, derivatives at terminals alone."""
    try:
        return apply_derivatives(remove_complex_nodes(apply_algebra_lowering(form)))
    except Exception as error:  # UFL raises what it likes
        if "complex" in str(error).lower() or "imag" in str(error).lower():
            raise UnsupportedForm(f"complex values: {error}") from error
        raise


def show(expression: Any) -> str:
    """The expression, short enough for a message."""
    text = str(expression)
    return text if len(text) <= 100 else text[:97] + "..."


def flat(comp: Tuple[int, ...], shape: Tuple[int, ...]) -> int:
    """The number of a component of a tensor."""
    number = 0
    for c, size in zip(comp, shape):
        number = number * size + c
    return number


class Evaluator:
    """Values of expressions in a graph. trial_is_input: the trial function is known at a point, not a symbol."""

    def __init__(self, graph: Graph, leaves: Leaves, trial_is_input: bool = True) -> None:
        self.graph, self._leaves, self._trial_is_input = graph, leaves, trial_is_input
        # Expressions are kept alive, so that their ids stay theirs.
        self._known: Dict[Any, Tuple[Value, Any]] = {}
        self._rules: Dict[Any, Callable[..., Value]] = {
            U.Sum: self._sum, U.Product: self._product, U.Division: self._division, U.Power: self._power,
            U.Abs: self._abs, U.Indexed: self._indexed, U.IndexSum: self._index_sum,
            U.ComponentTensor: self._component_tensor, U.ListTensor: self._list_tensor,
            U.Variable: self._inner, U.Conditional: self._conditional, U.Atan2: self._atan2,
            U.MinValue: self._extreme, U.MaxValue: self._extreme, U.Grad: self._grad,
            U.PositiveRestricted: self._restricted, U.NegativeRestricted: self._restricted,
        }

    def __call__(self, e: Any, comp: Tuple[int, ...] = (), index: Optional[Dict[int, int]] = None,
                 side: Optional[int] = None) -> Value:
        """Component `comp` of e; index: values of free indices, by their counts."""
        index = index or {}
        key = (id(e), comp, tuple((i, index[i]) for i in e.ufl_free_indices), side)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = (self._evaluate(e, comp, index, side), e)
        return known[0]

    # ---- Values ----

    def _known_value(self, node: Node) -> Value:
        return {} if node is self.graph.zero else {(None, None): node}

    def _scalar(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int],
                whole: Any) -> Node:
        """The value of e, which must not have test or trial functions."""
        value = self(e, comp, index, side)
        if any(key != (None, None) for key in value):
            raise UnsupportedForm(f"the form is not linear in its test or trial function: {show(whole)}")
        return value.get((None, None), self.graph.zero)

    def add(self, a: Value, b: Value) -> Value:
        total = dict(a)
        for key, node in b.items():
            total[key] = self.graph.add(total[key], node) if key in total else node
        return {key: node for key, node in total.items() if node is not self.graph.zero}

    # ---- Rules ----

    def _evaluate(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int]) -> Value:
        kind = type(e)
        rule = self._rules.get(kind)
        if rule is not None:
            return rule(e, comp, index, side)
        if kind in _MATH:
            a = self._scalar(e.ufl_operands[0], comp, index, side, e)
            return self._known_value(self.graph.func(_MATH[kind], a))
        if isinstance(e, U.Zero):
            return {}
        if isinstance(e, U.ScalarValue):
            return self._known_value(self.graph.const(float(e)))
        if isinstance(e, U.Identity):
            return self._known_value(self.graph.one if comp[0] == comp[1] else self.graph.zero)
        if isinstance(e, (U.Argument, U.Coefficient)):
            return self._function(e, comp, None, side)
        if e._ufl_is_terminal_:
            return self._known_value(self._leaves.other(e, comp, self._leaves.side(e, side, None)))
        raise UnsupportedForm(f"{kind.__name__} is not supported: {show(e)}")

    def _function(self, e: Any, comp: Tuple[int, ...], along: Optional[int], side: Optional[int]) -> Value:
        number, where = flat(comp, e.ufl_shape), self._leaves.side(e, side, along)
        if isinstance(e, U.Argument) and not (e.number() == 1 and self._trial_is_input):
            slot = Slot(number, along, where)
            return {((slot, None) if e.number() == 0 else (None, slot)): self.graph.one}
        return self._known_value(self._leaves.function(e, number, along, where))

    def _sum(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int]) -> Value:
        a, b = e.ufl_operands
        return self.add(self(a, comp, index, side), self(b, comp, index, side))

    def _product(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int]) -> Value:
        a, b = (self(o, (), index, side) for o in e.ufl_operands)
        total: Value = {}
        for (test, trial), m in a.items():
            for (test1, trial1), n in b.items():
                if (test and test1) or (trial and trial1):
                    name = "test" if test and test1 else "trial"
                    raise UnsupportedForm(f"a product of {name} functions, in which the form has to be linear: "
                                          f"{show(e)}")
                total = self.add(total, {(test or test1, trial or trial1): self.graph.mul(m, n)})
        return total

    def _division(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int]) -> Value:
        a, b = e.ufl_operands
        divisor = self._scalar(b, (), index, side, e)
        return {key: self.graph.div(n, divisor) for key, n in self(a, comp, index, side).items()}

    def _power(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int]) -> Value:
        a, b = (self._scalar(o, (), index, side, e) for o in e.ufl_operands)
        return self._known_value(self.graph.power(a, b))

    def _abs(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int]) -> Value:
        return self._known_value(self.graph.func("fabs", self._scalar(e.ufl_operands[0], comp, index, side, e)))

    def _atan2(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int]) -> Value:
        a, b = (self._scalar(o, (), index, side, e) for o in e.ufl_operands)
        return self._known_value(self.graph.func("atan2", a, b))

    def _extreme(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int]) -> Value:
        a, b = (self._scalar(o, (), index, side, e) for o in e.ufl_operands)
        return self._known_value(self.graph.extreme("min" if isinstance(e, U.MinValue) else "max", a, b))

    def _indexed(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int]) -> Value:
        a, indices = e.ufl_operands
        return self(a, tuple(int(i) if isinstance(i, FixedIndex) else index[i.count()] for i in indices), index,
                    side)

    def _index_sum(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int]) -> Value:
        a, indices = e.ufl_operands
        total: Value = {}
        for k in range(e.dimension()):
            total = self.add(total, self(a, comp, {**index, indices[0].count(): k}, side))
        return total

    def _component_tensor(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int],
                          side: Optional[int]) -> Value:
        a, indices = e.ufl_operands
        return self(a, (), {**index, **{i.count(): c for i, c in zip(indices, comp)}}, side)

    def _list_tensor(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int]) -> Value:
        return self(e.ufl_operands[comp[0]], comp[1:], index, side)

    def _inner(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int]) -> Value:
        return self(e.ufl_operands[0], comp, index, side)

    def _restricted(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int]) -> Value:
        if side is not None:
            raise UnsupportedForm(f"a restriction of a restriction: {show(e)}")
        return self(e.ufl_operands[0], comp, index, 0 if isinstance(e, U.PositiveRestricted) else 1)

    def _conditional(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int]) -> Value:
        condition = self._condition(e.ufl_operands[0], index, side)
        true, false = (self(o, comp, index, side) for o in e.ufl_operands[1:])
        zero = self.graph.zero
        both = {key: self.graph.cond(condition, true.get(key, zero), false.get(key, zero))
                for key in {**true, **false}}
        return {key: node for key, node in both.items() if node is not zero}

    def _condition(self, e: Any, index: Dict[int, int], side: Optional[int]) -> Node:
        op = _CONDITIONS.get(type(e))
        if op is None:
            raise UnsupportedForm(f"the condition {type(e).__name__} is not supported: {show(e)}")
        if op in ("and", "or", "not"):
            return self.graph.logical(op, *(self._condition(o, index, side) for o in e.ufl_operands))
        return self.graph.logical(op, *(self._scalar(o, (), index, side, e) for o in e.ufl_operands))

    def _grad(self, e: Any, comp: Tuple[int, ...], index: Dict[int, int], side: Optional[int]) -> Value:
        a = e.ufl_operands[0]
        if isinstance(a, U.Grad):
            raise UnsupportedForm(f"second derivatives, of which functions of these spaces have none: {show(e)} "
                                  "(a mixed form has first ones alone)")
        if isinstance(a, (U.Argument, U.Coefficient)):
            return self._function(a, comp[:-1], comp[-1], side)
        if isinstance(a, U.SpatialCoordinate):
            return self._known_value(self.graph.one if comp[0] == comp[1] else self.graph.zero)
        raise UnsupportedForm(f"derivatives of {type(a).__name__} are not supported: {show(e)}")
