// SPDX-License-Identifier: BSD-2-Clause
// Files of `ritz solve --save`, from which --restart goes on: the solution at the nodes of its space, of heat
// also that of the step before, and what tells the space. Called by solve.c, solve-time.c and solve-newton.c,
// which know what the values are for.
//
// A file is words of 8 bytes in the machine's order:
//
//     Header
//     positions of the nodes        [num_nodes][space_dim]
//     u, u of the step before       [num_vectors][num_nodes][num_comp]
//     a hash of all words so far
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/solve.h"

typedef SolveStartHeader Header;
enum { VERSION = 1, HEADER_WORDS = sizeof(Header) / sizeof(double) };
static const char file_name[8] = {'R', 'i', 't', 'z', 's', 'a', 'v', 'e'};
_Static_assert(sizeof(Header) == 11 * sizeof(double), "words without gaps");

// Words of a file with this header; they fit into int64_t when the numbers are in range.
static int64_t count_words(const Header *h) {
  return HEADER_WORDS + h->num_nodes * (h->space_dim + h->num_vectors * h->num_comp) + 1;
}

// ---- Reading ----

static int refuse(const Solve *s, const char *reason) {
  char shown[ARG_SHOWN];

  fprintf(cli_stderr(), "%s: --restart: '%s' %s\n", solve_command.name, args_shown(s->options.restart, shown),
          reason);
  return CLI_FAILED;
}

// All of a regular file, in words; *size in bytes.
static int read_words(const Solve *s, FILE *stream, double **words, int64_t *size) {
  struct stat status;

  if (fstat(fileno(stream), &status) || !S_ISREG(status.st_mode)) return refuse(s, "is not a regular file");
  *size = status.st_size;
  *words = malloc((size_t)*size + sizeof(double));
  if (!*words) return cli_no_memory(solve_command.name);
  return fread(*words, 1, (size_t)*size, stream) == (size_t)*size ? CLI_OK : refuse(s, "cannot be read");
}

static bool is_between(int64_t number, int64_t least, int64_t most) {
  return number >= least && number <= most;
}

// That the file is one, and all of it.
static int check_file(const Solve *s, const double *words, int64_t size) {
  const int64_t word = sizeof(double), most_nodes = size / word;
  char reason[160];
  Header h = {.version = 0};

  if (size >= (int64_t)sizeof(h)) memcpy(&h, words, sizeof(h));
  if (memcmp(h.name, file_name, sizeof(file_name)) != 0) return refuse(s, "is no file of --save");
  if (h.version != VERSION) {
    const bool is_swapped = h.version == (int64_t)VERSION << 56;

    snprintf(reason, sizeof(reason), "has version %lld, needed %d", (long long)h.version, VERSION);
    return refuse(s, is_swapped ? "is from a machine with another order of bytes" : reason);
  }
  const bool is_in_range = is_between(h.num_nodes, 1, most_nodes) && is_between(h.num_comp, 1, 3) &&
                           is_between(h.space_dim, 1, 3) && is_between(h.num_vectors, 1, 2);
  if (!is_in_range || count_words(&h) * word != size) {
    snprintf(reason, sizeof(reason), "has %lld bytes, which are not those of its header: it is not complete",
             (long long)size);
    return refuse(s, reason);
  }
  const uint64_t hash = solve_hash(0, words, (size_t)(count_words(&h) - 1));

  return memcmp(&hash, words + count_words(&h) - 1, sizeof(hash))
             ? refuse(s, "is damaged: its hash is another one")
             : CLI_OK;
}

static int check_time(const Solve *s) {
  const SolveOptions *o = &s->options;
  char shown[ARG_SHOWN];

  if (o->problem != PROBLEM_HEAT || o->time > s->start.header.time) return CLI_OK;
  args_wrong(&solve_command, "--time", "expected more than %g, the time of '%s', found %g",
             s->start.header.time, args_shown(o->restart, shown), o->time);
  return CLI_USAGE;
}

