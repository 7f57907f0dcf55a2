// Module module, generated from Kernpack's IR.
#define KP_GENERATED_NAME "module"
#define KP_GENERATED_VERSION "1.0.0"
#define KP_GENERATED_SDK "0.1.0"
#include <kernpack/abi.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Vectors are GNU C's where there are any, else arrays.
#ifndef KP_VECTORS
#ifdef __GNUC__
#define KP_VECTORS 1
#else
#define KP_VECTORS 0
#endif
#endif
#if KP_VECTORS
#define LANE(vector, i) (vector)[i]
#define KP_INLINE static inline __attribute__((always_inline))
#pragma GCC diagnostic ignored "-Wpsabi"
#else
#define LANE(vector, i) (vector).v[i]
#define KP_INLINE static inline
#endif
// Of lanes that it sees to be 0 or 1, as those of a / a, gcc 12 makes 0 and -1: it is not to see.
#if KP_VECTORS && !defined(__clang__)
#define KP_OPAQUE(lane) __asm__("" : "+r"(lane))
#else
#define KP_OPAQUE(lane) (void)0
#endif
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define KP_SHUFFLES
#endif
#endif
#ifdef __clang__
#pragma clang diagnostic ignored "-Wunused-function"
#endif

#ifndef KP_SERVICE
#define KP_SERVICE(host, name) ((host)->name)
#endif

struct KpInstance {
  const KpHost* host;
};

static inline int kp_fail(const KpHost* host, const char* kind, const char* message) {
  return host->raise(host, kp_bytes(kind), kp_bytes(message), kp_bytes(""));
}

static inline int kp_count(const KpHost* host, const char* function, int32_t got, int32_t wanted) {
  char text[256];
  if (got == wanted) return 0;
  snprintf(text, sizeof text, "%s: expected %d arguments, got %d", function, (int)wanted, (int)got);
  return kp_fail(host, "TypeError", text);
}

// `what` is "function: parameter". The tensor must be compact and in memory of the CPU, and have `ndim` dimensions, or
// at least those.
static inline int kp_tensor(const KpHost* host, const char* what, const KpAny* a, int code, int bits, int ndim,
                            bool or_more, const KpDLTensor** out) {
  char text[256];
  const KpDLTensor* t = kp_any_tensor(a);
  int64_t step = 1, leading = 1;
  bool empty = false;
  *out = t;
  if (!t) {
    snprintf(text, sizeof text, "%s: expected a tensor, got type index %d", what, (int)a->type_index);
    return kp_fail(host, "TypeError", text);
  }
  if (t->dtype.code != code || t->dtype.bits != bits || t->dtype.lanes != 1) {
    snprintf(text, sizeof text, "%s: expected dtype code %d with %d bits, got code %d with %d bits", what, code, bits,
             (int)t->dtype.code, (int)t->dtype.bits);
    return kp_fail(host, "TypeError", text);
  }
  if (or_more ? t->ndim < ndim : t->ndim != ndim) {
    snprintf(text, sizeof text, "%s: expected %s%d dimensions, got %d", what, or_more ? "at least " : "", ndim,
             (int)t->ndim);
    return kp_fail(host, "ValueError", text);
  }
  if (t->device.device_type != KP_DEVICE_CPU) {
    snprintf(text, sizeof text, "%s: expected a tensor on the cpu, got device type %d", what,
             (int)t->device.device_type);
    return kp_fail(host, "ValueError", text);
  }
  for (int d = 0; d < t->ndim; ++d) {
    const bool leads = d < t->ndim - ndim;
    empty = empty || t->shape[d] == 0;
    if (t->shape[d] <= ((int64_t)1 << 48) / (leads && leading ? leading : 1)) {
      if (leads) leading *= t->shape[d];
      continue;
    }
    snprintf(text, sizeof text, "%s: dimension %d: expected at most 2^48, got %lld", what, d, (long long)t->shape[d]);
    return kp_fail(host, "ValueError", text);
  }
  for (int d = t->ndim - 1; d >= 0 && t->strides && !empty; step *= t->shape[d--]) {
    if (t->shape[d] == 1 || t->strides[d] == step) continue;
    snprintf(text, sizeof text, "%s: expected a contiguous tensor", what);
    return kp_fail(host, "ValueError", text);
  }
  return 0;
}

static inline int kp_extent(const KpHost* host, const char* what, int dimension, int64_t got, int64_t wanted) {
  char text[256];
  if (got == wanted) return 0;
  snprintf(text, sizeof text, "%s: dimension %d: expected %lld, got %lld", what, dimension, (long long)wanted,
           (long long)got);
  return kp_fail(host, "ValueError", text);
}

