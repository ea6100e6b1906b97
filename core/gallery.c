// SPDX-License-Identifier: BSD-2-Clause
// The gallery: QFunctions that come with the library or were added to it, by name (doc/ceed-api.md,
// QFunctions). The text of ours is installed for run-time compilation; here it is compiled for the host.
#include "core/qfunction-clones.h"

#include <ceed/jit-source/gallery/ceed-identity.h>
#include <ceed/jit-source/gallery/ceed-mass1dbuild.h>
#include <ceed/jit-source/gallery/ceed-mass2dbuild.h>
#include <ceed/jit-source/gallery/ceed-mass3dbuild.h>
#include <ceed/jit-source/gallery/ceed-massapply.h>
#include <ceed/jit-source/gallery/ceed-poisson1dapply.h>
#include <ceed/jit-source/gallery/ceed-poisson1dbuild.h>
#include <ceed/jit-source/gallery/ceed-poisson2dapply.h>
#include <ceed/jit-source/gallery/ceed-poisson2dbuild.h>
#include <ceed/jit-source/gallery/ceed-poisson3dapply.h>
#include <ceed/jit-source/gallery/ceed-poisson3dbuild.h>
#include <ceed/jit-source/gallery/ceed-scale.h>
#include <ceed/jit-source/gallery/ceed-vectormassapply.h>
#include <ceed/jit-source/gallery/ceed-vectorpoisson1dapply.h>
#include <ceed/jit-source/gallery/ceed-vectorpoisson2dapply.h>
#include <ceed/jit-source/gallery/ceed-vectorpoisson3dapply.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "core/core.h"

typedef struct {
  const char *name;
  CeedInt size; // 0: no such field
  CeedEvalMode mode;
} GalleryField;

typedef struct {
  const char *name;
  const char *source; // __FILE__ of the text, ':', function
  CeedQFunctionUser f;
  CeedSize flops; // per point, -1: unset
  GalleryField in[2], out;
} GalleryEntry;

#define BUILD(dim, size, num_flops)                                                                          \
  .flops = (num_flops), .in = {{"dx", (dim) * (dim), CEED_EVAL_GRAD}, {"weights", 1, CEED_EVAL_WEIGHT}},     \
  .out = {"qdata", (size), CEED_EVAL_NONE}
#define MASS(nc, num_flops)                                                                                  \
  .flops = (num_flops), .in = {{"u", (nc), CEED_EVAL_INTERP}, {"qdata", 1, CEED_EVAL_NONE}},                 \
  .out = {"v", (nc), CEED_EVAL_INTERP}
#define POISSON(dim, nc, num_flops)                                                                          \
  .flops = (num_flops),                                                                                      \
  .in = {{"du", (dim) * (nc), CEED_EVAL_GRAD}, {"qdata", (dim) * ((dim) + 1) / 2, CEED_EVAL_NONE}},          \
  .out = {"dv", (dim) * (nc), CEED_EVAL_GRAD}
#define FUNCTION(f_name) .source = f_name##_loc, .f = f_name

static const GalleryEntry gallery[] = {
    {"Identity", FUNCTION(Identity), .flops = 0},
    {"Identity to scalar", FUNCTION(IdentityScalar), .flops = 0},
    {"Mass1DBuild", FUNCTION(Mass1DBuild), BUILD(1, 1, 1)},
    {"Mass2DBuild", FUNCTION(Mass2DBuild), BUILD(2, 1, 4)},
    {"Mass3DBuild", FUNCTION(Mass3DBuild), BUILD(3, 1, 15)},
    {"MassApply", FUNCTION(MassApply), MASS(1, 1)},
    {"Vector3MassApply", FUNCTION(Vector3MassApply), MASS(3, 3)},
    {"Poisson1DApply", FUNCTION(Poisson1DApply), POISSON(1, 1, 1)},
    {"Poisson1DBuild", FUNCTION(Poisson1DBuild), BUILD(1, 1, 1)},
    {"Poisson2DApply", FUNCTION(Poisson2DApply), POISSON(2, 1, 6)},
    {"Poisson2DBuild", FUNCTION(Poisson2DBuild), BUILD(2, 3, 17)},
    {"Poisson3DApply", FUNCTION(Poisson3DApply), POISSON(3, 1, 15)},
    {"Poisson3DBuild", FUNCTION(Poisson3DBuild), BUILD(3, 6, 69)},
    {"Vector3Poisson1DApply", FUNCTION(Vector3Poisson1DApply), POISSON(1, 3, 3)},
    {"Vector3Poisson2DApply", FUNCTION(Vector3Poisson2DApply), POISSON(2, 3, 18)},
    {"Vector3Poisson3DApply", FUNCTION(Vector3Poisson3DApply), POISSON(3, 3, 45)},
    {"Scale", FUNCTION(Scale), .flops = -1},
    {"Scale (scalar)", FUNCTION(ScaleScalar), .flops = -1},
};
enum { NUM_ENTRIES = sizeof(gallery) / sizeof(gallery[0]) };

