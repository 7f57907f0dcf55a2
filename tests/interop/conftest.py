from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from kernpack_sdk import flags, support
from support.host import INCLUDE

SOURCES = Path(__file__).parent / "src"


def compile_module(source: Path, out: Path, *flags: str) -> Path:
    command = [
        "g++",
        "-std=c++17",
        "-O1",
        "-shared",
        "-fPIC",
        "-fvisibility=hidden",
        "-fno-gnu-unique",
        *flags,
        str(source),
        "-o",
        str(out),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return out


@pytest.fixture(scope="session", params=["inline", "linked"])
def our_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """interop_ours.so, built with Kernpack's headers only, or with the support library as kernpack_add_module() does."""
    folder = tmp_path_factory.mktemp("ours")
    extra = []
    if request.param == "linked":
        extra = [flags.support_definition(), *map(str, support.objects(folder))]
    return compile_module(SOURCES / "our_module.cc", folder / "interop_ours.so", f"-I{INCLUDE}", *extra)


@pytest.fixture(scope="session")
def peer_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """interop_peer.so, built with apache-tvm-ffi's SDK, its metadata included."""
    from tvm_ffi import libinfo

    return compile_module(
        SOURCES / "peer_module.cc",
        tmp_path_factory.mktemp("peer") / "interop_peer.so",
        f"-I{libinfo.find_include_path()}",
        f"-I{libinfo.find_dlpack_include_path()}",
        "-DTVM_FFI_DLL_EXPORT_INCLUDE_METADATA=1",
        f"-L{Path(libinfo.find_libtvm_ffi()).parent}",
        "-ltvm_ffi",
    )
