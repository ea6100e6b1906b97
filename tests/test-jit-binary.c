// SPDX-License-Identifier: BSD-2-Clause
// Device code in the disk cache: made once by whoever asks first, found by everybody else; never taken from a
// file that somebody else could have written or that is not whole; refused texts and errors of the maker
// leave nothing behind. The maker counts its calls in a file, so that those of all processes count.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <ritz.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "base/embedded.h"
#include "base/memory.h"
#include "jit/binary.h"
#include "tests/jit-damage.h"

// ---- A maker ----

typedef enum { MAKES, REFUSES, FAILS, DIES } Outcome;

typedef struct {
  const char *count; // a file that gets a line for each call
  Outcome outcome;
  long milliseconds; // that a call takes
  const char *log;   // of one that REFUSES; NULL: `refusal`
} Maker;

enum { NUM_BYTES = 5000 };

static const char refusal[] = "part 1(1): warning: a bad day\npart 1(2): error: what is \"sum_thing\"\n"
                              "part 1(9): error: unexpected end\nthe rest of it\n";

// Bytes that follow from the text, zeros among them.
static void expect_bytes(const char *text, char bytes[NUM_BYTES]) {
  const size_t length = strlen(text) + 1;

  for (size_t i = 0; i < NUM_BYTES; i++) bytes[i] = (char)(text[i % length] ^ (int)(i / length));
}

