// SPDX-License-Identifier: BSD-2-Clause
// Spaces, operators and hierarchies of Ritz as vectors, matrices and preconditioners of PETSc: the library
// libritz-petsc (pkg-config ritz-petsc), beside libritz, which knows no PETSc. Programs that include this
// header are compiled with PETSc and MPI; it is not part of ritz.h. Examples: doc/petsc.md.
//
//     RitzMeshFromDMPlex, RitzMeshRead, ...        the whole mesh, in every process
//     RitzPetscMeshCreatePart(comm, whole, NULL, &mesh)
//     RitzSpaceCreate(mesh, degree, num_comp, &space)
//     RitzPetscSpaceCreate(comm, ceed, space, &s)  numbering of the whole problem
//     RitzPetscSpaceCreateVec(s, &b)               its local form is the L-vector
//     RitzPetscMatCreate(s, inside, seam, ...)     MATSHELL
//     RitzPetscPCSetHierarchy(pc, ...)             PCMG
//
// Numbering. A global vector has the owned entries of all processes, rank after rank, in each as in the
// L-vector (ritz/space.h: components of a node are neighbours). The local form of a ghosted vector has the
// ghosts behind them, and is the L-vector:
//
//     L-vector   | owned: first ... first + num_owned - 1 | ghosts, by owner |
//
// Functions return PETSc's error codes. What Ritz reports becomes PETSC_ERR_LIB, with its message: contexts
// have to keep it (CeedSetErrorHandler(ceed, CeedErrorStore)); by others the program is ended, as always.
// Functions are collective over the communicator where nothing else is said. Double precision, real numbers.
#ifndef RITZ_PETSC_H
#define RITZ_PETSC_H

#include <ceed.h>
#include <petscdmplex.h>
#include <petscksp.h>
#include <petscsf.h>
#include <ritz/exchange.h>
#include <ritz/multigrid.h>
#include <ritz/partition.h>
#include <ritz/space.h>

#if PETSC_VERSION_LT(3, 18, 0)
#error "ritz/petsc.h needs PETSc 3.18 or later"
#endif
#if defined(PETSC_USE_COMPLEX)
#error "ritz/petsc.h needs a PETSc of real numbers: this one has complex ones"
#endif
#if !defined(PETSC_USE_REAL_DOUBLE) || defined(RITZ_SCALAR_F32)
#error "ritz/petsc.h needs double precision in both: CeedScalar and PetscScalar have to be the same"
#endif

// ---- Errors ----

// PETSc's error with the message that `ceed` keeps; 0 for code 0. Not collective.
CEED_EXTERN PetscErrorCode RitzPetscError(Ceed ceed, int code, int line, const char *function,
                                          const char *file);
// A call of Ritz or Ceed in a function of PETSc's kind: PetscCall, and the message is Ritz's.
#define RitzPetscCall(ceed, ...)                                                                             \
  PetscCall(RitzPetscError((ceed), (__VA_ARGS__), __LINE__, PETSC_FUNCTION_NAME, __FILE__))

// ---- Meshes ----

// The whole mesh of a DMPlex, in every process: cells with their vertices, positions, facets of labels, made
// by `ceed`. dm: in one process or distributed, with or without overlap; interpolated (it has facets).
//
// parts [num_elem], to be freed by the caller with free(), NULL: not wanted: the process that has each
// element. (A mesh that was just read lies in one process: RitzPetscMeshCreatePart finds parts itself.)
//
// Geometry: the degree of the coordinate field, positions at the nodes of ritz/mesh.h. Periodic meshes keep
// the cells' own positions.
// Boundary parts: values of "Face Sets" by their number; each other label that marks facets by its name, one
// with several values as "name:value". Regions: values of "Cell Sets", else of the first other label that
// marks the cell, else 1; called as labels that mark cells with the value (those of Gmsh's names, which
// DMPlex makes with -dm_plex_gmsh_use_regions). Elements: triangles, quadrilaterals or tetrahedra, pyramids,
// prisms, hexahedra, in each block by process, then as in the DM.
//
// Memory: that of the whole mesh twice in every process while it is made. Errors: PETSC_ERR_SUP (cells of
// other shapes, no facets, hanging nodes, degrees above 1 on prisms and pyramids), PETSC_ERR_ARG_OUTOFRANGE
// (more than 2^31 numbers in a message), those of RitzMeshCreate.
CEED_EXTERN PetscErrorCode RitzMeshFromDMPlex(DM dm, Ceed ceed, RitzMesh *mesh, int32_t **parts);

