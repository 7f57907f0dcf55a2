"""Which kernels the emulated device runs, found without running them; and the PTX that it keeps."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path

import pytest
from emulated import run

HERE = Path(__file__).parent
emulator = pytest.importorskip("kernpack_cuda_emulator", reason="the wheel kernpack-cuda-emulator is not installed")
HEADER = ".version 8.6\n.target sm_90\n.address_size 64\n"
RUNS = (
    HEADER
    + ".visible .entry one() { .reg .b32 %r<3>; mov.u32 %r1, %tid.x; add.u32 %r2, %r1, %r1; add.u32 %r2, %r2, 1; ret; }\n"
)
REFUSED = (
    HEADER
    + """.visible .entry one() {
tcgen05.shift.cta_group::1.down;
ret;
}
.func helper() {
st.async.weak.b32;
ret;
}
.visible .entry two() {
.reg .b32 %r<2>;
mov.u32 %r1, %tid.x;
call helper, ();
ret;
}
"""
)


def fatbin(*entries: tuple[int, bytes]) -> bytes:
    """Of kinds 1, PTX, and 2, machine code."""
    body = b"".join(
        struct.pack("<HHIQI4xHHI8xQ8xQ", kind, 0x101, 64, len(code), 0, 0, 0, 80, 0, 0) + code for kind, code in entries
    )
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "code"


def test_every_kind_of_instruction_is_counted(file: Path) -> None:
    file.write_text(RUNS)
    (code,) = emulator.survey(file)
    assert (code.ptx, code.target, code.kernels, code.error) == ("8.6", "sm_90", ("one",), "")
    assert code.instructions == Counter({"add.u32": 2, "mov.u32": 1, "ret": 1})
    assert code.refused == ()


def test_each_instruction_that_does_not_run_is_named_with_its_kernel(file: Path) -> None:
    file.write_text(REFUSED)
    (code,) = emulator.survey(file)
    assert [(refusal.kernel, refusal.line) for refusal in code.refused] == [("one", 5), ("two", 9)]
    done = run("-m", "kernpack_cuda_emulator", "code", file)
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines() == [
        f"{file}: 2 kernels, 7 instructions of 5 kinds; the emulated device doesn't run all",
        "  one: PTX line 5: tcgen05.shift.cta_group::1.down isn't emulated",
        "  two: PTX line 9: st.async.weak.b32 isn't emulated: the modifier .async is not known here",
    ]


def test_all_code_of_a_file_is_found(file: Path) -> None:
    """Two fatbins and a text among other bytes, as in a shared object."""
    other = RUNS.replace("one", "other").encode()
    file.write_bytes(
        b"\x7fELF"
        + bytes(60)
        + fatbin((1, RUNS.encode()))
        + bytes(7)
        + other
        + b"\0"
        + fatbin((2, b"\x7fELF" + bytes(60)))
    )
    first, second, third = emulator.survey(file)
    assert (first.kernels, second.kernels) == (("one",), ("other",))
    assert third.error.startswith("the emulated device runs PTX, and this image has machine code only")
    done = run("-m", "kernpack_cuda_emulator", "code", "--every", file)
    assert done.returncode == 1, done.stderr
    head, unread, *kinds = done.stdout.splitlines()
    assert head == f"{file}: 2 kernels, 8 instructions of 3 kinds; the emulated device doesn't run all"
    assert unread.startswith("  1 image: the emulated device runs PTX")
    assert [kind.split() for kind in kinds] == [["4", "add.u32"], ["2", "mov.u32"], ["2", "ret"]]


def test_what_does_not_parse_is_said_with_its_line(file: Path) -> None:
    file.write_text(HEADER + ".visible .entry one() { mov.u32 %r1, ; }\n")
    (code,) = emulator.survey(file)
    assert code.error.startswith("PTX line 4: ")
    assert code.kernels == ()


def test_a_file_without_code_is_refused(file: Path) -> None:
    for what, message in (
        (None, "can't be read: No such file or directory"),
        (b"\x50\xed\x55\xba", "there is none in"),
    ):
        if what is not None:
            file.write_bytes(what)
        done = run("-m", "kernpack_cuda_emulator", "code", file)
        assert (done.returncode, done.stdout) == (1, "")
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_a_cut_off_fatbin_is_not_read(file: Path) -> None:
    whole = fatbin((1, RUNS.encode()))
    for size in range(0, len(whole), 7):
        file.write_bytes(whole[:size])
        try:
            found = emulator.survey(file)
        except emulator.SurveyError:
            continue
        assert all(code.kernels != ("one",) or size == len(whole) for code in found)


def test_the_ptx_of_modules_is_kept(nvrtc: None, tmp_path: Path) -> None:
    kept = tmp_path / "new" / "folder"
    for _ in range(2):
        done = run(HERE / "add_one.py", "10", KERNPACK_EMULATOR="sm_90", KERNPACK_EMULATOR_PTX=str(kept))
        assert done.returncode == 0, done.stderr
    (text,) = kept.iterdir()
    (code,) = emulator.survey(text)
    assert code.kernels == ("add_one_kernel",)
    done = run(HERE / "add_one.py", "10", KERNPACK_EMULATOR="sm_90", KERNPACK_EMULATOR_PTX="/proc/none")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("KERNPACK_EMULATOR_PTX: can't write to /proc/none") == 1
