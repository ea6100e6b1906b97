// SPDX-License-Identifier: BSD-2-Clause
// Texts become code: once compiled, then found on disk and in memory; compiled anew when anything they were
// made from changed; refused with a reason; never loaded from a file that somebody else could have written.
#include "tests/jit-damage.h"

#include <fcntl.h>
#include <pthread.h>
#include <ritz.h>
#include <signal.h>
#include <utime.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/threads.h"
#include "jit/hash.h"

// ---- Hashes ----

static RitzHash hash_in_parts(const char *text, size_t size, size_t part) {
  RitzHasher hasher;

  ritz_hash_begin(&hasher);
  for (size_t i = 0; i < size; i += part) ritz_hash_add(&hasher, text + i, size - i < part ? size - i : part);
  return ritz_hash_end(&hasher);
}

// The digests of "abc" (RFC 7693, appendix B) and of nothing begin with these digits.
TEST(the_hash_is_BLAKE2s) {
  CHECK(!strcmp(hash_in_parts("abc", 3, 1).hex, "508c5e8c327c14e2e1a72ba34eeb452f37458b20"), "of abc");
  CHECK(!strcmp(hash_in_parts("", 0, 1).hex, "69217a3079908094e11121d042354a7c1f55b648"), "of nothing");
}

TEST(a_hash_does_not_depend_on_how_the_bytes_arrive) {
  char text[1000];
  uint64_t state = 1;

  for (size_t i = 0; i < sizeof(text); i++) text[i] = (char)tap_integer(&state, 256);
  for (size_t size = 0; size <= sizeof(text); size += 8) {
    RitzHash whole = hash_in_parts(text, size, sizeof(text));

    for (size_t part = 1; part < 200; part += 21)
      CHECK(!strcmp(whole.hex, hash_in_parts(text, size, part).hex), "%zu bytes, %zu at a time", size, part);
  }
}

// ---- Finding again ----

TEST(a_text_is_compiled_once_then_found_on_disk_and_in_memory) {
  NEEDS_COMPILER();
  const char *folder = jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzJitSource source = jit_number(1);
  RitzJitModule first = NULL, second = NULL;

  jit_start_counting();
  CHECK(jit_load_answer(ceed, source) == 1, "cold");
  CHECK_COUNTED(0, 0, 1);
  CHECK_OK(ritz_jit_load(ceed, 1, &source, &first));
  CHECK_COUNTED(0, 1, 0);
  CHECK_OK(ritz_jit_load(ceed, 1, &source, &second));
  CHECK_COUNTED(1, 0, 0);
  CHECK(first == second && jit_answer(second) == 1, "two modules");
  ritz_jit_release(&first);
  CHECK(jit_answer(second) == 1, "code goes with the last reference only");
  ritz_jit_release(&second);
  CHECK(!second && jit_count_files(folder, ".so") == 1 && jit_count_files(folder, "") == 2,
        "%d files, wanted the binary and its manifest", jit_count_files(folder, ""));
  CeedDestroy(&ceed);
}

TEST(equal_texts_of_a_call_are_one_module) {
  NEEDS_COMPILER();
  jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzJitSource sources[] = {jit_number(2), jit_number(3), jit_number(2)};
  RitzJitModule modules[3];

  jit_start_counting();
  CHECK_OK(ritz_jit_load(ceed, 3, sources, modules));
  CHECK_COUNTED(1, 0, 2);
  CHECK(modules[0] == modules[2] && modules[0] != modules[1], "modules");
  CHECK(jit_answer(modules[0]) == 2 && jit_answer(modules[1]) == 3, "answers");
  for (int i = 0; i < 3; i++) ritz_jit_release(&modules[i]);
  CHECK_OK(ritz_jit_load(ceed, 0, NULL, NULL));
  CeedDestroy(&ceed);
}

// Descriptors are given out again, and a loader goes by the name of a file.
TEST(texts_loaded_one_after_the_other_keep_their_own_code) {
  NEEDS_COMPILER();
  jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzJitModule modules[2][4];

  for (int round = 0; round < 2; round++) { // compiled, and from disk
    for (int i = 0; i < 4; i++) {
      RitzJitSource source = jit_number(10 + i);

      CHECK_OK(ritz_jit_load(ceed, 1, &source, &modules[round][i]));
    }
    for (int i = 0; i < 4; i++) CHECK(jit_answer(modules[round][i]) == 10 + i, "text %d", i);
    for (int i = 0; i < 4; i++) ritz_jit_release(&modules[round][i]);
  }
  CeedDestroy(&ceed);
}

TEST(whatever_a_binary_depends_on_is_part_of_its_key) {
  NEEDS_COMPILER();
  jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *one = jit_folder("root one"), *two = jit_folder("root'two");
  char *roots[] = {(char *)one, (char *)two}, *swapped[] = {(char *)two, (char *)one};
  char *defines[] = {"ADD=100", "FLAG"};
  RitzJitSource source = jit_source("#include \"number.h\"\n#ifndef ADD\n#define ADD 0\n#endif\n"
                                    "int answer(void) { return NUMBER + ADD; }\n");

  jit_write(jit_path(one, "number.h"), "#define NUMBER 4\n");
  jit_write(jit_path(two, "number.h"), "#define NUMBER 5\n");
  jit_start_counting();
  source.num_roots = 2;
  source.roots = roots;
  CHECK(jit_load_answer(ceed, source) == 4, "first root");
  source.roots = swapped;
  CHECK(jit_load_answer(ceed, source) == 5, "roots the other way round");
  source.num_defines = 2;
  source.defines = defines;
  CHECK(jit_load_answer(ceed, source) == 105, "with a definition");
  setenv("RITZ_CFLAGS", "  -DFLAG2 \t-UADD ", 1);
  CHECK(jit_load_answer(ceed, source) == 5, "arguments of RITZ_CFLAGS come last");
  CHECK_COUNTED(0, 0, 4);
  unsetenv("RITZ_CFLAGS");
  CHECK(jit_load_answer(ceed, source) == 105, "as before");
  CHECK_COUNTED(0, 1, 0);
  CeedDestroy(&ceed);
}

