"""The attention function that layers of Hugging Face's models take from transformers' registry.

A layer's code finds our registry under the name of theirs (module_functions.py): configs stay as they are, and so do masks and code that asks
which implementation is set. Where a call has what the kernel doesn't compute, the function that was there before gets it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from kernpack_kernels.torch import functional
from kernpack_kernels.torch.code import foreign, words
from kernpack_kernels.torch.rules import DTYPES, rows, runs_on, uses
from kernpack_kernels.torch.twins import undisturbed

Function = Callable[..., Any]


class Registry:
    """The registry that the code of a patched layer sees in place of transformers' ALL_ATTENTION_FUNCTIONS."""

    def __init__(self, theirs: Any, eager: Function | None) -> None:
        self._theirs, self._sdpa, self.eager = theirs, sdpa(), eager
        self._ours = functools.partial(attention_forward, self._sdpa, "sdpa")
        self._ours_eager = functools.partial(attention_forward, eager, get_kind(eager))

    def _replaced(self, function: Function) -> Function:
        if function is self._sdpa:
            return self._ours
        return function if self.eager is None or function is not self.eager else self._ours_eager

    def get_interface(self, name, default):
        return self._replaced(self._theirs.get_interface(name, default))

    def get(self, name, default=None):
        return self._replaced(self._theirs.get(name, default))

    def __getitem__(self, name):
        return self._replaced(self._theirs[name])

    def __contains__(self, name):
        return name in self._theirs

    def __getattr__(self, name):
        return getattr(self.__dict__["_theirs"], name)


_registries: dict[
    tuple[int, Function | None], Registry
] = {}  # one each, so that layers of a class share a rebuilt module


def registry(theirs: Any, eager: Function | None) -> Registry:
    return _registries.setdefault((id(theirs), eager), Registry(theirs, eager))


def sdpa() -> Function:
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    return sdpa_attention_forward


def get_kind(eager: Function | None) -> str:
    """Eager functions take a module's sinks from the module."""
    return "sinks" if eager is not None and "sinks" in eager.__code__.co_names else "eager"


# Arguments that could change the result, but for those that attention_forward takes: where one is given, theirs computes.
_OTHER = ("cache", "s_aux")


def attention_forward(otherwise, kind, module, query, key, value, attention_mask, dropout=0.0, scaling=None, **kwargs):
    """With transformers' calling convention: query [B, H, S, D], key and value [B, G, L, D]; returns [B, S, H, D] and no weights.
    kind: what it computes as: "sdpa", "eager" or "sinks", which is eager with the module's sinks."""
    q, k, v = _cast(query, key, value)
    is_eager, sinks = kind != "sdpa", module.sinks if kind == "sinks" else None
    bias, cap = kwargs.get("position_bias"), kwargs.get("softcap")
    mask = attention_mask if bias is None else _biased(bias, attention_mask)
    takes = (
        not dropout
        and (cap is None or is_eager)  # sdpa refuses it
        and (kind == "sinks" or all(kwargs.get(name) is None for name in _OTHER))
        and runs_on("attention" if mask is None else "masked_attention", q.device)
        and (q.device.type == "cpu" or q.shape[3] <= 256)
        and q.dtype in DTYPES
        and q.dtype != torch.float64
        and q.dtype == k.dtype == v.dtype
        and k.shape == v.shape
        and q.shape[0] == k.shape[0]
        and q.shape[1] == k.shape[1] * getattr(module, "num_key_value_groups", 1)
        and not (is_eager and attention_mask is not None and attention_mask.dtype == torch.bool)  # they add it
        and (mask is None or _takes_mask(mask, q, k))
        and not (is_eager and _wants_weights(module, kwargs))
    )
    if not takes:
        return otherwise(module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **kwargs)
    causal: Any = False
    if not is_eager and attention_mask is None:  # else the mask says it
        causal = kwargs.get("is_causal")
        causal = bool(getattr(module, "is_causal", True) if causal is None else causal) and q.shape[2] > 1
    if causal and k.shape[2] > q.shape[2]:  # an empty static cache: only what the prompt wrote is seen, as with sdpa
        k, v = k[:, :, : q.shape[2]], v[:, :, : q.shape[2]]
        mask = None if mask is None else mask[..., : q.shape[2]]
    seen = functional.attention(q, k, v, causal, scaling, cap or 0.0, mask, sinks)
    return seen.transpose(1, 2), None


