// SPDX-License-Identifier: BSD-2-Clause
// What the files of `ritz solve` share: its options and the state of a run.
//
//     solve.c            the course of the command
//     solve-options.c    the options and their help
//     solve-mesh.c       the mesh
//     solve-formulas.c   formulas of the command line: parsed, checked against the mesh
//     solve-data.c       boundary conditions and right-hand sides from them, facts
//     solve-method.c     solver and preconditioner
//     solve-time.c       time steps
//     solve-newton.c     Newton's method, load steps
//     solve-parts.c      parts: threads, GPUs, processes of MPI
//     solve-output.c     errors, files
//     solve-save.c       files that later runs go on from
//     solve-values.c     values at points, reactions
//
// Functions return exit codes, after printing what went wrong; those marked so return Ceed codes, whose
// message is stored in the context.
#ifndef RITZ_CLI_SOLVE_H
#define RITZ_CLI_SOLVE_H

#include <ritz.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/expr.h"
#include "cli/problem.h"

enum { EXACT_NONE = -1, EXACT_SINE = 0 };
enum { CHOICE_AUTO = -1 }; // an option of several words that is not given

// Words of --preconditioner, --precision, --method and --cycle, in their order.
typedef enum {
  PC_NONE,
  PC_JACOBI,
  PC_POINT_JACOBI,
  PC_CHEBYSHEV,
  PC_SCHWARZ,
  PC_MULTIGRID
} SolvePreconditioner;
enum { PRECISION_F64, PRECISION_F32, PRECISION_AUTO };
enum { IMPLICIT_EULER, BDF2 };
enum { PLANE_STRAIN, PLANE_STRESS };
enum { CYCLE_V, CYCLE_W, CYCLE_F, CYCLE_FULL };
enum { START_ZERO, START_FULL };
enum {
  SMOOTHER_SCHWARZ = 4,
  SMOOTHER_PATCHES = 7,
  COARSE_AMG = 4,
  COARSE_CG = 5
}; // as in the table of options
enum { MAX_PARTS = 4096 };

typedef struct {
  const char *mesh, *ceed, *output, *picture, *save, *restart;
  double merge; // < 0: nothing is merged
  bool allow_cracks, ignore_periodic;
  int problem; // ProblemKind
  int order, refine, exact, max_it;
  ArgTexts bc, fixed, flux, robin, traction, source, force, coefficient, capacity, young, poisson, initial,
      probe, line, pressure;
  double lambda, tol;
  double time; // < 0: not given
  int steps, every, method;
  int law;                    // ProblemLaw, or CHOICE_AUTO
  int plane;                  // PLANE_STRAIN, PLANE_STRESS or CHOICE_AUTO
  int load_steps, newton_it;  // 0: not given
  int solver, preconditioner; // RitzSolverType, SolvePreconditioner, or CHOICE_AUTO
  int precision, levels, smoother, degree, cycle, start, coarse;
  int parts, gpus; // 0: not given
  int threads;     // of this process; of a part, when it runs
  bool jacobi, no_jacobi, verbose, reactions, axisymmetric;
} SolveOptions;

int solve_check_options(const SolveOptions *options);
const char *solve_problem_name(int problem);

// ---- Formulas ----

typedef enum {
  ROLE_BC,
  ROLE_FIXED,
  ROLE_FLUX,
  ROLE_ROBIN, // formulas: alpha, value
  ROLE_TRACTION,
  ROLE_PRESSURE,
  ROLE_SOURCE,
  ROLE_FORCE,
  ROLE_COEFFICIENT,
  ROLE_CAPACITY,
  ROLE_YOUNG,
  ROLE_POISSON,
  ROLE_INITIAL,
  NUM_ROLES
} SolveRole;

