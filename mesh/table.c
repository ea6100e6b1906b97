// SPDX-License-Identifier: BSD-2-Clause
// A hash table that numbers tuples of vertices (contract in mesh/mesh.h). Used to find common edges and
// faces, equal elements, and the facets that labels mean.
#include "mesh/mesh.h"

#include <string.h>
#include <time.h>

// Finalizer of SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
uint64_t ritz_mesh_mix(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

// Mesh files cannot be made to collide without knowing the clock and where the system has put things. Numbers
// do not depend on the seed.
static uint64_t make_seed(const RitzMeshTable *table) {
  struct timespec now = {0};

  clock_gettime(CLOCK_REALTIME, &now);
  return ritz_mesh_mix(ritz_mesh_mix((uint64_t)(uintptr_t)table->slots ^ (uint64_t)now.tv_nsec) +
                       (uint64_t)(uintptr_t)table + (uint64_t)now.tv_sec);
}

static bool is_equal(int width, const int64_t *a, const int64_t *b) {
  for (int i = 0; i < width; i++) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// The slot that holds `key`, or the free one where it belongs.
static int64_t find_slot(const RitzMeshTable *table, const int64_t *key) {
  uint64_t hash = table->seed;

  for (int i = 0; i < table->width; i++) hash = ritz_mesh_mix(hash ^ (uint64_t)key[i]);
  int64_t slot = (int64_t)(hash & (uint64_t)(table->num_slots - 1));

  while (table->slots[slot] &&
         !is_equal(table->width, table->keys + (table->slots[slot] - 1) * table->width, key)) {
    slot = (slot + 1) & (table->num_slots - 1);
  }
  return slot;
}

// Replaces the slots by num_slots free ones and enters all keys.
static int rehash(Ceed ceed, RitzMeshTable *table, int64_t num_slots) {
  int64_t *slots;

  RITZ_TRY(RITZ_CALLOC(ceed, (size_t)num_slots, &slots));
  RITZ_FREE(&table->slots);
  table->slots = slots;
  table->num_slots = num_slots;
  for (int64_t k = 0; k < table->num_keys; k++) {
    table->slots[find_slot(table, table->keys + k * table->width)] = k + 1;
  }
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_table_create(Ceed ceed, int width, int64_t expected_keys, RitzMeshTable *table) {
  int64_t num_slots = 16;

  *table = (RitzMeshTable){.width = width, .max_keys = expected_keys < 8 ? 8 : expected_keys};
  while (num_slots < 2 * table->max_keys) num_slots *= 2;
  RITZ_TRY(RITZ_MALLOC(ceed, (size_t)table->max_keys * (size_t)width, &table->keys));
  RITZ_TRY(rehash(ceed, table, num_slots));
  table->seed = make_seed(table);
  return CEED_ERROR_SUCCESS;
}

void ritz_mesh_table_clear(RitzMeshTable *table) {
  RITZ_FREE(&table->keys);
  RITZ_FREE(&table->slots);
  *table = (RitzMeshTable){0};
}

static int append_key(Ceed ceed, RitzMeshTable *table, const int64_t *key) {
  size_t width = (size_t)table->width;

  if (table->num_keys == table->max_keys) {
    int64_t max_keys = table->max_keys + table->max_keys / 2;

    RITZ_TRY(RITZ_REALLOC(ceed, (size_t)max_keys * width, &table->keys));
    table->max_keys = max_keys;
  }
  memcpy(table->keys + (size_t)table->num_keys * width, key, width * sizeof(*key));
  table->num_keys++;
  return CEED_ERROR_SUCCESS;
}

int ritz_mesh_table_insert(Ceed ceed, RitzMeshTable *table, const int64_t *key, int64_t *number) {
  int64_t slot = find_slot(table, key);

  if (!table->slots[slot]) {
    RITZ_TRY(append_key(ceed, table, key));
    table->slots[slot] = table->num_keys;
    if (2 * table->num_keys > table->num_slots) {
      *number = table->num_keys - 1;
      return rehash(ceed, table, 2 * table->num_slots);
    }
  }
  *number = table->slots[slot] - 1;
  return CEED_ERROR_SUCCESS;
}

int64_t ritz_mesh_table_find(const RitzMeshTable *table, const int64_t *key) {
  return table->slots[find_slot(table, key)] - 1;
}

void ritz_mesh_sort_vertices(int num, int64_t *vertices) {
  for (int i = 1; i < num; i++) {
    int64_t vertex = vertices[i];
    int j = i;

    for (; j > 0 && vertices[j - 1] > vertex; j--) vertices[j] = vertices[j - 1];
    vertices[j] = vertex;
  }
}
