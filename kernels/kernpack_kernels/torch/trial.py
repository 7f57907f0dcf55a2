"""A run of a model's own code, on a twin: each attention module computes as before and with our registry, from the same arguments."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch

from kernpack_kernels.torch.twins import twin, undisturbed

Key = tuple[Any, ...]
_LENGTH, _WINDOW = 24, 6  # tokens are longer than windows and indices, which a twin has shorter
_WINDOWS = ("sliding_window", "attention_window", "attention_chunk_size", "local_attention", "index_topk")


def variant(module: torch.nn.Module) -> Key:
    """Modules alike in this are alike in their code and options."""
    plain = ((k, v) for k, v in sorted(module.__dict__.items()) if isinstance(v, (bool, int, float, str)))
    return (type(module), *((k, v) for k, v in plain if k not in ("layer_idx", "training")))


class _Enough(Exception):
    """Each variant has been seen."""


class Trial:
    """`found`: what differs of each variant that ran, "" for nothing. `error`: what the last run that failed raised."""

    def __init__(self, model: torch.nn.Module, forwards: dict[int, Callable[..., Any]]) -> None:
        """forwards: by a module's id, what computes with our registry."""
        self.found: dict[Key, str] = {}
        self.error = ""
        with undisturbed():
            try:
                self.twin = twin(model).eval()
            except Exception as error:  # modules of others hold what they like
                self.error = f"{type(error).__name__}: {error}"
                return
            pairs = zip(model.modules(), self.twin.modules(), strict=True)
            self.ours = [(copied, forwards[id(own)], variant(own)) for own, copied in pairs if id(own) in forwards]
            self.wanted = {key for *_, key in self.ours}
            for shortened in (True, False):
                if self.wanted - self.found.keys():
                    self._run(shortened)

    def _run(self, shortened: bool) -> None:
        from transformers import PreTrainedModel

        if shortened:
            _shorten(self.twin)
        for module, forward, key in self.ours:
            module.__dict__["forward"] = functools.partial(self._watched, key, module, forward)
        for model in self.twin.modules():
            if isinstance(model, PreTrainedModel) and self.wanted - self.found.keys():
                self._calls(model)
        for module, *_ in self.ours:
            del module.__dict__["forward"]

    def _calls(self, model: Any) -> None:
        for call in calls(model):
            self.seen: set[Key] = set()
            try:
                model(**call)
            except _Enough:
                pass
            except Exception as error:  # models of others raise what they like
                self.error = f"{type(error).__name__}: {error}"

    def _watched(self, key: Key, module: Any, forward: Any, *given: Any, **options: Any) -> Any:
        again = _own_caches(given), _own_caches(options)
        before = type(module).forward(module, *given, **options)
        if not self.found.get(key):
            try:
                self.found[key] = _differs(before, forward(module, *again[0], **again[1]))
            except Exception as error:  # code of others raises what it likes
                self.found[key] = f"{type(error).__name__}: {error}"
        self.seen.add(key)
        if self.seen >= self.wanted:
            raise _Enough
        return before

    def gives_weights(self) -> bool:
        """True if output_attentions=True gives equal results with and without our registry."""
        from transformers import PreTrainedModel

        model: Any = next((each for each in self.twin.modules() if isinstance(each, PreTrainedModel)), None)
        call = next(calls(model), None) if model is not None else None
        if call is None or torch.nn.modules.module._has_any_global_hook():
            return False
        with undisturbed():
            try:
                before = _tensors(model(**call, output_attentions=True))
                for module, forward, _ in self.ours:
                    module.__dict__["forward"] = forward.__get__(module)
                after = _tensors(model(**call, output_attentions=True))
            except Exception:  # models of others raise what they like
                return False
        return len(before) == len(after) and not any(map(_differs, before, after))


def _shorten(model: torch.nn.Module) -> None:
    owners = [*model.modules(), *(each.config for each in model.modules() if hasattr(each, "config"))]
    for owner in owners:
        for name in _WINDOWS:
            size = getattr(owner, "__dict__", {}).get(name)
            if isinstance(size, int) and size > _WINDOW:
                owner.__dict__[name] = _WINDOW


def calls(model: Any) -> Iterator[dict[str, Any]]:
    """Arguments for the model: tokens, padded and not, or images. None where it takes something else."""
    config, main = model.config, model.main_input_name
    takes = inspect.signature(model.forward).parameters
    device = next((p.device for p in model.parameters()), torch.device("cpu"))
    more: dict[str, Any] = {"use_cache": False} if "use_cache" in takes else {}
    if main == "pixel_values" or ("pixel_values" in takes and "input_ids" not in takes):
        size = getattr(config, "image_size", None)
        size = size if isinstance(size, (list, tuple)) else (size, size)
        if all(isinstance(each, int) for each in size):
            dtype = next((p.dtype for p in model.parameters()), torch.float32)
            pixels = torch.sin(torch.arange(2 * getattr(config, "num_channels", 3) * size[0] * size[1], device=device))
            yield {"pixel_values": pixels.reshape(2, -1, *size).to(dtype)}
        return
    if "input_ids" not in takes:
        return
    text = config.get_text_config()
    special = {v for each in (config, text) for k, v in vars(each).items() if "token" in k and isinstance(v, int)}
    known = [i for i in range(3, min(getattr(text, "vocab_size", 0) or 0, 200)) if i not in special]
    length = min(_LENGTH, getattr(text, "max_position_embeddings", None) or _LENGTH)
    if not known:
        return
    places = torch.arange(2 * length, device=device).reshape(2, length) * 7 % len(known)
    ids = torch.tensor(known, device=device)[places]
    if "decoder_input_ids" in takes:
        more["decoder_input_ids"] = ids.flip(0)[:, : max(length - 3, 1)]
    yield {"input_ids": ids, **more}
    mask = torch.ones_like(ids)
    mask[1, -3:] = 0
    yield {"input_ids": ids, "attention_mask": mask, **more}


def _own_caches(given: Any) -> Any:
    """Copies the objects that a call writes into, because two calls are made."""
    items = given.items() if isinstance(given, dict) else enumerate(given)
    found = {k: copy.deepcopy(v) if hasattr(v, "update") and not isinstance(v, dict) else v for k, v in items}
    return found if isinstance(given, dict) else tuple(found.values())


def _differs(before: Any, after: Any) -> str:
    before, after = (x[0] if isinstance(x, tuple) else x for x in (before, after))
    if not isinstance(before, torch.Tensor) or not isinstance(after, torch.Tensor) or before.shape != after.shape:
        return "returns something else"
    if before.dtype != after.dtype:
        return f"returns {before.dtype} and by the kernel {after.dtype}"
    room = {torch.float32: 1e-4, torch.float64: 1e-9}.get(before.dtype, 3e-2)
    finite = before.isfinite()
    if not torch.equal(finite, after.isfinite()):
        return "computes something else: other elements are finite"
    before, after = before[finite].double(), after[finite].double()
    off = (before - after).norm() / before.norm().clamp_min(1e-30)
    return "" if off <= room else f"computes something else: differs by {off:.2g} of its size"


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    values = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [tensor for each in values for tensor in _tensors(each)]
