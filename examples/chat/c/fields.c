/* Keys and values. One that the program doesn't use, and that would change the answers, is refused. */
#include <math.h>
#include <string.h>

#include "reader.h"

#define ADVICE "use another program for this model, such as llama.cpp"

/* ggml's numbers of types. */
enum { U8, I8, U16, I16, U32, I32, F32_VALUE, BOOLEAN, STRING, ARRAY, U64, I64, F64, TYPES };

/* The value of a key in the file. */
typedef struct Value {
  uint32_t type;
  double number; /* of every type but STRING and ARRAY; NAN of these */
  Text text; /* of a STRING */
  uint64_t count; /* of an ARRAY */
} Value;

static double number_at(const unsigned char* bytes, uint32_t type) {
#define AS(T)                              \
  {                                        \
    T number;                              \
    memcpy(&number, bytes, sizeof number); \
    return (double)number;                 \
  }
  switch (type) {
    case U8:
    case BOOLEAN:
      AS(uint8_t)
    case I8:
      AS(int8_t)
    case U16:
      AS(uint16_t)
    case I16:
      AS(int16_t)
    case U32:
      AS(uint32_t)
    case I32:
      AS(int32_t)
    case U64:
      AS(uint64_t)
    case I64:
      AS(int64_t)
    case F32_VALUE:
      AS(float)
    default:
      AS(double)
  }
#undef AS
}

