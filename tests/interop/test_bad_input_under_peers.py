"""Wrong arguments to the kernel wheel's shared object through the peers' own loaders: each is our error, and nothing crashes.

Through apache-tvm-ffi arguments come as its Python makes them, and as raw values through its C call, where they may be as wrong
as no framework would make them. Through jax-tvm-ffi they come from a compiled program.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import tvm_ffi
from support import host
from support.dlpack import DLTensor
from tvm_ffi import libinfo

spec = importlib.util.find_spec("kernpack_kernels")
if spec is None or not spec.submodule_search_locations:
    pytest.skip("the kernel wheel is not installed: run `make wheels` and install dist/*.whl", allow_module_level=True)
WHEEL = next(Path(spec.submodule_search_locations[0]).glob("*.so"))


@pytest.fixture(scope="module")
def k() -> tvm_ffi.Module:
    return tvm_ffi.load_module(str(WHEEL))


@pytest.fixture(autouse=True)
def still_right(k: tvm_ffi.Module) -> Any:
    """Whatever went wrong, the next right call is right."""
    yield
    out = k.rms_norm(torch.full((2, 4), 2.0), torch.ones(4), 0.0)
    assert out.tolist() == [[1.0] * 4] * 2


X, W = torch.zeros(2, 4), torch.ones(4)
OUT = torch.zeros(2, 4)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda k: k.rms_norm(), TypeError, r"rms_norm: expected at least 1 arguments \(x has no default\), got 0"),
        (lambda k: k.rms_norm(X), TypeError, "rms_norm: expected at least 2 arguments"),
        (
            lambda k: k.rms_norm(X, W, 1e-6, OUT, OUT),
            TypeError,
            r"rms_norm: expected at most 3 arguments \(x, weight, eps; or with its results: out\), got 5",
        ),
        (lambda k: k.swiglu(X.double(), X), TypeError, "swiglu: up: expected dtype"),
        (lambda k: k.rms_norm(X.int(), W), TypeError, "rms_norm: x: expected dtype"),
        (lambda k: k.rms_norm(X, torch.ones(5)), ValueError, "rms_norm: weight: expected shape .*got"),
        (lambda k: k.rms_norm(X, torch.ones(1, 4)), ValueError, "rms_norm: weight: expected"),
        (lambda k: k.rms_norm(torch.tensor(1.0), W), ValueError, "rms_norm: x: expected"),
        (lambda k: k.gelu(X.t()), ValueError, "gelu: x: expected .*contiguous"),
        (lambda k: k.gelu(torch.zeros(2, 8)[:, ::2]), ValueError, "gelu: x: expected .*contiguous"),
        (lambda k: k.rms_norm(X, W, "small"), TypeError, "rms_norm: eps: expected float, got str"),
        (lambda k: k.rms_norm(X, W, None), TypeError, "rms_norm: eps: expected float, got None"),
        (lambda k: k.rms_norm(X, W, W), TypeError, "rms_norm: eps: expected float, got Tensor"),
        (lambda k: k.rms_norm(None, W), TypeError, r"rms_norm: x: expected a tensor of shape \[..., D\], got None"),
        (lambda k: k.rms_norm(3, W), TypeError, r"rms_norm: x: expected a tensor of shape \[..., D\], got int"),
        (lambda k: k.rms_norm("x", W), TypeError, r"rms_norm: x: expected a tensor of shape \[..., D\], got str"),
        (lambda k: k.rms_norm([X], W), TypeError, r"rms_norm: x: expected a tensor of shape \[..., D\], got list"),
        (lambda k: k.rms_norm(X, W, 1e-6, torch.zeros(2, 5)), ValueError, "rms_norm: out: expected shape"),
        (lambda k: k.rms_norm(X, W, 1e-6, OUT.double()), TypeError, "rms_norm: out: expected dtype"),
        (lambda k: k.rms_norm(X, W, 1e-6, X), ValueError, "rms_norm: out: .*overlap"),
        (lambda k: k.rms_norm(X, W, 1e-6, torch.zeros(4, 2).t()), ValueError, "rms_norm: out: expected .*contiguous"),
        (lambda k: k.gelu(X, "exact"), ValueError, r'gelu: approximate: expected .*"tanh"'),
        (lambda k: k.gelu(X, 1), TypeError, "gelu: approximate: expected str, got int"),
        (lambda k: k.embedding(X, torch.zeros(3)), TypeError, "embedding: indices: expected dtype"),
        (lambda k: k.embedding(X, torch.tensor([0, 7])), (IndexError, ValueError), "embedding: "),
        (lambda k: k.embedding(X, torch.tensor([-1])), (IndexError, ValueError), "embedding: "),
        (lambda k: k.softmax(X, torch.zeros(2, 4, dtype=torch.int64)), TypeError, "softmax: mask: expected dtype"),
        (lambda k: k.softmax(X, torch.zeros(3, 4)), ValueError, "softmax: mask: expected"),
        (lambda k: k.no_such_kernel, AttributeError, "no_such_kernel"),
    ],
)
def test_wrong_calls(call: Callable[[Any], Any], kind: Any, text: str, k: tvm_ffi.Module) -> None:
    with pytest.raises(kind, match=text):
        call(k)


def extents(*items: int) -> Any:
    return (ctypes.c_int64 * len(items))(*items)


def tensor(values: np.ndarray, **wrong: Any) -> DLTensor:
    """`values` as a DLTensor with some fields set to something else."""
    view = DLTensor(values.ctypes.data, 1, 0, values.ndim, 2, 32, 1, extents(*values.shape), None, 0)
    for field, value in wrong.items():
        setattr(view, field, value)
    return view


def call_raw(k: tvm_ffi.Module, name: str, *tensors: DLTensor) -> int:
    """TVMFFIFunctionCall with DLTensor pointers as they are; its return code."""
    lib = ctypes.CDLL(str(libinfo.find_libtvm_ffi()))
    lib.TVMFFIFunctionCall.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)
    function = k.get_function(name)
    arguments = (host.Any * len(tensors))(*[host.Any(7, 0, ctypes.addressof(t)) for t in tensors])
    result = host.Any()
    rc = lib.TVMFFIFunctionCall(function.__chandle__(), arguments, len(tensors), ctypes.byref(result))
    host.release(result)
    return rc


def take_peer_error() -> str:
    lib = ctypes.CDLL(str(libinfo.find_libtvm_ffi()))
    error = ctypes.c_void_p()
    lib.TVMFFIErrorMoveFromRaised(ctypes.byref(error))
    assert error.value, "a failure without an error"
    body = host.ErrorObject.from_address(error.value)
    text = f"{body.kind.data.decode()}: {body.message.data.decode(errors='replace')}"
    host.release(host.Any(67, 0, error.value))
    return text


@pytest.mark.parametrize(
    "wrong",
    [
        {"ndim": -1},
        {"ndim": 1 << 30},
        {"ndim": 65},
        {"shape": None},
        {"shape": extents(2, -4)},
        {"shape": extents(-2, -4)},
        {"shape": extents(1 << 62, 4)},
        {"shape": extents(1 << 40, 1 << 40)},
        {"strides": extents(-4, 1)},
        {"strides": extents(4, -1)},
        {"strides": extents(1 << 62, 1 << 62)},
        {"strides": extents(0, 0)},
        {"bits": 0},
        {"lanes": 0},
        {"lanes": 4},
        {"code": 99},
        {"code": 1},
        {"device_type": 99},
        {"device_type": 0},
        {"device_type": 2},
        {"data": None},
        {"byte_offset": (1 << 64) - 8},
        {"byte_offset": 2},
    ],
    ids=lambda wrong: ",".join(f"{key}={list(v) if isinstance(v, ctypes.Array) else v}" for key, v in wrong.items()),
)
def test_malformed_tensors(wrong: dict[str, Any], k: tvm_ffi.Module) -> None:
    x, weight = np.ones((2, 4), np.float32), np.ones(4, np.float32)
    name, more = ("gelu", ()) if "strides" in wrong else ("rms_norm", (tensor(weight),))  # rms_norm takes any strides
    assert call_raw(k, name, tensor(x, **wrong), *more) != 0
    assert take_peer_error().startswith((f"TypeError: {name}: ", f"ValueError: {name}: ", f"RuntimeError: {name}: "))


def test_rank_0_and_no_elements_are_right(k: tvm_ffi.Module) -> None:
    assert k.gelu(torch.zeros(0, 4)).shape == (0, 4)
    nothing = np.ones((0, 4), np.float32)
    assert call_raw(k, "gelu", tensor(nothing, data=None)) == 0


jax = pytest.importorskip("jax", reason="jax is not installed")
jax_tvm_ffi = pytest.importorskip("jax_tvm_ffi", reason="jax-tvm-ffi is not installed")
os.environ.setdefault("JAX_PLATFORMS", "cpu")


@pytest.fixture(scope="module")
def rms_norm(k: tvm_ffi.Module) -> Callable[..., Any]:
    """rms_norm in a jitted program, its result of any shape and dtype."""
    jax_tvm_ffi.register_ffi_target(
        "interop.rms_norm", k.rms_norm, ["args", "attrs.eps", "rets"], platform="cpu", allow_cuda_graph=False
    )

    def call(*args: Any, shape: tuple[int, ...] = (2, 4), dtype: Any = np.float32, eps: Any = 1e-6) -> Any:
        target = jax.ffi.ffi_call("interop.rms_norm", jax.ShapeDtypeStruct(shape, dtype))
        return jax.block_until_ready(
            jax.jit(lambda *args: target(*args, eps=np.float64(eps) if isinstance(eps, float) else eps))(*args)
        )

    return call


JX, JW = np.zeros((2, 4), np.float32), np.ones(4, np.float32)


@pytest.mark.parametrize(
    ("args", "options", "text"),
    [
        ((JX.astype(np.int32), JW), {}, "rms_norm: x: expected dtype"),
        ((JX, JW.astype(np.int32)), {}, "rms_norm: weight: expected dtype"),
        ((JX, np.ones(5, np.float32)), {}, "rms_norm: weight: expected shape"),
        ((JX, np.ones((1, 4), np.float32)), {}, "rms_norm: weight: expected"),
        ((np.float32(1), JW), {}, "rms_norm: x: expected"),
        ((JX, JW), {"shape": (2, 5)}, "rms_norm: out: expected shape"),
        ((JX, JW), {"shape": (8,)}, "rms_norm: out: expected"),
        ((JX, JW), {"dtype": np.int32}, "rms_norm: out: expected dtype"),
        ((JX, JW), {"eps": "small"}, "rms_norm: eps: expected float"),
        ((JX,), {}, "rms_norm: "),
        ((JX, JW, JW), {}, "rms_norm: "),
    ],
)
def test_wrong_calls_in_a_program(args: Any, options: dict[str, Any], text: str, rms_norm: Callable[..., Any]) -> None:
    with pytest.raises(jax.errors.JaxRuntimeError, match=text):
        rms_norm(*args, **options)
    np.testing.assert_allclose(rms_norm(JX + 2, JW), np.ones((2, 4)), rtol=1e-5)
