"""Facts that torch reports, for comparison with the hooks in C before these are used; and one rare question of the guards."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

_PLAIN_KEYS = ("CPU", "CUDA", "ADInplaceOrView", "AutogradCPU", "AutogradCUDA", "AutocastCPU", "AutocastCUDA")
# Names of parts of those keys, and of ranges that begin with one.
_PARTS = ("Dense", "StartOfDenseBackends", "AutogradFunctionality", "StartOfAutogradFunctionalityBackends")

# (tensor, address of its C++ half, its dispatch keys, whether autograd keeps a record of it, whether that record has a tangent, whether
# the tensor is plain: dense, in memory of its own, and wrapped by nothing; -1: not said)
Sample = tuple[Any, int, int, int, int, int]


def torch_is_importing() -> bool:
    """True while torch or a module of it is being imported. A package of the entry points `torch.backends` may call kernels then."""
    return any(
        getattr(getattr(module, "__spec__", None), "_initializing", False)
        for name, module in list(sys.modules.items())
        if name == "torch" or name.startswith("torch.")
    )


def torch_samples() -> tuple[list[Sample], int, int, int]:
    """(samples, the keys of plain tensors, the key of tensors with a version counter, bytes of the Python object). Raises where this torch
    doesn't tell. Called where no mode, transform or trace is active, and grad mode is on: in a fresh thread, unless torch is being
    imported."""
    torch = sys.modules["torch"]
    binding = torch._C
    plain = _plain_keys(binding)
    rows = [_row(binding, tensor, gradient, 0, 1) for tensor, gradient in _plain_tensors(torch)]
    rows += [_row(binding, tensor, 1, 1, 1) for tensor in _dual_tensors(torch)]
    rows += [_row(binding, tensor, -1, -1, 0) for tensor in _special_tensors(torch)]
    counted = binding.DispatchKeySet(binding.DispatchKey.ADInplaceOrView).raw_repr()
    return rows, plain, counted, torch.Tensor.__basicsize__


def _plain_keys(binding: Any) -> int:
    """The keys of plain tensors, as bits; 0 unless every other key that this torch names has a bit outside them, so that a tensor with
    such a key, a key of a later torch too, is never taken for a plain one."""
    keys = {name: _raw(binding, key) for name, key in binding.DispatchKey.__members__.items()}
    plain = 0
    for name in _PLAIN_KEYS:
        plain |= keys[name]
    alike = {name for name, bits in keys.items() if bits and not bits & ~plain} - {*_PLAIN_KEYS, *_PARTS}
    return 0 if alike or not all(keys[name] for name in _PLAIN_KEYS) else plain


def _raw(binding: Any, key: Any) -> int:
    """A key's bits; 0 of an alias of several keys, which no tensor has."""
    try:
        bits: int = binding.DispatchKeySet(key).raw_repr()
    except RuntimeError:
        return 0
    return bits


def _plain_tensors(torch: Any) -> list[tuple[Any, int]]:
    """Plain tensors, each with whether autograd keeps a record of it; -1 for views, whose records torch makes as it likes."""
    weight = torch.empty(3, device="cpu").requires_grad_()
    with torch.inference_mode():
        inference = torch.empty(2, device="cpu")
    return [
        (torch.empty(2, 3, device="cpu", dtype=torch.float32), 0),
        (torch.empty(0, device="cpu", dtype=torch.int64), 0),
        (torch.empty((), device="cpu", dtype=torch.float64), 0),
        (torch.empty(1, 2, 3, 4, 5, 6, 7, device="cpu", dtype=torch.float16), 0),
        (torch.empty(2, dtype=torch.complex64, device="cpu"), 0),
        (torch.empty(2, dtype=torch.bool, device="cpu"), 0),
        (torch.empty(4, 4, device="cpu").t()[1:], -1),
        (inference, 0),
        (weight, 1),
        (torch.nn.Parameter(torch.empty(2, 2, device="cpu")), 1),
        (weight.reshape(1, 3), 1),
        (weight.detach(), -1),
    ]


