#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Opens high-order VTU files with VTK's own reader and compares what VTK sees with formulas.

usage: check-vtu.py FILE [option]... [-- FILE [option]...]...

  --points EXPR     position as a tuple of three numbers, e.g. "(X[0], 2*X[1], 0)"
  --field NAME=EXPR values of the point array NAME
  --volume V        sum of the volumes (areas, lengths) of all cells
  --gauss N         Gauss points per direction for the volume (default: degree of the cells + 2)
  --tolerance T     relative to 1 + the largest value (default 1e-12)

EXPR is a Python expression in x, y, z, the point arrays by name (a number, or a tuple when there are several
components) and the functions of the module math. It must hold at all points of all cells, and inside of Lagrange cells,
where position and arrays are interpolated by VTK. In any case every node must lie where VTK's interpolation puts it, and all
Jacobian determinants must be positive. Exit status: 0 everything holds, 1 something does not, 77 there is no VTK.
Called by tests/test-vtu-vtk.sh; needs the package python3-vtk9 or `pip install vtk`, but no numpy.
"""
import argparse
import itertools
import math
import sys

try:
    import vtk
except ImportError:
    print("check-vtu: VTK for Python is missing (Debian: python3-vtk9; or pip install vtk)")
    sys.exit(77)

# Type of cell: dimension, number of nodes of degree p.
LAGRANGE = {68: (1, lambda p: p + 1), 69: (2, lambda p: (p + 1) * (p + 2) // 2), 70: (2, lambda p: (p + 1) ** 2),
            71: (3, lambda p: (p + 1) * (p + 2) * (p + 3) // 6), 72: (3, lambda p: (p + 1) ** 3),
            73: (3, lambda p: (p + 1) ** 2 * (p + 2) // 2)}
LINEAR = {10: (3, lambda p: 4 * p), 14: (3, lambda p: 5 * p)}  # tetrahedron, pyramid: of degree 1 only
# The directions of a triangle or tetrahedron, where the cube of Gauss points is collapsed.
COLLAPSED = {69: 2, 71: 3, 73: 2, 10: 3}
# Weights at distances 1, 2, ... of the central difference that is exact for polynomials up to degree 10.
CENTRAL_DIFFERENCE = (5 / 6, -5 / 21, 5 / 84, -5 / 504, 1 / 1260)
SPACING = 0.03125
INNER_PLACES = [(0.5, 0.5, 0.5), (0.137, 0.713, 0.389), (0.91, 0.24, 0.66)]


class Fault(Exception):
    """What does not hold, as a sentence."""


def read(path):
    """The grid of a file; warnings of VTK count as faults."""
    messages = []

    def listen(*args):
        messages.append(str(args[-1]).strip())

    listen.CallDataType = vtk.VTK_STRING
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.AddObserver("ErrorEvent", listen)
    reader.AddObserver("WarningEvent", listen)
    reader.SetFileName(path)
    reader.Update()
    if messages:
        raise Fault("VTK says: " + messages[0])
    grid = reader.GetOutput()
    if grid.GetNumberOfCells() == 0:
        raise Fault("VTK finds no cells")
    return grid


class Kind:
    """What cells of one type and size have in common: dimension, degree, number of nodes, weights at places."""

    def __init__(self, cell, gauss):
        self.type = cell.GetCellType()
        self.num = cell.GetNumberOfPoints()
        self.is_linear = self.type in LINEAR
        if self.type not in LAGRANGE and not self.is_linear:
            raise Fault(f"type of cell {self.type}")
        self.dim, size = (LINEAR if self.is_linear else LAGRANGE)[self.type]
        fitting = [p for p in range(1, 2 if self.is_linear else 33) if size(p) == self.num]
        if not fitting:
            raise Fault(f"{self.num} nodes fit no degree of cells of type {self.type}")
        self.degree = fitting[0]
        places = cell.GetParametricCoords()
        self.nodes = [tuple(places[3 * i:3 * i + 3]) for i in range(self.num)]
        self.cell = cell
        self.weights_at_nodes = [self.weights(place) for place in self.nodes]
        shrink = 3 if self.type in COLLAPSED else 1
        self.inside = [] if self.is_linear else [tuple(x / shrink for x in place) for place in INNER_PLACES]
        self.weights_inside = [self.weights(place) for place in self.inside]
        self.rule = [(weight, self.derivatives(place))
                     for weight, place in gauss_places(gauss or self.degree + 2, self.dim, COLLAPSED.get(self.type, 0))]

    def weights(self, place):
        values = [0.0] * self.num
        self.cell.InterpolateFunctions(place, values)
        return values

    def derivatives(self, place):
        """[dim][num], from the weights themselves: VTK 9.1 gives the derivatives of curves in another order of nodes."""
        return [self.slopes(place, axis) for axis in range(self.dim)]

    def slopes(self, place, axis):
        result = [0.0] * self.num
        for step, factor in enumerate(CENTRAL_DIFFERENCE, 1):
            for sign in (1, -1):
                beside = list(place)
                beside[axis] += sign * step * SPACING
                for i, value in enumerate(self.weights(beside)):
                    result[i] += sign * factor * value / SPACING
        return result


def combine(weights, tuples):
    return tuple(sum(w * t[c] for w, t in zip(weights, tuples)) for c in range(len(tuples[0])))


def names_at(position, arrays):
    names = {name: getattr(math, name) for name in dir(math) if name[0] != "_"}
    names.update(zip("xyz", position))
    names.update({name: value[0] if len(value) == 1 else value for name, value in arrays.items()})
    return names


class Checker:
    """Compares one file with its formulas and remembers the largest difference."""

    def __init__(self, options):
        self.options = options
        self.grid = read(options.file)
        self.kinds = {}
        data = self.grid.GetPointData()
        self.arrays = {data.GetArrayName(i): data.GetArray(i) for i in range(data.GetNumberOfArrays())}
        self.formulas = {}
        for text in options.field:
            name, _, formula = text.partition("=")
            if name not in self.arrays:
                raise Fault(f"there is no point array '{name}', only {sorted(self.arrays)}")
            self.formulas[name] = compile(formula.strip(), name, "eval")
        self.points = compile(options.points, "points", "eval") if options.points else None
        self.worst = 0.0

    def compare(self, found, wanted, what):
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        if len(wanted) > len(found):
            raise Fault(f"{what}: {len(found)} components")
        wanted += (0,) * (len(found) - len(wanted))
        for f, w in zip(found, wanted):
            difference = abs(f - w) / (1 + max(abs(v) for v in wanted))
            if not difference <= self.options.tolerance:
                raise Fault(f"{what}: found {f!r}, wanted {w!r}")
            self.worst = max(self.worst, difference)

    def compare_formulas(self, position, arrays, where):
        names = names_at(position, arrays)
        if self.points:
            self.compare(position, eval(self.points, names), f"position {where}")
        for name, formula in self.formulas.items():
            self.compare(arrays[name], eval(formula, names), f"{name} {where}")

    def kind_of(self, cell):
        key = (cell.GetCellType(), cell.GetNumberOfPoints())
        if key not in self.kinds:
            self.kinds[key] = Kind(cell, self.options.gauss)
        return self.kinds[key]

    def check_cell(self, number):
        """The volume of a cell."""
        cell = self.grid.GetCell(number)
        kind = self.kind_of(cell)
        ids = [cell.GetPointId(i) for i in range(kind.num)]
        positions = [self.grid.GetPoint(i) for i in ids]
        arrays = {name: [array.GetTuple(i) for i in ids] for name, array in self.arrays.items()}
        for node in range(kind.num):
            where = f"at node {node} of cell {number}"
            self.compare(combine(kind.weights_at_nodes[node], positions), positions[node], f"interpolation {where}")
            self.compare_formulas(positions[node], {n: a[node] for n, a in arrays.items()}, where)
        for place, weights in zip(kind.inside, kind.weights_inside):
            self.compare_formulas(combine(weights, positions), {n: combine(weights, a) for n, a in arrays.items()},
                                  f"at {place[:kind.dim]} of cell {number}")
        return cell_volume(positions, kind.rule, number)

    def check(self):
        volume = sum(self.check_cell(number) for number in range(self.grid.GetNumberOfCells()))
        if self.options.volume is not None:
            self.compare((volume,), self.options.volume, "volume")
        kinds = ", ".join(f"type {kind.type} degree {kind.degree}" for kind in self.kinds.values())
        return f"{self.grid.GetNumberOfCells()} cells ({kinds}), volume {volume:.12g}, largest difference {self.worst:.1e}"


def gauss_rule(n):
    """Points and weights on [0, 1], by Newton's method on the Legendre polynomial."""
    rule = []
    for i in range(n):
        x = math.cos(math.pi * (i + 0.75) / (n + 0.5))
        for _ in range(50):
            p, q = 1.0, x
            for k in range(2, n + 1):
                p, q = q, ((2 * k - 1) * x * q - (k - 1) * p) / k
            slope = n * (x * q - p) / (x * x - 1)
            x -= q / slope
        rule.append(((1 + x) / 2, 1 / ((1 - x * x) * slope * slope)))
    return rule


