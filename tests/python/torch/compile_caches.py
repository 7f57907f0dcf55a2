"""The program of test_compile_caches.py: compiles a function around a kernel whose result has the dtype of the arguments."""

from __future__ import annotations

import sys

import kernpack
import kernpack.torch
import torch

dtype, c = sys.argv[1:]
source = f"""void f(kp::TensorView x, kp::MutTensorView out) {{
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<{c}>()[i] = 2 * x.data_ptr<float>()[i];
}}"""
k = kernpack.load_inline(source, {"f": f"(x: f32[N]) -> (out: {dtype}[N])"}, name="compile_caches")
print(torch.compile(lambda x: k.f(x) + 1, fullgraph=True)(torch.arange(4.0)).tolist())
