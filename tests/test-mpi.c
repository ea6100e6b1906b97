// SPDX-License-Identifier: BSD-2-Clause
// Exchanges by ritz/mpi.h on a driver of CUDA and an MPI that are made for tests: MPI gets pointers of the
// device where it takes them, after what was queued, and the host's elsewhere; who says so. Real processes
// on the host: tools/check-mpi.
#include <ritz/mpi.h>

#include "devices/device.h"
#include "tests/fake-mpi/mpich.h"
#include "tests/load-fakes.h"
#include "tests/parts-kit.h"

// ---- What MPI sees ----

static struct {
  FakeCuda *driver;
  RitzDevice device;
  int num_on_device, num_on_host; // buffers
  int num_early;                  // buffers while work of the context was waiting
  int num_outside;                // calls without a current context
} seen;

static void look(const char *call, const void *buffer) {
  void *start = NULL;
  size_t num_bytes = 0;

  (void)call;
  seen.num_outside += seen.driver->current == NULL;
  if (!buffer) return;
  seen.num_early += seen.driver->num_queued > 0;
  ritz_cuda.find(seen.device, buffer, &start, &num_bytes);
  *(start ? &seen.num_on_device : &seen.num_on_host) += 1;
}

// ---- One of two parts, the one whose shared node is a ghost ----

typedef struct {
  Ceed host, ceed;
  RitzMesh whole, mesh;
  RitzSpace space;
  RitzTransport transport;
  RitzExchange exchange;
  CeedSize length, num_owned;
  CeedVector x;
} Kit;

enum { NUM_COMP = 3 };

static void close_part(Kit *k) {
  CHECK_OK(RitzExchangeDestroy(&k->exchange));
  CHECK_OK(RitzTransportDestroyMPI(&k->transport));
  CHECK_OK(RitzSpaceDestroy(&k->space));
  CHECK_OK(RitzMeshDestroy(&k->mesh));
}

static void open_part(Kit *k, int part) {
  const int32_t parts[4] = {0, 0, 1, 1};

  fake_mpi.rank = part;
  CHECK_OK(RitzMeshCreateSubmesh(k->whole, 2, parts, part, &k->mesh));
  CHECK_OK(RitzSpaceCreate(k->mesh, 1, NUM_COMP, &k->space));
  CHECK_OK(RitzTransportCreateMPI(MPI_COMM_WORLD, &k->transport));
  CHECK_OK(RitzExchangeCreate(k->space, k->ceed, &k->transport, &k->exchange));
  CHECK_OK(RitzExchangeGetNumOwned(k->exchange, &k->num_owned));
  CHECK_OK(RitzSpaceGetSize(k->space, &k->length));
}

// x[i] = i + 1, on the device.
static void create_vector(Kit *k) {
  CeedScalar values[32];

  for (int i = 0; i < 32; i++) values[i] = (CeedScalar)(i + 1);
  CHECK_OK(CeedVectorCreate(k->ceed, k->length, &k->x));
  CHECK_OK(CeedVectorSetArray(k->x, CEED_MEM_HOST, CEED_COPY_VALUES, values));
}

static void begin(Kit *k, int takes_devices) {
  *k = (Kit){0};
  memset(&seen, 0, sizeof(seen));
  seen.driver = fakes_load_for_contexts();
  fake_mpi = (FakeMpi){.takes_devices = takes_devices, .look = look};
  CHECK(seen.driver != NULL, "the fake is not there");
  if (tap_failed()) return;
  CHECK_OK(CeedInit("/cpu/self/ref", &k->host));
  CHECK_OK(CeedInit("/gpu/cuda/shared", &k->ceed));
  CHECK_OK(CeedSetErrorHandler(k->ceed, CeedErrorStore));
  CHECK_OK(ritz_cuda.open(k->ceed, 0, &seen.device));
  CHECK_OK(make_mesh(k->host, 0, &k->whole));
  open_part(k, 0);
  if (!tap_failed() && k->num_owned == k->length) {
    close_part(k);
    open_part(k, 1);
  }
  CHECK(k->length - k->num_owned == NUM_COMP && k->length <= 32, "%d entries, %d owned", (int)k->length,
        (int)k->num_owned);
  if (!tap_failed()) create_vector(k);
}

