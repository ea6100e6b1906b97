// SPDX-License-Identifier: BSD-2-Clause
// `ritz cache`: the compiled kernels on disk, through ritz/jit.h; those of the bake-off problems are made
// beforehand.
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <ritz/jit.h>
#include <ritz/operator.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bp/problem.h"
#include "cli/args.h"
#include "cli/cli.h"

typedef struct {
  const char *action;
  ArgInts bp, orders;
  const char *ceed; // NULL: not given
} CacheOptions;

#define MEMBER(name) offsetof(CacheOptions, name)

static const ArgOption options_table[] = {
    ARG_OPTION("--bp", "LIST", ARG_INT_LIST, MEMBER(bp), BP_FIRST, BP_LAST,
               "warm: problems, such as 1,3,5 or all (default all)"),
    ARG_OPTION("--order", "LIST", ARG_INT_LIST, MEMBER(orders), 1, INFINITY,
               "warm: polynomial degrees, such as 1,2,4 or 1-8 (default 1-8)"),
    ARG_OPTION("--ceed", "RESOURCE", ARG_TEXT, MEMBER(ceed), 0, 0,
               "warm: backend, see 'ritz info' (default /cpu/self)"),
};

const ArgCommand cache_command = {
    .name = "ritz cache",
    .operand = "list|clear|path|warm",
    .operand_offset = MEMBER(action),
    .description =
        "Shows, empties or fills the folder in which Ritz keeps the kernels that it has compiled, the texts "
        "that\n"
        "do not compile, and what 'ritz tune' has measured:\n"
        "  list   all kernels, refused texts and choices: key, size, age, name\n"
        "  clear  removes them, and the messages of compilers that failed\n"
        "  path   the folder\n"
        "  warm   compiles the kernels of the bake-off problems that are missing, so that later runs\n"
        "         find them whatever their size; problems share some",
    .notes =
        "The folder is $RITZ_CACHE_DIR, else $XDG_CACHE_HOME/ritz, else $HOME/.cache/ritz; RITZ_CACHE=off\n"
        "does without. Kernels that are missing are compiled again when they are needed. The figures of\n"
        "the machine, which lie in the same folder, stay: 'ritz info --measure' renews them.\n\n"
        "Exit status: 0 done; 1 failed, or a kernel could not be compiled; 2 wrong usage.",
    .examples = "ritz cache warm --bp 1,3 --order 1-4",
    .num_options = sizeof(options_table) / sizeof(options_table[0]),
    .options = options_table,
};

// ---- Actions ----

static int no_memory(void) {
  fprintf(stderr, "%s: not enough memory\n", cache_command.name);
  return CLI_FAILED;
}

static void show_entry(const RitzJitEntry *entry) {
  time_t modified = (time_t)entry->modified;
  struct tm day;
  char date[40] = "-";

  if (localtime_r(&modified, &day)) strftime(date, sizeof(date), "%Y-%m-%d %H:%M", &day);
  printf("%-40s %8.1f KiB  %-16s  %s%s\n", entry->key, (double)entry->num_bytes / 1024, date, entry->name,
         entry->is_tuning    ? " (choices, measured)"
         : entry->is_refused ? " (does not compile)"
                             : "");
}

typedef struct {
  size_t num_kernels, num_refused, num_tunings;
  double num_bytes;
} CacheTotals;

// Adds up all entries, each of which is shown if wanted. An exit code.
static int add_up(bool shows, CacheTotals *totals) {
  RitzJitEntry *entries = NULL;
  size_t num = 0;

  *totals = (CacheTotals){0};
  if (RitzJitList(NULL, &num, &entries)) return no_memory();
  for (size_t i = 0; i < num; i++) {
    if (shows) show_entry(&entries[i]);
    totals->num_kernels += !entries[i].is_tuning && !entries[i].is_refused;
    totals->num_refused += entries[i].is_refused;
    totals->num_tunings += entries[i].is_tuning;
    totals->num_bytes += (double)entries[i].num_bytes;
  }
  free(entries);
  return CLI_OK;
}

static void show_numbers(const CacheTotals *t) {
  printf("%zu kernel%s", t->num_kernels, t->num_kernels == 1 ? "" : "s");
  if (t->num_refused) printf(" and %zu refused text%s", t->num_refused, t->num_refused == 1 ? "" : "s");
  if (t->num_tunings) printf(" and %zu measured choice%s", t->num_tunings, t->num_tunings == 1 ? "" : "s");
}

static int list(const CacheOptions *o, const char *folder) {
  CacheTotals totals;

  (void)o;
  CLI_TRY(add_up(true, &totals));
  show_numbers(&totals);
  printf(", %.1f KiB in %s\n", totals.num_bytes / 1024, folder);
  return CLI_OK;
}

static int clear_cache(const CacheOptions *o, const char *folder) {
  CacheTotals totals;

  (void)o;
  CLI_TRY(add_up(false, &totals));
  if (RitzJitClear(NULL, NULL)) return no_memory();
  show_numbers(&totals);
  printf(" removed from %s\n", folder);
  return CLI_OK;
}

static int path(const CacheOptions *o, const char *folder) {
  (void)o;
  printf("%s\n", folder);
  return CLI_OK;
}

// ---- Warming ----

// Counts of kernels by what became of them.
typedef struct {
  long long compiled, found, failed;
  double seconds;
} WarmCounts;

