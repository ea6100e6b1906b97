// SPDX-License-Identifier: BSD-2-Clause
// The C and C++ compilers of the system (contracts in jit/compiler.h and, for ritz_jit_compiler and _version,
// in jit/jit.h). What a compiler has answered is kept in the process and in the cache, so that a warm start
// runs no program:
//     ritz-compiler 2
//     refused NUMBER
//     version LINE
//     end
#include "jit/compiler.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "jit/cpu.h"
#include "jit/files.h"
#include "jit/process.h"
#include "jit/work-folder.h"

// ---- The command ----

static const char *const flags[] = {
    "-O3", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd", "-fPIC", "-shared",
    "-w"};

// C++: of the standard that NVRTC is asked for. RITZ_CXXFLAGS, where it is not set RITZ_CFLAGS. Its own flag
// lets gcc follow values through large functions: numbers with derivatives (ritz/jit-source/dual.h) are 0 in
// many places, which it has to see. clang takes the flag without a word and needs none.
static const struct {
  const char *name, *standard;
  RitzVariable variable;
  const char *names[3];
  RitzVariable flags_variable;
  const char *own_flag;
} languages[] = {
    [RITZ_JIT_C] = {"c", "-std=gnu11", ENV_RITZ_CC, {"gcc", "clang", "cc"}, ENV_RITZ_CFLAGS, NULL},
    [RITZ_JIT_CXX] = {"c++",
                      "-std=gnu++17",
                      ENV_RITZ_CXX,
                      {"g++", "clang++", "c++"},
                      ENV_RITZ_CXXFLAGS,
                      "--param=sccvn-max-alias-queries-per-access=1000000"},
};
enum { NUM_NAMES = sizeof(languages[0].names) / sizeof(languages[0].names[0]) };

// Where clang has been tried with glibc's functions for vectors.
#if defined(__GLIBC__) && defined(__x86_64__)
enum { HAS_VECTOR_LIBRARY = 1 };
#else
enum { HAS_VECTOR_LIBRARY = 0 };
#endif

// RITZ_VECTOR_MATH=off: functions of <math.h> are called for one number at a time.
static bool allows_vector_math(void) {
  const char *text = ritz_environment(ENV_RITZ_VECTOR_MATH);

  return !text || strcmp(text, "off") != 0;
}

static bool is_clang(const RitzCompiler *compiler) { return strstr(compiler->version, "clang") != NULL; }

// Not every compiler knows all: clang and gcc on some processors refuse the last ones.
enum { MAX_MACHINE_FLAGS = 4 };
static const char vector_library[] = "-fveclib=libmvec";

static int list_machine_flags(const RitzCompiler *compiler, const char *list[MAX_MACHINE_FLAGS]) {
  int num = 0;

  list[num++] = "-march=native";
  if (ritz_cpu_vector_flag()) list[num++] = ritz_cpu_vector_flag();
  if (HAS_VECTOR_LIBRARY && is_clang(compiler)) list[num++] = vector_library;
  if (languages[compiler->language].own_flag) list[num++] = languages[compiler->language].own_flag;
  return num;
}

static void add_flags(const RitzCompiler *compiler, bool with_vector_math, RitzStrings *args) {
  const char *machine_flags[MAX_MACHINE_FLAGS];
  const int num = list_machine_flags(compiler, machine_flags) - compiler->num_refused;

  ritz_strings_add(args, "%s", languages[compiler->language].standard);
  for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) ritz_strings_add(args, "%s", flags[i]);
  for (int i = 0; i < num; i++) {
    if (machine_flags[i] != vector_library || with_vector_math)
      ritz_strings_add(args, "%s", machine_flags[i]);
  }
}

static void split_include_path(RitzStrings *args) {
  const char *folders = ritz_environment(ENV_RITZ_INCLUDE_PATH);

  while (folders && *folders) {
    const int n = (int)strcspn(folders, ":");

    if (n) ritz_strings_add(args, "%.*s", n, folders);
    folders += n + (folders[n] == ':');
  }
}