static inline int kp_integer(const KpHost* host, const char* what, const KpAny* a, int64_t low, int64_t high,
                             int64_t* out) {
  char text[256];
  *out = a->v.v_int;
  if (a->type_index != KP_TYPE_INT && a->type_index != KP_TYPE_BOOL) {
    snprintf(text, sizeof text, "%s: expected an int, got type index %d", what, (int)a->type_index);
    return kp_fail(host, "TypeError", text);
  }
  if (*out >= low && *out <= high) return 0;
  snprintf(text, sizeof text, "%s: expected a value from %lld to %lld, got %lld", what, (long long)low,
           (long long)high, (long long)*out);
  return kp_fail(host, "ValueError", text);
}

static inline int kp_number(const KpHost* host, const char* what, const KpAny* a, double* out) {
  char text[256];
  *out = a->type_index == KP_TYPE_FLOAT ? a->v.v_float : (double)a->v.v_int;
  if (a->type_index == KP_TYPE_FLOAT || a->type_index == KP_TYPE_INT) return 0;
  snprintf(text, sizeof text, "%s: expected a float, got type index %d", what, (int)a->type_index);
  return kp_fail(host, "TypeError", text);
}

// How many elements all dimensions but the last `rest` make.
static inline int64_t kp_leading(const KpDLTensor* t, int rest) {
  int64_t n = 1;
  for (int d = 0; d < t->ndim - rest; ++d) n *= t->shape[d];
  return n;
}

static inline void* kp_data(const KpDLTensor* t) { return (char*)t->data + t->byte_offset; }

// Memory that the host keeps for this thread between calls.
static inline int kp_scratch(const KpHost* host, const char* key, uint32_t flags, uint64_t item, int count,
                             const int64_t* extents, void** out) {
  KpStorageKey k;
  uint64_t bytes = item;
  for (int d = 0; d < count; ++d) {
    if (extents[d] < 0) return kp_fail(host, "ValueError", "a buffer of the function would have a negative extent");
    if (extents[d] && bytes > ((uint64_t)1 << 48) / (uint64_t)extents[d]) {
      return kp_fail(host, "MemoryError", "a buffer of the function would be larger than 2^48 bytes");
    }
    bytes *= (uint64_t)extents[d];
  }
  memset(&k, 0, sizeof k);
  k.module = kp_bytes(KP_GENERATED_NAME);
  k.key = kp_bytes(key);
  k.scope = KP_SCOPE_DEVICE;
  k.device.device_type = KP_DEVICE_CPU;
  return KP_SERVICE(host, workspace)(host, &k, bytes ? bytes : 1, flags, out);
}

KP_INLINE int32_t kp_mul_i32(int32_t a, int32_t b) { return (int32_t)((uint32_t)a * (uint32_t)b); }
KP_INLINE int32_t kp_add_i32(int32_t a, int32_t b) { return (int32_t)((uint32_t)a + (uint32_t)b); }

