"""Tensors that are sound in their framework and that a kernel cannot take as they are: section 11 of the design, row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from callers import CALLERS, Arrays
from capsules import Offer
from kernpack._private import SETTING
from support.optional import optional
from support.refusal import refused
from torch._subclasses.fake_tensor import FakeTensorMode

jax, jnp = optional("jax"), optional("jax.numpy")
DIRECTLY = "cannot be given to a kernel directly"
CONTIGUOUS = "pass a contiguous one (torch: x.contiguous(), NumPy: np.ascontiguousarray(x))"
NO_PLAIN = (
    "it isn't an ordinary dense tensor (it is meta, sparse, quantised or nested, or inside vmap or torch.func.grad)"
)
DENSE = "expected an ordinary dense tensor"
SPARSE = f"{DENSE}, got a sparse one (torch.sparse_coo): pass x.to_dense()"
NATIVE = "expected an array of bools, ints, floats or complex numbers in native byte order (convert it with .astype())"
WRITEABLE = "expected a writeable array (it may be written to; pass a copy)"
OVERLAP = "expected memory of its own to write to, got a tensor that overlaps"

A = np.zeros((4, 8), np.float32)
W = np.zeros(8, np.float32)
FROZEN = np.zeros((4, 8), np.float32)
FROZEN.flags.writeable = False
MISALIGNED = np.zeros(33, np.uint8)[1:].view(np.float32)
BUFFER = np.zeros(64, np.float32)
X = torch.zeros(4, 8)
V = torch.zeros(8)
C = torch.zeros(3, dtype=torch.complex64)


class Subclass(torch.Tensor):
    pass


def _in_fake_mode(k) -> Any:
    with FakeTensorMode():
        return k.rows(torch.zeros(4, 8), torch.zeros(8))


def _without_storage(k) -> Any:
    x = torch.zeros(4, 8)
    x.untyped_storage().resize_(0)
    return k.rows(x, V)


NUMPY: dict[str, tuple[Callable[[Any], Any], type[BaseException], str]] = {
    "reversed": (
        lambda k: k.rows(A[:, ::-1], W),
        ValueError,
        f"rows: a: expected a contiguous tensor, got shape [4, 8] with strides [8, -1]: {CONTIGUOUS}",
    ),
    "transposed": (
        lambda k: k.rows(np.zeros((8, 4), np.float32).T, W),
        ValueError,
        f"rows: a: expected a contiguous tensor, got shape [4, 8] with strides [1, 4]: {CONTIGUOUS}",
    ),
    "broadcast": (
        lambda k: k.rows(np.broadcast_to(W, (4, 8)), W),
        ValueError,
        f"rows: a: expected a contiguous tensor, got shape [4, 8] with strides [0, 1]: {CONTIGUOUS}",
    ),
    "mutated_with_overlapping_elements": (
        lambda k: k.bump(np.lib.stride_tricks.as_strided(np.zeros(8, np.float32), (8,), (0,))),
        ValueError,
        f"bump: x: expected a contiguous tensor, got shape [8] with strides [0]: {CONTIGUOUS}",
    ),
    "masked": (
        lambda k: k.rows(np.ma.masked_array(A, A == 0), W),
        ValueError,
        "rows: a: expected an array without a mask (pass x.filled(value) or x.data), got float32[4, 8]",
    ),
    "read_only_out": (
        lambda k: k.rows(A, W, out=FROZEN),
        ValueError,
        f"rows: out: {WRITEABLE}, got float32[4, 8] (read-only)",
    ),
    "read_only_mutated": (
        lambda k: k.bump(FROZEN[0]),
        ValueError,
        f"bump: x: {WRITEABLE}, got float32[8] (read-only)",
    ),
    "read_only_without_a_signature": (
        lambda k: k.touch(FROZEN),
        ValueError,
        f"touch: argument 0: {WRITEABLE}, got float32[4, 8] (read-only)",
    ),
    "out_is_an_argument": (lambda k: k.rows(A, W, out=A), ValueError, f"rows: out: {OVERLAP} a: pass a copy"),
    "out_shares_some_memory": (
        lambda k: k.rows(BUFFER[:32].reshape(4, 8), W, out=BUFFER[16:48].reshape(4, 8)),
        ValueError,
        f"rows: out: {OVERLAP} a: pass a copy",
    ),
    "outs_share_memory": (
        lambda k: k.two(W, out=(BUFFER[:8], BUFFER[4:12])),
        ValueError,
        f"two: out[0] (low): {OVERLAP} high: pass a copy",
    ),
    "out_of_another_shape": (
        lambda k: k.rows(A, W, out=np.zeros((4, 7), np.float32)),
        ValueError,
        "rows: out: expected shape [N, D] = [4, 8], got [4, 7]",
    ),
    "out_by_the_name_that_the_caller_wrote": (
        lambda k: k.grouped(A, A[:2], out=np.zeros(5, np.float32)),
        ValueError,
        "grouped: out (probs): expected shape [H] = [4], got [5]",
    ),
    "outs_by_their_place": (
        lambda k: k.two(W, out=(np.zeros(8, np.float32), np.zeros(7, np.float32))),
        ValueError,
        "two: out[1] (high): expected shape [N] = [8], got [7]",
    ),
    "out_of_another_dtype": (
        lambda k: k.rows(A, W, out=np.zeros((4, 8))),
        TypeError,
        "rows: out: expected dtype f32, got f64",
    ),
    "out_is_strided": (
        lambda k: k.rows(A, W, out=np.zeros((8, 4), np.float32).T),
        ValueError,
        f"rows: out: expected a contiguous tensor, got shape [4, 8] with strides [1, 4]: {CONTIGUOUS}",
    ),
    "too_many_outs": (
        lambda k: k.rows(A, W, out=(BUFFER, BUFFER)),
        TypeError,
        "rows: out: expected a tuple of 1 tensor, got 2",
    ),
    "too_few_outs": (
        lambda k: k.two(W, out=BUFFER[:8]),
        TypeError,
        "two: out: expected a tuple of 2 tensors, got ndarray",
    ),
    "out_is_a_number": (
        lambda k: k.rows(A, W, out=3),
        TypeError,
        "rows: out: expected a tensor of shape [N, D], got int",
    ),
    "byte_swapped": (
        lambda k: k.rows(A.astype(">f4"), W),
        TypeError,
        f"rows: a: {NATIVE}, got float32[4, 8] (byte-swapped)",
    ),
    "objects": (lambda k: k.rows(A.astype(object), W), TypeError, f"rows: a: {NATIVE}, got object[4, 8]"),
    "long_double": (lambda k: k.rows(A.astype(np.longdouble), W), TypeError, f"rows: a: {NATIVE}, got float128[4, 8]"),
    "dates": (
        lambda k: k.rows(np.zeros((4, 8), "M8[D]"), W),
        TypeError,
        f"rows: a: {NATIVE}, got datetime64[D][4, 8]",
    ),
    "structures": (
        lambda k: k.rows(np.zeros((4, 8), [("a", "f4")]), W),
        TypeError,
        f"rows: a: {NATIVE}, got void32[4, 8]",
    ),
    "misaligned": (
        lambda k: k.bump(MISALIGNED),
        ValueError,
        "bump: x: expected an aligned array (pass np.require(x, requirements='A')), got float32[8] (misaligned)",
    ),
}
TORCH: dict[str, tuple[Callable[[Any], Any], type[BaseException], str]] = {
    "transposed": (
        lambda k: k.rows(torch.zeros(8, 4).T, V),
        ValueError,
        f"rows: a: expected a contiguous tensor, got shape [4, 8] with strides [1, 4]: {CONTIGUOUS}",
    ),
    "conjugated": (
        lambda k: k.touch(C.conj()),
        TypeError,
        f"touch: argument 0: {DIRECTLY}: it is lazily conjugated; pass x.resolve_conj()",
    ),
    "negated": (
        lambda k: k.touch(C.conj().imag),
        TypeError,
        f"touch: argument 0: {DIRECTLY}: it is lazily negated; pass x.resolve_neg()",
    ),
    "out_is_an_argument": (lambda k: k.rows(X, V, out=X), ValueError, f"rows: out: {OVERLAP} a: pass a copy"),
    "out_by_the_name_that_the_caller_wrote": (
        lambda k: k.grouped(X, X[:2], out=torch.zeros(5)),
        ValueError,
        "grouped: out (probs): expected shape [H] = [4], got [5]",
    ),
    "sparse_without_a_signature": (lambda k: k.touch(X.to_sparse()), TypeError, f"touch: argument 0: {SPARSE}"),
    "sparse": (lambda k: k.rows(X.to_sparse(), V), TypeError, f"rows: a: {SPARSE}"),
    "sparse_second": (lambda k: k.rows(X, w=V.to_sparse()), TypeError, f"rows: w: {SPARSE}"),
    "sparse_out": (lambda k: k.rows(X, V, out=X.to_sparse()), TypeError, f"rows: out: {SPARSE}"),
    "sparse_in_a_list": (lambda k: k.many([V, V.to_sparse()]), TypeError, f"many: xs[1]: {SPARSE}"),
    "sparse_under_autograd": (
        lambda k: k.rows(X.to_sparse(), V.clone().requires_grad_()),
        TypeError,
        f"rows: a: {SPARSE}",
    ),
    "sparse_csr": (
        lambda k: k.rows(X.to_sparse_csr(), V),
        TypeError,
        f"rows: a: {DENSE}, got a sparse one (torch.sparse_csr): pass x.to_dense()",
    ),
    "mkldnn": (
        lambda k: k.rows(X.to_mkldnn(), V),
        TypeError,
        f"rows: a: {DENSE}, got one of another layout (torch._mkldnn): pass x.to_dense()",
    ),
    "quantized": (
        lambda k: k.rows(torch.quantize_per_tensor(X, 0.1, 0, torch.qint8), V),
        TypeError,
        f"rows: a: {DENSE}, got a quantized one (torch.qint8): pass x.dequantize(), or its integers as x.int_repr()",
    ),
    "nested": (
        lambda k: k.rows(torch.nested.nested_tensor([V, V[1:]]), V),
        TypeError,
        f"rows: a: {DENSE}, got a nested one (torch.strided): pass torch.nested.to_padded_tensor(x, 0.0)",
    ),
    "jagged": (
        lambda k: k.rows(torch.nested.nested_tensor([V, V[1:]], layout=torch.jagged), V),
        TypeError,
        f"rows: a: {DENSE}, got a nested one (torch.jagged): pass torch.nested.to_padded_tensor(x, 0.0)",
    ),
    "without_a_signature_on_meta": (
        lambda k: k.touch(X.to("meta")),
        TypeError,
        f"touch: argument 0: {DIRECTLY}: {NO_PLAIN}",
    ),
}
# Without its autograd and fake implementations a function refuses these; kernpack.torch takes some of them over.
TORCH_WITHOUT_OPS: dict[str, tuple[Callable[[Any], Any], type[BaseException], str]] = {
    "requires_grad": (
        lambda k: k.touch(X.clone().requires_grad_()),
        TypeError,
        f"touch: argument 0: {DIRECTLY}: it requires a gradient while grad mode is on; pass x.detach() or use "
        "torch.no_grad()",
    ),
    "subclass": (
        lambda k: k.touch(X.as_subclass(Subclass)),
        TypeError,
        f"touch: argument 0: {DIRECTLY}: it is a subclass of torch.Tensor, which may be fake or wrap another; pass "
        "x.as_subclass(torch.Tensor) if its memory is ordinary, or give the function a signature, so that torch can trace it",
    ),
}
JAX: dict[str, tuple[Callable[[Any], Any], type[BaseException], str]] = {
    "mutated_outside_jit": (
        lambda k: k.bump(jnp.zeros(8)),
        TypeError,
        "bump: x: is written in place, and JAX arrays are immutable; call it inside jax.jit, where it returns the new value",
    ),
    "without_a_signature": (
        lambda k: k.touch(jnp.zeros(8)),
        ValueError,
        "touch: argument 0: expected a writeable tensor (a function without a signature may write to it; pass a NumPy copy), "
        "got a JAX array, which is immutable",
    ),
    "without_a_signature_inside_jit": (
        lambda k: jax.jit(k.touch)(jnp.zeros(8)),
        TypeError,
        "touch: has no signature, so JAX cannot know its results; give KP_EXPORT one in the kernel's source",
    ),
    "out": (
        lambda k: k.rows(jnp.zeros((4, 8)), jnp.zeros(8), out=jnp.zeros((4, 8))),
        TypeError,
        "rows: out: these arrays are immutable; use what the call returns",
    ),
    "wrong_shape_inside_jit": (
        lambda k: jax.jit(k.rows)(jnp.zeros((4, 8)), jnp.zeros(5)),
        ValueError,
        "rows: w: expected shape [D] with D = 8 (bound by a), got [5]\n"
        "    a: f32[N, D] = [4, 8]\n"
        "    w: f32[D]    = [5]\n"
        "                    ^ D is 8 in a",
    ),
    "tracer_for_an_int": (
        lambda k: jax.jit(lambda x, n: k.rows(x, x[0], n=n))(jnp.zeros((4, 8)), 3),
        TypeError,
        "rows: n: expected int, got a value that JAX is tracing; it decides how the program is compiled, so pass a Python "
        "value (jax.jit: static_argnames)",
    ),
}


@pytest.mark.parametrize("row", NUMPY)
def test_numpy_arrays_that_do_not_fit_are_refused(k, row: str) -> None:
    refused(lambda: NUMPY[row][0](k), *NUMPY[row][1:], watch=[A, W, FROZEN, BUFFER])


@pytest.mark.filterwarnings(
    "ignore:torch.quantize_per_tensor", "ignore:The PyTorch API of nested tensors", "ignore:Sparse"
)
@pytest.mark.parametrize("row", TORCH | TORCH_WITHOUT_OPS)
def test_torch_tensors_that_do_not_fit_are_refused(k, row: str) -> None:
    call, kind, message = (TORCH | TORCH_WITHOUT_OPS)[row]
    refused(lambda: call(k), kind, message, watch=[X, V, C])


@pytest.mark.parametrize("row", JAX)
def test_jax_arrays_that_do_not_fit_are_refused(k, row: str) -> None:
    call, kind, message = JAX[row]
    refused(lambda: call(k), kind, message)


def _on_meta(k) -> Any:
    return k.rows(X.to("meta"), V.to("meta"))


ANSWERED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "meta": (_on_meta, ""),
    "fake": (_in_fake_mode, ""),
    "storage_taken_away": (_without_storage, "rows: a: expected a tensor with memory, got one whose data is NULL"),
    "requires_grad": (lambda k: k.rows(X, V.clone().requires_grad_()), "rows: an argument requires a gradient, but"),
}


@pytest.mark.parametrize("row", ANSWERED)
def test_torch_tensors_never_reach_the_kernel_without_memory(k, row: str) -> None:
    """The op's own implementations answer, with a tensor as empty as the arguments or with an error."""
    call, words = ANSWERED[row]
    try:
        result = call(k)
    except (TypeError, ValueError, RuntimeError) as error:
        told = str(error)
    else:
        told = ""
        assert result.is_meta or type(result).__name__ == "FakeTensor"
    assert words in told
    assert bool(words) == bool(told)


