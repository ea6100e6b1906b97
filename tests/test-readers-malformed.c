// SPDX-License-Identifier: BSD-2-Clause
// What the readers make of malformed files: an error with its place, never a crash, a leak or a wrong mesh.
// Small valid files of every format are cut, miscounted, hit by random bytes and read while memory runs out;
// further faults are written out one by one. Run under AddressSanitizer for what a test cannot see.
#include <ctype.h>
#include <ritz.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "tests/mesh-gmsh.h"
#include "tests/mesh-mfem.h"
#include "tests/mesh-shapes.h"

// ---- Valid files ----

enum { NUM_SAMPLES = 14 };

typedef struct {
  const char *name;
  FileBytes file;
  bool ends_with_number; // MFEM v1.0: a cut in the last number cannot be seen
} Sample;

static MfemSample mfem_sample(int dim, int degree, const char *version, const char *collection) {
  MfemSample s = {
      .map = {dim, degree, false}, .n = {2, 1, 1}, .version = version, .collection = collection, .seed = 1};

  s.is_shared = !collection || collection[0] == 'H';
  for (int i = 0; i <= degree; i++) s.points[i] = (double)i / degree; // degree <= 2
  return s;
}

static GmshSample gmsh_sample(int version, int dim, int degree, bool is_binary) {
  GmshSample s = {.map = {dim, degree, false}, .n = {2, 1, 1}, .version = version, .is_binary = is_binary};

  s.has_groups = s.has_entities = true;
  return s;
}

// Other shapes than those of boxes: both formats, mixed and not.
static Sample make_shapes(int i) {
  const ShapeSample plane = {.dim = 2, .degree = 2, .n = {2, 1, 1}, .kinds = "th", .seed = 1},
                    pyramids = {.dim = 3, .degree = 1, .n = {1, 1, 1}, .kinds = "p", .seed = 1},
                    tets = {.dim = 3, .degree = 2, .n = {1, 1, 1}, .kinds = "t", .seed = 1},
                    mixed = {.dim = 3, .degree = 1, .n = {3, 1, 1}, .kinds = "hwm", .seed = 1};
  const ShapeCollection quadratic = {.name = "H1_3D_P2", .is_shared = true, .points = {0, 0.5, 1}},
                        straight = {.name = NULL};

  switch (i) {
  case 0: return (Sample){"plane.msh", shape_gmsh_file(&plane, 4, false), false};
  case 1: return (Sample){"pyramids.msh", shape_gmsh_file(&pyramids, 2, true), false};
  case 2: return (Sample){"tets.mesh", shape_mfem_file(&tets, &quadratic), true};
  default: return (Sample){"mixed.mesh", shape_mfem_file(&mixed, &straight), true};
  }
}

static Sample make_sample(int i) {
  MfemSample straight = mfem_sample(2, 1, "1.0", NULL), sets = mfem_sample(3, 1, "1.3", NULL),
             shared = mfem_sample(3, 2, "1.0", "H1_3D_P2"),
             separate = mfem_sample(1, 2, "1.2", "L2_T1_1D_P2");
  GmshSample gmsh = gmsh_sample(i % 2 ? 4 : 2, i < 8 ? 2 : 3, i < 8 ? 2 : 1, i == 6 || i == 7 || i == 9);

  if (i >= 10) return make_shapes(i - 10);
  gmsh.has_others = gmsh.has_parameters = i == 4 || i == 7;
  gmsh.num_closed = gmsh.has_others;
  if (gmsh.num_closed) gmsh.n[0] = 3;
  switch (i) {
  case 0: return (Sample){"straight.mesh", mfem_file(&straight), true};
  case 1: return (Sample){"sets.mesh", mfem_file(&sets), false};
  case 2: return (Sample){"shared.mesh", mfem_file(&shared), true};
  case 3: return (Sample){"separate.mesh", mfem_file(&separate), false};
  default: return (Sample){gmsh.version == 2 ? "version2.msh" : "version4.msh", gmsh_file(&gmsh), false};
  }
}

// ---- Reading what may be malformed ----

// The message after "... in FUNCTION(): " begins with "PATH:LINE: " or "PATH: byte N: ".
static bool has_place(const char *message, const char *path) {
  const char *place = strstr(message, path);
  long long number;
  int end = 0;

  if (!place) return false;
  place += strlen(path);
  if (sscanf(place, " byte %lld%n", &number, &end) != 1 && sscanf(place, ":%lld%n", &number, &end) != 1)
    if (sscanf(place, ": byte %lld%n", &number, &end) != 1) return false;
  return end > 0 && number >= 0 && place[end] == ':';
}

// Overwrites one file again and again, without emptying it first: file systems write such files to disk.
static const char *write_again(const char *path, const void *data, size_t size) {
  FILE *file = fopen(path, "r+b");

  if (!file) file = fopen(path, "wb");
  if (!file || fwrite(data, 1, size, file) != size || fflush(file)) abort();
  if (ftruncate(fileno(file), (off_t)size) || fclose(file)) abort();
  return path;
}