// This process's part of a whole mesh that all processes have. parts [num_elem]: the rank of each element;
// NULL: by RitzMeshPartition.
CEED_EXTERN PetscErrorCode RitzPetscMeshCreatePart(MPI_Comm comm, RitzMesh whole, const int32_t parts[],
                                                   RitzMesh *part);

// ---- Spaces ----

typedef struct RitzPetscSpace_private *RitzPetscSpace;

// The space of this process's part beside those of the others: the numbering of the whole problem, and
// exchanges by ritz/mpi.h in a duplicate of comm. References to the space and the context. Memory: that of an
// exchange and 16 bytes an entry of a ghost. Errors: those of RitzExchangeCreate; PETSC_ERR_ARG_OUTOFRANGE
// (more entries than PetscInt counts). After an error of one process others may wait for it: the program
// ends.
CEED_EXTERN PetscErrorCode RitzPetscSpaceCreate(MPI_Comm comm, Ceed ceed, RitzSpace space, RitzPetscSpace *s);
// *copy is destroyed first: NULL or a valid handle, as for CeedVectorReferenceCopy. Not collective.
CEED_EXTERN PetscErrorCode RitzPetscSpaceReferenceCopy(RitzPetscSpace s, RitzPetscSpace *copy);
// Exchanges that were taken from it go first. Vectors are free of it; matrices hold references.
CEED_EXTERN PetscErrorCode RitzPetscSpaceDestroy(RitzPetscSpace *s);

// Not collective, as all queries. Results are borrowed, or may be NULL.
CEED_EXTERN PetscErrorCode RitzPetscSpaceGetExchange(RitzPetscSpace s, RitzExchange *exchange);
CEED_EXTERN PetscErrorCode RitzPetscSpaceGetTransport(RitzPetscSpace s, const RitzTransport **transport);
// Entries of this process: how many are owned, the global number of the first, how many are ghosts.
CEED_EXTERN PetscErrorCode RitzPetscSpaceGetSizes(RitzPetscSpace s, PetscInt *num_owned, PetscInt *first,
                                                  PetscInt *num_ghosts);
// Roots: owned entries; leaves: ghosts, at their places in the L-vector. Data of both is an L-vector's array.
CEED_EXTERN PetscErrorCode RitzPetscSpaceGetSF(RitzPetscSpace s, PetscSF *sf);
// Entries of the L-vector to global ones, in blocks of a node's components.
CEED_EXTERN PetscErrorCode RitzPetscSpaceGetLocalToGlobal(RitzPetscSpace s, ISLocalToGlobalMapping *map);

// Positions of the owned nodes, in blocks of space_dim: what MatNullSpaceCreateRigidBody wants.
CEED_EXTERN PetscErrorCode RitzPetscSpaceCreateCoordinates(RitzPetscSpace s, Vec *x);

// ---- Vectors ----

