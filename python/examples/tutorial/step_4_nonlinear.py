# SPDX-License-Identifier: BSD-2-Clause
"""Step 4 of doc/tutorial.md: -div((1 + u^2) grad u) = 10 on the unit square, u = 0 on its boundary, by Newton."""
import math

from ritz import DirichletBC, Function, FunctionSpace, UnitSquareMesh, solve
from ritz.ufl import TestFunction, dx, grad, inner


def main():
    V = FunctionSpace(UnitSquareMesh(4), 3)
    u, v = Function(V), TestFunction(V)
    F = (1 + u**2)*inner(grad(u), grad(v))*dx - 10*v*dx

    norms = []

    def monitor(step, norm):
        print(f"step {step}: |F| = {norm:.1e}")
        norms.append(norm)

    # Linear solves to 1e-8, to see Newton's own rate; without `forcing` to what the step is worth.
    solve(F == 0, u, DirichletBC(V, 0, "all"), monitor=monitor, forcing=1e-8, linear={"preconditioner": "jacobi"})
    rate = math.log(norms[3]/norms[2])/math.log(norms[2]/norms[1])
    print(f"order of step 3: {rate:.1f}")
    assert rate > 1.8


if __name__ == "__main__":
    main()