static int make(Ceed ceed, void *data, const char *name, const char *text, size_t *num_bytes, char **bytes,
                char **log) {
  const Maker *maker = data;
  const int fd = open(maker->count, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

  (void)name;
  if (fd < 0 || write(fd, "x\n", 2) != 2 || close(fd)) return CeedError(ceed, CEED_ERROR_MAJOR, "no file");
  nanosleep(&(struct timespec){maker->milliseconds / 1000, maker->milliseconds % 1000 * 1000000}, NULL);
  if (maker->outcome == DIES) raise(SIGKILL);
  if (maker->outcome == FAILS) return CeedError(ceed, CEED_ERROR_MAJOR, "the device is on fire");
  const char *words = maker->outcome != REFUSES ? "remark\n" : maker->log ? maker->log : refusal;
  if (ritz_strdup(ceed, words, log)) return CEED_ERROR_MAJOR;
  *bytes = NULL;
  if (maker->outcome == REFUSES) return CEED_ERROR_SUCCESS;
  *num_bytes = NUM_BYTES;
  int ierr = RITZ_MALLOC(ceed, NUM_BYTES, bytes);
  if (ierr) RITZ_FREE(log);
  if (!ierr) expect_bytes(text, *bytes);
  return ierr;
}

static Maker new_maker(void) { return (Maker){.count = tap_temp_file("count", NULL, 0)}; }

// Calls of the maker since the last question.
static int num_calls(const Maker *maker) {
  const int num = jit_count_lines(maker->count);

  unlink(maker->count);
  return num;
}

// ---- Asking ----

static const char *const device[] = {"driver", "Device 7", "arch_1", "version 1"};
static const RitzJitBinary ordinary = {
    .name = "scale", .extension = "cu", .num_words = 4, .words = device, .text = "kernel void scale() {}\n"};

// Whether the right bytes come.
static bool gives_bytes(Ceed ceed, const RitzJitBinary *source, bool may_find, Maker *maker) {
  char *bytes = NULL, *reason = NULL, wanted[NUM_BYTES];
  size_t num_bytes = 0;
  int ierr = ritz_jit_binary(ceed, source, may_find, make, maker, &num_bytes, &bytes, &reason);
  bool is_right = !ierr && bytes && !reason && num_bytes == NUM_BYTES;

  expect_bytes(source->text, wanted);
  is_right = is_right && !memcmp(bytes, wanted, NUM_BYTES);
  RITZ_FREE(&bytes);
  RITZ_FREE(&reason);
  return is_right;
}

static bool works(Ceed ceed, Maker *maker) { return gives_bytes(ceed, &ordinary, true, maker); }

// Why the text is refused, in a string of this function.
static const char *reason_of(Ceed ceed, Maker *maker) {
  static char text[4096];
  char *bytes = NULL, *reason = NULL;
  size_t num_bytes = 1;
  int ierr = ritz_jit_binary(ceed, &ordinary, true, make, maker, &num_bytes, &bytes, &reason);

  snprintf(text, sizeof(text), "error %d, %zu bytes", ierr, num_bytes);
  if (!ierr && !bytes && num_bytes == 0 && reason) snprintf(text, sizeof(text), "%s", reason);
  RITZ_FREE(&bytes);
  RITZ_FREE(&reason);
  return text;
}

// ---- Processes ----

// 0: the bytes come; in a process of its own.
static int ask(Maker *maker) {
  Ceed ceed = NULL;

  if (CeedInit("/cpu/self/ref", &ceed)) return 99;
  CeedSetErrorHandler(ceed, CeedErrorStore);
  bool is_right = works(ceed, maker);
  CeedDestroy(&ceed);
  return is_right ? 0 : 1;
}

static pid_t start_child(int (*work)(Maker *maker), Maker *maker) {
  fflush(NULL);
  pid_t pid = fork();

  if (pid == 0) _exit(work(maker));
  return pid;
}

// Status of a child; 1000 + signal when it was killed.
static int end_child(pid_t pid) {
  int status = 0;

  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

enum { NUM_CHILDREN = 16 };

// Number of processes out of NUM_CHILDREN, all at once, whose work does not return 0.
static int num_bad_children(int (*work)(Maker *maker), Maker *maker) {
  pid_t children[NUM_CHILDREN];
  int num = 0;

  for (int i = 0; i < NUM_CHILDREN; i++) children[i] = start_child(work, maker);
  for (int i = 0; i < NUM_CHILDREN; i++) num += end_child(children[i]) != 0;
  return num;
}

// ---- Made once ----

TEST(bytes_are_made_once_and_found_on_disk_by_all_processes) {
  const char *folder = jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Maker maker = new_maker();

  maker.milliseconds = 2;
  jit_start_counting();
  CHECK(works(ceed, &maker), "made");
  CHECK_COUNTED(0, 0, 1);
  CHECK(works(ceed, &maker), "found by the same process, which remembers nothing");
  CHECK_COUNTED(0, 1, 0);
  CHECK(end_child(start_child(ask, &maker)) == 0, "found by another process");
  CHECK(num_calls(&maker) == 1, "made more than once");
  CHECK(jit_count_files(folder, "") == 2 && jit_count_files(folder, ".bin") == 1, "files in the folder");
  CeedDestroy(&ceed);
}

TEST(time_in_the_maker_and_on_disk_is_counted) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Maker maker = new_maker();
  RitzJitCounters counters[3];

  jit_begin();
  maker.milliseconds = 2;
  for (int i = 0; i < 3; i++) {
    ritz_jit_counters(&counters[i]);
    CHECK(works(ceed, &maker), "call %d", i);
  }
  CHECK(counters[1].compile_seconds - counters[0].compile_seconds >= 0.002, "in the maker");
  CHECK(counters[2].compile_seconds == counters[1].compile_seconds, "nothing was made");
  CHECK(counters[2].load_seconds > counters[1].load_seconds, "on disk");
  CeedDestroy(&ceed);
}

TEST(text_and_every_word_are_part_of_the_key_but_not_the_name) {
  const char *const other_device[] = {"driver", "Device 7", "arch_1", "version 2"};
  const char *const shifted[] = {"driver", "Device 7", "arch_1version 1", ""};
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Maker maker = new_maker();
  RitzJitBinary source = ordinary;

  jit_begin();
  CHECK(works(ceed, &maker) && num_calls(&maker) == 1, "the first");
  source.name = "another";
  CHECK(gives_bytes(ceed, &source, true, &maker) && num_calls(&maker) == 0, "the name");
  source.text = "kernel void scale() { }\n";
  CHECK(gives_bytes(ceed, &source, true, &maker) && num_calls(&maker) == 1, "the text");
  source = ordinary;
  source.num_words = 3;
  CHECK(gives_bytes(ceed, &source, true, &maker) && num_calls(&maker) == 1, "the number of words");
  source.num_words = 4;
  source.words = other_device;
  CHECK(gives_bytes(ceed, &source, true, &maker) && num_calls(&maker) == 1, "a word");
  source.words = shifted;
  CHECK(gives_bytes(ceed, &source, true, &maker) && num_calls(&maker) == 1, "where words begin");
  CHECK(works(ceed, &maker) && num_calls(&maker) == 0, "the first is still there");
  CeedDestroy(&ceed);
}

TEST(bytes_that_a_driver_does_not_take_are_made_anew_and_replaced) {
  const char *folder = jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Maker maker = new_maker();

  CHECK(works(ceed, &maker) && num_calls(&maker) == 1, "made");
  CHECK(gives_bytes(ceed, &ordinary, false, &maker) && num_calls(&maker) == 1, "made anew");
  CHECK(works(ceed, &maker) && num_calls(&maker) == 0, "found");
  CHECK(jit_count_files(folder, "") == 2, "%d files", jit_count_files(folder, ""));
  CeedDestroy(&ceed);
}

// ---- Entries that are not taken ----

static bool flip_late_bit(const char *path) { return jit_flip_bit(path, 4000); }
static bool flip_bit(const char *path) { return jit_flip_bit(path, 35); }
static bool lengthen(const char *path) { return !truncate(path, NUM_BYTES + 1); }

static const Damage damages[] = {
    {"a flipped bit", ".bin", flip_late_bit},
    {"half of the bytes", ".bin", jit_halve},
    {"no bytes", ".bin", jit_empty},
    {"a byte too many", ".bin", lengthen},
    {"no file", ".bin", jit_remove_it},
    {"bytes for the group", ".bin", jit_let_group_write},
    {"bytes for all", ".bin", jit_let_all_write},
    {"foreign bytes", ".bin", jit_give_away},
    {"a link to the bytes", ".bin", jit_make_link},
    {"a pipe", ".bin", jit_make_pipe},
    {"a damaged manifest", ".txt", flip_bit},
    {"half of the manifest", ".txt", jit_halve},
    {"no manifest", ".txt", jit_remove_it},
    {"a manifest for the group", ".txt", jit_let_group_write},
    {"a foreign manifest", ".txt", jit_give_away},
    {"a link to the manifest", ".txt", jit_make_link},
};

static void check_damage(Ceed ceed, const char *folder, const char *key, const Damage *damage, Maker *maker) {
  struct stat status;
  char path[4096];

  snprintf(path, sizeof(path), "%s/%s%s", folder, key, damage->suffix);
  if (!damage->spoil(path)) {
    tap_note("%s: cannot be made here", damage->what);
    return;
  }
  CHECK(works(ceed, maker), "%s", damage->what);
  CHECK(num_calls(maker) == 1, "%s was taken", damage->what);
  CHECK(!lstat(path, &status) && S_ISREG(status.st_mode) && (status.st_mode & 0777) == 0644,
        "%s is still there", damage->what);
  CHECK(works(ceed, maker) && num_calls(maker) == 0, "%s: afterwards", damage->what);
}

TEST(entries_that_are_damaged_or_not_our_own_are_made_anew_and_never_taken) {
  const char *folder = jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Maker maker = new_maker();
  RitzJitEntry *entries = NULL;
  size_t num = 0;

  CHECK(works(ceed, &maker) && num_calls(&maker) == 1, "the entry");
  CHECK_OK(RitzJitList(ceed, &num, &entries));
  CHECK(num == 1, "%zu entries", num);
  for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]) && !tap_failed(); i++)
    check_damage(ceed, folder, entries[0].key, &damages[i], &maker);
  free(entries);
  CeedDestroy(&ceed);
}

