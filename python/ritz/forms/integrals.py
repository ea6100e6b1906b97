# SPDX-License-Identifier: BSD-2-Clause
"""Forms of UFL as kernels: texts of functions at points, and what they get and give.

A kernel is what include/ritz/form.h makes an operator of. It depends on the elements of a form's functions and
not on meshes, degrees of levels or values, so that all levels of multigrid share it and new values of constants
compile nothing. Of bilinear forms, numbers that are known before an apply may be stored at points (cut.py): a
second kernel computes them. assemble.py makes operators of all that; `compile_form` keeps what it has compiled.
"""
from __future__ import annotations

import hashlib
import itertools
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Collection, Dict, FrozenSet, Hashable, List, Optional, Sequence, Set, Tuple

import numpy as np
from ufl import classes as U
from ufl.algorithms.estimate_degrees import estimate_total_polynomial_degree
from ufl.sobolevspace import H1, L2

from .cut import NUMBER_PRICE, OPERATION_PRICE, choose_stored
from .dag import Array, Graph, Node
from .emit import write_lines
from .scalar import Evaluator, Slot, UnsupportedForm, Value, flat, lower, show

_KINDS = {"cell": "dx", "exterior_facet": "ds", "interior_facet": "dS"}
_MOST_ENTRIES = 144  # of the matrix of a bilinear form that is tried as one
_MOST_KEPT = 512     # compiled forms
_NUM_RANDOM = 4      # points at which forms are compared


class FacetHeight(U.GeometricFacetQuantity):
    """The height of an element over a facet, for penalties: FacetHeight(mesh) in ds, FacetHeight(mesh)("+") in dS."""

    name = "facet_height"

    def is_cellwise_constant(self) -> bool:
        return False


# ---- What is known of functions ----


@dataclass(frozen=True)
class Element:
    """Sizes and degrees of the parts of a space: one, or those of a product."""

    sizes: Tuple[int, ...]
    degrees: Tuple[int, ...]
    is_continuous: bool

    def part(self, comp: int) -> Tuple[int, int]:
        """The part that component `comp` of all is of, and its number there."""
        for k, size in enumerate(self.sizes):
            if comp < size:
                return k, comp
            comp -= size
        raise IndexError(comp)

    def first(self, part: int) -> int:
        return sum(self.sizes[:part])


def describe_element(element: Any) -> Element:
    """Of an element of UFL: continuous or discontinuous Lagrange elements, and products of these."""
    parts = list(element.sub_elements) or [element]
    for e in parts:
        if e.sub_elements:
            raise UnsupportedForm(f"a product of products: {element}")
        if e.sobolev_space not in (H1, L2) or e.reference_value_size != int(np.prod(e.reference_value_shape)):
            raise UnsupportedForm(f"functions of {e}: forms take Lagrange elements")
    degrees = tuple(int(e.embedded_superdegree) for e in parts)
    return Element(tuple(int(e.reference_value_size) for e in parts), degrees,
                   all(e.sobolev_space == H1 for e in parts))


# ---- What a kernel is ----


@dataclass(frozen=True)
class Field:
    """A field of a kernel. role: "trial", "coefficient" (number `index`), "numbers" at points, "test"; "sum", what
    functionals give, at facets as a function of a space with one component."""

    name: str
    role: str
    index: int
    part: int  # of a product
    value: bool
    gradient: bool
    size: int  # components, or numbers


@dataclass
class Kernel:
    """The text of a function at points. `context`: nodes of constants, whose values are the context's doubles."""

    text: str
    function: str
    position: bool
    normal: bool
    weight: bool
    height: bool
    inputs: List[Field]
    outputs: List[Field]
    context: List[Node]
    coefficients: FrozenSet[int]  # that its values depend on
    constants: FrozenSet[int]
    operations: float
    isotropic: bool = False     # it may get gradients raised by the metric (RITZ_FORM_ISOTROPIC)


@dataclass
class Integral:
    """An integral of a form. subdomains: names or numbers, () for all."""

    kind: str  # as UFL calls it
    subdomains: Tuple[Any, ...]
    quadrature_degree: Optional[int]
    is_lobatto: bool
    kernel: Kernel
    setup: Optional[Kernel] = None  # of the numbers at points
    standard: Optional[Tuple[float, float]] = None  # lambda, mu, where it is lambda u v + mu grad u . grad v

    @property
    def num_stored(self) -> int:
        return self.setup.outputs[0].size if self.setup else 0


