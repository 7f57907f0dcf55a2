"""Each instruction of the emulated device, at edge values, against what the PTX ISA manual says, computed by other code."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
from pathlib import Path

import ptx_exact as exact
import pytest
from ptx_driver import GPU_DRIVER, HEADER, Driver, emulated_only
from ptx_form import Form, decoded, encoded
from ptx_forms import GROUPS, Cases, module

LEVELS = (1, 2, 3) if GPU_DRIVER is None else (0,)  # x86-64's base, v3 and v4
# ptxas refuses these. The emulator's table has them, as it has all pairs of types.
NOT_PTX = {"cvt.u8.bf16", "cvt.s8.bf16", "cvt.bf16.u8", "cvt.bf16.s8"}


@pytest.fixture(scope="module")
def driver() -> Driver:
    return Driver()


def _loaded(driver: Driver, level: int, ptx: str) -> ctypes.c_void_p:
    if level == 0:
        return driver.load(ptx)
    driver.use_host_level(level)
    try:
        return driver.load(ptx)
    finally:
        driver.use_host_level(0)


def _same(got: int, expected: int, form: Form) -> bool:
    """Equal bits, of a NaN any; of an approximation, within its error."""
    if got == expected:
        return True
    if form.out.endswith("x2") and form.out[0] in "bf":
        half = form.out.removesuffix("x2")
        part = Form(form.name, half, (), form.run, tolerance=form.tolerance)
        return _same(got & 0xFFFF, expected & 0xFFFF, part) and _same(got >> 16, expected >> 16, part)
    if form.out not in exact.FORMATS:
        return False
    value, wanted = decoded(got, form.out), decoded(expected, form.out)
    if wanted != wanted:  # which NaN it is, is open
        return value != value
    if form.tolerance == 0 or value != value:
        return False
    absolute = 2.0**-20.5 if form.name.startswith(("sin", "cos")) else 2.0**-22 if form.name.startswith("lg2") else 0
    least = 2.0 ** (exact.FORMATS[form.out].least - exact.FORMATS[form.out].precision + 2)
    return abs(value - wanted) <= max(form.tolerance * abs(wanted), absolute, least)


@emulated_only
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the emulator has one code for processors but x86-64's")
def test_the_processors_own_level_is_used(driver: Driver) -> None:
    has = set(Path("/proc/cpuinfo").read_text().split())
    best = 1
    if {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"} <= has:
        best = 3 if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= has else 2
    assert driver.host_level() == best
    try:
        for level in LEVELS:
            driver.use_host_level(level)
            driver.load(HEADER + ".visible .entry k() { ret; }")
            assert driver.host_level() == min(level, best)
    finally:
        driver.use_host_level(0)


@pytest.mark.parametrize("group", GROUPS)
def test_an_instruction_gives_what_the_manual_says(driver: Driver, group: str) -> None:
    """On each of the emulator's codes for the host that this processor has, as another machine's may be one below."""
    forms = GROUPS[group]()
    modules = [_loaded(driver, level, module(forms)) for level in LEVELS]
    wrong = []
    for number, form in enumerate(forms):
        cases = Cases(form)
        got = [cases.run(driver, loaded, f"k{number}").tolist() for loaded in modules]
        for case, words in zip(cases.words, zip(*got, strict=True), strict=True):
            expected = encoded(form.run(*(decoded(w, t) for w, t in zip(case, form.ins, strict=True))), form.out)
            if not all(_same(word, expected, form) for word in words):
                given = ", ".join(f"{w:#x}" for w in case)
                found = ", ".join(f"{word:#x}" for word in words)
                wrong.append(f"{form.text or form.name}: of {given} expected {expected:#x}, got {found}")
                break
    assert not wrong, f"{len(wrong)} of {len(forms)} forms:\n" + "\n".join(wrong)


@pytest.mark.parametrize("group", GROUPS)
def test_nvidias_assembler_takes_what_is_tried(group: str, tmp_path: Path) -> None:
    if shutil.which("ptxas") is None:
        pytest.skip("no ptxas: install NVIDIA's CUDA toolkit, or nvidia-cuda-nvcc from PyPI")
    (tmp_path / "forms.ptx").write_text(module(GROUPS[group]()), encoding="utf-8")
    command = ["ptxas", "-arch=sm_90", "-O0", "-o", os.devnull, str(tmp_path / "forms.ptx")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


@emulated_only
def test_each_row_of_the_emulator_is_tried(driver: Driver) -> None:
    """A row that is added needs a form here."""
    modifiers = {
        "ftz",
        "sat",
        "rn",
        "rz",
        "rm",
        "rp",
        "rni",
        "rzi",
        "rmi",
        "rpi",
        "approx",
        "full",
        "relu",
        "NaN",
        "and",
        "or",
        "xor",
    }

    def row(mnemonic: str) -> str:
        opcode, *parts = mnemonic.split(".")
        logic = opcode in ("and", "or", "xor")
        return ".".join([opcode, *(part for part in parts if logic or part not in modifiers)])

    tried = {row(form.name) for make in GROUPS.values() for form in make()}
    # Written as a chain with the second instruction of a pair.
    tried |= {name.replace("addc", "add.cc").replace("subc", "sub.cc") for name in tried}
    tried |= {name.replace("madc.hi", "mad.lo.cc").replace("madc.lo", "mad.hi.cc") for name in tried}
    rows = {row(name) for name in driver.rows()}
    assert not sorted(name for name in rows - tried if name not in NOT_PTX)
