// SPDX-License-Identifier: BSD-2-Clause
// The timing table (contract in core/profile.h): rows, contexts, printing. Rows and places live until the
// process ends, so they are no memory of the library's count.
#include "core/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/threads.h"
#include "core/operator.h"

struct RitzProfilePlace {
  RitzProfilePlace *next;
  const char *resource; // as it was asked for
  bool has_rows, has_costs;
  RitzLimits limits; // zeros: not known
  bool is_exceeded;  // some operator was faster than they allow
};

// Key of a row of the table.
typedef struct {
  const char *name;
  const char *precisions; // static: what stands behind the name; NULL: nothing
  RitzProfilePlace *place;
  RitzProfileAction action;
  CeedInt num_elem, num_qpts;
  CeedSize input_size, output_size;
  RitzOperatorCost cost; // of a call; zeros: not known
} Key;

struct RitzProfileRow {
  RitzProfileRow *next;
  Key key;
  char *title; // name and precisions; in the block of the row
  int64_t num_calls, num_first;
  double seconds, seconds_first; // the first has the second in it
};

// A step down that was warned of (take_note).
typedef struct Note Note;
struct Note {
  Note *next;
  const RitzProfilePlace *place;
  char *text; // what, reason and outcome; in the block of the note
};

// All of the process, guarded by RITZ_LOCK_PROFILE.
static struct {
  pid_t process; // that counts: a forked child leaves the table to its parent
  double begin;  // when the first context was made
  char *file;    // NULL: stderr
  bool is_printed;
  RitzProfilePlace *places;
  RitzProfileRow *rows;
  Note *notes, **notes_end; // in the order in which they were made; notes_end NULL: none
  Ceed ceeds;               // linked by next_profiled
} profile;

double ritz_profile_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- Contexts ----

static const char *find_request(void) {
  const char *value = ritz_environment(ENV_RITZ_PROFILE);
  return value && strcmp(value, "0") ? value : NULL;
}

static RitzProfilePlace *find_profile_place(const char *resource) {
  RitzProfilePlace *place = profile.places;
  while (place && strcmp(place->resource, resource)) place = place->next;
  return place;
}

// A place and its name in one block.
static int create_place(Ceed ceed, const char *resource, RitzProfilePlace **place) {
  void *memory = NULL;
  RITZ_TRY(ritz_calloc(ceed, 1, sizeof(**place) + strlen(resource) + 1, &memory));
  *place = memory;
  (*place)->resource = strcpy((char *)(*place + 1), resource);
  return CEED_ERROR_SUCCESS;
}

// Adds the context, and its place and the file's name unless they are there already: what is taken becomes
// NULL.
static int take_note(Ceed ceed, const char *what, const char *reason, const char *outcome);

static void add_context(Ceed ceed, RitzProfilePlace **place, char **file) {
  RitzProfilePlace *known = find_profile_place((*place)->resource);
  if (!profile.process) {
    profile.process = getpid();
    profile.begin = ritz_profile_seconds();
    profile.file = *file;
    ritz_memory_give(*file);
    *file = NULL;
  }
  if (!known) {
    known = *place;
    known->next = profile.places;
    profile.places = known;
    ritz_memory_give(known);
    *place = NULL;
  }
  ceed->profile = known;
  ceed->note = take_note;
  ceed->next_profiled = profile.ceeds;
  profile.ceeds = ceed;
}

int ritz_profile_open(Ceed ceed, const char *resource) {
  const char *request = find_request();
  RitzProfilePlace *place = NULL;
  char *file = NULL;

  if (!request) return CEED_ERROR_SUCCESS;
  RITZ_TRY(create_place(ceed, resource, &place));
  int ierr = strcmp(request, "1") ? ritz_strdup(ceed, request, &file) : CEED_ERROR_SUCCESS;
  if (!ierr) {
    ritz_lock(RITZ_LOCK_PROFILE);
    add_context(ceed, &place, &file);
    ritz_unlock(RITZ_LOCK_PROFILE);
  }
  RITZ_FREE(&place);
  RITZ_FREE(&file);
  return ierr;
}

int ritz_profile_limits(Ceed ceed, RitzLimits *limits) {
  *limits = (RitzLimits){0};
  if (ceed->backend.mem_type != CEED_MEM_HOST || !ceed->backend.limits) return CEED_ERROR_SUCCESS;
  return ceed->backend.limits(ceed, limits);
}

