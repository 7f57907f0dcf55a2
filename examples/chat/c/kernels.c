#include "kernels.h"

#include <stdio.h>
#include <string.h>

enum {
  PACK_LINEAR,
  PACK_Q4_0,
  PACK_Q4_1,
  PACK_Q8_0,
  PACK_Q4_K,
  PACK_Q6_K,
  EMBEDDING,
  RMS_NORM,
  LINEAR,
  ROPE,
  STORE,
  ATTENTION,
  SWIGLU,
  ARGMAX,
  FUNCTIONS
};
static const char* const kNames[FUNCTIONS] = {
    "pack_linear", "pack_q4_0",     "pack_q4_1",  "pack_q8_0",   "pack_q4_k",       "pack_q6_k", "packed_embedding",
    "rms_norm",    "packed_linear", "apply_rope", "paged_store", "paged_attention", "swiglu",    "argmax"};
static const KpLoadedFunction* functions[FUNCTIONS];

static int report(const char* what) {
  KpAny error = kp_none();
  const KpErrorObject* body;
  kp_error_take(what, -1, &error);
  body = (const KpErrorObject*)(const void*)error.v.v_obj;
  fprintf(stderr, "%s: %s: %s\n", what, body->kind.data, body->message.data);
  kp_any_release(&error);
  return -1;
}

int kernels_load(const char* path) {
  const KpLoadedModule* module = NULL;
  int i;
  if (kp_module_load(&path, 1, KP_LOAD_DEFAULT, &module) != 0) return report("kp_module_load");
  for (i = 0; i < FUNCTIONS; ++i) {
    functions[i] = kp_module_function(module, kp_bytes(kNames[i]));
    if (functions[i]) continue;
    if (kp_error_pending()) return report(kNames[i]);
    fprintf(stderr, "%s: has no function %s: it is another module, or an older one\n", path, kNames[i]);
    return -1;
  }
  return 0;
}

/* Arguments of one call, at most paged_attention's; views lend the caller's memory. */
typedef struct Call {
  KpAny args[12];
  KpDLTensor views[6];
  int64_t shapes[6][4];
  int32_t count, tensors;
} Call;

static KpAny* next(Call* call, int32_t type) {
  KpAny* value = &call->args[call->count++];
  *value = kp_none();
  value->type_index = type;
  return value;
}

static void tensor(Call* call, const void* data, uint8_t code, uint8_t bits, int32_t ndim, const int64_t* shape) {
  KpDLTensor* view = &call->views[call->tensors];
  memset(view, 0, sizeof *view);
  memcpy(call->shapes[call->tensors], shape, (size_t)ndim * sizeof *shape);
  view->data = (void*)(uintptr_t)data; /* kernels don't write parameters that their contract doesn't mark */
  view->device.device_type = KP_DEVICE_CPU;
  view->ndim = ndim;
  view->dtype.code = code, view->dtype.bits = bits, view->dtype.lanes = 1;
  view->shape = call->shapes[call->tensors++];
  next(call, KP_TYPE_DLTENSOR_PTR)->v.v_tensor = view;
}

static void floats(Call* call, const float* data, int32_t ndim, int64_t a, int64_t b, int64_t c, int64_t d) {
  const int64_t shape[4] = {a, b, c, d};
  tensor(call, data, KP_DTYPE_FLOAT, 32, ndim, shape);
}

/* A cache is one page of all of its capacity. */
static void cache(Call* call, const uint16_t* data, int64_t capacity, const Sizes* sizes) {
  const int64_t shape[4] = {1, capacity, sizes->groups, sizes->head_width};
  tensor(call, data, KP_DTYPE_FLOAT, 16, 4, shape);
}

static void page(Call* call, const int32_t* length) {
  static const int32_t kFirst = 0;
  const int64_t shape[2] = {1, 1};
  tensor(call, &kFirst, KP_DTYPE_INT, 32, 2, shape);
  tensor(call, length, KP_DTYPE_INT, 32, 1, shape);
}

static void packed(Call* call, const KpAny* weight) {
  next(call, KP_TYPE_DLTENSOR_PTR)->v.v_tensor = (KpDLTensor*)(uintptr_t)kp_any_tensor(weight);
}

static void none(Call* call) { call->args[call->count++] = kp_none(); }
static void number(Call* call, double value) { next(call, KP_TYPE_FLOAT)->v.v_float = value; }
static void integer(Call* call, int64_t value) { next(call, KP_TYPE_INT)->v.v_int = value; }
static void boolean(Call* call, int value) { next(call, KP_TYPE_BOOL)->v.v_int = value; }

static int run(int function, Call* call, KpAny* result) {
  KpAny nothing = kp_none();
  if (kp_call(functions[function], call->args, call->count, result ? result : &nothing) == 0) return 0;
  return report(kNames[function]);
}

