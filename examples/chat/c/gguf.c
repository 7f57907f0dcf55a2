#include "gguf.h"

#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TYPE_U32 = 4, TYPE_I32 = 5, TYPE_F32 = 6, TYPE_STRING = 8, TYPE_ARRAY = 9, TYPE_COUNT = 13 };

typedef struct Text {
  const char* data;
  uint64_t size;
} Text;

/* What the file says under a key. */
typedef struct Value {
  uint32_t type;
  double number; /* of a U32, I32 or F32 */
  Text text; /* of a STRING */
  uint64_t count; /* of an ARRAY */
} Value;

static int bad(const Gguf* file, const char* format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "%s: ", file->path);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  return -1;
}

static int cut(const Gguf* file) {
  return bad(file, "damaged or cut short at byte %llu", (unsigned long long)file->at);
}

static int skip(Gguf* file, uint64_t size) {
  if (size > file->size - file->at) return cut(file);
  file->at += size;
  return 0;
}

static int take(Gguf* file, void* to, size_t size) {
  if (skip(file, size)) return -1;
  memcpy(to, file->bytes + file->at - size, size);
  return 0;
}

static int take_text(Gguf* file, Text* text) {
  if (take(file, &text->size, sizeof text->size) || skip(file, text->size)) return -1;
  text->data = (const char*)file->bytes + file->at - text->size;
  return 0;
}

static int is(Text text, const char* expected) {
  return text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0;
}

static int take_value(Gguf* file, Value* value) {
  static const uint64_t kSize[TYPE_COUNT] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  uint32_t element = 0, u32;
  int32_t i32;
  float f32;
  uint64_t i;
  Text text;
  memset(value, 0, sizeof *value);
  if (take(file, &value->type, sizeof value->type)) return -1;
  switch (value->type) {
    case TYPE_U32:
      if (take(file, &u32, sizeof u32)) return -1;
      value->number = u32;
      return 0;
    case TYPE_I32:
      if (take(file, &i32, sizeof i32)) return -1;
      value->number = i32;
      return 0;
    case TYPE_F32:
      if (take(file, &f32, sizeof f32)) return -1;
      value->number = (double)f32;
      return 0;
    case TYPE_STRING:
      return take_text(file, &value->text);
    case TYPE_ARRAY:
      if (take(file, &element, sizeof element) || take(file, &value->count, sizeof value->count)) return -1;
      if (element == TYPE_STRING) {
        for (i = 0; i < value->count; ++i) {
          if (take_text(file, &text)) return -1;
        }
        return 0;
      }
      if (element >= TYPE_COUNT || !kSize[element]) return bad(file, "an array of type %u, which has no size", element);
      return value->count > file->size ? cut(file) : skip(file, value->count * kSize[element]);
    default:
      if (value->type >= TYPE_COUNT) return bad(file, "a value of the unknown type %u", value->type);
      return skip(file, kSize[value->type]);
  }
}

/* Numbers by key; those with a default of -1 have to be there. */
typedef struct Number {
  const char* key;
  double most;
  double value;
  int is_float;
} Number;

enum { LAYERS, WIDTH, HIDDEN, HEADS, GROUPS, HEAD_WIDTH, ROPE_WIDTH, CONTEXT, EPS, BASE, NUMBERS };

static int take_fields(Gguf* file, uint64_t count, Number* numbers, uint64_t* alignment) {
  int seen_architecture = 0;
  Text key;
  Value value;
  uint64_t i;
  int n;
  for (i = 0; i < count; ++i) {
    if (take_text(file, &key) || take_value(file, &value)) return -1;
    if (is(key, "general.architecture")) {
      if (value.type != TYPE_STRING || !is(value.text, "llama")) {
        return bad(file, "expected a model of the architecture 'llama', got '%.*s'", (int)(value.text.size & 63),
                   value.text.size ? value.text.data : "");
      }
      seen_architecture = 1;
    } else if (is(key, "general.alignment")) {
      if (value.type != TYPE_U32 || value.number < 1 || value.number > 65536)
        return bad(file, "general.alignment: expected a number from 1 to 65536");
      *alignment = (uint64_t)value.number;
    } else if (is(key, "tokenizer.ggml.tokens")) {
      if (value.type != TYPE_ARRAY || value.count < 1 || value.count > INT32_MAX)
        return bad(file, "tokenizer.ggml.tokens: expected a list of texts");
      file->sizes.vocabulary = (int64_t)value.count;
    } else if (is(key, "llama.expert_count") && value.number != 0) {
      return bad(file, "is a mixture of experts, which this program doesn't run");
    } else if (is(key, "llama.rope.scaling.type") && !(value.type == TYPE_STRING && is(value.text, "none"))) {
      return bad(file, "llama.rope.scaling.type: expected none");
    }
    for (n = 0; n < NUMBERS; ++n) {
      if (!is(key, numbers[n].key)) continue;
      if (value.type != (numbers[n].is_float ? TYPE_F32 : TYPE_U32) || !(value.number > 0) ||
          value.number > numbers[n].most)
        return bad(file, "%s: expected a number above 0, and at most %g", numbers[n].key, numbers[n].most);
      numbers[n].value = value.number;
    }
  }
  if (!seen_architecture) return bad(file, "has no general.architecture");
  if (!file->sizes.vocabulary) return bad(file, "has no tokenizer.ggml.tokens");
  return 0;
}