TEST(the_bytes_of_one_text_are_not_taken_for_another) {
  const char *folder = jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Maker maker = new_maker();
  RitzJitBinary other = ordinary;
  RitzJitEntry *entries = NULL;
  char paths[2][4096];
  size_t num = 0;

  other.text = "another text\n";
  CHECK(works(ceed, &maker) && gives_bytes(ceed, &other, true, &maker) && num_calls(&maker) == 2, "made");
  CHECK_OK(RitzJitList(ceed, &num, &entries));
  CHECK(num == 2, "%zu entries", num);
  for (int i = 0; i < 2; i++) snprintf(paths[i], sizeof(paths[i]), "%s/%s.bin", folder, entries[i].key);
  free(entries);
  CHECK(!rename(paths[0], paths[1]), "rename");
  CHECK(works(ceed, &maker) && gives_bytes(ceed, &other, true, &maker), "after one has the other's bytes");
  CHECK(num_calls(&maker) == 2, "neither entry was good");
  CeedDestroy(&ceed);
}

// ---- Folders ----

static void check_without_cache(Ceed ceed, const char *what) {
  const char *temporary = jit_folder("tmp");
  Maker maker = new_maker();

  setenv("TMPDIR", temporary, 1);
  jit_start_counting();
  CHECK(works(ceed, &maker) && works(ceed, &maker), "%s", what);
  CHECK_COUNTED(0, 0, 2);
  CHECK(num_calls(&maker) == 2, "%s: found", what);
  maker.outcome = REFUSES;
  const char *reason = reason_of(ceed, &maker);
  CHECK(strstr(reason, "sum_thing") && strstr(reason, "set RITZ_DUMP"), "%s: %s", what, reason);
  CHECK(jit_count_files(temporary, "") == 0, "%s: something is left", what);
}