static void find_limits(Ceed ceed) {
  RitzProfilePlace *place = ceed->profile;
  RitzLimits limits = {0};

  ritz_lock(RITZ_LOCK_PROFILE);
  const bool is_wanted = place->has_costs && !(place->limits.bandwidth > 0);
  ritz_unlock(RITZ_LOCK_PROFILE);
  if (!is_wanted || !ceed->backend.limits || ceed->backend.limits(ceed, &limits)) return;
  ritz_lock(RITZ_LOCK_PROFILE);
  place->limits = limits;
  ritz_unlock(RITZ_LOCK_PROFILE);
}

// A table is not worth the program: nothing that fails here ends it.
static void complete_times(Ceed ceed) {
  const CeedErrorHandler handler = ceed->error_handler;
  ceed->error_handler = CeedErrorStore;
  if (!ceed->backend.timer_flush || !ceed->backend.timer_flush(ceed)) find_limits(ceed);
  ceed->error_handler = handler;
}

void ritz_profile_close(Ceed ceed) {
  complete_times(ceed);
  ritz_lock(RITZ_LOCK_PROFILE);
  for (Ceed *link = &profile.ceeds; *link; link = &(*link)->next_profiled) {
    if (*link != ceed) continue;
    *link = ceed->next_profiled;
    break;
  }
  ritz_unlock(RITZ_LOCK_PROFILE);
}

// ---- Rows ----

static const char *name_of(CeedOperator op) {
  if (op->name && op->name[0]) return op->name;
  if (op->qf->kernel_name[0]) return op->qf->kernel_name;
  return op->qf->gallery_name ? op->qf->gallery_name : "(without a name)";
}

static int make_row_key(CeedOperator op, RitzProfileAction action, Key *key) {
  const RitzBackend *backend = &op->obj.ceed->backend;
  *key = (Key){.name = name_of(op),
               .precisions = op->is_stand_in ? "between conversions" : ritz_operator_precisions(op),
               .place = op->obj.ceed->profile,
               .action = action,
               .num_elem = op->num_elem,
               .num_qpts = op->num_qpts,
               .input_size = op->input_size,
               .output_size = op->output_size};
  if (action != RITZ_PROFILE_APPLY || !backend->operator_cost) return CEED_ERROR_SUCCESS;
  return backend->operator_cost(op, &key->cost);
}

static bool is_same_key(const Key *a, const Key *b) {
  return a->place == b->place && a->action == b->action && a->num_elem == b->num_elem &&
         a->num_qpts == b->num_qpts && a->input_size == b->input_size && a->output_size == b->output_size &&
         a->cost.flops == b->cost.flops && a->cost.bytes == b->cost.bytes && a->cost.note == b->cost.note &&
         a->precisions == b->precisions && !strcmp(a->name, b->name);
}

static RitzProfileRow *find_row(const Key *key) {
  RitzProfileRow *row = profile.rows;
  while (row && !is_same_key(&row->key, key)) row = row->next;
  return row;
}

// A row and its names in one block.
static int create_row(Ceed ceed, const Key *key, RitzProfileRow **row) {
  const char *precisions = key->precisions ? key->precisions : "",
             *note = key->cost.note ? key->cost.note : "";
  const size_t name_size = strlen(key->name) + 1;
  const size_t size = name_size + strlen(precisions) + strlen(note) + sizeof(" () ()");
  void *memory = NULL;
  RITZ_TRY(ritz_calloc(ceed, 1, sizeof(**row) + name_size + size, &memory));
  *row = memory;
  (*row)->key = *key;
  (*row)->key.name = strcpy((char *)(*row + 1), key->name);
  (*row)->title = (char *)(*row + 1) + name_size;
  const int length = snprintf((*row)->title, size, precisions[0] ? "%s (%s)" : "%s", key->name, precisions);
  if (note[0]) snprintf((*row)->title + length, size - (size_t)length, " (%s)", note);
  return CEED_ERROR_SUCCESS;
}

static void print_at_exit(void);

// The row of a key; `fresh` becomes it and NULL when there is none. *is_new_place: the first one of its
// place.
static RitzProfileRow *add_profile_row(const Key *key, RitzProfileRow **fresh, bool *is_new_place) {
  RitzProfileRow *row = find_row(key);
  if (row) return row;
  row = *fresh;
  *fresh = NULL;
  ritz_memory_give(row);
  row->next = profile.rows;
  profile.rows = row;
  *is_new_place = !key->place->has_rows;
  key->place->has_rows = true;
  key->place->has_costs = key->place->has_costs || key->cost.bytes > 0;
  return row;
}

