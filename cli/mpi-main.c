// SPDX-License-Identifier: BSD-2-Clause
// The `ritz-mpi` program: `ritz solve` whose parts are the processes that mpiexec has started.
//
//     mpiexec -n 4 ritz-mpi solve mesh.msh --order 4 --bc wall=0
//
// All processes have the same arguments, but for :device_id=; else none begins. A process that fails ends
// all, after its message. Exit status as that of `ritz`.
#define _GNU_SOURCE // sched_getaffinity on Linux
#include <ritz/device.h>
#include <ritz/mpi.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "cli/solve.h"
#include "cli/threads.h"

static int run_in_ranks(RitzPartFunction function, void *ctx) {
  return RitzRunRanks(MPI_COMM_WORLD, function, ctx);
}

static void end_all(int part) {
  fprintf(stderr, "ritz-mpi: process %d has failed\n", part);
  fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, CLI_FAILED);
}

// Threads of this process: the sum of its shares in the processors that it may use. Processes of one machine
// that may use the same processor have equal shares; a quota of control groups is that of all of them.
static int share_processors(MPI_Comm machine) {
  enum { MAX_PROCESSORS = 1024 };
  int users[MAX_PROCESSORS] = {0}, num = 0, num_ranks = 1;
  bool is_mine[MAX_PROCESSORS] = {false};
  double share = 0;

#if defined(__linux__)
  cpu_set_t mask;
  const bool is_known = !sched_getaffinity(0, sizeof(mask), &mask);
  for (int i = 0; i < MAX_PROCESSORS && is_known; i++) users[i] = is_mine[i] = CPU_ISSET(i, &mask);
#endif
  MPI_Comm_size(machine, &num_ranks);
  MPI_Allreduce(MPI_IN_PLACE, users, MAX_PROCESSORS, MPI_INT, MPI_SUM, machine);
  for (int i = 0; i < MAX_PROCESSORS; i++) {
    if (is_mine[i]) share += 1.0 / users[i];
    num += is_mine[i];
  }
  const int available = threads_of_processors();

  if (available < num || !num) return threads_shared(available, num_ranks);
  return share > 1 ? (int)(share + 1e-6) : 1;
}

// Processes of one machine take its devices in turn.
static void choose_device(MPI_Comm machine) {
  CeedInt num_drivers = 0;
  int rank = 0, num = 1, num_ranks = 1;

  MPI_Comm_rank(machine, &rank);
  MPI_Comm_size(machine, &num_ranks);
  RitzDeviceGetNumDrivers(&num_drivers);
  for (CeedInt i = 0; i < num_drivers; i++) {
    RitzDriverFacts facts;

    if (!RitzDeviceGetDriver(i, &facts) && !strcmp(facts.name, "cuda") && facts.num_devices > 0)
      num = facts.num_devices;
  }
  int shares = num_ranks > num;

  MPI_Allreduce(MPI_IN_PLACE, &shares, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  solve_processes.device = rank % num;
  solve_processes.shares_devices = shares;
}

// OMP_NUM_THREADS is of each process, which has no more than its share of the machine.
static void divide_machine(bool wants_gpus) {
  MPI_Comm machine;

  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  const int share = share_processors(machine), wanted = threads_of_process();

  solve_processes.num_threads = wanted < share ? wanted : share;
  if (wants_gpus) choose_device(machine);
  MPI_Comm_free(&machine);
}

static bool asks_for_gpus(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (strstr(argv[i], "/gpu/cuda")) return true;
  }
  return false;
}

// The largest code of all processes. A message is told where the first process, which tells its own, has
// none.
static int agree(int code) {
  int rank = 0, codes[2] = {code, code};

  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank > 0) codes[1] = 0;
  MPI_Allreduce(MPI_IN_PLACE, codes, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (code && codes[1] == 0) cli_tell();
  return codes[0];
}

// FNV-1a, of the arguments and their ends; where devices are named, not of their numbers.
static uint64_t hash_arguments(int argc, char **argv) {
  static const char device[] = ":device_id=";
  uint64_t hash = 0xcbf29ce484222325;

  for (int i = 1; i < argc; i++) {
    for (const char *c = argv[i];; c++) {
      if (!strncmp(c, device, strlen(device))) c += strlen(device) + strspn(c + strlen(device), "0123456789");
      hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
      if (!*c) break;
    }
  }
  return hash;
}

// Processes with other arguments would wait for messages that nobody sends.
static int compare_arguments(int argc, char **argv) {
  uint64_t hash = hash_arguments(argc, argv), first = hash;
  int rank = 0, differing = 0;

  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Bcast(&first, sizeof(first), MPI_BYTE, 0, MPI_COMM_WORLD);
  differing = hash != first ? rank : 0;
  MPI_Allreduce(MPI_IN_PLACE, &differing, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (!differing) return CLI_OK;
  fprintf(cli_stderr(), "ritz-mpi: process %d has other arguments than process 0, all need the same\n",
          differing);
  return CLI_USAGE;
}

static int check_device_memory(void) {
  int takes_device_memory = 0;

  if (!RitzMPITakesDeviceMemory(&takes_device_memory)) return CLI_OK;
  fprintf(cli_stderr(),
          "ritz-mpi: MPI does not say whether it takes memory of devices; RITZ_MPI_CUDA=0 or 1 does\n");
  return CLI_USAGE;
}

static int run_with(int argc, char **argv) {
  CLI_TRY(compare_arguments(argc, argv));
  CLI_TRY(agree(check_device_memory()));
  divide_machine(asks_for_gpus(argc, argv));
  if (argc > 1 && !strcmp(argv[1], "solve")) return solve_with(argc - 1, argv + 1);
  if (argc > 1 && !strcmp(argv[1], "--version")) return cli_print_version();
  fprintf(cli_stderr(), "usage: mpiexec -n N ritz-mpi solve [arguments]\n"
                        "The arguments are those of 'ritz solve', without --parts and --gpus.\n");
  return CLI_USAGE;
}

// Files of arguments are read by each process, and compared as arguments.
static int run_processes(int argc, char **argv) {
  ArgWords words;
  int code = agree(args_read_files(&solve_command, argc, argv, &words));

  if (!code) code = run_with(words.argc, words.argv);
  args_free_words(&words);
  return code;
}

int main(int argc, char **argv) {
  int rank = 0, code = CLI_FAILED;

  setenv("CEED_ERROR_HANDLER", "return", 1);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &solve_processes.num);
  cli_be_part(rank == 0);
  if (rank > 0 && !freopen("/dev/null", "w", stdout)) MPI_Abort(MPI_COMM_WORLD, CLI_FAILED);
  solve_processes.run = run_in_ranks;
  solve_processes.agree = agree;
  solve_processes.fail = end_all;
  code = run_processes(argc, argv);
  if (fflush(stdout) || ferror(stdout)) {
    fprintf(stderr, "ritz-mpi: cannot write to standard output\n");
    code = CLI_FAILED;
  }
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  cli_speak();
  MPI_Finalize();
  return code;
}
