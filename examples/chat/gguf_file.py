"""A Llama-family model in a GGUF file: its sizes and its tensors, each checked before it is used."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from contents import ADVICE, key_problem, tensor_problem


class ModelError(Exception):
    """The file is not a model that this example can run. The text is for its user."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of the model in the file."""

    layers: int
    width: int
    hidden: int
    heads: int
    groups: int  # heads of keys and values
    head_width: int
    vocabulary: int
    context: int
    eps: float
    rope_base: float
    rope_width: int
    rope_factor: float  # positions are divided by it


@dataclass(frozen=True)
class Weights:
    """A matrix [rows, columns] as the file holds it: blocks of `form`, a row of bytes for each row; or numbers."""

    name: str  # with the file's
    form: str
    data: np.ndarray
    columns: int

    def values(self) -> np.ndarray:
        """In f32."""
        try:
            found = gguf.quants.dequantize(self.data, gguf.GGMLQuantizationType[self.form])
        except NotImplementedError:
            raise ModelError(f"{self.name}: the gguf package can't read values of the type {self.form}") from None
        return np.asarray(found, np.float32)


class _Reader(gguf.GGUFReader):
    """gguf's reader, with two changes. Behind the end of the file gguf finds empty arrays, as many as the file says that there are:
    here, that is an error. And gguf takes 250,000 pieces of the file's array: pieces of a NumPy array take a third of the time that
    pieces of a memmap do."""

    @property
    def data(self) -> np.ndarray:
        return self._mapped

    @data.setter
    def data(self, mapped: np.memmap) -> None:
        self._mapped = mapped.view(np.ndarray)

    def _get(self, offset: int, dtype: Any, count: int = 1, *rest: Any, **named: Any) -> Any:
        found = super()._get(offset, dtype, count, *rest, **named)
        if len(found) < count:
            raise ValueError(f"expected {count} x {np.dtype(dtype)} at byte {offset}, got the end of the file")
        return found