TEST(without_a_folder_bytes_are_made_every_time) {
  const char *file = tap_temp_text("file", "x");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *folder = jit_begin();

  setenv("RITZ_CACHE", "off", 1);
  check_without_cache(ceed, "RITZ_CACHE=off");
  CHECK(access(folder, F_OK), "RITZ_CACHE=off: the folder was made");
  jit_begin();
  setenv("RITZ_CACHE_DIR", jit_path(file, "below"), 1);
  check_without_cache(ceed, "below a file");
  setenv("RITZ_CACHE_DIR", "/proc/ritz", 1);
  check_without_cache(ceed, "in /proc");
  folder = jit_folder("open");
  setenv("RITZ_CACHE_DIR", folder, 1);
  chmod(folder, 0770);
  check_without_cache(ceed, "writable for the group");
  CHECK(jit_count_files(folder, "") == 0, "writable for the group: used");
  CeedDestroy(&ceed);
}

TEST(a_folder_that_cannot_be_written_to_is_read) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *folder = jit_begin();
  Maker maker = new_maker();
  RitzJitBinary other = ordinary;

  other.text = "another text\n";
  CHECK(works(ceed, &maker) && num_calls(&maker) == 1, "made");
  chmod(folder, 0500);
  CHECK(works(ceed, &maker) && num_calls(&maker) == 0, "read");
  CHECK(gives_bytes(ceed, &other, true, &maker) && num_calls(&maker) == 1, "another text");
  chmod(folder, 0700);
  CHECK(geteuid() == 0 || jit_count_files(folder, "") == 2, "written");
  CeedDestroy(&ceed);
}

TEST(a_site_cache_of_root_is_read_second) {
  if (geteuid() != 0) NOT_HERE("nobody but root can make one");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *site = jit_begin();
  Maker maker = new_maker();

  CHECK(works(ceed, &maker) && num_calls(&maker) == 1, "fills it");
  const char *own = jit_begin();
  setenv("RITZ_SITE_CACHE", site, 1);
  CHECK(works(ceed, &maker) && num_calls(&maker) == 0, "from the site");
  CHECK(jit_count_files(own, "") == 0, "copied");
  CeedDestroy(&ceed);
}

// ---- Refused texts ----

static char *read_text(const char *path) {
  static char text[4096];
  FILE *file = fopen(path, "r");
  size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

  text[n] = '\0';
  if (file) fclose(file);
  return text;
}

