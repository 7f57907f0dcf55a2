/* The kernels that the model is made of, out of the same shared object that Python loads. Memory is the caller's. Each returns 0,
 * or -1 after saying on stderr what the host refused. */
#ifndef CHAT_KERNELS_H_
#define CHAT_KERNELS_H_

#include <kernpack/host/host.h>

#include "gguf.h"

typedef struct Matrix {
  KpAny packed;
  float* bias; /* NULL: none */
} Matrix;

int kernels_load(const char* path);
/* *packed is a tensor to be released. */
int pack(const Tensor* weight, KpAny* packed);
int embed(const KpAny* weight, const int32_t* ids, int64_t count, int64_t columns, float* out);
int rms_norm(const float* x, const float* weight, int64_t rows, int64_t columns, double eps, float* out);
/* out[rows, n] = x[rows, columns] times the transpose of weight[n, columns], plus its bias and residual (NULL: none). */
int linear(const float* x, const Matrix* weight, int64_t rows, int64_t columns, int64_t n, const float* residual,
           float* out);
/* x[rows, heads, width], in place. */
int rope(float* x, int64_t rows, int64_t heads, int64_t width, const float* cosines, const float* sines, int64_t pairs);
/* Keys or values x[rows, groups, width] of the last rows of `length` tokens, kept as f16 in kept[capacity, groups, width]. */
int store(uint16_t* kept, int64_t capacity, const float* x, int64_t rows, int32_t length, const Sizes* sizes);
/* q[rows, heads, width] over the first `length` of keys and values kept so; the last row sees all of these. */
int attention(const float* q, const uint16_t* keys, const uint16_t* values, int64_t capacity, int64_t rows,
              int32_t length, const Sizes* sizes, float* out);
int swiglu(const float* gate, const float* up, int64_t rows, int64_t columns, float* out);
int argmax(const float* x, int64_t n, int32_t* index);

#endif /* CHAT_KERNELS_H_ */
