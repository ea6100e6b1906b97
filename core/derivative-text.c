// SPDX-License-Identifier: BSD-2-Clause
// The text of a QFunction's derivative (contract in core/derivative.h): the user's text with CeedScalar
// replaced by a number with derivatives (ritz/jit-source/dual.h), and a function around it that makes such
// numbers of its inputs, calls the user's function for one point at a time and gives back the derivatives.
//
// One point at a time, because arrays of numbers are then registers, and the loop over the points around it
// is the one that becomes vector instructions. For that all loops in the text are asked to be unrolled.
//
// What a context holds stays as it is in memory: where the text casts its address to a pointer to a struct,
// that struct keeps real numbers. Texts are read as a list of words for that; nothing is preprocessed. All
// that is cast goes through a function that lets the compiler check whether it points to pairs.
#include "core/derivative.h"

#include <string.h>

#include "base/text.h"

// ---- Words ----

typedef struct {
  const char *start;
  size_t length;
  bool is_word;       // else one character
  bool is_directive;  // of a line that begins with '#'
  bool is_real;       // CeedScalar that is no pair
  const char *before; // static: a call that opens here, or NULL
  bool was_visited;   // the definition of a struct that begins here
  bool closes;        // a call behind this word
} Word;

typedef struct {
  Ceed ceed;
  const char *call, *name; // of the public function; of the user's
  char *text;              // owned
  size_t num;
  Word *words; // owned
} Source;