TEST(a_refused_text_is_known_to_later_calls_and_its_reason_names_errors_and_log) {
  static const char before_path[] = "the whole log: ";
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *folder = jit_begin();
  Maker maker = new_maker();
  char path[4096] = "", first[4096];

  maker.outcome = REFUSES;
  jit_start_counting();
  const char *reason = reason_of(ceed, &maker);
  tap_note("%s", reason);
  CHECK(jit_counted().failures == 1 && jit_counted().compilations == 1, "counters");
  CHECK(strstr(reason, "part 1(2): error: what is \"sum_thing\"; part 1(9): error: unexpected end"),
        "errors");
  CHECK(!strstr(reason, "a bad day") && !strchr(reason, '\n'), "not only errors in a paragraph");
  const char *at = strstr(reason, before_path);
  if (at) snprintf(path, sizeof(path), "%.*s", (int)strcspn(at + 15, ")"), at + strlen(before_path));
  CHECK(!strncmp(path, folder, strlen(folder)) && !strcmp(read_text(path), refusal), "the log at '%s'", path);
  CHECK(jit_count_files(folder, "") == 2 && jit_count_files(folder, ".log") == 1 &&
            jit_count_files(folder, ".refused") == 1,
        "what is left");
  snprintf(first, sizeof(first), "%s", reason);
  CHECK(!strcmp(reason_of(ceed, &maker), first), "another reason: %s", reason_of(ceed, &maker));
  unlink(path);
  CHECK(strstr(reason_of(ceed, &maker), "sum_thing") && strstr(reason_of(ceed, &maker), "RITZ_DUMP"),
        "without its log");
  maker.outcome = MAKES;
  CHECK(gives_bytes(ceed, &ordinary, false, &maker), "the caller may insist");
  CHECK(num_calls(&maker) == 2, "calls");
  CHECK(works(ceed, &maker) && num_calls(&maker) == 0, "what was made replaces the refusal");
  CeedDestroy(&ceed);
}

// A compiler that broke down, or a machine that was full, says nothing of the text.
TEST(a_text_is_tried_again_when_it_was_not_judged) {
  static const char *const logs[] = {"part 1(2): error: No space left on device\n", "driver error 77\n", ""};
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
    jit_begin();
    Maker maker = new_maker();

    maker.outcome = REFUSES;
    maker.log = logs[i];
    reason_of(ceed, &maker);
    maker.outcome = MAKES;
    CHECK(works(ceed, &maker) && num_calls(&maker) == 2, "after '%s'", logs[i]);
  }
  CeedDestroy(&ceed);
}

TEST(a_refused_text_is_listed_and_cleared) {
  const char *folder = jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Maker maker = new_maker();
  RitzJitEntry *entries = NULL;
  size_t num = 0;

  maker.outcome = REFUSES;
  reason_of(ceed, &maker);
  CHECK_OK(RitzJitList(ceed, &num, &entries));
  CHECK(num == 1 && entries[0].is_refused && !entries[0].is_tuning && !strcmp(entries[0].name, "scale"),
        "%zu entries", num);
  free(entries);
  CHECK_OK(RitzJitClear(ceed, &num));
  CHECK(num == 1 && jit_count_files(folder, "") == 0, "%zu removed", num);
  maker.outcome = MAKES;
  CHECK(works(ceed, &maker), "refused for ever");
  CeedDestroy(&ceed);
}

static int learn_that_it_is_refused(Maker *maker) {
  Ceed ceed = NULL;

  if (CeedInit("/cpu/self/ref", &ceed)) return 99;
  bool is_refused = strstr(reason_of(ceed, maker), "sum_thing");
  CeedDestroy(&ceed);
  return is_refused ? 0 : 1;
}

TEST(processes_that_ask_for_a_refused_text_all_learn_so_and_do_not_queue) {
  const char *folder = jit_begin();
  Maker maker = new_maker();

  maker.outcome = REFUSES;
  maker.milliseconds = 250;
  const double start = (double)time(NULL);
  CHECK(num_bad_children(learn_that_it_is_refused, &maker) == 0, "a process does not know");
  CHECK((double)time(NULL) - start < 0.25 * NUM_CHILDREN, "one after the other");
  CHECK(jit_count_files(folder, "") == 2, "what is left");
}

