# SPDX-License-Identifier: BSD-2-Clause
"""Forms as operators: identities of calculus on curved meshes of all shapes, backends, derivatives, constants."""
from __future__ import annotations

import math
from typing import Any, Callable, Dict, List

import numpy as np
import pytest
import ufl
from hypothesis import given, settings
from hypothesis import strategies as st
from ufl import (FacetNormal, Identity, SpatialCoordinate, TestFunction, TestFunctions, TrialFunction, TrialFunctions,
                 as_vector, avg, cofac, conditional, cos, cosh, cross, curl, derivative, det, dev, div, dot, dS, ds, dx,
                 exp, grad, inner, inv, jump, ln, outer, sin, sinh, skew, sqrt, sym, tanh, tr)

from ritz._core import SCALAR, Context, FailedError, Vector, ffi, lib
from ritz.forms import FacetHeight, UnsupportedForm, assemble, bind, residual_operator
from ritz.function import Constant, Function
from ritz.mesh import BoxMesh, Mesh, UnitCubeMesh, UnitSquareMesh
from ritz.space import FunctionSpace, ProductSpace, VectorFunctionSpace

BENDS: Dict[int, Callable[..., Any]] = {
    1: lambda a: (a + 0.1 * np.sin(2 * a),),
    2: lambda a, b: (a + 0.1 * np.sin(2 * b), b + 0.08 * np.cos(3 * a)),
    3: lambda a, b, c: (a + 0.1 * np.sin(2 * b), b + 0.1 * c * c, c + 0.08 * np.cos(3 * a)),
}
SHAPES = ["interval", "quadrilateral", "triangle", "hexahedron", "tetrahedron", "prism", "pyramid"]


def curved(shape: str, ctx: Any = None, n: int = 2) -> Mesh:
    dim = {"interval": 1, "quadrilateral": 2, "triangle": 2}.get(shape, 3)
    mesh = BoxMesh(*[n] * dim, order=2, map=BENDS[dim], ctx=ctx)
    return mesh if shape in ("interval", "quadrilateral", "hexahedron") else mesh.split(shape)


def field(x: Any, dim: int) -> Any:
    if dim == 1:
        return as_vector([sin(x[0])])
    return as_vector([sin(x[0]) * x[1], x[1] ** 2 * exp(x[0])] + ([cos(x[2]) * x[0]] if dim == 3 else []))


def quadrature(degree: int) -> Any:
    return {"metadata": {"quadrature_degree": degree}}


# ---- Identities ----


@pytest.mark.parametrize("shape", SHAPES)
def test_divergence_and_volume(shape: str) -> None:
    """The integral of div q is the flux of q; the volume is the flux of x / dim. Rational maps on curved elements
    leave the error of the quadrature alone."""
    mesh = curved(shape)
    x, n = SpatialCoordinate(mesh), FacetNormal(mesh)
    q = field(x, mesh.dim)
    rule = quadrature(16)
    assert assemble(div(q) * dx(mesh, **rule)) == pytest.approx(assemble(dot(q, n) * ds(mesh, **rule)), abs=1e-7)
    assert assemble(dot(x, n) * ds(mesh, **rule)) / mesh.dim == pytest.approx(mesh.measure, rel=1e-12)
    w = Function(FunctionSpace(mesh, 3, shape=(mesh.dim,))).interpolate(q)
    assert assemble(div(w) * dx(**rule)) == pytest.approx(assemble(dot(w, n) * ds(**rule)), abs=1e-9)


