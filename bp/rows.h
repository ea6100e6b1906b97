// SPDX-License-Identifier: BSD-2-Clause
// Rows of results, written in three forms from one description: the heading of a table, a line of it, an
// object of JSON. A description calls row_... for each value, with what it is called in JSON and in the
// heading; either may be NULL. Used by all benchmarks with rows.
#ifndef RITZ_BP_ROWS_H
#define RITZ_BP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef enum { ROW_HEADING, ROW_LINE, ROW_JSON } RowForm;

typedef struct {
  FILE *stream;
  RowForm form;
  int num; // of values written
} Row;

// format: of printf for one text or double, with a width, such as " %-9s"; the heading gets that width.
void row_text(Row *row, const char *key, const char *heading, const char *format, const char *text);
// value / unit in the table, the value itself in JSON. What is no finite number is "-" in the table, null in
// JSON.
void row_number(Row *row, const char *key, const char *heading, const char *format, double unit,
                double value);
// JSON alone.
void row_integers(Row *row, const char *key, int num, const int *values);
void row_flag(Row *row, const char *key, bool value);
void row_text_or_null(Row *row, const char *key, const char *text); // "": null
// The stream behind the key, for a value of other kinds; NULL in a table.
FILE *row_value(Row *row, const char *key);

double row_positive(double value); // NAN where it is not > 0: not known

typedef void (*RowDescription)(Row *row, const void *of, const void *ctx);

// `of` of a heading: any result.
void rows_print_heading(FILE *stream, RowDescription describe, const void *of, const void *ctx);
void rows_print(FILE *stream, RowDescription describe, const void *of, const void *ctx);
// One object: program, resource, size of a scalar and the array "results" of num results of `size` bytes.
void rows_write_json(FILE *stream, const char *program, const char *resource, size_t scalar_bytes, size_t num,
                     const void *results, size_t size, RowDescription describe, const void *ctx);

#endif
