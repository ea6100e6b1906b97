// SPDX-License-Identifier: BSD-2-Clause
// Tags and attributes of XML (contract in cli/vtu.h): as much as files of VTK have. Called by cli/vtu.c and
// cli/vtu-array.c.
#include <stdlib.h>
#include <string.h>

#include "cli/vtu.h"

// The place behind the first `mark` from `text` on; NULL: none.
static const char *find_behind(const char *text, const char *end, const char *mark) {
  const size_t length = strlen(mark);

  for (; (size_t)(end - text) >= length; text++) {
    if (!memcmp(text, mark, length)) return text + length;
  }
  return NULL;
}

// The place behind the '>' that ends a tag, not one in quotes; NULL: none.
static const char *find_end(const char *text, const char *end) {
  char quote = 0;

  for (; text < end; text++) {
    if (quote ? *text == quote : *text == '"' || *text == '\'')
      quote = quote ? 0 : *text;
    else if (!quote && *text == '>')
      return text + 1;
  }
  return NULL;
}

bool vtu_next_tag(const char **text, const char *end, VtuTag *tag) {
  const char *at = *text;

  while ((at = find_behind(at, end, "<")) && at < end && (*at == '?' || *at == '!')) {
    const bool is_comment = end - at >= 3 && !memcmp(at, "!--", 3);

    at = find_behind(at, end, is_comment ? "-->" : ">");
    if (!at) return false;
  }
  if (!at) return false;
  *tag = (VtuTag){.end = find_end(at, end)};
  if (!tag->end) return false;
  tag->is_end = *at == '/';
  tag->is_empty = tag->end[-2] == '/';
  tag->name = at + tag->is_end;
  while (tag->name + tag->length < tag->end && !strchr(" \t\r\n/>", tag->name[tag->length])) tag->length++;
  *text = tag->end;
  return true;
}

bool vtu_is_tag(const VtuTag *tag, const char *name) {
  return tag->length == strlen(name) && !memcmp(tag->name, name, tag->length);
}

// The character that "&lt;" or "&#60;" stands for, and how long that is; 0: it is no such thing.
static char escaped(const char *text, const char *end, size_t *length) {
  static const struct {
    const char *text;
    char c;
  } words[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
  int code = 0;

  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
    *length = strlen(words[i].text);
    if ((size_t)(end - text) >= *length && !memcmp(text, words[i].text, *length)) return words[i].c;
  }
  if (end - text < 4 || text[1] != '#') return 0;
  const char *digit = text + 2;
  for (; digit < end && *digit >= '0' && *digit <= '9' && code < 128; digit++)
    code = 10 * code + *digit - '0';
  *length = (size_t)(digit - text) + 1;
  return digit < end && *digit == ';' && code < 128 ? (char)code : 0;
}

static void copy_value(const char *text, const char *end, char value[VTU_NAME]) {
  size_t n = 0;

  while (text < end && n + 1 < VTU_NAME) {
    size_t length = 1;
    const char c = *text == '&' ? escaped(text, end, &length) : 0;

    value[n++] = c ? c : *text;
    text += c ? length : 1;
  }
  value[n] = 0;
}

bool vtu_attribute(const VtuTag *tag, const char *name, char value[VTU_NAME]) {
  const char *at = tag->name + tag->length, *end = tag->end - 1;

  value[0] = 0;
  while (at < end) {
    while (at < end && strchr(" \t\r\n", *at)) at++;
    const char *word = at;
    while (at < end && !strchr(" \t\r\n=", *at)) at++;
    const bool is_it = (size_t)(at - word) == strlen(name) && !memcmp(word, name, strlen(name));
    while (at < end && *at != '"' && *at != '\'') at++;
    const char *close = at < end ? memchr(at + 1, *at, (size_t)(end - at - 1)) : NULL;
    if (!close) return false;
    if (is_it) {
      copy_value(at + 1, close, value);
      return true;
    }
    at = close + 1;
  }
  return false;
}

int64_t vtu_count(const VtuTag *tag, const char *name) {
  char value[VTU_NAME], *end = NULL;

  if (!vtu_attribute(tag, name, value) || value[0] < '0' || value[0] > '9') return -1;
  const long long count = strtoll(value, &end, 10);
  return *end || count >= INT64_MAX / 64 ? -1 : count;
}