@dataclass
class CompiledForm:
    """All that is known of a form without its values."""

    rank: int
    dim: int
    arguments: List[Element]
    coefficients: List[Element]
    constant_shapes: List[Tuple[int, ...]]
    integrals: List[Integral] = field(default_factory=list)
    is_symmetric: bool = False  # of bilinear forms: for all values of functions and constants

    def constant_values(self, kernel: Kernel, values: Sequence[Any]) -> Array:
        """The context's doubles, from the values of the form's constants."""
        numbers = [float(v) for value in values for v in np.ravel(np.asarray(value, float))]
        return np.array([float(v) for v in Graph.evaluate(kernel.context, lambda key: numbers[key[1]])])

    def view(self) -> str:
        """A line for each integral, for people."""
        lines = []
        for i in self.integrals:
            where = f"({', '.join(map(str, i.subdomains))})" if i.subdomains else ""
            lines.append(f"{_KINDS[i.kind]}{where}: {i.num_stored} numbers stored at a point, "
                         f"{i.kernel.operations:.0f} operations")
        return "\n".join(lines)


# ---- Inputs ----
#
# Keys: ("f", k, component, along or None, side) of coefficient k, k = -1 the trial function; ("x", c), ("n", c),
# ("h", side); ("c", i) entry i of all constants; ("w",).


class _Leaves:
    def __init__(self, graph: Graph, form: Any, compiled: CompiledForm, kind: str) -> None:
        self._graph, self._compiled, self._kind = graph, compiled, kind
        self._coefficients = {c: k for k, c in enumerate(form.coefficients())}
        self._constants: Dict[Any, int] = {}
        first = 0
        for c, shape in zip(form.constants(), compiled.constant_shapes):
            self._constants[c] = first
            first += int(np.prod(shape))

    def element(self, terminal: Any) -> Element:
        if isinstance(terminal, U.Argument):
            return self._compiled.arguments[int(terminal.number())]
        return self._compiled.coefficients[self._coefficients[terminal]]

    def function(self, terminal: Any, comp: int, along: Optional[int], side: int) -> Node:
        k = -1 if isinstance(terminal, U.Argument) else self._coefficients[terminal]
        return self._graph.input("f", k, comp, along, side)

    def side(self, terminal: Any, side: Optional[int], along: Optional[int]) -> int:
        if self._kind != "interior_facet":
            if side is not None:
                raise UnsupportedForm(f"a side of {terminal} outside of integrals dS")
            return 0
        if side is not None:
            return side
        is_function = isinstance(terminal, (U.Argument, U.Coefficient))
        if (is_function and (along is not None or not self.element(terminal).is_continuous)
                or isinstance(terminal, (U.FacetNormal, FacetHeight))):
            raise UnsupportedForm(f"{terminal} has two sides on interior facets: choose ('+') or ('-'), avg or jump")
        return 0

    def other(self, terminal: Any, comp: Tuple[int, ...], side: int) -> Node:
        g = self._graph
        if isinstance(terminal, U.Constant):
            return g.input("c", self._constants[terminal] + flat(comp, terminal.ufl_shape))
        if isinstance(terminal, U.SpatialCoordinate):
            return g.input("x", comp[0])
        if isinstance(terminal, U.FacetNormal) and self._kind != "cell":
            normal = g.input("n", comp[0])
            return g.neg(normal) if side else normal
        if isinstance(terminal, FacetHeight) and self._kind != "cell":
            return g.input("h", side)
        raise UnsupportedForm(f"{type(terminal).__name__} in an integral {_KINDS[self._kind]}")


# ---- Choice ----


@dataclass
class _Plan:
    outs: List[Tuple[Slot, Node]]  # of test slots; functionals: of one
    stored: List[Node]
    cost: float


_SUM = Slot(0, None, 0)  # what functionals give


def _action(graph: Graph, value: Value) -> List[Tuple[Slot, Node]]:
    return sorted(((test or _SUM, node) for (test, _), node in value.items()), key=_slot_order)