def _cast(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """As autocast does for the functions of theirs."""
    kind = tensors[0].device.type
    if kind not in ("cpu", "cuda") or not torch.is_autocast_enabled(kind):
        return tensors
    dtype = torch.get_autocast_dtype(kind)
    return tuple(x.to(dtype) if x.is_floating_point() and x.dtype != torch.float64 else x for x in tensors)


def _biased(bias: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """A learned bias, as T5's, and what the mask leaves out or adds."""
    if mask is None:
        return bias
    return torch.where(mask, bias, torch.finfo(bias.dtype).min) if mask.dtype == torch.bool else bias + mask


def _takes_mask(mask: torch.Tensor, query: torch.Tensor, key: torch.Tensor) -> bool:
    sizes = (query.shape[0], query.shape[1], query.shape[2], key.shape[2])
    return (
        mask.ndim == 4
        and (mask.dtype == torch.bool or (mask.dtype in DTYPES and mask.dtype != torch.float64))
        and mask.shape[3] == key.shape[2]
        and all(size in (1, whole) for size, whole in zip(mask.shape, sizes, strict=True))
    )


def _wants_weights(module: Any, kwargs: dict[str, Any]) -> bool:
    """True if a reader exists for the weights that eager attention returns and the kernel doesn't: a hook, including transformers' own,
    which collect them for output_attentions=True."""
    if kwargs.get("output_attentions"):
        return True
    hooks = module._forward_hooks.values() if isinstance(module, torch.nn.Module) else ()
    if not hooks:
        return bool(torch.nn.modules.module._global_forward_hooks)
    if torch.compiler.is_compiling() or not all(getattr(hook, "__name__", "") == _COLLECTS for hook in hooks):
        return True
    from transformers.utils.output_capturing import _active_collector

    return any("hidden" not in key for key in _active_collector.get() or ())


_COLLECTS = "output_capturing_hook"  # of transformers.utils.output_capturing

# --- whether an eager function is attention

_NAMES = words(
    "repeat_kv num_key_value_groups torch nn functional F matmul transpose softmax float32 float to type "
    "dtype dropout contiguous size shape head_dim tanh getattr hasattr device training sinks reshape view "
    "expand unsqueeze cat max values logsumexp sigmoid"
)
_PARAMETERS = ("module", "query", "key", "value", "attention_mask", "scaling", "dropout", "softcap", "position_bias")


@functools.cache
def not_attention(eager: Function) -> str:
    """ "" where the function computes attention as attention_forward does; else what is different."""
    code = getattr(eager, "__code__", None)
    if code is None:
        return "its eager attention isn't a Python function"
    names = foreign(eager, SimpleNamespace(), _NAMES)
    named = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    names += [name for name in named if name not in _PARAMETERS]
    if names:
        return "its eager attention " + uses(names).removeprefix("its code ")
    try:
        with undisturbed():
            return "" if all(_agrees(eager, named, groups) for groups in (1, 2)) else "its eager attention is another"
    except Exception as error:  # functions of others raise what they like
        return f"its eager attention can't be tried: {type(error).__name__}: {error}"


def _agrees(eager: Function, named: tuple[str, ...], groups: int) -> bool:
    module = SimpleNamespace(num_key_value_groups=groups, head_dim=16, training=False)
    if get_kind(eager) == "sinks":
        module.sinks = rows(2 * groups, dtype=torch.float32)
    if groups > 1 and "num_key_value_groups" not in eager.__code__.co_names:
        return True
    heads, dtype = 2 * groups, torch.float32
    key, value = rows(2, 2, 7, 16, dtype=dtype), rows(2, 2, 16, 7, dtype=dtype).mT
    bias = rows(2, 1, 5, 7, dtype=dtype)
    hidden = torch.where(torch.ones(5, 7).tril(2) > 0, 0.0, torch.finfo(dtype).min)[None, None]
    for scale, module.training in ((1e-3, False), (1.0, True), (30.0, False)):
        query = rows(2, heads, 5, 16, dtype=dtype, scale=scale)
        for mask in (None, hidden, bias, hidden + bias):
            for more in _options(named, heads):
                given = {"dropout": 0.0, "scaling": 0.3, **more}
                before = eager(module, query, key, value, mask, **given)[0]
                after = attention_forward(eager, get_kind(eager), module, query, key, value, mask, **given)[0]
                if before.shape != after.shape or not torch.allclose(before, after, atol=2e-5, rtol=1e-4):
                    return False
    return True


def _options(named: tuple[str, ...], heads: int) -> list[dict[str, Any]]:
    tried: list[dict[str, Any]] = [{}]
    if "softcap" in named:
        tried.append({"softcap": 2.0})
    if "position_bias" in named:
        tried.append({"position_bias": rows(1, heads, 5, 7, dtype=torch.float32)})
    return tried