// Every new place registers the table, which is printed once: before what the drivers, loaded by then, do at
// exit.
static int get_row_of(Ceed ceed, const Key *key, RitzProfileRow **row) {
  RitzProfileRow *fresh = NULL;
  bool is_new_place = false;

  RITZ_TRY(create_row(ceed, key, &fresh));
  ritz_lock(RITZ_LOCK_PROFILE);
  *row = add_profile_row(key, &fresh, &is_new_place);
  ritz_unlock(RITZ_LOCK_PROFILE);
  RITZ_FREE(&fresh);
  if (is_new_place) atexit(print_at_exit);
  return CEED_ERROR_SUCCESS;
}

static int get_row(CeedOperator op, RitzProfileAction action, RitzProfileRow **row) {
  Key key;

  RITZ_TRY(make_row_key(op, action, &key));
  return get_row_of(op->obj.ceed, &key, row);
}

// ---- Notes ----

static const Note *find_note(const Note *wanted) {
  const Note *note = profile.notes;
  while (note && (note->place != wanted->place || strcmp(note->text, wanted->text))) note = note->next;
  return note;
}

// A note and its text in one block.
static int create_note(Ceed ceed, const char *what, const char *reason, const char *outcome, Note **note) {
  const size_t size = strlen(what) + strlen(reason) + strlen(outcome) + sizeof(": ; ");
  void *memory = NULL;
  RITZ_TRY(ritz_calloc(ceed, 1, sizeof(**note) + size, &memory));
  *note = memory;
  (*note)->place = ceed->profile;
  (*note)->text = (char *)(*note + 1);
  snprintf((*note)->text, size, "%s: %s; %s", what, reason, outcome);
  return CEED_ERROR_SUCCESS;
}

// A line below the table. Equal lines are one; one without a row, as of an assembly alone, is printed, too.
static int take_note(Ceed ceed, const char *what, const char *reason, const char *outcome) {
  Note *fresh = NULL;
  RITZ_TRY(create_note(ceed, what, reason, outcome, &fresh));
  ritz_lock(RITZ_LOCK_PROFILE);
  const bool is_first = !profile.notes;
  if (!find_note(fresh)) {
    Note **end = is_first ? &profile.notes : profile.notes_end;
    *end = fresh;
    profile.notes_end = &fresh->next;
    ritz_memory_give(fresh);
    fresh = NULL;
  }
  ritz_unlock(RITZ_LOCK_PROFILE);
  RITZ_FREE(&fresh);
  if (is_first) atexit(print_at_exit);
  return CEED_ERROR_SUCCESS;
}

// ---- Calls ----

int ritz_profile_begin(Ceed ceed, double *begin) {
  *begin = ritz_profile_seconds();
  return ceed->backend.timer_begin ? ceed->backend.timer_begin(ceed) : CEED_ERROR_SUCCESS;
}

int ritz_profile_end(CeedOperator op, RitzProfileAction action, double begin, int ierr) {
  const RitzBackend *backend = &op->obj.ceed->backend;
  RitzProfileCall call = {.row = op->profile[action], .host_seconds = ritz_profile_seconds() - begin};

  RITZ_TRY(ierr);
  if (!call.row) {
    call.is_first = true;
    call.host_seconds += op->profile_prepared;
    op->profile_prepared = 0;
    RITZ_TRY(get_row(op, action, &op->profile[action]));
    call.row = op->profile[action];
  }
  if (backend->timer_end) return backend->timer_end(op->obj.ceed, &call);
  ritz_profile_add(&call, call.host_seconds);
  return CEED_ERROR_SUCCESS;
}

void ritz_profile_prepared(CeedInt num, const CeedOperator *ops, double begin) {
  const double seconds = ritz_profile_seconds() - begin;
  for (CeedInt i = 0; i < num; i++) ops[i]->profile_prepared += seconds / num;
}

