// SPDX-License-Identifier: BSD-2-Clause
// The options of `ritz solve`, their help, and which of them fit together.
#include <math.h>
#include <ritz/device.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve.h"
#include "cli/threads.h"

// A step of these polynomials applies the operator once: beyond, a typing mistake.
enum { MAX_POLYNOMIAL_DEGREE = 100000 };

#define MEMBER(name) offsetof(SolveOptions, name)
#define LIST(name, value, help, member)                                                                      \
  {                                                                                                          \
    name, value, help, ARG_TEXT_LIST, MEMBER(member), 0, 0, { NULL }                                         \
  }
#define TEXT(name, value, help, member)                                                                      \
  {                                                                                                          \
    name, value, help, ARG_TEXT, MEMBER(member), 0, 0, { NULL }                                              \
  }
#define FLAG(name, help, member)                                                                             \
  {                                                                                                          \
    name, NULL, help, ARG_FLAG, MEMBER(member), 0, 0, { NULL }                                               \
  }
#define INTEGER(name, help, member, least)                                                                   \
  {                                                                                                          \
    name, "N", help, ARG_INT, MEMBER(member), least, INFINITY, { NULL }                                      \
  }
#define REAL(name, value, help, member)                                                                      \
  {                                                                                                          \
    name, value, help, ARG_REAL, MEMBER(member), 0, INFINITY, { NULL }                                       \
  }
#define CHOICE(name, help, member, ...)                                                                      \
  {                                                                                                          \
    name, NULL, help, ARG_CHOICE, MEMBER(member), 0, 0, { __VA_ARGS__, NULL }                                \
  }

