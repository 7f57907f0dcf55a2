"""The names, flags and folders that Kernpack uses on Windows, as far as they show on another system."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import types
from pathlib import Path
from types import ModuleType

import pytest
from kernpack import _compile, _core_helpers, _jax_questions, _system
from kernpack._cli import doctor
from kernpack_sdk import flags, include_dir


def _of_windows(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """kernpack._system as it is imported there."""
    monkeypatch.setattr(os, "name", "nt")
    spec = importlib.util.spec_from_file_location("windows_system", _system.__file__)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    monkeypatch.undo()
    return made


def test_names(monkeypatch: pytest.MonkeyPatch) -> None:
    windows = _of_windows(monkeypatch)
    assert (windows.SUFFIX, windows.library_file("kernpack")) == (".dll", "kernpack.dll")
    assert (_system.SUFFIX, _system.library_file("kernpack")) == (".so", "libkernpack.so")
    assert windows.is_module("my_kernels.dll")
    assert not windows.is_module("_core.pyd")
    assert not windows.is_module("my_kernels.so")
    assert _system.is_module("my_kernels.so")
    assert not _system.is_module("_core.abi3.so")


def test_the_folder_of_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    windows = _of_windows(monkeypatch)
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert str(windows.cache_home()) == "/local"
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert str(_system.cache_home()) == "/caches"


def test_processes_that_do_not_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "register_at_fork")
    _system.after_fork(lambda: None)


def test_hooks_into_torch_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernpack import _private

    monkeypatch.setattr(_private, "WINDOWS", True)
    assert _private._unwanted("torch.fields") == "Windows"
    assert _private._unwanted("jax.shares") == ""


def test_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    linux = [*flags.compile_flags(), *flags.link_flags()]
    monkeypatch.setattr(flags.os, "name", "nt")
    windows = [*flags.compile_flags(), *flags.link_flags()]
    monkeypatch.undo()
    assert "-fPIC" in linux
    assert "-fPIC" not in windows  # clang refuses it there
    assert not any(flag.startswith("-Wl,-z") for flag in windows)
    assert {"-std=c++17", "-fvisibility=hidden", "-shared"} <= set(windows)


def test_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_compile, "WINDOWS", True)
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match="load_inline: no compiler; pip install ziglang, or set CXX to clang or zig"):
        _compile._compiler("load_inline", "c++")
    with pytest.raises(NotImplementedError, match="load_inline: CUDA code doesn't compile on Windows yet; use Linux"):
        _compile._compiler("load_inline", "cuda")


@pytest.mark.parametrize("command", ["cl", r"C:\VC\cl.exe", "clang-cl"])
def test_the_compiler_of_visual_studio_is_refused(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setattr(_compile, "split_command", lambda text: [text])
    monkeypatch.setenv("CXX", command)
    said = f"load_inline: CXX names '{command}', but compilers with the options of MSVC's cl aren't supported; set it to clang or zig"
    with pytest.raises(RuntimeError, match=re.escape(said)):
        _compile._compiler("load_inline", "c++")


def test_the_headers_refuse_the_compiler_of_visual_studio(tmp_path: Path) -> None:
    source = tmp_path / "kernel.cc"
    source.write_text("#include <kernpack/kernel.h>\n")
    command = [
        "g++",
        "-std=c++17",
        "-D_MSC_VER=1940",
        "-fmax-errors=1",
        f"-I{include_dir()}",
        "-fsyntax-only",
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "\"Kernpack: MSVC's cl isn't supported; compile with zig (pip install ziglang) or clang\"" in done.stderr


def test_jax_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Array:
        pass

    monkeypatch.setattr(_jax_questions, "WINDOWS", True)
    monkeypatch.setitem(sys.modules, "jax", types.SimpleNamespace(Array=Array))
    assert _core_helpers.jax_kind(1.0) == 0
    with pytest.raises(NotImplementedError, match="Kernpack doesn't support JAX on Windows yet; pass NumPy arrays"):
        _core_helpers.jax_kind(Array())


def test_doctor_names_what_is_missing_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "WINDOWS", True)
    monkeypatch.delenv("CXX", raising=False)
    found = {each.what: each for each in doctor.examine()}
    assert found["C++ compiler"].state == "ok"
    assert "clang version" in found["C++ compiler"].found
    assert found["jax"].found == "not on Windows yet; pass NumPy arrays or torch tensors, or use Linux"
    assert found["CUDA, OpenCL"].found == "not on Windows yet; use Linux"
    assert not {"nvcc", "NVRTC"} & found.keys()
    with pytest.raises(RuntimeError, match=r"^ImportError: kernpack.load: no package 'not_there'"):
        doctor._tried("not_there")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    absent = doctor._zig()
    assert (absent.state, absent.mend) == ("absent", "pip install ziglang, or set CXX to clang or zig")