class GgufFile:
    """An open file. What is wrong with it is a ModelError that names it."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        try:
            with self.path.open("rb") as file:
                magic, version = file.read(4), file.read(4)
        except OSError as error:
            raise ModelError(f"{path}: {error.strerror or error}") from None
        if magic != b"GGUF":
            raise ModelError(f"{path}: not a GGUF file: it begins with {magic!r}, not with b'GGUF'")
        self._check_version(version)
        try:
            self._reader = _Reader(self.path)
            self._fields = {name: field.contents() for name, field in self._reader.fields.items()}
            self._tensors = {tensor.name: tensor for tensor in self._reader.tensors}
        except Exception as error:  # the reader trusts the file: what it stumbles over can be anything
            raise ModelError(f"{path}: damaged or cut short: {type(error).__name__}: {error}") from None

    def _check_version(self, version: bytes) -> None:
        number = int.from_bytes(version, "little")
        if len(version) == 4 and number & 0xFFFF == 0 and number:
            raise ModelError(
                f"{self.path}: is a big-endian file: expected a little-endian one; convert the model again"
            )
        if len(version) == 4 and number not in (2, 3):
            raise ModelError(f"{self.path}: expected GGUF of version 2 or 3, got {number}: convert the model again")

    def field(self, name: str, kind: type, default: Any = None) -> Any:
        value = self._fields.get(name, default)
        if value is None:
            raise ModelError(f"{self.path}: has no {name}")
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, kind) or isinstance(value, bool) is not (kind is bool):
            raise ModelError(f"{self.path}: {name}: expected {kind.__name__}, got {value!r:.60}")
        return value

    def _size(self, name: str, most: int, default: int | None = None) -> int:
        value = self.field(name, int, default)
        if not 0 < value <= most:
            raise ModelError(f"{self.path}: {name}: expected a number from 1 to {most}, got {value}")
        return int(value)

    def sizes(self) -> Sizes:
        self._check_whole()
        architecture = self.field("general.architecture", str)
        if architecture != "llama":
            raise ModelError(f"{self.path}: expected a model of the architecture 'llama', got {architecture!r}")
        if self._fields.get("llama.expert_count"):
            raise ModelError(f"{self.path}: is a mixture of experts, which this example doesn't run")
        width = self._size("llama.embedding_length", 1 << 20)
        heads = self._size("llama.attention.head_count", 1 << 12)
        groups = self._size("llama.attention.head_count_kv", 1 << 12, heads)
        head_width = self._size("llama.attention.key_length", 1 << 12, max(1, width // heads))
        rope_width = self._size("llama.rope.dimension_count", head_width, head_width)
        eps = self.field("llama.attention.layer_norm_rms_epsilon", float)
        base = self.field("llama.rope.freq_base", float, 10000.0)
        if heads % groups or rope_width % 2 or not (0 < eps < 1) or not (1 <= base < math.inf):
            raise ModelError(
                f"{self.path}: sizes that don't fit: {heads} heads over {groups}, rope over {rope_width} of {head_width}, "
                f"base {base}, epsilon {eps}"
            )
        layers, context = self._size("llama.block_count", 1 << 12), self._size("llama.context_length", 1 << 30)
        factor = self._rope_factor()
        problem = key_problem(self._fields, head_width, context) or tensor_problem(self._tensors, layers)
        if problem:
            raise ModelError(f"{self.path}: {problem}")
        return Sizes(
            layers=layers,
            width=width,
            hidden=self._size("llama.feed_forward_length", 1 << 24),
            heads=heads,
            groups=groups,
            head_width=head_width,
            vocabulary=len(self.tokens()),
            context=context,
            eps=eps,
            rope_base=base,
            rope_width=rope_width,
            rope_factor=factor,
        )

    def _check_whole(self) -> None:
        parts = self._fields.get("split.count", 0)
        if parts not in (0, 1):
            raise ModelError(
                f"{self.path}: is one of {parts!r:.20} parts of a model: merge them with `llama-gguf-split --merge` first"
            )
        kind = self._fields.get("general.type", "model")
        if kind != "model":
            raise ModelError(f"{self.path}: general.type: expected model, got {kind!r:.60}: name the model's own file")
        version = self._fields.get("general.quantization_version", 2)
        if version != 2:
            raise ModelError(f"{self.path}: general.quantization_version: expected 2, got {version!r:.60}: {ADVICE}")

    def _rope_factor(self) -> float:
        """A factor without a type is linear, as in llama.cpp; scale_linear is its name in older files."""
        scaling = self._fields.get("llama.rope.scaling.type", "linear")
        if scaling not in ("none", "linear"):
            raise ModelError(
                f"{self.path}: llama.rope.scaling.type: expected none or linear, got {scaling!r:.60}: {ADVICE}"
            )
        found = []
        for name in ("llama.rope.scaling.factor", "llama.rope.scale_linear"):
            factor = self.field(name, float, 0.0)  # 0 stands for 1
            if not (factor == 0 or 1e-6 <= factor <= 1e6):
                raise ModelError(f"{self.path}: {name}: expected a factor from 1e-6 to 1e6, got {factor}")
            found += [factor] if factor else []
        if len(set(found)) > 1:
            raise ModelError(
                f"{self.path}: llama.rope.scale_linear: expected {found[0]}, as llama.rope.scaling.factor, got {found[1]}"
            )
        return float(found[0]) if found and scaling == "linear" else 1.0

    def tokens(self) -> list[str]:
        tokens = self.field("tokenizer.ggml.tokens", list)
        if not tokens or not all(isinstance(token, str) for token in tokens):
            raise ModelError(f"{self.path}: tokenizer.ggml.tokens: expected a list of texts")
        return tokens

    def has(self, name: str) -> bool:
        return name in self._tensors

    def matrix(self, name: str, rows: int, columns: int) -> Weights:
        tensor = self._tensor(name, (rows, columns))
        return Weights(f"{self.path}: {name}", tensor.tensor_type.name, tensor.data, columns)

    def vector(self, name: str, size: int) -> np.ndarray:
        tensor = self._tensor(name, (size,))
        weights = Weights(f"{self.path}: {name}", tensor.tensor_type.name, tensor.data, size)
        return np.array(weights.values().reshape(size))

    def _tensor(self, name: str, shape: tuple[int, ...]) -> Any:
        tensor = self._tensors.get(name)
        if tensor is None:
            raise ModelError(f"{self.path}: has no tensor {name}")
        found = tuple(int(n) for n in reversed(tensor.shape))
        if found != shape:
            raise ModelError(f"{self.path}: {name}: expected the shape {list(shape)}, got {list(found)}")
        return tensor
