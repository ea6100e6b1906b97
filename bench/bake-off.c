// SPDX-License-Identifier: BSD-2-Clause
// `ritz bench`: the bake-off problems of bp/bp.h, or the solves of bench/nekbone.h, as a table, as JSON and
// as a plot, beside the limits of the machine.

#include <math.h>
#include <ritz/operator.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/driver.h"
#include "bench/nekbone.h"
#include "bench/plot.h"
#include "bench/solver.h"
#include "bp/bp.h"
#include "bp/report.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/single.h"
#include "cli/threads.h"

enum { POISSON, HELMHOLTZ, BOTH_PROBLEMS };
enum { DEFORMED, AFFINE, BOTH_MESHES };
enum { GAUSS, LOBATTO };
enum { STANDARD, MERGED, AUTO, BOTH_VARIANTS };
enum { F32, F64 };

typedef struct {
  ArgInts bp, orders, n, policies, components, rhs;
  double size, deform, lambda, rtol;
  bool apply, cg, nekbone, multigrid, batched, routes, jacobi;
  int shape, precision, problem, mesh, points, variant, max_it;
  BenchCommon common;
} BenchOptions;

// NaN and -1: not given; so are zeros of other members.
static const BenchOptions nothing_given = {.deform = NAN,
                                           .lambda = NAN,
                                           .rtol = NAN,
                                           .problem = -1,
                                           .mesh = -1,
                                           .points = -1,
                                           .variant = -1,
                                           .precision = -1,
                                           .common = {.on = {.resource = "/cpu/self"}}};

#define MEMBER(name) offsetof(BenchOptions, name)