static WarmCounts read_counts(void) {
  RitzJitCounters c;
  WarmCounts counts = {.seconds = cli_seconds()};

  if (RitzJitGetCounters(&c)) return counts;
  counts.failed = c.failures;
  const long long bad = (long long)(c.failures + c.retries), all = (long long)c.compilations;
  counts.compiled = all > bad ? all - bad : 0;
  counts.found = c.disk_hits + c.memory_hits;
  return counts;
}

// Shows the counts since `start`.
static void show_counts(const char *label, const WarmCounts *start, const WarmCounts *end) {
  cli_fact(label, "%lld compiled, %lld found, %lld failed; %.2f s", end->compiled - start->compiled,
           end->found - start->found, end->failed - start->failed, end->seconds - start->seconds);
}

// Whether a kernel was asked for at all.
static bool is_any(const WarmCounts *counts) { return counts->compiled + counts->found + counts->failed > 0; }

// Makes the kernels of a problem; they do not depend on its size.
static int warm_problem(Ceed ceed, int bp, int order) {
  const BpOptions options = {.bp = bp, .order = order, .size = 1};
  BpResult sizes;
  BpProblem problem = {.ceed = ceed, .sizes = &sizes};
  const char *source = NULL, *resource = NULL;
  int ierr;

  CLI_TRY(bp_predict(ceed, &options, &sizes));
  CLI_TRY_CLEANUP(bp_problem_create(&problem));
  CLI_TRY_CLEANUP(RitzOperatorGetSource(problem.op, &source));
  CLI_TRY_CLEANUP(CeedGetResource(ceed, &resource));
  WarmCounts counts = read_counts();
  if (!is_any(&counts))
    ierr = CeedError(ceed, CEED_ERROR_UNSUPPORTED, "--ceed: %s compiles no kernels", resource);
cleanup:
  bp_problem_destroy(&problem);
  return ierr;
}

static int warm_problems(Ceed ceed, const ArgInts *bps, const ArgInts *orders) {
  char label[16];

  for (size_t i = 0; i < bps->num; i++) {
    WarmCounts start = read_counts(), end;
    for (size_t k = 0; k < orders->num; k++) CLI_TRY(warm_problem(ceed, bps->items[i], orders->items[k]));
    end = read_counts();
    snprintf(label, sizeof(label), "BP%d", bps->items[i]);
    show_counts(label, &start, &end);
  }
  return CEED_ERROR_SUCCESS;
}

static int warm(const CacheOptions *o, const char *folder) {
  static int all_bps[] = {1, 2, 3, 4, 5, 6}, all_orders[] = {1, 2, 3, 4, 5, 6, 7, 8};
  const ArgInts bps = o->bp.num ? o->bp : (ArgInts){sizeof(all_bps) / sizeof(int), all_bps};
  const ArgInts orders = o->orders.num ? o->orders : (ArgInts){sizeof(all_orders) / sizeof(int), all_orders};
  const char *compiler = NULL;
  WarmCounts start = read_counts(), end;
  Ceed ceed = NULL;

  (void)folder;
  RitzJitGetCompiler(&compiler, NULL);
  if (!compiler) {
    fprintf(stderr, "%s: there is no compiler that can be run: set RITZ_CC\n", cache_command.name);
    return CLI_FAILED;
  }
  CLI_TRY(cli_open_ceed(cache_command.name, o->ceed ? o->ceed : "/cpu/self", &ceed));
  int ierr = warm_problems(ceed, &bps, &orders);
  end = read_counts();
  int code = ierr ? cli_report(cache_command.name, ceed) : end.failed ? CLI_FAILED : CLI_OK;
  if (!ierr) show_counts("all", &start, &end);
  CeedDestroy(&ceed);
  return code;
}

// ---- The command ----

static const struct {
  const char *name;
  int (*run)(const CacheOptions *o, const char *folder);
} actions[] = {{"list", list}, {"clear", clear_cache}, {"path", path}, {"warm", warm}};
enum { NUM_ACTIONS = sizeof(actions) / sizeof(actions[0]) };

// Options are for warming.
static ArgsResult check_cache_options(const CacheOptions *o) {
  const char *given = o->bp.num ? "--bp" : o->orders.num ? "--order" : o->ceed ? "--ceed" : NULL;

  if (given && strcmp(o->action, "warm") != 0) return args_wrong(&cache_command, given, "only for warm");
  return ARGS_RUN;
}

static int run_cache_command(const CacheOptions *o) {
  const char *folder = NULL, *why = NULL;
  char shown[ARG_SHOWN];
  int i = 0;

  while (i < NUM_ACTIONS && strcmp(actions[i].name, o->action) != 0) i++;
  if (i == NUM_ACTIONS) {
    args_wrong(&cache_command, NULL, "expected list, clear, path or warm, found '%s'",
               args_shown(o->action, shown));
    return CLI_USAGE;
  }
  if (check_cache_options(o) != ARGS_RUN) return CLI_USAGE;
  if (RitzJitGetFolder(&folder, &why) || !folder) {
    fprintf(stderr, "%s: there is no cache: %s\n", cache_command.name, why ? why : "unknown");
    return CLI_FAILED;
  }
  return actions[i].run(o, folder);
}

int cli_cache(int argc, char **argv) {
  CacheOptions options = {.action = NULL};
  ArgsResult parsed = args_parse(&cache_command, argc, argv, &options);
  int code = parsed == ARGS_HELP ? CLI_OK : CLI_USAGE;

  if (parsed == ARGS_RUN) code = run_cache_command(&options);
  args_free(&cache_command, &options);
  return code;
}