// A formula, or several for a vector, and where they come from.
typedef struct {
  SolveRole role;
  const char *option; // "--bc"
  char *name;         // owned: boundary part or region; NULL: everywhere
  const char *text;   // borrowed from argv, what follows the name; NULL: zero
  int num;            // of expr
  Expr *expr[3];      // owned
  int component;      // that is set; -1: all
  int32_t region;     // number of the region `name`, once the mesh is known
  // A coefficient that was not positive somewhere, or alpha of Robin's condition negative.
  bool has_fault;
  double fault, fault_x[3];
  double largest;  // that alpha has been
  char label[160]; // "--robin fins"
} Formula;

// A file of --save: what it begins with, words of 8 bytes.
typedef struct {
  char name[8];
  int64_t version, order, num_comp, space_dim, num_nodes, num_elem, num_vectors;
  uint64_t connections; // a hash of shapes and vertices of the elements
  double time, step;    // of heat, the step that led there; 0: none
} SolveStartHeader;

// What --restart has read.
typedef struct {
  SolveStartHeader header;
  double *words;       // owned: all of the file; NULL: there is none
  const double *x, *u; // in these: positions of the nodes, values
} SolveStart;

// Of multigrid of a nonlinear problem, 0 is the coarsest: the state has the values of the finer level's at
// its nodes.
typedef struct {
  CeedVector state;
  CeedOperator interpolate; // from the finer level; NULL on the finest, and in parts without elements
} SolveLevel;

typedef struct {
  const ArgCommand *command; // whose name messages about the mesh begin with
  SolveOptions options;
  const RitzTransport *base;      // borrowed: this is one of several parts; NULL: it is all there is
  RitzTransport between;          // owned: of parts on GPUs, on top of that
  const RitzTransport *transport; // one of the two, or NULL
  int device;                     // of this part; < 0: the one that --ceed names
  size_t num_formulas;
  Formula *formulas; // owned
  int num_threads;   // of the context
  Ceed ceed;         // owned, as all that follow
  RitzMesh mesh;
  CeedInt box_dim, box[3]; // elements of a box as it was asked for; box_dim 0: a file
  int num_halved;          // refinements that are no wish of the user's: of a box in parts
  CeedInt dim, space_dim;
  CeedInt num_materials;
  ProblemMaterial *materials;
  int32_t *material_regions; // what the materials point to
  bool is_nonlinear;
  char *conductivity; // in C, where it depends on u; NULL: it does not
  CeedInt num_robin;
  ProblemRobin *robin;
  Problem problem;
  CeedSize size; // of vectors: this part's unknowns and ghosts
  CeedInt num_fixed, num_held;
  RitzFixedPart *fixed; // [num_held]: parts with given values, then those with Robin's condition
  RitzIndices constraints;
  double num_unknowns, num_free; // of all parts
  ProblemModes modes;            // of no energy
  CeedVector u, rhs;
  SolveStart start;
  CeedVector mean_weights; // integrals of the basis functions, where u is known up to constants; else NULL
  // Of nonlinear problems: the Jacobian at the state, the state of the preconditioner, those of its levels.
  ProblemOperator jacobian;
  CeedQFunctionContext *followers; // of the formulas that are pressures, [num_formulas]; NULL: there are none
  CeedVector state, pc_state;
  CeedInt num_levels;
  SolveLevel *levels;          // [num_levels], the finest has `state`
  SolvePreconditioner pc_kind; // that was made
  bool has_stale_pc;           // for another state than that of a solve, once at least
  RitzPreconditioner pc;
  bool is_double;      // cycles of multigrid are, though nobody has asked for it
  CeedVector diagonal; // of Jacobi on all parts
  RitzSolver solver;
  double setup_start; // seconds of the clock
  bool is_open;       // all parts have agreed that they can begin
  bool has_told;      // why the command failed
} Solve;

// ---- solve-mesh.c ----
int solve_open_mesh(Solve *s);          // as it is in the file
int solve_divide_mesh(Solve *s);        // Ceed code: this part of it, refined
int solve_show_mesh(const Solve *s);    // Ceed code
int solve_show_regions(const Solve *s); // Ceed code
int solve_show_cracks(const Solve *s);  // Ceed code
// Why elements may be of less dimensions than the space.
const char *solve_explain_surface(const Solve *s);