// The headers are those of the library, whatever else there is.
TEST(texts_include_what_the_library_carries_inside) {
  NEEDS_COMPILER();
  jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *root = jit_folder("root");
  char *roots[] = {(char *)root};
  RitzJitSource source =
      jit_source("#include \"kernels/cpu/abi.h\"\n#include <ceed.h>\n#include <ceed/ceed.h>\n"
                 "#include <ceed/types.h>\n#include <math.h>\n"
                 "int answer(void) { return 100 * RITZ_KERNEL_ABI + (int)sizeof(CeedScalar) + "
                 "(int)sqrt(sizeof(CeedInt)); }\n");

  jit_write(jit_path(root, "ceed.h"), "#error a foreign header\n");
  source.roots = roots;
  source.num_roots = 1;
  CHECK(jit_load_answer(ceed, source) % 100 == (int)sizeof(CeedScalar) + 2, "size of a CeedScalar");
  CeedDestroy(&ceed);
}

// ---- Changes ----

TEST(a_changed_include_of_the_users_file_is_noticed_and_a_touched_one_is_not) {
  NEEDS_COMPILER();
  jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *folder = jit_folder("a user's # $x \\ folder");
  const char *user = jit_path(folder, "user.h"), *other = jit_path(folder, "other.h");
  char text[4096], *at = text;
  struct utimbuf past = {.actime = 1000000000, .modtime = 1000000000};

  at += sprintf(at, "#include \"");
  at += sprintf(at, "%s", user);
  sprintf(at, "\"\nint answer(void) { return OTHER; }\n");
  jit_write(user, "#include \"other.h\"\n");
  jit_write(other, "#define OTHER 6\n");
  RitzJitSource source = jit_source(text);

  source.user_file = user;
  jit_start_counting();
  CHECK(jit_load_answer(ceed, source) == 6 && jit_load_answer(ceed, source) == 6, "before");
  CHECK_COUNTED(0, 1, 1);
  jit_write(other, "#define OTHER 7\n");
  CHECK(jit_load_answer(ceed, source) == 7, "same size, another content");
  CHECK_COUNTED(0, 0, 1);
  utime(other, &past);
  CHECK(jit_load_answer(ceed, source) == 7, "same content, another time");
  CHECK_COUNTED(0, 1, 0);
  jit_write(user, "#define OTHER 8\n");
  CHECK(jit_load_answer(ceed, source) == 8, "the user's file itself");
  CHECK_COUNTED(0, 0, 1);
  jit_write(user, "#include \"other.h\"\n");
  CHECK(jit_load_answer(ceed, source) == 7, "as it was");
  CHECK_COUNTED(0, 1, 0);
  unlink(other);
  jit_start_counting();
  CHECK(jit_load_answer(ceed, source) == -1, "an include is gone");
  CHECK(jit_counted().failures == 1, "failures");
  CeedDestroy(&ceed);
}

// What was compiled may be either of the two: it is used, but not kept.
TEST(what_changes_while_it_is_compiled_is_not_kept) {
  NEEDS_COMPILER();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *folder = jit_folder("user"), *names[] = {"user.h", "other.h"};
  const char *user = jit_path(folder, "user.h");
  char text[4096], line[4096];

  snprintf(text, sizeof(text), "#include \"%s\"\nint answer(void) { return 9; }\n", user);
  RitzJitSource source = jit_source(text);
  source.user_file = user;
  for (int i = 0; i < 2; i++) {
    const char *cache = jit_begin();

    jit_write(user, "#include \"other.h\"\n");
    jit_write(jit_path(folder, "other.h"), "\n");
    snprintf(line, sizeof(line), "sleep 0.03; echo '// now' >>'%s/%s'", folder, names[i]);
    setenv("RITZ_CC", jit_wrapped_compiler(line), 1);
    CHECK(jit_load_answer(ceed, source) == 9, "the compilation itself");
    CHECK(jit_count_files(cache, ".so") == 0, "%s: kept", names[i]);
  }
  CeedDestroy(&ceed);
}

// ---- Entries that are not what they should be ----

static bool flip_bit(const char *path) { return jit_flip_bit(path, 2000); }
static bool flip_early_bit(const char *path) { return jit_flip_bit(path, 35); }
static bool cut_end(const char *path) {
  struct stat status;

  return !stat(path, &status) && !truncate(path, status.st_size - 4);
}
static bool exchange(const char *path) { // a good binary, of another text
  const char *other = jit_binary(66);

  return other && !rename(other, path) && !chmod(path, 0644);
}

