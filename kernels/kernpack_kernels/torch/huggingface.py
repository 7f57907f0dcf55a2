"""The parts of a Hugging Face model that aren't modules: the attention function, the loss, and by module_functions.py what layers call by name."""

from __future__ import annotations

import functools
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import torch

from kernpack_kernels.torch import attention, functional, module_functions
from kernpack_kernels.torch.rules import DTYPES, runs_on
from kernpack_kernels.torch.trial import Trial, variant

_REGISTRY = "ALL_ATTENTION_FUNCTIONS"  # its name in the code of layers
_EAGER = "eager_attention_forward"
_LOSS_BEFORE = "_kernpack_loss"  # on a model: the loss function that was set, or None
_SDPA_ELSE = "without dropout; else torch's"
_EAGER_ELSE = "without dropout and output_attentions; else as before"
Row = tuple[str, str, str]  # what, by which kernel, a note


def patch(model: torch.nn.Module, set_forward: Callable[..., None]) -> Iterator[tuple[str, str, str, int]]:
    """Rows of the table, and how often. The model may contain Hugging Face's models, be one or be a part of one."""
    if "transformers" not in sys.modules:
        return
    from transformers import PreTrainedModel

    found: Counter[Row] = Counter()
    registries: dict[int, module_functions.Named] = {}
    for module, registry, row in _attentions(model):
        found[row] += 1
        if registry is not None:
            registries[id(module)] = ((_REGISTRY, registry),)
    for module in model.modules():
        if isinstance(module, PreTrainedModel):
            found.update(_loss(module))
    for module in model.modules():
        found.update(module_functions.patch(module, set_forward, registries.get(id(module), ())))
    for row, count in found.items():
        yield (*row, count)


def unpatch(model: torch.nn.Module) -> bool:
    undone = False
    for module in model.modules():
        if _LOSS_BEFORE in module.__dict__:
            undone = True
            module.__dict__.pop("_loss_function", None)
            module.__dict__.update(module.__dict__.pop(_LOSS_BEFORE))
    return undone


def _attentions(model: torch.nn.Module) -> Iterator[tuple[torch.nn.Module, Any, Row]]:
    """Modules that compute attention, the registry that their code is to find, or None, and their row."""
    whys: dict[int, str] = {}
    registries: dict[int, Any] = {}
    modules = {id(module): module for module in model.modules()}
    for key, module in modules.items():
        if module_functions.names(module, [_REGISTRY]):
            why, eager = _refuses(module)
            whys[key] = why
            if not why:
                registries[key] = attention.registry(module_functions.plain(module).__globals__[_REGISTRY], eager)
        elif _computes_attention(module):
            whys[key] = f"{type(module).__name__} doesn't take its attention from transformers' registry"
    if registries:
        _try(model, modules, registries, whys)
    for key, why in whys.items():
        registry = None if why else registries[key]
        note = why or (_SDPA_ELSE if registries[key].eager is None else _EAGER_ELSE)
        yield modules[key], registry, ("attention", "" if why else "attention", note)


def _try(model: torch.nn.Module, modules: dict[int, Any], registries: dict[int, Any], whys: dict[int, str]) -> None:
    """Says why where the model's own code shows another result. Eager functions have to be seen to be equal there; sdpa's, which is
    transformers' own, is known."""
    forwards: dict[int, Callable[..., Any]] = {
        key: module_functions.rebuilt(type(modules[key]).forward, ((_REGISTRY, registry),))
        for key, registry in registries.items()
    }
    trial = Trial(model, forwards)
    weights = any(registry.eager is not None for registry in registries.values()) and trial.gives_weights()
    for key, registry in registries.items():
        why = trial.found.get(variant(modules[key]))
        if registry.eager is not None:
            if why is None:
                why = f"its eager attention wasn't reached in a trial run of a model{trial.error and ': '}{trial.error}"
            elif not why and not weights:
                why = "its eager attention's weights are used, or can't be compared"
        whys[key] = why or ""


def _refuses(module: Any) -> tuple[str, Any]:
    """ "" and the eager function that is replaced, or None for sdpa's; or why it's left alone."""
    scope = module_functions.plain(module).__globals__
    name = getattr(getattr(module, "config", None), "_attn_implementation", None)
    try:
        theirs, sdpa = scope[_REGISTRY], attention.sdpa()
        given = theirs.get_interface(name or "eager", scope.get(_EAGER))
    except (ImportError, AttributeError, KeyError) as error:
        return f"this version of transformers has no registry for it: {error}", None
    if name not in ("sdpa", "eager", None):
        return f"its implementation is {name!r}: only sdpa and eager are replaced", None
    why = module_functions.refuses(module)
    if why or given is sdpa:
        return why, None
    if given is None or given is not scope.get(_EAGER):
        return f"its implementation {name!r} isn't transformers' own", None
    if "output_attentions" in module_functions.plain(module).__code__.co_varnames:
        return "its eager attention gives weights to layers, which the kernel doesn't have", None
    return attention.not_attention(given), given


def _computes_attention(module: torch.nn.Module) -> bool:
    forward = module_functions.plain(module)
    return (
        forward is not None
        and "Attention" in type(module).__name__
        and type(module).__module__.startswith("transformers.")
        and bool({"softmax", "scaled_dot_product_attention"} & {*forward.__code__.co_names})
    )


def _loss(model: Any) -> Iterator[Row]:
    try:
        from transformers.loss.loss_utils import ForCausalLMLoss
    except ImportError:
        return
    theirs = getattr(model, "loss_function", None) if hasattr(model, "lm_head") else None
    if theirs is None:
        return
    names = module_functions.plain(model).__code__.co_names if module_functions.plain(model) is not None else ()
    if not {"loss_function", "super"} & {*names}:
        yield "loss", "", f"{type(model).__name__} computes it in its own code"
        return
    if theirs is not ForCausalLMLoss or not isinstance(getattr(type(model), "loss_function", None), property):
        yield "loss", "", "isn't transformers' ForCausalLMLoss"
        return
    setattr(model, _LOSS_BEFORE, {k: v for k, v in model.__dict__.items() if k == "_loss_function"})
    model.loss_function = functools.partial(causal_lm_loss, theirs)
    yield "loss", "cross_entropy", ""


def causal_lm_loss(
    otherwise, logits, labels, vocab_size, num_items_in_batch=None, ignore_index=-100, shift_labels=None, **kwargs
):
    """As transformers calls it: the mean, or the sum over num_items_in_batch, in f32."""
    if not runs_on("cross_entropy", logits.device) or logits.dtype not in DTYPES or logits.dtype == torch.float64:
        return otherwise(logits, labels, vocab_size, num_items_in_batch, ignore_index, shift_labels, **kwargs)
    if shift_labels is None:
        shift_labels = torch.nn.functional.pad(labels, (0, 1), value=ignore_index)[..., 1:]
    logits, shift_labels = logits.reshape(-1, vocab_size), shift_labels.reshape(-1)
    if num_items_in_batch is None:
        return functional.cross_entropy(logits, shift_labels, ignore_index)
    return functional.cross_entropy(logits, shift_labels, ignore_index, "sum") / num_items_in_batch
