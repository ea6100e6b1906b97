// SPDX-License-Identifier: BSD-2-Clause
// Texts of fused kernels for devices that need not be there: pure functions of the plan, and for typical
// operators those of tests/golden-gpu. `test-gpu-text --write-golden` writes these files anew. That the texts
// compile: test-nvrtc-kernels.c; what they compute: test-gpu-gen.c, test-gpu-random.c.
#include "tests/golden-kit.h"
#include "tests/gpu-cases.h"

#include "core/core.h"
#include "jit/hash.h"
#include <string.h>

// ---- Kept texts ----

// Letters: digits would be compared as numbers.
static void print_hash(const char *text, size_t length, FILE *stream) {
  RitzHasher hasher;

  ritz_hash_begin(&hasher);
  ritz_hash_add(&hasher, text, length);
  const RitzHash hash = ritz_hash_end(&hasher);
  for (int i = 0; i < 16; i++)
    fputc(isdigit((unsigned char)hash.hex[i]) ? 'q' + hash.hex[i] - '0' : hash.hex[i], stream);
}

// The text but for the rows of its table of lines, integers for machines: their hash stands for them. Owned
// (free()).
static char *abridge(const char *text) {
  static const char table[] = "ritz_lines[] = {\n";
  const char *rows = strstr(text, table);
  char *kept = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&kept, &length);

  if (rows) {
    const char *end = strstr(rows, "\n};");
    rows += strlen(table);
    fprintf(stream, "%.*s  // rows: ", (int)(rows - text), text);
    print_hash(rows, (size_t)(end - rows), stream);
    text = end;
  }
  fprintf(stream, "%s", text);
  fclose(stream);
  return kept;
}

enum { MAX_LINES = 1000 };
typedef struct {
  int num;
  const char *line[MAX_LINES + 1];
} Lines;

// The lines of a text, which they belong to and cut in pieces.
static void split(char *text, Lines *lines) {
  lines->num = 0;
  for (char *end; lines->num < MAX_LINES && (end = strchr(text, '\n')); text = end + 1) {
    *end = '\0';
    lines->line[lines->num++] = text;
  }
  CHECK(!*text, "a text of more than %d lines", MAX_LINES);
}

// The lines that one has and the other has not, each with its number: the least that can be said, by the
// longest common subsequence.
static void print_changes(const Lines *a, const Lines *b, FILE *stream) {
  enum { WIDTH = MAX_LINES + 1 };
  short(*common)[WIDTH] = calloc((size_t)a->num + 1, sizeof(*common)); // of the lines from i and k on
  int i = 0, k = 0;

  for (int n = a->num - 1; n >= 0; n--)
    for (int m = b->num - 1; m >= 0; m--)
      common[n][m] = !strcmp(a->line[n], b->line[m])       ? (short)(common[n + 1][m + 1] + 1)
                     : common[n + 1][m] > common[n][m + 1] ? common[n + 1][m]
                                                           : common[n][m + 1];
  while (i < a->num || k < b->num) {
    if (i < a->num && k < b->num && !strcmp(a->line[i], b->line[k]))
      i++, k++;
    else if (k == b->num || (i < a->num && common[i + 1][k] >= common[i][k + 1]))
      fprintf(stream, "%d - %s\n", i + 1, a->line[i]), i++;
    else
      fprintf(stream, "%d + %s\n", i + 1, b->line[k]), k++;
  }
  free(common);
}

// What is kept of the text for a device.
static char *make_kept_of(const GpuCase *c, int device) {
  GpuText made = make_gpu_case(c, device);
  char *kept = made.text ? abridge(made.text) : NULL;

  free_gpu_text(&made);
  return kept;
}

// The text for one device, and what is otherwise for the other.
static char *make_kept(const GpuCase *c) {
  char *first = make_kept_of(c, CUDA), *second = make_kept_of(c, OPENCL), *kept = NULL;
  size_t length = 0;
  Lines lines[2];

  if (first && second) {
    FILE *stream = open_memstream(&kept, &length);

    fprintf(stream, "%s======== otherwise for %s: lines without (-), lines with (+) ========\n", first,
            devices[OPENCL].name);
    split(first, &lines[0]);
    split(second, &lines[1]);
    print_changes(&lines[0], &lines[1], stream);
    fclose(stream);
  }
  free(first);
  free(second);
  return kept;
}

static const char *path_of(const GpuCase *c) {
  static char path[200];

  snprintf(path, sizeof(path), "tests/golden-gpu/%s.txt", c->name);
  return path;
}

static void check_kept(const GpuCase *c) {
  char *kept = make_kept(c);

  golden_check(path_of(c), kept, "test-gpu-text");
  free(kept);
}

#define NEEDS_DOUBLES()                                                                                      \
  do {                                                                                                       \
    if (sizeof(CeedScalar) != sizeof(double)) SKIP("kept texts are those of double precision");              \
  } while (0)

TEST(typical_operators_have_the_texts_for_devices_that_are_kept) {
  NEEDS_DOUBLES();
  for (int i = 0; i < NUM_CASES && !tap_failed(); i++) check_kept(&cases[i]);
}

// ---- Tensor cores ----

static bool multiplies_by_tensor_cores(const GpuCase *c, const RitzGpuMachine *machine) {
  Kit k = kit_open();

  c->set(&k, &c->shape);
  GpuText made = make_gpu_text(&k, c, machine);
  const bool multiplies = made.text && strstr(made.text, "_mma(RITZ_L(");
  tap_check(made.text != NULL, __FILE__, __LINE__, "there is a text", "%s", c->name);
  free_gpu_text(&made);
  kit_close(&k);
  return multiplies;
}

