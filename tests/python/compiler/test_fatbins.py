"""import_kernel() of fatbins: which codes it finds in them, and how it refuses damaged ones."""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
from pathlib import Path

import pytest
from cubins import make_cubin
from fatbins import CUBIN, LZ4, PTX, ZSTD, compress_lz4, make_fatbin, make_image

kc = pytest.importorskip("kernpack_compiler", reason="the wheel kernpack-compiler is not installed")

if "llvm" not in kc.list_generators():
    pytest.skip("LLVM makes the functions that launch imported kernels", allow_module_level=True)

ROWS = Path(__file__).with_name("rows.ptx")
TEXT = ROWS.read_bytes()
CUBIN_OF_ROWS = make_cubin([8, 8, 4, 4], 90, "normalise")


def targets(code: object) -> list[str]:
    made = kc.import_kernel(
        code,
        "(x: f32[R, N], k: float = 1.0) -> (y: f32[R, N])",
        entry="normalise",
        args=["x", "y", "N", "k"],
        grid="R",
        block=32,
        shared=128,
    )
    assert all(binary.code.data in (TEXT, CUBIN_OF_ROWS, TEXT * 2) for _, binary, _ in made.kernels)
    return made.targets


def compress_zstd(data: bytes) -> bytes:
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        pytest.skip("libzstd is not installed")
    packed = ctypes.create_string_buffer(2 * len(data) + 100)
    size = library.ZSTD_compress(packed, len(packed), data, len(data), 3)
    return packed.raw[:size]


def test_each_code_is_taken() -> None:
    fatbin = make_fatbin(make_image(CUBIN, CUBIN_OF_ROWS), make_image(PTX, TEXT.ljust(-(-len(TEXT) // 8) * 8, b"\0")))
    made = kc._imports._code.read(fatbin, "test")
    assert [image.target for image in made] == ["cuda -arch=sm_90", "cuda -arch=compute_80"]
    assert made[0].data == CUBIN_OF_ROWS.ljust(len(made[0].data), b"\0")
    assert made[1].data.rstrip(b"\0") == TEXT.rstrip(b"\0")


def test_the_author_says_for_which_architecture_a_cubin_is() -> None:
    fatbin = make_fatbin(make_image(CUBIN, CUBIN_OF_ROWS), make_image(PTX, TEXT, ZSTD, len(TEXT)))
    with pytest.raises(ValueError, match="damaged: an image can't be decompressed"):
        targets({"sm_90a": fatbin})
    fatbin = make_fatbin(
        make_image(CUBIN, compress_zstd(CUBIN_OF_ROWS), ZSTD, len(CUBIN_OF_ROWS)),
        make_image(PTX, compress_zstd(TEXT), ZSTD, len(TEXT)),
    )
    assert targets({"sm_90a": fatbin}) == ["cuda -arch=sm_90a"]
    with pytest.raises(ValueError, match="expected code for sm_100, got a fatbin with code for sm_90, compute_80"):
        targets({"sm_100": fatbin})


def test_lz4() -> None:
    twice = TEXT * 2
    fatbin = make_fatbin(make_image(PTX, compress_lz4(twice), LZ4, len(twice)))
    assert targets(fatbin) == ["cuda -arch=compute_80"]


@pytest.mark.parametrize(
    ("fatbin", "message"),
    [
        (bytes.fromhex("50ed55ba"), "the fatbin is truncated or damaged"),
        (make_fatbin(make_image(PTX, TEXT))[:-1], "the fatbin is truncated or damaged: its header says"),
        (make_fatbin(make_image(PTX, TEXT)[:80]), "an image lies beyond its end"),
        (make_fatbin(make_image(PTX, TEXT, LZ4, 1 << 40)), "an image lies beyond its end"),
        (
            make_fatbin(make_image(PTX, compress_lz4(TEXT * 2)[:-9], LZ4, 2 * len(TEXT))),
            "the fatbin is truncated or damaged",
        ),
        (make_fatbin(make_image(PTX, b"\x10a\x05\x00" * 8, LZ4, 1000)), "an image can't be decompressed"),
        (make_fatbin(make_image(8, TEXT)), "the fatbin has an image of kind 8, which is neither PTX nor a cubin"),
        (make_fatbin(), "expected PTX or a cubin, got none"),
    ],
)
def test_a_damaged_one_is_refused(fatbin: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        targets(fatbin)


@pytest.mark.parametrize("mode", ["none", "speed", "size"])
def test_what_nvidias_program_makes(mode: str, tmp_path: Path) -> None:
    found = importlib.util.find_spec("nvidia")
    tools = [Path(folder, "cu13/bin/fatbinary") for folder in (found.submodule_search_locations or [])] if found else []
    tool = next((tool for tool in tools if tool.exists()), None)
    if tool is None:
        pytest.skip("nvidia-cuda-nvcc is not installed")
    out = tmp_path / "rows.fatbin"
    subprocess.run(
        [tool, "--64", f"--compress-mode={mode}", f"--create={out}", f"--image3=kind=ptx,sm=80,file={ROWS}"], check=True
    )
    made = kc._imports._code.read(out, "test")  # the program takes comments out
    assert [(image.target, dict(image.entries)) for image in made] == [
        (image.target, dict(image.entries)) for image in kc._imports._code.read(ROWS, "test")
    ]
