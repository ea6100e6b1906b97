// SPDX-License-Identifier: BSD-2-Clause
// RitzMeshRead: loads a mesh file, chooses the reader by its first line, checks what it found. The formats
// are left to mesh/gmsh.c and mesh/mfem.c, the checks of the mesh to ritz_mesh_build.
#include <locale.h>
#include <math.h>

#include "mesh/reader.h"

#define READS "Ritz reads Gmsh MSH 2.2 and 4.1 and MFEM mesh v1.0, v1.2 and v1.3"

static int read_draft(Ceed ceed, RitzMeshText *text, const RitzMeshReadOptions *options,
                      RitzMeshDraft *draft) {
  RitzWord line;
  RitzQuote quote;

  RITZ_TEXT_REQUIRE(ritz_text_peek_line(text, &line), text, "the file is empty; " READS);
  if (line.start[0] == '$') return ritz_mesh_read_gmsh(ceed, text, options->ignore_periodic, draft);
  if (ritz_word_begins(line, "MFEM ")) return ritz_mesh_read_mfem(ceed, text, draft);
  if (ritz_word_begins(line, "# vtk") || ritz_word_begins(line, "<?xml") ||
      ritz_word_begins(line, "<VTKFile"))
    return ritz_text_fail(text, CEED_ERROR_UNSUPPORTED, "this is a VTK file; " READS);
  return ritz_text_fail(text, CEED_ERROR_MAJOR, "unknown format: the file begins with '%s'; " READS,
                        ritz_word_quote(line, &quote));
}

static int read_mesh_file(Ceed ceed, const char *path, const RitzMeshReadOptions *options, RitzMesh *mesh) {
  RitzMeshText text;
  RitzMeshDraft draft = {.num_elem = 0};

  RITZ_TRY(ritz_text_open(ceed, path, &text));
  int ierr = read_draft(ceed, &text, options, &draft);

  ritz_text_close(&text);
  if (!ierr && options->merge) {
    ierr = ritz_mesh_draft_lay_out(ceed, path, &draft);
    if (!ierr) ierr = ritz_reader_merge(ceed, options->merge_distance, &draft);
  }
  if (!ierr) return ritz_mesh_build(ceed, path, &draft, mesh);
  ritz_mesh_draft_clear(&draft);
  return ierr;
}

// Numbers in files have a decimal point whatever the user's locale is.
static int read_mesh(Ceed ceed, const char *call, const char *path, const RitzMeshReadOptions *options,
                     RitzMesh *mesh) {
  locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);

  RITZ_REQUIRE(c_locale != (locale_t)0, ceed, CEED_ERROR_MAJOR, "%s: the C locale is not available", call);
  locale_t users_locale = uselocale(c_locale);
  int ierr = read_mesh_file(ceed, path, options, mesh);

  uselocale(users_locale);
  freelocale(c_locale);
  return ierr;
}

int RitzMeshRead(Ceed ceed, const char *path, RitzMesh *mesh) {
  const RitzMeshReadOptions options = {0};

  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, path);
  RITZ_ARGUMENT(ceed, mesh);
  return read_mesh(ceed, __func__, path, &options, mesh);
}

int RitzMeshReadWith(Ceed ceed, const char *path, const RitzMeshReadOptions *options, RitzMesh *mesh) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, path);
  RITZ_ARGUMENT(ceed, options);
  RITZ_ARGUMENT(ceed, mesh);
  RITZ_REQUIRE(!options->merge || (options->merge_distance >= 0.0 && isfinite(options->merge_distance)), ceed,
               CEED_ERROR_INCOMPATIBLE, "%s: the distance of merged vertices is %g, needed at least 0",
               __func__, options->merge_distance);
  return read_mesh(ceed, __func__, path, options, mesh);
}
