"""The public Python API is what public_api.txt beside this file says: a change of it is made on purpose, and reviewed as one.

`python tests/python/core/test_public_api.py` writes the file anew."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("public_api.txt")
PACKAGES = (
    "kernpack",
    "kernpack.jax",
    "kernpack.storage",
    "kernpack.torch",
    "kernpack_sdk",
    "kernpack_sdk.testing",
    "kernpack_kernels.jax",
    "kernpack_kernels.torch",
    "kernpack_kernels.torch.functional",
    "kernpack_kernels.torch.nn",
    "kernpack_compiler",
    "kernpack_compiler.ir",
    "kernpack_compiler.lang",
    "kernpack_compiler.program",
    "kernpack_cuda_emulator",
)


def _signature(value: object) -> str:
    """Names and defaults of the parameters; annotations may become more exact."""
    try:
        signature = inspect.signature(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "(...)" if callable(value) else ""
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    shown = [p if p.default is p.empty or _plain(p.default) else p.replace(default=...) for p in bare]
    return str(inspect.Signature(shown))


def _plain(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float | str | tuple)


def _public(module: object, name: str) -> list[str]:
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(listed)
    root = name.partition(".")[0]
    return sorted(
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and (getattr(value, "__module__", None) or "").partition(".")[0] == root
    )


def described(package: str) -> Iterator[str]:
    module = importlib.import_module(package)
    for name in _public(module, package):
        value = getattr(module, name)
        if inspect.ismodule(value):
            yield f"{package}.{name} module"
        elif inspect.isclass(value):
            bases = ", ".join(base.__name__ for base in value.__bases__ if base is not object)
            yield f"{package}.{name} class" + (f" of {bases}" if bases else "")
            ours = [base for base in value.__mro__ if base.__module__.partition(".")[0] == package.partition(".")[0]]
            for member in sorted({key for base in ours for key in vars(base) if not key.startswith("_")}):
                yield f"{package}.{name}.{member}{_signature(inspect.getattr_static(value, member))}"
        else:
            yield f"{package}.{name}{_signature(value)}"


def _text(package: str) -> list[str]:
    return [line for line in FILE.read_text(encoding="utf-8").splitlines() if line.startswith(f"[{package}] ")]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_public_names_are_those_of_the_committed_description(package: str) -> None:
    pytest.importorskip(package, reason=f"{package} is not installed")
    found = [f"[{package}] {line}" for line in described(package)]
    assert found == _text(package), f"run `python {Path(__file__).name}` and add a line to CHANGELOG.md"


if __name__ == "__main__":
    lines = [f"[{package}] {line}" for package in PACKAGES for line in described(package)]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