@pytest.mark.parametrize("shape", ["quadrilateral", "hexahedron", "prism"])
def test_tensor_algebra(shape: str) -> None:
    """Defects of identities, all in one integral of their squares."""
    mesh = curved(shape)
    dim, x = mesh.dim, SpatialCoordinate(mesh)
    w = Function(VectorFunctionSpace(mesh, 3)).interpolate(field(x, dim))
    k, t = Constant(mesh, 2.0), Constant(mesh, np.arange(dim) * 1.0)
    A = Identity(dim) + 0.3 * grad(w)
    a, b = x[0], x[1]
    defects = [
        tr(inv(A) * A) - dim, inner(cofac(A), A) - dim * det(A), inner(dev(A), dev(A)) + tr(A) ** 2 / dim - inner(A, A),
        inner(outer(w, w), skew(A)), inner(sym(A), A) - inner(sym(A), sym(A)),
        conditional(ufl.lt(a, 0.5), b, 2 * b) - conditional(ufl.Not(ufl.ge(a, 0.5)), b, 2 * b),
        ufl.max_value(a - 0.5, 0) - ufl.min_value(a - 0.5, 0) - abs(a - 0.5),
        exp(ln(1 + a ** 2)) - 1 - a ** 2, sin(a) ** 2 + cos(a) ** 2 - 1, tanh(b) - sinh(b) / cosh(b),
        ufl.tan(a) - sin(a) / cos(a), ufl.atan2(sin(a), cos(a)) - a, ufl.acos(cos(1 + a)) - 1 - a, sqrt(a * a + 1) ** 2 - a * a - 1,
        ufl.erf(a) + ufl.erf(-a), k * dot(t, x) - 2 * sum(i * x[i] for i in range(dim)),
    ]
    if dim == 3:
        defects.append(dot(cross(w, x), w))
    total = assemble(sum(d * d for d in defects) * dx)
    assert 0 <= total < 1e-24  # squares of roundings of values of size 1 to 10


def test_curl() -> None:
    mesh = curved("hexahedron")
    x, n = SpatialCoordinate(mesh), FacetNormal(mesh)
    w = Function(VectorFunctionSpace(mesh, 3)).interpolate(field(x, 3))
    e = Constant(mesh, [0.3, -0.5, 0.8])
    rule = quadrature(14)
    assert assemble(dot(e, curl(w)) * dx(**rule)) == pytest.approx(assemble(dot(e, cross(n, w)) * ds(**rule)), abs=1e-9)


@pytest.mark.parametrize("shape", ["triangle", "hexahedron"])
def test_variable_and_diff(shape: str) -> None:
    mesh = curved(shape)
    w = Function(VectorFunctionSpace(mesh, 2)).interpolate(field(SpatialCoordinate(mesh), mesh.dim))
    F = ufl.variable(Identity(mesh.dim) + 0.2 * grad(w))
    P = ufl.diff(ln(det(F)), F)
    defect = P - inv(F).T
    assert 0 <= assemble(inner(defect, defect) * dx) < 1e-26


# ---- Operators ----


def random_function(space: Any, seed: int = 3) -> Function:
    f = Function(space)
    f.vector.array = np.random.default_rng(seed).standard_normal(space.dim)
    return f