// Reads a file; a mesh that results must be sound. Returns the code. (Determinants of an element that was
// turned are rounded in another way than those that were looked at: up to round-off of the largest one they
// may be negative.)
static int read_soundly(Ceed ceed, const char *path) {
  int64_t live = ritz_memory_live();
  RitzMesh mesh = NULL;
  int code = RitzMeshRead(ceed, path, &mesh);

  if (!code) {
    double measure, low = 0, high = 0;
    int ierr = RitzMeshGetMeasure(mesh, &measure, &low, &high);

    tap_check(!ierr && low > -1e-13 * high, __FILE__, __LINE__, "the mesh is sound",
              "smallest determinant %g", low);
    RitzMeshDestroy(&mesh);
  }
  tap_check(ritz_memory_live() == live, __FILE__, __LINE__, "no memory is left", "%d allocations more",
            (int)(ritz_memory_live() - live));
  return code;
}

// Must be an error of the file, with its place.
static void check_refused(Ceed ceed, const char *path, const char *what, long long which) {
  const char *message;
  int code = read_soundly(ceed, path);

  CeedGetErrorMessage(ceed, &message);
  CHECK(code == CEED_ERROR_MAJOR || code == CEED_ERROR_UNSUPPORTED, "%s %lld: code %d", what, which, code);
  CHECK(has_place(message, path), "%s %lld: no place in '%s'", what, which, message);
}

// ---- Systematic faults ----

// Number of bytes without which the file is malformed for certain.
static size_t needed_size(const Sample *sample) {
  size_t size = sample->file.size;

  while (isspace((unsigned char)sample->file.data[size - 1])) size--;
  while (sample->ends_with_number && !isspace((unsigned char)sample->file.data[size - 1])) size--;
  return sample->ends_with_number ? size + 1 : size;
}

TEST(every_truncation_is_an_error_with_its_place) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *path = tap_temp_file("cut", NULL, 0);

  for (int i = 0; i < NUM_SAMPLES && !tap_failed(); i++) {
    Sample sample = make_sample(i);

    write_again(path, sample.file.data, sample.file.size);
    CHECK(read_soundly(ceed, path) == 0, "%s, sample %d, is not valid", sample.name, i);
    for (size_t size = 0; size < needed_size(&sample) && !tap_failed(); size++) {
      check_refused(ceed, write_again(path, sample.file.data, size), sample.name, (long long)size);
    }
    file_clear(&sample.file);
  }
  CeedDestroy(&ceed);
}

// The file with another value of a count.
static FileBytes with_count(const FileBytes *file, FileCount count, long long value) {
  FileBytes other = {.data = NULL};

  file_put(&other, file->data, count.at);
  other.is_binary = !count.is_text;
  other.is_swapped = file->is_swapped;
  if (count.is_text)
    file_text(&other, "%lld", value);
  else
    file_size(&other, value);
  file_put(&other, file->data + count.at + count.length, file->size - count.at - count.length);
  return other;
}

TEST(every_wrong_count_is_an_error_with_its_place) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *path = tap_temp_file("count", NULL, 0);

  for (int i = 0; i < NUM_SAMPLES && !tap_failed(); i++) {
    Sample sample = make_sample(i);

    for (int c = 0; c < sample.file.num_counts; c++) {
      FileCount count = sample.file.counts[c];
      const long long wrong[] = {count.value + 1,     count.value - 1,    -1,
                                 -count.value - 5,    count.value + 1000, 2147483648,
                                 1000000000000000000, INT64_MAX,          INT64_MIN};

      for (int w = 0; w < 9 && !tap_failed(); w++) {
        FileBytes other = with_count(&sample.file, count, wrong[w]);

        check_refused(ceed, write_again(path, other.data, other.size), sample.name, wrong[w]);
        if (tap_failed()) tap_note("count number %d of sample %d, truly %lld", c, i, count.value);
        file_clear(&other);
      }
    }
    file_clear(&sample.file);
  }
  CeedDestroy(&ceed);
}

// What stands in for a word of a text file.
static const char *const bad_words[] = {"nan",   "inf", "-1",       "0x10", "1.0D+00", "1,5",
                                        "1e999", "abc", "99999999", "\"\"", "$",       "1e18",
                                        "+",     ".",   "e5",       "1e",   "-",       "$End"};

// Any word replaced, doubled or left out. The result may be a valid file by chance, but never a bad mesh.
TEST(no_wrong_word_makes_a_crash_or_a_bad_mesh) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *path = tap_temp_file("word", NULL, 0);
  const int num_bad = sizeof(bad_words) / sizeof(bad_words[0]);

  for (int i = 0; i < NUM_SAMPLES && !tap_failed(); i++) {
    Sample sample = make_sample(i);
    const FileBytes *f = &sample.file;
    int step = tap_level() == TAP_QUICK ? 7 : 1, word = 0;

    for (size_t at = 0, end; at < f->size && !f->is_binary && !tap_failed(); at = end, word++) {
      while (at < f->size && isspace((unsigned char)f->data[at])) at++;
      for (end = at; end < f->size && !isspace((unsigned char)f->data[end]);) end++;
      for (int b = word % step; b < num_bad + 2 && !tap_failed(); b += step) {
        FileBytes other = {.data = NULL};

        file_put(&other, f->data, b == num_bad ? end : at);
        if (b < num_bad) file_text(&other, "%s", bad_words[b]);
        if (b == num_bad) file_text(&other, " ");
        file_put(&other, f->data + (b == num_bad ? at : end), f->size - (b == num_bad ? at : end));
        read_soundly(ceed, write_again(path, other.data, other.size));
        file_clear(&other);
      }
    }
    file_clear(&sample.file);
  }
  CeedDestroy(&ceed);
}