def _special_tensors(torch: Any) -> Iterator[Any]:
    """A tensor of each kind that no kernel may read as plain memory. A kind that this torch can't make can't reach a kernel either."""
    makers: tuple[Callable[[], Any], ...] = (
        lambda: torch.empty(2, dtype=torch.complex64, device="cpu").conj(),
        lambda: torch._neg_view(torch.empty(2, device="cpu")),
        lambda: torch._efficientzerotensor(3),
        lambda: torch.empty(3, device="meta"),
        lambda: torch.ones(3, device="cpu").to_sparse(),
        lambda: torch.ones(2, 2, device="cpu").to_sparse_csr(),
        lambda: torch.ones(3, device="cpu").to_mkldnn(),
        lambda: torch.quantize_per_tensor(torch.ones(3, device="cpu"), 0.1, 0, torch.qint8),
        lambda: torch._nested_tensor_from_tensor_list([torch.ones(2, 3), torch.ones(1, 3)]),
        lambda: torch._to_functional_tensor(torch.ones(3, device="cpu")),
        lambda: torch.Tensor._make_wrapper_subclass(_wrapper_class(torch), (3,), device="cpu"),
        lambda: _batched(torch, 1),
        lambda: _batched(torch, 2),
    )
    for make in makers:
        with contextlib.suppress(RuntimeError, NotImplementedError, AttributeError), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's, that sparse and quantized tensors are beta or going
            yield make()


def _wrapper_class(torch: Any) -> Any:
    """A subclass whose operators Python computes, as DTensor and FakeTensor are."""

    class Wrapper(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise NotImplementedError

    return Wrapper


def _batched(torch: Any, levels: int) -> Any:
    """As torch.vmap passes it, at one level or at two."""
    transforms = torch._C._functorch
    tensor = torch.ones(2, 2, 3, device="cpu")
    for level in range(levels):
        tensor = transforms._add_batch_dim(tensor, 0, level + 1)
    return tensor


def _dual_tensors(torch: Any) -> list[Any]:
    """Tensors with a tangent: a view, and one that is none. Their records keep a place for it when the level is left."""
    binding = torch._C  # torch.autograd.forward_ad would import the compiler
    was_on = binding._is_fwd_grad_enabled()
    binding._set_fwd_grad_enabled(True)
    entered = None
    with contextlib.suppress(RuntimeError):  # there is a level, and there can be only one
        entered = binding._enter_dual_level()
    try:
        dual = torch._VF._make_dual(torch.empty(2, device="cpu"), torch.empty(2, device="cpu"), level=0)
        return [dual, dual.neg()]
    finally:
        if entered is not None:
            binding._exit_dual_level(level=entered)
        binding._set_fwd_grad_enabled(was_on)


def _row(binding: Any, tensor: Any, gradient: int, tangent: int, plain: int) -> Sample:
    return tensor, tensor._cdata, binding._dispatch_keys(tensor).raw_repr(), gradient, tangent, plain


def _bits(*names: str) -> int:
    binding = sys.modules["torch"]._C  # private: torch tells its dispatch keys nowhere else
    bits = 0
    for name in names:
        bits |= binding.DispatchKeySet(binding._dispatch_key_parse(name)).raw_repr()
    return bits


def torch_key_bits() -> tuple[int, int, int]:
    """(the keys that inference mode changes, those of torch.func's transforms, those of dispatch modes), as bits."""
    transforms = _bits("FuncTorchDynamicLayerFrontMode", "FuncTorchDynamicLayerBackMode")
    return _bits("ADInplaceOrView"), transforms, _bits("Python", "PythonTLSSnapshot")


def torch_added_keys() -> int:
    """The dispatch keys by which this thread differs from a fresh one, as bits."""
    included = sys.modules["torch"]._C._dispatch_tls_local_include_set()
    added: int = included.raw_repr() ^ _bits("BackendSelect", "ADInplaceOrView")
    return added


def torch_word_is(read: Callable[[], int]) -> bool:
    """True if `read` returns the added keys, except the keys of inference mode: in this thread now, and after one more key was added."""
    ignored = torch_key_bits()[0]
    binding = sys.modules["torch"]._C
    if read() != torch_added_keys() & ~ignored:
        return False
    before = read()
    with binding._IncludeDispatchKeyGuard(binding._dispatch_key_parse("Tracer")):
        during = read()
        same = during == torch_added_keys() & ~ignored
    return same and during != before and read() == before