def distance(a: Any, b: Any) -> float:
    """Relative to the larger entry."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-300))


BACKENDS = ["/cpu/self/ref", "/cpu/self/gen", "/gpu/opencl"]


def context(resource: str) -> Context:
    try:
        return Context(resource)
    except FailedError as error:
        pytest.skip(str(error))
    except Exception as error:  # no such device
        pytest.skip(str(error))


@pytest.mark.parametrize("resource", BACKENDS)
def test_convection_with_surface_term_on_backends(resource: str) -> None:
    """A form that is not symmetric, as an operator and with the function in it; its diagonal; its matrix."""
    ctx = context(resource)
    mesh = curved("quadrilateral", ctx)
    V = FunctionSpace(mesh, 3)
    u, v, f = TrialFunction(V), TestFunction(V), random_function(V)
    x, k = SpatialCoordinate(mesh), Constant(mesh, 1.7)
    c = Function(FunctionSpace(mesh, 2)).interpolate(lambda y: 1 + y[0] ** 2)

    def form(g: Any) -> Any:
        b = as_vector([x[1], -x[0]])
        return (dot(b, grad(g)) * v + exp(c) * inner(grad(g), grad(v)) + k * g * v) * dx + c * g * v * ds

    A = assemble(form(u))
    y = (A @ f).array_ro
    r = assemble(form(f)).array_ro
    assert distance(y, r) < 1e-12
    e = Function(V)
    values = np.zeros(V.dim)
    values[7] = 1
    e.vector.array = values
    assert A.diagonal()[7] == pytest.approx((A @ e).array_ro[7], rel=1e-12)
    if not ctx.is_device:
        assert distance(A.tocsr() @ np.array(f.array_ro), y) < 1e-12


@pytest.mark.parametrize("shape", ["quadrilateral", "tetrahedron"])
def test_derivatives_of_energies(shape: str) -> None:
    """Gradient and Hessian of an energy with a surface term against central differences."""
    mesh = curved(shape)
    V = FunctionSpace(mesh, 3)
    v, du = TestFunction(V), TrialFunction(V)
    u, f = Function(V), Function(V)
    u.interpolate(lambda x: 0.3 * x[0] + x[1] ** 2)
    f.interpolate(lambda x: np.sin(x[0]))
    energy = (sqrt(1 + inner(grad(u), grad(u))) + u ** 4 / 4 + f * exp(-u)) * dx + u ** 3 * ds
    F = derivative(energy, u, v)
    H = assemble(derivative(F, u, du))
    y = random_function(V)
    exact = (H @ y).array_ro.copy()
    g = assemble(F).array_ro.copy()
    u0, step = u.array.copy(), 1e-5
    values: List[Any] = []
    for sign in (1, -1):
        u.vector.array = u0 + sign * step * y.array_ro
        values.append((assemble(F).array_ro.copy(), assemble(energy)))
    # Errors of differences: rounding / step.
    assert distance((values[0][0] - values[1][0]) / (2 * step), exact) < 1e-6
    assert (values[0][1] - values[1][1]) / (2 * step) == pytest.approx(float(g @ y.array_ro), rel=1e-6)
    u.vector.array = u0
    assert distance((residual_operator(F, u) @ u).array_ro, g) < 1e-12


def num_compilations() -> int:
    counters = ffi.new("RitzJitCounters *")
    assert lib.RitzJitGetCounters(counters) == 0
    return int(counters.compilations + counters.memory_hits + counters.disk_hits)


def test_constants_and_functions_change_without_compilation() -> None:
    mesh = UnitSquareMesh(3)
    V = FunctionSpace(mesh, 4)
    u, v, f, k = TrialFunction(V), TestFunction(V), Function(V), Constant(mesh, 1.0)
    f.vector.assign(1.0)
    x, y = random_function(V), Vector(V.dim, mesh.ctx)
    A = assemble(exp(k * f) * u * v * dx)  # stored at points: depends on both
    assert A.bound.compiled.integrals[0].num_stored == 1
    A.apply(x.vector, y)
    before, num = y.array_ro.copy(), num_compilations()
    k.assign(2.0)
    A.apply(x.vector, y)
    assert distance(y.array_ro, math.e * before) < 1e-13
    f.vector.assign(3.0)
    A.apply(x.vector, y)
    assert distance(y.array_ro, math.exp(5) * before) < 1e-13
    array = f.array  # writes through a view are seen, too; one that is not written to computes nothing again
    for values in 0.0, 0.5, -0.0:
        array[:] = values
        A.apply(x.vector, y)
        computed = list(A.bound.operators[0]._computed)
        A.apply(x.vector, y)
        assert A.bound.operators[0]._computed == computed
        assert distance(y.array_ro, math.exp(2 * values - 1) * before) < 1e-13
    del array
    f.array[:] = 3.0
    A.apply(x.vector, y)
    assert distance(y.array_ro, math.exp(5) * before) < 1e-13
    assert num_compilations() == num


def test_stored_and_computed_numbers_give_the_same() -> None:
    mesh = curved("hexahedron")
    V = VectorFunctionSpace(mesh, 2)
    u, v, du = Function(V), TestFunction(V), TrialFunction(V)
    u.interpolate(lambda x: 0.05 * np.sin(x + 2 * x[::-1]))
    mu, lam = Constant(mesh, 3.8), Constant(mesh, 5.8)
    F = Identity(3) + grad(u)
    J = det(F)
    psi = (mu / 2 * (tr(F.T * F) - 3) - mu * ln(J) + lam / 2 * ln(J) ** 2) * dx
    a, x = derivative(derivative(psi, u, v), u, du), random_function(V)
    made = {store: assemble(a, store=store) for store in ("auto", "none")}
    assert made["auto"].bound.compiled.integrals[0].num_stored >= 9
    y = {store: (op @ x).array_ro.copy() for store, op in made.items()}
    assert distance(y["auto"], y["none"]) < 1e-12
    z = random_function(V, 4)  # the Hessian of an energy is symmetric
    assert y["auto"] @ z.array_ro == pytest.approx(x.array_ro @ (made["auto"] @ z).array_ro, rel=1e-11)


def test_numbers_at_points_on_mixed_kinds() -> None:
    """A mesh with affine and curved elements, whose numbers are in one vector."""
    mesh = BoxMesh(4, 2, order=2, map=lambda a, b: (a, b + (0.2 * (a - 0.5) ** 2 * b if a > 0.5 else 0)))
    V = FunctionSpace(mesh, 3)
    u, v, f, g = TrialFunction(V), TestFunction(V), random_function(V, 5), random_function(V, 6)
    A = assemble(exp(0.1 * f) * inner(grad(u), grad(v)) * dx)
    assert A.bound.compiled.integrals[0].setup is not None
    assert distance((A @ g).array_ro, assemble(exp(0.1 * f) * inner(grad(g), grad(v)) * dx).array_ro) < 1e-12
    assert assemble(Constant(mesh, 1.0) * dx) == pytest.approx(mesh.measure, rel=1e-13)


@pytest.mark.parametrize("resource", BACKENDS)
def test_isotropic_forms_do_not_depend_on_the_policy(resource: str) -> None:
    """Where the metric is stored they get raised gradients (two fields of them), elsewhere physical ones."""
    ctx = context(resource)
    for mesh, affine in ((curved("triangle", ctx), "stored"), (BoxMesh(2, 3, upper=(1.0, 2.5), ctx=ctx), "affine")):
        V = FunctionSpace(mesh, 2)
        u, v, g, k = random_function(V), TestFunction(V), random_function(V, 4), Constant(mesh, 0.7)
        F = k * inner((1 + u * u) * grad(u) + u * grad(g), grad(v)) * dx + exp(u) * v * dx
        J = derivative(F, u, TrialFunction(V))
        values = [np.stack([assemble(F, policy=policy).array_ro,
                            (assemble(J, store=store, policy=policy) @ g).array_ro])
                  for policy, store in (("isoparametric", "none"), (affine, "none"), (affine, "all"), (affine, "auto"))]
        # Sums of some dozen products, 2000 eps in double. What is stored of gradients is physical.
        for others in values[1:]:
            assert distance(values[0], others) < 2000 * np.finfo(SCALAR).eps


def test_stored_gradients_are_no_raised_ones() -> None:
    """The state's gradient is stored and multiplied by a number of the direction: no isotropic form."""
    mesh = BoxMesh(3, 2, upper=(1.0, 2.5))
    W = VectorFunctionSpace(mesh, 2) * FunctionSpace(mesh, 1)
    w, d = random_function(W), random_function(W, 4)
    (u, p), (_, q) = ufl.split(w), TestFunctions(W)
    J = derivative((1 + inner(u, u)) * inner(grad(p), grad(q)) * dx, w, TrialFunction(W))
    exact = (assemble(J, store="none", policy="isoparametric") @ d).array_ro
    for store in "none", "all", "auto":
        assert distance((assemble(J, store=store) @ d).array_ro, exact) < 2000 * np.finfo(SCALAR).eps