static const ArgOption options_table[] = {
    ARG_OPTION("--bp", "LIST", ARG_INT_LIST, MEMBER(bp), BP_FIRST, BP_LAST,
               "problems, such as 1,3,5 or all (default all)"),
    ARG_WORDS("--shape", NULL, ARG_CHOICE, MEMBER(shape),
              "of the elements: hexahedra, or boxes cut into six tetrahedra,\ntwo prisms or six pyramids, "
              "BP1 to BP4 with points for degree\n2p (default hex)",
              "hex", "tet", "prism", "pyramid"),
    ARG_OPTION("--order", "LIST", ARG_INT_LIST, MEMBER(orders), 1, INFINITY,
               "polynomial degrees, such as 1,2,4 or 1-8 (default 1-8, with\n--nekbone 3-9)"),
    ARG_SIZE(MEMBER(size)),
    ARG_OPTION("--n", "LIST", ARG_INT_LIST, MEMBER(n), 1, INFINITY,
               "elements per direction instead of --size: one number for all\ndegrees, or one for each"),
    ARG_OPTION("--deform", "A", ARG_REAL, MEMBER(deform), -INFINITY, INFINITY,
               "amplitude of a smooth displacement of the vertices (default 0,\nwith --nekbone 0.1, on the "
               "deformed mesh)"),
    // in the order of RitzGeometryPolicy
    ARG_WORDS("--policy", "LIST", ARG_CHOICE_LIST, MEMBER(policies),
              "where geometric factors come from: stored,affine,trilinear\n(default stored; affine takes a "
              "sheared box); with --nekbone\nalso partial,merged,auto,isoparametric (default what fits "
              "the\nmesh; affine: on the affine mesh alone)",
              "auto", "stored", "affine", "trilinear", "partial", "merged", "isoparametric"),
    ARG_WORDS(
        "--precision", NULL, ARG_CHOICE, MEMBER(precision),
        "of the operator and all its vectors: float, or the library's\nown (default: that); applies alone",
        "f32", "f64"),
    ARG_OPTION("--rhs", "LIST", ARG_INT_LIST, MEMBER(rhs), 1, 64,
               "also apply to so many vectors at once, up to 8 numbers such as\n1,2,4,8: the rate per vector "
               "by that of one vector"),
    ARG_OPTION("--apply", NULL, ARG_FLAG, MEMBER(apply), 0, 0, "time the operator (default)"),
    ARG_OPTION("--cg", NULL, ARG_FLAG, MEMBER(cg), 0, 0,
               "time 20 iterations of conjugate gradients without\npreconditioner instead (--cg-variant); "
               "rates are per iteration"),
    ARG_OPTION("--reps", "N", ARG_INT, MEMBER(common.reps), 1, INFINITY,
               "measurements; the fastest counts, of devices the median\n(default: at least 5 and half a "
               "second, with --nekbone 2 and\na quarter)"),
    ARG_CEED(MEMBER(common.on.resource)),
    ARG_THREADS(MEMBER(common.on.wanted)),
    BENCH_JSON(MEMBER(common.json)),
    BENCH_PLOT(MEMBER(common.plot), "draw the results below the roofline of the machine"),
    ARG_OPTION("--nekbone", NULL, ARG_FLAG, MEMBER(nekbone), 0, 0,
               "solve problems with a known solution by conjugate gradients\ninstead; the options below are "
               "for it alone"),
    ARG_OPTION("--multigrid", NULL, ARG_FLAG, MEMBER(multigrid), 0, 0,
               "solve Poisson's problem by multigrid instead; it has options of\nits own: 'ritz bench "
               "--multigrid --help'"),
    ARG_OPTION(
        "--batched", NULL, ARG_FLAG, MEMBER(batched), 0, 0,
        "time batched dense algebra instead; it has options of its own:\n'ritz bench --batched --help'"),
    ARG_OPTION("--routes", NULL, ARG_FLAG, MEMBER(routes), 0, 0,
               "time the routes that operators on devices have instead; it has\noptions of its own: 'ritz "
               "bench --routes --help'"),
    ARG_WORDS("--problem", NULL, ARG_CHOICE, MEMBER(problem),
              "-div grad u = f, or -div grad u + lambda u = f (default both)", "poisson", "helmholtz",
              "both"),
    ARG_OPTION("--components", "LIST", ARG_INT_LIST, MEMBER(components), 1, 3,
               "of the solution (default 1,3)"),
    ARG_WORDS("--mesh", NULL, ARG_CHOICE, MEMBER(mesh), "trilinear elements, or a sheared box (default both)",
              "deformed", "affine", "both"),
    ARG_WORDS(
        "--points", NULL, ARG_CHOICE, MEMBER(points),
        "p+2 Gauss points per direction, or p+1 Gauss-Lobatto points,\nwhere the nodes are (default lobatto)",
        "gauss", "lobatto"),
    ARG_OPTION("--lambda", "X", ARG_REAL, MEMBER(lambda), 0, INFINITY,
               "coefficient > 0 of Helmholtz' problem (default 1)"),
    ARG_WORDS("--cg-variant", NULL, ARG_CHOICE, MEMBER(variant),
              "conjugate gradients by the book, or with their vector\nwork inside the operator (default "
              "auto); of --cg, too, but both",
              "standard", "merged", "auto", "both"),
    ARG_OPTION("--jacobi", NULL, ARG_FLAG, MEMBER(jacobi), 0, 0, "precondition with the diagonal"),
    ARG_OPTION("--rtol", "X", ARG_REAL, MEMBER(rtol), 0, INFINITY,
               "reduction of the residual where a solve ends (default 1e-10,\nin single precision 1e-5); 0: "
               "after --max-it"),
    ARG_OPTION("--max-it", "N", ARG_INT, MEMBER(max_it), 1, INFINITY, "iterations at most (default 1000)"),
};

