// SPDX-License-Identifier: BSD-2-Clause
// Start of the deal.II peer's programs; see process.hh.
#include "process.hh"

#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

bool parse_number(const char *text, const double least, const double most, double *value) {
  char *end;

  *value = std::strtod(text, &end);
  return end != text && !*end && *value >= least && *value <= most;
}

void ask_for_large_pages(char **argv) {
  if (std::getenv("GLIBC_TUNABLES")) return;
  setenv("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1", 1);
  execv("/proc/self/exe", argv); // without /proc: small pages
}

void start_ranks(const int num_ranks, const int argc, char **argv) {
  const std::string num = std::to_string(num_ranks);
  std::vector<const char *> words = {MPIEXEC, "-n", num.c_str(), "--bind-to", "none"};

  if (geteuid() == 0) words.push_back("--allow-run-as-root");
  for (int i = 0; i < argc; i++) {
    if (std::string(argv[i]) == "--threads")
      i++;
    else
      words.push_back(argv[i]);
  }
  words.push_back(nullptr);
  execvp(words[0], const_cast<char **>(words.data()));
  std::perror("dealii: " MPIEXEC);
}

void pin(const int rank, const int num_ranks) {
  cpu_set_t given, own;

  if (num_ranks == 1 || sched_getaffinity(0, sizeof(given), &given) || CPU_COUNT(&given) < num_ranks) return;
  for (int cpu = 0, next = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &given) || next++ != rank) continue;
    CPU_ZERO(&own);
    CPU_SET(cpu, &own);
    sched_setaffinity(0, sizeof(own), &own);
  }
}
