"""By which interfaces anybody's shared object is called, and what they tie it to: read from its symbols and texts."""

from __future__ import annotations

import mmap
import re
from pathlib import Path

from kernpack_sdk.audit.image import Image
from kernpack_sdk.audit.torch_requirement import CXX_API

_STABLE_TORCH = re.compile(r"^(aoti_torch_|torch_(call_dispatcher|library_|parallel_for|get_num_threads))")
# Texts by which generated code of each tool is told.
_BINDINGS = {
    b"nanobind": "nanobind",
    b"pybind11": "pybind11",
    b"cython_runtime": "Cython",
    b"__pyx_": "Cython",
}
_ONE_PYTHON = re.compile(r"\.cpython-(\d)(\d+)(t?)-")


def interfaces(path: Path) -> list[str]:
    """One line each, as `kernpack inspect` prints them. Empty: none that is known. ValueError where the file isn't a shared object."""
    with Image(path) as image:
        symbols = list(image.dynamic_symbols())
    here = {name for name, is_here in symbols if is_here}
    elsewhere = {name for name, is_here in symbols if not is_here}
    found = []
    if any(name.startswith("kp_module_v") for name in here):
        found.append("Kernpack")
    elif any(name.startswith("__tvm_ffi_") for name in here):
        found.append("apache-tvm-ffi")
    texts = _texts(path, (*_BINDINGS, b"XLA_FFI_"))
    if any(name.startswith("PyInit_") for name in here):
        made = dict.fromkeys(tool for text, tool in _BINDINGS.items() if text in texts)
        found.append(f"Python extension{_python(path.name)}{''.join(f', made with {tool}' for tool in list(made)[:1])}")
    if any(CXX_API.match(name) for name in elsewhere - here):
        found.append("torch's C++ API, which changes with each minor release of torch")
    if any(_STABLE_TORCH.match(name) for name in elsewhere - here):
        found.append("torch's stable C API")
    if b"XLA_FFI_" in texts:
        found.append("XLA FFI")
    return found


def _python(name: str) -> str:
    if tied := _ONE_PYTHON.search(name):
        return f" for CPython {tied[1]}.{tied[2]}{tied[3]} alone"
    return " for several versions of Python (abi3)" if ".abi3" in name else ""


def _texts(path: Path, wanted: tuple[bytes, ...]) -> set[bytes]:
    """Those of the texts that the file contains."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return {text for text in wanted if content.find(text) >= 0}
