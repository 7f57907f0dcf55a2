// The host half of the attention kernel for sm_90: which calls it takes, and the tensor maps of keys and values.
#pragma once

#include "attention_call.h"
#include "attention_sm90.fatbin.h"
#include "sm90.h"

#include "common/cuda/choice.h"
#include "common/cuda/tensor_map.h"

namespace kk_cuda {

constexpr kp::DeviceCode kSm90Code{
    "attention_sm90", "fatbin", {device_code::attention_sm90_fatbin, sizeof device_code::attention_sm90_fatbin}};

inline bool ChoosesAttentionSm90() { return Chooses("attention", "KERNPACK_CUDA_ATTENTION", "wgmma", "mma"); }

// Of `rows` rows of one head of one item. The kernel needs TakesSm90().
inline KpTensorMap GetMap(const char* name, kp::TensorView x, uint32_t rows = kSm90Keys) {
  return GetMap(name, x, {x.size(3), x.size(1), x.size(2), x.size(0)}, {x.stride(1), x.stride(2), x.stride(0)}, rows);
}

inline bool HasMap(kp::TensorView x) {
  for (int64_t d = 0; d < 3; ++d) {
    if (x.size(d) > 1 && (x.stride(d) < 0 || x.stride(d) * x.itemsize() >= int64_t{1} << 40)) return false;
  }
  return true;
}

// Few rows, narrow heads, masks and soft caps are left to the other kernels, whatever the variable says.
inline bool TakesSm90(const AttentionCall& call, kp::TensorView out) {
  const AttentionParams p = call.Params();
  return p.mask.kind == kNoMask && p.cap == 0 && p.factor > 0 && p.width > 32 && p.keys > 0 && call.TakesMma({out}) &&
         call.q.size(1) * p.shared > kMmaRows && HasMap(call.k) && HasMap(call.v) &&
         kp::device_arch(call.q.device()) == "sm_90";
}

inline void RunSm90(const AttentionCall& call, const std::optional<kp::TensorView>& sinks, kp::MutTensorView out,
                    kp::MutTensorView lse) {
  const AttentionParams p = call.Params();
  const int width = p.width <= 64 ? 64 : 128;
  const auto bytes = static_cast<uint32_t>(width == 64 ? kSm90Bytes<64> : kSm90Bytes<128>);
  const int64_t rows = call.q.size(1) * p.shared;
  const int64_t blocks = (rows + kSm90Rows - 1) / kSm90Rows * p.groups * call.q.size(0);
  const std::string name = "attention_sm90_" + std::string(GetName(call.q.dtype())) + "_" + std::to_string(width);
  kp::launch(call.q.device(), kSm90Code, name.c_str(), {BlockCount(blocks)}, {kSm90Threads}, call.q,
             GetMap("k", call.k), GetMap("v", call.v), GetMemory(call.lengths), GetMemory(sinks), out, lse, p,
             kp::LocalMemory{bytes});
}

}  // namespace kk_cuda
