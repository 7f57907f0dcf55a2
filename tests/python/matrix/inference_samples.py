"""One call of each function of kernpack_kernels that has no gradient. Why it has none: INFERENCE in tests/python/kernels/test_contracts.py."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path
from typing import Any

import kernpack
import numpy as np
from op_sample import Sample

_K = kernpack.load("kernpack_kernels")
_RNG = np.random.default_rng(8)


def _reasons() -> dict[str, str]:
    """Read, not imported: that file imports torch."""
    file = Path(__file__).resolve().parents[1] / "kernels/test_contracts.py"
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "INFERENCE":
            found: dict[str, str] = ast.literal_eval(node.value)
            return found
    raise LookupError(f"{file}: expected an assignment to INFERENCE")


REASONS = _reasons()


def _f32(*shape: int) -> np.ndarray:
    return _RNG.normal(size=shape).astype(np.float32)


_IN_PLACE = {"jax eager": "in place, which JAX has under jit only"}


def _of(*args: Any, mapped: tuple[int, ...] = (0,), **kwargs: Any) -> Sample:
    return Sample(args, kwargs, mapped, np.float32)


def _writing(writes: tuple[int, ...], *args: Any, **kwargs: Any) -> Sample:
    return Sample(args, kwargs, writes, np.float32, writes, _IN_PLACE)


_Q = _f32(1, 3, 4, 4)
_TABLE, _LENGTHS = np.array([[1, 0]], np.int32), np.array([3], np.int32)  # two pages of four rows; three tokens so far
_CACHE = _f32(2, 4, 2, 4)
_ANGLES = _f32(1, 3, 2)
_SCALES = np.full((2, 1), 0.5, np.float16).view(np.uint8)
_BLOCKS = np.concatenate([_SCALES, _RNG.integers(0, 127, (2, 32)).astype(np.uint8)], axis=1)  # ggml's Q8_0
_PACKED = _K.pack_q8_0(_BLOCKS)
_GROUPS = (_RNG.integers(-8, 8, (2, 32)).astype(np.int8), np.full((2, 1), 0.5, np.float32))


def _parameters(*more: Any) -> tuple[Any, ...]:
    return [_f32(4), _f32(3)], [_f32(4), _f32(3)], *more


def _zeros(quantity: int) -> np.ndarray:
    return np.zeros((2, quantity), np.uint8)


SAMPLES = {
    "adamw": _writing(
        (0, 2, 3),
        *_parameters([_f32(4), _f32(3)], [abs(_f32(4)), abs(_f32(3))], np.int32(2), np.float32(0.1)),
    ),
    "apply_repetition_penalty": _writing((0,), _f32(2, 8), np.array([[1, 3, -1], [0, 0, 7]], np.int32), penalty=1.3),
    "apply_rope": _writing((0,), _f32(1, 3, 2, 4), np.cos(_ANGLES), np.sin(_ANGLES)),
    "argmax": _of(_f32(2, 3, 8)),
    "causal_conv1d_update": _writing((1,), _f32(2, 2, 8), _f32(2, 3, 8), _f32(8, 4), activation="silu"),
    "clip_grad_norm": _writing((0,), [_f32(4), _f32(3)], max_norm=0.5),
    "lion": _writing((0, 2), *_parameters([_f32(4), _f32(3)], np.float32(0.1))),
    "pack_int4": _of(*_GROUPS),
    "pack_int8": _of(*_GROUPS),
    "pack_linear": _of(_f32(5, 8)),
    "pack_q4_0": _of(_zeros(18)),
    "pack_q4_1": _of(_zeros(20)),
    "pack_q4_k": _of(_zeros(144)),
    "pack_q6_k": _of(_zeros(210)),
    "pack_q8_0": _of(_BLOCKS),
    "packed_embedding": _of(_PACKED, np.array([[0, 1], [1, 1]], np.int32), mapped=(1,), columns=32),
    "packed_linear": _of(_f32(2, 3, 32), _PACKED, compute="f32"),
    "paged_attention": _of(_Q[:, :1], _CACHE, _CACHE[::-1].copy(), _TABLE, _LENGTHS),
    "paged_quantize": _writing(
        (0, 1),
        np.zeros((2, 4, 2, 4), np.int8),
        np.zeros((2, 4, 2), np.float32),
        _f32(1, 1, 2, 4),
        _TABLE,
        _LENGTHS,
    ),
    "paged_store": _writing((0,), _CACHE, _f32(1, 1, 2, 4), _TABLE, _LENGTHS),
    # Which random numbers a row gets depends on its index in the whole batch, which vmap changes: of one token, all draw the same.
    "sample": _of(_f32(2, 3, 8), seed=7, top_k=1),
    "sort_into_groups": _of(np.array([2, 0, 2, 1], np.int32), count=4),
    "sgd": _writing((0, 2), *_parameters([_f32(4), _f32(3)], np.float32(0.1)), momentum=0.9),
}
SAMPLES = {
    name: dataclasses.replace(sample, lacks={"grad": REASONS[name], **sample.lacks}) for name, sample in SAMPLES.items()
}