static void end(Kit *k) {
  CHECK_OK(CeedVectorDestroy(&k->x));
  close_part(k);
  CHECK_OK(RitzMeshDestroy(&k->whole));
  CHECK_OK(CeedDestroy(&k->ceed));
  CHECK_OK(CeedDestroy(&k->host));
  CHECK(fake_mpi.num_comms == 0 && fake_mpi.num_requests == 0 && seen.driver->depth == 0,
        "%d communicators, %d requests, %d contexts are left", fake_mpi.num_comms, fake_mpi.num_requests,
        seen.driver->depth);
  unsetenv("RITZ_CACHE");
}

// ---- Exchanges ----

// Ghosts are what has come; all else is as it was.
static void check_received(const Kit *k, unsigned char byte) {
  const CeedScalar *x = NULL;
  CeedScalar wanted;

  memset(&wanted, byte, sizeof(wanted));
  CHECK_OK(CeedVectorGetArrayRead(k->x, CEED_MEM_HOST, &x));
  for (CeedSize i = 0; x && i < k->length; i++) {
    const CeedScalar value = i < k->num_owned ? (CeedScalar)(i + 1) : wanted;
    CHECK(x[i] == value, "entry %d is %g, wanted %g", (int)i, (double)x[i], (double)value);
  }
  CHECK_OK(CeedVectorRestoreArrayRead(k->x, &x));
}

static void check_sent(const Kit *k) {
  CHECK(fake_mpi.num_sent == NUM_COMP * (int)sizeof(CeedScalar), "%d bytes are sent", fake_mpi.num_sent);
  for (int i = 0; i < NUM_COMP; i++) {
    CeedScalar value;

    memcpy(&value, fake_mpi.sent + (size_t)i * sizeof(value), sizeof(value));
    CHECK(value == (CeedScalar)(k->num_owned + i + 1), "ghost %d is sent as %g", i, (double)value);
  }
}

// To ghosts and, begun alone, to owners: adding up is not for the fake driver.
static void check_exchanges(Kit *k, CeedMemType wanted) {
  const bool is_direct = wanted == CEED_MEM_DEVICE;
  CeedMemType mem_type = is_direct ? CEED_MEM_HOST : CEED_MEM_DEVICE;

  CHECK_OK(RitzTransportGetMemType(k->ceed, &k->transport, &mem_type));
  CHECK(mem_type == wanted, "messages are in memory %d", (int)mem_type);
  CHECK_OK(RitzTransportGetMemType(k->host, &k->transport, &mem_type));
  CHECK(mem_type == CEED_MEM_HOST, "the host's messages are in memory %d", (int)mem_type);
  fake_mpi.arriving = 0x40; // a number
  CHECK_OK(RitzExchangeRun(k->exchange, RITZ_EXCHANGE_TO_GHOSTS, k->x));
  check_received(k, 0x40);
  CHECK(seen.num_on_device == is_direct && seen.num_on_host == !is_direct, "%d buffers on the device, %d not",
        seen.num_on_device, seen.num_on_host);
  CHECK_OK(CeedVectorDestroy(&k->x));
  create_vector(k);
  CHECK_OK(RitzExchangeBegin(k->exchange, RITZ_EXCHANGE_TO_OWNERS, k->x));
  check_sent(k);
  CHECK_OK(RitzExchangeDestroy(&k->exchange));
  CHECK(seen.num_on_device == 2 * is_direct && seen.num_on_host == 2 * !is_direct,
        "%d buffers on the device, %d not", seen.num_on_device, seen.num_on_host);
  CHECK(seen.num_early == 0, "%d buffers come before they are packed", seen.num_early);
  CHECK(!is_direct || seen.num_outside == 0, "%d calls without a current context", seen.num_outside);
}

