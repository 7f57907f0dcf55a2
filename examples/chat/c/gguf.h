/* A Llama-family model in a GGUF file: its sizes and its tensors, each checked before it is used. Functions that can fail
 * return 0, or -1 after saying on stderr what is wrong with which file. */
#ifndef CHAT_GGUF_H_
#define CHAT_GGUF_H_

#include <stddef.h>
#include <stdint.h>

typedef struct Sizes {
  int64_t layers, width, hidden, heads, groups, head_width, vocabulary, context, rope_width;
  double eps, rope_base, rope_factor; /* positions are divided by the factor */
} Sizes;

/* ggml's numbers */
typedef enum Format { F32 = 0, F16 = 1, Q4_0 = 2, Q4_1 = 3, Q8_0 = 8, Q4_K = 12, Q6_K = 14, BF16 = 30 } Format;

typedef struct Tensor {
  const char* name; /* name_size bytes in the file, no NUL */
  uint64_t name_size;
  uint64_t shape[4]; /* the last dimension first, as the file says it; 1 where there is none */
  uint32_t format; /* ggml's number, of any format */
  const unsigned char* data;
} Tensor;

typedef struct Gguf {
  const char* path;
  const unsigned char* bytes;
  uint64_t size;
  uint64_t at; /* of the reader */
  Sizes sizes;
  Tensor* tensors; /* by name */
  uint64_t tensor_count;
} Gguf;

int gguf_open(const char* path, Gguf* file);
void gguf_close(Gguf* file);
int gguf_has(const Gguf* file, const char* name);
int gguf_matrix(const Gguf* file, const char* name, int64_t rows, int64_t columns, Tensor* out);
/* `count` numbers in f32, copied; NULL: said why. The caller frees them. */
float* gguf_vector(const Gguf* file, const char* name, int64_t count);
/* True if a format is one number after another, without blocks. */
int gguf_is_dense(uint32_t format);
/* Bytes of a row of `columns` values; 0 where the format isn't one of Format, or the columns aren't whole blocks. */
uint64_t gguf_row_bytes(uint32_t format, uint64_t columns);

#endif /* CHAT_GGUF_H_ */
