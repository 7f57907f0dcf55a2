// The beginning of generated C files: the part of the frame that is plain C, and the text before and after it.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_C_PRELUDE_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_C_PRELUDE_H_

#include <string>

namespace kernpack::sdk::ir {

// Directives that make the compiler compute as the file says.
inline constexpr char kCHead[] = R"(#include <kernpack/abi.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
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
)";

// Instances and memory of a module that stands alone. Before: KP_GENERATED_NAME.
inline constexpr char kCRuntime[] = R"(#ifndef KP_SERVICE
#define KP_SERVICE(host, name) ((host)->name)
#endif

struct KpInstance {
  const KpHost* host;
};

// Memory that the host keeps for this thread between calls.
static inline int kp_scratch(const KpHost* host, const char* key, uint32_t flags, uint64_t item, int count,
                             const int64_t* extents, void** out) {
  KpStorageKey k;
  uint64_t bytes = 0;
  if (kp_bytes_of(host, key, item, count, extents, &bytes)) return -1;
  memset(&k, 0, sizeof k);
  k.module = kp_bytes(KP_GENERATED_NAME);
  k.key = kp_bytes(key);
  k.scope = KP_SCOPE_DEVICE;
  k.device.device_type = KP_DEVICE_CPU;
  return KP_SERVICE(host, workspace)(host, &k, bytes ? bytes : 1, flags, out);
}

static int kp_create(const KpHost* host, KpInstance** out) {
  KpInstance* const instance = (KpInstance*)malloc(sizeof *instance);
  if (!instance) return kp_fail(host, "MemoryError", "%s: out of memory", KP_GENERATED_NAME);
  instance->host = host;
  *out = instance;
  return 0;
}

static void kp_destroy(KpInstance* instance) { free(instance); }
)";

// The frame's part that is plain C (codegen/frame/arguments.h), as text that stands in a generated file.
// Without include guards; it includes headers of kernpack and of the C library alone.
std::string FrameText();

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_C_PRELUDE_H_
