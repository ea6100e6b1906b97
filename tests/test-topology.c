// SPDX-License-Identifier: BSD-2-Clause
// Tests of what threads number on meshes that are no boxes: edges and faces against a table of their
// vertices, nodes on any number of threads, how long edges and faces are kept.
#include <ritz/multigrid.h>
#include <string.h>

#include "tests/mesh-list.h"
#include "tests/mixed-tools.h"

// ---- Numbers of edges and faces ----

// Numbers in the order of first appearance, by a table of vertices.
static void check_entities(const RitzMeshCells *cells, RitzMeshEntityKind kind, const char *name) {
  RitzMeshNumbers numbers = {0};
  RitzMeshTable table = {0}, found = {0};
  int64_t num_wrong = 0;
  const RitzMeshShape *first = ritz_mesh_shape(cells->blocks[0].topology);
  const int width = (kind == RITZ_MESH_EDGES ? &first->edges : &first->facets)->num_corners;

  CHECK_OK(ritz_mesh_number_entities(cells, kind, &numbers));
  CHECK_OK(ritz_mesh_table_create(NULL, width, 0, &table));
  for (int b = 0; b < cells->num_blocks; b++) {
    const RitzMeshBlock *block = &cells->blocks[b];
    const RitzMeshShape *shape = ritz_mesh_shape(block->topology);
    const RitzMeshEntities *entities = kind == RITZ_MESH_EDGES ? &shape->edges : &shape->facets;

    for (int64_t i = 0; i < block->num_elem * entities->num; i++) {
      int64_t key[4], number = -1;

      ritz_mesh_entity_key(entities, (int)(i % entities->num),
                           cells->elem_vertices + block->corner_base + i / entities->num * block->num_corners,
                           key);
      CHECK_OK(ritz_mesh_table_insert(NULL, &table, key, &number));
      num_wrong += numbers.numbers[numbers.base[b] + i] != number;
    }
  }
  CHECK(num_wrong == 0 && numbers.num == table.num_keys, "%s, kind %d: %lld wrong, %lld of %lld entities",
        name, (int)kind, (long long)num_wrong, (long long)numbers.num, (long long)table.num_keys);
  CHECK_OK(ritz_mesh_table_entities(cells, kind, &numbers, &found));
  CHECK(found.num_keys == table.num_keys &&
            !memcmp(found.keys, table.keys, (size_t)(table.num_keys * width) * sizeof(int64_t)),
        "%s, kind %d: the table of the numbers", name, (int)kind);
  ritz_mesh_table_clear(&found);
  ritz_mesh_table_clear(&table);
  RITZ_FREE(&numbers.numbers);
}

// All shapes turned at random, refined until threads share the work.
static void make_refined(Ceed ceed, RitzMesh *refined) {
  RitzMeshDraft draft = draft_of_mixed(1, identity_map);
  uint64_t state = 5;
  RitzMesh mesh;

  turn_at_random(&draft, &state);
  CHECK_OK(ritz_mesh_build(ceed, "all shapes", &draft, &mesh));
  CHECK_OK(RitzMeshRefine(mesh, 2, refined));
  RitzMeshDestroy(&mesh);
}

TEST(edges_and_faces_have_the_numbers_of_their_first_appearance) {
  for (int threads = 1; threads <= 3; threads += 2) {
    Ceed ceed = tap_ceed(threads == 1 ? "/cpu/self:threads=1" : "/cpu/self:threads=3");
    RitzMesh mesh;

    make_refined(ceed, &mesh);
    const RitzMeshCells cells = ritz_mesh_cells(mesh);

    check_entities(&cells, RITZ_MESH_EDGES, "all shapes");
    check_entities(&cells, RITZ_MESH_FACETS, "all shapes");
    RitzMeshDestroy(&mesh);
    for (CeedInt dim = 1; dim <= 3; dim++) {
      CHECK_OK(make_box(ceed, dim, 1, NULL, NULL, &mesh));
      const RitzMeshCells box = ritz_mesh_cells(mesh);

      if (dim > 1) check_entities(&box, RITZ_MESH_EDGES, "box");
      check_entities(&box, RITZ_MESH_FACETS, "box");
      RitzMeshDestroy(&mesh);
    }
    CeedDestroy(&ceed);
  }
}