def gauss_places(n, dim, collapsed):
    """Gauss points of a cube, of which the first directions are collapsed to a triangle or tetrahedron."""
    for points in itertools.product(gauss_rule(n), repeat=dim):
        place, weight = [point[0] for point in points], math.prod(point[1] for point in points)
        room = 1.0
        for i in range(collapsed):
            weight *= room
            place[i] *= room
            room -= place[i]
        yield weight, tuple(place) + (0.0,) * (3 - dim)


def density(tangents):
    """Length, area or volume spanned by one, two or three tangents; negative when three are left-handed."""
    if len(tangents) == 1:
        return math.sqrt(sum(c * c for c in tangents[0]))
    a, b = tangents[0], tangents[1]
    normal = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    if len(tangents) == 3:
        return sum(n * c for n, c in zip(normal, tangents[2]))
    if a[2] == 0 and b[2] == 0:
        return normal[2]
    return math.sqrt(sum(n * n for n in normal))


def cell_volume(positions, rule, number):
    volume = 0.0
    for weight, derivatives in rule:
        value = density([combine(d, positions) for d in derivatives])
        if not value > 0:
            raise Fault(f"Jacobian determinant {value} in cell {number}")
        volume += weight * value
    return volume


def parse(words):
    parser = argparse.ArgumentParser(prog="check-vtu.py", usage=__doc__)
    parser.add_argument("file")
    parser.add_argument("--points")
    parser.add_argument("--field", action="append", default=[])
    parser.add_argument("--volume", type=float)
    parser.add_argument("--gauss", type=int)
    parser.add_argument("--tolerance", type=float, default=1e-12)
    return parser.parse_args(words)


def main():
    groups = [[]]
    for word in sys.argv[1:]:
        if word == "--":
            groups.append([])
        else:
            groups[-1].append(word)
    status = 0
    for words in groups:
        options = parse(words)
        try:
            print(f"{options.file}: {Checker(options).check()}", flush=True)
        except Fault as fault:
            print(f"{options.file}: {fault}", flush=True)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