#if KP_VECTORS
typedef float f32x4 __attribute__((vector_size(16)));
KP_INLINE f32x4 kp_broadcast_f32x4(float a) { return (f32x4){a, a, a, a}; }
KP_INLINE f32x4 kp_load_f32x4(const float* p) {
  f32x4 r;
  memcpy(&r, p, sizeof r);
  return r;
}
typedef int32_t i32x4 __attribute__((vector_size(16)));
KP_INLINE f32x4 kp_add_f32x4(f32x4 a, f32x4 b) { return a + b; }
KP_INLINE i32x4 kp_broadcast_i32x4(int32_t a) { return (i32x4){a, a, a, a}; }
typedef uint32_t u32x4 __attribute__((vector_size(16)));
KP_INLINE i32x4 kp_mul_i32x4(i32x4 a, i32x4 b) { return (i32x4)((u32x4)a * (u32x4)b); }
KP_INLINE i32x4 kp_add_i32x4(i32x4 a, i32x4 b) { return (i32x4)((u32x4)a + (u32x4)b); }
KP_INLINE i32x4 kp_ramp_i32x4(int32_t base, int32_t stride) { return kp_add_i32x4(kp_broadcast_i32x4(base), kp_mul_i32x4(kp_broadcast_i32x4(stride), (i32x4){0, 1, 2, 3})); }
KP_INLINE i32x4 kp_lt_i32x4(i32x4 a, i32x4 b) { return (i32x4)(a < b); }
KP_INLINE f32x4 kp_load_if_f32x4(const float* p, i32x4 m, f32x4 o) {
  f32x4 r = o;
  for (int i = 0; i < 4; ++i) if (LANE(m, i)) LANE(r, i) = p[i];
  return r;
}
KP_INLINE f32x4 kp_select_f32x4(i32x4 c, f32x4 a, f32x4 b) { return (f32x4)(((c != 0) & (i32x4)a) | (~(c != 0) & (i32x4)b)); }
KP_INLINE float kp_lanes_add_f32x4(f32x4 a) {
  const float t2_0 = LANE(a, 0) + LANE(a, 2);
  const float t2_1 = LANE(a, 1) + LANE(a, 3);
  const float t1_0 = t2_0 + t2_1;
  return t1_0;
}
#else
typedef struct {
  float v[4];
} f32x4;
KP_INLINE f32x4 kp_broadcast_f32x4(float a) {
  f32x4 r;
  for (int i = 0; i < 4; ++i) LANE(r, i) = a;
  return r;
}
KP_INLINE f32x4 kp_load_f32x4(const float* p) {
  f32x4 r;
  for (int i = 0; i < 4; ++i) LANE(r, i) = p[i];
  return r;
}
typedef struct {
  int32_t v[4];
} i32x4;
KP_INLINE f32x4 kp_add_f32x4(f32x4 a, f32x4 b) {
  f32x4 r;
  for (int i = 0; i < 4; ++i) LANE(r, i) = LANE(a, i) + LANE(b, i);
  return r;
}
KP_INLINE i32x4 kp_broadcast_i32x4(int32_t a) {
  i32x4 r;
  for (int i = 0; i < 4; ++i) LANE(r, i) = a;
  return r;
}
typedef struct {
  uint32_t v[4];
} u32x4;
KP_INLINE i32x4 kp_mul_i32x4(i32x4 a, i32x4 b) {
  i32x4 r;
  for (int i = 0; i < 4; ++i) LANE(r, i) = kp_mul_i32(LANE(a, i), LANE(b, i));
  return r;
}
KP_INLINE i32x4 kp_add_i32x4(i32x4 a, i32x4 b) {
  i32x4 r;
  for (int i = 0; i < 4; ++i) LANE(r, i) = kp_add_i32(LANE(a, i), LANE(b, i));
  return r;
}
KP_INLINE i32x4 kp_ramp_i32x4(int32_t base, int32_t stride) {
  i32x4 r;
  for (int i = 0; i < 4; ++i) LANE(r, i) = kp_add_i32(base, kp_mul_i32(stride, (int32_t)i));
  return r;
}
KP_INLINE i32x4 kp_lt_i32x4(i32x4 a, i32x4 b) {
  i32x4 r;
  for (int i = 0; i < 4; ++i) LANE(r, i) = -(LANE(a, i) < LANE(b, i));
  return r;
}
KP_INLINE f32x4 kp_load_if_f32x4(const float* p, i32x4 m, f32x4 o) {
  f32x4 r = o;
  for (int i = 0; i < 4; ++i) if (LANE(m, i)) LANE(r, i) = p[i];
  return r;
}
KP_INLINE f32x4 kp_select_f32x4(i32x4 c, f32x4 a, f32x4 b) {
  f32x4 r;
  for (int i = 0; i < 4; ++i) LANE(r, i) = LANE(c, i) ? LANE(a, i) : LANE(b, i);
  return r;
}
KP_INLINE float kp_lanes_add_f32x4(f32x4 a) {
  const float t2_0 = LANE(a, 0) + LANE(a, 2);
  const float t2_1 = LANE(a, 1) + LANE(a, 3);
  const float t1_0 = t2_0 + t2_1;
  return t1_0;
}
#endif

struct square_i {
  const KpHost* host;
  int64_t first;
  const float* x;
  float* y;
};

static int square_i_run(void* context, int64_t begin, int64_t end) {
  const struct square_i* const captured = (const struct square_i*)context;
  const float* restrict const x = captured->x;
  float* restrict const y = captured->y;
  for (int64_t i_step = begin; i_step < end; ++i_step) {
    const int64_t i = (int64_t)(captured->first + i_step);
    y[i] = x[i] * x[i];
  }
  return 0;
}