TEST(no_random_bytes_make_a_crash_or_a_bad_mesh) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const char *path = tap_temp_file("random", NULL, 0);
  int num_rounds = tap_level() == TAP_QUICK ? 100 : tap_level() == TAP_FULL ? 5000 : 50000;
  uint64_t state = 1;

  for (int i = 0; i < NUM_SAMPLES && !tap_failed(); i++) {
    Sample sample = make_sample(i);
    char *bytes = malloc(sample.file.size);

    for (int round = 0; round < num_rounds && !tap_failed(); round++) {
      int num_flips = 1 + (int)tap_integer(&state, 4);

      memcpy(bytes, sample.file.data, sample.file.size);
      for (int k = 0; k < num_flips; k++) {
        char *byte = &bytes[tap_integer(&state, (int64_t)sample.file.size)];

        // Half of the time one bit, else any byte.
        *byte =
            (char)(tap_integer(&state, 2) ? *byte ^ 1 << tap_integer(&state, 8) : tap_integer(&state, 256));
      }
      read_soundly(ceed, write_again(path, bytes, sample.file.size));
      if (tap_failed()) tap_note("%s, round %d", sample.name, round);
    }
    free(bytes);
    file_clear(&sample.file);
  }
  CeedDestroy(&ceed);
}

TEST(every_failing_allocation_is_an_error_that_leaks_nothing) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < NUM_SAMPLES && !tap_failed(); i++) {
    Sample sample = make_sample(i);
    const char *path = tap_temp_file(sample.name, sample.file.data, sample.file.size);
    int code = 1;

    for (int n = 1; code && !tap_failed(); n++) {
      int64_t live = ritz_memory_live();
      RitzMesh mesh = NULL;

      ritz_memory_fail_at(n);
      code = RitzMeshRead(ceed, path, &mesh);
      ritz_memory_fail_at(0);
      CHECK(!code == (mesh != NULL), "allocation %d of %s fails: code %d", n, sample.name, code);
      RitzMeshDestroy(&mesh);
      CHECK(ritz_memory_live() == live, "allocation %d of %s fails: %d left", n, sample.name,
            (int)(ritz_memory_live() - live));
      CHECK(n < 10000, "%s never succeeds", sample.name);
    }
    file_clear(&sample.file);
  }
  CeedDestroy(&ceed);
}

// ---- Single faults ----

typedef struct {
  const char *text;
  int code;
  const char *fragment; // of the message; with line
} Fault;

static void check_faults(const char *name, int num, const Fault *faults) {
  Ceed ceed = tap_ceed("/cpu/self/ref");

  for (int i = 0; i < num; i++) {
    int64_t live = ritz_memory_live();
    const char *path = tap_temp_text(name, faults[i].text);
    RitzMesh mesh = NULL;

    CHECK_ERROR(ceed, RitzMeshRead(ceed, path, &mesh), faults[i].code, faults[i].fragment);
    CHECK(!mesh && ritz_memory_live() == live, "case %d leaves something", i);
  }
  CeedDestroy(&ceed);
}
#define CHECK_FAULTS(name, faults) check_faults(name, (int)(sizeof(faults) / sizeof(faults[0])), faults)