static const Damage damages[] = {
    {"a flipped bit", ".so", flip_bit},
    {"half of the binary", ".so", jit_halve},
    {"an empty binary", ".so", jit_empty},
    {"no binary", ".so", jit_remove_it},
    {"another binary", ".so", exchange},
    {"a binary for the group", ".so", jit_let_group_write},
    {"a binary for all", ".so", jit_let_all_write},
    {"a foreign binary", ".so", jit_give_away},
    {"a link to the binary", ".so", jit_make_link},
    {"a pipe as binary", ".so", jit_make_pipe},
    {"a damaged manifest", ".txt", flip_early_bit},
    {"half of the manifest", ".txt", jit_halve},
    {"a manifest without end", ".txt", cut_end},
    {"an empty manifest", ".txt", jit_empty},
    {"no manifest", ".txt", jit_remove_it},
    {"a manifest for the group", ".txt", jit_let_group_write},
    {"a foreign manifest", ".txt", jit_give_away},
    {"a link to the manifest", ".txt", jit_make_link},
    {"a pipe as manifest", ".txt", jit_make_pipe},
};

static void check_damage(Ceed ceed, const char *folder, const Damage *damage, const char *key) {
  struct stat status;
  char path[4096];

  snprintf(path, sizeof(path), "%s/%s%s", folder, key, damage->suffix);
  if (!damage->spoil(path)) {
    tap_note("%s: cannot be made here", damage->what);
    return;
  }
  jit_start_counting();
  CHECK(jit_load_answer(ceed, jit_number(20)) == 20, "%s", damage->what);
  CHECK(jit_counted().compilations == 1, "%s was taken", damage->what);
  CHECK(!lstat(path, &status) && S_ISREG(status.st_mode), "%s is still there", damage->what);
  CHECK(jit_load_answer(ceed, jit_number(20)) == 20 && jit_counted().disk_hits == 1, "%s: afterwards",
        damage->what);
}

TEST(entries_that_are_damaged_or_not_our_own_are_made_anew_and_never_loaded) {
  NEEDS_COMPILER();
  const char *folder = jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzJitEntry *entries = NULL;
  size_t num = 0;

  setenv("RITZ_CC", jit_copying_compiler(jit_binary(20)), 1);
  CHECK(jit_load_answer(ceed, jit_number(20)) == 20, "the entry");
  CHECK_OK(RitzJitList(ceed, &num, &entries));
  CHECK(num == 1, "%zu entries", num);
  for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]) && !tap_failed(); i++)
    check_damage(ceed, folder, &damages[i], entries[0].key);
  char manifest[8192];
  snprintf(manifest, sizeof(manifest), "%s/%s.txt", folder, entries[0].key);
  free(entries);
  CHECK(jit_make_pipe(manifest), "no pipe");
  CHECK_OK(RitzJitList(ceed, &num, &entries)); // waits for nobody who writes to it
  CHECK(num == 0, "%zu entries", num);
  free(entries);
  CeedDestroy(&ceed);
}

// ---- Folders that cannot be used ----

// `binary` answers 30.
static void check_without_cache(Ceed ceed, const char *binary, const char *what) {
  const char *temporary = jit_folder("tmp"), *folder = "", *why = NULL;
  RitzJitEntry *entries;
  size_t num;

  setenv("TMPDIR", temporary, 1);
  setenv("RITZ_CC", jit_copying_compiler(binary), 1);
  jit_start_counting();
  for (int i = 0; i < 2; i++) CHECK(jit_load_answer(ceed, jit_number(30)) == 30, "%s", what);
  CHECK_COUNTED(0, 0, 2);
  CHECK(jit_count_files(temporary, "") == 0, "%s: something is left", what);
  CHECK_OK(RitzJitGetFolder(&folder, &why));
  CHECK(!folder && why, "%s: a folder %s", what, folder);
  tap_note("%s: %s", what, why);
  CHECK_OK(RitzJitList(ceed, &num, &entries));
  CHECK(num == 0 && !entries, "%s: entries", what);
  CHECK_OK(RitzJitClear(ceed, NULL));
}

TEST(without_a_cache_folder_code_is_loaded_from_a_temporary_one) {
  NEEDS_COMPILER();
  const char *file = tap_temp_text("file", "x"), *binary = jit_binary(30);
  const char *home = getenv("HOME") ? getenv("HOME") : "/";
  char kept_home[4096];
  Ceed ceed = tap_ceed("/cpu/self/ref");

  snprintf(kept_home, sizeof(kept_home), "%s", home);
  jit_begin();
  setenv("RITZ_CACHE", "off", 1);
  check_without_cache(ceed, binary, "RITZ_CACHE=off");
  jit_begin();
  setenv("RITZ_CACHE_DIR", jit_path(file, "below"), 1);
  check_without_cache(ceed, binary, "below a file");
  setenv("RITZ_CACHE_DIR", "/proc/ritz", 1);
  check_without_cache(ceed, binary, "in /proc");
  unsetenv("RITZ_CACHE_DIR");
  unsetenv("HOME");
  unsetenv("XDG_CACHE_HOME");
  check_without_cache(ceed, binary, "without HOME");
  setenv("HOME", kept_home, 1);
  CeedDestroy(&ceed);
}