int solve_read_start(Solve *s) {
  SolveStart *start = &s->start;
  int64_t size = 0;

  if (!s->options.restart) return CLI_OK;
  // a pipe does not wait for who writes
  const int file = open(s->options.restart, O_RDONLY | O_NONBLOCK);
  FILE *stream = file < 0 ? NULL : fdopen(file, "rb");

  if (!stream) {
    char reason[160];

    snprintf(reason, sizeof(reason), "cannot be read: %s", strerror(errno));
    if (file >= 0) close(file);
    return refuse(s, reason);
  }
  int code = read_words(s, stream, &start->words, &size);

  fclose(stream);
  if (!code) code = check_file(s, start->words, size);
  if (code) return code;
  memcpy(&start->header, start->words, sizeof(start->header));
  start->x = start->words + HEADER_WORDS;
  start->u = start->x + start->header.num_nodes * start->header.space_dim;
  return check_time(s);
}

double solve_start_time(const Solve *s) {
  return s->start.words && s->options.problem == PROBLEM_HEAT ? s->start.header.time : 0;
}

// ---- The space of a file and that of a run ----

static int describe(const Solve *s, Header *h) {
  int64_t num_nodes = 0;

  *h = (Header){.version = VERSION,
                .order = s->options.order,
                .num_comp = s->problem.num_comp,
                .space_dim = s->space_dim,
                .num_vectors = 1,
                .time = s->problem.time};
  memcpy(h->name, file_name, sizeof(file_name));
  CLI_TRY(RitzMeshGetNumElements(s->mesh, &h->num_elem));
  CLI_TRY(RitzSpaceGetNumNodes(s->problem.space, &num_nodes));
  h->num_nodes = num_nodes;
  return solve_hash_mesh(s, false, &h->connections);
}

static int check_numbers(const Solve *s, const Header *found, const Header *needed) {
  const char *path = s->options.restart;
  const bool has_numbers = found->order == needed->order && found->num_comp == needed->num_comp &&
                           found->space_dim == needed->space_dim && found->num_nodes == needed->num_nodes &&
                           found->num_elem == needed->num_elem;

  if (has_numbers && found->connections == needed->connections) return CEED_ERROR_SUCCESS;
  if (has_numbers)
    return CeedError(
        s->ceed, CEED_ERROR_INCOMPATIBLE,
        "--restart: '%s' is of another mesh: its elements join their vertices in another way than "
        "those of %s",
        path, s->options.mesh);
  return CeedError(s->ceed, CEED_ERROR_INCOMPATIBLE,
                   "--restart: '%s' has %lld values at each of the %lld nodes of order %lld on %lld elements "
                   "in %lldD, needed %lld at %lld of order %lld on %lld in %lldD",
                   path, (long long)found->num_comp, (long long)found->num_nodes, (long long)found->order,
                   (long long)found->num_elem, (long long)found->space_dim, (long long)needed->num_comp,
                   (long long)needed->num_nodes, (long long)needed->order, (long long)needed->num_elem,
                   (long long)needed->space_dim);
}

// x [num][dim] and those of the file, to what another compiler may round otherwise.
static int compare_positions(const Solve *s, int64_t num, const double *x) {
  const CeedInt dim = s->space_dim;
  double size = 0;
  char text[2][100] = {"", ""};

  for (int64_t i = 0; i < num * dim; i++) size = fmax(size, fabs(x[i]));
  for (int64_t i = 0; i < num * dim; i++) {
    if (fabs(x[i] - s->start.x[i]) <= 1e-10 * size) continue;
    const int64_t node = i / dim;

    for (CeedInt d = 0; d < dim; d++) {
      snprintf(text[0] + strlen(text[0]), 30, " %.9g", s->start.x[node * dim + d]);
      snprintf(text[1] + strlen(text[1]), 30, " %.9g", x[node * dim + d]);
    }
    return CeedError(s->ceed, CEED_ERROR_INCOMPATIBLE,
                     "--restart: '%s' is of another mesh: its node %lld is at%s, that of %s at%s",
                     s->options.restart, (long long)node, text[0], s->options.mesh, text[1]);
  }
  return CEED_ERROR_SUCCESS;
}

static int create_positions(const Solve *s, int64_t num_nodes, double **x) {
  CLI_TRY(cli_allocate(s->ceed, (size_t)num_nodes * (size_t)s->space_dim, sizeof(**x), x));
  return RitzSpaceGetNodeCoordinates(s->problem.space, *x);
}