TEST(files_of_no_known_format_are_refused) {
  static const Fault faults[] = {
      {"", CEED_ERROR_MAJOR, ":1: the file is empty"},
      {"\n \n\t", CEED_ERROR_MAJOR, "the file is empty"},
      {"\xef\xbb\xbf", CEED_ERROR_MAJOR, "the file is empty"},
      {"solid cube\n", CEED_ERROR_MAJOR, ":1: unknown format: the file begins with 'solid cube'"},
      {"\x1f\x8b\x08\n", CEED_ERROR_MAJOR, "begins with '?"},
      {"# vtk DataFile Version 3.0\n", CEED_ERROR_UNSUPPORTED, ":1: this is a VTK file"},
      {"<?xml version=\"1.0\"?>\n<VTKFile>", CEED_ERROR_UNSUPPORTED, "VTK"},
      {"MFEM NC mesh v1.0\n", CEED_ERROR_UNSUPPORTED, ":1: found 'MFEM NC mesh v1.0'"},
      {"MFEM NURBS mesh v1.0\n", CEED_ERROR_UNSUPPORTED, "NURBS"},
      {"MFEM mesh v1.1\n", CEED_ERROR_UNSUPPORTED, "found 'MFEM mesh v1.1'; Ritz reads"},
      {"$NOD\n1\n", CEED_ERROR_UNSUPPORTED, ":1: version 1 of Gmsh's format"},
  };
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = NULL;

  CHECK_FAULTS("unknown", faults);
  CHECK_ERROR(ceed, RitzMeshRead(ceed, "/nowhere/at/all.msh", &mesh), CEED_ERROR_MAJOR,
              "/nowhere/at/all.msh: cannot be opened");
  CHECK_ERROR(ceed, RitzMeshRead(ceed, "/", &mesh), CEED_ERROR_MAJOR, "/: is not a regular file");
  CHECK_ERROR(ceed, RitzMeshRead(ceed, "/dev/zero", &mesh), CEED_ERROR_MAJOR,
              "/dev/zero: is not a regular file");
  const char *pipe = tap_temp_file("pipe.msh", NULL, 0); // nobody writes to it
  CHECK(!mkfifo(pipe, 0600), "no pipe");
  CHECK_ERROR(ceed, RitzMeshRead(ceed, pipe, &mesh), CEED_ERROR_MAJOR, "pipe.msh: is not a regular file");
  CHECK_ERROR(ceed, RitzMeshRead(ceed, NULL, &mesh), CEED_ERROR_INCOMPATIBLE, "'path' is NULL");
  CHECK_ERROR(ceed, RitzMeshRead(ceed, "x", NULL), CEED_ERROR_INCOMPATIBLE, "'mesh' is NULL");
  CHECK_ERROR(NULL, RitzMeshRead(NULL, "x", &mesh), CEED_ERROR_INCOMPATIBLE, "'ceed' is NULL");
  CeedDestroy(&ceed);
}

#define FORMAT  "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define SQUARE  "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n"
#define CELL    "$Elements\n1\n1 3 2 0 1 1 2 3 4\n$EndElements\n"
#define FORMAT4 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define SQUARE4 "$Nodes\n1 4 1 4\n2 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n$EndNodes\n"

