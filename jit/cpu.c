// SPDX-License-Identifier: BSD-2-Clause
// The processor (contract in jit/cpu.h): the cpuid instruction on x86, what the kernel tells elsewhere.
#include "jit/cpu.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#if (defined(__x86_64__) || defined(__i386__)) && defined(__GNUC__)

#include <cpuid.h>

// Numbers of processors (in ebx of leaf 1), which differ within a machine, are left out.
static void describe_leaf(RitzHasher *hasher, unsigned leaf, unsigned subleaf, unsigned keep_ebx) {
  unsigned r[4] = {0};

  if ((unsigned)__get_cpuid_max(leaf & 0x80000000, NULL) >= leaf)
    __cpuid_count(leaf, subleaf, r[0], r[1], r[2], r[3]);
  r[1] &= keep_ebx;
  ritz_hash_add(hasher, r, sizeof(r));
}

// Features that the system has to support, too.
static void describe_system(RitzHasher *hasher) {
  char has[] = {__builtin_cpu_supports("avx") ? 'y' : 'n', __builtin_cpu_supports("avx2") ? 'y' : 'n',
                __builtin_cpu_supports("avx512f") ? 'y' : 'n'};

  ritz_hash_add(hasher, has, sizeof(has));
}

void ritz_cpu_describe(RitzHasher *hasher) {
  describe_leaf(hasher, 0, 0, ~0u); // vendor
  describe_leaf(hasher, 1, 0, 0);   // family, model, features
  describe_leaf(hasher, 7, 0, ~0u);
  describe_leaf(hasher, 7, 1, ~0u);
  describe_leaf(hasher, 0x80000001, 0, 0);
  describe_system(hasher);
}

const char *ritz_cpu_vector_flag(void) {
  return __builtin_cpu_supports("avx512f") ? "-mprefer-vector-width=512" : "-mno-avx512f";
}

#else

// Lines of the first processor in the words of the kernel for ARM, RISC-V, POWER.
static bool tells_features(const char *line) {
  static const char *const keys[] = {"Features", "CPU ", "isa", "cpu\t"};

  for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
    if (!strncmp(line, keys[i], strlen(keys[i]))) return true;
  return false;
}

void ritz_cpu_describe(RitzHasher *hasher) {
  char line[4096];
  struct utsname system;
  FILE *file = fopen("/proc/cpuinfo", "r");

  if (uname(&system) >= 0) ritz_hash_add_string(hasher, system.machine);
  while (file && fgets(line, sizeof(line), file) && line[0] != '\n')
    if (tells_features(line)) ritz_hash_add_string(hasher, line);
  if (file) fclose(file);
}

const char *ritz_cpu_vector_flag(void) { return NULL; }

#endif