static int square_body(const KpHost* host, const float* restrict x, float* restrict y, int64_t N) {
  const int64_t i_first = 0, i_last = N;
  if (i_first < i_last) {
    struct square_i i_captured = {host, i_first, x, y};
    if (KP_SERVICE(host, parallel_for)(host, (int64_t)i_last - i_first, 1, square_i_run, &i_captured)) return -1;
  }
  return 0;
}

struct square_backward_i {
  const KpHost* host;
  int64_t first;
  const float* d_y;
  const float* x;
  float* d_x;
};

static int square_backward_i_run(void* context, int64_t begin, int64_t end) {
  const struct square_backward_i* const captured = (const struct square_backward_i*)context;
  const float* restrict const d_y = captured->d_y;
  const float* restrict const x = captured->x;
  float* restrict const d_x = captured->d_x;
  for (int64_t i_step = begin; i_step < end; ++i_step) {
    const int64_t i = (int64_t)(captured->first + i_step);
    d_x[i] = (d_y[i] * 2.0f) * x[i];
  }
  return 0;
}

static int square_backward_body(const KpHost* host, const float* restrict d_y, const float* restrict x, float* restrict d_x, int64_t N) {
  const int64_t i_first = 0, i_last = N;
  if (i_first < i_last) {
    struct square_backward_i i_captured = {host, i_first, d_y, x, d_x};
    if (KP_SERVICE(host, parallel_for)(host, (int64_t)i_last - i_first, 1, square_backward_i_run, &i_captured)) return -1;
  }
  return 0;
}

struct scale_i {
  const KpHost* host;
  int64_t first;
  float a;
  const float* x;
  float* out;
};

static int scale_i_run(void* context, int64_t begin, int64_t end) {
  const struct scale_i* const captured = (const struct scale_i*)context;
  const float a = captured->a;
  const float* restrict const x = captured->x;
  float* restrict const out = captured->out;
  for (int64_t i_step = begin; i_step < end; ++i_step) {
    const int64_t i = (int64_t)(captured->first + i_step);
    out[i] = a * x[i];
  }
  return 0;
}

static int scale_body(const KpHost* host, const float* restrict x, float a, float* restrict out, int64_t N) {
  const int64_t i_first = 0, i_last = N;
  if (i_first < i_last) {
    struct scale_i i_captured = {host, i_first, a, x, out};
    if (KP_SERVICE(host, parallel_for)(host, (int64_t)i_last - i_first, 1, scale_i_run, &i_captured)) return -1;
  }
  return 0;
}

struct row_sums_i {
  const KpHost* host;
  int64_t first;
  int64_t D;
  const float* x;
  float* out;
};