// ---- Dumps ----

// The folder of the one dump below `folder`.
static const char *find_dump(const char *folder) {
  DIR *stream = opendir(folder);
  const char *path = folder;

  for (struct dirent *entry; stream && (entry = readdir(stream));)
    if (entry->d_name[0] != '.') path = jit_path(folder, entry->d_name);
  if (stream) closedir(stream);
  return path;
}

TEST(a_dump_holds_text_device_log_and_bytes) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Maker maker = new_maker();
  char inside[4096], bytes[NUM_BYTES];
  struct stat status;

  for (int round = 0; round < 3; round++) { // made, found, refused
    const char *folder = jit_folder("dumps");

    if (round == 0) jit_begin();
    setenv("RITZ_DUMP", folder, 1);
    if (round == 2) jit_begin();
    if (round == 2) setenv("RITZ_DUMP", folder, 1);
    maker.outcome = round == 2 ? REFUSES : MAKES;
    const char *reason = round == 2 ? reason_of(ceed, &maker) : "";
    CHECK(round == 2 || works(ceed, &maker), "round %d", round);
    snprintf(inside, sizeof(inside), "%s", find_dump(folder));
    CHECK(strstr(inside, "/scale-"), "'%s'", inside);
    CHECK(!strcmp(read_text(jit_path(inside, "kernel.cu")), ordinary.text), "round %d: text", round);
    CHECK(!strcmp(read_text(jit_path(inside, "device.txt")), "driver\nDevice 7\narch_1\nversion 1\n"),
          "device");
    CHECK(strstr(read_text(jit_path(inside, "compile.log")), round == 0   ? "remark"
                                                             : round == 1 ? "was in the cache"
                                                                          : refusal),
          "round %d: log", round);
    expect_bytes(ordinary.text, bytes);
    bool is_there = !stat(jit_path(inside, "kernel.bin"), &status) && status.st_size == NUM_BYTES;
    CHECK(is_there == (round < 2), "round %d: bytes", round);
    CHECK(round < 2 || strstr(reason, inside), "the reason does not name the dump: %s", reason);
  }
  CeedDestroy(&ceed);
}

TEST(a_dump_that_cannot_be_written_changes_nothing_else) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Maker maker = new_maker();

  jit_begin();
  setenv("RITZ_DUMP", "/proc/ritz", 1); // the warning on stderr is wanted
  CHECK(works(ceed, &maker) && works(ceed, &maker) && num_calls(&maker) == 1, "made once");
  CeedDestroy(&ceed);
}

// ---- Many at once ----

TEST(sixteen_processes_that_want_the_same_bytes_call_the_maker_once) {
  const char *folder = jit_begin();
  Maker maker = new_maker();

  maker.milliseconds = 300;
  CHECK(num_bad_children(ask, &maker) == 0, "a process has no bytes");
  CHECK(num_calls(&maker) == 1, "made more than once");
  CHECK(jit_count_files(folder, "") == 2, "%d files", jit_count_files(folder, ""));
}

static void *ask_in_thread(void *arg) {
  Maker *maker = arg;

  for (int i = 0; i < 20; i++)
    if (ask(maker)) return arg;
  return NULL;
}

TEST(threads_that_want_the_same_bytes_call_the_maker_once) {
  enum { NUM_THREADS = 4 };
  pthread_t threads[NUM_THREADS];
  Maker maker = new_maker();
  int num_bad = 0;

  jit_begin();
  maker.milliseconds = 50;
  for (int i = 0; i < NUM_THREADS; i++)
    CHECK(!pthread_create(&threads[i], NULL, ask_in_thread, &maker), "no thread");
  for (int i = 0; i < NUM_THREADS; i++) {
    void *result;
    pthread_join(threads[i], &result);
    num_bad += result != NULL;
  }
  CHECK(num_bad == 0, "%d threads have no bytes", num_bad);
  CHECK(num_calls(&maker) == 1, "made more than once");
}

// ---- Makers that fail ----

