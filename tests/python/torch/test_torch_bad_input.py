"""Calls that cannot be made, and calls in odd places: a clear error or the right answer."""

from __future__ import annotations

import kernpack
import kernpack.torch
import numpy as np
import pytest
import torch
from kernpack._private import SETTING


def test_operators_take_tensors_only(k):
    array = np.ones(3, np.float32)
    assert k.where_add(torch.ones(3), array).tolist() == [2, 2, 2]  # the direct call: memory is memory
    assert SETTING == "0" or type(k.where_add(array, torch.ones(3))) is np.ndarray  # without hooks results are torch's
    with pytest.raises(TypeError, match=r"where_add: y: expected a torch tensor, got ndarray"):
        k.where_add(torch.ones(3, requires_grad=True), array)


def test_autocast_keeps_every_dtype(k, kernels):
    x, w = torch.randn(2, 8), torch.randn(8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mixed = torch.mm(x, x.t())
        assert mixed.dtype == torch.bfloat16
        assert kernels.gelu(mixed).dtype == torch.bfloat16
        assert kernels.rms_norm(x, w).dtype == torch.float32
        assert kernpack.torch.ops(kernels).rms_norm(x, w).dtype == torch.float32
        assert kernels.rms_norm(x.to(torch.bfloat16), w).dtype == torch.bfloat16
        with pytest.raises(TypeError, match="swiglu: up: expected dtype T = bf16"):
            kernels.swiglu(x.to(torch.bfloat16), x)


def test_two_versions_keep_apart():
    """Two contents of one name in one process: each has its operators, its gradient and its place in a graph."""
    source = """
    void f(kp::TensorView x, kp::MutTensorView out) {{
      for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = x.data_ptr<float>()[i] * {0};
    }}
    KP_GRAD(f, f_backward);
    void f_backward(kp::TensorView d_out, kp::MutTensorView d_x) {{ f(d_out, d_x); }}
    """
    functions = {"f": "(x: f32[...]) -> (out: f32[...])", "f_backward": "(d_out: f32[...]) -> (d_x: f32[...])"}
    versions = {n: kernpack.load_inline(source.format(n), functions, name="torch_versions") for n in (2, 3)}
    spaces = {kernpack.torch.ops(module).namespace for module in versions.values()}
    assert len(spaces) == 2
    for n, module in versions.items():
        x = torch.ones(3, requires_grad=True)
        torch._dynamo.reset()
        torch.compile(module.f, fullgraph=True, backend="aot_eager")(x).sum().backward()
        assert module.f(x).tolist() == [n] * 3
        assert x.grad.tolist() == [n] * 3


def test_optional_tensors_and_lists_in_transforms(k):
    x, y = torch.randn(4, 5), torch.randn(4, 5)
    torch.testing.assert_close(torch.func.vmap(lambda a: k.where_add(a, None))(x), x)
    torch.testing.assert_close(torch.func.vmap(lambda a, b: k.where_add(a, y=b))(x, y), x + y)
    torch.testing.assert_close(torch.func.vmap(lambda a, b: k.total([a, b, a]))(x, y), x + y + x)
    torch._dynamo.reset()
    run = torch.compile(lambda a, b: (k.where_add(a, y=b), k.total([a, b])), fullgraph=True, backend="aot_eager")
    for found in run(x[0], y[0]):
        torch.testing.assert_close(found, x[0] + y[0])