static void add_folders(const RitzJitSource *source, RitzStrings *args) {
  RitzStrings folders = {.ceed = args->ceed};

  for (size_t i = 0; i < source->num_roots; i++) ritz_strings_add(&folders, "%s", source->roots[i]);
  if (source->user_file) split_include_path(&folders);
  for (size_t i = 0; i < folders.num; i++) {
    ritz_strings_add(args, "-I"); // a word of its own: a root may be ""
    ritz_strings_add(args, "%s", folders.item[i]);
  }
  if (!args->error) args->error = folders.error;
  ritz_strings_free(&folders);
}

static const char *user_flags(RitzJitLanguage language) {
  const char *own = ritz_environment(languages[language].flags_variable);

  return own ? own : ritz_environment(languages[RITZ_JIT_C].flags_variable);
}

// Folders of RITZ_INCLUDE_PATH, then those behind -I in the user's arguments.
void ritz_compiler_folders(RitzJitLanguage language, RitzStrings *args) {
  RitzStrings flags = {.ceed = args->ceed};

  split_include_path(args);
  ritz_strings_split(&flags, user_flags(language));
  for (size_t i = 0; i < flags.num; i++) {
    if (strncmp(flags.item[i], "-I", 2) != 0) continue;
    const char *folder = flags.item[i][2] ? flags.item[i] + 2 : i + 1 < flags.num ? flags.item[++i] : ".";
    ritz_strings_add(args, "%s", folder);
  }
  if (!args->error) args->error = flags.error;
  ritz_strings_free(&flags);
}

// Adds the arguments that decide what the text means.
static void add_common(const RitzCompiler *compiler, const RitzJitSource *source, const char *folder,
                       RitzStrings *args) {
  ritz_strings_add(args, "%s", compiler->path);
  add_flags(compiler, allows_vector_math(), args);
  if (!allows_vector_math()) ritz_strings_add(args, "-DRITZ_SCALAR_MATH");
  ritz_strings_add(args, "-I%s", folder);
  add_folders(source, args);
  ritz_strings_add(args, "-DCEED_RUNNING_JIT_PASS=1");
#ifdef RITZ_SCALAR_F32
  ritz_strings_add(args, "-DRITZ_SCALAR_F32");
#endif
  for (size_t i = 0; i < source->num_defines; i++) ritz_strings_add(args, "-D%s", source->defines[i]);
  ritz_strings_split(args, user_flags(compiler->language));
}

static void add_list(const char *folder, RitzStrings *args) {
  ritz_strings_add(args, "-MF");
  ritz_strings_add(args, "%s/kernel.d", folder);
  ritz_strings_add(args, "-MT");
  ritz_strings_add(args, "kernel");
}

// The file's name ends as in C.
static void add_text(const RitzCompiler *compiler, const char *folder, RitzStrings *args) {
  if (compiler->language != RITZ_JIT_C) ritz_strings_add(args, "-x");
  if (compiler->language != RITZ_JIT_C) ritz_strings_add(args, "%s", languages[compiler->language].name);
  ritz_strings_add(args, "%s/kernel.c", folder);
}

void ritz_compiler_command(const RitzCompiler *compiler, const RitzJitSource *source, const char *folder,
                           RitzStrings *args) {
  add_common(compiler, source, folder, args);
  ritz_strings_add(args, "-MD");
  add_list(folder, args);
  ritz_strings_add(args, "-o");
  ritz_strings_add(args, "%s/kernel.so", folder);
  add_text(compiler, folder, args);
  ritz_strings_add(args, "-lm");
}

void ritz_compiler_list_command(const RitzCompiler *compiler, const RitzJitSource *source, const char *folder,
                                RitzStrings *args) {
  add_common(compiler, source, folder, args);
  ritz_strings_add(args, "-M");
  ritz_strings_add(args, "-MG");
  add_list(folder, args);
  add_text(compiler, folder, args);
}

// ---- Where it is ----

static bool is_program(const char *path, struct stat *status) {
  return !stat(path, status) && S_ISREG(status->st_mode) && !access(path, X_OK);
}