static const ArgOption options_table[] = {
    CHOICE("--problem", "what is solved, see below (default poisson)", problem, "poisson", "mass",
           "helmholtz", "heat", "elasticity", "hyperelasticity"),
    ARG_OPTION("--order", "P", ARG_INT, MEMBER(order), 1, INFINITY,
               "polynomial degree (default 2): --order 4"),
    INTEGER("--refine",
            "split every element into 2^dim of its shape (pyramids into 6, and\n4 tetrahedra), N times: "
            "--refine 1",
            refine, 0),
    ARG_OPTION("--merge", "DISTANCE", ARG_REAL, MEMBER(merge), 0, INFINITY,
               "vertices of the file at most this far apart become one: --merge 1e-6"),
    FLAG("--allow-cracks",
         "go on where elements of the file meet without sharing vertices\n(hanging nodes, parts that were "
         "not merged)",
         allow_cracks),
    FLAG("--ignore-periodic", "nodes that $Periodic of the file (Gmsh) makes one stay apart",
         ignore_periodic),
    LIST("--bc", "NAME=EXPR",
         "value of u on a boundary part; may be repeated, the later one\ncounts where parts meet; the part "
         "\"all\" is all of the boundary;\nparts without value have a vanishing flux: --bc base=100; of\n"
         "elasticity the displacement: --bc base=0,0,x/100",
         bc),
    LIST("--fixed", "NAME[.x|.y|.z]",
         "no displacement on a boundary part, or in one direction alone:\n--fixed base --fixed sides.z",
         fixed),
    LIST("--flux", "NAME=EXPR",
         "k times the normal derivative on a part, positive: what flows in:\n--flux fins=20", flux),
    LIST("--robin", "NAME=ALPHA,VALUE",
         "on a part k times the normal derivative is alpha (value - u):\n--robin fins=25,20", robin),
    LIST("--traction", "NAME=EXPR,..",
         "force per area on a part, as many formulas as dimensions:\n--traction inlet=0,0,-1e6", traction),
    LIST("--pressure", "NAME=EXPR", "force per area against the normal of a part: --pressure inner=1e5",
         pressure),
    LIST("--source", "[REGION=]EXPR",
         "right-hand side f (default 0), also for one region of the mesh\nalone: --source aluminium=1e6",
         source),
    LIST("--force", "[REGION=]EXPR,..", "force per volume: --force 0,0,-9.81*2700", force),
    LIST("--coefficient", "[REGION=]EXPR",
         "k (default 1), positive, also of u: --coefficient 1+u^2\n--coefficient copper=400", coefficient),
    REAL("--lambda", "VALUE", "lambda of helmholtz (default 1): --lambda 667", lambda),
    LIST("--capacity", "[REGION=]EXPR", "c of heat (default 1): --capacity 2.4e6", capacity),
    LIST("--young", "[REGION=]VALUE", "Young's modulus (default 1): --young 70e9", young),
    LIST("--poisson", "[REGION=]VALUE", "Poisson's ratio (default 0.3): --poisson steel=0.29", poisson),
    CHOICE("--plane",
           "bodies of plane meshes have no strain, or no stress, across the plane\n(default strain): "
           "--plane stress",
           plane, "strain", "stress"),
    FLAG("--axisymmetric",
         "the mesh, in x >= 0 of the plane, is a section of a body of revolution\nabout x = 0: x is the "
         "radius, y the axis; integrals are over all of it",
         axisymmetric),
    CHOICE("--material", "law of hyperelasticity (default neo-hookean): --material neo-hookean", law,
           "neo-hookean", "saint-venant-kirchhoff"),
    INTEGER("--load-steps",
            "steady nonlinear problems: loads and given values grow in so many\n"
            "steps (default 1), shorter ones where these fail: --load-steps 10",
            load_steps, 1),
    INTEGER("--newton-it", "limit of Newton's steps in a step of load or time (default 30):\n--newton-it 50",
            newton_it, 1),
    REAL("--time", "T", "heat: from 0, or the time of --restart, to this one: --time 10", time),
    INTEGER("--steps", "heat: in so many steps (default 10): --steps 100", steps, 1),
    CHOICE("--method", "of time steps (default bdf2): --method implicit-euler", method, "implicit-euler",
           "bdf2"),
    LIST("--initial", "EXPR", "heat: u at time 0 (default 0): --initial 20", initial),
    CHOICE(
        "--exact",
        "choose f and the values on all of the boundary so that u is the\nproduct of sin(pi x), sin(pi y), "
        "sin(pi z), in every component, for\nheat times exp(-t); print the errors: --exact sine",
        exact, "sine"),
    TEXT("--ceed", "RESOURCE", "backend, see 'ritz info' (default /cpu/self): --ceed /gpu/cuda", ceed),
    ARG_THREADS(MEMBER(threads)),
    ARG_OPTION("--parts", "N", ARG_INT, MEMBER(parts), 1, MAX_PARTS,
               "parts of the mesh, each with a backend and an equal share of the\nthreads of its own; "
               "--output gets a piece from each: --parts 4"),
    ARG_OPTION("--gpus", "N", ARG_INT, MEMBER(gpus), 1, MAX_PARTS,
               "the same on the first N GPUs (default --ceed /gpu/cuda), which\nexchange by NCCL where it is "
               "found: --gpus 2"),
    REAL("--tol", "T", "reduction of the residual to reach (default 1e-10): --tol 1e-6", tol),
    INTEGER("--max-it", "limit of iterations (default 10000): --max-it 50", max_it, 0),
    CHOICE("--solver",
           "method (default cg, or fcg, flexible, where the preconditioner is\nnot one fixed symmetric "
           "matrix): --solver minres",
           solver, "cg", "fcg", "minres", "gmres", "fgmres", "chebyshev", "richardson"),
    CHOICE("--preconditioner", "(default multigrid; for mass jacobi): --preconditioner chebyshev",
           preconditioner, "none", "jacobi", "point-jacobi", "chebyshev", "schwarz", "multigrid"),
    CHOICE(
        "--precision",
        "of multigrid (default auto: f32; f64 where coefficients differ by\nmore than 1e5): --precision f64",
        precision, "f64", "f32", "auto"),
    CHOICE(
        "--levels",
        "of multigrid: degrees P, P/2 .. 1 of one mesh, coarser meshes, or\nboth (default auto): --levels hp",
        levels, "auto", "p", "h", "hp"),
    CHOICE("--smoother",
           "of multigrid, all but patches under Chebyshev polynomials (default\nauto, which says what it "
           "takes, and why): --smoother overlapped",
           smoother, "auto", "jacobi", "point-jacobi", "point-blocks", "schwarz", "overlapped",
           "additive-patches", "patches"),
    ARG_OPTION("--degree", "N", ARG_INT, MEMBER(degree), 1, MAX_POLYNOMIAL_DEGREE,
               "of these polynomials (default 2 with Schwarz, else 3;\nelasticity 5; jumps within elements "
               "6): --degree 2"),
    CHOICE("--cycle", "of multigrid (default v): --cycle w", cycle, "v", "w", "f", "full"),
    CHOICE("--start",
           "of multigrid: the first step of a solve by full multigrid, cycles\nfollow (default zero): "
           "--start full --solver richardson",
           start, "zero", "full"),
    CHOICE("--coarse", "solver of the coarsest level (default auto): --coarse cholmod", coarse, "auto",
           "dense", "cholmod", "umfpack", "amg", "cg"),
    FLAG("--jacobi", "the same as --preconditioner jacobi", jacobi),
    FLAG("--no-jacobi", "the same as --preconditioner none", no_jacobi),
    TEXT("--output", "FILE.vtu",
         "write the solution for ParaView; of heat a series and FILE.pvd:\n--output heat.vtu", output),
    TEXT("--picture", "FILE.png",
         "draw the solution, of heat the last step, as 'ritz picture' does from\n--output (default: FILE.vtu "
         "beside "
         "it): --picture heat.png",
         picture),
    TEXT("--save", "FILE", "write the solution for --restart, of heat the last two steps:\n--save heat.end",
         save),
    TEXT("--restart", "FILE",
         "go on from a file of --save, of the same mesh and order: with heat\n"
         "from its time to --time, with other nonlinear problems as the first\n"
         "guess: --restart heat.end --time 20",
         restart),
    LIST("--probe", "X,Y,Z",
         "print the solution at a point, of heat at the last time; may be\nrepeated: --probe 0.1,0.2,0",
         probe),
    LIST("--line", "FROM:TO:N",
         "print the solution at N points from one point to another, as\ncomma-separated values: --line "
         "0,0,0:1,0,0:101",
         line),
    FLAG("--reactions", "print the force, or the flux, of each part with given values", reactions),
    INTEGER("--every", "of a series: every N-th step (default 1): --every 10", every, 1),
    FLAG("--verbose", "show all of the preconditioner", verbose),
};

