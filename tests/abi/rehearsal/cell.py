"""One cell, in a process of its own: loads a module under the kernpack that PYTHONPATH names, and calls what it is told to.

python cell.py MODULE.so FUNCTION...   prints {"load": "works" or an error, FUNCTION: likewise, ...} as JSON.
python cell.py backend BACKEND.so MODULE.so RESULT   loads a backend, copies through it, and asks it for 1.1's service by way of
    the module's device_news().
python cell.py peer MODULE.so FUNCTION...   the same under apache-tvm-ffi, through the aliases; with `beside` instead of `peer`,
    kernpack is imported before.
python cell.py import NAME             prints {"import": likewise}.
"""

from __future__ import annotations

import importlib
import json
import sys
from array import array
from collections.abc import Callable
from typing import Any


def expect(got: object, wanted: object) -> None:
    if got != wanted:
        raise AssertionError(f"expected {wanted!r}, got {got!r}")


def floats(values: Any) -> list[float]:
    return memoryview(values.numpy() if hasattr(values, "numpy") else values).tolist()


def twice(function: Callable[..., Any]) -> None:
    expect(floats(function(array("f", [1, 2, 3]))), [2, 4, 6])


def raises(function: Callable[..., Any]) -> None:
    try:
        function()
    except ValueError as error:
        if "the module says no" not in str(error):
            raise
    else:
        raise AssertionError("no error")


def row_sums(function: Callable[..., Any]) -> None:
    six = memoryview(array("f", range(6))).cast("B").cast("f", (2, 3))
    expect(floats(function(six)), [[5, 5, 5], [50, 50, 50]])


CALLS: dict[str, Callable[[Callable[..., Any]], None]] = {
    "add": lambda f: expect(f(40, 2), 42),
    "twice": twice,
    "square": lambda f: expect(floats(f(array("f", [1, 2, 3]))), [1, 4, 9]),
    "row_sums": row_sums,
    "refuse": raises,
    "count_devices": lambda f: expect(f(), 1),
    "chosen": lambda f: expect(floats(f()), [7]),
    "news": lambda f: expect(f(41), 42),
    "word": twice,
}


def attempt(action: Callable[[], Any]) -> str:
    try:
        action()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "works"


def use_backend(path: str, module: str, result: str) -> dict[str, str]:
    import kernpack

    def copy() -> None:
        device = kernpack.devices("rehearsed")[0]
        expect(floats(kernpack.from_dlpack(kernpack.zeros((3,), "f32")).to(device).to("cpu")), [0, 0, 0])

    def news() -> None:
        expect(kernpack.load(module).device_news(kernpack.devices("rehearsed")[0].code), int(result))

    outcome = {"load": attempt(lambda: kernpack.load_backend(path))}
    if outcome["load"] == "works":
        outcome |= {"copy": attempt(copy), "device_news": attempt(news)}
    return outcome


def use_module(path: str, names: list[str], load: Callable[[str], Any]) -> dict[str, str]:
    loaded: list[Any] = []
    outcome = {"load": attempt(lambda: loaded.append(load(path)))}
    for name in names if loaded else []:
        outcome[name] = attempt(lambda name=name: CALLS[name](getattr(loaded[0], name)))
    return outcome


class Foreign:
    """A module under apache-tvm-ffi, which takes and gives tensors by DLPack."""

    def __init__(self, path: str) -> None:
        import numpy
        import tvm_ffi

        self.numpy = numpy
        self.ffi = tvm_ffi
        self.module = tvm_ffi.load_module(path)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = self.module.get_function(name)

        def call(*args: Any) -> Any:
            given = [a if isinstance(a, int) else self.ffi.from_dlpack(self.numpy.asarray(a)) for a in args]
            got = function(*given)
            return self.numpy.from_dlpack(got) if hasattr(got, "__dlpack__") else got

        return call


def main(path: str, *names: str) -> dict[str, str]:
    if path == "import":
        return {"import": attempt(lambda: importlib.import_module(names[0]))}
    if path in ("peer", "beside"):
        if path == "beside":
            importlib.import_module("kernpack")
        return use_module(names[0], list(names[1:]), Foreign)
    if path == "backend":
        return use_backend(*names)
    import kernpack

    return use_module(path, list(names), kernpack.load)


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
