// SPDX-License-Identifier: BSD-2-Clause
// Inside of exchanges (ritz/exchange.h). Used by distributed/ only.
#ifndef RITZ_DISTRIBUTED_EXCHANGE_H
#define RITZ_DISTRIBUTED_EXCHANGE_H

#include <ritz/exchange.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/handle.h"

// Another part, and its entries in both buffers.
typedef struct {
  CeedInt part;
  CeedSize first_send, num_send, first_ghost, num_ghosts;
  uint64_t send_sum, ghost_sum; // RitzHaloGetChecksums
} Neighbour;

struct RitzExchange_private {
  const RitzClass *class;
  Ceed ceed, counted; // the same; counted: once it is
  int ref_count;
  RitzSpace space;               // counted; of a product the first one
  RitzProductSpace product;      // counted; NULL: vectors are those of the space
  RitzTransport base, transport; // what was given; the same, or on top of it
  CeedScalarType precision;      // of the vectors
  CeedInt num_comp, num_messages;
  CeedSize length, num_owned, num_send, num_ghosts; // entries
  Neighbour *neighbours;                            // owned, [num_messages]
  RitzMessage *messages;                            // owned
  CeedElemRestriction pack;                         // owned: the entries that neighbours have as ghosts
  bool is_direct;                                   // messages come to and go from ghosts of vectors
  CeedVector at_owners, at_ghosts; // owned buffers, [num_send], [num_ghosts]; NULL: empty, is_direct
  RitzIndices ghosts;              // owned
  bool is_busy;
  bool has_arrived;                 // there is nothing to wait for
  RitzExchangeMode mode;            // of what is under way
  CeedVector vector;                // borrowed: whose entries it is about
  void *sending, *receiving, *held; // borrowed from buffers or the vector meanwhile; held: against writing
};

// RitzExchangeCreateInPrecision for vectors of num_comp numbers a node side by side, whatever the space has.
int ritz_exchange_create(RitzSpace space, CeedInt num_comp, Ceed ceed, const RitzTransport *transport,
                         CeedScalarType precision, RitzExchange *exchange);

// CEED_ERROR_INCOMPATIBLE: a function is missing; CEED_ERROR_DIMENSION: there is no such part.
int ritz_transport_check(Ceed ceed, const char *call, const RitzTransport *transport);

// CEED_ERROR_DIMENSION unless x is like the vectors of the exchange's space, CEED_ERROR_INCOMPATIBLE unless
// it has the precision.
int ritz_exchange_check(RitzExchange e, const char *call, CeedVector x);

// base and transport: by a transport that takes device memory but knows no stream, messages of a context on a
// device wait for its work.
void ritz_exchange_set_transport(RitzExchange e, const RitzTransport *transport);

// Lets the host wait for what the context has queued, where it is on CUDA.
int ritz_exchange_wait(const struct RitzExchange_private *e);

// RitzExchangeRun after which ghosts keep their values in both modes; in one step with it, where the
// transport can that, num numbers in the context's memory become sums over all parts (0: none; others: the
// transport has reduce_in_memory).
int ritz_exchange_run_and_sum(RitzExchange exchange, RitzExchangeMode mode, CeedVector x, CeedInt num,
                              double values[]);

// RitzPartOperatorApply that clears nothing: ghosts of x have the values of their owners afterwards, those of
// y what this part has added. For solvers whose sums count owned entries alone (RitzSolverSetNumOwned).
int ritz_part_operator_apply_kept(void *op, CeedVector x, CeedVector y);

// RitzExchangeReduce for numbers in the memory where the transport's context computes; the transport can
// that.
int ritz_exchange_reduce_in_memory(void *exchange, RitzReduction kind, CeedInt num, double values[]);

// The exchange of an operator, borrowed; pieces (may be NULL): its elements without ghosts and the others,
// borrowed, NULL where there are none.
RitzExchange ritz_part_operator_pieces(RitzPartOperator op, CeedOperator pieces[2]);

// Both sets in one; b may be NULL.
int ritz_indices_unite(Ceed ceed, RitzIndices a, RitzIndices b, RitzIndices *both);

#endif