def test_stored_gradients_are_physical() -> None:
    mesh = BoxMesh(2, 3)
    W = VectorFunctionSpace(mesh, 2) * FunctionSpace(mesh, 1)
    w, g, (v, q) = random_function(W), random_function(W, 4), TestFunctions(W)
    u, p = ufl.split(w)
    F = ((1 + p**2) * inner(grad(u), grad(v)) + (1 + inner(u, u)) * inner(grad(p), grad(q))) * dx
    wanted, *found = [(assemble(derivative(F, w, TrialFunction(W)), store=store, policy="affine") @ g).array_ro
                      for store in ("none", "auto", "all")]
    assert all(distance(values, wanted) < 2000 * np.finfo(SCALAR).eps for values in found)


@pytest.mark.parametrize("degree", [2, 4])
def test_the_library_has_operators_for_standard_forms(degree: int) -> None:
    """lambda u v + mu grad u . grad v are its own, with the same values as the form's kernel."""
    mesh = curved("quadrilateral")
    V = FunctionSpace(mesh, degree, shape=(2,))
    u, v, f = TrialFunction(V), TestFunction(V), random_function(V)
    for form, is_own in ((inner(u, v) * dx, degree < 4), (3 * inner(grad(u), grad(v)) * dx - 2 * inner(u, v) * dx, True),
                         (inner(grad(u), grad(v)) * dx, True), (inner(sym(grad(u)), grad(v)) * dx, False),
                         (u[0] * v[0] * dx, False)):
        A, B = assemble(form), assemble(form, store="none")
        assert ("form_" in A.explain()) != is_own and "form_" in B.explain()
        assert distance((A @ f).array_ro, (B @ f).array_ro) < 1e-12


