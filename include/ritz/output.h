// SPDX-License-Identifier: BSD-2-Clause
// Output for ParaView and other readers of VTK's XML format.
#ifndef RITZ_OUTPUT_H
#define RITZ_OUTPUT_H

#include <ritz/space.h>

// What is written at a point, out of the components of a field there.
typedef void (*RitzOutputFunction)(const double *components, double *values);

// One named nodal field: `values` is an L-vector of `space`. NULL-terminated lists are not used: counts are
// explicit. With a function the file has num_values >= 1 numbers at each of its points, made from the field
// there: interpolation of a length, say, from nodes could be negative, the length of what is interpolated is
// not.
typedef struct {
  const char *name;            // UTF-8 without control characters, different for all fields of a file
  RitzSpace space;             // borrowed; all fields of a file live on the same mesh
  CeedVector values;           // borrowed, length at least the size of the space
  RitzOutputFunction function; // NULL: the components of the field are written, num_values does not matter
  CeedInt num_values;
} RitzOutputField;

// Writes an unstructured grid (.vtu, file version 2.2) of high-order Lagrange cells (types 68 to 73) with
// appended raw binary arrays, compressed by zlib when the library was built with it. Cells have the largest
// degree among the geometry and the fields; every quantity is interpolated to the equispaced nodes that VTK
// expects, exactly, and stored as Float64. Pyramids are cut into linear pyramids and tetrahedra (types 14 and
// 10) between these nodes: inside of them a viewer sees fields and geometry piecewise linear. Points are per
// element (elements do not share points), so periodic and discontinuous data are shown as they are. Cell
// data: "region" and "element", the number of the element in the mesh. Indices have 64 bits.
//
// A field of two components on a mesh in the plane gets a third one, 0: VTK's filters for vectors (arrows,
// streamlines, displacement) take no others. All others keep their number of components. A value that
// is not a finite number is written as it is; where interpolation is needed it spoils its element, no other.
//
// The file appears under its name only when complete: it is written beside it, as "PATH.PROCESS-NUMBER.tmp",
// and renamed. A path that exists must be a regular file. Memory: one element, two blocks of 256 KiB, 8 bytes
// for every block of the array being written, and the host copy of a field that lives on a device.
//
// Errors, which leave an existing file as it was and no other behind: CEED_ERROR_INCOMPATIBLE (something is
// NULL, a name is unfit or taken, a space on another mesh), CEED_ERROR_DIMENSION (a vector is too short, a
// function has less than one value),
// CEED_ERROR_MAJOR (the system refuses: the message has path and reason); those of CeedVectorGetArrayRead.
CEED_EXTERN int RitzWriteVTU(RitzMesh mesh, CeedInt num_fields, const RitzOutputField *fields,
                             const char *path);

// The same for a mesh in parts, called by all of them with the same fields and path, STEM.pvtu: part N writes
// its piece as STEM-N.vtu, which also has the cell data "part", and part 0 the list of pieces, which viewers
// open. The list may be there before the last piece is. "element" counts in the part. A whole mesh is one
// piece. Errors: as above, each part its own; CEED_ERROR_INCOMPATIBLE (the path does not end in .pvtu).
CEED_EXTERN int RitzWritePVTU(RitzMesh mesh, CeedInt num_fields, const RitzOutputField *fields,
                              const char *path);

// A series of files with their times (.pvd), which viewers open instead of the files: files [num] as they
// were written (.vtu, .pvtu), times [num] ascending. It is written whole under its name, as RitzWriteVTU
// does: called after each step of a run with what is there so far, it leaves a readable series whenever the
// run ends. Of a mesh in parts by one of them. Names stand in it relative to its folder, which the names
// given here begin with; absolute ones may lie elsewhere. Errors, which leave an existing file as it was:
// CEED_ERROR_INCOMPATIBLE (the path does not end in .pvd, something is NULL, a name is unfit or not below the
// folder, a time is not finite or not behind the one before), CEED_ERROR_DIMENSION (num is negative),
// CEED_ERROR_MAJOR (the system refuses: the message has path and reason).
CEED_EXTERN int RitzWritePVD(Ceed ceed, CeedInt num, const double *times, const char *const *files,
                             const char *path);

#endif
