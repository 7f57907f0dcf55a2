/* The bytes of a file, read one thing after the other; only for gguf.c and fields.c. */
#ifndef CHAT_READER_H_
#define CHAT_READER_H_

#include "gguf.h"

typedef struct Text {
  const char* data; /* no NUL */
  uint64_t size;
} Text;

/* -1, after saying on stderr what is wrong with the file. */
int bad(const Gguf* file, const char* format, ...);
int cut(const Gguf* file);

/* 0, or -1 where the file ends before. */
int skip(Gguf* file, uint64_t size);
int take(Gguf* file, void* to, size_t size);
int take_text(Gguf* file, Text* text);

int is(Text text, const char* expected);
int begins(Text text, const char* expected);
int contains(Text text, const char* expected);
/* How much of a text messages show, for "%.*s". */
int shown(Text text);

/* The `count` keys and values that the file is at: its sizes. */
int read_fields(Gguf* file, uint64_t count, uint64_t* alignment);

#endif /* CHAT_READER_H_ */
