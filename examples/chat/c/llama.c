#include "llama.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* memory_for(int64_t rows, int64_t columns, size_t bytes) {
  void* memory = rows <= INT64_MAX / 8 / columns ? calloc((size_t)(rows * columns), bytes) : NULL;
  if (!memory) fprintf(stderr, "no memory for %lld x %lld numbers\n", (long long)rows, (long long)columns);
  return memory;
}

static float* numbers(int64_t rows, int64_t columns) { return memory_for(rows, columns, sizeof(float)); }
static uint16_t* halves(int64_t rows, int64_t columns) { return memory_for(rows, columns, sizeof(uint16_t)); }

static int angles(const Gguf* file, Llama* model) {
  const Sizes* s = &model->sizes;
  const int64_t pairs = s->rope_width / 2;
  const int has_factors = gguf_has(file, "rope_freqs.weight");
  float* factors = has_factors ? gguf_vector(file, "rope_freqs.weight", pairs) : NULL;
  int64_t i, position;
  if (has_factors && !factors) return -1;
  for (i = 0; factors && i < pairs; ++i) {
    if (factors[i] > 0 && isfinite(factors[i])) continue;
    fprintf(stderr, "%s: rope_freqs.weight: expected factors above 0, which frequencies are divided by\n", file->path);
    free(factors);
    return -1;
  }
  model->cosines = numbers(model->capacity, pairs), model->sines = numbers(model->capacity, pairs);
  if (model->cosines && model->sines) {
    for (i = 0; i < pairs; ++i) {
      const double frequency =
          pow(s->rope_base, -(double)i / (double)pairs) / s->rope_factor / (factors ? (double)factors[i] : 1.0);
      for (position = 0; position < model->capacity; ++position) {
        model->cosines[position * pairs + i] = (float)cos((double)position * frequency);
        model->sines[position * pairs + i] = (float)sin((double)position * frequency);
      }
    }
  }
  free(factors);
  return model->cosines && model->sines ? 0 : -1;
}

static int weight(const Gguf* file, const char* name, int64_t rows, int64_t columns, Matrix* out) {
  Tensor tensor;
  return gguf_matrix(file, name, rows, columns, &tensor) || pack(&tensor, &out->packed) ? -1 : 0;
}

static int matrix(const Gguf* file, int64_t layer, const char* name, int64_t rows, int64_t columns, Matrix* out) {
  char full[64];
  snprintf(full, sizeof full, "blk.%lld.%s.weight", (long long)layer, name);
  if (weight(file, full, rows, columns, out)) return -1;
  snprintf(full, sizeof full, "blk.%lld.%s.bias", (long long)layer, name);
  return gguf_has(file, full) && !(out->bias = gguf_vector(file, full, rows)) ? -1 : 0;
}

static float* norm(const Gguf* file, int64_t layer, const char* name, int64_t columns) {
  char full[64];
  snprintf(full, sizeof full, "blk.%lld.%s.weight", (long long)layer, name);
  return gguf_vector(file, full, columns);
}

static int open_layer(const Gguf* file, Llama* model, int64_t i) {
  const Sizes* s = &model->sizes;
  Layer* l = &model->layers[i];
  const int64_t queries = s->heads * s->head_width, keys = s->groups * s->head_width;
  return matrix(file, i, "attn_q", queries, s->width, &l->q) || matrix(file, i, "attn_k", keys, s->width, &l->k) ||
                 matrix(file, i, "attn_v", keys, s->width, &l->v) ||
                 matrix(file, i, "attn_output", s->width, queries, &l->output) ||
                 matrix(file, i, "ffn_gate", s->hidden, s->width, &l->gate) ||
                 matrix(file, i, "ffn_up", s->hidden, s->width, &l->up) ||
                 matrix(file, i, "ffn_down", s->width, s->hidden, &l->down) ||
                 !(l->attn_norm = norm(file, i, "attn_norm", s->width)) ||
                 !(l->ffn_norm = norm(file, i, "ffn_norm", s->width)) || !(l->keys = halves(model->capacity, keys)) ||
                 !(l->values = halves(model->capacity, keys))
             ? -1
             : 0;
}