def _slot_order(out: Tuple[Slot, Node]) -> Tuple[int, int, int]:
    slot = out[0]
    return slot.side, slot.comp, -1 if slot.along is None else slot.along


def _matrix(graph: Graph, value: Value) -> List[Tuple[Slot, Node]]:
    """The form as a matrix times what is known of the trial function."""
    rows: Dict[Slot, List[Node]] = {}
    for (test, trial), node in value.items():
        if test is None or trial is None:
            raise UnsupportedForm("a bilinear form with terms that lack the test or the trial function")
        u = graph.input("f", -1, trial.comp, trial.along, trial.side)
        rows.setdefault(test, []).append(graph.mul(node, u))
    return sorted(((test, graph.sum(terms)) for test, terms in rows.items()), key=_slot_order)


def _standard(value: Value, element: Element, dim: int) -> Optional[Tuple[float, float]]:
    """lambda, mu of lambda u v + mu grad u . grad v, component by component, with numbers that do not change."""
    along: Tuple[Optional[int], ...] = (None, *range(dim))
    places = [Slot(c, x, 0) for c in range(element.sizes[0]) for x in along]
    if len(element.sizes) > 1 or any(test != trial or not n.is_const for (test, trial), n in value.items()):
        return None
    numbers = {slot: value[slot, slot].number if (slot, slot) in value else 0.0 for slot in places}
    lam, mu = ({n for slot, n in numbers.items() if (slot.along is None) == is_value} for is_value in (True, False))
    return (lam.pop(), mu.pop()) if len(lam) == len(mu) == 1 else None


def _is_free(key: Any) -> bool:
    return bool(key[0] == "c")


def _is_late(key: Any) -> bool:
    return bool(key[0] == "f" and key[1] == -1)


class _Prices:
    """Bytes that take as long as reading a field at a point."""

    def __init__(self, compiled: CompiledForm) -> None:
        self._compiled = compiled
        self._points = max((d for e in compiled.arguments for d in e.degrees), default=1) + 2

    def field_of(self, key: Any) -> Hashable:
        """Inputs that are read together."""
        if key[0] != "f":
            return (key[0],)
        part, _ = self._compiled.coefficients[key[1]].part(key[2])
        return ("f", key[1], part, key[3] is not None)

    def __call__(self, key: Any) -> float:
        q, dim = self._points, self._compiled.dim
        if key[0] != "f":
            return OPERATION_PRICE * 2 * dim * (2 + q)
        element = self._compiled.coefficients[key[1]]
        part, _ = element.part(key[2])
        n = element.degrees[part] + 1
        # As many multiply-adds as lines take, by measure nearly twice as long, with gathers and what leaves registers
        # (tests/bench_forms.py jacobian: 9 numbers at a point are worth it from degree 2 on).
        operations = 1.9 * 2 * (dim * n if key[3] is None else dim * q + n)
        return float(element.sizes[part] * (OPERATION_PRICE * operations + NUMBER_PRICE * (n / q) ** dim))


def _plan(outs: List[Tuple[Slot, Node]], prices: _Prices, store: str) -> _Plan:
    """store: "auto", least cost; "all", everything that can be; "none"."""
    nodes = [n for _, n in outs]
    stored: List[Node] = []
    if store != "none":
        price = 1e4 if store == "all" else OPERATION_PRICE
        stored = choose_stored(nodes, _is_late, _is_free, prices.field_of,
                               lambda key: 1e4 if store == "all" else prices(key), operation_price=price)
    inputs = [n.val for n in Graph.inputs(nodes, stored) if not _is_late(n.val) and not _is_free(n.val)]
    fields = {prices.field_of(key): prices(key) for key in inputs}
    cost = (NUMBER_PRICE * len(stored) + OPERATION_PRICE * Graph.operations(nodes, stored)
            + sum(fields.values()))
    return _Plan(outs, stored, cost)


# ---- Isotropy ----


def _is_gradient(key: Any) -> bool:
    return bool(key[0] == "f" and key[3] is not None)