const ArgCommand bake_off_command = {
    .name = "ritz bench",
    .description =
        "Times the bake-off problems on hexahedra: BP1, BP2 mass and BP3, BP4 diffusion with p+2 Gauss "
        "points\n"
        "per direction, BP5, BP6 diffusion with p+1 Gauss-Lobatto points; even ones have 3 components.\n"
        "With --nekbone: solves of Poisson's and Helmholtz' problem.",
    .notes =
        "MB and Mflop are the least that has to be moved and done: u once, v twice, factors and offsets;\n"
        "sum-factorized flops without the recomputation of geometry, which has a column of its own. Checks:\n"
        "what the operator does to constants and linear functions; with --nekbone: whether all policies and\n"
        "variants of a problem take as many iterations (up to 1 %) to the same error.\n\n"
        "100 % of the roofline is the time that the machine needs at least: the larger one of MB / "
        "bandwidth\n"
        "and all Mflop / peak, both measured once ('ritz info --measure' does it again), of devices each "
        "time.\n"
        "Where all MB fit into the processor's caches it is no limit, and 'cache' is shown for 'memory'.\n"
        "first, s: the first apply, in which kernels are compiled or loaded.\n\n"
        "--nekbone: the errors are those at the nodes, the norm is that of the mass operator. MDOF*it/s:\n"
        "degrees of freedom times iterations. in op: the time of as many applies alone, as a share of the\n"
        "solve's. MB and Mflop of an iteration: those of the apply and of the vectors, which the standard\n"
        "variant reads and writes 11 times more, the merged one 5 times. ratio: of the speed to that with\n"
        "stored factors.\n\n"
        "--cg: by the library's solver, all vectors where the operator computes.\n\n"
        "--precision f32: factors are computed in double and rounded. MB and the peak are those of float; "
        "of\n"
        "devices that peak is not measured, there the roofline is that of memory.\n\n"
        "Devices run on while the program does: batches of applies of 20 ms or more end with a norm of the\n"
        "output, which waits and is counted, less than 1 % of a batch.\n\n"
        "Exit status: 0 done; 1 failed, or a check failed; 2 wrong usage.",
    .examples = "ritz bench --bp all --order 1,2,4,7 --size 1e5\n"
                "ritz bench --bp 5 --policy stored,trilinear,affine --plot bp5.svg\n"
                "ritz bench --bp 1,3,5 --precision f32\n"
                "ritz bench --bp 5 --order 1-6 --rhs 1,2,4,8\n"
                "ritz bench --nekbone --problem poisson --components 1 --jacobi --cg-variant both\n"
                "ritz bench --ceed /gpu/cuda/shared --bp 1,3,5 --order 3,7 --n 67,29",
    .num_options = sizeof(options_table) / sizeof(options_table[0]),
    .options = options_table,
};

// In a float build everything is in float already.
static bool is_single(const BenchOptions *o) {
  return o->precision == F32 && sizeof(CeedScalar) != sizeof(float);
}
static int default_bps[] = {1, 2, 3, 4, 5, 6}, default_orders[] = {1, 2, 3, 4, 5, 6, 7, 8};
static int nekbone_orders[] = {3, 4, 5, 6, 7, 8, 9}, default_components[] = {1, 3};
static int default_policies[] = {RITZ_POLICY_STORED};

static Plot roofline_plot(const Bench *b, size_t num, const PlotPoint *points) {
  return (Plot){.bandwidth = b->machine.bandwidth, .peak = b->machine.peak, .num = num, .points = points};
}

// ---- Bake-off problems ----

typedef struct {
  ArgInts bps, policies, orders;
  BpMany many;
  size_t num_results;
  BpResult *results; // owned, [product of the lists' lengths]
} Series;

static CostGeometry geometry_of(int policy) {
  return policy == RITZ_POLICY_AFFINE      ? COST_AFFINE
         : policy == RITZ_POLICY_TRILINEAR ? COST_TRILINEAR
                                           : COST_STORED;
}

static CeedInt elements_of(const BenchOptions *o, size_t order) {
  return o->n.num ? o->n.items[o->n.num > 1 ? order : 0] : 0;
}

static CeedSize size_of_problem(const Bench *b) {
  const BenchOptions *o = b->options;

  return (CeedSize)(o->size > 0 ? o->size : cli_default_size(b->ceed));
}