// ---- solve-formulas.c ----
int solve_parse_formulas(Solve *s); // before the mesh is known
int solve_check_formulas(Solve *s); // boundary parts, regions, coordinates, components, solvability
void solve_free_formulas(Solve *s);
bool solve_has_role(const Solve *s, SolveRole role);
// The formula of this role that counts in elements of this number (RitzMeshGetElementRegions): the last one;
// NULL: there is none.
const Formula *solve_find_formula(const Solve *s, SolveRole role, int32_t number);
// A ProblemFunction whose ctx is a Formula, zero without expressions.
double solve_formula_value(const void *formula, const ProblemPoint *point, CeedInt component);
bool solve_depends_on_time(const Solve *s, SolveRole role);

// ---- solve-data.c ----
int solve_create_materials(Solve *s);                           // Ceed code
int solve_create_conductivity(Solve *s);                        // Ceed code: where it depends on u
int solve_create_robin(Solve *s);                               // Ceed code
int solve_list_fixed(Solve *s);                                 // Ceed code: which parts have given values
void solve_report_coefficients(const Solve *s, bool *reported); // why a coefficient was refused
int solve_set_boundary(Solve *s);      // Ceed code: values in u at the problem's time
int solve_check_robin(const Solve *s); // Ceed code: that alpha is not zero on a whole part
// Ceed code: the modes of no energy on a space; parts with Robin's condition hold as given values do.
int solve_create_modes(const Solve *s, const Problem *problem, RitzSpace space, ProblemModes *modes);
int solve_create_constraints(Solve *s);        // Ceed code: entries with given values, modes of no energy
int solve_add_loads(Solve *s, CeedVector rhs); // Ceed code: sources, fluxes, tractions
int solve_dot(const Solve *s, CeedVector x, CeedVector y, double *product); // Ceed code: of all parts
int solve_balance(Solve *s);     // Ceed code: loads without part in the modes, or it is said
int solve_set_initial(Solve *s); // Ceed code: u at the time where a solve begins
void solve_show_problem(const Solve *s);

// ---- solve-method.c ----
int solve_create_method(Solve *s); // Ceed code: preconditioner and solver
// Ceed code: after a solve for the right-hand side, which once more begins where a cycle in single precision
// has failed, with the operator `op`.
int solve_again_in_double(Solve *s, const ProblemOperator *op);
int solve_run(Solve *s, bool *converged);  // Ceed code: one solve, with progress and result
int solve_update_preconditioner(Solve *s); // Ceed code: for the values of the state

// ---- solve-newton.c ----
// Ceed code: where the solve begins, at the values of --restart, of heat at u, else at 0.
int solve_create_jacobian(Solve *s);
// Ceed codes: states on the levels of a hierarchy, and their values; the operator of a level at its state.
int solve_create_levels(Solve *s, RitzHierarchy hierarchy);
int solve_set_levels(Solve *s);
int solve_create_level_linear(Solve *s, CeedInt level, RitzSpace space, CeedOperator *op);
// The same in two operators, as problem_create_part_level.
int solve_create_part_level_linear(Solve *s, CeedInt level, RitzSpace space, CeedOperator *inside,
                                   CeedOperator *seam);
void solve_destroy_levels(Solve *s);
// Newton's method with the Jacobian and the linear solver of the problem.
typedef struct {
  Solve *solve;            // borrowed
  RitzNewton newton;       // owned
  CeedVector values;       // owned: at constrained entries
  const char *name;        // of `at` in a line for each step; NULL: there is none
  double at, norm, change; // norm: |F - b|; change: of the Jacobian since the preconditioner has its values
  CeedInt num_updates;
  double mark, updates, solves; // seconds: of the clock; new values of the preconditioner, linear solves
} SolveNewton;
int solve_create_newton(Solve *s, SolveNewton *newton); // Ceed code; s->solver is there
void solve_destroy_newton(SolveNewton *newton);
int solve_set_newton_tolerance(SolveNewton *newton, double atol); // Ceed code; the relative one is --tol
// The state is another one than the last step has left.
void solve_newton_jumps(SolveNewton *newton);
int solve_by_newton(Solve *s,
                    bool *converged); // Ceed code: from the state, to the loads in rhs and the values in u

