// For Kernpack: the contract checks dtype, shape and device; launch() takes the device and the stream from the call.
#include <kernpack/cuda.h>

#include "softmax.cuh"

namespace kp = kernpack;

static void Softmax(kp::TensorView x, kp::MutTensorView out) {
  if (x.numel() == 0) return;
  const unsigned rows = static_cast<unsigned>(x.numel() / x.size(-1));
  kp::cuda::launch(x, RowSoftmax, rows, 256, 256 * sizeof(float), x.data_ptr<float>(), out.data_ptr<float>(),
                   static_cast<long long>(x.size(-1)));
}

KP_MODULE("row_softmax", "1.0.0");
KP_EXPORT(softmax, Softmax, "(x: f32[..., D]) -> (out: f32[..., D]) with on \"cuda\"");