_Static_assert(sizeof(options_table) / sizeof(options_table[0]) <= ARG_MAX_OPTIONS,
               "args.c has room for them");

const ArgCommand solve_command = {
    .name = "ritz solve",
    .operand = "MESH",
    .operand_offset = MEMBER(mesh),
    .description =
        "Solves a boundary value problem by finite elements. MESH is a file (Gmsh .msh, MFEM .mesh) of\n"
        "lines, triangles and quadrilaterals, or tetrahedra, pyramids, prisms and hexahedra, also\n"
        "together, or a unit box of elements: box:8, box:8x8 or box:8x8x8.\n\n"
        "  poisson     -div k grad u = f\n"
        "  helmholtz   -div k grad u + lambda u = f\n"
        "  mass        u = f, projected\n"
        "  heat        c du/dt - div k grad u = f\n"
        "  elasticity  -div sigma(u) = f, isotropic, in the plane without strain across it\n"
        "  hyperelasticity  the same with large displacements: -div P(u) = f, loads of the undeformed body",
    .notes =
        "Quadrature: P+2 Gauss points per direction on lines, quadrilaterals and hexahedra; rules that are\n"
        "exact to degree 2P+1 in meshes with other shapes.\n\n"
        "NAME, REGION: as 'ritz info MESH' lists them; in quotation marks with = inside, \"\" for a mark:\n"
        "--bc '\"a = b\"=1'. Elements belong to all of their regions; the later value counts.\n\n"
        "EXPR: numbers, x y z pi, for heat t, for --coefficient u, for --flux, --robin, --traction and\n"
        "--pressure the outward normal nx ny nz; + - * / ^ ( ), where ^ binds strongest and to the right,\n"
        "then unary minus: -2^2 = -4, 2^3^2 = 2^9;\n"
        "conditions < <= > >= == != && || !, a ? b : c or if(a, b, c); sin cos tan asin acos\n"
        "atan sinh cosh tanh exp log log2 log10 sqrt cbrt abs floor ceil round erf, of two arguments\n"
        "atan2 pow hypot fmod, of two or more min max.\n\n"
        "@FILE stands for the words in a file, as they would be on the command line; # begins remarks:\n"
        "ritz solve @case.txt --order 4\n\n"
        "Exit status: 0 converged; 1 failed or not converged; 2 wrong usage.\n\n"
        "Meshes: share/ritz/examples/meshes beside the folder of the program, examples/meshes of the "
        "sources.",
    .examples =
        "ritz solve box:8x8x8 --exact sine --order 3\n"
        "ritz solve heat-sink.msh --order 4 --bc base=100 --bc fins=20 --output heat.vtu\n"
        "ritz solve pipe-elbow.msh --problem elasticity --order 3 --fixed inlet --traction outlet=0,0,1",
    .num_options = sizeof(options_table) / sizeof(options_table[0]),
    .options = options_table,
};

