// SPDX-License-Identifier: BSD-2-Clause
// The module of Fortran, as Fortran programs use it: checks.f90 has the tests, this file their names and the
// harness.
#include "tests/tap.h"

#include <ritz.h>
#include <stdbool.h>
#include <string.h>

// Called by checks.f90. A later failure of the same test adds a line.
void fortran_check(bool holds, const char *what);
bool fortran_runs_pointers(Ceed ceed);
const char *fortran_temp_file(void);

void fortran_check(bool holds, const char *what) {
  tap_check(holds, "tests/fortran/checks.f90", 0, what, "%s", what);
}
bool fortran_runs_pointers(Ceed ceed) { return tap_runs_pointers(ceed); }
const char *fortran_temp_file(void) { return tap_temp_file("view.txt", NULL, 0); }

#define FORTRAN_TEST(name)                                                                                   \
  void fortran_##name(Ceed ceed);                                                                            \
  TEST_EACH_BACKEND(name) { fortran_##name(ceed); }

FORTRAN_TEST(arrays_are_copied_borrowed_and_lent)
FORTRAN_TEST(restriction_and_its_transpose_count_elements)
FORTRAN_TEST(basis_differentiates_a_linear_field)
FORTRAN_TEST(mass_and_stiffness_of_gallery_are_exact)
FORTRAN_TEST(functions_of_the_program_run_with_and_without_text)
FORTRAN_TEST(lists_of_vectors_and_structs_reach_c)
FORTRAN_TEST(contexts_hold_derived_types)
FORTRAN_TEST(errors_are_returned_with_their_texts)
FORTRAN_TEST(views_go_to_files)

void fortran_multigrid_solves_on_a_mapped_box(Ceed ceed);
TEST_EACH_BACKEND(multigrid_solves_on_a_mapped_box) {
  if (tap_compiles_slowly(ceed)) NOT_FOR_THIS_BACKEND("many kernels, which test-multigrid has, too");
  fortran_multigrid_solves_on_a_mapped_box(ceed);
}

// The sizes of structs as each of the compilers has them, in one order.
#define STRUCT(name) {#name, sizeof(name)},
static const struct {
  const char *name;
  size_t size;
} structs[] = {
#include "ritz-structs.h"
};
size_t fortran_size_of(int index);

TEST(structs_have_the_sizes_of_c) {
  for (size_t i = 0; i < sizeof(structs) / sizeof(structs[0]); i++)
    CHECK(fortran_size_of((int)i) == structs[i].size, "%s has %zu bytes in C, %zu in Fortran",
          structs[i].name, structs[i].size, fortran_size_of((int)i));
  CHECK(fortran_size_of((int)(sizeof(structs) / sizeof(structs[0]))) == 0, "Fortran has more structs");
}

int main(int argc, char **argv) {
  return tap_main(
      argc, argv,
      TESTS(structs_have_the_sizes_of_c, arrays_are_copied_borrowed_and_lent,
            restriction_and_its_transpose_count_elements, basis_differentiates_a_linear_field,
            mass_and_stiffness_of_gallery_are_exact, functions_of_the_program_run_with_and_without_text,
            lists_of_vectors_and_structs_reach_c, contexts_hold_derived_types,
            errors_are_returned_with_their_texts, views_go_to_files, multigrid_solves_on_a_mapped_box));
}
