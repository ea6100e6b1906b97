// SPDX-License-Identifier: BSD-2-Clause
// u . A u in fused kernels for devices (contract in emit/gpu-text.h).
#include "emit/gpu-text.h"

void ritz_emit_gpu_open_energy(RitzGpuEmitter *e) {
  if (e->target->has_energy) ritz_text_add(&e->text, "  double energy = 0;\n");
}

void ritz_emit_gpu_energy(RitzGpuEmitter *e) {
  for (int i = e->plan->num_in; e->target->has_energy && i < e->plan->num_in + e->plan->num_out; i++) {
    const int partner = ritz_plan_partner(e->plan, i);
    char in[32], out[32];
    if (partner < 0) continue;
    ritz_emit_gpu_name_argument(e, partner, in);
    ritz_emit_gpu_name_argument(e, i, out);
    ritz_text_add(&e->text, "      energy += %sritz_energy(%d, %s, %s);\n",
                  e->target->elem_per_thread > 1 ? "!is_on ? 0 : " : "", (int)e->plan->fields[i].size, in,
                  out);
  }
}

// Elements that are repeated do not count.
void ritz_emit_gpu_close_energy(RitzGpuEmitter *e) {
  if (!e->target->has_energy) return;
  ritz_text_add(&e->text, "  ritz_keep_energy(%s, energies);\n",
                e->target->elem_per_thread > 1 ? "energy" : "is_on ? energy : 0");
}