TEST(a_folder_that_others_may_write_to_is_not_used) {
  NEEDS_COMPILER();
  const char *folder = jit_begin(), *binary = jit_binary(30);
  Ceed ceed = tap_ceed("/cpu/self/ref");

  CHECK(jit_load_answer(ceed, jit_number(30)) == 30, "an entry");
  chmod(folder, 0770);
  check_without_cache(ceed, binary, "writable for the group");
  chmod(folder, 0700);
  if (geteuid() == 0) {
    CHECK(!chown(folder, 65534, (gid_t)-1), "chown");
    check_without_cache(ceed, binary, "of somebody else");
  }
  CeedDestroy(&ceed);
}

TEST(the_folder_is_made_with_its_parents_for_the_user_alone) {
  NEEDS_COMPILER();
  const char *home = jit_folder("home"), *folder = NULL, *why = "";
  Ceed ceed = tap_ceed("/cpu/self/ref");
  struct stat status;
  mode_t mask = umask(002); // a group shares files here: entries must not be writable for it

  jit_begin();
  unsetenv("RITZ_CACHE_DIR");
  setenv("XDG_CACHE_HOME", jit_path(home, "deep/caches"), 1);
  CHECK_OK(RitzJitGetFolder(&folder, &why));
  CHECK(folder && !why && !strcmp(strrchr(folder, '/'), "/ritz"), "%s", folder ? folder : why);
  for (int up = 0; up < 3; up++) {
    CHECK(!stat(folder, &status) && (status.st_mode & 0777) == 0700, "mode %o", (unsigned)status.st_mode);
    folder = jit_path(folder, "..");
  }
  jit_start_counting();
  for (int i = 0; i < 2; i++) CHECK(jit_load_answer(ceed, jit_number(31)) == 31, "answer");
  CHECK_COUNTED(0, 1, 1);
  umask(mask);
  unsetenv("XDG_CACHE_HOME");
  CeedDestroy(&ceed);
}

TEST(a_site_cache_of_root_is_read_second) {
  NEEDS_COMPILER();
  if (geteuid() != 0) NOT_HERE("nobody but root can make one");
  const char *site = jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");

  CHECK(jit_load_answer(ceed, jit_number(32)) == 32, "fills it");
  const char *own = jit_begin();
  setenv("RITZ_SITE_CACHE", site, 1);
  jit_start_counting();
  CHECK(jit_load_answer(ceed, jit_number(32)) == 32, "from the site");
  CHECK_COUNTED(0, 1, 0);
  CHECK(jit_count_files(own, ".so") == 0, "copied");
  CHECK(!chmod(site, 0777), "chmod");
  CHECK(jit_load_answer(ceed, jit_number(32)) == 32, "not from a folder that all may write to");
  CHECK_COUNTED(0, 0, 1);
  CeedDestroy(&ceed);
}

// ---- Compilers ----

// Loads a text that does not become code; its reason, in a string of this function.
static const char *reason_of(Ceed ceed, RitzJitSource source, RitzJitStatus wanted) {
  static char reason[4096];
  RitzJitModule module = NULL;
  int ierr = ritz_jit_load(ceed, 1, &source, &module);

  snprintf(reason, sizeof(reason), "status %d wanted: error %d", wanted, ierr);
  if (!ierr && ritz_jit_status(module) == wanted)
    snprintf(reason, sizeof(reason), "%s", ritz_jit_reason(module));
  if (!ierr) ritz_jit_release(&module);
  tap_note("%s", reason);
  return reason;
}

TEST(a_compiler_that_cannot_be_run_is_no_compiler) {
  jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *path = "", *version = "";
  const char *bad[] = {"/nonexistent",
                       "no-such-program",
                       "/dev/null",
                       tap_temp_text("no program", "x"),
                       jit_script("exit 3\n"),
                       jit_script("kill -SEGV $$\n")};

  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    setenv("RITZ_CC", bad[i], 1);
    CHECK(strstr(reason_of(ceed, jit_number(40), RITZ_JIT_NO_COMPILER), bad[i]), "%s", bad[i]);
    CHECK_OK(RitzJitGetCompiler(&path, &version));
    CHECK(!path && !version, "%s", bad[i]);
  }
  CeedDestroy(&ceed);
}

TEST(a_compiler_may_lie_in_a_folder_with_a_blank) {
  NEEDS_COMPILER();
  const char *real = jit_real_compiler(), *path = jit_path(jit_folder("a folder"), "my cc"), *used, *version,
             *of_real;
  Ceed ceed = tap_ceed("/cpu/self/ref");

  CHECK_OK(RitzJitGetCompiler(NULL, &of_real));
  CHECK(!symlink(real, path), "symlink");
  setenv("RITZ_CC", path, 1);
  CHECK(jit_load_answer(ceed, jit_number(41)) == 41, "answer");
  CHECK_OK(RitzJitGetCompiler(&used, &version));
  CHECK(!strcmp(used, path), "%s", used);
  CHECK(!strcmp(strrchr(version, ' '), strrchr(of_real, ' ')), "'%s' is '%s'", version, of_real);
  CeedDestroy(&ceed);
}

