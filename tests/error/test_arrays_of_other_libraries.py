"""Objects that hold numbers and aren't tensors: the error says how to make a tensor of them."""

from __future__ import annotations

import kernpack
import numpy as np
import pytest


class Series:
    """As pandas and polars have it."""

    def to_numpy(self):
        return np.ones(2, np.float32)

    def __array__(self, dtype=None, copy=None):
        return self.to_numpy()


class Holder:
    def __array__(self, dtype=None, copy=None):
        return np.ones(2, np.float32)


class Arrow:
    def __arrow_c_array__(self, requested_schema=None):
        raise NotImplementedError


class OnDevice:
    __cuda_array_interface__ = {}  # noqa: RUF012


class Frame:
    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        raise NotImplementedError


HINTS = [
    (Series, r"got Series: pass its values, x\.to_numpy\(\)$"),
    (Holder, r"got Holder: pass np\.asarray\(x\)$"),
    (Arrow, r"got Arrow: pass pyarrow\.array\(x\)\.to_numpy\(\)$"),
    (OnDevice, r"got OnDevice: pass cupy\.asarray\(x\)$"),
    (Frame, r"got Frame: pass the values of a column as an array$"),
    (object, r"got object$"),
]


@pytest.fixture(scope="module")
def k():
    return kernpack.load_inline(
        "void f(kp::TensorView x, kp::MutTensorView o) {}\n"
        "void many(kp::ListView<kp::TensorView> xs, kp::MutTensorView o) {}\n"
        "void both(kp::TensorView x, kp::TensorView y, kp::MutTensorView o) {}",
        {
            "f": "(x: f32[N]) -> (o: f32[N])",
            "many": "(xs: list[f32[N]]) -> (o: f32[1])",
            "both": "(x: f32[N], y: f32[N]) -> (o: f32[N])",
        },
        name="other_libraries",
    )


@pytest.mark.parametrize(("kind", "hint"), HINTS)
def test_says_how_to_convert(k, kind, hint):
    with pytest.raises(TypeError, match="f: x: expected a tensor, " + hint):
        k.f(kind())
    with pytest.raises(TypeError, match="many: xs: expected a list of tensors, " + hint):
        k.many([np.ones(2, np.float32), kind()])
    with pytest.raises(TypeError, match=r"f: x: expected an? .*|f: out \(o\): expected a tensor"):
        k.f(np.ones(2, np.float32), out=kind())


@pytest.mark.parametrize(("kind", "hint"), HINTS)
def test_beside_tensors_of_a_framework(k, kind, hint):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    with torch.profiler.profile(), pytest.raises(TypeError, match="both: y: expected a torch tensor, " + hint):
        k.both(torch.ones(2), kind())
    jax = pytest.importorskip("jax", reason="jax is not installed")
    with pytest.raises(TypeError, match="both: y: expected a JAX array like the other arguments, " + hint):
        k.both(jax.numpy.ones(2), kind())