GPU = Offer(shape=(8,), device_type=2)
GPU_1 = Offer(shape=(8,), device_type=2, device_id=1)
NO_VARIANT = (
    "{}: no variant runs on cuda:0 (the baseline is for cpu); move the tensors, or install a build for that device"
)


@pytest.mark.parametrize("caller", ["numpy", "torch", "kernpack"])
def test_tensors_on_different_devices(k, caller: str) -> None:
    if caller == "torch" and SETTING == "0":
        pytest.skip(
            "without hooks into torch its operator refuses what isn't a torch tensor before devices are compared"
        )
    new = Arrays(caller)
    a = new(4, 8)
    refused(
        lambda: k.rows(a, GPU),
        ValueError,
        "rows: w: expected device cpu (that of a), got cuda:0: move one of them",
        watch=[a],
    )
    assert GPU.alive == 0


def test_tensors_on_two_devices_of_a_kind(k) -> None:
    refused(
        lambda: k.many([GPU, GPU_1]),
        ValueError,
        "many: xs[1]: expected device cuda:0 (that of xs), got cuda:1: move one of them",
    )
    assert GPU.alive == GPU_1.alive == 0


def test_a_device_that_no_implementation_is_for(k) -> None:
    refused(
        lambda: k.bump(GPU),
        RuntimeError,
        NO_VARIANT.format("bump"),
    )
    assert GPU.alive == 0


def test_that_no_implementation_runs_is_said_before_results_are_shaped(k) -> None:
    refused(lambda: k.divide(0, GPU), RuntimeError, NO_VARIANT.format("divide"))
    assert GPU.alive == 0


def test_a_tensor_that_must_be_on_the_cpu(k) -> None:
    refused(
        lambda: k.on_cpu(W, Offer(shape=(8,), device_type=2, code=0, bits=64)),
        ValueError,
        "on_cpu: lengths: expected device cpu, got cuda:0: call .cpu() first",
    )


@pytest.mark.parametrize("caller", CALLERS)
def test_read_only_inputs_are_fine(k, caller: str) -> None:
    a = FROZEN if caller == "numpy" else Arrays(caller)(4, 8)
    assert tuple(k.fill_ones(a).shape) == (4, 8)
