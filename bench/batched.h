// SPDX-License-Identifier: BSD-2-Clause
// `ritz bench --batched`: every routine of ritz/batched.h on batches of square matrices, beside loops over
// OpenBLAS or LAPACK on hosts and beside cuBLAS and cuSOLVER on CUDA, which are looked up at run time.
// batched.c reads the command line and goes through the cases; batched-routines.c has the table of
// routines and calls them; batched-data.c holds operands in the context's memory, batched-time.c measures and
// compares with /cpu/self/ref, batched-host.c and batched-cuda.c are the other side, batched-report.c prints
// and batched-plot.c draws.
#ifndef RITZ_BENCH_BATCHED_H
#define RITZ_BENCH_BATCHED_H

#include <ritz/batched.h>
#include <stdbool.h>

#include "bp/bp.h"

// ---- Routines ----

typedef enum { BATCHED_NONE, BATCHED_MATRIX, BATCHED_COLUMN, BATCHED_COLUMNS } BatchedShape; // of an operand
typedef enum {
  BATCHED_DOMINANT, // ones on the diagonal, others below 1/n: factors, triangles, and positive definite
  BATCHED_SHIFTED,  // the same with rows shifted by the number of the matrix, so that pivots swap
} BatchedContents;

enum { BATCHED_MAX_OPERANDS = 3 };

// n x n matrices, n x columns right-hand sides.
typedef struct {
  const char *name;
  const char *root; // of LAPACK's or BLAS's routine; NULL: they have none
  RitzBatchedOperation operation;
  RitzPivot pivot;
  BatchedContents contents;                   // of A
  BatchedShape operand[BATCHED_MAX_OPERANDS]; // in the order of the call; beyond: room for the other side
  double moved[BATCHED_MAX_OPERANDS];         // times that the entries of an operand have to move
  double cubic, square;                       // flops: cubic n^3 + square n^2 columns, LAPACK's leading terms
  int result;                                 // operand
} BatchedRoutine;

extern const BatchedRoutine batched_routines[];
extern const int batched_num_routines;

typedef enum {
  BATCHED_STRIDED,
  BATCHED_INTERLEAVED,
  BATCHED_POINTERS,
  BATCHED_NONUNIFORM, // packed, by offsets; sizes from 1 to n, all as often
} BatchedForm;
const char *batched_form_name(BatchedForm form);

typedef struct {
  const BatchedRoutine *routine;
  CeedScalarType precision;
  BatchedForm form;
  bool in_cache;
  CeedInt n, columns;
  int64_t count;
} BatchedCase;

int batched_columns(const BatchedCase *c, int operand); // of an operand; 0: there is none
size_t batched_entry_bytes(const BatchedCase *c);
const char *batched_precision_name(const BatchedCase *c);

// ---- Data ----

// Bytes in a context's memory.
typedef struct {
  CeedVector vec;    // owned
  CeedScalar *array; // while lent: the address in the context's memory
} BatchedMemory;

enum { BATCHED_MAX_COPIES = 4 };

typedef struct {
  BatchedMemory start;                    // as before a call
  BatchedMemory data[BATCHED_MAX_COPIES]; // what calls work on
  BatchedMemory pointers[BATCHED_MAX_COPIES], offsets;
} BatchedOperand;

// Operands of a case. Devices get several copies, so that a measurement is several calls.
typedef struct {
  Ceed ceed;      // borrowed
  BatchedCase of; // its form may differ from that of the case
  CeedInt width;  // of interleaved matrices, else 1
  int num_copies;
  bool has_pointers;
  int32_t *sizes;    // [count], owned; NULL: all are n
  int64_t *before_1; // [count + 1], owned: sums of the sizes before, and of their squares
  int64_t *before_2;
  BatchedOperand operand[BATCHED_MAX_OPERANDS];
  BatchedMemory rows, ipiv, info;
} BatchedData;

// has_pointers: arrays of addresses are made, whatever the form.
int batched_data_make(Ceed ceed, const BatchedCase *c, bool has_pointers, BatchedData *d);
void batched_data_free(BatchedData *d);
int batched_data_restore(const BatchedData *d); // data = start, in all copies; nothing is lent
int batched_data_lend(BatchedData *d);
int batched_data_take_back(BatchedData *d);
RitzBatchArray batched_array(const BatchedData *d, int operand, int copy); // while lent

int batched_size(const BatchedData *d, int64_t i);
// Entries of an operand before matrix i, where matrices are not interleaved.
int64_t batched_before(const BatchedData *d, int operand, int64_t i);
int32_t batched_pivot(const BatchedData *d, int64_t i, int32_t k); // of step k of matrix i, counted from 1
// Matrix i of an operand without gaps, in its precision, from the memory; nothing is lent. Costs the time of
// a transfer: for a few matrices.
int batched_data_read(const BatchedData *d, int operand, const BatchedMemory *from, int64_t i, void *matrix);

// ---- Calls ----

int batched_create(Ceed ceed, const BatchedCase *c, CeedInt width, RitzBatched *b);
int batched_call(RitzBatched b, const BatchedCase *c, int64_t count, const RitzBatchArray *array,
                 int32_t *ipiv, int32_t *info);

// Another library.
typedef struct BatchedPeer_private {
  char name[32];                              // "OpenBLAS"; "": there is none
  bool needs_pointers;                        // arrays of addresses for all operands
  void *libraries[3];                         // as of dlopen
  void *handles[2];                           // of the first two
  struct BatchedRotations_private *rotations; // owned: what cuSOLVER's Jacobi methods need; NULL: nothing
  // One call on a copy that is lent. A code other than 0: the library has no such call.
  int (*call)(const struct BatchedPeer_private *peer, const BatchedData *d, int copy);
} BatchedPeer;

void batched_open_host_peer(BatchedPeer *peer);
void batched_open_cuda_peer(BatchedPeer *peer); // works in the legacy default stream, as contexts do
void batched_close_cuda_peer(BatchedPeer *peer);

// ---- Rows ----

typedef struct {
  BatchedCase of;
  double flops, bytes;          // of a call
  double seconds, seconds_peer; // of a call; 0: there is no such call
  int rounds;
  BpBound bound;
  double seconds_bound, error, tolerance; // relative to the largest entry
  char fault[200];                        // why there is no time
} BatchedRow;

typedef struct {
  Ceed ceed, reference;    // borrowed
  BpMachine machine[2];    // of double, float
  const BatchedPeer *peer; // NULL: none
  bool on_device;
  int num_threads; // of a host
  int rounds;      // 0: by time
} BatchedHow;

int batched_measure(const BatchedHow *how, BatchedRow *row);
bool batched_is_right(const BatchedRow *row);

void batched_print_heading(FILE *stream, const BatchedHow *how);
void batched_print_row(FILE *stream, const BatchedRow *row, const BatchedHow *how);
void batched_write_json(FILE *stream, const char *program, const char *resource, const BatchedHow *how,
                        size_t num, const BatchedRow *rows);
// false: no memory.
bool batched_write_plot(FILE *stream, const char *title, const char *subtitle, const char *peer, size_t num,
                        const BatchedRow *rows);

#endif
