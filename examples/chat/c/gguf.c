#include "gguf.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"

/* Values and bytes of a block. */
static const struct {
  Format format;
  uint32_t values, bytes;
} kBlocks[] = {{F32, 1, 4},    {F16, 1, 2},    {BF16, 1, 2},     {Q4_0, 32, 18},
               {Q4_1, 32, 20}, {Q8_0, 32, 34}, {Q4_K, 256, 144}, {Q6_K, 256, 210}};

uint64_t gguf_row_bytes(uint32_t format, uint64_t columns) {
  size_t i;
  for (i = 0; i < sizeof kBlocks / sizeof *kBlocks; ++i) {
    if ((uint32_t)kBlocks[i].format == format)
      return columns % kBlocks[i].values ? 0 : columns / kBlocks[i].values * kBlocks[i].bytes;
  }
  return 0;
}

/* Of each layer: weights, and biases of those that are matrices. */
static const char* const kNorms[] = {"attn_norm", "ffn_norm"};
static const char* const kMatrices[] = {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"};
static const char* const kWhole[] = {"token_embd.weight", "output_norm.weight", "output.weight", "rope_freqs.weight"};

static int is_of(Text text, const char* const* names, size_t count, const char* kind) {
  size_t i;
  for (i = 0; i < count; ++i) {
    Text rest = text;
    if (!begins(text, names[i])) continue;
    rest.data += strlen(names[i]), rest.size -= strlen(names[i]);
    if (is(rest, kind)) return 1;
  }
  return 0;
}

static int is_used(const Gguf* file, Text name) {
  int64_t layer = 0;
  uint64_t at = strlen("blk.");
  Text rest;
  if (!begins(name, "blk.")) return is_of(name, kWhole, sizeof kWhole / sizeof *kWhole, "");
  while (at < name.size && name.data[at] >= '0' && name.data[at] <= '9' && layer < file->sizes.layers)
    layer = layer * 10 + (name.data[at++] - '0');
  rest.data = name.data + at, rest.size = name.size - at;
  if (at == 4 || (name.data[4] == '0' && at > 5) || layer >= file->sizes.layers || !begins(rest, ".")) return 0;
  ++rest.data, --rest.size;
  return is_of(rest, kMatrices, sizeof kMatrices / sizeof *kMatrices, ".weight") ||
         is_of(rest, kMatrices, sizeof kMatrices / sizeof *kMatrices, ".bias") ||
         is_of(rest, kNorms, sizeof kNorms / sizeof *kNorms, ".weight");
}

static Text name_of(const Tensor* t) {
  const Text name = {t->name, t->name_size};
  return name;
}

static int compare(const void* left, const void* right) {
  const Tensor *a = left, *b = right;
  const int order = memcmp(a->name, b->name, a->name_size < b->name_size ? a->name_size : b->name_size);
  return order ? order : (a->name_size > b->name_size) - (a->name_size < b->name_size);
}

/* Sorts the tensors by name: each has to be one that the program uses. */
static int check_names(Gguf* file) {
  uint64_t i;
  for (i = 0; i < file->tensor_count; ++i) {
    const Text name = name_of(&file->tensors[i]);
    if (!is_used(file, name))
      return bad(
          file,
          "the tensor %.*s isn't used by this program, and the answers would be wrong without it. Supported are "
          "token_embd, output_norm, output and rope_freqs; and of each of the %lld layers the weights of attn_norm "
          "and ffn_norm, and weights and biases of attn_q, attn_k, attn_v, attn_output, ffn_gate, ffn_up and "
          "ffn_down: use another program for this model, such as llama.cpp",
          shown(name), name.data, (long long)file->sizes.layers);
  }
  qsort(file->tensors, file->tensor_count, sizeof *file->tensors, compare);
  for (i = 1; i < file->tensor_count; ++i) {
    const Text name = name_of(&file->tensors[i]);
    if (compare(&file->tensors[i - 1], &file->tensors[i]) == 0)
      return bad(file, "the tensor %.*s appears twice", shown(name), name.data);
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
    if (dims > 4) return bad(file, "%.*s: expected up to 4 dimensions, got %u", shown(name), name.data, dims);
    t->name = name.data, t->name_size = name.size;
    for (d = 0; d < 4; ++d) t->shape[d] = 1;
    if (take(file, t->shape, dims * sizeof t->shape[0]) || take(file, &t->format, sizeof t->format) ||
        take(file, &offset, sizeof offset))
      return -1;
    if (offset > file->size) return bad(file, "%.*s: begins behind the end", shown(name), name.data);
    t->data = file->bytes + offset; /* its place from where the data begin, which is known below */
  }
  if (file->at > file->size) return cut(file);
  begin = (file->at + alignment - 1) / alignment * alignment;
  for (i = 0; i < file->tensor_count; ++i) {
    Tensor* t = &file->tensors[i];
    offset = begin + (uint64_t)(t->data - file->bytes);
    rows = 1;
    for (d = 0; d < 4; ++d) {
      if (t->shape[d] > (uint64_t)1 << 31) return bad(file, "%.*s: too large", shown(name_of(t)), t->name);
    }
    for (d = 1; d < 4; ++d) {
      rows *= t->shape[d];
      if (rows > (uint64_t)1 << 31) return bad(file, "%.*s: too large", shown(name_of(t)), t->name);
    }
    row = gguf_row_bytes(t->format, t->shape[0]);
    if (offset > file->size || (row && rows > (file->size - offset) / row))
      return bad(file, "%.*s: reaches behind the end", shown(name_of(t)), t->name);
    t->data = file->bytes + offset;
  }
  return check_names(file);
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
  if (header[1] && !(header[1] & 0xffff))
    return bad(file, "is a big-endian file: expected a little-endian one; convert the model again");
  if (header[1] != 2 && header[1] != 3) return bad(file, "expected GGUF of version 2 or 3, got %u", header[1]);
  if (take(file, &file->tensor_count, sizeof file->tensor_count) || take(file, &fields, sizeof fields)) return -1;
  return read_fields(file, fields, &alignment) || read_tensors(file, alignment) ? -1 : 0;
}

void gguf_close(Gguf* file) {
  if (file->bytes) munmap((void*)(uintptr_t)file->bytes, file->size);
  free(file->tensors);
}

static const Tensor* find(const Gguf* file, const char* name) {
  Tensor key;
  memset(&key, 0, sizeof key);
  key.name = name, key.name_size = strlen(name);
  return bsearch(&key, file->tensors, file->tensor_count, sizeof key, compare);
}

int gguf_has(const Gguf* file, const char* name) { return find(file, name) != NULL; }

static int check(const Gguf* file, const char* name, int64_t rows, int64_t columns, Tensor* out) {
  const Tensor* t = find(file, name);
  if (!t) return bad(file, "has no tensor %s", name);
  if (t->shape[0] != (uint64_t)columns || t->shape[1] != (uint64_t)rows || t->shape[2] != 1 || t->shape[3] != 1)
    return bad(file, "%s: expected the shape [%lld, %lld], got [%llu, %llu]", name, (long long)rows, (long long)columns,
               (unsigned long long)t->shape[1], (unsigned long long)t->shape[0]);
  *out = *t;
  return 0;
}

int gguf_matrix(const Gguf* file, const char* name, int64_t rows, int64_t columns, Tensor* out) {
  if (check(file, name, rows, columns, out)) return -1;
  if (!gguf_row_bytes(out->format, (uint64_t)columns))
    return bad(file,
               "%s: this program takes matrices of F32, F16 and BF16, of Q4_0, Q4_1 and Q8_0 in whole blocks of 32 "
               "columns, and of Q4_K and Q6_K in whole blocks of 256; got ggml's type %u with %lld columns",
               name, out->format, (long long)columns);
  if ((uintptr_t)out->data % (out->format == F32 ? 4 : 2) && gguf_is_dense(out->format))
    return bad(file, "%s: its numbers don't begin at a multiple of their size", name);
  return 0;
}

int gguf_is_dense(uint32_t format) { return format == F32 || format == F16 || format == BF16; }

float* gguf_vector(const Gguf* file, const char* name, int64_t count) {
  Tensor tensor;
  float* values;
  if (check(file, name, 1, count, &tensor)) return NULL;
  if (tensor.format != F32) {
    bad(file, "%s: this program takes vectors of F32, got ggml's type %u", name, tensor.format);
    return NULL;
  }
  values = malloc((size_t)count * sizeof *values);
  if (values) memcpy(values, tensor.data, (size_t)count * sizeof *values);
  return values;
}