static RitzCGVariant variant_of(int choice) {
  return choice == STANDARD ? RITZ_CG_STANDARD : choice == MERGED ? RITZ_CG_MERGED : RITZ_CG_AUTO;
}

// Runs a problem in all degrees; a row is printed as soon as it is there.
static int run_orders(const Bench *b, BpOptions bp, Series *series) {
  for (size_t i = 0; i < series->orders.num; i++) {
    BpResult *result = &series->results[series->num_results];

    bp.order = series->orders.items[i];
    bp.n = elements_of(b->options, i);
    CLI_TRY(bp_run(b->ceed, &bp, result));
    series->num_results++;
    bench_doubt_limits(result);
    if (!b->table) continue;
    bp_print_row(b->table, result);
  }
  return CEED_ERROR_SUCCESS;
}

static int run_series(const Bench *b, Series *series) {
  const BenchOptions *o = b->options;
  BpSolver solver = bench_solver;
  BpOptions bp = {.solver = &solver,
                  .many = o->rhs.num ? &series->many : NULL,
                  .shape = cli_shapes[o->shape],
                  .single = is_single(o) ? &cli_single : NULL,
                  .size = size_of_problem(b),
                  .mode = o->cg ? BP_CG : BP_APPLY,
                  .repetitions = o->common.reps,
                  .machine = b->machine};

  solver.variant = variant_of(o->variant);
  if (b->table) bp_print_heading(b->table, bp.mode);
  for (size_t i = 0; i < series->bps.num * series->policies.num; i++) {
    bp.bp = series->bps.items[i / series->policies.num];
    bp.geometry = geometry_of(series->policies.items[i % series->policies.num]);
    bp.deform = isnan(o->deform) ? 0 : o->deform;
    CLI_TRY(run_orders(b, bp, series));
  }
  return CEED_ERROR_SUCCESS;
}

static int plot_series(const Bench *b, const Series *series) {
  const BenchOptions *o = b->options;
  PlotPoint *points = calloc(series->num_results + 1, sizeof(*points));
  size_t num = 0;
  int code;

  if (!points) return cli_no_memory(bake_off_command.name);
  for (size_t i = 0; i < series->num_results; i++) {
    const BpResult *r = &series->results[i];
    PlotPoint *point = &points[num];
    if (!(r->seconds > 0)) continue;
    *point = (PlotPoint){
        .label = r->options.order, .x = r->costs.flops / r->costs.bytes, .y = r->costs.flops / r->seconds};
    if (r->bound == BP_BOUND_FLOPS && r->costs.recompute > 0)
      point->bound = r->costs.flops / r->seconds_bound;
    snprintf(point->group, PLOT_NAME, "BP%d", r->options.bp);
    snprintf(point->kind, PLOT_NAME, "%s", bp_geometry_name(r->options.geometry));
    num++;
  }
  code = bench_write_plot(b, o->cg ? "bake-off problems, conjugate gradients" : "bake-off problems",
                          is_single(o), roofline_plot(b, num, points));
  free(points);
  return code;
}

static int run_bps(const Bench *b) {
  const BenchOptions *o = b->options;
  Series series = {.bps = args_or_else(o->bp, o->shape == CLI_HEX ? BP_LAST : 4, default_bps),
                   .policies = args_or_else(o->policies, 1, default_policies),
                   .many = {RitzOperatorApplyMany, (int)o->rhs.num, o->rhs.items},
                   .orders = args_or_else(o->orders, sizeof(default_orders) / sizeof(int), default_orders)};
  int code = CLI_OK;

  series.results = calloc(series.bps.num * series.policies.num * series.orders.num, sizeof(*series.results));
  if (!series.results) return cli_no_memory(bake_off_command.name);
  if (run_series(b, &series)) code = cli_report(bake_off_command.name, b->ceed);
  for (size_t i = 0; i < series.num_results; i++) {
    bp_print_failed_checks(stderr, &series.results[i]);
    if (!bp_checks_hold(&series.results[i])) code = CLI_FAILED;
  }
  if (b->json)
    bp_write_json(b->json, bake_off_command.name, o->common.on.resource, series.num_results, series.results);
  if (b->plot && plot_series(b, &series)) code = CLI_FAILED;
  free(series.results);
  return code;
}

