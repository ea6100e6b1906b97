// SPDX-License-Identifier: BSD-2-Clause
// Parts of `ritz solve`: threads of this program, a GPU for each perhaps, or processes (cli/mpi-main.c). All
// of them run the command; the first one alone tells.
#include <ritz/basis.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve.h"
#include "cli/threads.h"

SolveProcesses solve_processes;

bool solve_has_processes(void) { return solve_processes.num > 0; }

int solve_count_parts(const SolveOptions *o) {
  return solve_has_processes() ? solve_processes.num : o->gpus ? o->gpus : o->parts;
}

// A process that mpiexec has started has its own; parts of one share what it has.
int solve_threads_of_part(const SolveOptions *o, int num_parts) {
  if (solve_has_processes()) return o->threads ? o->threads : solve_processes.num_threads;
  const int most = threads_of_processors(), num = o->threads ? o->threads : threads_of_process();

  return threads_shared(num < most ? num : most, num_parts > 1 ? num_parts : 1);
}

bool solve_is_first(const Solve *s) { return !s->base || s->base->part == 0; }

int solve_reduce(const Solve *s, RitzReduction kind, CeedInt num, double values[]) {
  return s->base ? s->base->reduce(s->base, kind, num, values) : CEED_ERROR_SUCCESS;
}

// ---- Agreement ----

// Messages of parts behind the first are left out while all find the same. Where the first finds nothing,
// this part says that it has failed.
int solve_agree(Solve *s, int code) {
  double codes[2] = {code, solve_is_first(s) ? code : 0};

  if (!s->base) return code;
  if (solve_reduce(s, RITZ_REDUCTION_MAX, 2, codes)) return CLI_FAILED;
  if (code && codes[1] == 0) cli_tell();
  return (int)codes[0];
}

// ---- What is looked at before the mesh is cut ----

uint64_t solve_hash(uint64_t hash, const void *words, size_t num) {
  uint64_t word;

  if (!hash) hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < num; i++) {
    memcpy(&word, (const char *)words + i * sizeof(word), sizeof(word));
    hash = (hash ^ word) * 0x100000001b3; // FNV-1a, of words
    hash ^= hash >> 32;
  }
  return hash;
}

int solve_hash_mesh(const Solve *s, bool has_positions, uint64_t *hash) {
  CeedInt num_blocks = 0, order = 1, num_corners = 0, num_nodes = 0;

  *hash = 0;
  CLI_TRY(RitzMeshGetNumBlocks(s->mesh, &num_blocks));
  CLI_TRY(RitzMeshGetGeometryOrder(s->mesh, &order));
  for (CeedInt b = 0; b < num_blocks; b++) {
    CeedElemTopology shape = CEED_TOPOLOGY_LINE;
    int64_t num_elem = 0;
    const int64_t *vertices = NULL;
    const double *x = NULL;

    CLI_TRY(RitzMeshGetBlock(s->mesh, b, &shape, NULL, &num_elem, &vertices, &x));
    CLI_TRY(RitzLagrangeNodes(s->ceed, shape, 1, &num_corners, NULL));
    CLI_TRY(RitzLagrangeNodes(s->ceed, shape, order, &num_nodes, NULL));
    const int64_t block[] = {shape, num_elem};

    *hash = solve_hash(*hash, block, 2);
    *hash = solve_hash(*hash, vertices, (size_t)num_elem * (size_t)num_corners);
    if (has_positions)
      *hash = solve_hash(*hash, x, (size_t)num_elem * (size_t)num_nodes * (size_t)s->space_dim);
  }
  return CEED_ERROR_SUCCESS;
}

int solve_compare_meshes(Solve *s) {
  uint64_t hash = 0;

  // Boxes are what the arguments say, which are the same.
  if (!solve_has_processes() || !s->base || !strncmp(s->options.mesh, "box:", 4)) return CLI_OK;
  CLI_TRY(solve_agree(s, solve_hash_mesh(s, true, &hash) ? cli_report(solve_command.name, s->ceed) : CLI_OK));
  const double value = (double)(hash >> 12); // an integer that a double holds
  double extremes[2] = {value, -value};

  if (solve_reduce(s, RITZ_REDUCTION_MAX, 2, extremes)) return CLI_FAILED;
  if (extremes[0] == -extremes[1]) return CLI_OK;
  fprintf(cli_stderr(), "%s: processes read different meshes from files called '%s'\n", solve_command.name,
          s->options.mesh);
  return CLI_FAILED;
}

// Checks that the modes of the whole mesh fit, alike in all parts: by functions of degree 1, whose
// constraints are those of all degrees but for facets without inner nodes.
int solve_check_modes(Solve *s) {
  const ProblemOptions options = {.kind = (ProblemKind)s->options.problem,
                                  .is_axisymmetric = s->options.axisymmetric,
                                  .num_materials = s->num_materials,
                                  .materials = s->materials};
  Problem p = {.ceed = s->ceed,
               .mesh = s->mesh,
               .options = options,
               .num_comp = problem_is_elastic((ProblemKind)s->options.problem) ? s->dim : 1,
               .dim = s->dim,
               .space_dim = s->space_dim};
  RitzSpace space = NULL;
  ProblemModes modes = {0};
  int ierr;

  CLI_TRY_CLEANUP(RitzSpaceCreate(s->mesh, 1, p.num_comp, &space));
  CLI_TRY_CLEANUP(solve_create_modes(s, &p, space, &modes));
cleanup:
  problem_destroy_modes(&modes);
  RitzSpaceDestroy(&space);
  return ierr;
}

