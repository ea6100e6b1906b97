// SPDX-License-Identifier: BSD-2-Clause
// A bar [0,3] x [0,1] x [0,1]: prisms, then hexahedra, then tetrahedra with pyramids on the last quadrilaterals.
DefineConstant[n = 2]; // cells along an edge of unit length

For i In {0:2}
  Point(2 * i + 1) = {i, 0, 0, 1 / n};
  Point(2 * i + 2) = {i, 1, 0, 1 / n};
  Line(i + 1) = {2 * i + 1, 2 * i + 2};
EndFor
Line(11) = {1, 3};
Line(12) = {3, 5};
Line(21) = {2, 4};
Line(22) = {4, 6};
Transfinite Curve {1, 2, 3, 11, 12, 21, 22} = n + 1;
Curve Loop(1) = {11, 2, -21, -1};
Curve Loop(2) = {12, 3, -22, -2};
Plane Surface(1) = {1};
Plane Surface(2) = {2};
Transfinite Surface {2};
Recombine Surface {2};
prisms[] = Extrude {0, 0, 1} { Surface{1}; Layers{n}; Recombine; };
hexes[] = Extrude {0, 0, 1} { Surface{2}; Layers{n}; Recombine; };
tets[] = Extrude {1, 0, 0} { Surface{hexes[3]}; };

Physical Volume("bar") = {prisms[1], hexes[1], tets[1]};
Physical Surface("left") = {prisms[5]};
Physical Surface("right") = {tets[0]};
Physical Surface("bottom") = {1, 2, tets[2]};
