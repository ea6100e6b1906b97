#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Draws the surface of a high-order VTU file, coloured by a field, as a PNG picture. Needs no screen.

usage: render.py FILE.vtu FIELD OUT.png [option]...
       render.py FILE.pvtu FIELD OUT.png [option]...    all pieces

  --title TEXT        beside the colours (default: the name of the field)
  --range LOW,HIGH    of the colours (default: that of the field on the surface)
  --map NAME          of colours: plasma (default), viridis
  --view AZIMUTH,ELEVATION
                      direction from which to look, in degrees: azimuth from the x axis towards y, elevation above the
                      plane of x and y (default -60,25); plane meshes are seen from above
  --zoom FACTOR       larger than 1: nearer (default 1)
  --size WxH          in pixels (default 1600x1000)
  --lines ON|OFF      edges of elements (default ON)

Cells of dimension 3 and 2 are drawn, Lagrange cells of any degree are subdivided until they look smooth. Of a vector the
length is shown. Fields of cells (region, part) have one colour a cell. Exit status: 0 drawn, 1 not, 2 wrong usage, 77 there is no VTK or no way to draw without a screen.
Called by examples/demo.sh; needs the packages python3-vtk9 and, without a screen, xvfb; or `pip install vtk` (9.4 or later).
"""
import argparse
import math
import os
import shutil
import subprocess
import sys

try:
    import vtk
except ImportError:
    print("render.py: VTK for Python is missing (Debian: python3-vtk9; or pip install vtk)", file=sys.stderr)
    sys.exit(77)

# Colours at equal steps; perceptually uniform maps by N. Smith and S. van der Walt (CC0), interpolated in CIELAB.
MAPS = {
    "plasma": [(.0504, .0298, .5280), (.2546, .0139, .6154), (.4176, .0006, .6584), (.5627, .0515, .6415),
               (.6928, .1651, .5645), (.7982, .2802, .4695), (.8814, .3925, .3832), (.9492, .5178, .2957),
               (.9883, .6523, .2114), (.9886, .8096, .1454), (.9400, .9752, .1313)],
    "viridis": [(.2670, .0049, .3294), (.2826, .1409, .4575), (.2539, .2653, .5300), (.2068, .3718, .5531),
                (.1636, .4711, .5581), (.1276, .5669, .5506), (.1347, .6586, .5176), (.2669, .7488, .4406),
                (.4775, .8214, .3182), (.7414, .8734, .1496), (.9932, .9062, .1439)],
}
LINEAR = {vtk.VTK_QUAD, vtk.VTK_HEXAHEDRON}
MAX_TRIANGLES = 500000
MAX_LEVEL = 5     # 32 pieces along the edge of an element
BAR_WIDTH = 0.3   # of the scalar bar, where the window is 2 wide and high
MARGIN = 0.12     # the same
SUPERSAMPLES = 2  # pixels drawn per pixel of the picture and direction


class Fault(Exception):
    """Why there is no picture, as a sentence."""


# ---- What to draw ----

def values_of_cells(grid, field):
    """A field of cells at their points, which cells do not share."""
    of_cells = grid.GetCellData().GetArray(field)
    values = vtk.vtkDoubleArray()
    values.SetName(field)
    values.SetNumberOfTuples(grid.GetNumberOfPoints())
    for number in range(grid.GetNumberOfCells()):
        ids = grid.GetCell(number).GetPointIds()
        for i in range(ids.GetNumberOfIds()):
            values.SetValue(ids.GetId(i), of_cells.GetTuple1(number))
    return values


def read(path, field):
    """The grid of a file, with the field as active scalars."""
    messages = []

    def listen(*args):
        messages.append(str(args[-1]).strip())

    listen.CallDataType = vtk.VTK_STRING
    if not os.path.isfile(path):
        raise Fault(f"{path}: there is no such file")
    in_pieces = path.endswith(".pvtu")
    reader = vtk.vtkXMLPUnstructuredGridReader() if in_pieces else vtk.vtkXMLUnstructuredGridReader()
    reader.AddObserver("ErrorEvent", listen)
    reader.SetFileName(path)
    reader.Update()
    grid = reader.GetOutput()
    if messages or grid.GetNumberOfCells() == 0:
        raise Fault(f"{path}: " + (messages[0] if messages else "no cells"))
    data = grid.GetPointData()
    if not data.HasArray(field) and grid.GetCellData().HasArray(field):
        data.AddArray(values_of_cells(grid, field))
    if not data.HasArray(field):
        names = ", ".join(data.GetArrayName(i) for i in range(data.GetNumberOfArrays())) or "none"
        raise Fault(f"{path}: there is no field '{field}' (there are: {names})")
    data.SetActiveScalars(field)
    return grid


def corner_key(grid, scale, point):
    """Corners of neighbours are different points at the same place."""
    return tuple(round(c * scale) for c in grid.GetPoint(point))


def faces_of(cell):
    """VTK fills the same object again for each face: use one before asking for the next."""
    if cell.GetCellDimension() == 2:
        yield cell
    for i in range(cell.GetNumberOfFaces()):
        yield cell.GetFace(i)


def surface_faces(grid):
    """Faces that belong to one cell only, and cells of dimension 2: (type, points, keys of the four corners)."""
    scale = 1e7 / grid.GetLength()
    once = {}
    for number in range(grid.GetNumberOfCells()):
        for face in faces_of(grid.GetCell(number)):
            ids = [face.GetPointId(i) for i in range(face.GetNumberOfPoints())]
            corners = [corner_key(grid, scale, point) for point in ids[:4]]
            once.setdefault(frozenset(corners), []).append((face.GetCellType(), ids, corners))
    return [entry[0] for entry in once.values() if len(entry) == 1]


def face_grid(grid, faces):
    """The faces as a grid of their own."""
    surface = vtk.vtkUnstructuredGrid()
    surface.SetPoints(grid.GetPoints())
    surface.GetPointData().SetScalars(grid.GetPointData().GetScalars())
    surface.Allocate(len(faces))
    for kind, ids, _ in faces:
        surface.InsertNextCell(kind, len(ids), ids)
    return surface


def subdivision_level(num_faces):
    """Every level halves the pieces of an element; two triangles a piece."""
    level = 1
    while level < MAX_LEVEL and 2 * num_faces * 4 ** (level + 1) <= MAX_TRIANGLES:
        level += 1
    return level


def tessellate(surface, level):
    """Triangles with smooth normals within smooth parts of the surface."""
    split = vtk.vtkDataSetSurfaceFilter()
    split.SetInputData(surface)
    split.SetNonlinearSubdivisionLevel(level)
    triangles = vtk.vtkTriangleFilter()
    triangles.SetInputConnection(split.GetOutputPort())
    merge = vtk.vtkCleanPolyData()
    merge.SetInputConnection(triangles.GetOutputPort())
    merge.SetTolerance(1e-7)
    normals = vtk.vtkPolyDataNormals()
    normals.SetInputConnection(merge.GetOutputPort())
    normals.SetFeatureAngle(25)
    normals.ConsistencyOn()
    normals.AutoOrientNormalsOn()
    normals.Update()
    return normals.GetOutput()


def element_edges(surface, faces, pieces):
    """Each edge of the faces once, as a line of `pieces` parts on the curve of its nodes."""
    points, lines, seen = vtk.vtkPoints(), vtk.vtkCellArray(), set()
    for number, (kind, _, corners) in enumerate(faces):
        face = surface.GetCell(number)
        for i in range(4):
            ends = frozenset((corners[i], corners[(i + 1) % 4]))
            if ends in seen:
                continue
            seen.add(ends)
            edge, subdivision = face.GetEdge(i), 1 if kind in LINEAR else pieces
            lines.InsertNextCell(subdivision + 1)
            weights = [0.0] * edge.GetNumberOfPoints()
            for step in range(subdivision + 1):
                place, sub = [0.0] * 3, vtk.reference(0)
                edge.EvaluateLocation(sub, (step / subdivision, 0, 0), place, weights)
                lines.InsertCellPoint(points.InsertNextPoint(place))
    edges = vtk.vtkPolyData()
    edges.SetPoints(points)
    edges.SetLines(lines)
    return edges


# ---- Picture ----

def colour_table(name, low, high):
    function = vtk.vtkColorTransferFunction()
    function.SetColorSpaceToLab()
    colours = MAPS[name]
    for i, colour in enumerate(colours):
        function.AddRGBPoint(low + (high - low) * i / (len(colours) - 1), *colour)
    table = vtk.vtkLookupTable()
    table.SetNumberOfTableValues(512)
    table.SetTableRange(low, high)
    table.SetVectorModeToMagnitude()
    for i in range(512):
        table.SetTableValue(i, *function.GetColor(low + (high - low) * (i + 0.5) / 512), 1)
    table.SetNanColor(0.6, 0.6, 0.6, 1)
    return table


def surface_actor(polygons, table):
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputData(polygons)
    mapper.SetLookupTable(table)
    mapper.UseLookupTableScalarRangeOn()
    mapper.InterpolateScalarsBeforeMappingOn()
    mapper.SetResolveCoincidentTopologyToPolygonOffset()
    mapper.SetRelativeCoincidentTopologyPolygonOffsetParameters(2, 2)
    actor = vtk.vtkActor()
    actor.SetMapper(mapper)
    look = actor.GetProperty()
    look.SetAmbient(0.68)
    look.SetDiffuse(0.4)
    return actor


def edge_actor(edges, width):
    mapper = vtk.vtkPolyDataMapper()
    mapper.SetInputData(edges)
    actor = vtk.vtkActor()
    actor.SetMapper(mapper)
    look = actor.GetProperty()
    look.SetColor(0.45, 0.45, 0.45)
    look.SetOpacity(0.6)
    look.SetLineWidth(width)
    look.LightingOff()
    return actor


def round_ticks(low, high):
    """Round numbers between low and high: steps of 1, 2 or 5 times a power of ten, 4 to 10 of them."""
    if not high > low:
        return [low]
    step = 10 ** math.floor(math.log10((high - low) / 4))
    step *= max(factor for factor in (1, 2, 5) if factor * step <= (high - low) / 4)
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def scalar_bar(table, title, height):
    bar = vtk.vtkScalarBarActor()
    bar.SetLookupTable(table)
    bar.SetTitle(title)
    ticks = vtk.vtkDoubleArray()
    for value in round_ticks(*table.GetTableRange()):
        ticks.InsertNextValue(value)
    bar.SetCustomLabels(ticks)
    bar.UseCustomLabelsOn()
    bar.SetLabelFormat("  %g")
    bar.SetMaximumNumberOfColors(512)
    bar.UnconstrainedFontSizeOn()
    bar.SetVerticalTitleSeparation(round(height / 40))
    bar.SetBarRatio(0.24)
    bar.SetPosition(0.865, 0.15)
    bar.SetWidth(0.1)
    bar.SetHeight(0.7)
    for text, size in ((bar.GetTitleTextProperty(), height / 38), (bar.GetLabelTextProperty(), height / 42)):
        text.SetColor(0.1, 0.1, 0.1)
        text.SetFontFamilyToArial()
        text.SetFontSize(round(size))
        text.BoldOff()
        text.ItalicOff()
        text.ShadowOff()
    return bar


def place_camera(renderer, points, options, aspect):
    """The points fill the picture left of the scalar bar: distance and centre of the window follow from them."""
    bounds = [limit for axis in zip(*points) for limit in (min(axis), max(axis))]
    focus = [(bounds[2 * i] + bounds[2 * i + 1]) / 2 for i in range(3)]
    is_plane = bounds[5] - bounds[4] < 1e-9 * (bounds[1] - bounds[0] + bounds[3] - bounds[2])
    azimuth, elevation = (math.radians(angle) for angle in options.view)
    if is_plane:
        azimuth, elevation = -math.pi / 2, math.pi / 2
    back = (math.cos(elevation) * math.cos(azimuth), math.cos(elevation) * math.sin(azimuth), math.sin(elevation))
    right = (-math.sin(azimuth), math.cos(azimuth), 0)
    up = (back[1] * right[2] - back[2] * right[1], back[2] * right[0] - back[0] * right[2],
          back[0] * right[1] - back[1] * right[0])
    seen = [[sum((p - f) * a for p, f, a in zip(point, focus, axis)) for axis in (right, up, back)] for point in points]

    camera = renderer.GetActiveCamera()
    camera.SetViewAngle(12)
    slope = math.tan(math.radians(camera.GetViewAngle() / 2))
    distance = fitting_distance(seen, slope, aspect) / options.zoom
    low, high = bounds_in_window(seen, distance, slope, aspect)
    camera.SetFocalPoint(focus)
    camera.SetPosition([f + distance * b for f, b in zip(focus, back)])
    camera.SetViewUp(up)
    camera.SetWindowCenter((low[0] + high[0]) / 2 + BAR_WIDTH / 2, (low[1] + high[1]) / 2)
    renderer.ResetCameraClippingRange()


def bounds_in_window(seen, distance, slope, aspect):
    places = [(x / ((distance - z) * slope * aspect), y / ((distance - z) * slope)) for x, y, z in seen]
    return [min(place) for place in zip(*places)], [max(place) for place in zip(*places)]


def fitting_distance(seen, slope, aspect):
    """By bisection: the extent in the window falls with the distance."""
    near = max(z for _, _, z in seen)
    size = max(abs(c) for point in seen for c in point)
    low, high = near + 1e-3 * size, near + 1000 * size
    for _ in range(60):
        middle = (low + high) / 2
        first, last = bounds_in_window(seen, middle, slope, aspect)
        if last[0] - first[0] > 2 - BAR_WIDTH - MARGIN or last[1] - first[1] > 2 - MARGIN:
            low = middle
        else:
            high = middle
    return high


def lights(renderer):
    """One from above left and one from the camera; colours stay close to those of the bar."""
    renderer.AutomaticLightCreationOff()
    for place, intensity in (((-0.3, 0.9, 0.9), 0.6), ((0.1, 0, 1), 0.5)):
        light = vtk.vtkLight()
        light.SetLightTypeToCameraLight()
        light.SetPosition(place)
        light.SetFocalPoint(0, 0, 0)
        light.SetIntensity(intensity)
        renderer.AddLight(light)


def draw(options):
    grid = read(options.file, options.field)
    faces = surface_faces(grid)
    if not faces:
        raise Fault(f"{options.file}: no surface to draw")
    surface = face_grid(grid, faces)
    level = subdivision_level(len(faces))
    polygons = tessellate(surface, level)
    scalars = polygons.GetPointData().GetScalars()
    low, high = options.range or scalars.GetRange(-1 if scalars.GetNumberOfComponents() > 1 else 0)
    table = colour_table(options.map, low, high)
    width, height = (SUPERSAMPLES * size for size in options.size)

    renderer = vtk.vtkRenderer()
    renderer.SetBackground(1, 1, 1)
    lights(renderer)
    renderer.AddActor(surface_actor(polygons, table))
    if options.lines:
        renderer.AddActor(edge_actor(element_edges(surface, faces, 2 ** level), height / 900))
    renderer.AddViewProp(scalar_bar(table, options.title or options.field, height))
    window = vtk.vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(0)
    window.SetSize(width, height)
    window.AddRenderer(renderer)
    corners = {point for _, ids, _ in faces for point in ids[:4]}
    place_camera(renderer, [grid.GetPoint(point) for point in corners], options, width / height)
    window.Render()
    save(window, options.picture)


def save(window, path):
    grab = vtk.vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.ReadFrontBufferOff()
    shrink = vtk.vtkImageShrink3D()
    shrink.SetInputConnection(grab.GetOutputPort())
    shrink.SetShrinkFactors(SUPERSAMPLES, SUPERSAMPLES, 1)
    shrink.AveragingOn()
    writer = vtk.vtkPNGWriter()
    writer.SetInputConnection(shrink.GetOutputPort())
    writer.SetFileName(path)
    writer.Write()
    if writer.GetErrorCode():
        raise Fault(f"{path}: cannot be written")


# ---- Screen ----

def start_screen():
    """VTK before 9.4 draws through an X server even off screen: starts one that nobody sees. Returns it, or None."""
    version = vtk.vtkVersion()
    if os.environ.get("DISPLAY") or (version.GetVTKMajorVersion(), version.GetVTKMinorVersion()) >= (9, 4):
        return None
    if not shutil.which("Xvfb"):
        print("render.py: without a screen VTK needs Xvfb (Debian: xvfb)", file=sys.stderr)
        sys.exit(77)
    read_end, write_end = os.pipe()
    command = ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "640x480x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[write_end], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write_end)
    with os.fdopen(read_end) as answer:
        number = answer.readline().strip()
    if not number:
        print("render.py: Xvfb does not start", file=sys.stderr)
        sys.exit(77)
    os.environ["DISPLAY"] = ":" + number
    return server


def pair(separator, kind):
    def convert(text):
        first, second = text.split(separator)
        return kind(first), kind(second)
    return convert


def parse():
    parser = argparse.ArgumentParser(prog="render.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("field")
    parser.add_argument("picture")
    parser.add_argument("--title")
    parser.add_argument("--range", type=pair(",", float))
    parser.add_argument("--map", choices=sorted(MAPS), default="plasma")
    parser.add_argument("--view", type=pair(",", float), default=(-60.0, 25.0))
    parser.add_argument("--zoom", type=float, default=1.0)
    parser.add_argument("--size", type=pair("x", int), default=(1600, 1000))
    parser.add_argument("--lines", type=lambda text: text.upper() != "OFF", default=True)
    return parser.parse_args()


def main():
    options = parse()
    folder = os.path.dirname(options.picture) or "."
    if not os.access(folder, os.W_OK):
        print(f"render.py: {folder}: cannot write there", file=sys.stderr)
        return 1
    server = start_screen()
    try:
        draw(options)
    except Fault as fault:
        print(f"render.py: {fault}", file=sys.stderr)
        return 1
    finally:
        if server:
            server.terminate()
            server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
