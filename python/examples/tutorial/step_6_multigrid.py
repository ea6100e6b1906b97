# SPDX-License-Identifier: BSD-2-Clause
"""Step 6 of doc/tutorial.md: iterations with multigrid depend neither on the mesh nor on the degree."""
from ritz import DirichletBC, Function, FunctionSpace, LinearSolver, Multigrid, UnitSquareMesh, diffusion, load_vector


def count(n, degree):
    V = FunctionSpace(UnitSquareMesh(n), degree)
    stiffness, bc = diffusion(V), DirichletBC(V, 0, "all")
    b = load_vector(V, Function(V).assign(1.0))
    multigrid = Multigrid(stiffness, bc)   # smaller degrees, then coarser meshes
    by_diagonal = LinearSolver(stiffness, bc, preconditioner="jacobi").solve(b, Function(V))
    by_multigrid = LinearSolver(stiffness, bc, preconditioner=multigrid).solve(b, Function(V))
    print(f"{n:2} x {n:2} elements of degree {degree}: {by_diagonal.iterations:3} iterations with the diagonal, "
          f"{by_multigrid.iterations} with multigrid")
    return by_diagonal.iterations, by_multigrid.iterations


def main():
    iterations = [count(n, degree) for n, degree in ((4, 2), (8, 2), (16, 2), (8, 4))]
    assert max(i[1] for i in iterations) <= 8 and 2*iterations[2][0] > 3*iterations[1][0]


if __name__ == "__main__":
    main()