static int row_sums_i_run(void* context, int64_t begin, int64_t end) {
  const struct row_sums_i* const captured = (const struct row_sums_i*)context;
  const KpHost* const host = captured->host;
  const int64_t D = captured->D;
  const float* restrict const x = captured->x;
  float* restrict const out = captured->out;
  for (int64_t i_step = begin; i_step < end; ++i_step) {
    const int64_t i = (int64_t)(captured->first + i_step);
    void* squares_memory;
    const int64_t squares_extents[] = {D};
    if (kp_scratch(host, "row_sums squares", 0, sizeof(float), 1, squares_extents, &squares_memory)) return -1;
    float* restrict const squares = (float*)squares_memory;
    for (int64_t j = 0; j < D; ++j) {
      squares[j] = x[i * D + j] * x[i * D + j];
    }
    for (int64_t j_1 = 0; j_1 < D; ++j_1) {
      f32x4 partial_0;
      f32x4 partial_4;
      f32x4 partial_8;
      f32x4 partial_12;
      const f32x4 part = kp_broadcast_f32x4(0.0f);
      const f32x4 part_1 = kp_broadcast_f32x4(0.0f);
      const f32x4 part_2 = kp_broadcast_f32x4(0.0f);
      const f32x4 part_3 = kp_broadcast_f32x4(0.0f);
      partial_0 = part;
      partial_4 = part_1;
      partial_8 = part_2;
      partial_12 = part_3;
      const int64_t steps = D / 16;
      const int64_t rest = steps * 16;
      for (int64_t k_step = 0; k_step < steps; ++k_step) {
        const int64_t scalar = k_step * 16;
        const f32x4 part_4 = kp_add_f32x4(partial_0, kp_load_f32x4(squares + scalar));
        const f32x4 part_5 = kp_add_f32x4(partial_4, kp_load_f32x4(squares + (scalar + 4)));
        const f32x4 part_6 = kp_add_f32x4(partial_8, kp_load_f32x4(squares + (scalar + 8)));
        const f32x4 part_7 = kp_add_f32x4(partial_12, kp_load_f32x4(squares + (scalar + 12)));
        partial_0 = part_4;
        partial_4 = part_5;
        partial_8 = part_6;
        partial_12 = part_7;
      }
      if (rest < D) {
        const int32_t scalar_1 = (int32_t)(D - rest);
        const i32x4 mask_0 = kp_lt_i32x4(kp_ramp_i32x4(0, 1), kp_broadcast_i32x4(scalar_1));
        const i32x4 mask_1 = kp_lt_i32x4(kp_ramp_i32x4(4, 1), kp_broadcast_i32x4(scalar_1));
        const i32x4 mask_2 = kp_lt_i32x4(kp_ramp_i32x4(8, 1), kp_broadcast_i32x4(scalar_1));
        const i32x4 mask_3 = kp_lt_i32x4(kp_ramp_i32x4(12, 1), kp_broadcast_i32x4(scalar_1));
        const f32x4 part_8 = kp_select_f32x4(mask_0, kp_add_f32x4(partial_0, kp_load_if_f32x4(squares + rest, mask_0, kp_broadcast_f32x4(0.0f))), partial_0);
        const f32x4 part_9 = kp_select_f32x4(mask_1, kp_add_f32x4(partial_4, kp_load_if_f32x4(squares + (rest + 4), mask_1, kp_broadcast_f32x4(0.0f))), partial_4);
        const f32x4 part_10 = kp_select_f32x4(mask_2, kp_add_f32x4(partial_8, kp_load_if_f32x4(squares + (rest + 8), mask_2, kp_broadcast_f32x4(0.0f))), partial_8);
        const f32x4 part_11 = kp_select_f32x4(mask_3, kp_add_f32x4(partial_12, kp_load_if_f32x4(squares + (rest + 12), mask_3, kp_broadcast_f32x4(0.0f))), partial_12);
        partial_0 = part_8;
        partial_4 = part_9;
        partial_8 = part_10;
        partial_12 = part_11;
      }
      const float reduced = kp_lanes_add_f32x4(kp_add_f32x4(kp_add_f32x4(partial_0, partial_8), kp_add_f32x4(partial_4, partial_12)));
      out[i * D + j_1] = reduced;
    }
  }
  return 0;
}

static int row_sums_body(const KpHost* host, const float* restrict x, float* restrict out, int64_t N, int64_t D) {
  const int64_t i_first = 0, i_last = N;
  if (i_first < i_last) {
    struct row_sums_i i_captured = {host, i_first, D, x, out};
    if (KP_SERVICE(host, parallel_for)(host, (int64_t)i_last - i_first, 1, row_sums_i_run, &i_captured)) return -1;
  }
  return 0;
}

static int square_entry(void* self, const KpAny* args, int32_t n, KpAny* result) {
  const KpHost* const host = ((KpInstance*)self)->host;
  (void)result;
  if (kp_count(host, "square", n, 2)) return -1;
  const KpDLTensor* x;
  if (kp_tensor(host, "square: x", &args[0], KP_DTYPE_FLOAT, 32, 1, false, &x)) return -1;
  const KpDLTensor* y;
  if (kp_tensor(host, "square: y", &args[1], KP_DTYPE_FLOAT, 32, 1, false, &y)) return -1;
  const int64_t N = x->shape[0];
  if (kp_extent(host, "square: y", 0, y->shape[0], N)) return -1;
  return square_body(host, (float*)kp_data(x), (float*)kp_data(y), N);
}

static const KpFunctionInfo square_info = {
    .struct_size = sizeof(KpFunctionInfo),
    .kind = KP_DEF_FUNCTION,
    .signature = "(x: f32[N]) -> (y: f32[N])",
};
static const KpFunctionInfo square_gradient = {
    .struct_size = sizeof(KpFunctionInfo),
    .kind = KP_DEF_GRADIENT,
    .target = "square_backward",
};

