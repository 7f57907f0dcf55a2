// What every generated C file begins and ends with.
#ifndef KERNPACK_SDK_SRC_CODEGEN_C_PRELUDE_H_
#define KERNPACK_SDK_SRC_CODEGEN_C_PRELUDE_H_

namespace kernpack::sdk::ir {

inline constexpr char kCPrelude[] = R"(#include <kernpack/abi.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Floats are computed as this file says, whatever the compiler's options allow: its functions depend on how operations round.
#if defined(__clang__)
#pragma clang fp reassociate(off)
#if __clang_major__ >= 18
#pragma clang fp reciprocal(off)
#endif
#if defined(__FAST_MATH__) || __FINITE_MATH_ONLY__
#pragma float_control(precise, on)
#endif
#elif defined(__GNUC__)
#if defined(__FAST_MATH__) || __FINITE_MATH_ONLY__ || defined(__ASSOCIATIVE_MATH__) || \
    defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__) || defined(__NO_TRAPPING_MATH__)
#pragma GCC optimize("no-fast-math,no-math-errno,no-associative-math,no-reciprocal-math,signed-zeros,trapping-math")
#endif
#endif

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
// gcc 12 miscompiles a / a of lanes to 0 and -1; hide the value from it.
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

)";

inline constexpr char kEpilogue[] = R"(
static int kp_create(const KpHost* host, KpInstance** out) {
  KpInstance* const instance = (KpInstance*)malloc(sizeof *instance);
  if (!instance) return kp_fail(host, "MemoryError", KP_GENERATED_NAME ": out of memory");
  instance->host = host;
  *out = instance;
  return 0;
}

static void kp_destroy(KpInstance* instance) { free(instance); }
)";

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_CODEGEN_C_PRELUDE_H_
