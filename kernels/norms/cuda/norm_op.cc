// Norms and their gradients on CUDA devices.
#include "norms/contract.h"
#include "norms.fatbin.h"
#include "norms_backward.fatbin.h"
#include "norms_held.fatbin.h"
#include "norms_held_backward.fatbin.h"
#include "common/cuda/parts.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kNorms{"norms", "fatbin", {device_code::norms_fatbin, sizeof device_code::norms_fatbin}};
constexpr kp::DeviceCode kNormsHeld{
    "norms_held", "fatbin", {device_code::norms_held_fatbin, sizeof device_code::norms_held_fatbin}};
constexpr kp::DeviceCode kNormsHeldBackward{
    "norms_held_backward",
    "fatbin",
    {device_code::norms_held_backward_fatbin, sizeof device_code::norms_held_backward_fatbin}};
constexpr kp::DeviceCode kNormsBackward{
    "norms_backward", "fatbin", {device_code::norms_backward_fatbin, sizeof device_code::norms_backward_fatbin}};
constexpr int64_t kSharedSums = 32 << 10;  // bytes of a block's sums that its shared memory takes

NormParams MakeParams(kp::TensorView x, kp::TensorView weight, bool has_bias, double eps) {
  return {GetLayout("x", x),
          GetKind(weight.dtype()),
          ToInt("x", x.size(-1)),
          has_bias,
          eps,
          1.0 / static_cast<double>(x.size(-1)),
          x.size(-1) == 0 ? 0 : x.numel() / x.size(-1)};
}

// Where the registers of a warp or a block hold a row.
bool NormHeld(const char* norm, kp::TensorView x, const std::optional<kp::TensorView>& residual, kp::TensorView weight,
              const std::optional<kp::TensorView>& bias, kp::MutTensorView out,
              const std::optional<kp::TensorView>& sum, const NormParams& p) {
  const int threads = TeamFor(x.dtype(), p.width, 512);
  if (threads == 0 || !HasChunks(x, p.x) || !IsAligned(residual) || !IsAligned(weight) || !IsAligned(bias) ||
      !IsAligned(out) || !IsAligned(sum)) {
    return false;
  }
  const std::string kernel = Named(norm + std::string("_held"), x.dtype()) + "_" + std::to_string(threads);
  kp::launch(x.device(), kNormsHeld, kernel.c_str(), {TeamBlocks(threads, p.rows)}, {TeamBlock(threads)}, x,
             GetMemory(residual), weight, GetMemory(bias), out, GetMemory(sum), p);
  return true;
}

void Norm(const char* kernel, kp::TensorView x, kp::TensorView weight, const std::optional<kp::TensorView>& bias,
          double eps, kp::MutTensorView out) {
  if (x.numel() == 0) return;
  const NormParams p = MakeParams(x, weight, bias.has_value(), eps);
  if (NormHeld(kernel, x, std::nullopt, weight, bias, out, std::nullopt, p)) return;
  kp::launch(x.device(), kNorms, Named(kernel, x.dtype()).c_str(), {BlockCount(p.rows)}, {kRowThreads}, x, weight,
             GetMemory(bias), out, p);
}

void AddNorm(const char* kernel, kp::TensorView x, kp::TensorView residual, kp::TensorView weight,
             const std::optional<kp::TensorView>& bias, double eps, kp::MutTensorView out, kp::MutTensorView sum) {
  if (x.numel() == 0) return;
  const NormParams p = MakeParams(x, weight, bias.has_value(), eps);
  if (NormHeld(kernel, x, residual, weight, bias, out, sum, p)) return;
  kp::launch(x.device(), kNorms, Named(std::string("add_") + kernel, x.dtype()).c_str(), {BlockCount(p.rows)},
             {kRowThreads}, x, residual, weight, GetMemory(bias), out, sum, p);
}

// Shared memory of a thread of norms_held_backward.cu: four chunks of x and of d_out, two rows of each, and as many weights in f32.
int64_t HeldBackwardBytes(kp::DType dtype) { return 4 * (4 * kChunkBytes + kChunkBytes / dtype.itemsize() * 4); }

