// SPDX-License-Identifier: BSD-2-Clause
// Tables and JSON from descriptions of rows (contract in bp/rows.h).
#include "bp/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double row_positive(double value) { return value > 0 ? value : NAN; }

// ---- JSON ----

static void write_json_text(FILE *stream, const char *text) {
  fputc('"', stream);
  for (const char *c = text; *c; c++) {
    if ((unsigned char)*c < 0x20)
      fprintf(stream, "\\u%04x", (unsigned)(unsigned char)*c);
    else if (*c == '"' || *c == '\\')
      fprintf(stream, "\\%c", *c);
    else
      fputc(*c, stream);
  }
  fputc('"', stream);
}

static void write_json_number(FILE *stream, double value) {
  fprintf(stream, isfinite(value) ? "%.17g" : "null", value);
}

FILE *row_value(Row *row, const char *key) {
  if (row->form != ROW_JSON || !key) return NULL;
  fprintf(row->stream, row->num++ ? ", \"%s\": " : "\"%s\": ", key);
  return row->stream;
}

void row_integers(Row *row, const char *key, int num, const int *values) {
  FILE *stream = row_value(row, key);

  for (int i = 0; i < num && stream; i++) fprintf(stream, i ? ", %d" : "[%d", values[i]);
  if (stream) fputc(']', stream);
}

void row_flag(Row *row, const char *key, bool value) {
  FILE *stream = row_value(row, key);

  if (stream) fputs(value ? "true" : "false", stream);
}

void row_text_or_null(Row *row, const char *key, const char *text) {
  FILE *stream = row_value(row, key);

  if (stream && *text)
    write_json_text(stream, text);
  else if (stream)
    fputs("null", stream);
}

// ---- Tables ----

// A text in the width of a format, behind what stands before it there.
static void print_in_width(FILE *stream, const char *format, const char *text) {
  const int before = (int)strcspn(format, "%");

  fprintf(stream, "%.*s%*s", before, format, (int)strtol(format + before + 1, NULL, 10), text);
}

// Whether a value is in the table; columns are a space apart.
static bool begin_column(Row *row, const char *heading) {
  if (row->form == ROW_JSON || !heading) return false;
  if (row->num++) fputc(' ', row->stream);
  return true;
}

void row_text(Row *row, const char *key, const char *heading, const char *format, const char *text) {
  FILE *stream = row_value(row, key);

  if (stream) write_json_text(stream, text);
  if (begin_column(row, heading))
    print_in_width(row->stream, format, row->form == ROW_HEADING ? heading : text);
}

void row_number(Row *row, const char *key, const char *heading, const char *format, double unit,
                double value) {
  FILE *stream = row_value(row, key);

  if (stream) write_json_number(stream, value);
  if (!begin_column(row, heading)) return;
  if (row->form == ROW_LINE && isfinite(value))
    fprintf(row->stream, format, value / unit);
  else
    print_in_width(row->stream, format, row->form == ROW_HEADING ? heading : "-");
}

// ---- Rows ----

static void print_row(FILE *stream, RowForm form, RowDescription describe, const void *of, const void *ctx) {
  Row row = {.stream = stream, .form = form};

  describe(&row, of, ctx);
  fputc('\n', stream);
}

void rows_print_heading(FILE *stream, RowDescription describe, const void *of, const void *ctx) {
  print_row(stream, ROW_HEADING, describe, of, ctx);
}

void rows_print(FILE *stream, RowDescription describe, const void *of, const void *ctx) {
  print_row(stream, ROW_LINE, describe, of, ctx);
  fflush(stream);
}

void rows_write_json(FILE *stream, const char *program, const char *resource, size_t scalar_bytes, size_t num,
                     const void *results, size_t size, RowDescription describe, const void *ctx) {
  fprintf(stream, "{\n  \"program\": ");
  write_json_text(stream, program);
  fprintf(stream, ",\n  \"resource\": ");
  write_json_text(stream, resource);
  fprintf(stream, ",\n  \"scalar_bytes\": %d,\n  \"results\": [\n", (int)scalar_bytes);
  for (size_t i = 0; i < num; i++) {
    Row row = {.stream = stream, .form = ROW_JSON};

    fprintf(stream, "    {");
    describe(&row, (const char *)results + i * size, ctx);
    fprintf(stream, i + 1 < num ? "},\n" : "}\n");
  }
  fprintf(stream, "  ]\n}\n");
}