// *path: the program `name` in the folders of PATH, owned by the caller; NULL: nowhere. Relative folders are
// not looked at.
static int search_path(Ceed ceed, const char *name, struct stat *status, char **path) {
  const char *folders = ritz_environment(ENV_PATH);

  *path = NULL;
  for (folders = folders ? folders : "/usr/local/bin:/usr/bin:/bin"; *folders;) {
    int n = (int)strcspn(folders, ":");

    if (folders[0] == '/') {
      RITZ_TRY(ritz_format(ceed, path, "%.*s/%s", n, folders, name));
      if (is_program(*path, status)) return CEED_ERROR_SUCCESS;
      RITZ_FREE(path);
    }
    folders += n + (folders[n] == ':');
  }
  return CEED_ERROR_SUCCESS;
}

// *path: NULL when there is no such program.
static int locate_named(Ceed ceed, const char *name, struct stat *status, char **path) {
  if (!strchr(name, '/')) return search_path(ceed, name, status, path);
  RITZ_TRY(ritz_strdup(ceed, name, path));
  if (!is_program(*path, status)) RITZ_FREE(path);
  return CEED_ERROR_SUCCESS;
}

// *name: of the C++ compiler that comes with a C compiler ("gcc-12": "g++-12"), owned by the caller; NULL:
// unknown.
static int name_sibling(Ceed ceed, const char *c, char **name) {
  static const char *const pairs[][2] = {
      {"clang", "clang++"}, {"gcc", "g++"}, {"icx", "icpx"}, {"cc", "c++"}};
  const char *slash = strrchr(c, '/'), *base = slash ? slash + 1 : c;

  *name = NULL;
  for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
    const char *at = strstr(base, pairs[i][0]);

    if (at)
      return ritz_format(ceed, name, "%.*s%s%s", (int)(at - c), c, pairs[i][1], at + strlen(pairs[i][0]));
  }
  return CEED_ERROR_SUCCESS;
}

// *wanted: the name that the user has chosen, owned by the caller; NULL: any will do.
static int choose_name(Ceed ceed, RitzJitLanguage language, char **wanted, char **why) {
  const char *named = ritz_environment(languages[language].variable), *c = ritz_environment(ENV_RITZ_CC);

  *wanted = NULL;
  if (named) return ritz_strdup(ceed, named, wanted);
  if (language == RITZ_JIT_C || !c) return CEED_ERROR_SUCCESS;
  RITZ_TRY(name_sibling(ceed, c, wanted));
  return *wanted ? CEED_ERROR_SUCCESS
                 : ritz_format(ceed, why, "RITZ_CC names '%s', and RITZ_CXX is not set", c);
}

static int locate(Ceed ceed, RitzJitLanguage language, struct stat *status, char **path, char **why) {
  const char *const *names = languages[language].names,
                    *variable = ritz_environment_name(languages[language].variable);
  char *wanted = NULL;

  *path = NULL;
  RITZ_TRY(choose_name(ceed, language, &wanted, why));
  int ierr = wanted ? locate_named(ceed, wanted, status, path) : CEED_ERROR_SUCCESS;
  for (int i = 0; !ierr && !*why && !wanted && !*path && i < NUM_NAMES; i++)
    ierr = search_path(ceed, names[i], status, path);
  if (!ierr && !*path && wanted)
    ierr = ritz_format(ceed, why, "%s names '%s', which is no program (arguments belong into RITZ_CFLAGS)",
                       variable, wanted);
  if (!ierr && !*path && !*why)
    ierr = ritz_format(ceed, why, "neither %s nor %s nor %s is in PATH, and %s is not set", names[0],
                       names[1], names[2], variable);
  RITZ_FREE(&wanted);
  return ierr;
}

// ---- What it says ----

static void free_compiler(RitzCompiler **compiler) {
  RITZ_FREE(&(*compiler)->path);
  RITZ_FREE(&(*compiler)->version);
  RITZ_FREE(&(*compiler)->fault);
  RITZ_FREE(compiler);
}

