"""The content of a module's file: no initialiser of its own, no symbol but the listed ones, no library but the C and C++ ones."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from kernpack_sdk import elf, flags, support

WIDE = Path(__file__).with_name("wide.cc").read_text()
EXPORTS = ("__tvm_ffi_everything", "__tvm_ffi_make", "__tvm_ffi_norm", "kp_module_v1")


def _sections(path: Path) -> dict[str, int]:
    """Sizes in bytes, by name."""
    text = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True).stdout
    row = r"\]\s+(\.?[\w.]+)\s+[A-Z_]+\s+[0-9a-f]{16} [0-9a-f]+ ([0-9a-f]+)"
    return {name: int(size, 16) for name, size in re.findall(row, text)}


def _link(folder: Path, name: str, text: str, *options: str) -> Path:
    source, path = folder / f"{name}.cc", folder / f"{name}.so"
    source.write_text(text)
    subprocess.run(
        ["g++", "-O2", *flags.compile_flags(), source, *options, *flags.link_flags(), "-o", path], check=True
    )
    return path


@pytest.fixture(params=["inline", "linked"])
def wide(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    linked = request.param == "linked"
    extra = [flags.support_definition(), *map(str, support.objects(tmp_path))] if linked else []
    return _link(tmp_path, "wide", WIDE, *extra)


def test_only_the_toolchains_initialisers(wide: Path, tmp_path: Path) -> None:
    nothing = _sections(_link(tmp_path, "nothing", ""))
    sections = _sections(wide)
    assert sections["kp_defs"] == 4 * 24
    for name in (".init_array", ".fini_array", ".ctors", ".preinit_array"):
        assert sections.get(name, 0) == nothing.get(name, 0), name


def test_only_listed_symbols(wide: Path) -> None:
    described = elf.read(wide)
    assert described.exports == EXPORTS
    needed = subprocess.run(["readelf", "-dW", wide], check=True, capture_output=True, text=True).stdout
    libraries = set(re.findall(r"\(NEEDED\).*\[([^\]]+?)\.so", needed))
    assert libraries <= {
        "libc",
        "libm",
        "libstdc++",
        "libgcc_s",
        "libdl",
        "libpthread",
        "ld-linux-x86-64",
    }  # the last: TLS


def test_full_relro(wide: Path) -> None:
    text = subprocess.run(["readelf", "-ldW", wide], check=True, capture_output=True, text=True).stdout
    assert "GNU_RELRO" in text
    assert re.search(r"FLAGS_1\).*NOW", text)
    assert re.search(r"FLAGS_1\).*NODELETE", text)
    assert not re.search(r"GNU_STACK.* RWE ", text)


def test_an_initialiser_of_the_authors_is_seen(tmp_path: Path) -> None:
    """The check above can fail: an author's own static object does appear."""
    text = "int f();\nint x = f();\nint f() { return __builtin_ia32_rdtsc() & 1; }\n"
    assert (
        _sections(_link(tmp_path, "own", text))[".init_array"] > _sections(_link(tmp_path, "none", ""))[".init_array"]
    )