def _gradient_factors(graph: Graph, outs: Sequence[Node],
                      known: Collection[int]) -> Dict[int, Optional[Dict[Any, Node]]]:
    """Of the nodes that outs need, the factors of the gradients that they are linear in, by the keys of these; None:
    not linear. Nodes that are known (their ids) are numbers."""
    factors: Dict[int, Optional[Dict[Any, Node]]] = {}
    for n in Graph.order(outs, [n for n in Graph.order(outs) if n.id in known]):
        of = [factors[a.id] for a in n.args] if n.id not in known else []
        if n.op == "input" and _is_gradient(n.val) and n.id not in known:
            factors[n.id] = {n.val: graph.one}
        elif not any(f is None or f for f in of):
            factors[n.id] = {}
        elif n.op == "neg" and of[0] is not None:
            factors[n.id] = {key: graph.neg(k) for key, k in of[0].items()}
        elif n.op == "+" and of[0] and of[1]:
            factors[n.id] = {key: graph.add(of[0].get(key, graph.zero), of[1].get(key, graph.zero))
                             for key in {**of[0], **of[1]}}
        elif n.op == "*" and of[0] is not None and of[1] is not None and not (of[0] and of[1]):
            other = n.args[1 if of[0] else 0]
            factors[n.id] = {key: graph.mul(k, other) for key, k in (of[0] or of[1]).items()}
        else:
            factors[n.id] = None
    return factors


def is_isotropic(graph: Graph, outs: Sequence[Tuple[Slot, Node]], known: Collection[int], dim: int) -> bool:
    """Whether gradients are tested by sums of numbers times gradients, the same in all directions, and nothing else
    has them (RITZ_FORM_ISOTROPIC)."""
    factors = _gradient_factors(graph, [n for _, n in outs], known)
    rows: Dict[int, List[Dict[Any, Node]]] = {}  # of tested components, a direction after the other
    for slot, node in outs:
        found = factors[node.id]
        if found is None or (not found) != (slot.along is None) or any(key[3] != slot.along for key in found):
            return False
        if slot.along is not None:
            rows.setdefault(slot.comp, []).append({key[:3]: k for key, k in found.items()})
    return bool(rows) and all(len(row) == dim and all(one == row[0] for one in row) for row in rows.values())


# ---- Texts ----


