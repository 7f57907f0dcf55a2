// The host half that attention and masked_attention share: which kernel, and what it is passed.
#pragma once

#include <initializer_list>

#include "attention_mma.fatbin.h"
#include "attention_rows.fatbin.h"
#include "call.h"

namespace kk_cuda {

constexpr kp::DeviceCode kMmaCode{
    "attention_mma", "fatbin", {device_code::attention_mma_fatbin, sizeof device_code::attention_mma_fatbin}};
constexpr kp::DeviceCode kRowsCode{
    "attention_rows", "fatbin", {device_code::attention_rows_fatbin, sizeof device_code::attention_rows_fatbin}};
constexpr int64_t kMmaRows = 64, kMmaKeys = 64;  // of a block, which has twice the rows without a mask and a soft cap

inline MaskKind GetMaskKind(kp::DType dtype) {
  if (dtype == kp::dtype_of<bool>) return kBoolMask;
  if (dtype == kp::dtype_of<float>) return kFloatMask;
  return dtype == kp::dtype_of<kp::half> ? kHalfMask : kBfloatMask;
}

// 0 where the mask is the same for all.
inline int64_t GetMaskStride(kp::TensorView mask, int64_t d, int64_t size, const char* of) {
  KP_CHECK(mask.size(d) == 1 || mask.size(d) == size, ValueError)
      << "mask: expected 1 or " << size << " in dimension " << d << ", the " << of << ", got " << mask.size(d);
  return mask.size(d) == 1 ? 0 : mask.stride(d);
}

inline MaskLayout LayoutOfMask(kp::TensorView q, kp::TensorView mask) {
  return {GetMaskStride(mask, 0, q.size(0), "batch"), GetMaskStride(mask, 1, q.size(2), "heads"),
          GetMaskStride(mask, 2, q.size(1), "queries"), mask.stride(3), GetMaskKind(mask.dtype())};
}

struct AttentionCall {
  kp::TensorView q, k, v;
  std::optional<kp::TensorView> lengths, mask;
  MaskLayout layout;
  std::optional<double> scale;
  bool causal;
  int64_t window;
  double soft_cap;

  AttentionParams Params() const {
    AttentionParams p{};
    p.q = GetStrides(q), p.k = GetStrides(k), p.v = GetStrides(v), p.mask = layout;
    p.groups = ToInt("k", k.size(2)), p.keys = ToInt("k", k.size(1)), p.queries = ToInt("q", q.size(1));
    p.shared = static_cast<int>(q.size(2) / k.size(2)), p.width = GetWidth(q);
    SetScores(scale, q.size(3), soft_cap, &p.factor, &p.cap);
    p.causal = causal, p.has_lengths = lengths.has_value();
    p.window = static_cast<int>(std::min<int64_t>(window, p.keys));
    p.batch = ToInt("q", q.size(0));
    ToInt("queries times the heads that share a key", q.size(1) * p.shared);
    return p;
  }

  // True if tensor cores can compute the call, with the results or their gradients `more`.
  bool TakesMma(std::initializer_list<kp::TensorView> more) const {
    return q.dtype() != kp::dtype_of<float> && q.size(3) <= 128 && HasChunks(q, 16) && HasChunks(k, 16) &&
           HasChunks(v, 16) && std::all_of(more.begin(), more.end(), [](kp::TensorView x) { return HasChunks(x, 16); });
  }

  void Run(const std::optional<kp::TensorView>& sinks, kp::MutTensorView out, kp::MutTensorView lse) const {
    const AttentionParams p = Params();
    if (lse.numel() == 0) return;
    const int64_t rows = q.size(1) * p.shared;
    const bool mma = TakesMma({out}),
               plain = mma && p.mask.kind == kNoMask && p.cap == 0 && p.factor > 0 && rows > kMmaRows;
    const int64_t width = mma && p.width <= 32 ? 32 : p.width <= 64 ? 64 : p.width <= 128 ? 128 : 256;
    const int64_t block_rows = plain ? 2 * kMmaRows : mma ? kMmaRows : width <= 128 ? 16 : 8;
    const int64_t blocks = (rows + block_rows - 1) / block_rows * p.groups * q.size(0);
    const auto bytes = static_cast<uint32_t>(mma ? (block_rows + 2 * kMmaKeys) * width * q.itemsize() : 0);
    const std::string name = (plain ? "attention_plain_"
                              : mma ? "attention_"
                                    : "attention_rows_") +
                             std::string(GetName(q.dtype())) + "_" + std::to_string(width);
    kp::launch(q.device(), mma ? kMmaCode : kRowsCode, name.c_str(), {BlockCount(blocks)}, {128}, q, k, v,
               GetMemory(lengths), GetMemory(mask), GetMemory(sinks), out, lse, p, kp::LocalMemory{bytes});
  }
};

}  // namespace kk_cuda
