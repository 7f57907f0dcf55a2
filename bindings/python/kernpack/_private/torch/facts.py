"""What torch says of itself, which the hooks in C are compared with before they are used, and one rare question of the guards."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable
from typing import Any

_PLAIN_KEYS = ("CPU", "CUDA", "ADInplaceOrView", "AutogradCPU", "AutogradCUDA", "AutocastCPU", "AutocastCUDA")


def torch_samples() -> tuple[list[tuple[Any, int, int, int, int]], int, int, int]:
    """([(tensor, address of its C++ half, its dispatch keys, whether autograd keeps a record of it, whether there is a tangent in it;
    -1: not said)], the keys of plain tensors, those of tensors with a version counter, bytes of the Python object). Raises where
    this torch does not tell."""
    torch = sys.modules["torch"]
    binding = torch._C
    plain = 0
    for name in _PLAIN_KEYS:
        plain |= binding.DispatchKeySet(getattr(binding.DispatchKey, name)).raw_repr()
    without_modes = importlib.import_module("torch.utils._python_dispatch")._disable_current_modes
    with (
        without_modes(),
        _without_transforms(binding),
        binding.DisableTorchFunction(),
        torch.inference_mode(False),
        torch.enable_grad(),
    ):
        rows = [_row(binding, tensor, gradient, 0) for tensor, gradient in _sample_tensors(torch)]
        rows += [_row(binding, tensor, 1, 1) for tensor in _dual_tensors(torch)]
    counted = binding.DispatchKeySet(binding.DispatchKey.ADInplaceOrView).raw_repr()
    return rows, plain, counted, torch.Tensor.__basicsize__


def _without_transforms(binding: Any) -> contextlib.AbstractContextManager[Any]:
    """Outside torch.func's levels: inside, tensors are wrapped."""
    if not binding._are_functorch_transforms_active():
        return contextlib.nullcontext()
    transforms = importlib.import_module("torch._functorch.pyfunctorch")
    without: contextlib.AbstractContextManager[Any] = transforms.temporarily_clear_interpreter_stack()
    return without


def _sample_tensors(torch: Any) -> list[tuple[Any, int]]:
    weight = torch.empty(3, device="cpu").requires_grad_()
    number = torch.empty(2, dtype=torch.complex64, device="cpu")
    return [
        (torch.empty(2, 3, device="cpu", dtype=torch.float32), 0),
        (torch.empty(0, device="cpu", dtype=torch.int64), 0),
        (torch.empty((), device="cpu", dtype=torch.float64), 0),
        (torch.empty(1, 2, 3, 4, 5, 6, 7, device="cpu", dtype=torch.float16), 0),
        (weight, 1),
        (torch.nn.Parameter(torch.empty(2, 2, device="cpu")), 1),
        (weight.reshape(1, 3), 1),
        (number, 0),
        (number.conj(), -1),
        (torch._neg_view(torch.empty(2, device="cpu")), -1),
        (torch.empty(3, device="meta"), 0),
    ]


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


def _row(binding: Any, tensor: Any, gradient: int, tangent: int) -> tuple[Any, int, int, int, int]:
    return tensor, tensor._cdata, binding._dispatch_keys(tensor).raw_repr(), gradient, tangent


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
    """Whether `read` gives the added keys, but those of inference mode: as this thread is, and while one more is there."""
    ignored = torch_key_bits()[0]
    binding = sys.modules["torch"]._C
    if read() != torch_added_keys() & ~ignored:
        return False
    before = read()
    with binding._IncludeDispatchKeyGuard(binding._dispatch_key_parse("Tracer")):
        during = read()
        same = during == torch_added_keys() & ~ignored
    return same and during != before and read() == before