int ritz_profile_part(Ceed ceed, const char *name, CeedSize size, double begin, RitzProfileRow **row,
                      double *seconds) {
  if (ceed->backend.timer_flush) RITZ_TRY(ceed->backend.timer_flush(ceed));
  *seconds = ritz_profile_seconds() - begin;
  const bool is_first = !*row;
  if (is_first) {
    const Key key = {.name = name,
                     .place = ceed->profile,
                     .action = RITZ_PROFILE_PART,
                     .input_size = size,
                     .output_size = size};
    RITZ_TRY(get_row_of(ceed, &key, row));
  }
  ritz_lock(RITZ_LOCK_PROFILE);
  (*row)->num_calls++;
  (*row)->seconds += *seconds;
  if (is_first) {
    (*row)->num_first++;
    (*row)->seconds_first += *seconds;
  }
  ritz_unlock(RITZ_LOCK_PROFILE);
  return CEED_ERROR_SUCCESS;
}

// Found without memory in all calls but the first.
static int get_pass_row(Ceed ceed, const RitzProfilePass *pass, RitzProfileCall *call) {
  const Key key = {.name = pass->name,
                   .precisions = pass->precisions,
                   .place = ceed->profile,
                   .action = RITZ_PROFILE_PASS,
                   .input_size = pass->size,
                   .output_size = pass->size,
                   .cost = pass->cost};

  ritz_lock(RITZ_LOCK_PROFILE);
  call->row = find_row(&key);
  ritz_unlock(RITZ_LOCK_PROFILE);
  call->is_first = !call->row;
  return call->row ? CEED_ERROR_SUCCESS : get_row_of(ceed, &key, &call->row);
}

int ritz_profile_end_pass(Ceed ceed, const RitzProfilePass *pass, double begin, int ierr) {
  RitzProfileCall call = {.host_seconds = ritz_profile_seconds() - begin};

  RITZ_TRY(ierr);
  RITZ_TRY(get_pass_row(ceed, pass, &call));
  if (ceed->backend.timer_end) return ceed->backend.timer_end(ceed, &call);
  ritz_profile_add(&call, call.host_seconds);
  return CEED_ERROR_SUCCESS;
}

// Compilers work before the device does: of a first call the longer time counts.
void ritz_profile_add(const RitzProfileCall *call, double seconds) {
  RitzProfileRow *row = call->row;
  if (call->is_first && call->host_seconds > seconds) seconds = call->host_seconds;
  ritz_lock(RITZ_LOCK_PROFILE);
  row->num_calls++;
  row->seconds += seconds;
  if (call->is_first) {
    row->num_first++;
    row->seconds_first += seconds;
  }
  ritz_unlock(RITZ_LOCK_PROFILE);
}

// ---- Printing ----

static const char *const actions[] = {
    [RITZ_PROFILE_APPLY] = "apply",       [RITZ_PROFILE_APPLY_MANY] = "apply many",
    [RITZ_PROFILE_DIAGONAL] = "diagonal", [RITZ_PROFILE_POINT_BLOCKS] = "point blocks",
    [RITZ_PROFILE_PART] = "part",         [RITZ_PROFILE_PASS] = "pass"};

// The longest first.
static void sort_rows(void) {
  RitzProfileRow *sorted = NULL;
  while (profile.rows) {
    RitzProfileRow *row = profile.rows, **link = &sorted;
    profile.rows = row->next;
    while (*link && (*link)->seconds >= row->seconds) link = &(*link)->next;
    row->next = *link;
    *link = row;
  }
  profile.rows = sorted;
}

typedef struct {
  int name, resource;
} Widths;

static int wider(int width, const char *text) {
  const int length = (int)strlen(text);
  return length > width ? length : width;
}

static Widths find_widths(void) {
  Widths widths = {.name = wider(0, "operator"), .resource = wider(0, "resource")};
  for (const RitzProfileRow *row = profile.rows; row; row = row->next) {
    widths.name = wider(widths.name, row->title);
    widths.resource = wider(widths.resource, row->key.place->resource);
  }
  return widths;
}

// A number as wide as its column, or '-'.
static void print_number(FILE *stream, int width, int digits, bool is_known, double value) {
  if (is_known)
    fprintf(stream, "  %*.*f", width, digits, value);
  else
    fprintf(stream, "  %*s", width, "-");
}