class _Writer:
    """The function that computes some outputs."""

    def __init__(self, compiled: CompiledForm, kind: str) -> None:
        self._compiled, self._kind = compiled, kind
        self._sides = {0: "[0]", 1: "[1]"} if kind == "interior_facet" else {0: ""}  # indices of arrays, by side
        self._context: List[Node] = []

    def _constants(self, nodes: Sequence[Node], stored: Set[int]) -> Dict[int, str]:
        """The largest expressions of constants alone become the context's doubles: their text by their ids."""
        order = Graph.order(nodes, [n for n in Graph.order(nodes) if n.id in stored])
        is_constant: Dict[int, bool] = {}
        for n in order:
            is_constant[n.id] = (n.id not in stored and not n.is_const
                                 and (n.val[0] == "c" if n.op == "input" else
                                      all(is_constant[a.id] or a.is_const for a in n.args)))
        used = [a for n in order if not is_constant[n.id] and n.id not in stored for a in n.args] + list(nodes)
        self._context = list(OrderedDict((n.id, n) for n in used if is_constant[n.id]).values())
        return {n.id: f"((const double *)ctx)[{i}]" for i, n in enumerate(self._context)}

    # ---- Names ----

    def _part(self, key: Any) -> Tuple[int, int]:
        element = self._compiled.arguments[1] if key[1] < 0 else self._compiled.coefficients[key[1]]
        return element.part(key[2])

    def _input_name(self, key: Any) -> str:
        part = self._part(key)[0]
        return f"u{part}" if key[1] < 0 else f"f{key[1]}_{part}"

    def _input_text(self, key: Any) -> str:
        if key[0] != "f":
            return f"{key[0]}[{key[1] if len(key) > 1 else 0}]"
        side, comp = self._sides[key[4]], self._part(key)[1]
        name = self._input_name(key)
        return f"{name}{side}[{comp}]" if key[3] is None else f"grad_{name}{side}[{comp}][{key[3]}]"

    def _inputs(self, keys: Sequence[Any], num_stored: int) -> List[Field]:
        found: Dict[Tuple[int, int], Set[bool]] = {}
        for key in keys:
            if key[0] == "f":
                found.setdefault((key[1], self._part(key)[0]), set()).add(key[3] is not None)
        fields = []
        for (k, part), whats in sorted(found.items()):
            element = self._compiled.arguments[1] if k < 0 else self._compiled.coefficients[k]
            name = self._input_name(("f", k, element.first(part), None, 0))
            fields.append(Field(name, "trial" if k < 0 else "coefficient", k, part, False in whats, True in whats,
                                element.sizes[part]))
        if num_stored:
            fields.append(Field("s", "numbers", 0, 0, False, False, num_stored))
        return fields

    def _outputs(self, slots: Sequence[Slot]) -> List[Field]:
        if self._compiled.rank == 0:
            return [Field("total", "sum", 0, 0, True, False, 1)]
        element = self._compiled.arguments[0]
        found: Dict[int, Set[bool]] = {}
        for slot in slots:
            found.setdefault(element.part(slot.comp)[0], set()).add(slot.along is not None)
        if not found:
            found[0] = {False}
        return [Field(f"v{part}", "test", 0, part, False in whats, True in whats, element.sizes[part])
                for part, whats in sorted(found.items())]

    # ---- The function ----

    def _targets(self, outs: Sequence[Tuple[Slot, Node]], fields: Sequence[Field],
                 zero: Node) -> List[Tuple[str, Node]]:
        """Every entry of the outputs, and what it is set to."""
        given = dict(outs)
        element = self._compiled.arguments[0] if self._compiled.rank else None
        targets = []
        for f in fields:
            first = element.first(f.part) if element else 0
            for (side, at), c in itertools.product(self._sides.items(), range(f.size)):
                if f.value:
                    targets.append((f"{f.name}{at}[{c}]", given.get(Slot(first + c, None, side), zero)))
                for x in range(self._compiled.dim if f.gradient else 0):
                    targets.append((f"grad_{f.name}{at}[{c}][{x}]", given.get(Slot(first + c, x, side), zero)))
        return targets

    def _declare(self, fields: Sequence[Field], qualifier: str) -> List[str]:
        result, sides = [], "[2]" if len(self._sides) > 1 else ""
        for f in fields:
            if f.value or not f.gradient:
                result.append(f"{qualifier}CeedScalar {f.name}{sides}[{f.size}]")
            if f.gradient:
                result.append(f"{qualifier}CeedScalar grad_{f.name}{sides}[{f.size}][{self._compiled.dim}]")
        return result

    def _known(self, outs: Sequence[Tuple[Any, Node]], stored: Sequence[Node]) -> Tuple[Dict[int, str], List[Any],
                                                                                      Dict[str, Any]]:
        """Texts of nodes that are given, keys of inputs, and what a kernel says of its dependencies."""
        nodes = [n for _, n in outs]
        known = {n.id: f"s[{i}]" for i, n in enumerate(stored)}
        known.update(self._constants(nodes, set(known)))
        keys = [n.val for n in Graph.inputs(nodes, [n for n in Graph.order(nodes) if n.id in known])]
        offsets = np.cumsum([int(np.prod(s)) for s in self._compiled.constant_shapes])
        entries = [n.val[1] for n in Graph.inputs(self._context)]
        facts = {
            "context": self._context, "operations": Graph.operations(nodes, stored),
            "coefficients": frozenset(key[1] for key in keys if key[0] == "f" and key[1] >= 0),
            "constants": frozenset(int(np.searchsorted(offsets, i, side="right")) for i in entries),
            "position": any(key[0] == "x" for key in keys), "normal": any(key[0] == "n" for key in keys),
            "weight": any(key[0] == "w" for key in keys), "height": any(key[0] == "h" for key in keys),
        }
        return known, keys, facts

    def write(self, graph: Graph, outs: Sequence[Tuple[Slot, Node]], stored: Sequence[Node]) -> Kernel:
        """The kernel of what is tested."""
        if self._compiled.rank == 0 and self._kind == "cell":
            outs = [(slot, graph.mul(graph.input("w"), n)) for slot, n in outs]
        known, keys, facts = self._known(outs, stored)
        fields, outputs = self._inputs(keys, len(stored)), self._outputs([s for s, _ in outs])
        lines = write_lines(self._targets(outs, outputs, graph.zero), self._input_text, known)
        facts["isotropic"] = self._kind == "cell" and is_isotropic(graph, outs, known, self._compiled.dim)
        return self._finish(lines, fields, outputs, facts)

    def write_setup(self, stored: Sequence[Node]) -> Kernel:
        """The kernel of the numbers at points."""
        outs = [(f"s[{i}]", n) for i, n in enumerate(stored)]
        known, keys, facts = self._known(outs, [])
        lines = write_lines(outs, self._input_text, known)
        return self._finish(lines, self._inputs(keys, 0), [Field("s", "numbers", 0, 0, False, False, len(stored))],
                            facts)

    def _finish(self, lines: Sequence[str], fields: List[Field], outputs: List[Field],
                facts: Dict[str, Any]) -> Kernel:
        dim = self._compiled.dim
        head = [f"const CeedScalar {name}[{size}]" for name, size, is_asked in
                (("x", dim, facts["position"]), ("n", dim, facts["normal"]), ("w", 1, facts["weight"]),
                 ("h", len(self._sides), facts["height"])) if is_asked]
        head += self._declare(fields, "const ") + self._declare(outputs, "")
        body = f"(const void *ctx, {', '.join(head)}) {{\n" + "\n".join(lines) + "\n}\n"
        name = "form_" + hashlib.sha256(body.encode()).hexdigest()[:16]
        return Kernel(f"CEED_QFUNCTION_HELPER void {name}{body}", name, inputs=fields, outputs=outputs, **facts)


