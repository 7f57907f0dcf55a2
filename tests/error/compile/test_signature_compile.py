"""A bad signature does not compile, and the compiler's message has the reason and the position."""

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]

TEMPLATE = """
#include <kernpack/signature/compile.h>
struct Literal {{
  static constexpr const char* kText = "{text}";
  static constexpr uint32_t kSize = sizeof("{text}") - 1;
}};
const uint32_t* program = kernpack::signature::Compiled<Literal>::Program();
"""

BAD = [
    ("(x: f33[N]) -> ()", "kUnknownDType", 4),
    ("(x: T[N]) -> ()", "kDTypeVariableNotConstrained", 4),
    ("(x: f32[N]?) -> (y: f32[N])", "kDimMayBeAbsent", 24),
    ("(a: int = 1, b: int) -> ()", "kDefaultBeforeNoDefault", 13),
    ("(x: f32[N]) -> (y: f32[M])", "kDimNeverBound", 23),
    ("(x: f32[N]) -> () where N", "kExpectedRelation", 25),
]


def compile_text(text: str, standard: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["g++", f"-std={standard}", "-fsyntax-only", "-I", str(ROOT / "ffi/include"), "-x", "c++", "-"],
        input=TEMPLATE.format(text=text),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.parametrize("standard", ["c++17", "c++20", "c++23"])
def test_a_good_text_compiles(standard: str) -> None:
    done = compile_text("(x: T[..., D], *, eps: float = 1e-6) -> (out: T[..., D]) where T in {f32, bf16}", standard)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("text", "reason", "position"), BAD)
def test_a_bad_text_does_not(text: str, reason: str, position: int) -> None:
    done = compile_text(text, "c++17")
    assert done.returncode != 0
    assert "this signature does not compile" in done.stderr
    assert f"Reason::{reason}, {position}>" in done.stderr