static bool is_letter(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The character behind what is no word: blanks, comments, literals. *is_directive: of the line.
static const char *skip_blank(const char *p, bool *is_directive) {
  for (;;) {
    if (*p == '\\' && p[1] == '\n') {
      p += 2;
    } else if (*p == '\n') {
      *is_directive = false;
      p++;
    } else if (*p == ' ' || *p == '\t' || *p == '\r') {
      p++;
    } else if (p[0] == '/' && p[1] == '/') {
      p += strcspn(p, "\n");
    } else if (p[0] == '/' && p[1] == '*') {
      const char *end = strstr(p + 2, "*/");
      p = end ? end + 2 : p + strlen(p);
    } else if (*p == '"' || *p == '\'') {
      const char quote = *p++;
      while (*p && *p != quote && *p != '\n') p += *p == '\\' && p[1] ? 2 : 1;
      p += *p == quote;
    } else {
      return p;
    }
  }
}

static bool begins_line(const char *text, const char *p) {
  while (p > text && (p[-1] == ' ' || p[-1] == '\t')) p--;
  return p == text || p[-1] == '\n';
}

static int read_words(Source *s) {
  size_t capacity = 0;
  bool is_directive = false;

  for (const char *p = skip_blank(s->text, &is_directive); *p; p = skip_blank(p, &is_directive)) {
    Word word = {.start = p, .length = 1, .is_word = is_letter(*p)};
    if (s->num == capacity) {
      capacity = 2 * capacity + 1000;
      RITZ_TRY(RITZ_REALLOC(s->ceed, capacity, &s->words));
    }
    while (word.is_word && is_letter(p[word.length])) word.length++;
    is_directive = is_directive || (*p == '#' && begins_line(s->text, p));
    word.is_directive = is_directive;
    s->words[s->num++] = word;
    p += word.length;
  }
  return CEED_ERROR_SUCCESS;
}

// Whether word i is there and is this one.
static bool is(const Source *s, size_t i, const char *word) {
  return i < s->num && s->words[i].length == strlen(word) &&
         !strncmp(s->words[i].start, word, s->words[i].length);
}

static bool is_any(const Source *s, size_t i, const char *const *words) {
  for (; *words; words++) {
    if (is(s, i, *words)) return true;
  }
  return false;
}

static bool is_same(const Source *s, size_t i, size_t j) {
  const Word *a = &s->words[i], *b = &s->words[j];
  return a->length == b->length && !strncmp(a->start, b->start, a->length);
}

static bool is_name(const Source *s, size_t i) {
  static const char *const others[] = {"const", "volatile", "restrict", "struct", "return", "sizeof", NULL};
  return i < s->num && s->words[i].is_word && !(s->words[i].start[0] >= '0' && s->words[i].start[0] <= '9') &&
         !is_any(s, i, others);
}

// From word i on, past these.
static size_t skip_qualifiers(const Source *s, size_t i) {
  static const char *const qualifiers[] = {"const", "volatile", "restrict", "__restrict__", "struct", NULL};
  while (is_any(s, i, qualifiers)) i++;
  return i;
}

// The bracket that closes the one at word i; s->num: none.
static size_t closing(const Source *s, size_t i) {
  int depth = 0;
  for (; i < s->num; i++) {
    const char c = s->words[i].is_word ? ' ' : *s->words[i].start;
    depth += c == '(' || c == '{' || c == '[' ? 1 : c == ')' || c == '}' || c == ']' ? -1 : 0;
    if (depth == 0) return i;
  }
  return s->num;
}

static int refuse(const Source *s, size_t i, const char *why) {
  return CeedError(s->ceed, CEED_ERROR_UNSUPPORTED, "%s: in the text of QFunction '%s' %s, found '%.*s'",
                   s->call, s->name, why, i < s->num ? (int)s->words[i].length : 0,
                   i < s->num ? s->words[i].start : "");
}

// ---- Contexts ----

// Whether the name at word i is declared somewhere as a pointer to bytes, as contexts are.
static bool is_bytes(const Source *s, size_t i) {
  for (size_t k = 0; is_name(s, i) && k + 2 < s->num; k++) {
    if (!is(s, k, "void") || !is(s, k + 1, "*")) continue;
    const size_t name = skip_qualifiers(s, k + 2);
    if (name < s->num && is_same(s, name, i)) return true;
  }
  return false;
}

static bool keep_struct_real(Source *s, size_t name);

// The numbers in the braces that begin at `brace`, and in structs that are named there.
static void keep_body_real(Source *s, size_t brace) {
  const size_t end = closing(s, brace);
  for (size_t i = brace; i < end; i++) {
    if (is(s, i, "CeedScalar"))
      s->words[i].is_real = true;
    else if (is_name(s, i))
      (void)keep_struct_real(s, i);
  }
}

// The struct, or another name of one, that word `name` names; whether it is in the text.
static bool keep_struct_real(Source *s, size_t name) {
  bool is_found = false;
  for (size_t i = 0; i + 1 < s->num; i++) {
    if (!is(s, i, "struct")) continue;
    const bool has_tag = is_name(s, i + 1), has_body = is(s, i + 1 + has_tag, "{");
    const size_t brace = i + 1 + has_tag, end = has_body ? closing(s, brace) : brace - 1;
    const bool is_typedef = i > 0 && is(s, i - 1, "typedef") && is_name(s, end + 1);
    const bool fits =
        (has_tag && has_body && is_same(s, i + 1, name)) || (is_typedef && is_same(s, end + 1, name));
    if (!fits) continue;
    is_found = true;
    if (s->words[i].was_visited) continue; // structs may name themselves
    s->words[i].was_visited = true;
    if (has_body)
      keep_body_real(s, brace);
    else if (!is_same(s, i + 1, name))
      is_found = keep_struct_real(s, i + 1);
  }
  return is_found;
}

// const CeedScalar *x = before a cast at word i
static void keep_declaration_real(Source *s, size_t i) {
  if (i < 4 || !is(s, i - 1, "=") || !is_name(s, i - 2)) return;
  size_t k = i - 3;
  while (k > 0 && (is(s, k, "const") || is(s, k, "restrict"))) k--;
  if (!is(s, k, "*")) return;
  do k--;
  while (k > 0 && is(s, k, "const"));
  if (is(s, k, "CeedScalar")) s->words[k].is_real = true;
}

// Some CeedScalar in a struct of this name is real.
static bool is_real_struct(const Source *s, size_t name) {
  for (size_t i = 0; i + 1 < s->num; i++) {
    if (!is(s, i, "struct")) continue;
    const size_t brace = i + 1 + is_name(s, i + 1), end = is(s, brace, "{") ? closing(s, brace) : brace;
    if (!is_same(s, i + 1, name) && !(end + 1 < s->num && is_same(s, end + 1, name))) continue;
    for (size_t k = brace; k < end; k++) {
      if (s->words[k].is_real) return true;
    }
  }
  return false;
}

// The last word of an operand that begins at word i: &, a name or something in brackets, and what follows it.
static size_t end_of_operand(const Source *s, size_t i) {
  while (is(s, i, "&") || is(s, i, "*")) i++;
  size_t end = is(s, i, "(") ? closing(s, i) : i;
  for (;;) {
    if (is(s, end + 1, "[") || is(s, end + 1, "("))
      end = closing(s, end + 1);
    else if (is(s, end + 1, ".") && is_name(s, end + 2))
      end += 2;
    else if (is(s, end + 1, "-") && is(s, end + 2, ">") && is_name(s, end + 3))
      end += 3;
    else
      return end;
  }
}

// A cast, whose text begins at word `first`, of words operand .. end to a pointer to the type.
typedef struct {
  size_t first, type, operand, end;
  bool is_array; // to a pointer to arrays
} Cast;

static bool is_plain(const Source *s, size_t type) {
  static const char *const plain[] = {"void",     "char",     "short",    "int",      "long",    "unsigned",
                                      "signed",   "float",    "double",   "bool",     "CeedInt", "CeedSize",
                                      "CeedInt8", "size_t",   "int8_t",   "int16_t",  "int32_t", "int64_t",
                                      "uint8_t",  "uint16_t", "uint32_t", "uint64_t", NULL};
  return is_any(s, type, plain);
}

static int keep_cast_real(Source *s, const Cast *c) {
  if (c->is_array) return refuse(s, c->type, "the context is cast to an array");
  if (is(s, c->type, "CeedScalar")) {
    s->words[c->type].is_real = true;
    keep_declaration_real(s, c->first);
    return CEED_ERROR_SUCCESS;
  }
  return keep_struct_real(s, c->type)
             ? CEED_ERROR_SUCCESS
             : refuse(s, c->type, "the context is cast to a type that is no struct in this text");
}

static int follow_cast(Source *s, const Cast *c) {
  const bool is_context = c->operand == c->end && is_bytes(s, c->operand);

  if (c->end >= s->num) return CEED_ERROR_SUCCESS;
  if (is_context && !is_plain(s, c->type)) RITZ_TRY(keep_cast_real(s, c));
  s->words[c->operand].before = is_context || is_plain(s, c->type) ? "ritz_dual_bytes(" : "ritz_dual_pairs(";
  s->words[c->end].closes = true;
  return CEED_ERROR_SUCCESS;
}

// Whether word i begins (const T *)x, (const T (*)[n])x, or with `<` those of C++.
static bool is_cast(const Source *s, size_t i, Cast *c) {
  const bool is_template =
      is(s, i, "<") && i > 0 && (is(s, i - 1, "static_cast") || is(s, i - 1, "reinterpret_cast"));
  const size_t type = skip_qualifiers(s, i + 1), star = skip_qualifiers(s, type + 1);
  const bool is_array = is(s, star, "(") && is(s, star + 1, "*");
  size_t end = star;

  // behind a name it is the list of parameters of a function; behind sizeof nothing is cast
  if (!is_template && (!is(s, i, "(") || (i > 0 && (is_name(s, i - 1) || is(s, i - 1, "sizeof")))))
    return false;
  if (!is_name(s, type) || !(is_array || is(s, star, "*"))) return false;
  while (is_array && (is(s, end, "(") || is(s, end, "["))) end = closing(s, end) + 1;
  while (!is_array && is(s, end, "*")) end = skip_qualifiers(s, end + 1);
  if (!is(s, end, is_template ? ">" : ")")) return false;
  *c = (Cast){.first = i - is_template, .type = type, .operand = end + 1, .is_array = is_array};
  if (is_template && !is(s, end + 1, "(")) return false;
  if (is_template) c->operand++;
  if (!is_name(s, c->operand) && !is(s, c->operand, "(") && !is(s, c->operand, "&") &&
      !is(s, c->operand, "*"))
    return false;
  c->end = is_template ? closing(s, end + 1) - 1 : end_of_operand(s, c->operand);
  return true;
}

// A struct is that of a context or made of pairs.
static int check_structs(const Source *s) {
  Cast c;
  for (size_t i = 0; i < s->num; i++) {
    if (!is_cast(s, i, &c) || is(s, c.type, "CeedScalar") || is_plain(s, c.type)) continue;
    const char *before = c.end < s->num ? s->words[c.operand].before : NULL;
    if (before && !strcmp(before, "ritz_dual_pairs(") && is_real_struct(s, c.type))
      return refuse(s, c.type, "a struct of the context is made of other numbers, too");
  }
  return CEED_ERROR_SUCCESS;
}

static int find_real_numbers(Source *s) {
  static const char *const copies[] = {"memcpy", "memmove", NULL};
  Cast c;
  for (size_t i = 0; i < s->num; i++) {
    if (is_cast(s, i, &c)) RITZ_TRY(follow_cast(s, &c));
    if (!is_any(s, i, copies)) continue;
    for (size_t k = i + 1; k < closing(s, i + 1); k++) {
      if (is_bytes(s, k)) return refuse(s, i, "the context is copied by its bytes");
    }
  }
  return check_structs(s);
}

// ---- The text ----

// A loop that has no request of the user's before it, a macro or a pragma.
static bool is_bare_loop(const Source *s, size_t i) {
  if (!is(s, i, "for")) return false;
  if (i == 0 || is(s, i - 1, "else")) return i > 0;
  const Word *before = &s->words[i - 1];
  if (before->is_word || (before->is_directive && !s->words[i].is_directive)) return false;
  if (!is(s, i - 1, ")")) return true;
  for (size_t k = i - 1; k > 0; k--) { // _Pragma("...")
    if (is(s, k, "(")) return !is(s, k - 1, "_Pragma");
    if (is(s, k, ";") || is(s, k, "{")) return true;
  }
  return true;
}

static void add_user(RitzText *t, const Source *s) {
  const char *p = s->text;
  for (size_t i = 0; i < s->num; i++) {
    const Word *word = &s->words[i];
    ritz_text_add(t, "%.*s", (int)(word->start - p), p);
    if (is_bare_loop(s, i)) ritz_text_add(t, "RITZ_DUAL_UNROLL ");
    if (word->before) ritz_text_add(t, "%s", word->before);
    word->is_real                ? ritz_text_add(t, "RitzDualReal")
    : is(s, i, "CEED_QFUNCTION") ? ritz_text_add(t, "RITZ_DUAL_QFUNCTION")
                                 : ritz_text_add(t, "%.*s", (int)word->length, word->start);
    if (word->closes) ritz_text_add(t, ")");
    p = word->start + word->length;
  }
  ritz_text_add(t, "%s", p);
}

// What one function is made of.
typedef struct {
  RitzText text;
  const RitzDerivative *wanted;
  CeedInt num_partials, num_columns; // the second: of the matrix, where one is wanted
} Function;

static bool has_direction(const RitzDerivative *d, CeedInt input) {
  return d->have_direction && d->have_direction[input];
}

static bool has_partials(const RitzDerivative *d, CeedInt input) {
  return d->have_partials && d->have_partials[input];
}

// What CeedScalar is.
static void add_types(Function *f) {
  const RitzDerivative *d = f->wanted;
  static const char pair[] = "RitzDualNumber<RitzDualReal, RitzDualReal>";
  if (!d->have_partials)
    ritz_text_add(&f->text, "typedef %s RitzDual;\n", pair);
  else
    ritz_text_add(&f->text,
                  "typedef %s RitzDualValue;\n"
                  "typedef RitzPartials<RitzDualValue, %d> RitzDualPartials;\n"
                  "typedef RitzDualNumber<RitzDualValue, RitzDualPartials> RitzDual;\n",
                  d->have_direction ? pair : "RitzDualReal", (int)f->num_partials);
}

// The numbers of input i; `direction`: the input with their derivatives, or of a matrix the first of their
// columns, -1: none; `first`: their first partial derivative, -1: none.
static void add_input(Function *f, CeedInt i, CeedInt direction, CeedInt first) {
  const CeedInt size = f->wanted->qf->in[i]->size;
  if (!size) return;

  ritz_text_add(
      &f->text,
      "  RitzDual in%d[%d];\n  RITZ_DUAL_UNROLL for (int k = 0; k < %d; k++)\n    in%d[k] = RitzDual(",
      (int)i, (int)size, (int)size, (int)i);
  if (f->wanted->have_partials) ritz_text_add(&f->text, "RitzDualValue(");
  ritz_text_add(&f->text, "in[%d][i + Q * k]", (int)i);
  if (direction >= 0)
    ritz_text_add(&f->text, f->wanted->is_matrix ? ", j == %d + k" : ", in[%d][i + Q * k]", (int)direction);
  if (f->wanted->have_partials) ritz_text_add(&f->text, "), RitzDualPartials");
  if (first >= 0)
    ritz_text_add(&f->text, "::of(%d + k)", (int)first);
  else if (f->wanted->have_partials)
    ritz_text_add(&f->text, "(0)");
  ritz_text_add(&f->text, ");\n");
}

static void add_inputs(Function *f) {
  const CeedQFunction qf = f->wanted->qf;
  CeedInt direction = f->wanted->is_matrix ? 0 : qf->num_in, partial = 0;
  for (CeedInt i = 0; i < qf->num_in; i++) {
    const bool has_d = has_direction(f->wanted, i), has_p = has_partials(f->wanted, i);
    add_input(f, i, has_d ? direction : -1, has_p ? partial : -1);
    if (has_d) direction += f->wanted->is_matrix ? qf->in[i]->size : 1;
    if (has_p) partial += qf->in[i]->size;
  }
}

static void add_list(RitzText *t, const char *type, const char *name, CeedInt num,
                     CeedQFunctionField *fields) {
  ritz_text_add(t, "  %s *const numbers_%s[] = {", type, name);
  for (CeedInt i = 0; i < num; i++) {
    fields[i]->size ? ritz_text_add(t, "%s%d, ", name, (int)i) : ritz_text_add(t, "0, ");
  }
  ritz_text_add(t, "%s};\n", num ? "" : "0");
}

// Where the derivatives of an output go: to an output of their own, or into column j of the matrix.
static void add_place(Function *f, CeedInt number, CeedInt row) {
  if (!f->wanted->is_matrix)
    ritz_text_add(&f->text, "out[%d][i + Q * k] = ", (int)number);
  else if (f->wanted->is_symmetric)
    ritz_text_add(&f->text,
                  "out[0][i + Q * (%d + k > j ? (%d + k) * (%d + k + 1) / 2 + j : j * (j + 1) / 2 + %d + k)] "
                  "= ",
                  (int)row, (int)row, (int)row, (int)row);
  else
    ritz_text_add(&f->text, "out[0][i + Q * ((%d + k) * %d + j)] = ", (int)row, (int)f->num_columns);
}

// Output `number` of the function, from number `row` of all outputs on: derivatives of the user's.
static void add_derivatives(Function *f, CeedInt number, CeedInt row, CeedInt size, CeedInt output,
                            CeedInt first) {
  RitzText *t = &f->text;
  if (!size) return;
  ritz_text_add(t, "  RITZ_DUAL_UNROLL for (int k = 0; k < %d; k++)\n    ", (int)size);
  add_place(f, number, row);
  if (!f->wanted->have_partials)
    ritz_text_add(t, "out%d[k].d;\n", (int)output);
  else
    ritz_text_add(t, "out0[0].d[%d + k]%s;\n", (int)first, f->wanted->have_direction ? ".d" : "");
}

static void add_outputs(Function *f) {
  const RitzDerivative *d = f->wanted;
  const CeedQFunction qf = d->qf;
  const CeedInt num = d->have_partials ? qf->num_in : qf->num_out;
  CeedInt number = 0, row = 0, partial = 0;
  for (CeedInt i = 0, k = 0; i < num; i++) {
    const CeedInt size = (d->have_partials ? qf->in : qf->out)[i]->size;
    if (d->have_partials && !d->have_partials[i]) continue;
    if (!d->are_wanted || d->are_wanted[k]) {
      add_derivatives(f, number++, row, size, d->have_partials ? 0 : i, partial);
      row += size;
    }
    partial += size;
    k++;
  }
}

// One point.
static void add_point(Function *f) {
  const CeedQFunction qf = f->wanted->qf;
  RitzText *t = &f->text;
  ritz_text_add(t,
                "CEED_QFUNCTION_HELPER int %s_point(void *ctx, const CeedInt Q, const CeedInt i,%s\n"
                "    const CeedScalar *const *in, CeedScalar *const *out) {\n",
                f->wanted->name, f->wanted->is_matrix ? " const int j," : "");
  add_inputs(f);
  for (CeedInt i = 0; i < qf->num_out; i++) {
    if (qf->out[i]->size) ritz_text_add(t, "  RitzDual out%d[%d];\n", (int)i, (int)qf->out[i]->size);
  }
  add_list(t, "const RitzDual", "in", qf->num_in, qf->in);
  add_list(t, "RitzDual", "out", qf->num_out, qf->out);
  ritz_text_add(t, "  const int code = %s(ctx, 1, numbers_in, numbers_out);\n", qf->kernel_name);
  add_outputs(f);
  ritz_text_add(t, "  return code;\n}\n\n");
}

static void add_all(Function *f, const Source *s) {
  const char *name = f->wanted->name;
  RitzText *t = &f->text;
  ritz_text_add(t,
                "// %s of %s by numbers with derivatives.\n#include <ritz/jit-source/dual.h>\n"
                "#undef CEED_Q_VLA\n#define CEED_Q_VLA 1\n"
                "#undef CeedPragmaSIMD\n#define CeedPragmaSIMD\n",
                f->wanted->have_partials
                    ? f->wanted->have_direction ? "The derivative of the gradient" : "The gradient"
                    : "The derivative",
                s->name);
  add_types(f);
  ritz_text_add(t, "#define CeedScalar RitzDual\n");
  add_user(t, s);
  ritz_text_add(t, "\n#undef CeedScalar\n#line 1 \"%s\"\n", name);
  add_point(f);
  ritz_text_add(
      t,
      "CEED_QFUNCTION(%s)(void *ctx, const CeedInt Q, const CeedScalar *const *in, CeedScalar *const "
      "*out) {\n"
      "  int code = 0;\n",
      name);
  if (f->wanted->is_matrix)
    ritz_text_add(t, "  for (int j = 0; j < %d; j++) // directions: the unit vectors\n  ",
                  (int)f->num_columns);
  ritz_text_add(t,
                "  RITZ_DUAL_LOOP for (CeedInt i = 0; i < Q; i++) code |= %s_point(ctx, Q, i,%s in, out);\n"
                "  return code;\n}\n",
                name, f->wanted->is_matrix ? " j," : "");
}

int ritz_derivative_text(const RitzDerivative *wanted, char **text) {
  const CeedQFunction qf = wanted->qf;
  const Ceed ceed = qf->obj.ceed;
  Source s = {.ceed = ceed, .call = wanted->call, .name = qf->kernel_name};
  Function f = {.text = {.ceed = ceed}, .wanted = wanted};

  RITZ_REQUIRE(qf->source_path && ritz_is_identifier(qf->kernel_name), ceed, CEED_ERROR_INCOMPLETE,
               "%s: QFunction '%s' has no text, needed one to differentiate", wanted->call, qf->kernel_name);
  RITZ_REQUIRE(!qf->is_cxx, ceed, CEED_ERROR_UNSUPPORTED,
               "%s: QFunction '%s' is made by differentiation itself", wanted->call, qf->kernel_name);
  for (CeedInt i = 0; i < qf->num_in; i++) {
    f.num_partials += has_partials(wanted, i) ? qf->in[i]->size : 0;
    f.num_columns += has_direction(wanted, i) ? qf->in[i]->size : 0;
  }
  int ierr = ritz_qfunction_load_for_device(qf, &s.text);
  if (!ierr) ierr = read_words(&s);
  if (!ierr) ierr = find_real_numbers(&s);
  if (!ierr) add_all(&f, &s);
  RITZ_FREE(&s.text);
  RITZ_FREE(&s.words);
  return ierr ? ierr : ritz_text_finish(&f.text, text);
}