// Going through all elements, a new node has the smallest number that is free.
static void check_first_numbers(RitzMesh mesh, CeedInt degree, const char *name) {
  RitzSpace space;
  int64_t num = 0, next = 0, num_nodes = 0, num_late = 0;

  CHECK_OK(RitzSpaceCreate(mesh, degree, 1, &space));
  CHECK_OK(RitzSpaceGetNumNodes(space, &num));
  for (CeedInt b = 0; b < mesh->num_blocks; b++) {
    const int64_t *nodes;
    CeedInt num_local = 0;

    CHECK_OK(RitzSpaceGetBlockNodes(space, b, &num_local, &nodes));
    for (int64_t e = 0; e < mesh->blocks[b].num_elem; e++, nodes += num_local) {
      int64_t largest = -1, num_new = 0;

      for (CeedInt i = 0; i < num_local; i++) {
        largest = nodes[i] > largest ? nodes[i] : largest;
        num_new += nodes[i] >= next;
      }
      num_late += num_new > 0 && largest != next + num_new - 1;
      next += num_new;
    }
    num_nodes = next;
  }
  CHECK(num_late == 0 && num_nodes == num, "%s, degree %d: %lld elements with gaps, %lld of %lld nodes", name,
        (int)degree, (long long)num_late, (long long)num_nodes, (long long)num);
  RitzSpaceDestroy(&space);
}

TEST(edges_and_faces_of_files_have_the_numbers_of_their_first_appearance) {
  Ceed ceed = tap_ceed("/cpu/self:threads=3");
  char path[MESH_PATH];

  for (size_t i = 0; mesh_list_path(i, path); i++) {
    RitzMesh mesh;

    CHECK_OK(RitzMeshRead(ceed, path, &mesh));
    const RitzMeshCells cells = ritz_mesh_cells(mesh);

    check_entities(&cells, RITZ_MESH_EDGES, path);
    check_entities(&cells, RITZ_MESH_FACETS, path);
    for (CeedInt p = 1; p <= 4; p++) check_first_numbers(mesh, p, path);
    RitzMeshDestroy(&mesh);
  }
  CeedDestroy(&ceed);
}

// All triangles around the vertex 0, in no order: all edges at it are looked for there.
TEST(edges_of_a_vertex_with_many_elements_are_told_apart) {
  enum { NUM = 20000 };
  Ceed ceed = tap_ceed("/cpu/self:threads=3");
  const RitzMeshBlock block = {.topology = CEED_TOPOLOGY_TRIANGLE, .num_elem = NUM, .num_corners = 3};
  int64_t *vertices = NULL, *rim = NULL;
  uint64_t state = 3;

  CHECK_OK(RITZ_MALLOC(NULL, 3 * NUM, &vertices));
  CHECK_OK(RITZ_MALLOC(NULL, NUM, &rim));
  for (int64_t i = 0; i < NUM; i++) {
    const int64_t j = tap_integer(&state, i + 1);

    rim[i] = rim[j];
    rim[j] = i + 1;
  }
  for (int64_t i = 0; i < NUM; i++) {
    const int64_t around[3] = {0, rim[i], rim[(i + 1) % NUM]};

    for (int k = 0; k < 3; k++) vertices[3 * i + k] = around[(k + i) % 3];
  }
  const RitzMeshCells cells = {ceed, NUM + 1, 1, &block, vertices};

  check_entities(&cells, RITZ_MESH_EDGES, "fan");
  RITZ_FREE(&vertices);
  RITZ_FREE(&rim);
  CeedDestroy(&ceed);
}

// ---- Nodes ----

