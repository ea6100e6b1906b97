# SPDX-License-Identifier: BSD-2-Clause
"""Step 7 of doc/tutorial.md: -div grad u = 1 on the unit cube, on a processor or a GPU, in parts.

    python step_7_parts.py [RESOURCE]        /gpu/cuda: the same on a GPU
    mpirun -n 4 python step_7_parts.py       each process has a part of the mesh
"""
import sys

import ritz
from ritz import DirichletBC, Function, FunctionSpace, LinearSolver, UnitCubeMesh, assemble, diffusion
from ritz.parallel import communicator
from ritz.ufl import dx


def main(resource="/cpu/self:threads=1"):
    with ritz.device(resource):
        V = FunctionSpace(UnitCubeMesh(4), 3)   # each process has its part
        u, one = Function(V), Function(V).assign(1.0)
        result = LinearSolver(diffusion(V), DirichletBC(V, 0, "all")).solve(ritz.load_vector(V, one), u)
        energy = assemble(one*u*dx)             # of the whole, the same in all processes
    comm = communicator()
    if comm is None or comm.rank == 0:
        print(f"parts {comm.size if comm else 1}: {result.iterations} iterations, energy {energy:.6f}")
    assert result.iterations <= 10 and abs(energy - 0.02017) < 1e-4


if __name__ == "__main__":
    main(*sys.argv[1:2])