static int square_backward_entry(void* self, const KpAny* args, int32_t n, KpAny* result) {
  const KpHost* const host = ((KpInstance*)self)->host;
  (void)result;
  if (kp_count(host, "square_backward", n, 3)) return -1;
  const KpDLTensor* d_y;
  if (kp_tensor(host, "square_backward: d_y", &args[0], KP_DTYPE_FLOAT, 32, 1, false, &d_y)) return -1;
  const KpDLTensor* x;
  if (kp_tensor(host, "square_backward: x", &args[1], KP_DTYPE_FLOAT, 32, 1, false, &x)) return -1;
  const KpDLTensor* d_x;
  if (kp_tensor(host, "square_backward: d_x", &args[2], KP_DTYPE_FLOAT, 32, 1, false, &d_x)) return -1;
  const int64_t N = d_y->shape[0];
  if (kp_extent(host, "square_backward: x", 0, x->shape[0], N)) return -1;
  if (kp_extent(host, "square_backward: d_x", 0, d_x->shape[0], N)) return -1;
  return square_backward_body(host, (float*)kp_data(d_y), (float*)kp_data(x), (float*)kp_data(d_x), N);
}

static const KpFunctionInfo square_backward_info = {
    .struct_size = sizeof(KpFunctionInfo),
    .kind = KP_DEF_FUNCTION,
    .signature = "(d_y: f32[N], x: f32[N]) -> (d_x: f32[N])",
};

static int scale_entry(void* self, const KpAny* args, int32_t n, KpAny* result) {
  const KpHost* const host = ((KpInstance*)self)->host;
  (void)result;
  if (kp_count(host, "scale", n, 3)) return -1;
  const KpDLTensor* x;
  if (kp_tensor(host, "scale: x", &args[0], KP_DTYPE_FLOAT, 32, 1, false, &x)) return -1;
  double a;
  if (kp_number(host, "scale: a", &args[1], &a)) return -1;
  const KpDLTensor* out;
  if (kp_tensor(host, "scale: out", &args[2], KP_DTYPE_FLOAT, 32, 1, false, &out)) return -1;
  const int64_t N = x->shape[0];
  if (kp_extent(host, "scale: out", 0, out->shape[0], N)) return -1;
  return scale_body(host, (float*)kp_data(x), (float)a, (float*)kp_data(out), N);
}

static const KpFunctionInfo scale_info = {
    .struct_size = sizeof(KpFunctionInfo),
    .kind = KP_DEF_FUNCTION,
    .signature = "(x: f32[N], a: float) -> (out: f32[N])",
};

static int row_sums_entry(void* self, const KpAny* args, int32_t n, KpAny* result) {
  const KpHost* const host = ((KpInstance*)self)->host;
  (void)result;
  if (kp_count(host, "row_sums", n, 2)) return -1;
  const KpDLTensor* x;
  if (kp_tensor(host, "row_sums: x", &args[0], KP_DTYPE_FLOAT, 32, 2, false, &x)) return -1;
  const KpDLTensor* out;
  if (kp_tensor(host, "row_sums: out", &args[1], KP_DTYPE_FLOAT, 32, 2, false, &out)) return -1;
  const int64_t N = x->shape[0];
  const int64_t D = x->shape[1];
  if (kp_extent(host, "row_sums: out", 0, out->shape[0], N)) return -1;
  if (kp_extent(host, "row_sums: out", 1, out->shape[1], D)) return -1;
  return row_sums_body(host, (float*)kp_data(x), (float*)kp_data(out), N, D);
}

static const KpFunctionInfo row_sums_info = {
    .struct_size = sizeof(KpFunctionInfo),
    .kind = KP_DEF_FUNCTION,
    .signature = "(x: f32[N, D]) -> (out: f32[N, D])",
};

static const KpFunctionDef kp_functions[] = {
    {"square", square_entry, &square_info},
    {"square", NULL, &square_gradient},
    {"square_backward", square_backward_entry, &square_backward_info},
    {"scale", scale_entry, &scale_info},
    {"row_sums", row_sums_entry, &row_sums_info},
};

static int kp_create(const KpHost* host, KpInstance** out) {
  KpInstance* const instance = (KpInstance*)malloc(sizeof *instance);
  if (!instance) return kp_fail(host, "MemoryError", KP_GENERATED_NAME ": out of memory");
  instance->host = host;
  *out = instance;
  return 0;
}

static void kp_destroy(KpInstance* instance) { free(instance); }

static const KpModule kp_module = {
    .struct_size = sizeof(KpModule),
    .abi_version = KP_ABI_VERSION,
    .min_host_abi = (uint32_t)KP_ABI_MAJOR << 16,
    .name = KP_GENERATED_NAME,
    .version = KP_GENERATED_VERSION,
    .sdk_version = KP_GENERATED_SDK,
    .functions = kp_functions,
    .functions_end = kp_functions + sizeof kp_functions / sizeof *kp_functions,
    .create = kp_create,
    .destroy = kp_destroy,
};

KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void);
const KpModule* kp_module_v1(void) { return &kp_module; }