TEST(an_error_of_the_maker_passes_on_and_leaves_no_lock) {
  const char *folder = jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Maker maker = new_maker();
  char *bytes = NULL, *reason = NULL;
  size_t num_bytes = 0;

  maker.outcome = FAILS;
  jit_start_counting();
  CHECK_ERROR(ceed, ritz_jit_binary(ceed, &ordinary, true, make, &maker, &num_bytes, &bytes, &reason),
              CEED_ERROR_MAJOR, "the device is on fire");
  CHECK(!bytes && !reason && jit_counted().failures == 1, "results");
  CHECK(jit_count_files(folder, "") == 0, "%d files are left", jit_count_files(folder, ""));
  maker.outcome = MAKES;
  CHECK(works(ceed, &maker), "the next one");
  CeedDestroy(&ceed);
}

TEST(a_maker_that_dies_holds_nobody_up) {
  const char *folder = jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Maker maker = new_maker();

  maker.outcome = DIES;
  CHECK(end_child(start_child(ask, &maker)) == 1000 + SIGKILL, "it lives");
  maker.outcome = MAKES;
  CHECK(works(ceed, &maker), "the next one");
  CHECK(jit_count_files(folder, "") == 2, "%d files", jit_count_files(folder, ""));
  CeedDestroy(&ceed);
}

