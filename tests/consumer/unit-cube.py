# SPDX-License-Identifier: BSD-2-Clause
# Poisson's equation on the unit cube, and how its operator runs. Run by check-deb and check-wheel where the package was installed.
from ritz import *

V = FunctionSpace(UnitCubeMesh(8), 4)
u, A = Function(V), diffusion(V)
print(LinearSolver(A, DirichletBC(V, 0)).solve(load_vector(V, Function(V).assign(1.0)), u))
assert abs(u(0.5, 0.5, 0.5) - 0.0562128) < 1e-6
print(A.explain())
