#include "reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int bad(const Gguf* file, const char* format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "%s: ", file->path);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  return -1;
}

int cut(const Gguf* file) { return bad(file, "damaged or cut short at byte %llu", (unsigned long long)file->at); }

int skip(Gguf* file, uint64_t size) {
  if (size > file->size - file->at) return cut(file);
  file->at += size;
  return 0;
}

int take(Gguf* file, void* to, size_t size) {
  if (skip(file, size)) return -1;
  memcpy(to, file->bytes + file->at - size, size);
  return 0;
}

int take_text(Gguf* file, Text* text) {
  if (take(file, &text->size, sizeof text->size) || skip(file, text->size)) return -1;
  text->data = (const char*)file->bytes + file->at - text->size;
  return 0;
}

int begins(Text text, const char* expected) {
  return text.size >= strlen(expected) && memcmp(text.data, expected, strlen(expected)) == 0;
}

int is(Text text, const char* expected) { return text.size == strlen(expected) && begins(text, expected); }

int contains(Text text, const char* expected) {
  for (; text.size >= strlen(expected); ++text.data, --text.size) {
    if (begins(text, expected)) return 1;
  }
  return 0;
}

int shown(Text text) { return text.size < 80 ? (int)text.size : 80; }
