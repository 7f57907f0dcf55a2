// The namespace every header of the C++ layer lives in, and the names that must be one per module.
#ifndef KERNPACK_CONFIG_H_
#define KERNPACK_CONFIG_H_

#ifdef __CUDACC_RTC__  // NVRTC has no C library; CUDA's own C++ library has these
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#else
#include <kernpack/abi.h>
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#error "Kernpack: MSVC's cl isn't supported; compile with zig (pip install ziglang) or clang"
#endif
#if !defined(__cplusplus) || (__cplusplus < 201703L && (!defined(_MSVC_LANG) || _MSVC_LANG < 201703L))
#error "Kernpack's C++ headers need C++17: compile with -std=c++17 or later"
#endif

#define KP_CAT_(a, b) a##b
#define KP_CAT(a, b) KP_CAT_(a, b)

#ifdef __CUDACC_RTC__
#define KP_HIDDEN
#else
#define KP_HIDDEN __attribute__((visibility("hidden")))
#endif

// Source files of one module may be compiled for different instruction sets (KP_EXPORT_FOR). The linker keeps one copy of an
// inline function, so each instruction set has a namespace of its own: a baseline function never runs a wider one's copy.
#if defined(__AVX512F__)
#define KP_ISA_TAG_ _x4
#elif defined(__AVX2__)
#define KP_ISA_TAG_ _x3
#elif defined(__SSE4_2__)
#define KP_ISA_TAG_ _x2
#else
#define KP_ISA_TAG_
#endif

// -DKP_STATIC_NAME=x is for embedding several modules in one program: it keeps their state, sections and query symbols apart.
#if defined(KP_STATIC_NAME)
#define KP_PER_MODULE(name) KP_CAT(KP_CAT(name, _), KP_STATIC_NAME)
#define KP_INLINE_NAMESPACE_ KP_CAT(KP_CAT(KP_CAT(v1, KP_ISA_TAG_), _), KP_STATIC_NAME)
#else
#define KP_PER_MODULE(name) name
#define KP_INLINE_NAMESPACE_ KP_CAT(v1, KP_ISA_TAG_)
#endif

// The inline namespace carries the ABI major, and is hidden by itself, so that a plain `g++ -shared` exports none of it.
#define KP_NAMESPACE_BEGIN \
  namespace kernpack {     \
  inline namespace KP_INLINE_NAMESPACE_ KP_HIDDEN {
#define KP_NAMESPACE_END \
  }                      \
  }

#define KP_LIKELY(x) __builtin_expect(!!(x), 1)
#define KP_UNLIKELY(x) __builtin_expect(!!(x), 0)
// noclone: a copy made for one caller would be in every object file, where the function itself is linked once.
#if defined(__GNUC__) && !defined(__clang__)
#define KP_COLD __attribute__((cold, noinline, noclone))
#else
#define KP_COLD __attribute__((cold, noinline))
#endif

// The code that generated modules share throws nothing. It is compiled without exceptions, which makes it smaller.
#ifdef KP_THROWS_NOTHING
#define KP_THROW_(object) __builtin_abort()
#else
#define KP_THROW_(object) throw object
#endif

#endif  // KERNPACK_CONFIG_H_
