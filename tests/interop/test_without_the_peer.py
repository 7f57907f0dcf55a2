"""A module built with apache-tvm-ffi's SDK where that package is not installed: an error that says what to install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import host

CODE = """
import sys
sys.path.insert(0, sys.argv[2])
from support import host
try:
    host.load(sys.argv[1])
except host.Raised as error:
    print(error)
"""


@pytest.mark.parametrize("library", ["", "/nowhere/libtvm_ffi.so"])
def test_a_missing_peer_library_is_reported(peer_path: Path, library: str) -> None:
    environment = {**os.environ, "KERNPACK_TVM_FFI_LIB": library, "KERNPACK_LIBRARY": str(host.library_path())}
    ran = subprocess.run(
        [sys.executable, "-c", CODE, str(peer_path), str(host.ROOT / "tests")],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    why = f" ({library}: cannot open shared object file: No such file or directory)" if library else ""
    assert ran.stdout == (
        f"ImportError: kernpack.load: '{peer_path}' was built with apache-tvm-ffi and needs its library libtvm_ffi.so, "
        f"which was not found{why}; run `pip install apache-tvm-ffi`, or set KERNPACK_TVM_FFI_LIB to the library's path\n"
    )


LOOKS = """
import sys

looked = []


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "tvm_ffi":
            looked.append(name)


import kernpack

sys.meta_path.insert(0, Finder())
kernpack.load(sys.argv[1])
ours = list(looked)
kernpack.load(sys.argv[2])
print(ours, looked)
"""


def test_only_a_module_built_with_the_peer_looks_for_it(our_path: Path, peer_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LOOKS, str(our_path), str(peer_path)], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "[] ['tvm_ffi']\n"