# ---- Convergence ----


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_orders_of_poisson(degree: int) -> None:
    from scipy.sparse.linalg import spsolve  # type: ignore[import-untyped]

    errors = []
    for num in (4, 8):
        mesh = UnitSquareMesh(num)
        V = FunctionSpace(mesh, degree)
        u, v, x = TrialFunction(V), TestFunction(V), SpatialCoordinate(mesh)
        exact = sin(math.pi * x[0]) * sin(math.pi * x[1])
        b = assemble(-div(grad(exact)) * v * dx).array_ro
        A = assemble(inner(grad(u), grad(v)) * dx).tocsr()
        free = np.setdiff1d(np.arange(V.dim), V.boundary_nodes("all"))
        uh = Function(V)
        values = np.zeros(V.dim)
        values[free] = spsolve(A[free][:, free].tocsc(), b[free])
        uh.vector.array = values
        errors.append(assemble((uh - exact) ** 2 * dx(**quadrature(2 * degree + 6))) ** 0.5)
    assert math.log2(errors[0] / errors[1]) == pytest.approx(degree + 1, abs=0.2)


# ---- Subdomains, products, facets ----


def test_parts_and_quadrature() -> None:
    mesh = UnitCubeMesh(2)
    one, V = Constant(mesh, 1.0), FunctionSpace(mesh, 2)
    x = SpatialCoordinate(mesh)
    assert assemble(one * ds("xmin")) == pytest.approx(1)
    assert assemble(x[0] * ds(("xmin", "xmax")) + one * ds(2)) == pytest.approx(2)
    assert assemble(one * dx(1)) == pytest.approx(1)
    with pytest.raises(ValueError, match="xmin"):
        assemble(one * ds("left"))
    v = TestFunction(V)
    # One point a direction: the midpoint rule.
    assert np.sum(assemble(x[0] ** 2 * v * dx(**quadrature(1))).array_ro) == pytest.approx(2 * (1 / 16 + 9 / 16) / 4, rel=1e-13)
    lobatto = {"quadrature_degree": 3, "quadrature_rule": "GLL"}
    diagonal = assemble(TrialFunction(V) * v * dx(metadata=lobatto))
    assert distance(diagonal @ np.ones(V.dim), diagonal.diagonal()) < 1e-13  # nodes are points: mass is lumped


def test_mixed_spaces() -> None:
    """One operator of a product against its blocks; boundary terms in residuals; functions of products."""
    mesh = curved("triangle")
    V, S = VectorFunctionSpace(mesh, 3), FunctionSpace(mesh, 2)
    W: ProductSpace = V * S
    (u, p), (v, q) = TrialFunctions(W), TestFunctions(W)
    A = assemble((inner(grad(u), grad(v)) - p * div(v) - q * div(u)) * dx)
    f = random_function(W)
    a, b = f.split()
    t, s = TestFunction(V), TestFunction(S)
    blocks = [assemble((inner(grad(a), grad(t)) - b * div(t)) * dx).array_ro, assemble(-s * div(a) * dx).array_ro]
    assert distance((A @ f).array_ro, np.concatenate(blocks)) < 1e-12
    n = FacetNormal(mesh)
    fu, fp = ufl.split(f)
    whole = assemble(dot(fu, n) * q * ds + fp * dot(v, n) * ds + fp * q * dx).array_ro
    parts = [assemble(b * dot(t, n) * ds).array_ro, assemble(dot(a, n) * s * ds + b * s * dx).array_ro]
    assert distance(whole, np.concatenate(parts)) < 1e-12


