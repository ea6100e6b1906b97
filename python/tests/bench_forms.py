# SPDX-License-Identifier: BSD-2-Clause
"""Speeds of operators of forms, in turns, as medians of CPU time: `bench_forms.py jacobian|library [degrees]`.

jacobian: the Jacobian of neo-Hookean elasticity, with the numbers stored that the compiler chooses, all that can be,
and none. library: forms that the library has operators of, with literal numbers and with constants, against these.
functions: what a function of math.h costs at a point, in additions (the prices in ritz/forms/dag.py). Not part of
the tests.
"""
from __future__ import annotations

import sys
import time
from typing import Any, Dict, List, Optional

import numpy as np
import ufl
from ufl import Identity, TestFunction, TrialFunction, derivative, det, dx, grad, inner, ln, tr

from ritz.forms import assemble
from ritz.function import Constant, Function
from ritz.mesh import UnitCubeMesh
from ritz.operators import GeometryOperator, Operator
from ritz.space import FunctionSpace

ROUNDS = 15


def deformed(x: float, y: float, z: float) -> Any:
    return x + 0.05 * np.sin(3 * y + z), y + 0.05 * np.sin(2 * z + x), z + 0.05 * np.sin(x + 2 * y)


def rates(operators: Dict[str, Operator], rounds: int = ROUNDS) -> Dict[str, float]:
    """Millions of unknowns a second."""
    times: Dict[str, List[float]] = {name: [] for name in operators}
    rng = np.random.default_rng(1)
    first = next(iter(operators.values()))
    x = Function(first.columns)
    x.array[:] = rng.standard_normal(x.vector.size)
    y = Function(first.rows)
    for op in operators.values():  # kernels of the library's own operators are made in the background
        while "being compiled" in op.explain():
            op.apply(x.vector, y.vector)
            time.sleep(0.1)
    for r in range(rounds + 2):
        for name, op in operators.items():
            start = time.process_time()
            for _ in range(3):
                op.apply(x.vector, y.vector)
            if r >= 2:
                times[name].append((time.process_time() - start) / 3)
    return {name: x.vector.size / float(np.median(t)) / 1e6 for name, t in times.items()}


def elements(degree: int, unknowns: float, components: int) -> int:
    return max(2, round((unknowns / components) ** (1 / 3) / degree))


def jacobian(degree: int, is_deformed: bool) -> None:
    mesh = UnitCubeMesh(elements(degree, 1e5, 3), map=deformed if is_deformed else None)
    V = FunctionSpace(mesh, degree, shape=(3,))
    u, v, du = Function(V), TestFunction(V), TrialFunction(V)
    u.interpolate(lambda x: 0.05 * np.sin(x + 2 * x[::-1]))
    mu, lam = Constant(mesh, 3.8), Constant(mesh, 5.8)
    F = Identity(3) + grad(u)
    J = det(F)
    psi = mu / 2 * (tr(F.T * F) - 3) - mu * ln(J) + lam / 2 * ln(J) ** 2
    a = derivative(derivative(psi * dx, u, v), u, du)
    made = {store: assemble(a, store=store) for store in ("auto", "all", "none")}
    found = rates(made)
    print(f"p = {degree}, {'deformed' if is_deformed else 'affine'}, {V.dim} unknowns: " + ", ".join(
        f"{store} {found[store]:.1f} ({op.bound.compiled.integrals[0].num_stored} numbers)"
        for store, op in made.items())
        + f" MDOF/s; auto/all {found['auto'] / found['all']:.2f}, auto/none {found['auto'] / found['none']:.2f}")


def library(degree: int, is_deformed: bool) -> None:
    mesh = UnitCubeMesh(elements(degree, 2e5, 1), map=deformed if is_deformed else None)
    V = FunctionSpace(mesh, degree)
    u, v = TrialFunction(V), TestFunction(V)
    for name, lam, mu in (("mass", 1.0, 0.0), ("diffusion", 0.0, 1.0), ("helmholtz", 1.0, 1.0)):
        def form(c: Any) -> Any:
            terms = [t for t, factor in ((c * u * v * dx, lam), (c * inner(grad(u), grad(v)) * dx, mu)) if factor]
            return sum(terms[1:], terms[0])

        made = {"form": assemble(form(1), store="none"), "constants": assemble(form(Constant(mesh, 1.0))),
                "library": GeometryOperator(V, lam, mu)}
        found = rates(made)
        print(f"p = {degree}, {'deformed' if is_deformed else 'affine'}, {name}: " + ", ".join(
            f"{what} {found[what]:.1f}" for what in made) + " MDOF/s, ratios " + ", ".join(
            f"{found[what] / found['library']:.3f}" for what in ("form", "constants")))


def functions() -> None:
    """Differences of times of an operator with and without the function, against those of 64 multiplications."""
    mesh = UnitCubeMesh(8)
    V = FunctionSpace(mesh, 4)
    u, v, f = TrialFunction(V), TestFunction(V), Function(V)
    f.interpolate(lambda x: 0.3 + 0.4 * x[:1])

    def chain(num: int) -> Any:
        e: Any = f
        for _ in range(num):
            e = e * f + 0.5
        return e

    def with_(g: Any) -> Any:
        return f + g

    forms = {"none": f, "64": chain(64), "sqrt": with_(ufl.sqrt(f)), "/": with_(1 / f), "exp": with_(ufl.exp(f)),
             "log": with_(ln(f)), "sin": with_(ufl.sin(f)), "cos": with_(ufl.cos(f)), "tan": with_(ufl.tan(f)),
             "tanh": with_(ufl.tanh(f)), "sinh": with_(ufl.sinh(f)), "cosh": with_(ufl.cosh(f)),
             "atan": with_(ufl.atan(f)), "asin": with_(ufl.asin(f)), "acos": with_(ufl.acos(f)),
             "atan2": with_(ufl.atan2(f, 1 + f)), "pow": with_(f ** 1.3), "erf": with_(ufl.erf(f))}
    made = {name: assemble(e * u * v * dx, store="none") for name, e in forms.items()}
    times = {name: 1 / rate for name, rate in rates(made, 9).items()}
    one = (times["64"] - times["none"]) / 128
    for name, t in times.items():
        print(f"{name:5s} {(t - times['none']) / one:7.1f} operations")
    points = 6 ** 3 * 8 ** 3
    print(f"an operation at a point takes {one * 1e-6 * V.dim / points * 1e9:.3f} ns")


def main(arguments: List[str]) -> Optional[int]:
    degrees = [int(p) for p in arguments[1:]] or [2, 4, 7]
    if arguments[:1] == ["functions"]:
        functions()
        return None
    run = {"jacobian": jacobian, "library": library}.get(arguments[0] if arguments else "")
    if run is None:
        print(__doc__)
        return 1
    for degree in degrees:
        for is_deformed in (False, True):
            run(degree, is_deformed)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