// ---- Nekbone ----

// Lists of a run; owned.
typedef struct {
  NekboneCase *cases;
  RitzGeometryPolicy *policies[2];
  RitzCGVariant variants[2];
  NekboneRow *rows;
  size_t num_rows;
} Nekbone;

static bool is_wanted(int choice, int which, int both) {
  return choice < 0 || choice == both || choice == which;
}

// One for each problem, number of components, mesh and degree.
static int list_cases(const Bench *b, Nekbone *nekbone, NekboneOptions *options) {
  const BenchOptions *o = b->options;
  ArgInts orders = args_or_else(o->orders, sizeof(nekbone_orders) / sizeof(int), nekbone_orders);
  ArgInts components = args_or_else(o->components, 2, default_components);

  nekbone->cases = calloc(4 * components.num * orders.num, sizeof(*nekbone->cases));
  if (!nekbone->cases) return cli_no_memory(bake_off_command.name);
  options->cases = nekbone->cases;
  for (size_t i = 0; i < 4 * components.num * orders.num; i++) {
    size_t order = i % orders.num, rest = i / orders.num;
    bool helmholtz = rest / 2 / components.num, affine = rest % 2;
    if (!is_wanted(o->problem, helmholtz ? HELMHOLTZ : POISSON, BOTH_PROBLEMS)) continue;
    if (!is_wanted(o->mesh, affine ? AFFINE : DEFORMED, BOTH_MESHES)) continue;
    nekbone->cases[options->num_cases++] = (NekboneCase){
        .helmholtz = helmholtz,
        .affine = affine,
        .num_comp = components.items[rest / 2 % components.num],
        .order = orders.items[order],
        .n = elements_of(o, order),
        .size = size_of_problem(b),
        .quad_mode = o->points == GAUSS ? CEED_GAUSS : CEED_GAUSS_LOBATTO,
        .lambda = isnan(o->lambda) ? 1 : o->lambda,
        .deform = isnan(o->deform) ? 0.1 : o->deform,
    };
  }
  return CLI_OK;
}

static int policies_deformed[] = {RITZ_POLICY_STORED, RITZ_POLICY_TRILINEAR, RITZ_POLICY_MERGED,
                                  RITZ_POLICY_AUTO};
static int policies_affine[] = {RITZ_POLICY_STORED, RITZ_POLICY_TRILINEAR, RITZ_POLICY_AFFINE,
                                RITZ_POLICY_AUTO};

// The stored policy comes first, so that the others can be compared with it.
static int list_policies(const BenchOptions *o, Nekbone *nekbone, NekboneOptions *options) {
  for (int affine = 0; affine < 2; affine++) {
    ArgInts list = args_or_else(o->policies, 4, affine ? policies_affine : policies_deformed);
    RitzGeometryPolicy *policies = calloc(list.num, sizeof(*policies));
    size_t num = 0;

    if (!policies) return cli_no_memory(bake_off_command.name);
    for (int others = 0; others < 2; others++) {
      for (size_t i = 0; i < list.num; i++) {
        if (list.items[i] == RITZ_POLICY_AFFINE && !affine) continue;
        if ((list.items[i] != RITZ_POLICY_STORED) == others)
          policies[num++] = (RitzGeometryPolicy)list.items[i];
      }
    }
    nekbone->policies[affine] = policies;
    options->policies[affine] = policies;
    options->num_policies[affine] = num;
  }
  return CLI_OK;
}

static void list_variants(int choice, Nekbone *nekbone, NekboneOptions *options) {
  RitzCGVariant *variants = nekbone->variants;

  options->variants = variants;
  if (choice == BOTH_VARIANTS) variants[options->num_variants++] = RITZ_CG_STANDARD;
  variants[options->num_variants++] = choice == BOTH_VARIANTS ? RITZ_CG_MERGED : variant_of(choice);
}