def test_products_on_the_boundary() -> None:
    """As operators: those of residuals, with terms inside; symmetric ones with their diagonal."""
    mesh = curved("triangle")
    W = VectorFunctionSpace(mesh, 2) * FunctionSpace(mesh, 1)
    (v, q), n, f, h = TestFunctions(W), FacetNormal(mesh), random_function(W), FacetHeight(mesh)

    def form(u: Any, p: Any) -> Any:
        return (inner(grad(u), grad(v)) + p * q) * dx - (dot(grad(u) * n, v) + dot(grad(v) * n, u)) * ds \
            + (dot(u, v) / h + p * dot(v, n) + q * dot(u, n)) * ds

    A = assemble(form(*TrialFunctions(W)))
    assert A.is_symmetric and distance((A @ f).array_ro, assemble(form(*ufl.split(f))).array_ro) < 1e-12
    matrix = A.tocsr()
    assert distance(matrix @ np.asarray(f.array_ro), (A @ f).array_ro) < 1e-12
    assert distance(matrix.diagonal(), A.diagonal()) < 1e-12


def test_functions_of_tensors() -> None:
    """Divergences of tensors tested by vectors: the two are adjoint up to the boundary."""
    mesh = curved("triangle")
    T, V = FunctionSpace(mesh, 2, shape=(2, 2)), VectorFunctionSpace(mesh, 2)
    s, t, v = TrialFunction(T), TestFunction(T), TestFunction(V)
    f, g, n = random_function(T), random_function(V), FacetNormal(mesh)
    A = assemble((inner(s, t) + inner(div(s), div(t)) + 0.5 * tr(s) * t[0, 1]) * dx("1"))
    r = assemble((inner(f, t) + inner(div(f), div(t)) + 0.5 * tr(f) * t[0, 1]) * dx)
    assert distance((A @ f).array_ro, r.array_ro) < 1e-12
    rule = quadrature(12)
    weak = assemble((dot(div(f), v) + inner(f, grad(v))) * dx(**rule) - dot(f * n, v) * ds(**rule))
    strong = assemble(dot(div(f), v) * dx(**rule))
    assert abs(weak.array_ro @ g.array_ro) < 1e-9 * np.abs(strong.array_ro).sum()


@pytest.mark.parametrize("resource", ["/cpu/self/ref", "/cpu/self/gen"])
def test_interior_facets(resource: str) -> None:
    """Of discontinuous functions: the sum over elements of their boundary integrals, on both sides and outside."""
    mesh = curved("hexahedron", Context(resource))
    V = FunctionSpace(mesh, ("DG", 2))
    u, v, f, n = TrialFunction(V), TestFunction(V), random_function(V), FacetNormal(mesh)
    x, rule = SpatialCoordinate(mesh), quadrature(12)
    b = as_vector([x[1], -x[0], x[2] ** 2])
    inside = jump(f) * dot(b, n("+")) * dS(**rule)
    outside, volume = f * dot(b, n) * ds(**rule), (dot(b, grad(f)) + div(b) * f) * dx(**rule)
    assert assemble(inside) + assemble(outside) == pytest.approx(assemble(volume), abs=1e-8)
    h, k = FacetHeight(mesh), Constant(mesh, 10.0)

    def penalty(g: Any) -> Any:
        return ((k / avg(h)) * jump(g) * jump(v) - dot(avg(grad(g)), jump(v, n)) - dot(avg(grad(v)), jump(g, n))) * dS

    A = assemble(penalty(u) + inner(grad(u), grad(v)) * dx)
    r = assemble(penalty(f) + inner(grad(f), grad(v)) * dx)
    assert distance((A @ f).array_ro, r.array_ro) < 1e-12
    g = random_function(V, 4)
    assert (A @ f).array_ro @ g.array_ro == pytest.approx(f.array_ro @ (A @ g).array_ro, rel=1e-11)
    c = Function(V)
    c.vector.assign(1.0)
    assert np.abs((A @ c).array_ro).max() < 1e-10 * np.abs(r.array_ro).max()
    with pytest.raises(UnsupportedForm, match="no parts"):
        assemble(jump(u) * jump(v) * dS("xmin"))


