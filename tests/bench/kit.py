"""Objects that the topics share: loaded modules of ours and of the peers, made on first use."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any

from harness import Snippet, Timing, interleave

import build


@dataclass
class Kit:
    """`repetitions`: of each comparison."""

    repetitions: int = 60
    ours_flags: tuple[list[str], list[str]] = field(default_factory=build.our_flags)

    def compare(self, candidates: dict[str, Snippet]) -> dict[str, Timing]:
        return interleave(candidates, self.repetitions)

    @cached_property
    def ours(self) -> Any:
        import kernpack

        return kernpack.load(
            str(build.shared_object(build.HERE / "ours" / "our_bench.cc", "our_bench", self.ours_flags))
        )

    @cached_property
    def theirs(self) -> Any:
        import tvm_ffi

        path = build.shared_object(build.HERE / "peers" / "tvm_bench.cc", "tvm_bench", build.tvm_ffi_flags())
        return tvm_ffi.load_module(str(path))

    def theirs_keeping_gil(self, name: str) -> Any:
        """Another handle of the peer's function, which does not release the GIL."""
        function = self.theirs.get_function(name)
        function.release_gil = False
        return function

    @cached_property
    def pybind11(self) -> ModuleType:
        return _extension("pybind11_bench", "peers/pybind11_bench.cc", build.pybind11_flags())

    @cached_property
    def nanobind(self) -> ModuleType:
        return _extension("nanobind_bench", "peers/nanobind_bench.cc", build.nanobind_flags())

    @cached_property
    def floor(self) -> ModuleType:
        return _extension("floor_bench", "peers/floor_bench.c", ([build.python_include()], []), build.CC)


def _extension(name: str, source: str, flags: tuple[list[str], list[str]], compiler: str = build.CXX) -> ModuleType:
    path = build.shared_object(build.HERE / source, name, flags, compiler)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