static int read_sizes(Gguf* file, uint64_t count, uint64_t* alignment) {
  Number n[NUMBERS] = {{"llama.block_count", 1 << 12, -1, 0},
                       {"llama.embedding_length", 1 << 20, -1, 0},
                       {"llama.feed_forward_length", 1 << 24, -1, 0},
                       {"llama.attention.head_count", 1 << 12, -1, 0},
                       {"llama.attention.head_count_kv", 1 << 12, 0, 0},
                       {"llama.attention.key_length", 1 << 12, 0, 0},
                       {"llama.rope.dimension_count", 1 << 12, 0, 0},
                       {"llama.context_length", 1 << 30, -1, 0},
                       {"llama.attention.layer_norm_rms_epsilon", 1, -1, 1},
                       {"llama.rope.freq_base", 1e30, 10000, 1}};
  Sizes* s = &file->sizes;
  int i;
  if (take_fields(file, count, n, alignment)) return -1;
  for (i = 0; i < NUMBERS; ++i) {
    if (n[i].value < 0) return bad(file, "has no %s", n[i].key);
  }
  s->layers = (int64_t)n[LAYERS].value, s->width = (int64_t)n[WIDTH].value, s->hidden = (int64_t)n[HIDDEN].value;
  s->heads = (int64_t)n[HEADS].value, s->context = (int64_t)n[CONTEXT].value;
  s->groups = n[GROUPS].value > 0 ? (int64_t)n[GROUPS].value : s->heads;
  s->head_width = n[HEAD_WIDTH].value > 0 ? (int64_t)n[HEAD_WIDTH].value : s->width / s->heads;
  s->rope_width = n[ROPE_WIDTH].value > 0 ? (int64_t)n[ROPE_WIDTH].value : s->head_width;
  s->eps = n[EPS].value, s->rope_base = n[BASE].value;
  if (s->head_width < 1 || s->heads % s->groups || s->rope_width % 2 || s->rope_width > s->head_width ||
      s->rope_base < 1)
    return bad(file, "sizes that don't fit: %lld heads over %lld, rope over %lld of %lld", (long long)s->heads,
               (long long)s->groups, (long long)s->rope_width, (long long)s->head_width);
  return 0;
}

/* Values and bytes of a block. */
static const struct {
  Format format;
  uint32_t values, bytes;
} kBlocks[] = {{F32, 1, 4}, {Q4_0, 32, 18}, {Q4_1, 32, 20}, {Q8_0, 32, 34}, {Q4_K, 256, 144}, {Q6_K, 256, 210}};

uint64_t gguf_row_bytes(uint32_t format, uint64_t columns) {
  size_t i;
  for (i = 0; i < sizeof kBlocks / sizeof *kBlocks; ++i) {
    if ((uint32_t)kBlocks[i].format == format)
      return columns % kBlocks[i].values ? 0 : columns / kBlocks[i].values * kBlocks[i].bytes;
  }
  return 0;
}