const char *solve_problem_name(int problem) { return options_table[0].choices[problem]; }

// ---- What fits together ----

// Tables of a basis grow with the square of the degree: far beyond what is useful, a typing mistake.
enum { MAX_ORDER = 1000 };

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text), m = strlen(end);
  return n > m && !strcmp(text + n - m, end);
}

// The option that --exact takes the place of, NULL: none is given.
static const char *option_of_data(const SolveOptions *o) {
  return o->source.num        ? "--source"
         : o->bc.num          ? "--bc"
         : o->force.num       ? "--force"
         : o->fixed.num       ? "--fixed"
         : o->flux.num        ? "--flux"
         : o->robin.num       ? "--robin"
         : o->traction.num    ? "--traction"
         : o->coefficient.num ? "--coefficient"
         : o->capacity.num    ? "--capacity"
         : o->initial.num     ? "--initial"
                              : NULL;
}

static ArgsResult check_law(const SolveOptions *o) {
  if (o->plane != CHOICE_AUTO && !problem_is_elastic((ProblemKind)o->problem))
    return args_wrong(&solve_command, "--plane", "only with --problem elasticity or hyperelasticity");
  if (o->plane != CHOICE_AUTO && o->axisymmetric)
    return args_wrong(&solve_command, "--plane", "contradicts --axisymmetric");
  if (o->plane == PLANE_STRESS && o->problem == PROBLEM_HYPERELASTICITY)
    return args_wrong(&solve_command, "--plane", "hyperelasticity has no strain across the plane");
  if (o->problem == PROBLEM_HYPERELASTICITY)
    return o->exact != EXACT_NONE
               ? args_wrong(&solve_command, "--exact", "not with --problem hyperelasticity")
               : ARGS_RUN;
  return o->law != CHOICE_AUTO
             ? args_wrong(&solve_command, "--material", "only with --problem hyperelasticity")
             : ARGS_RUN;
}

