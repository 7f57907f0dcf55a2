"""A kernel module for Windows that zig makes in a moment: it needs neither Windows' C library nor C++'s."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kernpack_sdk import include_dir

MODULE = """
#include <kernpack/abi.h>
__declspec(dllimport) unsigned long __stdcall GetCurrentProcessId(void);
int DllMainCRTStartup(void* self, unsigned long reason, void* reserved) { return self || reason || !reserved; }
static int copy(KpInstance* self, const KpAny* args, int32_t n, KpAny* result) {
  return self || args || n || result ? (int)GetCurrentProcessId() : 0;
}
static const KpFunctionInfo info = {
    .struct_size = sizeof(KpFunctionInfo), .kind = KP_DEF_FUNCTION, .signature = "(x: f32[N]) -> (out: f32[N])", .doc = "Copies."};
static const KpFunctionDef functions[] = {{"copy", (KpSafeCall)&copy, &info}};
static const KpModule module = {
    .struct_size = sizeof(KpModule), .abi_version = KP_ABI_VERSION, .min_host_abi = KP_ABI_OLDEST_HOST, .name = "my_kernels",
    .version = "1.0.0", .sdk_version = "0.1.0", .functions = functions, .functions_end = functions + 1};
__declspec(dllexport) const KpModule* kp_module_v1(void) { return &module; }
"""


def build(
    folder: Path, source: str = MODULE, *options: str, target: str = "x86_64", name: str = "my_kernels.dll"
) -> Path:
    """A DLL in a new file of the folder."""
    pytest.importorskip("ziglang", reason="ziglang compiles for Windows and is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "module.c").write_text(source)
    zig = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-target",
        f"{target}-windows-gnu",
        "-nostdlib",
        "-shared",
        "-O2",
        "-s",
    ]
    command = [*zig, f"-I{include_dir()}", "module.c", *options, "-lkernel32", "-o", name]
    caches = {"ZIG_LOCAL_CACHE_DIR": str(folder / "zig")}
    done = subprocess.run(command, cwd=folder, env=os.environ | caches, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / name
