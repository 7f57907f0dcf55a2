"""Each typical mistake of an author's, and that its message says what to do; docs/mistakes.md is the table of them, written here.

KERNPACK_WRITE_DOCS=1 writes the page again.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import tempfile
from pathlib import Path

import kernpack
import kernpack_sdk
import pytest
from mistakes import CMAKE, CONTRACT, CONTRACTS, FLAGS, SOURCES, contract

PAGE = Path(__file__).resolve().parents[3] / "docs/mistakes.md"
ROWS = [(what, contract(text), re.escape(said)) for what, text, said in CONTRACTS] + [
    (what, source, re.sub(r"[()\[\]?{}+]", lambda c: "\\" + c[0], said)) for what, source, said in SOURCES
]
_HEAD = """\
# Typical mistakes and their messages

Written by `tests/python/author/test_mistakes.py`, which makes each mistake. `kernpack dev`, `pip install`,
`kernpack.load` and `load_inline` print the same messages. For contract errors, the message also shows the contract and marks the
position.

| the mistake | the message |
| -- | -- |
"""


@functools.cache
def _refusal(source: str, *flags: str) -> Exception:
    """Compiled once for all the tests that ask about one source."""
    with pytest.raises((RuntimeError, ValueError)) as caught:
        kernpack.load_inline(source, extra_cflags=list(flags))
    return caught.value.with_traceback(None)


def _message(source: str, *flags: str) -> str:
    """The line that is said first."""
    lines = str(_refusal(source, *flags)).splitlines()
    assert len(lines) <= 16, "load_inline's own line, and 15"
    first = next((line for line in lines if line.startswith("kernpack: ")), lines[0])
    return re.sub(r"'?/\S+/(\w+?)_[0-9a-f]{64}\.so'?", r"\1.so", first)


@pytest.mark.parametrize(("what", "source", "said"), ROWS, ids=[row[0] for row in ROWS])
def test_the_message_says_what_to_do(what: str, source: str, said: str) -> None:
    assert re.search(said, _message(source)), _message(source)


@pytest.mark.parametrize(("what", "flags", "said"), FLAGS, ids=[row[0] for row in FLAGS])
def test_of_flags(what: str, flags: list[str], said: str) -> None:
    assert said in _message(contract(CONTRACT), *flags)


@functools.cache
def _configured(line: str) -> str:
    """CMake's error about a project with that line."""
    start = "cmake_minimum_required(VERSION 3.22)\nproject(m LANGUAGES CXX)\nfind_package(kernpack REQUIRED)\n"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "m.cc").write_text("")
        Path(folder, "CMakeLists.txt").write_text(f"{start}{line}\n")
        command = ["cmake", "-S", folder, "-B", f"{folder}/build", f"-Dkernpack_DIR={kernpack_sdk.cmake_dir()}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    said = done.stderr.partition("(message):")[2].partition("Call Stack")[0]
    return " ".join(said.split())


@pytest.mark.parametrize(("what", "line", "said"), CMAKE, ids=[row[0] for row in CMAKE])
def test_cmake_says_what_to_do(what: str, line: str, said: str) -> None:
    assert said in _configured(line)


@pytest.mark.parametrize("text", [row[1] for row in CONTRACTS], ids=[row[0] for row in CONTRACTS])
def test_the_place_is_marked_and_nothing_else_is_said(text: str) -> None:
    refusal = _refusal(contract(text))
    assert isinstance(refusal, RuntimeError)
    lines = str(refusal).splitlines()
    plain = text.replace('\\"', '"')
    at = next(i for i, line in enumerate(lines) if line == f"  {plain}")
    assert re.fullmatch(r" *\^", lines[at + 1])
    assert 0 <= lines[at + 1].index("^") - 2 <= len(plain)
    assert not any(": error: " in line for line in lines)


def test_two_mistakes_of_a_kind_have_a_line_each() -> None:
    """The notes of the first one are long, and name headers."""
    source = (
        "#include <kernpack/kernel.h>\nnamespace kp = kernpack;\n"
        "void f(kp::TensorView x) { kp::Span<float> in(x); (void)in; }\n"
        "void g(kp::TensorView x) { kp::Span<const float> in(x); in[0] = 1; }\n"
        "// KP_EXPORT\n"
    )
    with pytest.raises(RuntimeError) as caught:
        kernpack.load_inline(source)
    said = [line for line in str(caught.value).splitlines() if line.startswith("kernpack: ")]
    assert [re.search(r"\.cc:(\d+): an input is read only: (view|write)", line).groups() for line in said] == [
        ("3", "view"),
        ("4", "write"),
    ]


def test_the_table() -> None:
    rows = [f"| {what} | {_message(source).replace('|', chr(92) + '|')} |" for what, source, _ in ROWS]
    rows += [f"| {what} | {_message(contract(CONTRACT), *flags)} |" for what, flags, _ in FLAGS]
    rows += [f"| {what} | {_configured(line)} |" for what, line, _ in CMAKE]
    page = _HEAD + "\n".join(f"| {row[0]} | `{row[1]}` |" for row in (r[2:-2].split(" | ", 1) for r in rows)) + "\n"
    if os.environ.get("KERNPACK_WRITE_DOCS") == "1":
        PAGE.write_text(page)
    assert PAGE.read_text() == page, "docs/mistakes.md isn't what is said; KERNPACK_WRITE_DOCS=1 writes it again"