int CeedQFunctionRegisterAll(void) { return CEED_ERROR_SUCCESS; }

static int add_fields(CeedQFunction qf, const GalleryEntry *entry) {
  for (int i = 0; i < 2 && entry->in[i].size; i++) {
    RITZ_TRY(CeedQFunctionAddInput(qf, entry->in[i].name, entry->in[i].size, entry->in[i].mode));
  }
  if (!entry->out.size) return CEED_ERROR_SUCCESS;
  return CeedQFunctionAddOutput(qf, entry->out.name, entry->out.size, entry->out.mode);
}

static int set_identity_size(CeedQFunction qf, CeedInt size) {
  CeedQFunctionContext ctx = NULL;
  const IdentityContext data = {size};
  RITZ_TRY(CeedQFunctionContextCreate(qf->obj.ceed, &ctx));
  int ierr = CeedQFunctionContextSetData(ctx, CEED_MEM_HOST, CEED_COPY_VALUES, sizeof(data), (void *)&data);
  if (!ierr) ierr = CeedQFunctionContextRegisterInt32(ctx, "size", 0, 1, "scalars per point");
  if (!ierr) ierr = CeedQFunctionSetContext(qf, ctx);
  CeedQFunctionContextDestroy(&ctx);
  return ierr ? ierr : CeedQFunctionSetContextWritable(qf, false);
}

static int complete_entry(CeedQFunction qf, const GalleryEntry *entry) {
  qf->gallery_name = entry->name;
  qf->user_flops = entry->flops;
  RITZ_TRY(add_fields(qf, entry));
  return entry->f == Identity ? set_identity_size(qf, 1) : CEED_ERROR_SUCCESS;
}

static const GalleryEntry *find_entry(const char *name) {
  for (size_t i = 0; i < NUM_ENTRIES; i++) {
    if (!strcmp(gallery[i].name, name)) return &gallery[i];
  }
  return NULL;
}

// ---- Entries that programs add ----

typedef int (*GalleryInit)(Ceed ceed, const char *requested, CeedQFunction qf);

// Neither moved nor freed before exit, so that an entry found under the lock may be used without it.
typedef struct Registered {
  struct Registered *next;
  char *name, *source; // in the same memory
  CeedInt vec_length;
  CeedQFunctionUser f;
  GalleryInit init;
} Registered;

enum { MAX_ENTRIES = 1024 }; // the standard's limit

static Registered *registered; // owned; lock RITZ_LOCK_GALLERY
static size_t num_registered;  // lock RITZ_LOCK_GALLERY

static const Registered *find_registered(const char *name) {
  const Registered *entry = registered;
  while (entry && strcmp(entry->name, name)) entry = entry->next;
  return entry;
}

static void free_registered(void) {
  while (registered) {
    Registered *entry = registered;
    registered = entry->next;
    ritz_memory_adopt(entry);
    RITZ_FREE(&entry);
  }
}

// A copy of *from with strings of its own. It stays until exit and is therefore not counted as live memory.
static int copy_entry(const Registered *from, Registered **copy) {
  size_t name_size = strlen(from->name) + 1, source_size = strlen(from->source) + 1;
  Registered *entry = NULL;
  RITZ_TRY(ritz_malloc(NULL, 1, sizeof(*entry) + name_size + source_size, (void **)&entry));
  *entry = *from;
  entry->name = memcpy(entry + 1, from->name, name_size);
  entry->source = memcpy(entry->name + name_size, from->source, source_size);
  ritz_memory_give(entry);
  *copy = entry;
  return CEED_ERROR_SUCCESS;
}

static bool is_same_function(const Registered *a, const Registered *b) {
  return !strcmp(a->source, b->source) && a->vec_length == b->vec_length && a->f == b->f &&
         a->init == b->init;
}

