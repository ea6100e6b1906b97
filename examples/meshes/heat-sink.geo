// SPDX-License-Identifier: BSD-2-Clause
// Finned heat sink of straight hexahedra: a base plate of 60 mm x 60 mm x 5 mm with 8 upright fins, each 1.5 mm thick and
// 40 mm tall. The physical groups are named "base" (bottom, hot), "fins" (everything in the stream of air) and "sides"
// (edge of the plate). Lengths are in metres. See README.md for the command that makes heat-sink.msh.
mm = 0.001;

width      = 60 * mm;  // x, across the fins
depth      = 60 * mm;  // y, along the fins and the stream of air
plate      = 5 * mm;   // z
height     = 40 * mm;  // of the fins above the plate
thickness  = 1.5 * mm; // of a fin
num_fins   = 8;

cells_fin    = 1;  // across a fin
cells_gap    = 2;  // between two fins
cells_depth  = 12;
cells_plate  = 2;
cells_height = 10;

gap = (width - num_fins * thickness) / (num_fins - 1);

// Bottom: strips under fins and gaps in turn. Strip i lies between the lines 3 i and 3 i + 3.
num_strips = 2 * num_fins - 1;
Point(1) = {0, 0, 0};
Point(2) = {0, depth, 0};
Line(1)  = {1, 2};
Transfinite Curve {1} = cells_depth + 1;
x = 0;
For i In {1 : num_strips}
  is_fin = i % 2;
  x += is_fin ? thickness : gap;
  Point(2 * i + 1) = {x, 0, 0};
  Point(2 * i + 2) = {x, depth, 0};
  Line(3 * i - 1) = {2 * i - 1, 2 * i + 1}; // y = 0
  Line(3 * i)     = {2 * i, 2 * i + 2};     // y = depth
  Line(3 * i + 1) = {2 * i + 1, 2 * i + 2};
  Transfinite Curve {3 * i - 1, 3 * i} = (is_fin ? cells_fin : cells_gap) + 1;
  Transfinite Curve {3 * i + 1} = cells_depth + 1;
  Curve Loop(i) = {3 * i - 1, 3 * i + 1, -(3 * i), -(3 * i - 2)}; // y = 0, right, y = depth, left
  Plane Surface(i) = {i};
  Transfinite Surface {i};
  Recombine Surface {i};
EndFor

// Strips are extruded to the plate, and those under fins once more. Extrude returns the top, the volume and the sides in
// the order of the curve loop.
base[]  = {1 : num_strips};
fins[]  = {};
sides[] = {};
volumes[] = {};
For i In {1 : num_strips}
  out[] = Extrude {0, 0, plate} { Surface{i}; Layers{cells_plate}; Recombine; };
  volumes[] += out[1];
  sides[] += {out[2], out[4]};
  If (i == 1)
    sides[] += out[5];
  EndIf
  If (i == num_strips)
    sides[] += out[3];
  EndIf
  If (i % 2)
    fin[] = Extrude {0, 0, height} { Surface{out[0]}; Layers{cells_height}; Recombine; };
    volumes[] += fin[1];
    fins[] += {fin[0], fin[2], fin[3], fin[4], fin[5]};
  Else
    fins[] += out[0];
  EndIf
EndFor

Physical Surface("base")  = base[];
Physical Surface("fins")  = fins[];
Physical Surface("sides") = sides[];
Physical Volume("aluminium") = volumes[];