TEST(a_compiler_that_crashes_or_hangs_refuses_the_text) {
  NEEDS_COMPILER();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  struct {
    const char *line, *part;
  } bad[] = {{"kill -9 $$", "signal 9"},
             {"sleep 1000", "took more than 0.3 s"},
             {"echo 'ld: something'; echo 'collect2: error: 1'; exit 5",
              "ended with status 5): ld: something;"},
             {"exit 0", "no message"}}; // and leaves no binary

  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
    const char *folder = jit_begin();

    setenv("RITZ_CC", jit_wrapped_compiler(bad[i].line), 1);
    ritz_jit_compiler(); // without the short limit
    setenv("RITZ_JIT_TIMEOUT", "0.3", 1);
    CHECK(strstr(reason_of(ceed, jit_number(42), RITZ_JIT_REFUSED), bad[i].part), "%s", bad[i].line);
    CHECK(jit_count_files(folder, "") == 2, "left: %d, wanted the log and the compiler's answers",
          jit_count_files(folder, ""));
  }
  CeedDestroy(&ceed);
}

static int64_t file_size(const char *path) {
  struct stat status;

  return stat(path, &status) ? -1 : (int64_t)status.st_size;
}

TEST(a_compiler_that_does_not_answer_is_asked_once) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *const ends[] = {"sleep 1000", "exit 3", "kill -9 $$",
                              "case \"$*\" in *version*) echo mine;; *) sleep 1000;; esac"};

  for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
    const char *count = jit_path(jit_folder("counted"), "count");

    jit_begin();
    setenv("RITZ_JIT_TIMEOUT", i == 3 ? "2" : "0.3", 1);
    setenv("RITZ_CC", jit_script("echo x >>'%s'\n%s\n", count, ends[i]), 1);
    for (int k = 0; k < 3; k++) {
      const char *reason = reason_of(ceed, jit_number(60 + k), RITZ_JIT_NO_COMPILER);
      CHECK(strstr(reason, i % 3 ? "" : "took more than "), "%s: %s", ends[i], reason);
    }
    CHECK(!ritz_jit_compiler(), "%s: there is a compiler", ends[i]);
    CHECK(file_size(count) == (i == 3 ? 4 : 2), "%s: asked %lld times", ends[i],
          (long long)file_size(count) / 2);
    unsetenv("RITZ_JIT_TIMEOUT");
  }
  CeedDestroy(&ceed);
}

TEST(of_long_messages_beginning_and_end_are_kept) {
  NEEDS_COMPILER();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  char path[4096], *text = NULL;
  size_t length = 0;

  jit_begin();
  setenv("RITZ_CC",
         jit_wrapped_compiler("echo begins; yes | head -c 20000000; echo 'x.c:1: error: ends'; exit 1"), 1);
  const char *reason = reason_of(ceed, jit_number(64), RITZ_JIT_REFUSED),
             *log = strstr(reason, "the whole log: ");
  CHECK(strstr(reason, "error: ends"), "%s", reason);
  snprintf(path, sizeof(path), "%s", log ? log + 15 : "");
  path[strcspn(path, ")\n")] = '\0';
  CHECK_OK(ritz_regular_read(ceed, path, 200000, &length, &text, NULL));
  CHECK(text && !strncmp(text, "begins\n", 7) && strstr(text, " bytes are left out]\n") &&
            !strcmp(text + length - 5, "ends\n"),
        "'%s' has %lld bytes", path, (long long)file_size(path));
  RITZ_FREE(&text);
  CeedDestroy(&ceed);
}

TEST(a_compiler_that_does_not_know_this_processor_is_used_without_it) {
  NEEDS_COMPILER();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *cc = jit_script("case \"$*\" in *=native*) echo 'unknown value native' >&2; exit 1 ;; esac\n"
                              "exec '%s' \"$@\"\n",
                              jit_real_compiler());

  setenv("RITZ_CC", cc, 1);
  CHECK(jit_load_answer(ceed, jit_number(43)) == 43, "answer");
  CeedDestroy(&ceed);
}

TEST(a_program_that_ignores_its_children_can_compile) {
  NEEDS_COMPILER();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  struct sigaction ignore = {.sa_handler = SIG_IGN}, before;

  jit_begin();
  sigaction(SIGCHLD, &ignore, &before);
  int answer = jit_load_answer(ceed, jit_number(44));
  const char *reason = reason_of(ceed, jit_source("int answer(void) { return x; }\n"), RITZ_JIT_REFUSED);
  sigaction(SIGCHLD, &before, NULL);
  CHECK(answer == 44, "answer %d", answer);
  CHECK(strstr(reason, "error:"), "reason");
  CeedDestroy(&ceed);
}

// Each compiler waits until another one has started.
TEST(several_texts_are_compiled_at_the_same_time) {
  NEEDS_COMPILER();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *folder = jit_folder("started");
  RitzJitSource sources[] = {jit_number(45), jit_number(46)};
  RitzJitModule modules[2];
  char line[4096];

  if (ritz_num_processors() < 2) {
    CeedDestroy(&ceed);
    NOT_HERE("there is one processor");
  }
  snprintf(line, sizeof(line), "touch '%s'/$$; n=0; until [ $(ls '%s' | wc -l) = 2 ]; do sleep 0.02; done",
           folder, folder);
  setenv("RITZ_CC", jit_wrapped_compiler(line), 1);
  ritz_jit_compiler();
  setenv("RITZ_JIT_TIMEOUT", "20", 1);
  CHECK_OK(ritz_jit_load(ceed, 2, sources, modules));
  for (int i = 0; i < 2; i++) CHECK(jit_answer(modules[i]) == 45 + i, "%s", ritz_jit_reason(modules[i]));
  for (int i = 0; i < 2; i++) ritz_jit_release(&modules[i]);
  CeedDestroy(&ceed);
}

