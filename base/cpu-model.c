// SPDX-License-Identifier: BSD-2-Clause
// Whose the processor is and which vectors it has: functions that are compiled for several of them
// (RITZ_CLONED, base/simd.h), __builtin_cpu_is and __builtin_cpu_supports ask the run-time library of the
// compiler. That of zig answers "none", whatever the processor; then the build takes this file, too, whose
// answers come first. x86-64 alone. Instructions CPUID and XGETBV: Intel 64 and IA-32 Architectures Software
// Developer's Manual, volume 1, sections 14.3 and 15.2; the order of bits and the numbers of vendors are part
// of the binary interface that gcc and clang share.
#include <cpuid.h>

int __cpu_indicator_init(void);

struct {
  unsigned vendor, type, subtype, features;
} __cpu_model;

enum { VENDOR_INTEL = 1, VENDOR_OTHER = 3 };
enum { BIT_AVX = 9, BIT_AVX2 = 10, BIT_FMA = 14, BIT_AVX512F = 15 };
enum { SAVES_AVX = 0x6, SAVES_AVX512 = 0xe6 }; // registers that the system saves, in XCR0

static unsigned saved_registers(void) {
  unsigned low, high;

  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static unsigned list_features(void) {
  unsigned leaf1[4] = {0}, leaf7[4] = {0};

  __get_cpuid(1, &leaf1[0], &leaf1[1], &leaf1[2], &leaf1[3]);
  __get_cpuid_count(7, 0, &leaf7[0], &leaf7[1], &leaf7[2], &leaf7[3]);
  const unsigned saved = leaf1[2] & bit_OSXSAVE ? saved_registers() : 0;
  const unsigned has_avx = (leaf1[2] & bit_AVX) && (saved & SAVES_AVX) == SAVES_AVX;
  const unsigned has_avx512 = has_avx && (saved & SAVES_AVX512) == SAVES_AVX512;

  return has_avx << BIT_AVX | (has_avx && (leaf7[1] & bit_AVX2)) << BIT_AVX2 |
         (has_avx && (leaf1[2] & bit_FMA)) << BIT_FMA |
         (has_avx512 && (leaf7[1] & bit_AVX512F)) << BIT_AVX512F;
}

static unsigned find_vendor(void) {
  unsigned leaf0[4] = {0};

  __get_cpuid(0, &leaf0[0], &leaf0[1], &leaf0[2], &leaf0[3]);
  return leaf0[1] == signature_INTEL_ebx && leaf0[2] == signature_INTEL_ecx ? VENDOR_INTEL : VENDOR_OTHER;
}

// Called before all else, by resolvers of cloned functions while the library is loaded, too.
__attribute__((constructor(101))) int __cpu_indicator_init(void) {
  if (__cpu_model.vendor) return 0;
  __cpu_model.features = list_features();
  __cpu_model.vendor = find_vendor();
  return 0;
}
