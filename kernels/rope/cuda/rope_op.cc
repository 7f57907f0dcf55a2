// rope, its gradient and its form in place on CUDA devices.
#include "rope/contract.h"
#include "common/cuda/call.h"
#include "rope.fatbin.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kRope{"rope", "fatbin", {device_code::rope_fatbin, sizeof device_code::rope_fatbin}};
constexpr uint32_t kThreads = 64;

void Rotate(bool backward, kp::TensorView x, kp::TensorView cos, kp::TensorView sin, bool interleaved,
            kp::TensorView out) {
  if (x.numel() == 0) return;
  const RopeParams p = {GetLayout("x", x),
                        GetLayout("out", out),
                        GetBroadcastLayout(x.sizes(), 2, cos),
                        ToInt("x", x.size(-2)),
                        ToInt("x", x.size(-1)),
                        ToInt("cos", cos.size(-1)),
                        interleaved,
                        backward,
                        x.numel() / x.size(-1)};
  const int64_t chunk = kChunkBytes / x.itemsize();
  if (2 * p.pairs == p.width && p.pairs % chunk == 0 && HasChunks(x, p.x) && HasChunks(out, p.out) && IsAligned(cos) &&
      IsAligned(sin)) {
    kp::launch(x.device(), kRope, Named("rope_chunks", x.dtype()).c_str(),
               {BlockCount((p.rows * (p.pairs / chunk) + 127) / 128)}, {128}, x, cos, sin, out, p);
    return;
  }
  kp::launch(x.device(), kRope, Named("rope", x.dtype()).c_str(), {BlockCount(p.rows)}, {kThreads}, x, cos, sin, out,
             p);
}

void RopeOp(kp::TensorView x, kp::TensorView cos, kp::TensorView sin, bool interleaved, kp::MutTensorView out) {
  Rotate(false, x, cos, sin, interleaved, out);
}
void RopeBackward(kp::TensorView d_out, kp::TensorView cos, kp::TensorView sin, bool interleaved,
                  kp::MutTensorView d_x) {
  Rotate(true, d_out, cos, sin, interleaved, d_x);
}
void ApplyRope(kp::MutTensorView x, kp::TensorView cos, kp::TensorView sin, bool interleaved) {
  Rotate(false, x, cos, sin, interleaved, x);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", rope, kk_cuda::RopeOp, KK_ROPE_CONTRACT);
KP_EXPORT_FOR("cuda", rope_backward, kk_cuda::RopeBackward, KK_ROPE_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", rope_jvp, kk_cuda::RopeOp, KK_ROPE_JVP_CONTRACT);
KP_EXPORT_FOR("cuda", apply_rope, kk_cuda::ApplyRope, KK_APPLY_ROPE_CONTRACT);