// Without a residual d_sum and d_residual are absent. of_weights: d_weight, and d_bias where there is one.
template <int kCount>
void Backward(const char* norm_name, kp::TensorView d_out, const std::optional<kp::TensorView>& d_sum, kp::TensorView x,
              kp::TensorView weight, double eps, kp::MutTensorView d_x, const std::optional<kp::TensorView>& d_residual,
              kp::MutTensorView const (&of_weights)[kCount]) {
  const int64_t width = x.size(-1);
  if (width == 0) return;
  const NormParams norm = MakeParams(x, weight, kCount > 1, eps);
  const int threads = TeamFor(x.dtype(), width, 256);
  const bool held = threads != 0 && HasChunks(x, norm.x) && IsAligned(d_out) && IsAligned(d_sum) && IsAligned(weight) &&
                    IsAligned(d_x) && IsAligned(d_residual);
  const int64_t bytes = kCount * width * SumSize(x.dtype());
  const int64_t beside = held ? TeamBlock(threads) / threads : 1;  // parts of a block
  const int64_t most = !held ? 256 : (kCount > 1 ? 384 : 512) * beside;  // about as many as an H200 runs at once
  const int64_t parts = (CountParts(norm.rows, kCount * width, most) + beside - 1) / beside * beside;
  const Partial partial(x, parts, kCount * width);
  const NormBackwardParams p = {norm, static_cast<int>(parts), bytes <= kSharedSums};
  const std::string name = Named(norm_name + std::string(held ? "_held_backward" : "_backward"), x.dtype());
  kp::launch(x.device(), held ? kNormsHeldBackward : kNormsBackward,
             (held ? name + "_" + std::to_string(threads) : name).c_str(), {BlockCount(parts / beside)},
             {held ? TeamBlock(threads) : kRowThreads}, d_out, GetMemory(d_sum), x, weight, d_x, GetMemory(d_residual),
             partial.memory(), p,
             kp::LocalMemory{static_cast<uint32_t>(held       ? HeldBackwardBytes(x.dtype()) * TeamBlock(threads)
                                                   : p.shared ? bytes
                                                              : 0)});
  for (int i = 0; i < kCount; ++i) partial.SumInto(of_weights[i], i * width);
}

void LayerNorm(kp::TensorView x, kp::TensorView weight, std::optional<kp::TensorView> bias, double eps,
               kp::MutTensorView out) {
  Norm("layer_norm", x, weight, bias, eps, out);
}
void LayerNormBackward(kp::TensorView d_out, kp::TensorView x, kp::TensorView weight, double eps, kp::MutTensorView d_x,
                       kp::MutTensorView d_weight, kp::MutTensorView d_bias) {
  Backward("layer_norm", d_out, std::nullopt, x, weight, eps, d_x, std::nullopt, {d_weight, d_bias});
}

void RmsNorm(kp::TensorView x, kp::TensorView weight, double eps, kp::MutTensorView out) {
  Norm("rms_norm", x, weight, std::nullopt, eps, out);
}
void RmsNormBackward(kp::TensorView d_out, kp::TensorView x, kp::TensorView weight, double eps, kp::MutTensorView d_x,
                     kp::MutTensorView d_weight) {
  Backward("rms_norm", d_out, std::nullopt, x, weight, eps, d_x, std::nullopt, {d_weight});
}

void AddLayerNorm(kp::TensorView x, kp::TensorView residual, kp::TensorView weight, std::optional<kp::TensorView> bias,
                  double eps, kp::MutTensorView out, kp::MutTensorView sum) {
  AddNorm("layer_norm", x, residual, weight, bias, eps, out, sum);
}
void AddLayerNormBackward(kp::TensorView d_out, kp::TensorView d_sum, kp::TensorView sum, kp::TensorView weight,
                          double eps, kp::MutTensorView d_x, kp::MutTensorView d_residual, kp::MutTensorView d_weight,
                          kp::MutTensorView d_bias) {
  Backward("layer_norm", d_out, d_sum, sum, weight, eps, d_x, d_residual, {d_weight, d_bias});
}

void AddRmsNorm(kp::TensorView x, kp::TensorView residual, kp::TensorView weight, double eps, kp::MutTensorView out,
                kp::MutTensorView sum) {
  AddNorm("rms_norm", x, residual, weight, std::nullopt, eps, out, sum);
}
void AddRmsNormBackward(kp::TensorView d_out, kp::TensorView d_sum, kp::TensorView sum, kp::TensorView weight,
                        double eps, kp::MutTensorView d_x, kp::MutTensorView d_residual, kp::MutTensorView d_weight) {
  Backward("rms_norm", d_out, d_sum, sum, weight, eps, d_x, d_residual, {d_weight});
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", layer_norm, kk_cuda::LayerNorm, KK_LAYER_NORM_CONTRACT);
KP_EXPORT_FOR("cuda", layer_norm_backward, kk_cuda::LayerNormBackward, KK_LAYER_NORM_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", rms_norm, kk_cuda::RmsNorm, KK_RMS_NORM_CONTRACT);
KP_EXPORT_FOR("cuda", rms_norm_backward, kk_cuda::RmsNormBackward, KK_RMS_NORM_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", add_layer_norm, kk_cuda::AddLayerNorm, KK_ADD_LAYER_NORM_CONTRACT);
KP_EXPORT_FOR("cuda", add_layer_norm_backward, kk_cuda::AddLayerNormBackward, KK_ADD_LAYER_NORM_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", add_rms_norm, kk_cuda::AddRmsNorm, KK_ADD_RMS_NORM_CONTRACT);
KP_EXPORT_FOR("cuda", add_rms_norm_backward, kk_cuda::AddRmsNormBackward, KK_ADD_RMS_NORM_BACKWARD_CONTRACT);
