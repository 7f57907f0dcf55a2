"""Compile a kernel from a string and call it from NumPy and PyTorch."""

import kernpack
import numpy as np
import torch

SOURCE = r"""
void clamp(kp::TensorView x, double low, double high, kp::MutTensorView out) {
  const kp::Span<const float> in(x);
  const kp::Span<float> to(out);
  for (int64_t i = 0; i < in.size(); ++i) to[i] = in[i] < low ? low : in[i] > high ? high : in[i];
}
"""

k = kernpack.load_inline(
    SOURCE, {"clamp": "(x: f32[*S], *, low: float = 0.0, high: float = 1.0) -> (out: f32[*S])"}, name="inline_example"
)
print(k.clamp(np.array([-1, 0.5, 2], dtype=np.float32)))
print(k.clamp(torch.tensor([-1.0, 0.5, 2.0]), high=1.5))