// ---- Texts that are refused ----

TEST(a_reason_names_file_and_line_of_the_users_mistake_and_the_log) {
  NEEDS_COMPILER();
  const char *folder = jit_begin(), *user = jit_path(jit_folder("my files"), "user file.h");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  char text[4096], place[4096];

  jit_write(user, "static int f(void) {\n  return undeclared;\n}\n");
  snprintf(text, sizeof(text), "#include \"%s\"\nint answer(void) { return f(); }\n", user);
  snprintf(place, sizeof(place), "%s:2:", user);
  RitzJitSource source = jit_source(text);
  source.user_file = user;
  const char *reason = reason_of(ceed, source, RITZ_JIT_REFUSED);
  CHECK(strstr(reason, place) && strstr(reason, "undeclared"), "wanted '%s'", place);
  const char *log = strstr(reason, "the whole log: ");
  CHECK(log && !strncmp(log + 15, folder, strlen(folder)) && jit_count_files(folder, ".log") >= 1, "no log");
  CeedDestroy(&ceed);
}

TEST(a_refused_text_is_compiled_once_in_a_process) {
  NEEDS_COMPILER();
  const char *folder = jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzJitSource source = jit_source("int answer(void) { return sum_thing; }\n");

  jit_start_counting();
  reason_of(ceed, source, RITZ_JIT_REFUSED);
  CHECK_COUNTED(0, 0, 1);
  CHECK(strstr(reason_of(ceed, source, RITZ_JIT_REFUSED), "sum_thing"), "the same reason");
  CHECK_COUNTED(1, 0, 0);
  CHECK(jit_count_files(folder, ".so") == 0, "kept on disk");
  CeedDestroy(&ceed);
}

TEST(a_text_that_calls_what_is_nowhere_is_refused) {
  NEEDS_COMPILER();
  const char *folder = jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzJitSource source = jit_source("int is_nowhere(void);\nint answer(void) { return is_nowhere(); }\n");

  CHECK(strstr(reason_of(ceed, source, RITZ_JIT_REFUSED), "is_nowhere"), "reason");
  CHECK(jit_count_files(folder, ".so") == 0, "kept on disk");
  CeedDestroy(&ceed);
}

TEST(one_refused_text_does_not_harm_the_others) {
  NEEDS_COMPILER();
  jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzJitSource sources[] = {jit_source("#error no\n"), jit_number(50)};
  RitzJitModule modules[2];

  CHECK_OK(ritz_jit_load(ceed, 2, sources, modules));
  CHECK(ritz_jit_status(modules[0]) == RITZ_JIT_REFUSED && !ritz_jit_symbol(modules[0], "answer"),
        "the first");
  CHECK(ritz_jit_status(modules[1]) == RITZ_JIT_READY && jit_answer(modules[1]) == 50, "the second");
  CHECK(!ritz_jit_symbol(modules[1], "no_such_name") &&
            strstr(ritz_jit_reason(modules[1]), "lacks a function"),
        "the second's names");
  for (int i = 0; i < 2; i++) ritz_jit_release(&modules[i]);
  CeedDestroy(&ceed);
}

// ---- Dumps ----

static char *read_text(const char *path) {
  static char text[16384];
  FILE *file = fopen(path, "r");
  size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

  text[n] = '\0';
  if (file) fclose(file);
  return text;
}

TEST(a_dump_holds_all_that_is_needed_to_compile_again) {
  NEEDS_COMPILER();
  const char *folder = jit_path(jit_folder("my 'dumps'"), "deep");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  char *defines[] = {"TEXT=\"it's $HOME\""}, inside[4096], command[8192];
  RitzJitSource source =
      jit_source("#include <ceed.h>\nint answer(void) { return sizeof(TEXT) + sizeof(CeedInt8); }\n");
  RitzJitEntry *entries;
  size_t num;

  jit_begin();
  setenv("RITZ_DUMP", folder, 1);
  source.num_defines = 1;
  source.defines = defines;
  CHECK(jit_load_answer(ceed, source) == 12, "answer");
  CHECK_OK(RitzJitList(ceed, &num, &entries));
  CHECK(num == 1, "%zu entries", num);
  snprintf(inside, sizeof(inside), "%s/test-%.8s", folder, entries[0].key);
  free(entries);
  for (int round = 0; round < 2; round++) { // compiled, and from disk
    CHECK(!strcmp(read_text(jit_path(inside, "kernel.c")), source.text), "the text");
    CHECK(!access(jit_path(inside, "compile.log"), R_OK), "the log");
    CHECK(!unlink(jit_path(inside, "kernel.so")), "the binary");
    snprintf(command, sizeof(command), "cd / && %s", read_text(jit_path(inside, "command.txt")));
    CHECK(!system(command) && !access(jit_path(inside, "kernel.so"), R_OK), "%s", command);
    CHECK(jit_load_answer(ceed, source) == 12, "answer");
  }
  CeedDestroy(&ceed);
}

// Files of this name in the folders of a folder.
static int count_below(const char *folder, const char *name) {
  DIR *stream = opendir(folder);
  int num = 0;

  for (struct dirent *entry; stream && (entry = readdir(stream));)
    num += entry->d_name[0] != '.' && jit_count_files(jit_path(folder, entry->d_name), name);
  if (stream) closedir(stream);
  return num;
}

