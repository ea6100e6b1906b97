// SPDX-License-Identifier: BSD-2-Clause
// Choices of a device's target as numbers with names (contract in plan/choice.h).
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "plan/choice.h"
#include "plan/gpu-element.h"
#include "plan/gpu-mma.h"

static const struct {
  const char *name;
  size_t offset;
} members[] = {{"elements", offsetof(RitzGpuChoice, num_elem)},
               {"blocks", offsetof(RitzGpuChoice, num_blocks)},
               {"unroll", offsetof(RitzGpuChoice, unroll)},
               {"fence", offsetof(RitzGpuChoice, fence)},
               {"stacked", offsetof(RitzGpuChoice, elem_per_thread)},
               {"whole", offsetof(RitzGpuChoice, whole)},
               {"join", offsetof(RitzGpuChoice, join)},
               {"mma", offsetof(RitzGpuChoice, mma)},
               {"vectors", offsetof(RitzGpuChoice, vectors)}};
enum { NUM_MEMBERS = sizeof(members) / sizeof(members[0]), MOST = 1 << 20 };
static_assert(sizeof(RitzGpuChoice) == NUM_MEMBERS * sizeof(int), "every member of RitzGpuChoice has a name");

// ---- Text ----

static int *member(RitzGpuChoice *choice, int i) {
  return (int *)(void *)((char *)choice + members[i].offset);
}

void ritz_plan_gpu_write_choice(const RitzGpuChoice *choice, char text[RITZ_CHOICE_LENGTH]) {
  RitzGpuChoice copy = *choice;
  size_t length = 0;
  text[0] = '\0';
  for (int i = 0; i < NUM_MEMBERS && length < RITZ_CHOICE_LENGTH; i++) {
    if (*member(&copy, i) == 0) continue;
    length += (size_t)snprintf(text + length, RITZ_CHOICE_LENGTH - length, "%s%s=%d", length ? " " : "",
                               members[i].name, *member(&copy, i));
  }
}

// The member that the word "name=number" before `end` sets; NULL: none, or one that is set already.
static int *find_member(RitzGpuChoice *choice, const char *word) {
  const size_t length = strcspn(word, "=");
  for (int i = 0; i < NUM_MEMBERS; i++) {
    if (strlen(members[i].name) == length && !strncmp(members[i].name, word, length))
      return *member(choice, i) ? NULL : member(choice, i);
  }
  return NULL;
}

bool ritz_plan_gpu_read_choice(const char *text, RitzGpuChoice *choice) {
  *choice = (RitzGpuChoice){0};
  while (*text) {
    int *found = find_member(choice, text);
    const char *number = strchr(text, '=');
    char *end = NULL;
    const long value = found && number ? strtol(number + 1, &end, 10) : 0;
    if (value < -1 || value == 0 || value > MOST || (*end && *end != ' ')) return false;
    *found = (int)value;
    text = end + (*end == ' ');
  }
  return choice->num_elem >= 0 && choice->num_blocks >= 0 && choice->elem_per_thread >= 0 &&
         choice->vectors >= 0;
}

// ---- What was chosen ----

// 0: no space could be joined.
static int chosen_joins(const RitzPlan *plan, const RitzGpuTarget *t) {
  for (int s = 0; s < plan->num_spaces; s++) {
    if (ritz_plan_gpu_can_join(plan, t, s)) return t->spaces[s].is_joined ? 1 : -1;
  }
  return 0;
}

RitzGpuChoice ritz_plan_gpu_chosen(const RitzPlan *plan, const RitzGpuMachine *machine,
                                   const RitzGpuTarget *target) {
  return (RitzGpuChoice){.num_elem = target->num_elem,
                         .num_blocks = machine->registers_processor > 0 ? target->num_blocks : 0,
                         .unroll = target->unrolls ? 1 : -1,
                         .fence = target->fences ? 1 : -1,
                         .elem_per_thread = target->is_nontensor ? target->elem_per_thread : 0,
                         .whole = target->evaluation == RITZ_GPU_ELEMENTS ? 1 : -1,
                         .join = chosen_joins(plan, target),
                         .mma = target->uses_mma                      ? 1
                                : ritz_plan_gpu_can_mma(plan, target) ? -1
                                                                      : 0,
                         .vectors = target->takes_many ? target->vectors_per_thread : 0};
}
