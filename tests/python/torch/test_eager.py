"""k.op(tensor): the fast path for plain tensors, and the operator for all that it must not take."""

from __future__ import annotations

import kernpack
import pytest
import torch
from recorder import Recorder
from torch._subclasses.fake_tensor import FakeTensorMode


def test_a_tensor_gives_a_tensor_with_the_values_of_the_kernel(k):
    assert k.scale(torch.ones(3)).tolist() == [2, 2, 2]


def test_dispatch_modes_see_the_operator(k):
    x = torch.ones(3)
    with Recorder() as recorder:
        assert k.scale(x, f=3.0).tolist() == [3, 3, 3]
    assert recorder.seen == ["kernpack_torch_tests.scale.default"]


def test_fake_tensors(k):
    with FakeTensorMode():
        out = k.scale(torch.empty(5, 7))
        values, indices = k.top(torch.empty(2, 9), k=4)
    assert out.shape == (5, 7)
    assert values.shape == (2, 4)
    assert indices.dtype == torch.int32
    assert k.scale(torch.empty(5, device="meta")).device.type == "meta"


def test_fake_tensors_get_the_same_errors(k):
    with FakeTensorMode():
        with pytest.raises(ValueError, match=r"top: expected 0 < k <= N, got k = 9, N = 3 \(bound by x\)"):
            k.top(torch.empty(3), k=9)
        with pytest.raises(TypeError, match=r"scale: x: expected dtype T in \{f32, f64\}, got i32"):
            k.scale(torch.empty(3, dtype=torch.int32))
        with pytest.raises(
            ValueError, match=r"where_add: y: expected shape \[N\] with N = 3 \(bound by x\), got \[4\]"
        ):
            k.where_add(torch.empty(3), torch.empty(4))


def test_negated_views_are_resolved(kernels):
    x = torch.tensor([1 + 2j, 3 - 4j]).conj().imag
    assert x.is_neg()
    torch.testing.assert_close(kernels.gelu(x), torch.nn.functional.gelu(x.resolve_neg()))


def test_conjugated_views_are_resolved():
    source = "#include <cstring>\nvoid same(kp::TensorView x, kp::MutTensorView out) { std::memcpy(out.data_ptr(), x.data_ptr(), 8); }"
    module = kernpack.load_inline(source, {"same": "(x: c64[N]) -> (out: c64[N])"}, name="torch_conjugate")
    assert module.same(torch.tensor([1 + 2j]).conj()).imag.item() == -2


def test_subclasses_reach_the_operator(k):
    class Tagged(torch.Tensor):
        pass

    x = torch.ones(3).as_subclass(Tagged)
    assert type(k.scale(x)) is Tagged


def test_function_modes_see_the_operator(k):
    seen = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Mode():
        k.scale(torch.ones(3))
    assert any("scale" in name for name in seen)


def test_out_is_written_and_takes_no_part_in_gradients(k):
    x = torch.nn.Parameter(torch.ones(3))
    out = torch.empty(3)
    with torch.no_grad(), Recorder():
        assert k.scale(x, out=out) is out
    assert out.tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="scale: out: destinations cannot take part in a gradient"):
        k.scale(x, out=out)


def test_numbers_and_dtypes_on_the_slow_path(k):
    with Recorder():
        assert k.cast(torch.ones(3), dtype="f64").dtype == torch.float64
        assert k.cast(torch.ones(3), dtype=torch.float32).dtype == torch.float32


def test_writes_are_noted(k):
    x, out = torch.zeros(3), torch.zeros(3)
    k.bump(x)
    k.scale(x, out=out)
    assert (x._version, out._version) == (1, 1)
    with torch.inference_mode():
        counted_by_nobody = torch.zeros(3)
        k.bump(counted_by_nobody)
    assert counted_by_nobody.tolist() == [1, 1, 1]


def test_autocast_changes_nothing(k):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert k.scale(torch.ones(3)).dtype == torch.float32


def test_inference_mode(k):
    with torch.inference_mode():
        assert k.scale(torch.ones(3)).is_inference()


def test_quantised_and_sparse_are_refused(k):
    """By the name of the argument and in one line, on each way that a call goes; tests/error has a row for each kind."""
    quantized = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
    for strange, kind in ((torch.ones(3).to_sparse(), "sparse"), (quantized, "quantized")):
        for grad in (False, True):
            with (
                torch.set_grad_enabled(grad),
                pytest.raises(TypeError, match=f"scale: x: expected .* got a {kind} one") as got,
            ):
                k.scale(strange)
            assert len(str(got.value)) < 200
        with torch.profiler.profile(), pytest.raises(TypeError, match=f"scale: x: expected .* got a {kind} one"):
            k.scale(strange)
