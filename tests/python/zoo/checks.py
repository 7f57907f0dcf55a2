"""Properties that a patched model must keep: each check gives tensors of a model, which are compared with those of the plain one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from tiny_models import Tiny, inputs

Tensors = dict[str, torch.Tensor]


class NotHere(Exception):
    """The check doesn't apply to this model."""


def _first(output: Any) -> torch.Tensor:
    """The logits, or the last hidden state."""
    for each in output.to_tuple():
        if isinstance(each, torch.Tensor) and each.is_floating_point() and each.ndim > 1:
            return each
    raise NotHere("the model returns no tensor")


def _options(of: Tiny) -> dict[str, Any]:
    return {"use_cache": False} if "use_cache" in inspect.signature(of.model.forward).parameters else {}


def forward(of: Tiny) -> Tensors:
    with torch.no_grad():
        return {"output": _first(of.model(**inputs(of)))}


def _padded(of: Tiny, left: bool) -> dict[str, torch.Tensor]:
    given = inputs(of)
    if "input_ids" not in given:
        raise NotHere("its input isn't tokens")
    mask = torch.ones_like(given["input_ids"])
    mask[1, slice(None, 5) if left else slice(-5, None)] = 0
    ids = torch.where(mask.bool(), given["input_ids"], 0)
    return {**given, "input_ids": ids, "attention_mask": mask}


def _with_padding(of: Tiny, left: bool) -> Tensors:
    given = _padded(of, left)
    with torch.no_grad():
        output = _first(of.model(**given))
    kept = given["attention_mask"].bool()
    # Of a model with a decoder, the padding is the encoder's.
    return {"output": output[kept] if output.shape[:2] == kept.shape else output}


def left_padding(of: Tiny) -> Tensors:
    return _with_padding(of, left=True)


def right_padding(of: Tiny) -> Tensors:
    return _with_padding(of, left=False)


def _generate(of: Tiny, given: dict[str, torch.Tensor]) -> torch.Tensor:
    given.pop("decoder_input_ids", None)
    options = {"max_new_tokens": 6, "min_new_tokens": 6, "do_sample": False, "pad_token_id": 0}
    with torch.no_grad():
        return of.model.generate(**given, **options)


def generation(of: Tiny) -> Tensors:
    """Greedy, with the model's cache."""
    if not of.generates:
        raise NotHere("it generates nothing")
    found = {"tokens": _generate(of, inputs(of))}
    if of.kind == "causal":
        found["tokens behind padding"] = _generate(of, _padded(of, left=True))
    return found


@contextmanager
def _training(model: Any) -> Iterator[None]:
    model.zero_grad()
    model.train()
    torch.manual_seed(4)  # of dropout
    try:
        yield
    finally:
        model.eval()
        model.zero_grad()


def _gradients(of: Tiny) -> Tensors:
    with _training(of.model):
        output = _first(of.model(**inputs(of), **_options(of)))
        weights = torch.randn(output.shape, generator=torch.Generator().manual_seed(5))
        (output.float() * weights).sum().backward()
        gradients = {f"gradient of {n}": p.grad for n, p in of.model.named_parameters() if p.grad is not None}
        return {"output": output.detach(), **gradients}


def training(of: Tiny) -> Tensors:
    """In train mode, with dropout."""
    return _gradients(of)


def checkpointing(of: Tiny) -> Tensors:
    if not of.model.supports_gradient_checkpointing:
        raise NotHere("it has no checkpointing")
    of.model.gradient_checkpointing_enable({"use_reentrant": False})
    try:
        return _gradients(of)
    finally:
        of.model.gradient_checkpointing_disable()


def autocast(of: Tiny) -> Tensors:
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        return {"output": _first(of.model(**inputs(of))).float()}


def compiled(of: Tiny) -> Tensors:
    """Traced by Dynamo and AOTAutograd, without the compiler of C++ code, whose time says nothing of a patch."""
    torch._dynamo.reset()
    run = torch.compile(lambda **given: of.model(**given), backend="aot_eager")  # a compiled module gets an attribute
    with torch.no_grad():
        return {"output": _first(run(**inputs(of), **_options(of)))}


def exported(of: Tiny) -> Tensors:
    given = {**inputs(of), **_options(of)}
    with torch.no_grad():
        program = torch.export.export(of.model, (), given, strict=False)
        return {"output": _first(program.module()(**given))}


# In the order in which they run. Those of COMPARED give the same of the plain model; those of TRACED are compared with its forward.
COMPARED: tuple[Callable[[Tiny], Tensors], ...] = (
    forward,
    left_padding,
    right_padding,
    generation,
    training,
    checkpointing,
    autocast,
)
TRACED: tuple[Callable[[Tiny], Tensors], ...] = (compiled, exported)
