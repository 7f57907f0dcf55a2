// Code that the ops share: storage types, how much work a thread should get, exports at every CPU level.
#pragma once

#include <kernpack/kernel.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "rows.h"

namespace kp = kernpack;

namespace kk {

template <class T>
struct Storage {
  using Type = T;
};
template <>
struct Storage<kp::half> {
  using Type = F16;
};
template <>
struct Storage<kp::bfloat16> {
  using Type = Bf16;
};

template <class T>
struct Tag {
  using Type = T;
};

// f(Tag<T>) with the type the kernels store `dtype` as.
template <class F>
void DispatchFloat(kp::DType dtype, F f) {
  kp::dispatch<float, double, kp::half, kp::bfloat16>(
      dtype, [&](auto t) { f(Tag<typename Storage<typename decltype(t)::type>::Type>()); });
}

template <class T>
const T* Data(kp::TensorView tensor) {
  return static_cast<const T*>(tensor.data_ptr());
}
template <class T>
T* Data(kp::MutTensorView tensor) {
  return static_cast<T*>(tensor.data_ptr());
}

// Null where there is no tensor.
template <class T>
const T* Data(const std::optional<kp::TensorView>& tensor) {
  return tensor ? Data<T>(*tensor) : nullptr;
}
template <class T>
T* Data(const std::optional<kp::MutTensorView>& tensor) {
  return tensor ? Data<T>(*tensor) : nullptr;
}

// True if the elements of a row are adjacent. Strides of a tensor without elements mean nothing.
inline bool HasCompactRows(kp::TensorView x) { return x.stride(-1) == 1 || x.size(-1) <= 1 || x.numel() == 0; }

// Puts a copy in the place of `x` where its last dimension is strided; the copy lives as long as this object.
class CompactRows {
 public:
  explicit CompactRows(kp::TensorView& x) {
    if (KP_LIKELY(HasCompactRows(x))) return;
    copy_.emplace(x);
    x = *copy_;
  }

 private:
  std::optional<kp::Contiguous> copy_;
};

// Of what is written to, or too large to be copied in each call.
inline void CheckLastDim(const char* name, kp::TensorView x) {
  KP_CHECK(HasCompactRows(x), ValueError) << name << ": expected a contiguous last dimension, got one with a stride of "
                                          << x.stride(-1) << ": pass a contiguous tensor";
}

// The gradient of what is asked for its shape only.
inline void Zeros(kp::TensorView, kp::MutTensorView out) {
  std::memset(out.data_ptr(), 0, static_cast<size_t>(out.nbytes()));
}

inline int64_t LastDim(kp::TensorView x) { return x.size(-1); }
inline int64_t Rows(kp::TensorView x) { return x.numel() / std::max<int64_t>(x.size(-1), 1); }

// Memory of this thread, which the next call with the same key gets again.
inline float* FloatScratch(const char* key, int64_t count) {
  return kp::Workspace(kp::Device(), key, static_cast<uint64_t>(count) * sizeof(float)).data_as<float>();
}

// Waking a second thread costs about as much as this many elements of a cheap op.
constexpr int64_t kElementsPerThread = 1 << 15;

// f(begin, end) over rows, in parallel where there is enough to do.
template <class F>
void ForRows(int64_t rows, int64_t width, F f) {
  const int64_t grain = std::max<int64_t>(1, kElementsPerThread / std::max<int64_t>(width, 1));
  if (rows <= grain) {
    f(int64_t{0}, rows);
  } else {
    kp::parallel_for(rows, grain, f);
  }
}

}  // namespace kk

// Fn is a template over the CPU level. The host picks the best one that the machine has.
#if defined(__aarch64__)
#define KK_EXPORT(name, Fn, signature) KP_EXPORT(name, Fn<::kk::armv8_a>, signature)
#define KK_EXPORT_BF16(name, Fn, signature) KK_EXPORT(name, Fn, signature)
#define KK_EXPORT_MATRIX(name, Fn, signature) KK_EXPORT(name, Fn, signature)
#define KK_EXPORT_TILES(name, Fn, signature)                                                                         \
  KK_EXPORT(name, Fn, signature);                                                                                    \
  KP_EXPORT_FOR("llvm -mattr=+crc,+lse,+rdm,+dotprod -mtriple=aarch64-linux-gnu", name, Fn<::kk::armv8_2_a_dotprod>, \
                signature);                                                                                          \
  KP_EXPORT_FOR("llvm -mattr=+crc,+lse,+rdm,+dotprod,+i8mm,+bf16 -mtriple=aarch64-linux-gnu", name,                  \
                Fn<::kk::armv8_2_a_dotprod_i8mm_bf16>, signature)
#define KK_EXPORT_INTEGERS(name, Fn, signature) KK_EXPORT_TILES(name, Fn, signature)
#else
#define KK_EXPORT(name, Fn, signature)                                         \
  KP_EXPORT(name, Fn<::kk::x86_64_v2>, signature);                             \
  KP_EXPORT_FOR("llvm -mcpu=x86-64-v3", name, Fn<::kk::x86_64_v3>, signature); \
  KP_EXPORT_FOR("llvm -mcpu=x86-64-v4", name, Fn<::kk::x86_64_v4>, signature)

// The same for what has code with products of bf16 pairs, too.
#define KK_EXPORT_BF16(name, Fn, signature)                                  \
  KK_EXPORT(name, Fn, signature);                                            \
  KP_EXPORT_FOR("llvm -mcpu=x86-64-v4 -mattr=+avx512vnni,+avx512bf16", name, \
                Fn<::kk::x86_64_v4_avx512vnni_avx512bf16>, signature)

// And with the CPU's matrix tiles.
#define KK_EXPORT_MATRIX(name, Fn, signature)                                                    \
  KK_EXPORT_BF16(name, Fn, signature);                                                           \
  KP_EXPORT_FOR("llvm -mcpu=x86-64-v4 -mattr=+avx512vnni,+avx512bf16,+amx-tile,+amx-bf16", name, \
                Fn<::kk::x86_64_v4_avx512vnni_avx512bf16_amx_tile_amx_bf16>, signature)

// The same for linear layers, which have one level more.
#define KK_EXPORT_TILES(name, Fn, signature) \
  KK_EXPORT_MATRIX(name, Fn, signature);     \
  KP_EXPORT_FOR("llvm -mcpu=x86-64-v3 -mattr=+avxvnni", name, Fn<::kk::x86_64_v3_avxvnni>, signature)

// And for those whose weights are integers, another one.
#define KK_EXPORT_INTEGERS(name, Fn, signature) \
  KK_EXPORT_TILES(name, Fn, signature);         \
  KP_EXPORT_FOR("llvm -mcpu=x86-64-v4 -mattr=+avx512vnni", name, Fn<::kk::x86_64_v4_avx512vnni>, signature)
#endif
