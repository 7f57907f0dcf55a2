"""Through which interfaces programs reach a shared object of any project, and what that ties it to; by its file alone."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator

from kernpack_sdk.audit.image import Image


@dataclasses.dataclass(frozen=True)
class Interface:
    kind: str  # "pybind11", "torch", ...; a key of _TITLES
    title: str  # the kind in words
    count: int | None = None  # of functions, or of the symbols that it takes from there
    tie: str | None = None  # the versions it works with; None: any


_TITLES = {
    "kernpack": "Kernpack module",
    "kernpack-backend": "device backend of Kernpack",
    "tvm-ffi": "apache-tvm-ffi module",
    "tvm-ffi-registry": "functions in apache-tvm-ffi's registry",
    "pybind11": "Python extension, by pybind11",
    "nanobind": "Python extension, by nanobind",
    "cython": "Python extension, by Cython",
    "pyo3": "Python extension, by PyO3 (Rust)",
    "swig": "Python extension, by SWIG",
    "python": "Python extension, by Python's C API",
    "torch": "PyTorch's C++ interface",
    "torch-stable": "PyTorch's stable C interface",
    "xla-ffi": "XLA FFI handlers (JAX)",
    "pjrt": "PJRT plugin (JAX)",
    "library": "shared library",
}
# A text that each binding generator leaves in every module that it makes: the key of its own internal state, or its run-time's name.
_GENERATORS = {
    "pybind11": (b"pybind11::",),
    "nanobind": (b"nanobind::detail",),
    "cython": (b"cython_runtime",),
    "pyo3": (b"pyo3_runtime", b"pyo3::"),
    "swig": (b"swig_runtime_data",),
}
# Where the generator's code is in another library, the module asks that one for functions of its namespace.
_NAMESPACES = {"pybind11": "8pybind11", "nanobind": "8nanobind"}
_INIT = "PyInit_"
_MODULE = re.compile(r"kp_module_v\d+$")
_TVM = re.compile(r"__tvm_ffi_(?!_)\w")
_TORCH_LIBRARY = re.compile(r"lib(torch|c10)(_\w+)?\.so")
# Mangled names begin with the namespace: at::, c10::, torch::, of a type's method that is const (K) or not.
_TORCH_CPP = re.compile(r"_ZN[KV]*(2at|3c10|5torch)[0-9A-Z]|_ZT[ISV]N(2at|3c10|5torch)")
_TORCH_C = re.compile(r"(aoti_)?torch_[a-z]")
_FILE = re.compile(r"\.(?:cpython-3(?P<minor>\d+)(?P<threads>t?)|(?P<stable>abi3t?))-?[\w-]*\.so$")


def read(image: Image, needed: Iterable[str]) -> list[Interface]:
    """At least one; the shared library that is none of the others comes last."""
    symbols = list(image.dynamic_symbols())
    exports = {name for name, is_here in symbols if is_here}
    imports = {name for name, is_here in symbols if not is_here}
    found = [
        *_modules(exports, imports),
        *_python(image, exports, imports),
        *_torch(imports, needed),
        *_xla(image, exports),
    ]
    return found or [Interface("library", _TITLES["library"], len(exports))]


def _modules(exports: set[str], imports: set[str]) -> Iterator[Interface]:
    if any(_MODULE.match(name) for name in exports):
        yield Interface("kernpack", _TITLES["kernpack"])
    if any(name.startswith("kp_backend_v") for name in exports):
        yield Interface("kernpack-backend", _TITLES["kernpack-backend"])
    functions = sum(1 for name in exports if _TVM.match(name))
    if functions:
        yield Interface("tvm-ffi", _TITLES["tvm-ffi"], functions)
    elif any(name.startswith("TVMFFI") for name in imports):
        yield Interface("tvm-ffi-registry", _TITLES["tvm-ffi-registry"])


def _python(image: Image, exports: set[str], imports: set[str]) -> Iterator[Interface]:
    if not any(name.startswith(_INIT) for name in exports):
        return
    data = b"".join(_constants(image))
    kinds = [kind for kind, texts in _GENERATORS.items() if any(text in data for text in texts)]
    kinds += [kind for kind, namespace in _NAMESPACES.items() if any(namespace in name for name in imports)]
    kind = kinds[0] if kinds else "python"
    yield Interface(kind, _TITLES[kind], tie=_python_tie(image.path.name))


def _python_tie(file: str) -> str | None:
    """By the suffix, which Python's import goes by; a bare .so is taken by every version, right or not."""
    found = _FILE.search(file)
    if found is None:
        return None
    if found["stable"]:
        return "CPython's stable ABI"
    return f"CPython 3.{found['minor']}{' free-threaded' if found['threads'] else ''} alone"


def _torch(imports: set[str], needed: Iterable[str]) -> Iterator[Interface]:
    cpp = sum(1 for name in imports if _TORCH_CPP.match(name))
    stable = sum(1 for name in imports if _TORCH_C.match(name))
    if cpp or (not stable and any(_TORCH_LIBRARY.match(name) for name in needed)):
        yield Interface("torch", _TITLES["torch"], cpp, "the PyTorch release that it was built with")
    if stable:
        yield Interface("torch-stable", _TITLES["torch-stable"], stable)


def _xla(image: Image, exports: set[str]) -> Iterator[Interface]:
    if "GetPjrtApi" in exports:
        yield Interface("pjrt", _TITLES["pjrt"])
    handlers = sum(1 for name in image.symbols.values() if "XLA_FFI_CallFrame" in name)
    if handlers or any(b"XLA_FFI_" in part for part in _constants(image)):
        yield Interface("xla-ffi", _TITLES["xla-ffi"], handlers or None)


def _constants(image: Image) -> Iterator[bytes]:
    for section in image.sections():
        if section.name.startswith((".rodata", ".rdata")):
            yield section.data()