TEST(faults_of_gmsh_files_are_named_with_their_line) {
  static const Fault faults[] = {
      {"$Nodes\n1\n", CEED_ERROR_MAJOR, ":1: the file has no $MeshFormat"},
      {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$MeshFormat\n", CEED_ERROR_MAJOR,
       ":4: $MeshFormat stands here"},
      {"$MeshFormat\n4.0 0 8\n", CEED_ERROR_UNSUPPORTED, ":2: version '4.0'"},
      {"$MeshFormat\n3 0 8\n", CEED_ERROR_UNSUPPORTED, ":2: version '3'"},
      {"$MeshFormat\n2.2 0 4\n", CEED_ERROR_UNSUPPORTED, ":2: data size 4"},
      {"$MeshFormat\n2.2 2 8\n", CEED_ERROR_MAJOR, ":2: the file type is 2"},
      {"$MeshFormat\n2.2 1 8\nabcd\n", CEED_ERROR_MAJOR, ": byte 20: the mark of the byte order"},
      {FORMAT, CEED_ERROR_MAJOR, ":4: the file ends without $Nodes"},
      {FORMAT SQUARE, CEED_ERROR_MAJOR, ":11: the file ends without $Elements"},
      {FORMAT "$EndNodes\n", CEED_ERROR_MAJOR, ":4: expected the beginning of a section, found '$EndNodes'"},
      {FORMAT "$Comments\nno end\n", CEED_ERROR_MAJOR,
       ":4: the section that begins here has no line '$EndComments'"},
      {FORMAT "$Nodes\n1\n1 nan 0 0\n", CEED_ERROR_MAJOR,
       ":6: expected a coordinate, a finite decimal number"},
      {FORMAT "$Nodes\n1\n1 0 0x1p3 0\n", CEED_ERROR_MAJOR, ":6: expected a coordinate"},
      {FORMAT "$Nodes\n1\n1 0 0 1.0D+00\n", CEED_ERROR_MAJOR, "found '1.0D+00'"},
      {FORMAT "$Nodes\n1\n1 0 0 1e400\n", CEED_ERROR_MAJOR, "found '1e400'"},
      {FORMAT "$Nodes\n1\n1 0 0 1e\n", CEED_ERROR_MAJOR, "found '1e'"},
      {FORMAT "$Nodes\n1\n1 0 0 1e+\n", CEED_ERROR_MAJOR, "found '1e+'"},
      {FORMAT "$Nodes\n1\n1 0 -. 0\n", CEED_ERROR_MAJOR, "found '-.'"},
      {FORMAT "$Nodes\n1\n1 0 e5 0\n", CEED_ERROR_MAJOR, "found 'e5'"},
      {FORMAT "$Nodes\n1\n1 0 .e5 0\n", CEED_ERROR_MAJOR, "found '.e5'"},
      {FORMAT "$Nodes\n1\n1 + 0 0\n", CEED_ERROR_MAJOR, "found '+'"},
      {FORMAT "$Nodes\n1\n+ 0 0 0\n", CEED_ERROR_MAJOR, "expected the tag of a node, an integer, found '+'"},
      {FORMAT "$Nodes\n1\n1x 0 0 0\n", CEED_ERROR_MAJOR, "found '1x'"},
      {FORMAT "$Nodes\n1\n1.5 0 0 0\n", CEED_ERROR_MAJOR, ":6: expected the tag of a node, an integer"},
      {FORMAT "$Nodes\n1\n-1 0 0 0\n", CEED_ERROR_MAJOR, ":6: the tag of a node is -1"},
      {FORMAT "$Nodes\n-4\n", CEED_ERROR_MAJOR, ":5: the number of nodes is -4"},
      {FORMAT "$Nodes\nfour\n", CEED_ERROR_MAJOR,
       ":5: expected the number of nodes, an integer, found 'four'"},
      {FORMAT "$Nodes\n1000000000000000000\n", CEED_ERROR_MAJOR,
       ":5: the number of nodes is 1000000000000000000, more"},
      {FORMAT "$Nodes\n99999999999999999999\n", CEED_ERROR_MAJOR, ":5: expected the number of nodes"},
      {FORMAT "$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n$Elements\n1\n1 1 0 1 2\n$EndElements\n",
       CEED_ERROR_MAJOR, ":7: node 1 is defined twice"},
      {FORMAT SQUARE "$Elements\n1\n1 3 2 0 1 1 2 3 5\n$EndElements\n", CEED_ERROR_MAJOR,
       ":13: the element uses node 5, which is not defined"},
      {FORMAT SQUARE "$Elements\n1\n1 3 2 0 1 1 2 3 3\n$EndElements\n", CEED_ERROR_MAJOR,
       ":13: element 0 has vertex"},
      {FORMAT SQUARE "$Elements\n1\n1 3 2 0 1 1 3 2 4\n$EndElements\n", CEED_ERROR_MAJOR,
       ":13: element 0 is inverted"},
      {FORMAT SQUARE "$Elements\n2\n1 3 2 7 1 1 2 3 4\n2 3 2 7 1 1 2 3 4\n$EndElements\n", CEED_ERROR_MAJOR,
       ":14: elements 0 and 1 have the same vertices"},
      {FORMAT SQUARE "$Elements\n1\n1 999 2 0 1 1 2 3 4\n$EndElements\n", CEED_ERROR_UNSUPPORTED,
       ":13: elements of type 999 are not known"},
      {FORMAT SQUARE "$Elements\n1\n1 16 0 1 2 3 4 1 2 3 4\n$EndElements\n", CEED_ERROR_MAJOR,
       ":13: element 0 is inverted"},
      {FORMAT SQUARE "$Elements\n1\n1 2 2 0 1 1 2 2\n$EndElements\n", CEED_ERROR_MAJOR,
       ":13: element 0 has vertex"},
      {FORMAT SQUARE "$Elements\n2\n1 2 2 0 1 1 2 3\n2 2 2 0 1 2 3 1\n$EndElements\n", CEED_ERROR_MAJOR,
       ":14: elements 0 and 1 have the same vertices"},
      {FORMAT SQUARE "$Elements\n2\n1 3 2 0 1 1 2 3 4\n2 4 2 0 1 1 2 3 4\n$EndElements\n", CEED_ERROR_MAJOR,
       ":13: a quadrilateral cannot be a facet of tetrahedra"},
      {FORMAT SQUARE "$Elements\n1\n1 15 0 1\n$EndElements\n", CEED_ERROR_MAJOR,
       "the mesh has points, but no elements"},
      {FORMAT SQUARE "$Elements\n2\n1 1 2 9 9 1 3\n2 3 0 1 2 3 4\n$EndElements\n", CEED_ERROR_MAJOR,
       ":13: boundary facet 0, in part '9', is not a facet"},
      {FORMAT "$Nodes\n8\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n5 0 0 1\n6 1 0 1\n7 1 1 1\n8 0 1 1\n$EndNodes\n"
              "$Elements\n2\n1 2 2 1 1 1 2 3\n2 5 2 1 1 1 2 3 4 5 6 7 8\n$EndElements\n",
       CEED_ERROR_MAJOR, ":17: a triangle cannot be a facet of hexahedra"},
      {FORMAT SQUARE "$Elements\n1\n1 3 1000000000000 0 1 1 2 3 4\n$EndElements\n", CEED_ERROR_MAJOR,
       ":13: the number of tags of an element is 1000000000000"},
      {FORMAT SQUARE "$Elements\n1\n1 3 2000000000 0 1 1 2 3 4\n$EndElements\n", CEED_ERROR_MAJOR,
       ":14: expected a tag of an element"},
      {FORMAT "$PhysicalNames\n1\n1 1 \"no end\n$EndPhysicalNames\n", CEED_ERROR_MAJOR,
       ":6: the name of a physical group"},
      {FORMAT "$PhysicalNames\n2\n1 1 a\n1 -1 b\n$EndPhysicalNames\n" SQUARE CELL, CEED_ERROR_MAJOR,
       "physical group 1 of dimension 1 has two names"},
      {FORMAT4 SQUARE4 "$Elements\n1 1 1 1\n3 1 3 1\n1 1 2 3 4\n$EndElements\n", CEED_ERROR_MAJOR,
       ":18: a block of dimension 3 has elements of type 3, which are quadrilaterals"},
      {FORMAT4 "$Entities\n0 0 1 0\n2 0 0 0 1 1 0 0 0\n$EndEntities\n" SQUARE4
               "$Elements\n1 1 1 1\n2 1 3 1\n1 1 2 3 4\n$EndElements\n",
       CEED_ERROR_MAJOR, ":23: the element is on entity 1 of dimension 2, which $Entities does not list"},
      {FORMAT4 "$Entities\n0 0 2 0\n2 0 0 0 1 1 0 0 0\n2 0 0 0 1 1 0 0 0\n$EndEntities\n" SQUARE4
               "$Elements\n1 1 1 1\n2 2 3 1\n1 1 2 3 4\n$EndElements\n",
       CEED_ERROR_MAJOR, "$Entities lists entity 2 of dimension 2 twice"},
      {FORMAT4 "$PartitionedEntities\n1\n", CEED_ERROR_UNSUPPORTED, ":4: $PartitionedEntities"},
      {FORMAT4 "$Nodes\n1 2 1 2\n2 1 0 3\n1\n2\n3\n0 0 0\n", CEED_ERROR_MAJOR,
       ":6: the size of a block is 3, but only 2 are left"},
      {FORMAT4 "$Nodes\n1 2 1 2\n2 1 0 1\n1\n0 0 0\n$EndNodes\n", CEED_ERROR_MAJOR,
       ":8: the blocks hold 1 nodes less than announced"},
  };

  CHECK_FAULTS("fault.msh", faults);
}

