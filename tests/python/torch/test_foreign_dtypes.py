"""torch has dtypes that no contract can name, some of which DLPack describes as another one. They are refused in the same words on
every way to a kernel, and never taken for bytes."""

from __future__ import annotations

import kernpack
import pytest
import torch

FOREIGN = [
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in range(1, 8)),
    *("bits1x8", "bits2x4", "bits4x2", "bits8", "bits16", "float4_e2m1fn_x2"),
    *(name for name in ("bcomplex32",) if hasattr(torch, name)),  # as of 2.14
]
COPY = "for (int64_t i = 0; i < x.nbytes(); ++i) ((uint8_t*)o.data_ptr())[i] = ((const uint8_t*)x.data_ptr())[i];"


@pytest.fixture(scope="module")
def k():
    return kernpack.load_inline(
        "void same(kp::TensorView x, kp::MutTensorView o) {" + COPY + "}\n"
        "void four(kp::TensorView x, kp::MutTensorView o) {}\n"
        "void into(kp::MutTensorView x) {}\n"
        "void all(kp::ListView<kp::TensorView> xs, kp::MutTensorView o) {}",
        {
            "same": "(x: T[N]) -> (o: T[N]) where T in any",
            "into": "(x!: T[N]) -> () where T in any",
            "all": "(xs: list[T[N]]) -> (o: f32[1]) where T in any",
            "four": "(x: u4[N]) -> (o: f32[N])",
        },
        name="foreign_dtypes",
    )


def make_tensor(name):
    dtype = getattr(torch, name)
    return torch.zeros(2 * dtype.itemsize, dtype=torch.uint8).view(dtype)


def refused(dtype, function, name="x"):
    return rf"^{function}: {name}: expected a dtype that contracts can name, got {dtype}: pass its bytes"


@pytest.mark.parametrize("name", FOREIGN)
def test_refused_alike(k, name):
    x = make_tensor(name)
    with pytest.raises(TypeError, match=refused(x.dtype, "same")):
        k.same(x)
    with pytest.raises(TypeError, match=refused(x.dtype, "into")):
        k.into(x)
    with pytest.raises(TypeError, match=refused(x.dtype, "four")):
        k.four(x)
    with pytest.raises(TypeError, match=refused(x.dtype, "all", "xs")):
        k.all([x])
    with torch.profiler.profile(), pytest.raises(TypeError, match=refused(x.dtype, "same")):
        k.same(x)
    with pytest.raises(TypeError, match=refused(x.dtype, "same")):
        k.same(x.to("meta"))
    with pytest.raises(TypeError, match=r"u4|contracts can name"):
        k.same(torch.zeros(2, dtype=torch.uint8), out=x)


def test_refused_when_compiled(k):
    with pytest.raises(Exception, match=r"expected a dtype that contracts can name, got torch.uint4"):
        torch.compile(lambda x: k.same(x), backend="aot_eager", fullgraph=True)(make_tensor("uint4"))


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
@pytest.mark.parametrize("name", ["qint8", "quint8", "qint32"])
def test_quantised_tensors_have_a_kind_of_their_own(k, name):
    x = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, getattr(torch, name))
    with pytest.raises(
        TypeError, match=rf"same: x: expected an ordinary dense tensor, got a quantized one \(torch.{name}\)"
    ):
        k.same(x)


def test_bytes_of_one_are_taken(k):
    assert k.same(make_tensor("uint4").view(torch.uint8)).dtype == torch.uint8
    assert k.same(torch.ones(2, dtype=torch.int8)).tolist() == [1, 1]


def test_every_dtype_of_torch_is_known_or_foreign(k):
    """A dtype of a later torch is added to one of both."""
    found = {value for value in vars(torch).values() if isinstance(value, torch.dtype)}
    known = {dtype for dtype in found if dtype not in {getattr(torch, name) for name in FOREIGN}}
    for dtype in (dtype for dtype in known if not str(dtype).startswith("torch.q")):
        assert k.same(torch.zeros(2, dtype=torch.uint8).repeat(8).view(dtype)).dtype == dtype