// With the lock held. The same entry once more changes nothing.
static int insert(const Registered *wanted) {
  const Registered *known = find_registered(wanted->name);
  if (known && is_same_function(known, wanted)) return CEED_ERROR_SUCCESS;
  RITZ_REQUIRE(!known && !find_entry(wanted->name), NULL, CEED_ERROR_MINOR,
               "CeedQFunctionRegister: the gallery has another QFunction '%s'", wanted->name);
  RITZ_REQUIRE(NUM_ENTRIES + num_registered < MAX_ENTRIES, NULL, CEED_ERROR_MAJOR,
               "CeedQFunctionRegister: the gallery is full, it holds %d QFunctions", (int)MAX_ENTRIES);
  Registered *entry;
  RITZ_TRY(copy_entry(wanted, &entry));
  if (num_registered == 0) atexit(free_registered);
  entry->next = registered;
  registered = entry;
  num_registered++;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionRegister(const char *name, const char *source, CeedInt vec_length, CeedQFunctionUser f,
                          int (*init)(Ceed ceed, const char *requested, CeedQFunction qf)) {
  RITZ_REQUIRE(name, NULL, CEED_ERROR_INCOMPLETE, "%s: the name is NULL", __func__);
  const char *relative = source ? strstr(source, "ceed/jit-source") : NULL;
  RITZ_REQUIRE(relative, NULL, CEED_ERROR_MAJOR, "%s: the source '%s' of '%s' has no 'ceed/jit-source' in it",
               __func__, source ? source : "NULL", name);
  const Registered wanted = {NULL, (char *)name, (char *)relative, vec_length, f, init};
  ritz_lock(RITZ_LOCK_GALLERY);
  int ierr = insert(&wanted);
  ritz_unlock(RITZ_LOCK_GALLERY);
  return ierr;
}

// ---- Creation by name ----

static int create_builtin(Ceed ceed, const GalleryEntry *entry, CeedQFunction *qf) {
  RITZ_TRY(CeedQFunctionCreateInterior(ceed, 1, entry->f, strstr(entry->source, "ceed/jit-source"), qf));
  return complete_entry(*qf, entry);
}

static int create_registered(Ceed ceed, const Registered *entry, const char *name, CeedQFunction *qf) {
  RITZ_TRY(CeedQFunctionCreateInterior(ceed, entry->vec_length, entry->f, entry->source, qf));
  (*qf)->gallery_name = entry->name;
  return entry->init ? entry->init(ceed, name, *qf) : CEED_ERROR_SUCCESS;
}

int CeedQFunctionCreateInteriorByName(Ceed ceed, const char *name, CeedQFunction *qf) {
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, qf);
  RITZ_REQUIRE(name, ceed, CEED_ERROR_INCOMPLETE, "%s: the name is NULL", __func__);
  const GalleryEntry *builtin = find_entry(name);
  ritz_lock(RITZ_LOCK_GALLERY);
  const Registered *added = find_registered(name);
  ritz_unlock(RITZ_LOCK_GALLERY);
  RITZ_REQUIRE(builtin || added, ceed, CEED_ERROR_UNSUPPORTED, "%s: the gallery has no QFunction '%s'",
               __func__, name);

  CeedQFunction created = NULL;
  int ierr =
      builtin ? create_builtin(ceed, builtin, &created) : create_registered(ceed, added, name, &created);
  if (ierr) {
    CeedQFunctionDestroy(&created);
    return ierr;
  }
  *qf = created;
  return CEED_ERROR_SUCCESS;
}

int CeedQFunctionCreateIdentity(Ceed ceed, CeedInt size, CeedEvalMode in_mode, CeedEvalMode out_mode,
                                CeedQFunction *qf) {
  CeedQFunction created = NULL;
  RITZ_HANDLE(ceed);
  RITZ_ARGUMENT(ceed, qf);
  RITZ_TRY(CeedQFunctionCreateInteriorByName(ceed, "Identity", &created));
  int ierr = CeedQFunctionAddInput(created, "input", size, in_mode);
  if (!ierr) ierr = CeedQFunctionAddOutput(created, "output", size, out_mode);
  if (!ierr) ierr = set_identity_size(created, size);
  if (ierr) {
    CeedQFunctionDestroy(&created);
    return ierr;
  }
  created->is_identity = true;
  *qf = created;
  return CEED_ERROR_SUCCESS;
}