TEST(numbers_in_bytes_must_be_finite_too) {
  Ceed ceed = tap_ceed("/cpu/self/ref");
  const double bad[] = {NAN, INFINITY, -INFINITY};

  for (int i = 0; i < 6; i++) {
    FileBytes f = {.data = NULL, .is_swapped = i % 2};
    RitzMesh mesh = NULL;

    file_text(&f, "$MeshFormat\n2.2 1 8\n");
    f.is_binary = true;
    file_int(&f, 1);
    file_text(&f, "\n$EndMeshFormat\n$Nodes\n1\n");
    file_int(&f, 1);
    file_double(&f, 0);
    file_double(&f, bad[i / 2]);
    file_double(&f, 0);
    file_text(&f, "\n$EndNodes\n");
    const char *path = tap_temp_file("bytes.msh", f.data, f.size);

    file_clear(&f);
    CHECK_ERROR(ceed, RitzMeshRead(ceed, path, &mesh), CEED_ERROR_MAJOR,
                ": byte 61: a coordinate is not a finite number");
  }
  CeedDestroy(&ceed);
}

#define HEAD  "MFEM mesh v1.0\ndimension\n2\nelements\n"
#define ONE   HEAD "1\n1 3 0 1 2 3\n"
#define PLANE "\n0 0\n1 0\n1 1\n0 1\n"
#define NODES ONE "boundary\n0\nvertices\n4\nnodes\nFiniteElementSpace\nFiniteElementCollection: "

#define TET   "MFEM mesh v1.0\ndimension\n3\nelements\n1\n1 4 0 1 2 3\nboundary\n"
#define SPACE "\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 0\n"

// 39 of the 78 values of a quadratic cube whose last two vertices are one: 26 nodes instead of 27.
#define VALUES "1 2 3 4 5 6 7 8 9 1 2 3 4\n5 6 7 8 9 1 2 3 4 5 6 7 8\n9 1 2 3 4 5 6 7 8 9 1 2 3\n"

