// SPDX-License-Identifier: BSD-2-Clause
// What texts of kernels are made of beyond base/text.h (contract in emit/text.h).
#include "emit/text.h"

#include <string.h>

void ritz_text_add_defines(RitzText *text, int num, char *const *defines) {
  for (int i = 0; i < num; i++) {
    const char *define = defines[i];
    const int length = (int)strcspn(define, "=\n");
    const char *value = define[length] == '=' ? define + length + 1 : "1";
    ritz_text_add(text, "#define %.*s %.*s\n", length, define, (int)strcspn(value, "\n"), value);
  }
}

void ritz_text_add_table(RitzText *text, const char *name, CeedInt rows, CeedInt columns,
                         const CeedScalar *table) {
  ritz_text_add(text, "RITZ_CONSTANT RitzReal %s[] = {\n", name);
  ritz_text_add_numbers(text, rows * columns, columns, table);
  ritz_text_add(text, "};\n");
}