// A compiler answers at once, or hangs.
static const double answer_limit = 20;

// *text: what the program said, owned by the caller.
static int run_compiler(Ceed ceed, const RitzStrings *args, const char *folder, RitzProcess *process,
                        char **text) {
  char *path = NULL;

  *text = NULL;
  RITZ_TRY(args->error);
  RITZ_TRY(ritz_process_start(ceed, args->item, folder, "compiler.log", process));
  process->limit = fmin(process->limit, answer_limit);
  ritz_process_wait(process);
  int ierr = ritz_format(ceed, &path, "%s/compiler.log", folder);
  if (!ierr) ierr = ritz_file_read_path(ceed, path, text);
  RITZ_FREE(&path);
  return ierr;
}

// compiler->version stays NULL when it cannot be run.
static int ask_version(Ceed ceed, RitzCompiler *compiler, const char *folder, RitzProcess *process) {
  RitzStrings args = {.ceed = ceed};
  char *text = NULL;

  ritz_strings_add(&args, "%s", compiler->path);
  ritz_strings_add(&args, "--version");
  int ierr = run_compiler(ceed, &args, folder, process, &text);
  if (!ierr && process->is_good)
    ierr =
        ritz_format(ceed, &compiler->version, "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
  RITZ_FREE(&text);
  ritz_strings_free(&args);
  return ierr;
}

// Leaves out one flag after the other until the compiler takes the rest for an empty text.
static int ask_flags(Ceed ceed, RitzCompiler *compiler, const char *folder, RitzProcess *process) {
  const char *all[MAX_MACHINE_FLAGS];
  const int num = list_machine_flags(compiler, all);
  int ierr = CEED_ERROR_SUCCESS;

  for (; !ierr && compiler->num_refused < num; compiler->num_refused++) {
    const char *const empty[] = {"-fsyntax-only", "-x", languages[compiler->language].name, "/dev/null"};
    RitzStrings args = {.ceed = ceed};
    char *text = NULL;

    ritz_strings_add(&args, "%s", compiler->path);
    add_flags(compiler, true, &args);
    for (int i = 0; i < 4; i++) ritz_strings_add(&args, "%s", empty[i]);
    ierr = run_compiler(ceed, &args, folder, process, &text);
    RITZ_FREE(&text);
    ritz_strings_free(&args);
    if (process->is_good || process->is_violent) break;
  }
  return ierr;
}

// ---- What it has said before ----

// Name of the file in the cache that keeps the answers for this machine.
static void record_name(const RitzCompiler *compiler, char name[64]) {
  RitzHasher hasher;

  ritz_hash_begin(&hasher);
  ritz_hash_add_string(&hasher, languages[compiler->language].name);
  ritz_hash_add_string(&hasher, compiler->path);
  ritz_hash_add(&hasher, &compiler->size, sizeof(compiler->size));
  ritz_hash_add(&hasher, &compiler->time, sizeof(compiler->time));
  ritz_cpu_describe(&hasher);
  snprintf(name, 64, "compiler-%s.txt", ritz_hash_end(&hasher).hex);
}

static int read_record(Ceed ceed, const RitzCache *cache, RitzCompiler *compiler) {
  char name[64], *text = NULL;
  int num_refused = 0, at = 0, ierr;

  record_name(compiler, name);
  RITZ_TRY(ritz_cache_read(ceed, cache, name, &text));
  ierr = CEED_ERROR_SUCCESS;
  if (text && sscanf(text, "ritz-compiler 2\nrefused %d\nversion%n", &num_refused, &at) == 1 && at &&
      text[at] == ' ') {
    const char *version = text + at + 1;
    size_t n = strcspn(version, "\n");

    compiler->num_refused = num_refused;
    if (!strcmp(version + n, "\nend\n") && num_refused >= 0 && num_refused <= MAX_MACHINE_FLAGS)
      ierr = ritz_format(ceed, &compiler->version, "%.*s", (int)n, version);
  }
  RITZ_FREE(&text);
  return ierr;
}

static int write_record(Ceed ceed, const RitzCache *cache, const RitzCompiler *compiler, const char *folder) {
  char name[64], *text = NULL, *path = NULL;

  record_name(compiler, name);
  int ierr = ritz_format(ceed, &text, "ritz-compiler 2\nrefused %d\nversion %s\nend\n", compiler->num_refused,
                         compiler->version);
  if (!ierr) ierr = ritz_format(ceed, &path, "%s/record.txt", folder);
  if (!ierr && ritz_file_write(path, text, strlen(text)))
    ierr = ritz_cache_move(ceed, cache, folder, "record.txt", name);
  RITZ_FREE(&path);
  RITZ_FREE(&text);
  return ierr;
}

// *why stays NULL when the compiler says nothing: the folder may be full.
static int ask_in(Ceed ceed, const RitzCache *cache, RitzCompiler *compiler, const char *folder, char **why) {
  RitzProcess process;

  compiler->num_refused = 0;
  RITZ_TRY(ask_version(ceed, compiler, folder, &process));
  const bool has_run = process.seconds > 0; // else the system may have had no room
  if (!compiler->version)
    RITZ_TRY(ritz_format(ceed, why, "'%s --version' %s", compiler->path, process.outcome));
  if (!compiler->version) return has_run ? ritz_strdup(ceed, *why, &compiler->fault) : CEED_ERROR_SUCCESS;
  if (!*compiler->version) RITZ_FREE(&compiler->version);
  if (!compiler->version) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ask_flags(ceed, compiler, folder, &process));
  if (!process.is_violent)
    return cache->folder ? write_record(ceed, cache, compiler, folder) : CEED_ERROR_SUCCESS;
  RITZ_FREE(&compiler->version);
  RITZ_TRY(ritz_format(ceed, why, "'%s', asked to check an empty text, %s", compiler->path, process.outcome));
  return ritz_strdup(ceed, *why, &compiler->fault);
}