TEST(an_mpi_that_takes_devices_gets_their_pointers) {
  Kit k;

  begin(&k, 1);
  if (tap_failed()) return;
  check_exchanges(&k, CEED_MEM_DEVICE);
  end(&k);
}

TEST(another_mpi_gets_pointers_of_the_host) {
  Kit k;

  begin(&k, 0);
  if (tap_failed()) return;
  check_exchanges(&k, CEED_MEM_HOST);
  end(&k);
}

TEST(what_mpi_refuses_is_told_and_leaves_the_exchange_as_it_was) {
  Kit k;

  begin(&k, 1);
  if (tap_failed()) return;
  fake_mpi.failing = "MPI_Irecv";
  CHECK(RitzExchangeBegin(k.exchange, RITZ_EXCHANGE_TO_GHOSTS, k.x) == CEED_ERROR_MAJOR, "it is not told");
  fake_mpi.failing = NULL;
  seen.driver->failing = "cuStreamSynchronize"; // what was queued has failed
  seen.driver->failure = CUDA_ERROR_INVALID_VALUE;
  CHECK_ERROR(k.ceed, RitzExchangeBegin(k.exchange, RITZ_EXCHANGE_TO_GHOSTS, k.x), CEED_ERROR_BACKEND,
              "cuStreamSynchronize");
  seen.driver->failing = NULL;
  CHECK(seen.driver->depth == 0 && fake_mpi.num_requests == 0, "%d contexts, %d requests are left",
        seen.driver->depth, fake_mpi.num_requests);
  CHECK_OK(RitzExchangeRun(k.exchange, RITZ_EXCHANGE_TO_GHOSTS, k.x));
  check_received(&k, 0);
  end(&k);
}

// ---- Who says it ----

TEST(the_library_says_it_or_the_environment) {
  int (*const ask[3])(int *is_taken) = {RitzMPITakesDeviceMemory, ask_mpich, ask_plain};
  RitzTransport transport = {0};
  int is_taken = -1;

  setenv("CEED_ERROR_HANDLER", "return", 1);
  for (int kind = 0; kind < 3; kind++) {
    for (int takes = 0; takes < 2; takes++) {
      fake_mpi = (FakeMpi){.takes_devices = takes};
      CHECK_OK(ask[kind](&is_taken));
      CHECK(is_taken == (kind < 2 && takes) && fake_mpi.num_questions == (kind < 2),
            "kind %d: %d after %d questions, wanted %d", kind, is_taken, fake_mpi.num_questions, takes);
      for (int told = 0; told < 2; told++) {
        setenv("RITZ_MPI_CUDA", told ? "1" : "0", 1);
        CHECK_OK(ask[kind](&is_taken));
        CHECK(is_taken == told, "kind %d: %d, told to be %d", kind, is_taken, told);
      }
      setenv("RITZ_MPI_CUDA", "", 1);
      CHECK_OK(ask[kind](&is_taken));
      CHECK(is_taken == (kind < 2 && takes), "kind %d, an empty variable: %d", kind, is_taken);
      unsetenv("RITZ_MPI_CUDA");
    }
  }
  fake_mpi.failing = "MPIX_GPU_query_support";
  CHECK(ask_mpich(&is_taken) == CEED_ERROR_MAJOR, "a question that fails");
  setenv("RITZ_MPI_CUDA", "yes", 1);
  CHECK(RitzTransportCreateMPI(MPI_COMM_WORLD, &transport) == CEED_ERROR_INCOMPATIBLE, "'yes' is taken");
  unsetenv("RITZ_MPI_CUDA");
  CHECK(fake_mpi.num_comms == 0, "%d communicators are left", fake_mpi.num_comms);
}

int main(int argc, char **argv) {
  (void)fakes_load_for_contexts(); // before anybody looks for one
  return tap_main(argc, argv,
                  TESTS(an_mpi_that_takes_devices_gets_their_pointers, another_mpi_gets_pointers_of_the_host,
                        what_mpi_refuses_is_told_and_leaves_the_exchange_as_it_was,
                        the_library_says_it_or_the_environment));
}