static void print_bench_row(void *ctx, const NekboneRow *row) {
  const Bench *b = ctx;

  if (b->table) nekbone_print_row(b->table, row);
}

static int plot_nekbone(const Bench *b, const Nekbone *nekbone) {
  const BenchOptions *o = b->options;
  PlotPoint *points = calloc(nekbone->num_rows + 1, sizeof(*points));
  char what[80];
  int code;

  if (!points) return cli_no_memory(bake_off_command.name);
  snprintf(what, sizeof(what), "conjugate gradients%s", o->jacobi ? " with Jacobi's preconditioner" : "");
  code = bench_write_plot(b, what, is_single(o),
                          roofline_plot(b, nekbone_plot_points(nekbone->num_rows, nekbone->rows, points),
                                        points));
  free(points);
  return code;
}

static int run_cases(Bench *b, const NekboneOptions *options, Nekbone *nekbone) {
  int code = CLI_OK;

  nekbone->rows = calloc(nekbone_count_rows(options) + 1, sizeof(*nekbone->rows));
  if (!nekbone->rows) return cli_no_memory(bake_off_command.name);
  if (b->table) nekbone_print_heading(b->table);
  if (nekbone_run(b->ceed, options, print_bench_row, b, nekbone->rows, &nekbone->num_rows))
    code = cli_report(bake_off_command.name, b->ceed);
  for (size_t i = 0; i < nekbone->num_rows; i++) {
    nekbone_print_fault(stderr, &nekbone->rows[i]);
    if (*nekbone->rows[i].fault) code = CLI_FAILED;
  }
  if (b->json)
    nekbone_write_json(b->json, bake_off_command.name, b->common->on.resource, &b->machine, nekbone->num_rows,
                       nekbone->rows);
  if (b->plot && plot_nekbone(b, nekbone)) code = CLI_FAILED;
  return code;
}

static int run_nekbone(Bench *b) {
  const BenchOptions *o = b->options;
  double rtol = sizeof(CeedScalar) == sizeof(float) ? 1e-5 : 1e-10;
  NekboneOptions options = {.jacobi = o->jacobi,
                            .rtol = isnan(o->rtol) ? rtol : o->rtol,
                            .max_it = o->max_it ? o->max_it : 1000,
                            .repetitions = o->common.reps,
                            .machine = b->machine};
  Nekbone nekbone = {0};
  int code;

  list_variants(o->variant, &nekbone, &options);
  code = list_cases(b, &nekbone, &options);
  if (!code) code = list_policies(o, &nekbone, &options);
  if (!code) code = run_cases(b, &options, &nekbone);
  free(nekbone.cases);
  free(nekbone.policies[0]);
  free(nekbone.policies[1]);
  free(nekbone.rows);
  return code;
}

// ---- Options ----

// An option of `ritz bench --nekbone` that was given, or NULL.
static const char *find_nekbone_option(const BenchOptions *o) {
  return o->problem >= 0     ? "--problem"
         : o->components.num ? "--components"
         : o->mesh >= 0      ? "--mesh"
         : o->points >= 0    ? "--points"
         : !isnan(o->lambda) ? "--lambda"
         : o->jacobi         ? "--jacobi"
         : !isnan(o->rtol)   ? "--rtol"
         : o->max_it         ? "--max-it"
                             : NULL;
}

static bool has_policy(const BenchOptions *o, RitzGeometryPolicy policy) {
  for (size_t i = 0; i < o->policies.num; i++) {
    if (o->policies.items[i] == (int)policy) return true;
  }
  return false;
}

