// The gradients of attention and masked_attention on CUDA devices.
#include "attention/contract.h"
#include "attention_backward.fatbin.h"
#include "attention_backward_sm90.fatbin.h"
#include "attention_mask_backward.fatbin.h"
#include "attention_mma_backward.fatbin.h"
#include "sm90_call.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kCode{"attention_backward",
                               "fatbin",
                               {device_code::attention_backward_fatbin, sizeof device_code::attention_backward_fatbin}};
constexpr kp::DeviceCode kMaskCode{
    "attention_mask_backward",
    "fatbin",
    {device_code::attention_mask_backward_fatbin, sizeof device_code::attention_mask_backward_fatbin}};
constexpr kp::DeviceCode kMmaBackwardCode{
    "attention_mma_backward",
    "fatbin",
    {device_code::attention_mma_backward_fatbin, sizeof device_code::attention_mma_backward_fatbin}};
constexpr kp::DeviceCode kSm90BackwardCode{
    "attention_backward_sm90",
    "fatbin",
    {device_code::attention_backward_sm90_fatbin, sizeof device_code::attention_backward_sm90_fatbin}};
constexpr int64_t kWarps = 4, kLanes = 32;  // as backward.cuh's

// The first step of the gradients: delta of each query.
class Gradients {
 public:
  Gradients(const AttentionCall& call, kp::TensorView d_context, kp::TensorView context, kp::TensorView lse)
      : call_(call),
        d_context_(d_context),
        lse_(lse),
        p_(call.Params()),
        device_(call.q.device()),
        dtype_(GetName(call.q.dtype())),
        memory_(device_, "deltas of attention",
                static_cast<uint64_t>(std::max<int64_t>(lse.numel(), 1)) * sizeof(float)) {
    kp::launch(device_, kCode, ("attention_delta_" + dtype_).c_str(), {BlockCount((lse.numel() + kWarps - 1) / kWarps)},
               {128}, d_context, context, Delta(), p_);
  }

  void OfInputs(kp::MutTensorView d_q, kp::MutTensorView d_k, kp::MutTensorView d_v) const {
    if (call_.TakesMma({d_context_, d_q, d_k, d_v})) {
      const bool sm90 = ChoosesAttentionSm90() && TakesSm90(call_, d_context_) && HasMap(call_.q);
      return sm90 ? BySm90(d_q, d_k, d_v) : ByMma(d_q, d_k, d_v);
    }
    const int64_t batch = p_.batch, rows = call_.q.size(1) * p_.shared;
    const int64_t width = p_.width <= 64 ? 64 : p_.width <= 128 ? 128 : 256;
    const kp::LocalMemory local{static_cast<uint32_t>((2 * kLanes + 2 * kWarps) * (width + 1) * 4)};
    const std::string ending = dtype_ + "_" + std::to_string(width);
    const auto blocks = [&](int64_t n) { return BlockCount((n + kWarps - 1) / kWarps * p_.groups * batch); };
    kp::launch(device_, kCode, ("attention_d_q_" + ending).c_str(), {blocks(rows)}, {128}, d_context_, call_.q, call_.k,
               call_.v, GetMemory(call_.lengths), GetMemory(call_.mask), lse_, Delta(), d_q, p_, local);
    kp::launch(device_, kCode, ("attention_d_k_" + ending).c_str(), {blocks(p_.keys)}, {128}, d_context_, call_.q,
               call_.k, call_.v, GetMemory(call_.lengths), GetMemory(call_.mask), lse_, Delta(), d_k, d_v, p_, local);
  }

  void OfMask(kp::MutTensorView d_mask) const {
    const MaskGradientParams m = {ToInt("mask", d_mask.size(0)), ToInt("mask", d_mask.size(1)),
                                  ToInt("mask", d_mask.size(2)), GetElementKind(d_mask.dtype())};
    ToInt("rows of all heads", lse_.numel());
    const int64_t tiles = (p_.keys + kLanes - 1) / kLanes;
    kp::launch(device_, kMaskCode, ("attention_d_mask_" + dtype_).c_str(),
               {BlockCount(d_mask.size(0) * d_mask.size(1) * d_mask.size(2) * tiles)}, {128}, d_context_, call_.q,
               call_.k, call_.v, GetMemory(call_.mask), lse_, Delta(), d_mask, p_, m);
  }

 private:
  void ByMma(kp::MutTensorView d_q, kp::MutTensorView d_k, kp::MutTensorView d_v) const {
    constexpr int64_t kBlock = 128;  // rows or keys
    const int64_t width = p_.width <= 32 ? 32 : p_.width <= 64 ? 64 : 128;
    const auto launch = [&](const char* of, int64_t n, int64_t held, int64_t tile, kp::MutTensorView result) {
      const std::string name = std::string("attention_mma_") + of + "_" + dtype_ + "_" + std::to_string(width);
      const kp::LocalMemory local{static_cast<uint32_t>((held * kBlock + 4 * tile) * width * call_.q.itemsize())};
      kp::launch(device_, kMmaBackwardCode, name.c_str(),
                 {BlockCount((n + kBlock - 1) / kBlock * p_.groups * p_.batch)}, {128}, d_context_, call_.q, call_.k,
                 call_.v, GetMemory(call_.lengths), GetMemory(call_.mask), lse_, Delta(), result, p_, local);
    };
    // held: tensors of which shared memory holds the block's rows, while tiles of two others go past.
    launch("d_q", call_.q.size(1) * p_.shared, 2, 32, d_q);
    launch("d_k", p_.keys, 2, 32, d_k);
    launch("d_v", p_.keys, 1, width <= 64 ? 64 : 32, d_v);
  }

