// The host half that attention and masked_attention share: which kernel, and what it is passed.
#pragma once

#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "attention_mma.fatbin.h"
#include "attention_rows.fatbin.h"
#include "params.h"

namespace kp = kernpack;

namespace kk_cuda {

constexpr kp::DeviceCode kMmaCode{
    "attention_mma", "fatbin", {device_code::attention_mma_fatbin, sizeof device_code::attention_mma_fatbin}};
constexpr kp::DeviceCode kRowsCode{
    "attention_rows", "fatbin", {device_code::attention_rows_fatbin, sizeof device_code::attention_rows_fatbin}};
constexpr int64_t kMmaRows = 64, kMmaKeys = 64;  // of a block

inline kp::DeviceMemory MemoryOf(const std::optional<kp::TensorView>& tensor) {
  return tensor ? kp::DeviceMemory(*tensor) : kp::DeviceMemory(nullptr, 0, 1);
}

inline const char* NameOf(kp::DType dtype) {
  if (dtype == kp::dtype_of<float>) return "f32";
  return dtype == kp::dtype_of<kp::half> ? "f16" : "bf16";
}

// Of [batch, rows, heads, width].
inline Strides StridesOf(kp::TensorView x) { return {x.stride(0), x.stride(1), x.stride(2), x.stride(3)}; }

// Whether each row of a head begins at a multiple of 16 bytes, and is a multiple of them.
inline bool HasChunks(kp::TensorView x) {
  const int64_t chunk = 16 / x.itemsize();
  for (int64_t d = 0; d < 3; ++d) {
    if (x.size(d) > 1 && x.stride(d) % chunk != 0) return false;
  }
  return x.size(3) % chunk == 0 && x.stride(3) == 1 && reinterpret_cast<uintptr_t>(x.data_ptr()) % 16 == 0;
}

inline int ToInt(const char* what, int64_t n) {
  KP_CHECK(n <= std::numeric_limits<int>::max(), ValueError)
      << what << ": expected at most " << std::numeric_limits<int>::max() << " on a CUDA device, got " << n;
  return static_cast<int>(n);
}

// Score() of scores.cuh: powers of two, with the soft cap where there is one.
inline void SetScores(std::optional<double> scale, int64_t width, double soft_cap, float* factor, float* cap) {
  constexpr double kLog2E = 1.4426950408889634;
  KP_CHECK(soft_cap >= 0, ValueError) << "soft_cap: expected a positive number, or 0 for none, got " << soft_cap;
  const double by = scale.value_or(1 / std::sqrt(static_cast<double>(width)));
  *factor = static_cast<float>(soft_cap > 0 ? by / soft_cap : by * kLog2E);
  *cap = static_cast<float>(soft_cap * kLog2E);
}

struct AttentionCall {
  kp::TensorView q, k, v;
  std::optional<kp::TensorView> lengths, mask;
  MaskLayout layout;
  std::optional<double> scale;
  bool causal;
  int64_t window;
  double soft_cap;

  void Run(kp::MutTensorView out, kp::MutTensorView lse) const {
    AttentionParams p{};
    p.q = StridesOf(q), p.k = StridesOf(k), p.v = StridesOf(v), p.mask = layout;
    p.groups = ToInt("k", k.size(2)), p.keys = ToInt("k", k.size(1)), p.queries = ToInt("q", q.size(1));
    p.shared = static_cast<int>(q.size(2) / k.size(2)), p.width = ToInt("q", q.size(3));
    SetScores(scale, q.size(3), soft_cap, &p.factor, &p.cap);
    p.causal = causal, p.has_lengths = lengths.has_value();
    p.window = static_cast<int>(std::min<int64_t>(window, p.keys));
    ToInt("queries times the heads that share a key", q.size(1) * p.shared);
    if (lse.numel() == 0) return;
    const bool mma = q.dtype() != kp::dtype_of<float> && p.width <= 128 && HasChunks(q) && HasChunks(k) && HasChunks(v);
    return mma ? Launch(kMmaCode, "attention_", p.width <= 32 ? 32 : p.width <= 64 ? 64 : 128, kMmaRows, p, out, lse)
               : Rows(p, out, lse);
  }

 private:
  void Rows(const AttentionParams& p, kp::MutTensorView out, kp::MutTensorView lse) const {
    KP_CHECK(p.width <= 256, ValueError) << "q: expected heads of at most 256 elements on a CUDA device, got "
                                         << p.width;
    Launch(kRowsCode, "attention_rows_", p.width <= 64 ? 64 : p.width <= 128 ? 128 : 256, p.width <= 128 ? 16 : 8, p, out,
           lse);
  }

  void Launch(const kp::DeviceCode& code, const char* kind, int64_t width, int64_t block_rows, const AttentionParams& p,
              kp::MutTensorView out, kp::MutTensorView lse) const {
    const std::string name = kind + std::string(NameOf(q.dtype())) + "_" + std::to_string(width);
    const int64_t rows = int64_t{p.queries} * p.shared, tiles = (rows + block_rows - 1) / block_rows;
    const auto blocks = static_cast<uint32_t>(ToInt("blocks of the launch", tiles * p.groups * q.size(0)));
    const bool is_mma = code.name == kMmaCode.name;
    const auto bytes = static_cast<uint32_t>(is_mma ? (kMmaRows + 2 * kMmaKeys) * width * q.itemsize() : 0);
    kp::launch(q.device(), code, name.c_str(), {blocks}, {128}, q, k, v, MemoryOf(lengths), MemoryOf(mask), out, lse, p,
               kp::LocalMemory{bytes});
  }
};

}  // namespace kk_cuda