static void check_equal_nodes(RitzMesh a, RitzMesh b, CeedInt degree) {
  RitzSpace spaces[2];
  bool are_equal = true;

  CHECK_OK(RitzSpaceCreate(a, degree, 1, &spaces[0]));
  CHECK_OK(RitzSpaceCreate(b, degree, 1, &spaces[1]));
  for (CeedInt block = 0; block < a->num_blocks; block++) {
    const int64_t *nodes[2];
    CeedInt num = 0;

    for (int i = 0; i < 2; i++) CHECK_OK(RitzSpaceGetBlockNodes(spaces[i], block, &num, &nodes[i]));
    are_equal &= !memcmp(nodes[0], nodes[1], (size_t)(a->blocks[block].num_elem * num) * sizeof(int64_t));
  }
  CHECK(are_equal, "degree %d: nodes depend on the threads", (int)degree);
  for (int i = 0; i < 2; i++) RitzSpaceDestroy(&spaces[i]);
}

TEST(nodes_have_the_same_numbers_on_any_number_of_threads) {
  Ceed serial = tap_ceed("/cpu/self:threads=1"), threaded = tap_ceed("/cpu/self:threads=3");
  RitzMesh meshes[2];

  make_refined(serial, &meshes[0]);
  make_refined(threaded, &meshes[1]);
  for (CeedInt p = 1; p <= 4; p++) check_equal_nodes(meshes[0], meshes[1], p);
  for (int i = 0; i < 2; i++) RitzMeshDestroy(&meshes[i]);
  CeedDestroy(&serial);
  CeedDestroy(&threaded);
}

TEST(elements_have_the_next_numbers_at_their_new_nodes) {
  Ceed ceed = tap_ceed("/cpu/self:threads=3");
  RitzMesh mesh;

  make_refined(ceed, &mesh);
  for (CeedInt p = 1; p <= 4; p++) check_first_numbers(mesh, p, "all shapes");
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

// ---- Life ----

TEST(edges_and_faces_are_kept_while_spaces_are_made) {
  Ceed ceed = tap_ceed("/cpu/self:threads=1");
  RitzMesh mesh;
  RitzSpace cubic, quadratic;
  RitzHierarchy hierarchy;

  make_refined(ceed, &mesh);
  CHECK(!mesh->topology.is_new, "nobody has asked for edges");
  CHECK_OK(RitzSpaceCreate(mesh, 3, 1, &cubic));
  const int64_t *edges = mesh->topology.edges.numbers;

  CHECK(edges && mesh->topology.faces.numbers, "edges and faces are kept");
  CHECK_OK(RitzSpaceCreate(mesh, 2, 1, &quadratic));
  CHECK(mesh->topology.edges.numbers == edges, "they are not made again");
  CHECK_OK(RitzHierarchyCreate(cubic, NULL, &hierarchy));
  CHECK(!mesh->topology.is_new, "a hierarchy has all of its spaces");
  RitzHierarchyDestroy(&hierarchy);
  RitzSpaceDestroy(&quadratic);
  CHECK_OK(RitzSpaceCreate(mesh, 2, 1, &quadratic));
  RitzSpaceDestroy(&cubic);
  CHECK(mesh->topology.is_new, "a space is left");
  RitzSpaceDestroy(&quadratic);
  CHECK(!mesh->topology.is_new, "no space is left");
  RitzMeshDestroy(&mesh);
  CeedDestroy(&ceed);
}

int main(int argc, char **argv) {
  return tap_main(argc, argv,
                  TESTS(edges_and_faces_have_the_numbers_of_their_first_appearance,
                        edges_and_faces_of_files_have_the_numbers_of_their_first_appearance,
                        edges_of_a_vertex_with_many_elements_are_told_apart,
                        nodes_have_the_same_numbers_on_any_number_of_threads,
                        elements_have_the_next_numbers_at_their_new_nodes,
                        edges_and_faces_are_kept_while_spaces_are_made));
}