TEST(faults_of_mfem_files_are_named_with_their_line) {
  static const Fault faults[] = {
      {"MFEM mesh v1.0\n", CEED_ERROR_MAJOR, ":2: the file ends where 'dimension' should be"},
      {"MFEM mesh v1.0\ndimension\n4\n", CEED_ERROR_MAJOR, ":3: the dimension is 4: it must lie in 1 .. 3"},
      {"MFEM mesh v1.0\ndimension\n2\nvertices\n", CEED_ERROR_MAJOR,
       ":4: expected 'elements', found 'vertices'"},
      {HEAD "0\nboundary\n", CEED_ERROR_MAJOR, ":5: the mesh has no elements"},
      {HEAD "1e3\n", CEED_ERROR_MAJOR, ":5: expected the number of elements, an integer, found '1e3'"},
      {HEAD "2000000000\n", CEED_ERROR_MAJOR, ":5: the number of elements is 2000000000, more than"},
      {HEAD "1\n1 9 0 1 2 3\n", CEED_ERROR_MAJOR, ":6: the geometry of an element is 9"},
      {HEAD "1\n1 5 0 1 2 3 4 5 6 7\n", CEED_ERROR_MAJOR,
       ":6: a hexahedron (geometry 5) stands where an element of dimension 2"},
      {HEAD "1\n1 3 0 1 2 -3\n", CEED_ERROR_MAJOR, ":6: a vertex of an element is -3"},
      {ONE "vertices\n4\n2" PLANE, CEED_ERROR_MAJOR, ":7: expected 'boundary'"},
      {ONE "boundary\n1\n1 1 0 2\nvertices\n4\n2" PLANE, CEED_ERROR_MAJOR,
       ":9: boundary facet 0, in part '1'"},
      {ONE "boundary\n1\n1 1 0 7\nvertices\n4\n2" PLANE, CEED_ERROR_MAJOR,
       ":9: vertex 7 is used, but there are only 4"},
      {ONE "boundary\n0\nvertices\n3\n2" PLANE, CEED_ERROR_MAJOR,
       ":6: vertex 3 is used, but there are only 3"},
      {ONE "boundary\n0\nvertices\n5000000\n2" PLANE, CEED_ERROR_MAJOR,
       ":10: the number of vertices is 5000000, more"},
      {ONE "boundary\n0\nvertices\n4\n1" PLANE, CEED_ERROR_MAJOR,
       ":11: the space dimension (or 'nodes') is 1"},
      {ONE "boundary\n0\nvertices\n4\n3" PLANE, CEED_ERROR_MAJOR,
       ":11: the number of vertices is 4, more than"},
      {ONE "boundary\n0\nvertices\n4\nnode\n", CEED_ERROR_MAJOR,
       ":11: expected the space dimension (or 'nodes')"},
      {ONE "boundary\n0\nvertices\n4\n2\n0 0\n1 0\n1 inf\n0 1\n", CEED_ERROR_MAJOR,
       ":14: expected a coordinate"},
      {ONE "boundary\n0\nvertices\n4\n2\n0 0\n1 1,5\n1 1\n0 1\n", CEED_ERROR_MAJOR, "found '1,5'"},
      {ONE "boundary\n0\nvertices\n4\n2\n0 0\n0 1\n1 0\n1 1\n", CEED_ERROR_MAJOR,
       ":6: element 0 is inverted"},
      {ONE "boundary\n0\nvertices\n4\n2\n0 0\n0 0\n0 0\n0 0\n", CEED_ERROR_MAJOR,
       ":6: element 0 is inverted"},
      {ONE "boundary\n0\nvertices\n4\n2" PLANE "0.5\n", CEED_ERROR_MAJOR,
       ":16: found '0.5' behind the last number"},
      {"MFEM mesh v1.0\ndimension\n3\nelements\n1\n1 5 0 1 2 3 4 5 6 6\nboundary\n0\nvertices\n7\nnodes\n"
       "FiniteElementSpace\nFiniteElementCollection: H1_3D_P2\nVDim: 3\nOrdering: 1\n" VALUES VALUES,
       CEED_ERROR_MAJOR, ":6: element 0 has vertex 6 twice"},
      {HEAD "1\n1 3 0 1 2 3\nboundary\n1\n1 2 0 1 2\n", CEED_ERROR_MAJOR,
       ":9: a triangle (geometry 2) stands where"},
      {"MFEM mesh v1.0\ndimension\n3\nelements\n1\n1 5 0 1 2 3 4 5 6 7\nboundary\n1\n1 2 0 1 "
       "2\nvertices\n8\n",
       CEED_ERROR_MAJOR, ":9: a triangle cannot be a facet of hexahedra"},
      {TET "1\n1 3 0 1 2 3\nvertices\n4\n3\n", CEED_ERROR_MAJOR,
       ":9: a quadrilateral cannot be a facet of tetrahedra"},
      {TET "1\n1 2 0 1 4\nvertices\n5\n3" SPACE, CEED_ERROR_MAJOR, ":9: boundary facet 0, in part '1'"},
      {TET "0\nvertices\n4\n3\n0 0 0\n0 1 0\n1 0 0\n0 0 1\n", CEED_ERROR_MAJOR, ":6: element 0 is inverted"},
      {TET "0\nvertices\n4\n2" PLANE, CEED_ERROR_MAJOR, ":11: the space dimension (or 'nodes') is 2"},
      {"MFEM mesh v1.0\ndimension\n3\nelements\n2\n1 4 0 1 2 3\n1 4 1 2 0 "
       "3\nboundary\n0\nvertices\n5\n3" SPACE,
       CEED_ERROR_MAJOR, ":7: elements 0 and 1 have the same vertices"},
      {"MFEM mesh v1.0\ndimension\n3\nelements\n1\n1 7 0 1 2 3 2\nboundary\n0\nvertices\n5\n3" SPACE,
       CEED_ERROR_MAJOR, ":6: element 0 has vertex 2 twice"},
      {HEAD "1\n1 3 0 1 2 2\nboundary\n0\nvertices\n4\n2" PLANE, CEED_ERROR_MAJOR,
       ":6: element 0 has vertex 2 twice"},
      {HEAD "2\n1 3 0 1 2 3\n1 3 1 2 3 0\nboundary\n0\nvertices\n4\n2" PLANE, CEED_ERROR_MAJOR,
       ":7: elements 0 and 1 have the same vertices"},
      {NODES "H1_2D_P2\nVDim: 2\nOrdering: 1\n0 0\n", CEED_ERROR_MAJOR,
       ":15: the number of node values is 18, more"},
      {NODES "H1_2D_P1\nVDim: 1\n", CEED_ERROR_MAJOR,
       ":14: the number of components of the nodes (VDim) is 1"},
      {NODES "H1_2D_P1\nVDim: 4\n", CEED_ERROR_MAJOR, "(VDim) is 4"},
      {NODES "H1_2D_P1\nVDim: 2\nOrdering: 2\n", CEED_ERROR_MAJOR, ":15: the ordering of the nodes is 2"},
      {NODES "H1_2D_P1\nOrdering: 1\n", CEED_ERROR_MAJOR, ":14: expected 'VDim:', found 'Ordering:'"},
      {NODES "H1_3D_P1\n", CEED_ERROR_MAJOR, ":13: nodes of collection 'H1_3D_P1' in a mesh of dimension 2"},
      {NODES "H1_2D_P1000\n", CEED_ERROR_UNSUPPORTED, ":13: nodes of degree 1000"},
      {NODES "H1_2D_P99999\n", CEED_ERROR_UNSUPPORTED, ":13: nodes of collection 'H1_2D_P99999'"},
      {NODES "H1_2D_P0\n", CEED_ERROR_UNSUPPORTED, ":13: nodes of degree 0"},
      {NODES "H1_2D_P-2\n", CEED_ERROR_UNSUPPORTED, ":13: nodes of degree -2"},
      {NODES "H1Pos_2D_P2\n", CEED_ERROR_UNSUPPORTED, ":13: nodes of collection 'H1Pos_2D_P2'"},
      {NODES "L2_T2_2D_P2\n", CEED_ERROR_UNSUPPORTED, "L2_T2_2D_P2"},
      {NODES "NURBS2\n", CEED_ERROR_UNSUPPORTED, "NURBS2"},
      {NODES "QuadraticPos\n", CEED_ERROR_UNSUPPORTED, "QuadraticPos"},
      {NODES "H1_2D_P1\nVDim: 2\nOrdering: 1\n0 0 1 0 1 1 0 1 7\n", CEED_ERROR_MAJOR,
       ":16: found '7' behind"},
      {NODES "L2_T3_2D_P1\nVDim: 2\nOrdering: 1\n0 0 1e308 0 0 1e308 1e308 -1e308\n", CEED_ERROR_MAJOR,
       ":6: the coordinates of the element are too large"},
      {"MFEM mesh v1.2\ndimension\n1\nelements\n1\n1 1 0 1\nboundary\n0\nvertices\n2\n1\n0 1\n",
       CEED_ERROR_MAJOR, ":13: the file ends where 'mfem_mesh_end' should be"},
      {"MFEM mesh v1.2\ndimension\n1\nelements\n1\n1 1 0 1\nboundary\n0\nvertices\n2\n1\n0 "
       "1\ncommunication_groups\n",
       CEED_ERROR_UNSUPPORTED, ":13: found 'communication_groups'"},
      {"MFEM mesh v1.3\ndimension\n1\nelements\n1\n1 1 0 1\nattribute_sets\n1\n\"a b 1 1\nboundary\n",
       CEED_ERROR_MAJOR, ":9: the name of a set has no closing quotation mark"},
  };

  CHECK_FAULTS("fault.mesh", faults);
}

