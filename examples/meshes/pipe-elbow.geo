// SPDX-License-Identifier: BSD-2-Clause
// Elbow of 90 degrees of a thick pipe with two straight legs, in hexahedra of second order: inner diameter 50 mm, wall
// 5 mm, radius of the bend 75 mm, legs 40 mm. The physical groups are named "inner", "outer", "inlet" and "outlet". Lengths
// are in metres. See README.md for the command that makes pipe-elbow.msh.
//
// Exact volume: pi (0.030^2 - 0.025^2) (2 * 0.040 + pi/2 * 0.075) = 1.70895334e-4.
SetFactory("OpenCASCADE");

inner_radius = 0.025;
outer_radius = 0.030;
bend_radius  = 0.075;
leg          = 0.040;

DefineConstant[n = 1]; // a factor on all numbers of cells: gmsh -setnumber n 2
cells_quarter = 4 * n; // round a quarter of the pipe
cells_bend    = 8 * n; // along
cells_leg     = 3 * n;

// The inlet, in the plane z = 0: two rings of one cell each, so that every circle of nodes is a circle of the geometry.
radius[] = {inner_radius, (inner_radius + outer_radius) / 2, outer_radius};
Point(1) = {0, 0, 0};
For ring In {0 : 2}
  For q In {0 : 3}
    Point(10 + 4 * ring + q) = {radius[ring] * Cos(q * Pi / 2), radius[ring] * Sin(q * Pi / 2), 0};
  EndFor
  For q In {0 : 3}
    Circle(10 + 4 * ring + q) = {10 + 4 * ring + q, 1, 10 + 4 * ring + (q + 1) % 4};
    Transfinite Curve {10 + 4 * ring + q} = cells_quarter + 1;
  EndFor
EndFor
For ring In {0 : 1}
  For q In {0 : 3}
    Line(30 + 4 * ring + q) = {10 + 4 * ring + q, 14 + 4 * ring + q};
    Transfinite Curve {30 + 4 * ring + q} = n + 1;
  EndFor
  For q In {0 : 3} // radial, outer arc, radial, inner arc
    s = 1 + 4 * ring + q;
    Curve Loop(s) = {30 + 4 * ring + q, 14 + 4 * ring + q, -(30 + 4 * ring + (q + 1) % 4), -(10 + 4 * ring + q)};
    Plane Surface(s) = {s};
    Transfinite Surface {s};
    Recombine Surface {s};
  EndFor
EndFor

// Leg, bend, leg. For each of the 8 surfaces Extrude returns the end, the volume and the sides in the order of the loop.
inlet[] = {1 : 8};
inner[] = {};
outer[] = {};
volumes[] = {};
end[] = inlet[];
For part In {0 : 2}
  If (part == 0)
    out[] = Extrude {0, 0, leg} { Surface{end[]}; Layers{cells_leg}; Recombine; };
  ElseIf (part == 1)
    out[] = Extrude {{0, 1, 0}, {bend_radius, 0, leg}, Pi / 2} { Surface{end[]}; Layers{cells_bend}; Recombine; };
  Else
    out[] = Extrude {leg, 0, 0} { Surface{end[]}; Layers{cells_leg}; Recombine; };
  EndIf
  For s In {0 : 7}
    end[s] = out[6 * s];
    volumes[] += out[6 * s + 1];
    If (s < 4)
      inner[] += out[6 * s + 5];
    Else
      outer[] += out[6 * s + 3];
    EndIf
  EndFor
EndFor

Physical Surface("inner")  = inner[];
Physical Surface("outer")  = outer[];
Physical Surface("inlet")  = inlet[];
Physical Surface("outlet") = end[];
Physical Volume("steel")   = volumes[];

Mesh.ElementOrder = 2;
Mesh.HighOrderOptimize = 0;