int solve_check_smoother(Solve *s) {
  bool has_directions = true;

  CLI_TRY(problem_has_directions(s->mesh, &has_directions));
  if (s->options.smoother != SMOOTHER_SCHWARZ || has_directions) return CEED_ERROR_SUCCESS;
  return CeedError(s->ceed, CEED_ERROR_UNSUPPORTED,
                   "--smoother schwarz needs lines, quadrilaterals or hexahedra alone, found other elements "
                   "(use jacobi or point-blocks)");
}

// ---- GPUs ----

// Messages between GPUs by NCCL; where that cannot be, a note says why.
static int connect_gpus(Solve *s) {
  const char *message = NULL;

  if (s->device < 0) return CEED_ERROR_SUCCESS;
  if (solve_processes.shares_devices) {
    cli_fact("note", "there are more processes than GPUs, which NCCL does not serve");
    return CEED_ERROR_SUCCESS;
  }
  const int ierr = RitzTransportCreateNCCL(s->ceed, s->base, &s->between);

  if (!ierr) s->transport = &s->between;
  if (ierr != CEED_ERROR_UNSUPPORTED) return ierr;
  CLI_TRY(CeedGetErrorMessage(s->ceed, &message));
  const char *text = strstr(message, "(): ");

  cli_fact("note", "%s", text ? text + 4 : message);
  return CeedResetErrorMessage(s->ceed, &message);
}

static const char *way_of_exchanges(const Solve *s, CeedMemType mem_type) {
  if (s->transport == &s->between) return "between GPUs, by NCCL";
  if (mem_type == CEED_MEM_DEVICE) return "between GPUs, by MPI";
  return s->device >= 0 ? "by way of the host" : "in the memory of the host";
}

int solve_connect(Solve *s) {
  CeedMemType mem_type = CEED_MEM_HOST;

  s->transport = s->base;
  if (!s->base) return CEED_ERROR_SUCCESS;
  CLI_TRY(connect_gpus(s));
  CLI_TRY(RitzTransportGetMemType(s->ceed, s->transport, &mem_type));
  cli_fact("parts", "%" CeedInt_FMT " %s, exchanges %s", s->base->num_parts,
           solve_has_processes() ? "processes"
           : s->device >= 0      ? "GPUs"
                                 : "threads",
           way_of_exchanges(s, mem_type));
  return CEED_ERROR_SUCCESS;
}

// ---- Runs ----

typedef struct {
  const SolveOptions *options;
  int exit_code;         // that all parts agree on
  _Atomic bool has_told; // some part has said why it failed
} PartsRun;

// The device of a part, counted from the first; -1: as --ceed says, the same in all parts.
static int device_of_part(const SolveOptions *o, int part) {
  if (o->gpus) return part;
  return solve_has_processes() && !strncmp(o->ceed, "/gpu/cuda", 9) && !strstr(o->ceed, ":device_id=")
             ? solve_processes.device
             : -1;
}

static int solve_part(void *ctx, const RitzTransport *transport) {
  PartsRun *run = ctx;
  Solve s = {.command = &solve_command,
             .options = *run->options,
             .base = transport,
             .device = device_of_part(run->options, transport->part)};
  bool converged = false;

  cli_be_part(transport->part == 0);
  const int code = solve_run_command(&s, &converged);

  if (!code && !converged && transport->part == 0)
    fprintf(stderr, "%s: the iteration did not converge\n", solve_command.name);
  if (transport->part == 0) run->exit_code = code ? code : converged ? CLI_OK : CLI_FAILED;
  const bool has_broken_off = code && s.is_open;

  cli_speak();
  if (s.has_told) run->has_told = true;
  if (has_broken_off) {
    if (solve_processes.fail) solve_processes.fail(transport->part); // others may wait for this one
    RitzTransportAbortNCCL(&s.between);
  }
  solve_clean_up(&s);
  return has_broken_off ? CEED_ERROR_MAJOR : CEED_ERROR_SUCCESS;
}

int solve_in_parts(const SolveOptions *options, int num_parts) {
  PartsRun run = {.options = options};
  Ceed ceed = NULL;

  if (solve_has_processes()) {
    const int code = solve_processes.run(solve_part, &run);

    return code ? CLI_FAILED : run.exit_code;
  }
  CLI_TRY(cli_open_ceed(solve_command.name, "/cpu/self/ref", &ceed));
  const int code = RitzRunParts(ceed, num_parts, solve_part, &run);

  if (code && !run.has_told) cli_report(solve_command.name, ceed);
  CeedDestroy(&ceed);
  return code ? CLI_FAILED : run.exit_code;
}