@pytest.mark.parametrize("resource", ["/cpu/self/ref", "/cpu/self/gen"])
def test_several_functions_on_interior_facets(resource: str) -> None:
    """Fluxes of products of functions are their divergence; operators with coefficients, between spaces of other
    degrees, of products: those of residuals."""
    mesh = curved("triangle", Context(resource))
    V, S = FunctionSpace(mesh, ("DG", 2)), VectorFunctionSpace(mesh, ("DG", 1))
    f, g, n, rule = random_function(V), random_function(S, 4), FacetNormal(mesh), quadrature(10)
    inside, outside = jump(f * g, n) * dS(**rule), f * dot(g, n) * ds(**rule)
    assert assemble(inside) + assemble(outside) == pytest.approx(assemble(div(f * g) * dx(**rule)), abs=1e-9)

    W, h, c = V * S, FacetHeight(mesh), Function(FunctionSpace(mesh, 3)).interpolate(lambda x: 1 + x[0] * x[1])
    (p, u), (q, v), w, t = TrialFunctions(W), TestFunctions(W), random_function(W, 5), TestFunction(S)

    def form(p: Any, u: Any) -> Any:
        return (c / avg(h) * jump(p) * jump(q) + dot(avg(c * grad(p)), jump(q, n)) + dot(avg(u), jump(q, n))
                + inner(jump(u), jump(v)) + f("+") * dot(jump(p, n), avg(v))) * dS + c * p * q * dx

    whole = assemble(form(*ufl.split(w))).array_ro
    assert distance((assemble(form(p, u)) @ w).array_ro, whole) < 1e-12
    a, b = w.split()
    by_other = assemble(inner(jump(b), jump(t)) * dS + f("+") * dot(jump(a, n), avg(t)) * dS).array_ro
    assert distance(by_other, whole[V.dim:]) < 1e-12
    between = assemble(f("+") * dot(jump(TrialFunction(V), n), avg(t)) * dS)
    assert distance((between @ a).array_ro, assemble(f("+") * dot(jump(a, n), avg(t)) * dS).array_ro) < 1e-12
    assert distance((residual_operator(form(*ufl.split(w)), w) @ w).array_ro, whole) < 1e-12


def test_heights_over_facets() -> None:
    """Of squares: their sides."""
    mesh = UnitSquareMesh(3)
    h = FacetHeight(mesh)
    assert assemble(h * ds) == pytest.approx(4 / 3) and assemble(h("+") * dS + h("-") * dS) == pytest.approx(8 / 3)
    with pytest.raises(UnsupportedForm, match="FacetHeight in an integral dx"):
        assemble(h * dx)


def test_levels_share_texts_and_follow_functions() -> None:
    """On a coarser space the operator is that of the interpolated function."""
    fine = UnitSquareMesh(2).refine()
    V = FunctionSpace(fine, 2)
    u, v, f, k = TrialFunction(V), TestFunction(V), Function(V), Constant(fine, 2.0)
    f.interpolate(lambda x: 1 + x[0] * x[1])
    A = assemble(k * f ** 2 * inner(grad(u), grad(v)) * dx + f * u * v * ds)
    coarse = fine.coarser
    assert coarse is not None
    for space in (FunctionSpace(fine, 1), FunctionSpace(coarse, 1)):
        level = A.on_level(space)
        c = Function(FunctionSpace(space.mesh, 2)).interpolate(lambda x: 1 + x[0] * x[1])
        s, t = TrialFunction(space), TestFunction(space)
        degree = quadrature(5)
        exact = assemble(2 * c ** 2 * inner(grad(s), grad(t)) * dx(**degree) + c * s * t * ds(**degree))
        y = random_function(space)
        assert distance((level @ y).array_ro, (exact @ y).array_ro) < 1e-12
        f.vector.scale(2.0)
        k.assign(0.5)
        level.refresh()
        exact = assemble(2 * c ** 2 * inner(grad(s), grad(t)) * dx(**degree) + 2 * c * s * t * ds(**degree))
        assert distance((level @ y).array_ro, (exact @ y).array_ro) < 1e-12
        f.vector.scale(0.5)
        k.assign(2.0)


# ---- Random integrands ----

ONE = np.eye(2)


def tensors(G: Any, N: Any) -> List[Any]:
    """The same tensors for UFL and for NumPy, [points][2][2]."""
    return [G, N.sym(G), N.dev(G), N.inv(N.plus(G)), N.cofac(N.plus(G)), N.skew(G)]