static int packer(uint32_t format) {
  switch (format) {
    case F32:
    case F16:
    case BF16:
      return PACK_LINEAR;
    case Q4_0:
      return PACK_Q4_0;
    case Q4_1:
      return PACK_Q4_1;
    case Q4_K:
      return PACK_Q4_K;
    case Q6_K:
      return PACK_Q6_K;
    default:
      return PACK_Q8_0; /* gguf_matrix refuses all others */
  }
}

int pack(const Tensor* weight, KpAny* out) {
  Call call = {0};
  const int dense = gguf_is_dense(weight->format);
  int64_t shape[2];
  shape[0] = (int64_t)weight->shape[1];
  shape[1] = (int64_t)(dense ? weight->shape[0] : gguf_row_bytes(weight->format, weight->shape[0]));
  if (!dense) {
    tensor(&call, weight->data, KP_DTYPE_UINT, 8, 2, shape);
  } else {
    tensor(&call, weight->data, weight->format == BF16 ? KP_DTYPE_BFLOAT : KP_DTYPE_FLOAT,
           weight->format == F32 ? 32 : 16, 2, shape);
  }
  return run(packer(weight->format), &call, out);
}

int embed(const KpAny* weight, const int32_t* ids, int64_t count, int64_t columns, float* out) {
  Call call = {0};
  packed(&call, weight);
  tensor(&call, ids, KP_DTYPE_INT, 32, 1, &count);
  integer(&call, columns);
  floats(&call, out, 2, count, columns, 0, 0);
  return run(EMBEDDING, &call, NULL);
}

int rms_norm(const float* x, const float* weight, int64_t rows, int64_t columns, double eps, float* out) {
  Call call = {0};
  floats(&call, x, 2, rows, columns, 0, 0);
  floats(&call, weight, 1, columns, 0, 0, 0);
  number(&call, eps);
  floats(&call, out, 2, rows, columns, 0, 0);
  return run(RMS_NORM, &call, NULL);
}

int linear(const float* x, const Matrix* weight, int64_t rows, int64_t columns, int64_t n, const float* residual,
           float* out) {
  Call call = {0};
  floats(&call, x, 2, rows, columns, 0, 0);
  packed(&call, &weight->packed);
  if (weight->bias) {
    floats(&call, weight->bias, 1, n, 0, 0, 0);
  } else {
    none(&call);
  }
  if (residual) {
    floats(&call, residual, 2, rows, n, 0, 0);
  } else {
    none(&call);
  }
  next(&call, KP_TYPE_RAW_STR)->v.v_c_str = "auto";
  next(&call, KP_TYPE_RAW_STR)->v.v_c_str = "none"; /* activation */
  floats(&call, out, 2, rows, n, 0, 0);
  return run(LINEAR, &call, NULL);
}

int rope(float* x, int64_t rows, int64_t heads, int64_t width, const float* cosines, const float* sines,
         int64_t pairs) {
  Call call = {0};
  floats(&call, x, 3, rows, heads, width, 0);
  floats(&call, cosines, 2, rows, pairs, 0, 0);
  floats(&call, sines, 2, rows, pairs, 0, 0);
  boolean(&call, 1);
  return run(ROPE, &call, NULL);
}

int store(uint16_t* kept, int64_t capacity, const float* x, int64_t rows, int32_t length, const Sizes* sizes) {
  Call call = {0};
  cache(&call, kept, capacity, sizes);
  floats(&call, x, 4, 1, rows, sizes->groups, sizes->head_width);
  page(&call, &length);
  return run(STORE, &call, NULL);
}

int attention(const float* q, const uint16_t* keys, const uint16_t* values, int64_t capacity, int64_t rows,
              int32_t length, const Sizes* sizes, float* out) {
  Call call = {0};
  floats(&call, q, 4, 1, rows, sizes->heads, sizes->head_width);
  cache(&call, keys, capacity, sizes);
  cache(&call, values, capacity, sizes);
  page(&call, &length);
  none(&call); /* k_scales */
  none(&call); /* v_scales */
  none(&call); /* sinks */
  none(&call); /* scale */
  integer(&call, 0); /* window */
  number(&call, 0); /* soft_cap */
  floats(&call, out, 4, 1, rows, sizes->heads, sizes->head_width);
  return run(ATTENTION, &call, NULL);
}

int swiglu(const float* gate, const float* up, int64_t rows, int64_t columns, float* out) {
  Call call = {0};
  floats(&call, gate, 2, rows, columns, 0, 0);
  floats(&call, up, 2, rows, columns, 0, 0);
  floats(&call, out, 2, rows, columns, 0, 0);
  return run(SWIGLU, &call, NULL);
}

int argmax(const float* x, int64_t n, int32_t* index) {
  const int64_t one = 1;
  Call call = {0};
  floats(&call, x, 2, 1, n, 0, 0);
  tensor(&call, index, KP_DTYPE_INT, 32, 1, &one);
  return run(ARGMAX, &call, NULL);
}