// ---- solve-time.c ----
int solve_time_steps(Solve *s, bool *converged); // Ceed code

// ---- solve-parts.c ----
// Parts are processes where the program has started some: how many, and who runs a function in this one's
// part. device: that this process should take, of those of its machine; num_threads: its share of the
// machine's processors.
typedef struct {
  int num, device, num_threads;
  bool shares_devices; // some processes have to
  int (*run)(RitzPartFunction function, void *ctx);
  int (*agree)(int code); // the largest of all processes, whose message is told once
  void (*fail)(int part); // ends all
} SolveProcesses;
extern SolveProcesses solve_processes; // num 0: there are none
bool solve_has_processes(void);
int solve_count_parts(const SolveOptions *options);
int solve_threads_of_part(const SolveOptions *options, int num_parts);
int solve_in_parts(const SolveOptions *options, int num_parts); // an exit code
// A code that all parts have alike; what a part alone has found it says itself.
int solve_agree(Solve *s, int code);
// An exit code: files of the same name may be different ones on machines of several processes.
int solve_compare_meshes(Solve *s);
uint64_t solve_hash(uint64_t hash, const void *words, size_t num); // of words of 8 bytes, begins with 0
// Ceed code: of shapes and vertices of all elements, and of their positions.
int solve_hash_mesh(const Solve *s, bool has_positions, uint64_t *hash);
int solve_reduce(const Solve *s, RitzReduction kind, CeedInt num, double values[]); // Ceed code
int solve_check_modes(Solve *s);    // Ceed code: that modes of the whole mesh are not too many
int solve_check_smoother(Solve *s); // Ceed code: that the smoother serves the whole mesh
int solve_connect(Solve *s);        // Ceed code: GPUs of parts
bool solve_is_first(const Solve *s);

// ---- solve.c ----
int solve_with(int argc, char **argv); // the command, whose arguments name no files of others; an exit code
int solve_run_command(Solve *s, bool *converged); // what follows the check of the command line; an exit code
void solve_clean_up(Solve *s);

// ---- solve-output.c ----
int solve_show_errors(const Solve *s);                  // Ceed code
int solve_write_file(const Solve *s, const char *path); // Ceed code
// FILE.vtu of the picture FILE.png, for free(); NULL: it has another end.
char *solve_file_of_picture(const char *picture);
int solve_check_picture(const Solve *s); // that the mesh has something to draw; an exit code
int solve_draw(Solve *s); // the last file that was written; an exit code that all parts have alike

// ---- solve-save.c ----
int solve_read_start(Solve *s); // what --restart names, if it does; an exit code
double solve_start_time(const Solve *s);
int solve_check_start(Solve *s); // Ceed code: that it is of this mesh and order
// Ceed code: its values in v. number 1: those of the step before, where header.num_vectors is 2.
int solve_get_start(const Solve *s, int number, CeedVector v);
void solve_destroy_start(Solve *s);
// Ceed code: writes u, if --save is given, and that of the step before in time (NULL: there is none).
int solve_save(const Solve *s, double step, CeedVector before);

// ---- solve-values.c ----
int solve_check_points(const Solve *s);    // that --probe and --line are points of the space; an exit code
int solve_check_reactions(const Solve *s); // that some part has given values; an exit code
int solve_show_points(const Solve *s);     // Ceed code: the solution there
// Ceed code: what parts with given values give, of the system op u = rhs without its constraints.
int solve_show_reactions(Solve *s, const ProblemOperator *op);

#endif