// Of diagonals the lines of a coefficient could.
TEST(applies_and_energies_multiply_by_tensor_cores_and_diagonals_do_without) {
  for (int device = 0; device < NUM_DEVICES; device++)
    for (int asked = -1; asked <= 1; asked++)
      for (int action = ACTION_APPLY; action <= ACTION_DIAGONAL; action++) {
        const GpuCase c = {.name = "diffusion",
                           .set = set_coefficient,
                           .shape = DIFFUSION(3, 7, 1),
                           .action = (Action)action};
        const bool wanted = asked > 0 && action != ACTION_DIAGONAL && sizeof(CeedScalar) == sizeof(double);
        RitzGpuMachine machine = devices[device].machine;

        machine.mma = asked;
        CHECK(multiplies_by_tensor_cores(&c, &machine) == wanted, "%s, action %d, asked %d",
              devices[device].name, action, asked);
      }
}

// ---- QFunctions of backends without fused kernels ----

static const char functions_path[] = "tests/golden-gpu/qfunctions.txt";

static void add_qfunction(const GpuCase *c, FILE *stream) {
  Kit k = kit_open();
  char *text = NULL;

  c->set(&k, &c->shape);
  if (!tap_failed()) NOTE_OK(ritz_emit_device_qfunction(k.op->qf, "", 128, &text));
  fprintf(stream, "======== %s ========\n%s", c->name, text ? text : "");
  RITZ_FREE(&text);
  kit_close(&k);
}

// Of functions that differ in what they take.
static char *make_functions(void) {
  static const char *const names[] = {"bp1-degree1", "bp4-degree3", "factors",
                                      "mixed",       "context",     "writable-context"};
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);

  for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
    for (int i = 0; i < NUM_CASES; i++) {
      if (!strcmp(names[n], cases[i].name)) add_qfunction(&cases[i], stream);
    }
  fclose(stream);
  return text;
}

TEST(qfunctions_have_the_texts_for_devices_that_are_kept) {
  char *text = make_functions();

  golden_check(functions_path, text, "test-gpu-text");
  free(text);
}

// ---- Assembly ----

static const char assembly_path[] = "tests/golden-gpu/assembly.txt";

// shape: kind and flags. Of the first groups.
static void add_assembly(const GpuCase *c, RitzGpuAssembly shape, FILE *stream) {
  Kit k = kit_open();
  CeedOperatorAssemblyData data = NULL;
  bool is_active[64];
  char *text = NULL;

  c->set(&k, &c->shape);
  if (!tap_failed()) NOTE_OK(CeedOperatorGetOperatorAssemblyData(k.op, &data));
  for (CeedInt i = 0; data && i < k.op->num_in + k.op->num_out; i++)
    is_active[i] = ritz_operator_field(k.op, i)->vec == CEED_VECTOR_ACTIVE;
  if (data) {
    shape.in = ritz_assembly_side(&data->in, 0);
    shape.out = ritz_assembly_side(&data->out, 0);
    shape.num_points = k.op->num_qpts;
    shape.is_active = is_active;
    CHECK(ritz_plan_gpu_assembly(48 << 10, 128, &shape), "%s does not fit", c->name);
    NOTE_OK(ritz_emit_device_assembly(k.op->qf, &shape, &text));
  }
  fprintf(stream, "======== %s, kind %d ========\n%s", c->name, (int)shape.kind, text ? text : "");
  RITZ_FREE(&text);
  kit_close(&k);
}

static char *make_assembly(void) {
  static const struct {
    const char *name;
    RitzGpuAssembly shape;
  } wanted[] = {{"bp3-degree2", {.kind = RITZ_ASSEMBLE_MATRICES}},
                {"bp4-degree3", {.kind = RITZ_ASSEMBLE_DIAGONAL, .is_blocks = true}},
                {"bp3-degree4", {.kind = RITZ_ASSEMBLE_DIAGONAL, .is_kept = true}},
                {"writable-context", {.kind = RITZ_ASSEMBLE_PATTERN, .is_ordered = true, .place_bytes = 1}}};
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);

  for (size_t n = 0; n < sizeof(wanted) / sizeof(wanted[0]); n++)
    for (int i = 0; i < NUM_CASES; i++) {
      if (!strcmp(wanted[n].name, cases[i].name)) add_assembly(&cases[i], wanted[n].shape, stream);
    }
  fclose(stream);
  return text;
}

TEST(assembly_has_the_texts_for_devices_that_are_kept) {
  NEEDS_DOUBLES(); // which say how many elements fit a block
  char *text = make_assembly();

  golden_check(assembly_path, text, "test-gpu-text");
  free(text);
}

static int write_goldens(void) {
  bool is_written = true;

  for (int i = 0; i < NUM_CASES && is_written; i++) {
    char *kept = make_kept(&cases[i]);

    is_written = golden_write(path_of(&cases[i]), kept);
    free(kept);
  }
  char *functions = make_functions();
  is_written = is_written && golden_write(functions_path, functions);
  free(functions);
  char *assembly = make_assembly();
  is_written = is_written && golden_write(assembly_path, assembly);
  free(assembly);
  return is_written ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--write-golden")) return write_goldens();
  return tap_main(argc, argv,
                  TESTS(typical_operators_have_the_texts_for_devices_that_are_kept,
                        applies_and_energies_multiply_by_tensor_cores_and_diagonals_do_without,
                        qfunctions_have_the_texts_for_devices_that_are_kept,
                        assembly_has_the_texts_for_devices_that_are_kept));
}