// compiler->version stays NULL, and *why says why, when it cannot be asked.
static int ask(Ceed ceed, const RitzCache *cache, const RitzStrings *places, RitzCompiler *compiler,
               char **why) {
  for (size_t i = 0; !compiler->version && !*why && i < places->num; i++) {
    char *folder = NULL;

    RITZ_TRY(ritz_folder_make_temporary(ceed, places->item[i], &folder));
    if (!folder) continue;
    int ierr = ask_in(ceed, cache, compiler, folder, why);
    ritz_folder_remove(folder);
    RITZ_FREE(&folder);
    RITZ_TRY(ierr);
  }
  if (compiler->version || *why) return CEED_ERROR_SUCCESS;
  return ritz_format(ceed, why, "'%s --version' says nothing, or no folder can take what it says",
                     compiler->path);
}

// ---- All that are known to this process ----
// Those that have failed, too.

static RitzCompiler *known; // owned until the process ends; guarded by RITZ_LOCK_JIT

static const RitzCompiler *find_known(const RitzCompiler *wanted) {
  const RitzCompiler *c;

  for (c = known; c; c = c->next)
    if (c->language == wanted->language && !strcmp(c->path, wanted->path) && c->size == wanted->size &&
        c->time == wanted->time)
      break;
  return c;
}

// Takes over *compiler, unless another thread has added an equal one meanwhile.
static const RitzCompiler *add_known(RitzCompiler **compiler) {
  const RitzCompiler *found = find_known(*compiler);

  if (found) return found;
  ritz_memory_give((*compiler)->path);
  ritz_memory_give((*compiler)->version);
  ritz_memory_give((*compiler)->fault);
  ritz_memory_give(*compiler);
  (*compiler)->next = known;
  found = known = *compiler;
  *compiler = NULL;
  return found;
}

// One thread at a time asks compilers; others wait for what it hears. Guarded by RITZ_LOCK_JIT.
static pid_t asking; // the process whose thread asks (a forked child has none); 0: none