// A vector of the whole problem, zero: ghosted, of PETSc's standard type in one process. Block size: the
// components of the space.
CEED_EXTERN PetscErrorCode RitzPetscSpaceCreateVec(RitzPetscSpace s, Vec *v);
// The L-vector of v in the context of the space. Not collective. Where v is ghosted, or this process has no
// ghosts, x uses the array of v, on the host or, where the context computes there, on the device. Of other
// vectors the owned entries are copied, and copied back unless access is RITZ_ACCESS_READ; ghosts are zero
// then. v is not to be used meanwhile; several vectors may be lent. x may have its ghosts changed with
// RITZ_ACCESS_READ, too, and what else was changed and is again what it was. Errors: PETSC_ERR_ARG_SIZ.
CEED_EXTERN PetscErrorCode RitzPetscVecGetCeedVector(RitzPetscSpace s, Vec v, RitzAccess access,
                                                     CeedVector *x);
CEED_EXTERN PetscErrorCode RitzPetscVecRestoreCeedVector(RitzPetscSpace s, Vec v, CeedVector *x);

// ---- Matrices ----

// The operator of the whole problem of which this process adds `inside` and `seam`, as for
// RitzPartOperatorCreate, without the constrained entries: in their rows and columns the identity.
// constraints: entries of the L-vector, of which the owned ones count; NULL: none. is_symmetric: transposed
// products are the same, the matrix says that it is symmetric; else MatMultTranspose is an error of PETSc's.
// Holds references to all of them.
//
// A MATSHELL with products, diagonal, vectors as those of RitzPetscSpaceCreateVec; submatrices (PCFIELDSPLIT)
// are virtual ones, products with zeros elsewhere; diagonal blocks and overlapping ones (PCBJACOBI, PCASM)
// are taken from the assembled matrix, which is made when the first is asked for. Products leave ghosts of x
// and y at zero; they copy nothing where both are ghosted vectors.
CEED_EXTERN PetscErrorCode RitzPetscMatCreate(RitzPetscSpace s, CeedOperator inside, CeedOperator seam,
                                              RitzIndices constraints, PetscBool is_symmetric, Mat *mat);
// The same matrix in compressed rows (MATAIJ, by generated kernels: ritz/assembly.h), for PCGAMG, PCHYPRE,
// PCLU and others. reuse: MAT_INITIAL_MATRIX finds the pattern; MAT_REUSE_MATRIX computes values for what
// came from an earlier call for the same `mat`. Memory, kept for the values to come: that of an assembly
// (ritz/assembly.h), 8 bytes for each nonzero of this process's pattern, and where PETSc puts them; 8 bytes
// more (16 with 64-bit indices) while the pattern is found.
CEED_EXTERN PetscErrorCode RitzPetscMatAssemble(Mat mat, MatReuse reuse, Mat *aij);
// A function of `coarse` as one of `fine`, both of this process's part: products prolong, transposed products
// restrict. Constrained entries of either take no part; NULL: none.
CEED_EXTERN PetscErrorCode RitzPetscMatCreateTransfer(RitzPetscSpace coarse, RitzIndices coarse_constraints,
                                                      RitzPetscSpace fine, RitzIndices fine_constraints,
                                                      Mat *mat);

// ---- Multigrid ----

// Makes pc a PCMG of the levels of a hierarchy, whose finest space the operators of pc are of. Operators of
// the levels below are made by create_operators, which reports its errors to `ceed`, with boundary parts
// fixed, as in RitzPreconditionerCreatePartMultigrid; the finest operator is that of the pc itself. Call it
// before KSPSetFromOptions or PCSetFromOptions: defaults are
//
//     -mg_levels_  Chebyshev, 3 steps, Jacobi
//     -mg_coarse_  the assembled matrix; LU in one process and up to 10 000 unknowns redundantly, else PCGAMG
//
// and options change them. Where there are as many components as directions, rigid body motions are the
// coarsest matrix's near nullspace.
CEED_EXTERN PetscErrorCode RitzPetscPCSetHierarchy(PC pc, Ceed ceed, RitzHierarchy hierarchy,
                                                   RitzPartLevelFunction create_operators, void *ctx,
                                                   PetscInt num_fixed, const RitzFixedPart fixed[]);

#endif