  // d_q is summed up over blocks of keys in a workspace, in which another counts the blocks that have added theirs.
  void BySm90(kp::MutTensorView d_q, kp::MutTensorView d_k, kp::MutTensorView d_v) const {
    const int width = p_.width <= 64 ? 64 : 128;
    const auto bytes = static_cast<uint32_t>(width == 64 ? kSm90BackwardBytes<64> : kSm90BackwardBytes<128>);
    const int64_t tiles = (call_.q.size(1) + kSm90Queries - 1) / kSm90Queries * call_.q.size(2) * p_.batch;
    const int64_t blocks = (call_.k.size(1) + kSm90Keys - 1) / kSm90Keys * p_.groups * p_.batch;
    const kp::Workspace sums(device_, "sums of d_q", static_cast<uint64_t>(tiles * kSm90Queries * width) * 4);
    const kp::Workspace added(device_, "blocks of d_q", static_cast<uint64_t>(tiles) * 4, kp::zeroed);
    const kp::DeviceMemory of_sums(sums.data(), 0, 4), of_added(added.data(), 0, 4);
    const std::string ending = dtype_ + "_" + std::to_string(width);
    kp::launch(device_, kSm90BackwardCode, ("attention_backward_sm90_" + ending).c_str(), {BlockCount(blocks)},
               {kSm90Threads}, GetMap("d_context", d_context_, kSm90Queries), GetMap("q", call_.q, kSm90Queries),
               GetMap("k", call_.k), GetMap("v", call_.v), GetMemory(call_.lengths), lse_, Delta(), of_sums, of_added,
               d_k, d_v, p_, kp::LocalMemory{bytes});
    kp::launch(device_, kSm90BackwardCode, ("attention_finish_sm90_" + ending).c_str(), {BlockCount(tiles)}, {256},
               of_sums, of_added, GetMemory(call_.lengths), d_q, p_);
  }

  kp::DeviceMemory Delta() const { return {memory_.data(), 0, sizeof(float)}; }

  AttentionCall call_;
  kp::TensorView d_context_, lse_;
  AttentionParams p_;
  kp::Device device_;
  std::string dtype_;
  kp::Workspace memory_;
};

void AttentionBackward(kp::TensorView d_context, kp::TensorView q, kp::TensorView k, kp::TensorView v,
                       kp::TensorView context, kp::TensorView lse, std::optional<kp::TensorView> lengths,
                       std::optional<double> scale, bool causal, int64_t window, double soft_cap, kp::MutTensorView d_q,
                       kp::MutTensorView d_k, kp::MutTensorView d_v) {
  const AttentionCall call{q, k, v, lengths, std::nullopt, {}, scale, causal, window, soft_cap};
  Gradients(call, d_context, context, lse).OfInputs(d_q, d_k, d_v);
}

void MaskedAttentionBackward(kp::TensorView d_context, kp::TensorView q, kp::TensorView k, kp::TensorView v,
                             kp::TensorView mask, kp::TensorView context, kp::TensorView lse,
                             std::optional<double> scale, bool causal, int64_t window, double soft_cap,
                             kp::MutTensorView d_q, kp::MutTensorView d_k, kp::MutTensorView d_v) {
  const AttentionCall call{q, k, v, std::nullopt, mask, LayoutOfMask(q, mask), scale, causal, window, soft_cap};
  Gradients(call, d_context, context, lse).OfInputs(d_q, d_k, d_v);
}

void MaskedAttentionMaskBackward(kp::TensorView d_context, kp::TensorView q, kp::TensorView k, kp::TensorView v,
                                 kp::TensorView mask, kp::TensorView context, kp::TensorView lse,
                                 std::optional<double> scale, bool causal, int64_t window, double soft_cap,
                                 kp::MutTensorView d_mask) {
  const AttentionCall call{q, k, v, std::nullopt, mask, LayoutOfMask(q, mask), scale, causal, window, soft_cap};
  Gradients(call, d_context, context, lse).OfMask(d_mask);
}

void AttentionSinksBackward(kp::TensorView d_context, kp::TensorView context, kp::TensorView lse, kp::TensorView sinks,
                            kp::MutTensorView d_sinks) {
  if (d_sinks.numel() == 0) return;
  const SinkParams p = {context.size(0) * context.size(1), ToInt("context", context.size(1)),
                        ToInt("context", context.size(2)), ToInt("context", context.size(3))};
  kp::launch(context.device(), kCode, ("attention_d_sinks_" + std::string(GetName(context.dtype()))).c_str(),
             {BlockCount(context.size(2))}, {128}, d_context, context, lse, sinks, d_sinks, p);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", attention_backward, kk_cuda::AttentionBackward, KK_ATTENTION_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", masked_attention_backward, kk_cuda::MaskedAttentionBackward,
              KK_MASKED_ATTENTION_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", masked_attention_mask_backward, kk_cuda::MaskedAttentionMaskBackward,
              KK_MASKED_ATTENTION_MASK_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", attention_sinks_backward, kk_cuda::AttentionSinksBackward, KK_ATTENTION_SINKS_BACKWARD_CONTRACT);
