// SPDX-License-Identifier: BSD-2-Clause
// Disk of radius 1 in quadrilaterals of third order, without any structure: triangles that are put together in pairs and
// then cut (Gmsh's "full quad" recombination). The physical groups are named "wall" and "disk". See README.md for the
// command that makes disk.msh.
SetFactory("OpenCASCADE");

DefineConstant[h = 0.25]; // size of elements: gmsh -setnumber h 0.1

Disk(1) = {0, 0, 0, 1};
Mesh.MeshSizeMin = h;
Mesh.MeshSizeMax = h;
Mesh.Algorithm = 8;
Mesh.RecombineAll = 1;
Mesh.RecombinationAlgorithm = 1;
Mesh.SubdivisionAlgorithm = 1;
Mesh.ElementOrder = 3;
Mesh.HighOrderOptimize = 2;

Physical Curve("wall", 1) = {1};
Physical Surface("disk", 2) = {1};
