// SPDX-License-Identifier: BSD-2-Clause
// Rate of multiply-adds: chains a = a x + b in registers, enough of them to hide the latency. The library is
// built for the oldest processor of its kind; these loops exist for wider registers, too, and the widest ones
// that the processor has are chosen at run time. By intrinsics, as ISO C modes do not contract a*x + b.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "machine/machine.h"

#if defined(__GNUC__) && defined(__x86_64__)
#define HAVE_X86
#include <immintrin.h>
#elif defined(__GNUC__) && defined(__aarch64__)
#define HAVE_NEON
#include <arm_neon.h>
#endif

enum { NUM_CHAINS = 12 };

// Runs the chains for num_rounds rounds and returns the sum of all lanes. Chains start apart, so that no two
// are the same to a compiler, and tend to b / (1 - x).
#define CHAINS(name, attribute, Scalar, Register, MULTIPLY_ADD)                                              \
  attribute static double name(int64_t num_rounds, double factor, double term) {                             \
    const Register x = (Register){0} + (Scalar)factor, b = (Register){0} + (Scalar)term;                     \
    Register a0 = b, a1 = a0 + b, a2 = a1 + b, a3 = a2 + b, a4 = a3 + b, a5 = a4 + b, a6 = a5 + b,           \
             a7 = a6 + b, a8 = a7 + b, a9 = a8 + b, a10 = a9 + b, a11 = a10 + b;                             \
    Scalar lanes[sizeof(Register) / sizeof(Scalar)];                                                         \
    double sum = 0;                                                                                          \
                                                                                                             \
    for (int64_t round = 0; round < num_rounds; round++) {                                                   \
      a0 = MULTIPLY_ADD(a0, x, b), a1 = MULTIPLY_ADD(a1, x, b), a2 = MULTIPLY_ADD(a2, x, b);                 \
      a3 = MULTIPLY_ADD(a3, x, b), a4 = MULTIPLY_ADD(a4, x, b), a5 = MULTIPLY_ADD(a5, x, b);                 \
      a6 = MULTIPLY_ADD(a6, x, b), a7 = MULTIPLY_ADD(a7, x, b), a8 = MULTIPLY_ADD(a8, x, b);                 \
      a9 = MULTIPLY_ADD(a9, x, b), a10 = MULTIPLY_ADD(a10, x, b), a11 = MULTIPLY_ADD(a11, x, b);             \
    }                                                                                                        \
    a0 += a1 + a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11;                                            \
    memcpy(lanes, &a0, sizeof(a0));                                                                          \
    for (size_t l = 0; l < sizeof(Register) / sizeof(Scalar); l++) sum += (double)lanes[l];                  \
    return sum;                                                                                              \
  }

typedef double (*Chains)(int64_t num_rounds, double factor, double term);
typedef struct {
  int double_lanes, single_lanes; // of a register
  Chains double_chains, single_chains;
} Kernels;

#if defined(HAVE_X86)
typedef double Double2 __attribute__((vector_size(16)));
typedef float Single4 __attribute__((vector_size(16)));
#define SEPARATE(a, x, b) ((a) * (x) + (b))
#define AVX2              __attribute__((target("avx2,fma")))
#define AVX512            __attribute__((target("avx512f")))
CHAINS(sse_double, , double, Double2, SEPARATE)
CHAINS(sse_single, , float, Single4, SEPARATE)
CHAINS(avx2_double, AVX2, double, __m256d, _mm256_fmadd_pd)
CHAINS(avx2_single, AVX2, float, __m256, _mm256_fmadd_ps)
CHAINS(avx512_double, AVX512, double, __m512d, _mm512_fmadd_pd)
CHAINS(avx512_single, AVX512, float, __m512, _mm512_fmadd_ps)

static Kernels widest_kernels(void) {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return (Kernels){8, 16, avx512_double, avx512_single};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return (Kernels){4, 8, avx2_double, avx2_single};
  return (Kernels){2, 4, sse_double, sse_single};
}
#elif defined(HAVE_NEON)
#define NEON_DOUBLE(a, x, b) vfmaq_f64(b, a, x)
#define NEON_SINGLE(a, x, b) vfmaq_f32(b, a, x)
CHAINS(neon_double, , double, float64x2_t, NEON_DOUBLE)
CHAINS(neon_single, , float, float32x4_t, NEON_SINGLE)

static Kernels widest_kernels(void) { return (Kernels){2, 4, neon_double, neon_single}; }
#else
#define SEPARATE(a, x, b) ((a) * (x) + (b))
CHAINS(scalar_double, , double, double, SEPARATE)
CHAINS(scalar_single, , float, float, SEPARATE)

static Kernels widest_kernels(void) { return (Kernels){1, 1, scalar_double, scalar_single}; }
#endif

int ritz_machine_vector_bits(void) { return 64 * widest_kernels().double_lanes; }

// ---- Timing ----

// Unknown to the compiler, so that nothing is computed in advance.
static const volatile double chain_factor = 0.5, chain_term = 1;

typedef struct {
  Chains chains;
  int64_t num_rounds;
} Run;

static int run_chains(void *data, int thread) {
  const Run *run = data;

  (void)thread;
  // Looked at, so that it has to be computed.
  return run->chains(run->num_rounds, chain_factor, chain_term) > 0 ? CEED_ERROR_SUCCESS : CEED_ERROR_BACKEND;
}

// Runs of a millisecond, so that starting the team does not count; shorter ones when time is shorter.
static int measure_fma(RitzTeam team, Chains chains, int lanes, double seconds, int64_t *flops) {
  Run run = {.chains = chains, .num_rounds = 1000};
  double best = 0, enough = fmin(1e-3, seconds);

  while (best < enough) {
    run.num_rounds *= 4;
    RITZ_TRY(ritz_machine_time(team, run_chains, &run, 0, &best));
  }
  RITZ_TRY(ritz_machine_time(team, run_chains, &run, seconds, &best));
  *flops = (int64_t)(2.0 * NUM_CHAINS * lanes * ritz_team_size(team) * (double)run.num_rounds / best);
  return CEED_ERROR_SUCCESS;
}

int ritz_machine_flops(RitzTeam team, double seconds, RitzMachineRates *rates) {
  Kernels kernels = widest_kernels();

  RITZ_TRY(measure_fma(team, kernels.double_chains, kernels.double_lanes, seconds, &rates->double_flops));
  return measure_fma(team, kernels.single_chains, kernels.single_lanes, seconds, &rates->single_flops);
}