static int take_value(Gguf* file, Value* value) {
  static const uint64_t kSize[TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  uint32_t element = 0;
  uint64_t i;
  Text text;
  memset(value, 0, sizeof *value);
  value->number = NAN;
  if (take(file, &value->type, sizeof value->type)) return -1;
  if (value->type >= TYPES) return bad(file, "a value of the unknown type %u", value->type);
  if (value->type == STRING) return take_text(file, &value->text);
  if (value->type != ARRAY) {
    if (skip(file, kSize[value->type])) return -1;
    value->number = number_at(file->bytes + file->at - kSize[value->type], value->type);
    return 0;
  }
  if (take(file, &element, sizeof element) || take(file, &value->count, sizeof value->count)) return -1;
  if (element == STRING) {
    for (i = 0; i < value->count; ++i) {
      if (take_text(file, &text)) return -1;
    }
    return 0;
  }
  if (element >= TYPES || !kSize[element]) return bad(file, "an array of type %u, which has no size", element);
  return value->count > file->size ? cut(file) : skip(file, value->count * kSize[element]);
}

/* Numbers by key; those with a default of -1 have to be there. */
typedef struct Number {
  const char* key; /* behind "llama." */
  double least, most, value;
  enum { WHOLE, ANY } kind;
  int seen;
} Number;

enum {
  LAYERS,
  WIDTH,
  HIDDEN,
  HEADS,
  GROUPS,
  HEAD_WIDTH,
  VALUE_WIDTH,
  ROPE_WIDTH,
  CONTEXT,
  WINDOW,
  EPS,
  BASE,
  FACTOR,
  SCALE_LINEAR,
  SCALE,
  NUMBERS
};

static const Number kNumbers[NUMBERS] = {{"block_count", 1, 1 << 12, -1, WHOLE, 0},
                                         {"embedding_length", 1, 1 << 20, -1, WHOLE, 0},
                                         {"feed_forward_length", 1, 1 << 24, -1, WHOLE, 0},
                                         {"attention.head_count", 1, 1 << 12, -1, WHOLE, 0},
                                         {"attention.head_count_kv", 1, 1 << 12, 0, WHOLE, 0},
                                         {"attention.key_length", 1, 1 << 12, 0, WHOLE, 0},
                                         {"attention.value_length", 1, 1 << 12, 0, WHOLE, 0},
                                         {"rope.dimension_count", 1, 1 << 12, 0, WHOLE, 0},
                                         {"context_length", 1, 1 << 30, -1, WHOLE, 0},
                                         {"attention.sliding_window", 0, 4294967295.0, 0, WHOLE, 0},
                                         {"attention.layer_norm_rms_epsilon", 1e-30, 1, -1, ANY, 0},
                                         {"rope.freq_base", 1, 1e30, 10000, ANY, 0},
                                         {"rope.scaling.factor", 0, 1e6, 0, ANY, 0},
                                         {"rope.scale_linear", 0, 1e6, 0, ANY, 0},
                                         {"attention.scale", 0, 1e6, 0, ANY, 0}};

/* Keys that are accepted with one of two values, which change no result. */
static const struct {
  const char* key;
  double value, other;
} kNeutral[] = {{"attention.causal", 1, 1},         {"attention.clamp_kqv", 0, 0},
                {"attention.max_alibi_bias", 0, 0}, {"attention.shared_kv_layers", 0, 0},
                {"attn_logit_softcapping", 0, 0},   {"final_logit_softcapping", 0, 0},
                {"rope.scaling.attn_factor", 1, 1}, {"expert_used_count", 0, 0},
                {"embedding_scale", 0, 1},          {"logit_scale", 0, 1},
                {"residual_scale", 0, 1},           {"pooling_type", 0, 0},
                {"use_parallel_residual", 0, 0}};
/* They change no result: the tensors say how large the vocabulary is, and the others are history. */
static const char* const kHistory[] = {"vocab_size", "tensor_data_layout", "rope.scaling.finetuned",
                                       "rope.scaling.original_context_length"};

static int take_number(Gguf* file, Number* n, const Value* value) {
  const int is_float = value->type == F32_VALUE || value->type == F64;
  if (n->seen++) return bad(file, "llama.%s: appears twice", n->key);
  if (value->type == BOOLEAN || (n->kind == WHOLE && is_float) || !(value->number >= n->least) ||
      !(value->number <= n->most))
    return bad(file, "llama.%s: expected a number from %g to %g", n->key, n->least, n->most);
  n->value = value->number;
  return 0;
}

/* A key that begins with "llama.", and what follows there. */
static int take_own(Gguf* file, Number* numbers, Text key, const Value* value, int* scaled) {
  const Text name = {key.data + strlen("llama."), key.size - strlen("llama.")};
  size_t i;
  for (i = 0; i < NUMBERS; ++i) {
    if (is(name, numbers[i].key)) return take_number(file, &numbers[i], value);
  }
  for (i = 0; i < sizeof kNeutral / sizeof *kNeutral; ++i) {
    if (!is(name, kNeutral[i].key)) continue;
    if (value->number == kNeutral[i].value || value->number == kNeutral[i].other) return 0;
    return bad(file, "%.*s: expected %g: " ADVICE, shown(key), key.data, kNeutral[i].value);
  }
  for (i = 0; i < sizeof kHistory / sizeof *kHistory; ++i) {
    if (is(name, kHistory[i])) return 0;
  }
  if (is(name, "expert_count"))
    return value->number == 0 ? 0 : bad(file, "is a mixture of experts, which this program doesn't run");
  if (is(name, "rope.scaling.type")) {
    *scaled = !is(value->text, "none");
    return *scaled && !is(value->text, "linear")
               ? bad(file, "%.*s: expected none or linear: " ADVICE, shown(key), key.data)
               : 0;
  }
  return bad(file, "%.*s: isn't used by this program, and the answers may be wrong without it: " ADVICE, shown(key),
             key.data);
}

static int take_general(Gguf* file, Text key, const Value* value, uint64_t* alignment, int* seen_architecture) {
  if (is(key, "general.architecture")) {
    *seen_architecture = 1;
    if (value->type != STRING || !is(value->text, "llama"))
      return bad(file, "expected a model of the architecture 'llama', got '%.*s'", shown(value->text),
                 value->text.size ? value->text.data : "");
  } else if (is(key, "general.alignment")) {
    if (value->type != U32 || value->number < 1 || value->number > 65536)
      return bad(file, "general.alignment: expected a number from 1 to 65536");
    *alignment = (uint64_t)value->number;
  } else if (is(key, "general.type")) {
    if (!is(value->text, "model")) return bad(file, "general.type: expected model: name the model's own file");
  } else if (is(key, "general.quantization_version")) {
    if (value->number != 2) return bad(file, "general.quantization_version: expected 2: " ADVICE);
  } else if (is(key, "split.count")) {
    if (value->number != 0 && value->number != 1)
      return bad(file, "is one of several parts of a model: merge them with `llama-gguf-split --merge` first");
  } else if (is(key, "tokenizer.ggml.tokens")) {
    if (value->type != ARRAY || value->count < 1 || value->count > INT32_MAX)
      return bad(file, "tokenizer.ggml.tokens: expected a list of texts");
    file->sizes.vocabulary = (int64_t)value->count;
  } else if (contains(key, ".rope.") || contains(key, ".attention.")) {
    return bad(file, "%.*s: expected keys of 'llama' only: " ADVICE, shown(key), key.data);
  }
  return 0;
}

/* Checks that the numbers fit together. */
static int check_sizes(Gguf* file, const Number* n) {
  const Sizes* s = &file->sizes;
  const double scale = 1 / sqrt((double)s->head_width);
  if (s->head_width < 1 || s->heads % s->groups || s->rope_width % 2 || s->rope_width > s->head_width)
    return bad(file, "sizes that don't fit: %lld heads over %lld, rope over %lld of %lld", (long long)s->heads,
               (long long)s->groups, (long long)s->rope_width, (long long)s->head_width);
  if (n[VALUE_WIDTH].seen && n[VALUE_WIDTH].value != (double)s->head_width)
    return bad(file, "llama.attention.value_length: expected %lld, the width of a key: " ADVICE,
               (long long)s->head_width);
  if (n[SCALE].value > 0 && fabs(n[SCALE].value - scale) > 1e-6 * scale)
    return bad(file, "llama.attention.scale: expected %g, 1 / sqrt(head width): " ADVICE, scale);
  if (n[WINDOW].value > 0 && n[WINDOW].value < (double)s->context)
    return bad(file, "llama.attention.sliding_window: expected 0, or at least the context of %lld tokens: " ADVICE,
               (long long)s->context);
  if (n[FACTOR].value > 0 && n[SCALE_LINEAR].value > 0 && n[FACTOR].value != n[SCALE_LINEAR].value)
    return bad(file, "llama.rope.scale_linear: expected %g, as llama.rope.scaling.factor", n[FACTOR].value);
  if (s->rope_factor < 1e-6) return bad(file, "llama.rope.scaling.factor: expected a factor from 1e-6 to 1e6");
  return 0;
}

int read_fields(Gguf* file, uint64_t count, uint64_t* alignment) {
  Number n[NUMBERS];
  Sizes* s = &file->sizes;
  int seen_architecture = 0, scaled = 1; /* a factor without a type is linear, as in llama.cpp */
  double factor;
  Text key;
  Value value;
  uint64_t i;
  memcpy(n, kNumbers, sizeof n);
  for (i = 0; i < count; ++i) {
    if (take_text(file, &key) || take_value(file, &value)) return -1;
    if (begins(key, "llama.") ? take_own(file, n, key, &value, &scaled)
                              : take_general(file, key, &value, alignment, &seen_architecture))
      return -1;
  }
  if (!seen_architecture) return bad(file, "has no general.architecture");
  if (!s->vocabulary) return bad(file, "has no tokenizer.ggml.tokens");
  for (i = 0; i < NUMBERS; ++i) {
    if (n[i].value < 0) return bad(file, "has no llama.%s", n[i].key);
  }
  s->layers = (int64_t)n[LAYERS].value, s->width = (int64_t)n[WIDTH].value, s->hidden = (int64_t)n[HIDDEN].value;
  s->heads = (int64_t)n[HEADS].value, s->context = (int64_t)n[CONTEXT].value;
  s->groups = n[GROUPS].seen ? (int64_t)n[GROUPS].value : s->heads;
  s->head_width = n[HEAD_WIDTH].seen ? (int64_t)n[HEAD_WIDTH].value : s->width / s->heads;
  s->rope_width = n[ROPE_WIDTH].seen ? (int64_t)n[ROPE_WIDTH].value : s->head_width;
  s->eps = n[EPS].value, s->rope_base = n[BASE].value;
  factor = n[FACTOR].value > 0 ? n[FACTOR].value : n[SCALE_LINEAR].value;
  s->rope_factor = scaled && factor > 0 ? factor : 1;
  return check_sizes(file, n);
}
