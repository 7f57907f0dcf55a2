"""Loads a golden binary and calls all of it, in a process of its own.

python use.py ours|peer BINARY.so: under kernpack, or under the apache-tvm-ffi that is imported. Prints the host's version and
the functions that it called.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SIX = np.arange(6, dtype=np.float32).reshape(2, 3)
X = np.array([1, 2, 3], np.float32)


class Ours:
    """kernpack.load(): NumPy arrays in, NumPy arrays out."""

    def __init__(self, path: str) -> None:
        import kernpack

        self.module = kernpack.load(path)
        self.version = kernpack.__version__

    def call(self, name: str, *args: Any, **keywords: Any) -> Any:
        return getattr(self.module, name)(*args, **keywords)

    def function(self, f: Callable[[int], int]) -> Any:
        return f


class Theirs:
    """tvm_ffi.load_module(): positional, through the aliases; tensors cross by DLPack."""

    def __init__(self, path: str) -> None:
        import tvm_ffi

        self.ffi = tvm_ffi
        self.version = tvm_ffi.__version__
        self.module = tvm_ffi.load_module(path)

    def call(self, name: str, *args: Any, **keywords: Any) -> Any:
        given = [self.ffi.from_dlpack(a) if isinstance(a, np.ndarray) else a for a in (*args, *keywords.values())]
        got = self.module.get_function(name)(*given)
        return np.from_dlpack(got) if hasattr(got, "__dlpack__") else got

    def function(self, f: Callable[[int], int]) -> Any:
        return self.ffi.convert(f)


def same(what: str, got: Any, wanted: Any) -> None:
    if not np.array_equal(got, wanted):
        raise AssertionError(f"{what}: expected {wanted!r}, got {got!r}")


def fails(host: Any) -> None:
    try:
        host.call("fail")
    except Exception as error:
        if not isinstance(error, ValueError) or "golden says no" not in str(error):
            raise AssertionError(f"fail: expected a ValueError, got {error!r}") from error
    else:
        raise AssertionError("fail: no error")


def keeps(host: Any) -> None:
    same("keep", host.call("keep", 5), -1)
    same("keep again", host.call("keep", 6), 5)


def refuses_a_wrong_dtype(host: Any) -> None:
    try:
        host.call("scale", X.astype(np.float64), a=3.0)
    except TypeError as error:
        if "scale" not in str(error):
            raise AssertionError(f"scale: the error does not name it: {error}") from error
    else:
        raise AssertionError("scale takes f64")


CHECKS: dict[str, Callable[[Any], None]] = {
    "add": lambda host: same("add", host.call("add", 40, 2), 42),
    "scale": lambda host: (same("scale", host.call("scale", X, a=3.0), 3 * X), refuses_a_wrong_dtype(host)),
    "fail": fails,
    "keep": keeps,
    "sum_to": lambda host: same("sum_to", host.call("sum_to", 100), 5050),
    "call_back": lambda host: same("call_back", host.call("call_back", host.function(lambda n: 2 * n), 20), 41),
    "pick": lambda host: same("pick", host.call("pick"), [2]),  # every machine of the CI is at least x86-64-v2
    "square": lambda host: same("square", host.call("square", X), X * X),
    "square_backward": lambda host: same("square_backward", host.call("square_backward", X, X), 2 * X * X),
    "reversed": lambda host: same("reversed", host.call("reversed", X), X[::-1]),
    "greet": lambda host: same("greet", host.call("greet", "a long enough name"), "hello a long enough name"),
    "row_sums": lambda host: same(
        "row_sums", host.call("row_sums", SIX), np.repeat((SIX * SIX).sum(axis=1, keepdims=True), 3, axis=1)
    ),
}
_SHARED = ("add", "scale", "fail", "keep", "sum_to", "call_back", "pick", "square", "square_backward")
_GENERATED = ("scale", "square", "square_backward", "row_sums")
FUNCTIONS = {
    "c_gcc": _SHARED,
    "c_clang": _SHARED,
    "cxx_gcc": (*_SHARED, "reversed", "greet"),
    "cxx_clang": (*_SHARED, "reversed", "greet"),
    "generated_c": _GENERATED,
    "generated_llvm": _GENERATED,
}

DIFFERENTIATED = (
    "c_gcc",
    "cxx_gcc",
    "generated_llvm",
)  # of the other compiler's it is the same table; torch takes seconds


def differentiate(host: Ours) -> None:
    """The gradient that the table links, through torch."""
    import torch

    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    host.call("square", x).sum().backward()
    same("gradient", x.grad.numpy(), 2 * X)


def use_backend(path: str) -> None:
    import kernpack

    kernpack.load_backend(path)
    device = kernpack.devices("rehearsed")[0]
    same("copy", kernpack.from_dlpack(X).to(device).to("cpu").numpy(), X)


def main(who: str, path: str) -> None:
    name = Path(path).stem
    if name == "backend":
        use_backend(path)
        return
    host = Ours(path) if who == "ours" else Theirs(path)
    names = FUNCTIONS[name]
    if who == "peer" and name in ("c_gcc", "c_clang"):
        names = ("add",)  # the one alias that it has
    for function in names:
        CHECKS[function](host)
    if who == "ours" and name in DIFFERENTIATED:
        differentiate(host)
    print(host.version, *names)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