// Who lets go of kernels does not wait for its compilers, unless their work is to be seen.
TEST(a_dump_holds_texts_that_nobody_waits_for) {
  NEEDS_COMPILER();
  const char *folder = jit_folder("unwanted");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzJitKernel kernels[2] = {{.module = NULL}};
  const RitzJitOrder orders[] = {{jit_number(53), &kernels[0], false}, {jit_number(54), &kernels[1], false}};

  jit_begin();
  setenv("RITZ_DUMP", folder, 1);
  CHECK_OK(ritz_jit_kernels_begin(ceed, 2, orders));
  for (int i = 0; i < 2; i++) ritz_jit_kernel_release(&kernels[i]);
  CHECK(count_below(folder, "kernel.c") == 2, "texts");
  CHECK(count_below(folder, "compile.log") == 2, "logs");
  CHECK(count_below(folder, "kernel.so") == 2, "binaries");
  CeedDestroy(&ceed);
}

// They are told to stop when their kernels are let go, and have stopped when the context has ended.
TEST(a_context_ends_after_compilers_that_nobody_waits_for) {
  NEEDS_COMPILER();
  for (int moment = 0; moment < 4; moment++) {
    const char *folder = jit_begin();
    Ceed ceed = tap_ceed("/cpu/self/gen");
    RitzJitKernel kernels[8] = {{.module = NULL}};

    for (int i = 0; i < 8; i += 4) { // two batches
      RitzJitOrder orders[4];

      for (int k = 0; k < 4; k++) orders[k] = (RitzJitOrder){jit_number(60 + i + k), &kernels[i + k], false};
      CHECK_OK(ritz_jit_kernels_begin(ceed, 4, orders));
    }
    nanosleep(&(struct timespec){.tv_nsec = moment * 20000000L}, NULL);
    for (int i = 0; i < 8; i++) ritz_jit_kernel_release(&kernels[i]);
    CeedDestroy(&ceed);
    CHECK(count_below(folder, "kernel.c") == 0, "a compiler's folder is left");
  }
}

TEST(a_dump_that_cannot_be_written_changes_nothing_else) {
  NEEDS_COMPILER();
  jit_begin();
  Ceed ceed = tap_ceed("/cpu/self/ref");

  setenv("RITZ_DUMP", "/proc/ritz", 1); // the warning on stderr is wanted
  CHECK(jit_load_answer(ceed, jit_number(51)) == 51, "answer");
  CHECK(jit_load_answer(ceed, jit_number(51)) == 51, "answer");
  CeedDestroy(&ceed);
}

// ---- The folder, for people ----

TEST(entries_are_listed_and_cleared_and_files_of_others_stay) {
  NEEDS_COMPILER();
  const char *folder = jit_begin(), *other = jit_path(folder, "notes.txt");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzJitSource sources[] = {jit_number(60), jit_number(61)};
  RitzJitModule modules[2];
  RitzJitEntry *entries = NULL;
  size_t num = 0;
  int64_t now = (int64_t)time(NULL);

  sources[0].name = "zebra";
  sources[1].name = "ant";
  CHECK_OK(ritz_jit_load(ceed, 2, sources, modules));
  jit_write(other, "mine\n");
  jit_write(jit_path(folder, "0123456789012345678901234567890123456789.txt"), "mine, too\n");
  CHECK_OK(RitzJitList(ceed, &num, &entries));
  CHECK(num == 2 && !strcmp(entries[0].name, "ant") && !strcmp(entries[1].name, "zebra"), "%zu entries", num);
  CHECK(strlen(entries[0].key) == 40 && strcmp(entries[0].key, entries[1].key) != 0, "keys");
  CHECK(entries[0].num_bytes > 1000 && llabs(now - (long long)entries[0].modified) < 1000, "size and time");
  free(entries);
  CHECK_OK(RitzJitClear(ceed, &num));
  CHECK(num == 3 && jit_count_files(folder, "") == 1 && !access(other, R_OK), "%zu removed", num);
  CHECK_OK(RitzJitList(ceed, &num, &entries));
  CHECK(num == 0 && !entries, "entries are left");
  for (int i = 0; i < 2; i++) CHECK(jit_answer(modules[i]) == 60 + i, "what is loaded stays loaded");
  for (int i = 0; i < 2; i++) ritz_jit_release(&modules[i]);
  CeedDestroy(&ceed);
}

TEST(counters_and_compiler_are_told) {
  NEEDS_COMPILER();
  const char *path = NULL, *version = NULL;
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzJitCounters before, after;

  CHECK_OK(RitzJitGetCompiler(&path, &version));
  CHECK(path && path[0] == '/' && version && *version, "compiler");
  tap_note("%s: %s", path, version);
  CHECK_OK(RitzJitGetCounters(&before));
  CHECK(jit_load_answer(ceed, jit_number(62)) == 62, "answer");
  CHECK_OK(RitzJitGetCounters(&after));
  CHECK(after.compilations == before.compilations + 1 && after.compile_seconds > before.compile_seconds &&
            after.load_seconds > before.load_seconds && after.failures == before.failures,
        "counters");
  CeedDestroy(&ceed);
}

// ---- Threads ----

enum { NUM_THREADS = 4 };