# ---- Forms ----


def _subdomains(identifier: Any) -> Tuple[Any, ...]:
    ids = identifier if isinstance(identifier, tuple) else (identifier,)
    if "otherwise" in ids:
        raise UnsupportedForm("the subdomain 'otherwise': name the parts")
    return () if "everywhere" in ids else tuple(ids)


def _quadrature(metadata: Dict[str, Any]) -> Tuple[Optional[int], bool]:
    degree, rule = metadata.get("quadrature_degree"), metadata.get("quadrature_rule", "default")
    if rule not in ("default", "GLL"):
        raise UnsupportedForm(f"quadrature_rule {rule!r}, needed 'default' or 'GLL'")
    return (None if degree in (None, "default", -1) else int(degree)), rule == "GLL"


def _check(form: Any) -> None:
    if len(form.arguments()) > 2:
        raise UnsupportedForm(f"a form of {len(form.arguments())} arguments, needed 0, 1 or 2")
    if any(a.part() is not None for a in form.arguments()):
        raise UnsupportedForm("arguments of a MixedFunctionSpace: use the product of spaces V * Q")
    domains = form.ufl_domains()
    if len(domains) != 1:
        raise UnsupportedForm(f"a form on {len(domains)} meshes, needed one")
    kinds = {i.integral_type() for i in form.integrals()} - set(_KINDS)
    if kinds:
        raise UnsupportedForm(f"integrals of the type {', '.join(sorted(kinds))}, needed dx, ds or dS")


def _describe(form: Any) -> CompiledForm:
    domain = form.ufl_domains()[0]
    dim = int(domain.geometric_dimension)
    if dim != domain.topological_dimension:
        raise UnsupportedForm(f"a mesh of dimension {domain.topological_dimension} in space of dimension {dim}")
    of = [[describe_element(f.ufl_function_space().ufl_element()) for f in fs]
          for fs in (sorted(form.arguments(), key=lambda a: a.number()), form.coefficients())]
    return CompiledForm(len(form.arguments()), dim, of[0], of[1], [tuple(c.ufl_shape) for c in form.constants()])


def _functional_degree(integrands: Sequence[Any], compiled: CompiledForm) -> Optional[int]:
    """Of functionals, which have no test functions to go by: UFL's estimate, not far beyond the functions'."""
    if compiled.rank:
        return None
    highest = max((d for e in compiled.coefficients for d in e.degrees), default=1)
    estimate = max(int(estimate_total_polynomial_degree(e)) for e in integrands)
    return min(max(estimate, 2 * highest + 3), 4 * highest + 7)