TEST(a_lock_that_is_never_given_back_is_overtaken) {
  const char *folder = jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Maker maker = new_maker();
  RitzJitEntry *entries = NULL;
  char name[64];
  size_t num = 0;

  CHECK(works(ceed, &maker) && num_calls(&maker) == 1, "made");
  CHECK_OK(RitzJitList(ceed, &num, &entries));
  snprintf(name, sizeof(name), "%s.lock", num ? entries[0].key : "");
  free(entries);
  CHECK_OK(RitzJitClear(ceed, NULL));
  int fd = open(jit_path(folder, name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  CHECK(fd >= 0 && !flock(fd, LOCK_EX), "lock");
  setenv("RITZ_JIT_TIMEOUT", "0.3", 1); // as long as a compiler may take
  CHECK(works(ceed, &maker) && num_calls(&maker) == 1, "beside a live holder");
  CHECK(works(ceed, &maker) && num_calls(&maker) == 0, "not kept");
  close(fd);
  CeedDestroy(&ceed);
}

// ---- The folder, for people ----

TEST(entries_are_listed_with_their_names_and_cleared) {
  const char *folder = jit_begin(), *notes = jit_path(folder, "notes.bin");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Maker maker = new_maker();
  RitzJitBinary other = ordinary;
  RitzJitEntry *entries = NULL;
  size_t num = 0;
  struct stat text, bytes;

  other.name = "ant";
  other.text = "another text\n";
  CHECK(works(ceed, &maker) && gives_bytes(ceed, &other, true, &maker), "made");
  jit_write(notes, "mine\n");
  CHECK_OK(RitzJitList(ceed, &num, &entries));
  CHECK(num == 2 && !strcmp(entries[0].name, "ant") && !strcmp(entries[1].name, "scale"), "%zu entries", num);
  char names[2][64];
  snprintf(names[0], sizeof(names[0]), "%s.txt", entries[0].key);
  snprintf(names[1], sizeof(names[1]), "%s.bin", entries[0].key);
  CHECK(!stat(jit_path(folder, names[0]), &text) && !stat(jit_path(folder, names[1]), &bytes), "files");
  CHECK(entries[0].num_bytes == (size_t)(text.st_size + bytes.st_size) && bytes.st_size == NUM_BYTES, "size");
  free(entries);
  CHECK_OK(RitzJitClear(ceed, &num));
  CHECK(num == 2 && jit_count_files(folder, "") == 1 && !access(notes, R_OK), "%zu removed", num);
  CHECK(works(ceed, &maker) && num_calls(&maker) == 3, "made anew");
  CeedDestroy(&ceed);
}

// ---- What the library carries inside ----

TEST(templates_are_not_among_the_headers_of_texts_for_the_processor) {
  static const char folder[] = "kernels/gpu/";

  for (size_t i = 0; i < ritz_num_embedded_files; i++)
    CHECK(strncmp(ritz_embedded_files[i].name, folder, strlen(folder)) != 0, "%s",
          ritz_embedded_files[i].name);
  CHECK(ritz_num_embedded_templates > 0, "no templates");
  for (size_t i = 0; i < ritz_num_embedded_templates; i++) {
    const RitzEmbeddedFile *file = &ritz_embedded_templates[i];
    CHECK(!strncmp(file->name, folder, strlen(folder)), "%s", file->name);
    CHECK(strlen((const char *)file->bytes) == file->size, "%s is no string", file->name);
  }
}

// ---- Memory ----

// Made, found and refused, each with one allocation failing.
static void fail_at(Ceed ceed, int64_t n, Maker *maker, bool *has_failed) {
  const int64_t live = ritz_memory_live();
  char *bytes = NULL, *reason = NULL;
  size_t num_bytes;
  int ierr = CEED_ERROR_SUCCESS;

  ritz_memory_fail_at(n);
  for (int i = 0; i < 3 && !ierr; i++) {
    RitzJitBinary source = ordinary;

    source.text = i < 2 ? ordinary.text : "another text";
    maker->outcome = i < 2 ? MAKES : REFUSES;
    ierr = ritz_jit_binary(ceed, &source, true, make, maker, &num_bytes, &bytes, &reason);
    CHECK(ierr ? !bytes && !reason : i < 2 ? bytes && !reason : !bytes && reason, "allocation %d", (int)n);
    RITZ_FREE(&bytes);
    RITZ_FREE(&reason);
  }
  ritz_memory_fail_at(0);
  *has_failed = ierr;
  CHECK(ritz_memory_live() == live, "allocation %d: %d are left", (int)n, (int)(ritz_memory_live() - live));
}

TEST(an_allocation_that_fails_is_reported_and_nothing_is_left) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  Maker maker = new_maker();
  const char *cache = jit_begin(), *folder = jit_folder("dump");
  bool has_failed = true;
  int64_t n = 1;

  setenv("RITZ_DUMP", folder, 1);
  for (; has_failed && !tap_failed(); n++) {
    fail_at(ceed, n, &maker, &has_failed);
    CHECK(jit_count_files(cache, ".lock") == 0, "allocation %d: a lock is left", (int)n);
    CHECK_OK(RitzJitClear(ceed, NULL));
    CHECK(jit_count_files(cache, "") == 0, "allocation %d: something is left", (int)n);
  }
  tap_note("%d allocations", (int)n);
  CHECK(n > 50, "%d", (int)n);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(bytes_are_made_once_and_found_on_disk_by_all_processes, time_in_the_maker_and_on_disk_is_counted,
            text_and_every_word_are_part_of_the_key_but_not_the_name,
            bytes_that_a_driver_does_not_take_are_made_anew_and_replaced,
            entries_that_are_damaged_or_not_our_own_are_made_anew_and_never_taken,
            the_bytes_of_one_text_are_not_taken_for_another, without_a_folder_bytes_are_made_every_time,
            a_folder_that_cannot_be_written_to_is_read, a_site_cache_of_root_is_read_second,
            a_refused_text_is_known_to_later_calls_and_its_reason_names_errors_and_log,
            a_text_is_tried_again_when_it_was_not_judged, a_refused_text_is_listed_and_cleared,
            processes_that_ask_for_a_refused_text_all_learn_so_and_do_not_queue,
            a_dump_holds_text_device_log_and_bytes, a_dump_that_cannot_be_written_changes_nothing_else,
            sixteen_processes_that_want_the_same_bytes_call_the_maker_once,
            threads_that_want_the_same_bytes_call_the_maker_once,
            an_error_of_the_maker_passes_on_and_leaves_no_lock, a_maker_that_dies_holds_nobody_up,
            a_lock_that_is_never_given_back_is_overtaken, entries_are_listed_with_their_names_and_cleared,
            templates_are_not_among_the_headers_of_texts_for_the_processor,
            an_allocation_that_fails_is_reported_and_nothing_is_left));
}