static ArgsResult check_time(const SolveOptions *o) {
  if (o->problem == PROBLEM_HEAT) {
    if (o->time > 0) return ARGS_RUN;
    return args_wrong(&solve_command, "--time",
                      "heat needs the time to reach, such as --time 1 (a steady state is poisson)");
  }
  if (o->time >= 0) return args_wrong(&solve_command, "--time", "only with --problem heat");
  if (o->steps) return args_wrong(&solve_command, "--steps", "only with --problem heat");
  if (o->method != CHOICE_AUTO) return args_wrong(&solve_command, "--method", "only with --problem heat");
  if (o->every) return args_wrong(&solve_command, "--every", "only with --problem heat");
  return ARGS_RUN;
}

// The first option that problems in parts do not have (ritz/exchange.h); NULL: none.
static const char *option_beyond_parts(const SolveOptions *o) {
  const bool has_preconditioner = o->preconditioner == CHOICE_AUTO || o->preconditioner == PC_NONE ||
                                  o->preconditioner == PC_JACOBI || o->preconditioner == PC_MULTIGRID;
  const bool has_smoother = o->smoother <= SMOOTHER_SCHWARZ || o->smoother == SMOOTHER_PATCHES;

  return !has_preconditioner                              ? "--preconditioner"
         : !has_smoother                                  ? "--smoother"
         : o->cycle != CHOICE_AUTO && o->cycle != CYCLE_V ? "--cycle"
         : o->start == START_FULL                         ? "--start"
         : o->coarse == COARSE_AMG                        ? "--coarse"
                                                          : NULL;
}

// NVIDIA's.
static int num_gpus(void) {
  CeedInt num_drivers = 0;
  RitzDriverFacts facts;

  RitzDeviceGetNumDrivers(&num_drivers);
  for (CeedInt i = 0; i < num_drivers; i++) {
    if (!RitzDeviceGetDriver(i, &facts) && !strcmp(facts.name, "cuda")) return facts.num_devices;
  }
  return 0;
}

static ArgsResult check_parts(const SolveOptions *o) {
  const char *option = option_beyond_parts(o);

  if (o->parts && o->gpus) return args_wrong(&solve_command, "--gpus", "contradicts --parts");
  if ((o->parts || o->gpus) && solve_has_processes())
    return args_wrong(&solve_command, o->gpus ? "--gpus" : "--parts",
                      "parts are the processes that mpiexec has started");
  if (o->gpus && strncmp(o->ceed, "/gpu/cuda", 9) != 0)
    return args_wrong(&solve_command, "--gpus", "needs a backend below /gpu/cuda, found --ceed %s", o->ceed);
  if (o->gpus && strstr(o->ceed, ":device_id="))
    return args_wrong(&solve_command, "--gpus",
                      "takes the first ones itself, leave out :device_id= in --ceed");
  if (o->gpus && o->gpus > num_gpus())
    return args_wrong(&solve_command, "--gpus", "expected at most as many as there are, %d, found %d",
                      num_gpus(), o->gpus);
  if (solve_count_parts(o) > 1 && option)
    return args_wrong(
        &solve_command, option,
        "parts have multigrid with --smoother jacobi, point-blocks, schwarz or patches, --cycle v "
        "and --coarse other than amg, or jacobi");
  return ARGS_RUN;
}

static ArgsResult check_restart(const SolveOptions *o) {
  const char *option = o->restart ? "--restart" : o->save ? "--save" : NULL;

  if (option && solve_count_parts(o) > 1)
    return args_wrong(&solve_command, option, "solutions are saved in one part alone, found %d",
                      solve_count_parts(o));
  if (o->restart && o->initial.num)
    return args_wrong(&solve_command, "--initial",
                      "not with --restart, whose file has the values to begin with");
  if (o->restart && o->load_steps)
    return args_wrong(&solve_command, "--load-steps",
                      "not with --restart, whose file is a guess at all of the load");
  return ARGS_RUN;
}

