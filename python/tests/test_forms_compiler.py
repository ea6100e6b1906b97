# SPDX-License-Identifier: BSD-2-Clause
"""The compiler of forms without the library: expressions, cuts, refusals, what is kept."""
from __future__ import annotations

import itertools
import math
import time
from typing import Any, Callable, List, Sequence, Set, Tuple

import numpy as np
import pytest
import ufl
from hypothesis import given, settings
from hypothesis import strategies as st
from ufl import (Coefficient, Constant, FacetNormal, Identity, SpatialCoordinate, TestFunction, TrialFunction,
                 derivative, det, dot, dS, ds, dx, exp, grad, inner, ln, tr)

from ritz._base import Element
from ritz.forms.cut import Network, choose_stored
from ritz.forms.dag import Graph, Node
from ritz.forms.emit import NotFinite, write_number
from ritz.forms.integrals import compile_form, compile_new
from ritz.forms.scalar import Evaluator, UnsupportedForm, lower

CELL = ufl.hexahedron
MESH = ufl.Mesh(Element(CELL, 1, (3,)))
V = ufl.FunctionSpace(MESH, Element(CELL, 4))
W = ufl.FunctionSpace(MESH, Element(CELL, 4, (3,)))
Q = ufl.FunctionSpace(MESH, Element(CELL, 2, (7,), (Element(CELL, 3, (3,)), Element(CELL, 2, (3,)), Element(CELL, 1))))
u, v, f, w = TrialFunction(V), TestFunction(V), Coefficient(V), Coefficient(W)
du, dv = TrialFunction(W), TestFunction(W)
x = SpatialCoordinate(MESH)

# ---- Expressions against NumPy: pairs of what UFL has and its value ----

POINT = np.array([0.3, 0.7, 0.45])
F_VALUE, F_GRAD = 1.8, np.array([0.9, 0.45, 0.7])
W_VALUE, W_GRAD = np.array([0.04, 0.13, -0.06]), np.array([[0.14, 0.06, 0.0], [0.0, 0.0, 0.27], [0.1, 0.05, -0.2]])


