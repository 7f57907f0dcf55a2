"""Code with AMX's matrix tiles runs where Linux gives them to the process, which is asked only where such code would run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

MAY_TILES = "amx_tile" in Path("/proc/cpuinfo").read_text().split()
SETUP = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)

def permitted():  # ARCH_GET_XCOMP_PERM of Linux
    granted = ctypes.c_uint64()
    assert libc.syscall(158, 0x1022, ctypes.byref(granted)) == 0
    return bool(granted.value >> 18 & 1)

class Stack(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]

def use_small_signal_stack():
    memory = ctypes.create_string_buffer(4096)
    stack = Stack(ctypes.addressof(memory), 0, 4096)
    assert libc.sigaltstack(ctypes.byref(stack), None) == 0, ctypes.get_errno()
    return memory
"""
LOAD = """
import kernpack
assert not permitted()
chosen = [v["target"] for v in kernpack.load("kernpack_kernels").functions["packed_linear"].variants if v["chosen"]]
assert len(chosen) == 1, chosen
print(chosen[0], permitted())
"""
needs_amx = pytest.mark.skipif(not MAY_TILES, reason="this processor has no AMX")


def run(program: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", SETUP + program],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@needs_amx
def test_tiles_are_asked_for_where_code_that_uses_them_runs():
    target, permitted = run(LOAD).rsplit(" ", 1)
    assert "+amx-bf16" in target
    assert permitted == "True"


@needs_amx
def test_tiles_are_not_asked_for_where_the_target_has_none():
    target, permitted = run(LOAD, KERNPACK_TARGET="llvm -mcpu=x86-64-v4 -mattr=+avx512vnni,+avx512bf16").rsplit(" ", 1)
    assert target.endswith("+avx512bf16")
    assert permitted == "False"


@needs_amx
def test_where_linux_refuses_them_other_code_runs_and_the_reason_is_said():
    """A thread's stack for signals that is too small for the state of tiles."""
    why = """
variants = kernpack.load("kernpack_kernels").functions["packed_linear"].variants
print(*(v["reason"] for v in variants if "amx" in (v["target"] or "")))
"""
    chosen, reason = run("kept = use_small_signal_stack()\n" + LOAD + why).splitlines()
    assert chosen.endswith("+avx512bf16 False")
    assert reason == "Linux doesn't give this process amx-tile"


def test_targets_for_generated_code_name_no_tiles():
    """None is generated, and a process may be refused them."""
    compiler = pytest.importorskip("kernpack_compiler", reason="kernpack_compiler isn't installed")
    assert "amx" not in str(compiler.Target.from_device("cpu"))