static void print_rates(FILE *stream, const Key *key, double mean) {
  const RitzLimits *limits = &key->place->limits;
  const bool has_rates = mean > 0 && key->cost.bytes > 0;
  const bool has_limits = has_rates && limits->bandwidth > 0 && limits->flops > 0;
  const double memory = has_limits ? key->cost.bytes / limits->bandwidth : 0;
  const double peak = key->cost.is_single ? limits->single_flops : limits->flops;
  const double compute = has_limits && peak > 0 ? key->cost.flops / peak : 0;
  const char *bound = compute > memory ? "flops" : key->cost.bytes < limits->cache_bytes ? "cache" : "memory";

  print_number(stream, 8, 2, has_rates, 1e-9 * key->cost.bytes / mean);
  print_number(stream, 8, 2, has_rates, 1e-9 * key->cost.flops / mean);
  print_number(stream, 8, 1, has_limits, 100 * fmax(memory, compute) / mean);
  fprintf(stream, "  %s\n", has_limits ? bound : "-");
  if (bound[0] != 'c' && fmax(memory, compute) > 1.1 * mean) key->place->is_exceeded = true;
}

static void print_profile_row(FILE *stream, const Widths *widths, const RitzProfileRow *row) {
  const Key *key = &row->key;
  const int64_t num_later = row->num_calls - row->num_first;
  const double mean = num_later > 0 ? (row->seconds - row->seconds_first) / (double)num_later : 0;

  fprintf(stream, "%-*s  %-*s  %-12s  %9" CeedInt_FMT "  %11" CeedSize_FMT "  %9" PRId64, widths->name,
          row->title, widths->resource, key->place->resource, actions[key->action], key->num_elem,
          key->output_size >= 0 ? key->output_size : key->input_size, row->num_calls);
  print_number(stream, 10, 4, true, row->seconds);
  print_number(stream, 10, 4, true, row->seconds_first);
  print_number(stream, 11, 2, num_later > 0, 1e6 * mean);
  print_rates(stream, key, mean);
}

static void print_limits(FILE *stream) {
  for (const RitzProfilePlace *place = profile.places; place; place = place->next) {
    if (!place->has_costs) continue;
    if (place->limits.bandwidth > 0)
      fprintf(stream, "Limits of %s: %.1f GB/s, %.1f GFLOP/s.\n", place->resource,
              1e-9 * place->limits.bandwidth, 1e-9 * place->limits.flops);
    if (place->is_exceeded)
      fprintf(stream,
              "They are too low: operators were faster. 'ritz info --measure' measures them again.\n");
    if (place->limits.bandwidth <= 0)
      fprintf(stream, "Limits of %s: not known ('ritz info' measures and keeps those of /cpu/self).\n",
              place->resource);
  }
}

static void print_table(FILE *stream) {
  const Widths widths = find_widths();

  fprintf(stream, "Ritz: times of operators in process %ld, %.3f s since its first context\n\n",
          (long)profile.process, ritz_profile_seconds() - profile.begin);
  fprintf(stream, "%-*s  %-*s  %-12s  %9s  %11s  %9s  %10s  %10s  %11s  %8s  %8s  %8s  %s\n", widths.name,
          "operator", widths.resource, "resource", "action", "elements", "size", "calls", "total, s",
          "first, s", "mean, us", "GB/s", "GFLOP/s", "limit, %", "bound by");
  for (const RitzProfileRow *row = profile.rows; row; row = row->next)
    print_profile_row(stream, &widths, row);
  fprintf(
      stream,
      "\ntotal: all calls. first: the first call of each operator or pass, in which kernels are compiled or\n"
      "loaded. mean: the others. GB/s, GFLOP/s: the least that has to be moved and done, by the mean.\n"
      "limit: share of the rate that memory or arithmetic allows at best.\n");
  print_limits(stream);
  if (profile.notes) fprintf(stream, "Not as asked for:\n");
  for (const Note *note = profile.notes; note; note = note->next)
    fprintf(stream, "  %s: %s\n", note->place->resource, note->text);
}

static void print_to_file(void) {
  FILE *stream = profile.file ? fopen(profile.file, "w") : stderr;
  if (!stream) {
    fprintf(stderr, "Ritz: RITZ_PROFILE: cannot write '%s': %s\n", profile.file, strerror(errno));
    return;
  }
  print_table(stream);
  if (stream != stderr) fclose(stream);
}

static void print_at_exit(void) {
  if (profile.is_printed || profile.process != getpid()) return;
  profile.is_printed = true;
  for (Ceed ceed = profile.ceeds; ceed; ceed = ceed->next_profiled) complete_times(ceed);
  ritz_lock(RITZ_LOCK_PROFILE);
  sort_rows();
  print_to_file();
  ritz_unlock(RITZ_LOCK_PROFILE);
}