static ArgsResult check_bp_options(const BenchOptions *o) {
  const char *option = find_nekbone_option(o);

  if (option) return args_wrong(&bake_off_command, option, "only with --nekbone");
  if (o->variant == BOTH_VARIANTS || (o->variant >= 0 && !o->cg))
    return args_wrong(&bake_off_command, "--cg-variant",
                      o->cg ? "both only with --nekbone" : "only with --nekbone or --cg");
  for (size_t i = 0; i < o->policies.num; i++) {
    int policy = o->policies.items[i];
    if (geometry_of(policy) == COST_STORED && policy != RITZ_POLICY_STORED)
      return args_wrong(&bake_off_command, "--policy", "%s only with --nekbone",
                        RitzGeometryPolicyName((RitzGeometryPolicy)policy));
  }
  if (has_policy(o, RITZ_POLICY_AFFINE) && !isnan(o->deform) && o->deform != 0)
    return args_wrong(&bake_off_command, "--policy", "affine contradicts --deform");
  for (size_t i = 0; i < o->bp.num; i++) {
    if (o->shape != CLI_HEX && o->bp.items[i] > 4)
      return args_wrong(&bake_off_command, "--bp", "of other shapes than hex expected 1 to 4, found %d",
                        o->bp.items[i]);
  }
  if (o->apply && o->cg) return args_wrong(&bake_off_command, "--apply", "contradicts --cg");
  if (o->rhs.num && o->cg) return args_wrong(&bake_off_command, "--rhs", "contradicts --cg");
  if (o->rhs.num > BP_MAX_MANY)
    return args_wrong(&bake_off_command, "--rhs", "expected at most %d numbers, found %zu", BP_MAX_MANY,
                      o->rhs.num);
  if (o->precision == F64 && sizeof(CeedScalar) == sizeof(float))
    return args_wrong(&bake_off_command, "--precision",
                      "f64 only in a library of double, this one is of float");
  if (is_single(o) && o->cg) return args_wrong(&bake_off_command, "--precision", "f32 contradicts --cg");
  return ARGS_RUN;
}

static ArgsResult check_nekbone_options(const BenchOptions *o) {
  const char *option = o->bp.num             ? "--bp"
                       : o->shape != CLI_HEX ? "--shape"
                       : o->rhs.num          ? "--rhs"
                       : o->apply            ? "--apply"
                       : o->cg               ? "--cg"
                       : o->precision >= 0   ? "--precision"
                                             : NULL;

  if (option) return args_wrong(&bake_off_command, option, "contradicts --nekbone");
  if (o->lambda == 0) return args_wrong(&bake_off_command, "--lambda", "expected a number > 0, found '0'");
  if (o->mesh == DEFORMED && has_policy(o, RITZ_POLICY_AFFINE))
    return args_wrong(&bake_off_command, "--policy", "affine contradicts --mesh deformed");
  return ARGS_RUN;
}

static ArgsResult check_bench_options(const void *options) {
  const BenchOptions *o = options;
  const size_t usual = (o->nekbone ? sizeof(nekbone_orders) : sizeof(default_orders)) / sizeof(int);
  const size_t num_orders = o->orders.num ? o->orders.num : usual;
  ArgsResult result = o->nekbone ? check_nekbone_options(o) : check_bp_options(o);

  if (result != ARGS_RUN) return result;
  if (o->size > INT32_MAX)
    return args_wrong(&bake_off_command, "--size", "expected at most %d DOFs, found %g", INT32_MAX, o->size);
  if (o->n.num && o->size > 0) return args_wrong(&bake_off_command, "--n", "contradicts --size");
  if (o->n.num > 1 && o->n.num != num_orders)
    return args_wrong(&bake_off_command, "--n", "expected 1 or %zu numbers, one for each degree, found %zu",
                      num_orders, o->n.num);
  return ARGS_RUN;
}

// ---- The command ----

static int run_bake_off(Bench *b) {
  const BenchOptions *o = b->options;

  bench_find_limits(b, is_single(o));
  return o->nekbone ? run_nekbone(b) : run_bps(b);
}

int bench_bake_off(int argc, char **argv) {
  static const BenchCommand bench = {
      &bake_off_command,   &nothing_given, sizeof(nothing_given), MEMBER(common), 0,
      check_bench_options, run_bake_off};

  return bench_main(&bench, argc, argv);
}