class OfNumPy:
    def sym(self, A: Any) -> Any:
        return (A + A.transpose(0, 2, 1)) / 2

    def skew(self, A: Any) -> Any:
        return (A - A.transpose(0, 2, 1)) / 2

    def dev(self, A: Any) -> Any:
        return A - np.trace(A, axis1=1, axis2=2)[:, None, None] / 2 * ONE

    def inv(self, A: Any) -> Any:
        return np.linalg.inv(A)

    def cofac(self, A: Any) -> Any:
        return np.linalg.det(A)[:, None, None] * np.linalg.inv(A).transpose(0, 2, 1)

    def plus(self, A: Any) -> Any:
        return ONE + 0.3 * A


class OfUFL:
    sym, skew, dev, inv, cofac = map(staticmethod, (ufl.sym, ufl.skew, ufl.dev, ufl.inv, ufl.cofac))

    def plus(self, A: Any) -> Any:
        return Identity(2) + 0.3 * A


PAIRS = [(lambda A, B: inner(A, B), lambda A, B: np.einsum("pij,pij->p", A, B)),
         (lambda A, B: tr(A * B), lambda A, B: np.einsum("pij,pji->p", A, B)),
         (lambda A, B: det(A + 0.5 * B), lambda A, B: np.linalg.det(A + 0.5 * B))]
LAST = [(lambda e: sqrt(1 + e * e), lambda e: np.sqrt(1 + e * e)), (lambda e: exp(-e * e), lambda e: np.exp(-e * e)),
        (lambda e: conditional(ufl.lt(e, 10), e ** 3, e), lambda e: np.where(e < 10, e ** 3, e)),
        (lambda e: ufl.max_value(ufl.atan(e), sin(e)), lambda e: np.maximum(np.arctan(e), np.sin(e)))]


@pytest.mark.parametrize("resource", ["/cpu/self/ref", "/cpu/self/gen"])
@settings(max_examples=4, deadline=None, derandomize=True)
@given(st.integers(0, 5), st.integers(0, 5), st.sampled_from(PAIRS), st.sampled_from(LAST))
def test_random_integrands_have_their_integrals(resource: str, first: int, second: int, pair: Any, last: Any) -> None:
    """On the unit square, against NumPy at the same Gauss points, of a function that is known there."""
    mesh = UnitSquareMesh(1, ctx=context(resource))
    x = SpatialCoordinate(mesh)
    w = Function(VectorFunctionSpace(mesh, 2)).interpolate(as_vector([x[0] * x[1], x[0] ** 2 - x[1]]))
    by_ufl, by_numpy = tensors(grad(w), OfUFL()), None
    points, weights = np.polynomial.legendre.leggauss(6)
    X, Y = (m.ravel() for m in np.meshgrid((points + 1) / 2, (points + 1) / 2))
    G = np.stack([np.stack([Y, X], -1), np.stack([2 * X, -np.ones_like(X)], -1)], 1)
    by_numpy = tensors(G, OfNumPy())
    found = assemble(last[0](pair[0](by_ufl[first], by_ufl[second])) * dx(**quadrature(11)))
    values = last[1](pair[1](by_numpy[first], by_numpy[second]))
    assert found == pytest.approx(float(np.outer(weights, weights).ravel() @ values / 4), rel=1e-12, abs=1e-13)


# ---- Interpolation, errors ----


def test_expressions_at_nodes() -> None:
    mesh = curved("triangle")
    V = VectorFunctionSpace(mesh, 2)
    x, k = SpatialCoordinate(mesh), Constant(mesh, 3.0)
    g = Function(FunctionSpace(mesh, 2)).interpolate(x[0] * k)
    f = Function(V).interpolate(as_vector([sin(x[0]), g * x[1]]))
    X = V.node_coordinates()
    assert distance(f.nodal, np.stack([np.sin(X[:, 0]), 3 * X[:, 0] * X[:, 1]], -1)) < 1e-14
    with pytest.raises(UnsupportedForm, match="gradient"):
        f.interpolate(grad(g))


def test_what_is_not_of_the_library_is_refused() -> None:
    mesh = UnitSquareMesh(1)
    V = FunctionSpace(mesh, 1)
    with pytest.raises(TypeError, match="Function"):
        bind(ufl.Coefficient(V) * dx)
    with pytest.raises(ValueError, match="unknown"):
        bind(TestFunction(V) * dx, unknown=Function(V))