TEST(faces_whose_vertices_disagree_in_order_are_an_error) {
  // The second cube has the common face (4,5,6,7) crosswise: 4 6 5 7.
  const char *path = tap_temp_text(
      "twisted.mesh",
      "MFEM mesh v1.0\ndimension\n3\nelements\n2\n1 5 0 1 2 3 4 5 6 7\n1 5 4 6 5 7 8 9 10 11\nboundary\n0\n"
      "vertices\n12\nnodes\nFiniteElementSpace\nFiniteElementCollection: H1_3D_P3\nVDim: 3\nOrdering: 0\n");
  Ceed ceed = tap_ceed("/cpu/self/ref");
  RitzMesh mesh = NULL;
  FILE *file = fopen(path, "a");

  CHECK(file, "%s", path);
  for (int i = 0; i < 3 * 1000; i++) fprintf(file, "%d\n", i % 7);
  fclose(file);
  CHECK_ERROR(ceed, RitzMeshRead(ceed, path, &mesh), CEED_ERROR_MAJOR,
              ":7: elements 0 and 1 (from 0) have the vertices of a common face in different orders");
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(every_truncation_is_an_error_with_its_place,
                        every_wrong_count_is_an_error_with_its_place,
                        no_wrong_word_makes_a_crash_or_a_bad_mesh, no_random_bytes_make_a_crash_or_a_bad_mesh,
                        every_failing_allocation_is_an_error_that_leaks_nothing,
                        files_of_no_known_format_are_refused, faults_of_gmsh_files_are_named_with_their_line,
                        numbers_in_bytes_must_be_finite_too, faults_of_mfem_files_are_named_with_their_line,
                        faces_whose_vertices_disagree_in_order_are_an_error));
}
