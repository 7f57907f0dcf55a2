/* The model: packed weights, and the keys and values of the tokens so far. Functions return 0, or -1 after saying why. */
#ifndef CHAT_LLAMA_H_
#define CHAT_LLAMA_H_

#include "kernels.h"

typedef struct Layer {
  float *attn_norm, *ffn_norm;
  Matrix q, k, v, output, gate, up, down;
  uint16_t *keys, *values; /* f16[capacity, groups, head_width] */
} Layer;

typedef struct Llama {
  Sizes sizes;
  Matrix embedding, head; /* head is none where the embedding serves as such */
  float *norm, *cosines, *sines; /* the tables: [capacity, rope_width / 2] */
  Layer* layers;
  int64_t capacity, length;
} Llama;

/* Room for `capacity` tokens. What was made is freed by llama_free in either case. */
int llama_open(const Gguf* file, int64_t capacity, Llama* model);
void llama_free(Llama* model);
/* Reads tokens; logits[vocabulary] behind the last of them. */
int llama_forward(Llama* model, const int32_t* ids, int64_t count, float* logits);

#endif /* CHAT_LLAMA_H_ */