int solve_check_start(Solve *s) {
  const Header *found = &s->start.header;
  Header needed;
  double *x = NULL;

  if (!s->start.words) return CEED_ERROR_SUCCESS;
  CLI_TRY(describe(s, &needed));
  CLI_TRY(check_numbers(s, found, &needed));
  int ierr = create_positions(s, needed.num_nodes, &x);

  if (!ierr) ierr = compare_positions(s, needed.num_nodes, x);
  free(x);
  if (ierr) return ierr;
  if (s->options.problem == PROBLEM_HEAT)
    cli_fact("restart", "t = %g, %s", found->time, s->options.restart);
  else
    cli_fact("restart", "first guess, %s", s->options.restart);
  return CEED_ERROR_SUCCESS;
}

int solve_get_start(const Solve *s, int number, CeedVector v) {
  const double *values = s->start.u + number * s->start.header.num_nodes * s->start.header.num_comp;
  CeedScalar *array = NULL;

  CLI_TRY(CeedVectorGetArrayWrite(v, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < s->size; i++) array[i] = (CeedScalar)values[i];
  return CeedVectorRestoreArray(v, &array);
}

void solve_destroy_start(Solve *s) {
  free(s->start.words);
  s->start = (SolveStart){.words = NULL};
}

// ---- Writing ----

static int copy_values(const Solve *s, CeedVector v, double *values) {
  const CeedScalar *array = NULL;

  CLI_TRY(CeedVectorGetArrayRead(v, CEED_MEM_HOST, &array));
  for (CeedSize i = 0; i < s->size; i++) values[i] = array[i];
  return CeedVectorRestoreArrayRead(v, &array);
}

// Beside the path first: what is there stays until all is written.
static int write_words(const Solve *s, const double *words, size_t num) {
  const char *path = s->options.save;
  const size_t length = strlen(path) + sizeof(".part");
  char *part = NULL;

  CLI_TRY(cli_allocate(s->ceed, length, 1, &part));
  snprintf(part, length, "%s.part", path);
  FILE *stream = fopen(part, "wb");
  bool is_written = stream && fwrite(words, sizeof(*words), num, stream) == num;
  int error = errno;

  if (stream && fclose(stream) && is_written) {
    error = errno;
    is_written = false;
  }
  if (is_written && rename(part, path)) {
    error = errno;
    is_written = false;
  }
  if (!is_written && stream) remove(part);
  free(part);
  return is_written ? CEED_ERROR_SUCCESS
                    : CeedError(s->ceed, CEED_ERROR_MAJOR, "--save: '%s' cannot be written: %s", path,
                                strerror(error));
}

int solve_save(const Solve *s, double step, CeedVector before) {
  Header h;
  double *words = NULL, *x = NULL;
  int ierr;

  if (!s->options.save) return CEED_ERROR_SUCCESS;
  CLI_TRY(describe(s, &h));
  h.num_vectors = before ? 2 : 1;
  h.step = step;
  const size_t num = (size_t)count_words(&h);

  CLI_TRY(cli_allocate(s->ceed, num, sizeof(*words), &words));
  memcpy(words, &h, sizeof(h));
  CLI_TRY_CLEANUP(create_positions(s, h.num_nodes, &x));
  memcpy(words + HEADER_WORDS, x, (size_t)(h.num_nodes * h.space_dim) * sizeof(*x));
  double *values = words + HEADER_WORDS + h.num_nodes * h.space_dim;

  CLI_TRY_CLEANUP(copy_values(s, s->u, values));
  if (before) CLI_TRY_CLEANUP(copy_values(s, before, values + s->size));
  const uint64_t hash = solve_hash(0, words, num - 1);

  memcpy(words + num - 1, &hash, sizeof(hash));
  CLI_TRY_CLEANUP(write_words(s, words, num));
  if (s->options.problem == PROBLEM_HEAT)
    cli_fact("saved", "t = %g, %s", h.time, s->options.save);
  else
    cli_fact("saved", "%s", s->options.save);
cleanup:
  free(x);
  free(words);
  return ierr;
}