int llama_open(const Gguf* file, int64_t capacity, Llama* model) {
  const Sizes* s = &file->sizes;
  int64_t i;
  memset(model, 0, sizeof *model);
  model->embedding.packed = model->head.packed = kp_none();
  model->sizes = *s, model->capacity = capacity;
  if (weight(file, "token_embd.weight", s->vocabulary, s->width, &model->embedding) ||
      (gguf_has(file, "output.weight") && weight(file, "output.weight", s->vocabulary, s->width, &model->head)))
    return -1;
  model->norm = gguf_vector(file, "output_norm.weight", s->width);
  model->layers = calloc((size_t)s->layers, sizeof *model->layers);
  if (!model->norm || !model->layers || angles(file, model)) return -1;
  for (i = 0; i < s->layers; ++i) {
    if (open_layer(file, model, i)) return -1;
  }
  return 0;
}

static void free_matrix(Matrix* matrix) {
  kp_any_release(&matrix->packed);
  free(matrix->bias);
}

void llama_free(Llama* model) {
  int64_t i;
  for (i = 0; model->layers && i < model->sizes.layers; ++i) {
    Layer* l = &model->layers[i];
    Matrix* const matrices[] = {&l->q, &l->k, &l->v, &l->output, &l->gate, &l->up, &l->down};
    size_t m;
    for (m = 0; m < sizeof matrices / sizeof *matrices; ++m) free_matrix(matrices[m]);
    free(l->attn_norm), free(l->ffn_norm), free(l->keys), free(l->values);
  }
  free_matrix(&model->embedding), free_matrix(&model->head);
  free(model->norm), free(model->cosines), free(model->sines), free(model->layers);
}

/* x[count, width], in place by way of y; the rest is scratch: h as wide as x or q, gate and up of the hidden width. */
static int forward_layer(Llama* model, Layer* l, int64_t count, float* x, float* y, float* h, float* q, float* keys,
                         float* values, float* gate, float* up, float* act) {
  const Sizes* s = &model->sizes;
  const int64_t queries = s->heads * s->head_width, row = s->groups * s->head_width, pairs = s->rope_width / 2;
  const float *cosines = model->cosines + model->length * pairs, *sines = model->sines + model->length * pairs;
  const int32_t length = (int32_t)(model->length + count);
  return rms_norm(x, l->attn_norm, count, s->width, s->eps, h) || linear(h, &l->q, count, s->width, queries, NULL, q) ||
                 linear(h, &l->k, count, s->width, row, NULL, keys) ||
                 linear(h, &l->v, count, s->width, row, NULL, values) ||
                 rope(q, count, s->heads, s->head_width, cosines, sines, pairs) ||
                 rope(keys, count, s->groups, s->head_width, cosines, sines, pairs) ||
                 store(l->keys, model->capacity, keys, count, length, s) ||
                 store(l->values, model->capacity, values, count, length, s) ||
                 attention(q, l->keys, l->values, model->capacity, count, length, s, h) ||
                 linear(h, &l->output, count, queries, s->width, x, y) ||
                 rms_norm(y, l->ffn_norm, count, s->width, s->eps, h) ||
                 linear(h, &l->gate, count, s->width, s->hidden, NULL, gate) ||
                 linear(h, &l->up, count, s->width, s->hidden, NULL, up) || swiglu(gate, up, count, s->hidden, act) ||
                 linear(act, &l->down, count, s->hidden, s->width, y, x)
             ? -1
             : 0;
}

int llama_forward(Llama* model, const int32_t* ids, int64_t count, float* logits) {
  const Sizes* s = &model->sizes;
  const int64_t queries = s->heads * s->head_width, row = s->groups * s->head_width;
  float *x = numbers(count, s->width), *h = numbers(count, queries > s->width ? queries : s->width);
  float *y = numbers(count, s->width), *q = numbers(count, queries), *gate = numbers(count, s->hidden);
  float *up = numbers(count, s->hidden), *act = numbers(count, s->hidden);
  float *keys = numbers(count, row), *values = numbers(count, row);
  int rc = x && y && h && q && keys && values && gate && up && act
               ? embed(&model->embedding.packed, ids, count, s->width, x)
               : -1;
  int64_t i;
  for (i = 0; rc == 0 && i < s->layers; ++i)
    rc = forward_layer(model, &model->layers[i], count, x, y, h, q, keys, values, gate, up, act);
  if (rc == 0) rc = rms_norm(x + (count - 1) * s->width, model->norm, 1, s->width, s->eps, h);
  if (rc == 0)
    rc = linear(h, model->head.packed.type_index == KP_TYPE_NONE ? &model->embedding : &model->head, 1, s->width,
                s->vocabulary, NULL, logits);
  if (rc == 0) model->length += count;
  free(x), free(y), free(h), free(q), free(keys), free(values), free(gate), free(up), free(act);
  return rc;
}