// *found: the compiler, known to work; else *why says what it did instead.
static int take_known(Ceed ceed, const RitzCompiler *known_one, const RitzCompiler **found, char **why) {
  *found = known_one->fault ? NULL : known_one;
  return known_one->fault && !*why ? ritz_strdup(ceed, known_one->fault, why) : CEED_ERROR_SUCCESS;
}

// False: the compiler has become known meanwhile.
static bool begin_to_ask(const RitzCompiler *wanted, const RitzCompiler **found) {
  double moment = 0;

  for (;;) {
    ritz_lock(RITZ_LOCK_JIT);
    *found = find_known(wanted);
    const bool is_free = asking != getpid();
    if (!*found && is_free) asking = getpid();
    ritz_unlock(RITZ_LOCK_JIT);
    if (*found || is_free) return !*found;
    ritz_pause(&moment);
  }
}

static void end_asking(void) {
  ritz_lock(RITZ_LOCK_JIT);
  asking = 0;
  ritz_unlock(RITZ_LOCK_JIT);
}

int ritz_compiler_find(Ceed ceed, RitzJitLanguage language, const RitzCache *cache, const RitzStrings *places,
                       const RitzCompiler **compiler, char **why) {
  RitzCompiler *fresh = NULL;
  const RitzCompiler *found = NULL;
  struct stat status;
  bool asks = false;
  int ierr;

  *compiler = NULL;
  *why = NULL;
  RITZ_TRY(RITZ_CALLOC(ceed, 1, &fresh));
  RITZ_TRY_CLEANUP(locate(ceed, language, &status, &fresh->path, why));
  if (!fresh->path) goto cleanup;
  fresh->language = language;
  fresh->size = (int64_t)status.st_size;
  fresh->time = ritz_file_time(&status);
  asks = begin_to_ask(fresh, &found);
  if (!asks) RITZ_TRY_CLEANUP(take_known(ceed, found, compiler, why));
  if (!asks) goto cleanup;
  RITZ_TRY_CLEANUP(read_record(ceed, cache, fresh));
  if (!fresh->version) RITZ_TRY_CLEANUP(ask(ceed, cache, places, fresh, why));
  if (!fresh->version && !fresh->fault) goto cleanup;
  ritz_lock(RITZ_LOCK_JIT);
  found = add_known(&fresh);
  ritz_unlock(RITZ_LOCK_JIT);
  RITZ_TRY_CLEANUP(take_known(ceed, found, compiler, why));
cleanup:
  if (asks) end_asking();
  if (ierr) RITZ_FREE(why);
  if (fresh) free_compiler(&fresh);
  return ierr;
}

// ---- For people ----

static const RitzCompiler *current(void) {
  RitzStrings places = {.ceed = NULL};
  const RitzCompiler *compiler = NULL;
  RitzCache cache;
  char *why = NULL;

  if (ritz_cache_open(NULL, &cache)) return NULL;
  ritz_work_folder_parents(cache.folder, &places);
  if (!places.error && ritz_compiler_find(NULL, RITZ_JIT_C, &cache, &places, &compiler, &why))
    compiler = NULL;
  RITZ_FREE(&why);
  ritz_strings_free(&places);
  ritz_cache_close(&cache);
  return compiler;
}

static RitzTask starting; // owned by the process

static void start_compiler(void *data) {
  (void)data;
  (void)current(); // who needs it is told why there is none
}

static void end_start(void) {
  if (starting) ritz_memory_adopt(starting);
  (void)ritz_task_end(&starting);
}

int ritz_jit_start(void) {
  static atomic_flag has_started = ATOMIC_FLAG_INIT;

  if (atomic_flag_test_and_set(&has_started)) return CEED_ERROR_SUCCESS;
  RITZ_TRY(ritz_task_start(NULL, start_compiler, NULL, &starting));
  ritz_memory_give(starting);
  (void)atexit(end_start);
  return CEED_ERROR_SUCCESS;
}

const char *ritz_jit_compiler(void) {
  const RitzCompiler *compiler = current();

  return compiler ? compiler->path : NULL;
}

const char *ritz_jit_compiler_version(void) {
  const RitzCompiler *compiler = current();

  return compiler ? compiler->version : NULL;
}