// Options of multigrid without multigrid, and other contradictions.
static ArgsResult check_method(const SolveOptions *o) {
  const int pc = o->preconditioner;
  const bool is_multigrid =
      pc == PC_MULTIGRID || (pc == CHOICE_AUTO && !o->jacobi && !o->no_jacobi && o->problem != PROBLEM_MASS);
  const char *option = o->precision != CHOICE_AUTO  ? "--precision"
                       : o->levels != CHOICE_AUTO   ? "--levels"
                       : o->smoother != CHOICE_AUTO ? "--smoother"
                       : o->cycle != CHOICE_AUTO    ? "--cycle"
                       : o->start != CHOICE_AUTO    ? "--start"
                       : o->coarse != CHOICE_AUTO   ? "--coarse"
                                                    : NULL;

  if (o->jacobi && o->no_jacobi) return args_wrong(&solve_command, "--jacobi", "contradicts --no-jacobi");
  if (o->jacobi && pc != CHOICE_AUTO && pc != PC_JACOBI)
    return args_wrong(&solve_command, "--jacobi", "contradicts --preconditioner");
  if (o->no_jacobi && pc != CHOICE_AUTO && pc != PC_NONE)
    return args_wrong(&solve_command, "--no-jacobi", "contradicts --preconditioner");
  if (!is_multigrid && option)
    return args_wrong(&solve_command, option, "only with --preconditioner multigrid");
  if (o->degree && !is_multigrid && pc != PC_CHEBYSHEV)
    return args_wrong(&solve_command, "--degree", "only with --preconditioner multigrid or chebyshev");
  return ARGS_RUN;
}

// Checks the file of the output; for a series and for parts the one that names the others, which get longer
// names in the same folder.
static int check_output(const SolveOptions *o) {
  const bool is_series = o->problem == PROBLEM_HEAT;
  const char *end = is_series ? ".pvd" : solve_count_parts(o) > 1 ? ".pvtu" : ".vtu";
  const size_t stem = strlen(o->output) - strlen(".vtu"), size = stem + sizeof(".pvtu");
  char *path = malloc(size);

  if (!path) return cli_no_memory(solve_command.name);
  snprintf(path, size, "%.*s%s", (int)stem, o->output, end);
  const int code = cli_check_file(solve_command.name, "--output", path, !is_series);
  free(path);
  return code;
}

int solve_check_options(const SolveOptions *o) {
  ArgsResult result = ARGS_RUN;
  char shown[ARG_SHOWN];

  if (o->exact != EXACT_NONE && option_of_data(o)) {
    result = args_wrong(&solve_command, "--exact", "sets the source and all values itself, leave out %s",
                        option_of_data(o));
  } else if (o->order > MAX_ORDER) {
    result = args_wrong(&solve_command, "--order", "expected at most %d, found %d", MAX_ORDER, o->order);
  } else if (o->output && !ends_with(o->output, ".vtu")) {
    result = args_wrong(&solve_command, "--output", "expected a file name that ends in .vtu, found '%s'",
                        args_shown(o->output, shown));
  } else if (o->picture && !ends_with(o->picture, ".png")) {
    result = args_wrong(&solve_command, "--picture", "expected a file name that ends in .png, found '%s'",
                        args_shown(o->picture, shown));
  }
  if (result == ARGS_RUN) result = threads_check(&solve_command, &(ThreadsChoice){o->ceed, o->threads});
  if (result == ARGS_RUN) result = check_time(o);
  if (result == ARGS_RUN) result = check_law(o);
  if (result == ARGS_RUN) result = check_method(o);
  if (result == ARGS_RUN) result = check_parts(o);
  if (result == ARGS_RUN) result = check_restart(o);
  if (result != ARGS_RUN) return CLI_USAGE;
  if (o->save) CLI_TRY(cli_check_file(solve_command.name, "--save", o->save, true));
  if (o->picture) CLI_TRY(cli_check_file(solve_command.name, "--picture", o->picture, false));
  return o->output ? check_output(o) : CLI_OK;
}