static int read_tensors(Gguf* file, uint64_t alignment) {
  uint64_t i, offset, rows, row, begin;
  uint32_t dims, d;
  Text name;
  if (file->tensor_count > file->size / 24) return cut(file); /* a tensor's entry is longer than that */
  file->tensors = calloc(file->tensor_count + 1, sizeof *file->tensors);
  if (!file->tensors) return bad(file, "no memory for a table of %llu tensors", (unsigned long long)file->tensor_count);
  for (i = 0; i < file->tensor_count; ++i) {
    Tensor* t = &file->tensors[i];
    if (take_text(file, &name) || take(file, &dims, sizeof dims)) return -1;
    if (dims > 4) return bad(file, "%.*s: expected up to 4 dimensions, got %u", (int)(name.size & 63), name.data, dims);
    t->name = name.data, t->name_size = name.size;
    for (d = 0; d < 4; ++d) t->shape[d] = 1;
    if (take(file, t->shape, dims * sizeof t->shape[0]) || take(file, &t->format, sizeof t->format) ||
        take(file, &offset, sizeof offset))
      return -1;
    if (offset > file->size) return bad(file, "%.*s: begins behind the end", (int)(name.size & 63), name.data);
    t->data = file->bytes + offset; /* its place from where the data begin, which is known below */
  }
  if (file->at > file->size) return cut(file);
  begin = (file->at + alignment - 1) / alignment * alignment;
  for (i = 0; i < file->tensor_count; ++i) {
    Tensor* t = &file->tensors[i];
    offset = begin + (uint64_t)(t->data - file->bytes);
    rows = 1;
    for (d = 0; d < 4; ++d) {
      if (t->shape[d] > (uint64_t)1 << 31) return bad(file, "%.*s: too large", (int)(t->name_size & 63), t->name);
    }
    for (d = 1; d < 4; ++d) {
      rows *= t->shape[d];
      if (rows > (uint64_t)1 << 31) return bad(file, "%.*s: too large", (int)(t->name_size & 63), t->name);
    }
    row = gguf_row_bytes(t->format, t->shape[0]);
    if (offset > file->size || (row && rows > (file->size - offset) / row))
      return bad(file, "%.*s: reaches behind the end", (int)(t->name_size & 63), t->name);
    t->data = file->bytes + offset;
  }
  return 0;
}

int gguf_open(const char* path, Gguf* file) {
  uint32_t header[2];
  uint64_t fields, alignment = 32;
  struct stat status;
  void* bytes;
  int fd = open(path, O_RDONLY);
  memset(file, 0, sizeof *file);
  file->path = path;
  if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    if (fd >= 0) close(fd);
    return bad(file, "isn't a file that can be read");
  }
  bytes = status.st_size ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  close(fd);
  if (bytes == MAP_FAILED) return bad(file, "can't be read");
  file->bytes = bytes, file->size = (uint64_t)status.st_size;
  if (file->size < 8 || memcmp(file->bytes, "GGUF", 4) != 0) return bad(file, "not a GGUF file");
  if (take(file, header, sizeof header)) return -1;
  if (header[1] != 2 && header[1] != 3) return bad(file, "expected GGUF of version 2 or 3, got %u", header[1]);
  if (take(file, &file->tensor_count, sizeof file->tensor_count) || take(file, &fields, sizeof fields)) return -1;
  return read_sizes(file, fields, &alignment) || read_tensors(file, alignment) ? -1 : 0;
}

void gguf_close(Gguf* file) {
  if (file->bytes) munmap((void*)(uintptr_t)file->bytes, file->size);
  free(file->tensors);
}

static int find(const Gguf* file, const char* name, int64_t rows, int64_t columns, int optional, Tensor* out) {
  uint64_t i;
  for (i = 0; i < file->tensor_count; ++i) {
    const Tensor* t = &file->tensors[i];
    Text text;
    text.data = t->name, text.size = t->name_size;
    if (!is(text, name)) continue;
    if (t->shape[0] != (uint64_t)columns || t->shape[1] != (uint64_t)rows || t->shape[2] != 1 || t->shape[3] != 1)
      return bad(file, "%s: expected the shape [%lld, %lld], got [%llu, %llu]", name, (long long)rows,
                 (long long)columns, (unsigned long long)t->shape[1], (unsigned long long)t->shape[0]);
    *out = *t;
    return 0;
  }
  return optional ? -1 : bad(file, "has no tensor %s", name);
}

int gguf_matrix(const Gguf* file, const char* name, int64_t rows, int64_t columns, int optional, Tensor* out) {
  if (find(file, name, rows, columns, optional, out)) return -1;
  if (out->format == F32 || !gguf_row_bytes(out->format, (uint64_t)columns))
    return bad(file,
               "%s: this program takes matrices of Q4_0, Q4_1 and Q8_0 in whole blocks of 32 columns, and of Q4_K and "
               "Q6_K in whole blocks of 256; got ggml's type %u with %lld columns",
               name, out->format, (long long)columns);
  return 0;
}

float* gguf_vector(const Gguf* file, const char* name, int64_t count, int optional) {
  Tensor tensor;
  float* values;
  if (find(file, name, 1, count, optional, &tensor)) return NULL;
  if (tensor.format != F32) {
    bad(file, "%s: this program takes vectors of F32, got ggml's type %u", name, tensor.format);
    return NULL;
  }
  values = malloc((size_t)count * sizeof *values);
  if (values) memcpy(values, tensor.data, (size_t)count * sizeof *values);
  return values;
}