class AtPoint:
    """Leaves whose inputs are (function, component, direction)."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def side(self, terminal: Any, side: Any, along: Any) -> int:
        return 0

    def function(self, terminal: Any, comp: int, along: Any, side: int) -> Node:
        return self.graph.input(terminal, comp, along)

    def other(self, terminal: Any, comp: Any, side: int) -> Node:
        return self.graph.input("x", comp[0])


def value_of(key: Any) -> float:
    if key[0] == "x":
        return float(POINT[key[1]])
    function, comp, along = key
    if function is f:
        return float(F_VALUE if along is None else F_GRAD[along])
    return float(W_VALUE[comp] if along is None else W_GRAD[comp, along])


Pair = Tuple[Any, Any]
ONE = np.eye(3)


def both(e: Any, value: Any) -> Pair:
    return e, value


def inside(pair: Pair) -> Pair:
    """Into (0.1, 2.1), where all functions are smooth."""
    return 1.1 + ufl.tanh(pair[0]), 1.1 + np.tanh(pair[1])


def dev(A: Any) -> Any:
    return A - np.trace(A) / 3 * ONE


G = ONE + W_GRAD
SCALARS = st.sampled_from([
    both(f, F_VALUE), both(x[0], POINT[0]), both(w[2], W_VALUE[2]), both(tr(grad(w)), np.trace(W_GRAD)),
    both(inner(w, w), W_VALUE @ W_VALUE), both(det(Identity(3) + grad(w)), np.linalg.det(G)), both(f.dx(2), F_GRAD[2]),
    both(dot(ufl.curl(w), x), np.array([W_GRAD[2, 1] - W_GRAD[1, 2], W_GRAD[0, 2] - W_GRAD[2, 0],
                                        W_GRAD[1, 0] - W_GRAD[0, 1]]) @ POINT)])
MATRICES = st.sampled_from([
    both(grad(w), W_GRAD), both(Identity(3), ONE), both(ufl.outer(w, x), np.outer(W_VALUE, POINT)),
    both(ufl.dev(grad(w)), dev(W_GRAD)), both(ufl.sym(grad(w)), (W_GRAD + W_GRAD.T) / 2),
    both(ufl.inv(Identity(3) + grad(w)), np.linalg.inv(G)),
    both(ufl.cofac(Identity(3) + grad(w)), np.linalg.det(G) * np.linalg.inv(G).T),
    both(ufl.skew(ufl.outer(x, w)), (np.outer(POINT, W_VALUE) - np.outer(W_VALUE, POINT)) / 2)])
UNARY: List[Callable[[Pair], Pair]] = [
    lambda p: (ufl.sin(p[0]), np.sin(p[1])), lambda p: (ufl.exp(-inside(p)[0]), np.exp(-inside(p)[1])),
    lambda p: (ln(inside(p)[0]), np.log(inside(p)[1])), lambda p: (abs(p[0]), abs(p[1])),
    lambda p: (inside(p)[0] ** 2.5, inside(p)[1] ** 2.5), lambda p: (p[0] ** 3, p[1] ** 3),
    lambda p: (1 / inside(p)[0], 1 / inside(p)[1]), lambda p: (-2 * p[0], -2 * p[1]),
    lambda p: (ufl.atan(p[0]), np.arctan(p[1])), lambda p: (ufl.erf(p[0]), math.erf(p[1])),
    lambda p: (ufl.conditional(ufl.lt(p[0], 0.4), p[0], 0.4 - p[0]), p[1] if p[1] < 0.4 else 0.4 - p[1]),
    lambda p: (ufl.sign(p[0]), np.sign(p[1])), lambda p: (ufl.cosh(inside(p)[0]), np.cosh(inside(p)[1]))]
BINARY: List[Callable[[Pair, Pair], Pair]] = [
    lambda p, q: (p[0] + q[0], p[1] + q[1]), lambda p, q: (p[0] * q[0], p[1] * q[1]),
    lambda p, q: (p[0] - 2 * q[0], p[1] - 2 * q[1]), lambda p, q: (p[0] / inside(q)[0], p[1] / inside(q)[1]),
    lambda p, q: (ufl.max_value(p[0], q[0]), max(p[1], q[1])), lambda p, q: (ufl.min_value(p[0], q[0]), min(p[1], q[1])),
    lambda p, q: (inside(p)[0] ** q[0], inside(p)[1] ** q[1]),
    lambda p, q: (ufl.atan2(p[0], inside(q)[0]), np.arctan2(p[1], inside(q)[1]))]
OF_MATRICES: List[Callable[[Pair, Pair], Pair]] = [
    lambda A, B: (inner(A[0] * B[0], A[0].T), np.sum(A[1] @ B[1] * A[1].T)),
    lambda A, B: (tr(A[0] + B[0].T), np.trace(A[1] + B[1])), lambda A, B: (det(A[0] - B[0]), np.linalg.det(A[1] - B[1])),
    lambda A, B: (dot(A[0] * x, B[0].T * w), A[1] @ POINT @ (B[1].T @ W_VALUE))]
EXPRESSIONS = st.recursive(
    st.one_of(SCALARS, st.builds(lambda op, A, B: op(A, B), st.sampled_from(OF_MATRICES), MATRICES, MATRICES)),
    lambda deeper: st.one_of(st.builds(lambda op, p: op(p), st.sampled_from(UNARY), deeper),
                             st.builds(lambda op, p, q: op(p, q), st.sampled_from(BINARY), deeper, deeper)),
    max_leaves=6)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(EXPRESSIONS)
def test_expressions_have_their_values(pair: Pair) -> None:
    graph = Graph()
    value = Evaluator(graph, AtPoint(graph))(lower(ufl.as_ufl(pair[0])))
    node = value.get((None, None), graph.zero)
    # Some tens of operations, whose values are at most some powers of ten apart.
    assert float(graph.evaluate([node], value_of)[0]) == pytest.approx(float(pair[1]), rel=1e-9, abs=1e-9)


def test_equal_expressions_are_one_node() -> None:
    g = Graph()
    a, b = g.input("a"), g.input("b")
    assert g.add(a, b) is g.add(b, a) and g.mul(g.neg(a), g.neg(b)) is g.mul(a, b)
    assert g.sub(a, a) is g.zero and g.mul(a, g.div(g.one, a)) is g.one
    assert g.mul(g.const(2), g.mul(a, g.const(3))) is g.mul(g.const(6), a)
    assert g.add(a, a) is g.mul(g.const(2), a) and g.power(a, g.const(2)) is g.mul(a, a)
    assert g.func("exp", g.func("log", a)) is a
    assert g.cond(g.logical("<", g.one, g.zero), a, b) is b


# ---- Cuts ----


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 2 ** 32 - 1))
def test_a_cut_is_minimal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    num = int(rng.integers(3, 7))
    edges = {(int(a), int(b)): float(rng.integers(1, 9)) for a, b in rng.integers(0, num, (2 * num, 2)) if a != b}
    network = Network()
    for _ in range(num):
        network.vertex()
    for (a, b), c in edges.items():
        network.edge(a, b, c)

    def cost(side: Set[int]) -> float:
        return sum(c for (a, b), c in edges.items() if a in side and b not in side)

    others = range(2, num)
    best = min(cost({0, *chosen}) for k in range(num - 1) for chosen in itertools.combinations(others, k))
    assert cost(network.cut(0, 1)) == pytest.approx(best)


def price(g: Graph, outs: Sequence[Node], stored: Sequence[Node]) -> float:
    fields = {n.val[0] for n in g.inputs(outs, stored) if n.val[0] != "u"}
    return 8 * len(stored) + 0.37 * g.operations(outs, stored) + 10 * len(fields)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 2 ** 32 - 1))
def test_what_is_stored_costs_least(seed: int) -> None:
    """Against all choices of nodes in random graphs."""
    rng = np.random.default_rng(seed)
    g = Graph()
    known: List[Node] = [g.input("f", 0), g.input("f", 1), g.input("x", 0)]
    for _ in range(6):
        a, b = (known[i] for i in rng.integers(0, len(known), 2))
        known.append([g.add(a, g.func("exp", b)), g.mul(a, b), g.func("log", a)][int(rng.integers(3))])
    outs = [g.mul(g.input("u", i), known[int(k)]) for i, k in enumerate(rng.integers(3, len(known), 2))]
    stored = choose_stored(outs, lambda key: key[0] == "u", lambda key: False, lambda key: key[0], lambda key: 10)
    early = [n for n in g.order(outs) if not n.is_const and not any(i.val[0] == "u" for i in g.inputs([n]))][:14]
    best = min(price(g, outs, chosen) for k in range(4) for chosen in itertools.combinations(early, k))
    assert price(g, outs, stored) <= best + 0.02 * len(early)  # nothing is free in the network


# ---- Compiled forms ----


def hyperelastic() -> Any:
    mu, lam = Constant(MESH), Constant(MESH)
    F = Identity(3) + grad(w)
    J = det(F)
    return (mu / 2 * (tr(F.T * F) - 3) - mu * ln(J) + lam / 2 * ln(J) ** 2) * dx


def test_the_jacobian_of_an_energy_stores_the_gradient() -> None:
    form = derivative(derivative(hyperelastic(), w, dv), w, du)
    compiled = compile_new(form)
    integral = compiled.integrals[0]
    assert integral.setup is not None and 9 <= integral.num_stored <= 11
    assert integral.setup.coefficients == {0}
    assert compile_new(form, store="none").integrals[0].setup is None
    assert "log" not in integral.kernel.text or integral.num_stored == 9


def test_constants_are_data_of_the_context() -> None:
    k, t = Constant(MESH), Constant(MESH, shape=(3,))
    compiled = compile_new((ufl.exp(k) * inner(grad(u), grad(v)) + dot(t, grad(u)) * v) * dx)
    kernel = compiled.integrals[0].kernel
    assert kernel.constants == {0, 1} and "exp" not in kernel.text
    values = compiled.constant_values(kernel, [np.array(2.0), np.array([3.0, 4.0, 5.0])])
    assert sorted(values) == pytest.approx([3.0, 4.0, 5.0, float(np.exp(2.0))])


def test_stored_numbers_know_what_they_depend_on() -> None:
    k, g = Constant(MESH), Coefficient(V)
    setup = compile_new(ufl.exp(k * f) * inner(grad(u), grad(v)) * dx + g * v * u * ds).integrals[0].setup
    assert setup is not None and setup.coefficients == {0} and setup.constants == {0}


def test_the_same_form_again_is_not_compiled() -> None:
    def jacobian(function: Any) -> Any:
        return derivative(ufl.sqrt(1 + inner(grad(function), grad(function))) * v * dx, function, u)

    first = compile_form(jacobian(f))
    form = jacobian(Coefficient(V))
    start = time.perf_counter()
    assert compile_form(form) is first
    assert time.perf_counter() - start < 0.1  # 5 ms on a quiet machine
    assert compile_form(jacobian(Coefficient(ufl.FunctionSpace(MESH, Element(CELL, 3))))) is not first
    assert compile_form(form, store="none") is not first


def test_parts_of_products_are_fields() -> None:
    q, t = TrialFunction(Q), TestFunction(Q)
    (a, _, p), (b, c, _) = ufl.split(q), ufl.split(t)
    kernel = compile_new((inner(grad(a), grad(b)) + p * c[1]) * dx).integrals[0].kernel
    assert [(i.name, i.part, i.value, i.gradient, i.size) for i in kernel.inputs] == [
        ("u0", 0, False, True, 3), ("u2", 2, True, False, 1)]
    assert [(o.name, o.part, o.size) for o in kernel.outputs] == [("v0", 0, 3), ("v1", 1, 3)]


n = FacetNormal(MESH)


@pytest.mark.parametrize("form, word", [
    (lambda: v * v * dx, "product of test"), (lambda: u * u * v * dx, "product of trial"),
    (lambda: ufl.sin(v) * dx, "not linear"), (lambda: f / v * dx, "not linear"),
    (lambda: inner(grad(grad(f)), grad(grad(v))) * dx, "second derivatives"),
    (lambda: (u + 1) * v * dx, "lack"), (lambda: (f + v) * dx, "without the test"),
    (lambda: f("+") * n[0] * v("+") * dS, "two sides"),
    (lambda: dot(grad(f), n("+")) * v("+") * dS, "two sides"),
    (lambda: ufl.CellVolume(MESH) * v * dx, "CellVolume"), (lambda: ufl.bessel_J(0, f) * v * dx, "Bessel"),
    (lambda: n[0] * v * dx, "FacetNormal"), (lambda: u("+") * v("+") * dS("1"), "no parts"),
    (lambda: v * ds(subdomain_id="otherwise"), "otherwise"),
    (lambda: v * dx(metadata={"quadrature_rule": "vertex"}), "quadrature_rule"),
], ids=str)
def test_refusals_say_why(form: Any, word: str) -> None:
    with pytest.raises(UnsupportedForm) as error:
        compile_new(form())
    assert word in str(error.value)


def test_constants_without_meaning_are_refused() -> None:
    with pytest.raises(NotFinite):
        write_number(float("inf"))
    with pytest.raises(ValueError, match="store"):
        compile_new(v * dx, store="some")


# ---- Isotropy ----

k = Constant(MESH)
ISOTROPIC = {
    "helmholtz": 2 * u * v * dx + k * inner(grad(u), grad(v)) * dx,
    "coefficient": (1 + f ** 2) * exp(x[0]) * dot(grad(u), grad(v)) * dx,
    "vector": inner(grad(du), grad(dv)) * dx,
    "residual": (1 + f ** 2) * inner(grad(f), grad(v)) * dx - v * dx,
    "jacobian": derivative((1 + f ** 2) * inner(grad(f), grad(v)) * dx, f, u),
    "product": inner(f * grad(w), grad(dv)) * dx,
}
NOT_ISOTROPIC = {
    "mass": k * u * v * dx,
    "direction": (u.dx(0) * v.dx(0) + u.dx(1) * v.dx(1) + 2 * u.dx(2) * v.dx(2)) * dx,
    "plane": (u.dx(0) * v.dx(0) + u.dx(1) * v.dx(1)) * dx,
    "convection": u.dx(0) * v * dx + inner(grad(u), grad(v)) * dx,
    "given gradient": inner(grad(u), grad(v)) * dx + inner(w, grad(v)) * u * dx,
    "p-Laplacian": (1 + inner(grad(f), grad(f))) * inner(grad(f), grad(v)) * dx,
    "its derivative": derivative((1 + inner(grad(f), grad(f))) * inner(grad(f), grad(v)) * dx, f, u),
    "elasticity": inner(ufl.sym(grad(du)), grad(dv)) * dx,
    "divergence": ufl.div(du) * ufl.div(dv) * dx,
    "two gradients": f.dx(0) * inner(grad(f), grad(v)) * dx,
    "energy": inner(grad(f), grad(f)) * dx,
    "boundary": inner(grad(u), grad(v)) * ds,
}


@pytest.mark.parametrize("name", [*ISOTROPIC, *NOT_ISOTROPIC])
@pytest.mark.parametrize("store", ["auto", "none", "all"])
def test_forms_that_multiply_gradients_by_numbers_alone_are_isotropic(name: str, store: str) -> None:
    form = ISOTROPIC.get(name, NOT_ISOTROPIC.get(name))
    (integral,) = compile_new(form, store=store).integrals
    has_stored_gradient = name == "jacobian" and store != "none"  # 2 f grad f is a number at a point then
    assert integral.kernel.isotropic == (name in ISOTROPIC and not has_stored_gradient)
