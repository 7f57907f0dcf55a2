// The gradients of attention and masked_attention on CUDA devices.
#include "../../../src/attention/contract.h"
#include "attention_backward.fatbin.h"
#include "attention_call.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kCode{"attention_backward",
                               "fatbin",
                               {device_code::attention_backward_fatbin, sizeof device_code::attention_backward_fatbin}};
constexpr int64_t kWarps = 4, kLanes = 32;  // as attention_backward.cu's

struct Gradients {
  AttentionCall call;
  kp::TensorView d_context, context, lse;

  void Run(kp::MutTensorView d_q, kp::MutTensorView d_k, kp::MutTensorView d_v) const {
    const AttentionParams p = call.Params();
    const kp::Device device = call.q.device();
    const char* const dtype = NameOf(call.q.dtype());
    const int64_t batch = call.q.size(0), rows = call.q.size(1) * p.shared, queries = lse.numel();
    const int64_t width = p.width <= 64 ? 64 : p.width <= 128 ? 128 : 256;
    const auto bytes = static_cast<uint32_t>((2 * kLanes + 2 * kWarps) * (width + 1) * 4);
    const kp::Workspace memory(device, "deltas of attention",
                               static_cast<uint64_t>(std::max<int64_t>(queries, 1)) * sizeof(float));
    const kp::DeviceMemory delta(memory.data(), 0, sizeof(float));
    const auto name = [&](const char* what) {
      return "attention_" + std::string(what) + "_" + dtype + "_" + std::to_string(width);
    };
    kp::launch(device, kCode, ("attention_delta_" + std::string(dtype)).c_str(),
               {BlockCount((queries + kWarps - 1) / kWarps)}, {128}, d_context, context, delta, p);
    kp::launch(device, kCode, name("d_q").c_str(), {BlockCount((rows + kWarps - 1) / kWarps * p.groups * batch)}, {128},
               d_context, call.q, call.k, call.v, MemoryOf(call.lengths), MemoryOf(call.mask), lse, delta, d_q, p,
               kp::LocalMemory{bytes});
    kp::launch(device, kCode, name("d_k").c_str(), {BlockCount((p.keys + kWarps - 1) / kWarps * p.groups * batch)},
               {128}, d_context, call.q, call.k, call.v, MemoryOf(call.lengths), MemoryOf(call.mask), lse, delta, d_k,
               d_v, p, kp::LocalMemory{bytes});
  }
};

void AttentionBackward(kp::TensorView d_context, kp::TensorView q, kp::TensorView k, kp::TensorView v,
                       kp::TensorView context, kp::TensorView lse, std::optional<kp::TensorView> lengths,
                       std::optional<double> scale, bool causal, int64_t window, double soft_cap, kp::MutTensorView d_q,
                       kp::MutTensorView d_k, kp::MutTensorView d_v) {
  const AttentionCall call{q, k, v, lengths, std::nullopt, {}, scale, causal, window, soft_cap};
  Gradients{call, d_context, context, lse}.Run(d_q, d_k, d_v);
}

void MaskedAttentionBackward(kp::TensorView d_context, kp::TensorView q, kp::TensorView k, kp::TensorView v,
                             kp::TensorView mask, kp::TensorView context, kp::TensorView lse,
                             std::optional<double> scale, bool causal, int64_t window, double soft_cap,
                             kp::MutTensorView d_q, kp::MutTensorView d_k, kp::MutTensorView d_v) {
  const AttentionCall call{q, k, v, std::nullopt, mask, LayoutOfMask(q, mask), scale, causal, window, soft_cap};
  Gradients{call, d_context, context, lse}.Run(d_q, d_k, d_v);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", attention_backward, kk_cuda::AttentionBackward, KK_ATTENTION_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", masked_attention_backward, kk_cuda::MaskedAttentionBackward,
              KK_MASKED_ATTENTION_BACKWARD_CONTRACT);
