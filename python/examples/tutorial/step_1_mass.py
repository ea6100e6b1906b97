# SPDX-License-Identifier: BSD-2-Clause
"""Step 1 of doc/tutorial.md: integrals by a mass operator, on a quarter of a ring that a function bends."""
import math

import numpy as np

from ritz import Function, FunctionSpace, UnitSquareMesh, mass


# The unit square as radii from 1 to 2 and angles from 0 to a right one.
def ring(x, y):
    return (1 + x)*np.cos(math.pi/2*y), (1 + x)*np.sin(math.pi/2*y)


def integrate(order):
    mesh = UnitSquareMesh(2, 4, order=order, map=ring)
    V = FunctionSpace(mesh, order)   # continuous, of that degree
    one = Function(V).interpolate(1)
    x = Function(V).interpolate(lambda x: x[0])

    M = mass(V)
    result = M @ one   # a Function: M 1
    area, moment = one.vector.dot(result.vector), x.vector.dot(result.vector)
    print(f"degree {order}: area {area:.6f}, moment of x {moment:.6f}")
    return max(abs(area - 0.75*math.pi), abs(moment - 7/3))


def main():
    error = [integrate(order) for order in (1, 2, 3)]
    print(f"exact:    area {0.75*math.pi:.6f}, moment of x {7/3:.6f}")
    assert error[1] < error[0]/20 and error[2] < error[1]/20


if __name__ == "__main__":
    main()
