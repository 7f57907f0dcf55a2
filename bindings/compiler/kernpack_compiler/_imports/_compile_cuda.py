"""CUDA C++ to PTX or a cubin by NVRTC, with NVIDIA's headers from Python packages or a toolkit. Needs no GPU."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path

from kernpack_compiler import _nvrtc

_PACKAGES = "pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl"


def header_folders(who: str) -> list[Path]:
    """Folders with NVIDIA's headers: of Python packages, else of the toolkit. ImportError where there are none."""
    spec = importlib.util.find_spec("nvidia")
    packages = [Path(folder) for folder in (spec.submodule_search_locations or () if spec else ())]
    folders = [folder for package in packages for folder in package.glob("*/include")]
    toolkit = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
    folders.append(Path(toolkit) / "include")
    found = next((folder for folder in folders if (folder / "cuda_fp16.h").is_file()), None)
    if found is None:
        raise ImportError(f"{who} needs NVIDIA's headers, such as cuda_fp16.h: {_PACKAGES}, or set CUDA_HOME")
    return [found, *(folder / "cccl" for folder in folders if (folder / "cccl").is_dir())]


def compile_cuda(source: str, arch: str, options: Sequence[str], who: str) -> bytes:
    """arch: "sm_80" gives a cubin, "compute_80" PTX. ImportError without NVRTC; RuntimeError with what it says of the source."""
    nvrtc = _open(who)
    program = ctypes.c_void_p()
    _check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None), who)
    try:
        words = [f"--gpu-architecture={arch}".encode(), *(option.encode() for option in options)]
        failed = nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
        if failed:
            log = _text(nvrtc, program, "ProgramLog").decode(errors="replace").rstrip("\0")
            errors = [line for line in log.splitlines() if "error" in line] or [log]
            raise RuntimeError(f"{who}: NVRTC doesn't compile the source for {arch}: " + "\n".join(errors[:8]))
        return _text(nvrtc, program, "CUBIN" if arch.startswith("sm_") else "PTX")
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _open(who: str) -> ctypes.CDLL:
    path = _nvrtc.find()
    try:
        for builtins in Path(path).parent.glob("libnvrtc-builtins.so*") if path else ():
            ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
        return ctypes.CDLL(path or "libnvrtc.so")
    except OSError as error:
        raise ImportError(f"{who} needs NVRTC, which compiles the kernel: {_PACKAGES} ({error})") from error


def _text(nvrtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, text)
    return text.raw


def _check(result: int, who: str) -> None:
    if result:
        raise RuntimeError(f"{who}: NVRTC fails with error {result}")
