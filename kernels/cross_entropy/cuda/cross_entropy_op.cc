// cross_entropy and its gradient on CUDA devices.
#include "cross_entropy/contract.h"
#include "common/cuda/call.h"
#include "cross_entropy.fatbin.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kCode{
    "cross_entropy", "fatbin", {device_code::cross_entropy_fatbin, sizeof device_code::cross_entropy_fatbin}};
constexpr uint32_t kThreads = 128;

CrossEntropyParams MakeParams(kp::TensorView logits, kp::TensorView targets, int64_t ignore_index,
                              double label_smoothing, double z_loss) {
  kk::CheckCrossEntropyOptions(label_smoothing, z_loss);
  const RowLayout rows = GetLayout("logits", logits);
  return {rows,
          ignore_index,
          ToInt("logits", logits.size(-1)),
          targets.itemsize() == 8,
          static_cast<float>(label_smoothing),
          static_cast<float>(z_loss),
          HasChunks(logits, rows)};
}

void CrossEntropy(kp::TensorView logits, kp::TensorView targets, int64_t ignore_index, double label_smoothing,
                  double z_loss, kp::MutTensorView loss, kp::MutTensorView lse) {
  const CrossEntropyParams p = MakeParams(logits, targets, ignore_index, label_smoothing, z_loss);
  kp::launch(logits.device(), kCode, Named("cross_entropy", logits.dtype()).c_str(), {BlockCount(targets.numel())},
             {kThreads}, logits, targets, loss, lse, p);
}

void CrossEntropyBackward(kp::TensorView d_loss, kp::TensorView logits, kp::TensorView targets, kp::TensorView lse,
                          int64_t ignore_index, double label_smoothing, double z_loss, kp::MutTensorView d_logits) {
  CrossEntropyParams p = MakeParams(logits, targets, ignore_index, label_smoothing, z_loss);
  p.chunks = p.chunks && IsAligned(d_logits);
  kp::launch(logits.device(), kCode, Named("cross_entropy_backward", logits.dtype()).c_str(),
             {BlockCount(targets.numel())}, {kThreads}, d_loss, logits, targets, lse, d_logits, p);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", cross_entropy, kk_cuda::CrossEntropy, KK_CROSS_ENTROPY_CONTRACT);
KP_EXPORT_FOR("cuda", cross_entropy_backward, kk_cuda::CrossEntropyBackward, KK_CROSS_ENTROPY_BACKWARD_CONTRACT);
