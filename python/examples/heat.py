# SPDX-License-Identifier: BSD-2-Clause
"""Heat in time: a heat sink of aluminium that a chip of 30 W begins to warm, air on its fins."""
import sys
from pathlib import Path

from ritz import *
from ritz.ufl import TestFunction, TrialFunction, ds, dx, grad, inner, lhs, rhs

FILE = Path(__file__).resolve().parents[2] / "examples/meshes/heat-sink.msh"


def heat(degree=2, steps=10, step=5.0, series=None):
    # Gmsh has named the parts of the boundary.
    mesh = Mesh(FILE)

    V = FunctionSpace(mesh, degree)

    # Backward Euler. The length of a step is a constant, which changes without a compilation.
    conductivity, capacity, transfer, power, air = 200.0, 2.4e6, 50.0, 30.0, 20.0  # SI units, Celsius
    area = assemble(Constant(mesh, 1.0)*ds("base"))
    u, v, old = TrialFunction(V), TestFunction(V), Function(V, "temperature").assign(air)
    dt = Constant(mesh, step)
    F = capacity*(u - old)/dt*v*dx + conductivity*inner(grad(u), grad(v))*dx \
        + transfer*(u - air)*v*ds("fins") - power/area*v*ds("base")
    problem = LinearProblem(lhs(F), rhs(F))

    # Power in, stored and lost are in balance in every step; halfway steps become four times as long.
    stored, lost, time, balance = capacity*old*dx, transfer*(old - air)*ds("fins"), 0.0, []
    for k in range(steps):
        before, time = assemble(stored), time + dt.value
        problem.solve(old)
        balance.append((assemble(stored) - before)/dt.value + assemble(lost) - power)  # of energy: W
        if series:
            series.write(time, old)
        if k == steps//2:
            dt.assign(4*step)
    return old, time, balance


if __name__ == "__main__":
    # Solutions go into files for ParaView, too.
    old, time, balance = heat(steps=30, series=VTUFile("heat.pvd"))
    worst = max(map(abs, balance))
    print(f"after {time:g} s: {old.array.min():.1f} to {old.array.max():.1f} degrees, energy balance to {worst:.1e} W")

    plot(old, *sys.argv[1:2], cmap="plasma", title="deg C")