def _compile_integral(form: Any, compiled: CompiledForm, kind: str, integrands: Sequence[Any],
                      store: str) -> Tuple[Kernel, Optional[Kernel], Optional[Tuple[float, float]]]:
    graph = Graph()
    leaves = _Leaves(graph, form, compiled, kind)
    writer = _Writer(compiled, kind)

    def evaluate(trial_is_input: bool) -> Value:
        evaluator = Evaluator(graph, leaves, trial_is_input)
        total: Value = {}
        for e in integrands:
            total = evaluator.add(total, evaluator(e))
        return total

    value = evaluate(True)
    outs = _action(graph, value)
    if compiled.rank and any(test is None for test, _ in value):
        raise UnsupportedForm(f"a term without the test function: {show(integrands[0])}")
    matrix = evaluate(False) if compiled.rank == 2 else {}
    is_square = compiled.rank == 2 and compiled.arguments[0] == compiled.arguments[1]
    compiled.is_symmetric = compiled.is_symmetric and is_square and _is_symmetric(graph, matrix)
    if compiled.rank < 2 or kind != "cell":
        return writer.write(graph, outs, []), None, None
    prices = _Prices(compiled)
    plans = [_plan(outs, prices, store)]
    if store != "none" and len(matrix) <= _MOST_ENTRIES:
        plans.append(_plan(_matrix(graph, matrix), prices, store))
    best = min(plans, key=lambda p: p.cost)
    return (writer.write(graph, best.outs, best.stored), writer.write_setup(best.stored) if best.stored else None,
            _standard(matrix, compiled.arguments[0], compiled.dim) if is_square and store == "auto" else None)


def _is_symmetric(graph: Graph, matrix: Value) -> bool:
    """Whether exchanging test and trial function leaves every term as it is, up to rounding at random values."""
    mirrored = [(node, matrix.get((trial, test), graph.zero)) for (test, trial), node in matrix.items()]
    different = [pair for pair in mirrored if pair[0] is not pair[1]]
    if not different:
        return True
    rng = np.random.default_rng(1)
    with np.errstate(all="ignore"):
        values = Graph.evaluate([node for pair in different for node in pair], lambda key: _random_input(rng, key))
    a, b = (np.array([np.broadcast_to(v, _NUM_RANDOM) for v in values[k::2]]) for k in (0, 1))
    is_number = np.isfinite(a) & np.isfinite(b)
    is_equal = np.abs(a - b) <= 1e-9 * np.maximum(np.abs(a), np.abs(b)).max(axis=0, where=is_number, initial=0.0)
    return bool(is_number.any() and is_equal[is_number].all())


def _random_input(rng: Any, key: Any) -> Array:
    """Gradients around 0 and other values around 1, so that deformations are small and most functions are defined."""
    is_gradient = key[0] == "f" and key[3] is not None
    return np.asarray(rng.uniform(-0.2, 0.2, _NUM_RANDOM) if is_gradient else rng.uniform(0.5, 1.5, _NUM_RANDOM))


def compile_new(form: Any, store: str = "auto") -> CompiledForm:
    """Compiles a form. store: which numbers of bilinear forms are stored at points: "auto", what takes least time;
    "all" that can be; "none"."""
    if store not in ("auto", "all", "none"):
        raise ValueError(f"store is {store!r}, needed 'auto', 'all' or 'none'")
    _check(form)
    compiled = _describe(form)
    groups: Dict[Any, List[Any]] = {}
    for i in lower(form).integrals():
        key = (i.integral_type(), _subdomains(i.subdomain_id()), _quadrature(i.metadata()))
        groups.setdefault(key, []).append(i.integrand())
    compiled.is_symmetric = True
    for (kind, subdomains, (degree, is_lobatto)), integrands in groups.items():
        if kind == "interior_facet" and subdomains:
            raise UnsupportedForm(f"dS of {', '.join(map(str, subdomains))}: interior facets have no parts")
        kernel, setup, standard = _compile_integral(form, compiled, kind, integrands, store)
        compiled.integrals.append(Integral(
            kind, subdomains, _functional_degree(integrands, compiled) if degree is None else degree, is_lobatto,
            kernel, setup, standard))
    return compiled


_kept: "OrderedDict[Tuple[str, str], CompiledForm]" = OrderedDict()


def compile_form(form: Any, store: str = "auto") -> CompiledForm:
    """As compile_new; a form that differs from one before in its functions and values alone is not compiled
    again."""
    key = (form.signature(), store)
    compiled = _kept.get(key)
    if compiled is None:
        compiled = _kept[key] = compile_new(form, store)
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    else:
        _kept.move_to_end(key)
    return compiled
