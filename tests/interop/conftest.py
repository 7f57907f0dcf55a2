from __future__ import annotations

from pathlib import Path

import pytest
from kernpack_sdk import flags, support
from support.host import INCLUDE
from support.interop import SOURCES, compile_module


@pytest.fixture(scope="session", params=["inline", "linked"])
def our_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """interop_ours.so, built with Kernpack's headers only, or with the support library as kernpack_add_module() does."""
    folder = tmp_path_factory.mktemp("ours")
    extra = []
    if request.param == "linked":
        extra = [flags.support_definition(), *map(str, support.objects(folder))]
    return compile_module(SOURCES / "our_module.cc", folder / "interop_ours.so", f"-I{INCLUDE}", *extra)


def compile_for_peer(source: str, folder: Path) -> Path:
    """One of src/peer_*.cc, built with apache-tvm-ffi's SDK, its metadata included."""
    from tvm_ffi import libinfo

    return compile_module(
        SOURCES / source,
        folder / f"interop_{Path(source).stem}.so",
        f"-I{libinfo.find_include_path()}",
        f"-I{libinfo.find_dlpack_include_path()}",
        "-DTVM_FFI_DLL_EXPORT_INCLUDE_METADATA=1",
        f"-L{Path(libinfo.find_libtvm_ffi()).parent}",
        "-ltvm_ffi",
    )


@pytest.fixture(scope="session")
def peer_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_for_peer("peer_module.cc", tmp_path_factory.mktemp("peer"))


@pytest.fixture(scope="session")
def peer_values_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_for_peer("peer_values.cc", tmp_path_factory.mktemp("peer_values"))


@pytest.fixture(scope="session")
def peer_globals_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_for_peer("peer_globals.cc", tmp_path_factory.mktemp("peer_globals"))


@pytest.fixture(scope="session")
def peer_kernels_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_for_peer("peer_kernels.cc", tmp_path_factory.mktemp("peer_kernels"))


@pytest.fixture(scope="session")
def peer_context_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_for_peer("peer_context.cc", tmp_path_factory.mktemp("peer_context"))