static void *load_in_thread(void *arg) {
  int *wrong = arg;
  Ceed ceed = NULL;

  if (CeedInit("/cpu/self/ref", &ceed)) return NULL;
  for (int i = 0; i < 40; i++) {
    RitzJitSource source = {.name = "test",
                            .text = i % 2 ? "int answer(void) { return 70; }\n"
                                          : "int answer(void) { return 71; }\n"};
    RitzJitModule module = NULL;

    *wrong += ritz_jit_load(ceed, 1, &source, &module) || jit_answer(module) != 71 - i % 2;
    ritz_jit_release(&module);
  }
  CeedDestroy(&ceed);
  return NULL;
}

TEST(threads_load_at_the_same_time_and_compile_each_text_once) {
  NEEDS_COMPILER();
  pthread_t threads[NUM_THREADS];
  int wrong[NUM_THREADS] = {0};

  jit_begin();
  jit_start_counting();
  for (int i = 0; i < NUM_THREADS; i++)
    CHECK(!pthread_create(&threads[i], NULL, load_in_thread, &wrong[i]), "no thread");
  for (int i = 0; i < NUM_THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < NUM_THREADS; i++) CHECK(wrong[i] == 0, "thread %d: %d wrong", i, wrong[i]);
  CHECK(jit_counted().compilations == 2, "%d compilations", (int)jit_counted().compilations);
}

// ---- Memory ----

// What is compiled, found on disk, and refused, each with one allocation failing.
static void fail_at(Ceed ceed, int64_t n, bool *has_failed) {
  RitzJitSource sources[] = {jit_number(80), jit_number(81), jit_source("#include \"/nonexistent\"\n")};
  RitzJitModule modules[3];
  RitzJitEntry *entries = NULL;
  size_t num;
  int64_t live = ritz_memory_live();

  ritz_memory_fail_at(n);
  int ierr = ritz_jit_load(ceed, 3, sources, modules);
  if (!ierr) {
    for (int i = 0; i < 3; i++) ritz_jit_release(&modules[i]);
    ierr = ritz_jit_list(ceed, &num, &entries);
    RITZ_FREE(&entries);
  }
  ritz_memory_fail_at(0);
  *has_failed = ierr;
  for (int i = 0; i < 3; i++) CHECK(!modules[i], "allocation %d: a module is left", (int)n);
  CHECK(ritz_memory_live() == live, "allocation %d: %d are left", (int)n, (int)(ritz_memory_live() - live));
}

TEST(an_allocation_that_fails_is_reported_and_nothing_is_left) {
  NEEDS_COMPILER();
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *cache = jit_begin(), *dump = jit_folder("dump"), *binary = jit_binary(80);
  bool has_failed = true;
  int64_t n = 1, step = tap_level() > TAP_QUICK ? 3 : 41;

  setenv("RITZ_DUMP", dump, 1);
  for (; has_failed && !tap_failed(); n += step) { // a compiler of its own each time: nothing is known of it
    setenv("RITZ_CC", jit_copying_compiler(binary), 1);
    fail_at(ceed, n, &has_failed);
    CHECK(jit_count_files(cache, ".lock") == 0, "allocation %d: a lock is left", (int)n);
    CHECK_OK(RitzJitClear(ceed, NULL));
    CHECK(jit_count_files(cache, "") == 0, "allocation %d: something is left", (int)n);
  }
  tap_note("about %d allocations", (int)n);
  CHECK(n > 100, "%d", (int)n);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(the_hash_is_BLAKE2s, a_hash_does_not_depend_on_how_the_bytes_arrive,
            a_text_is_compiled_once_then_found_on_disk_and_in_memory, equal_texts_of_a_call_are_one_module,
            texts_loaded_one_after_the_other_keep_their_own_code,
            whatever_a_binary_depends_on_is_part_of_its_key, texts_include_what_the_library_carries_inside,
            a_changed_include_of_the_users_file_is_noticed_and_a_touched_one_is_not,
            what_changes_while_it_is_compiled_is_not_kept,
            entries_that_are_damaged_or_not_our_own_are_made_anew_and_never_loaded,
            without_a_cache_folder_code_is_loaded_from_a_temporary_one,
            a_folder_that_others_may_write_to_is_not_used,
            the_folder_is_made_with_its_parents_for_the_user_alone, a_site_cache_of_root_is_read_second,
            a_compiler_that_cannot_be_run_is_no_compiler, a_compiler_may_lie_in_a_folder_with_a_blank,
            a_compiler_that_crashes_or_hangs_refuses_the_text, a_compiler_that_does_not_answer_is_asked_once,
            of_long_messages_beginning_and_end_are_kept,
            a_compiler_that_does_not_know_this_processor_is_used_without_it,
            a_program_that_ignores_its_children_can_compile, several_texts_are_compiled_at_the_same_time,
            a_reason_names_file_and_line_of_the_users_mistake_and_the_log,
            a_refused_text_is_compiled_once_in_a_process, a_text_that_calls_what_is_nowhere_is_refused,
            one_refused_text_does_not_harm_the_others, a_dump_holds_all_that_is_needed_to_compile_again,
            a_dump_holds_texts_that_nobody_waits_for, a_context_ends_after_compilers_that_nobody_waits_for,
            a_dump_that_cannot_be_written_changes_nothing_else,
            entries_are_listed_and_cleared_and_files_of_others_stay, counters_and_compiler_are_told,
            threads_load_at_the_same_time_and_compile_each_text_once,
            an_allocation_that_fails_is_reported_and_nothing_is_left));
}
