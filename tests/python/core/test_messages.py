"""Errors speak the caller's language: no C++ class, no C function of the host shows in Python."""

from __future__ import annotations

import re
from pathlib import Path

import kernpack
import pytest

ROOT = Path(__file__).resolve().parents[3]
TOKENS = re.compile(r"//[^\n]*|/\*.*?\*/|R\"\w*\(.*?\)\w*\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
# Names that kernel authors write themselves may appear: kp::zeroed, std::exception.
CPP = re.compile(r"\b(?!kp::|std::)\w+::\w|\bnullptr\b")
# Text that is a program, not a message.
PROGRAMS = re.compile(r"sdk/(compiler/codegen/(c|c_family|cuda|opencl|device|frame|llvm)/|programs/execute/source)")
FOLDERS = ("sdk/compiler", "sdk/programs", "bindings/compiler/src", "ffi/src", "ffi/backends", "bindings/python/src")

CALLS = {
    "load_backend": (lambda: kernpack.load_backend("/nowhere.so"), "load_backend: '/nowhere.so' cannot be loaded: "),
    "set_num_threads": (lambda: kernpack.set_num_threads(-1), "set_num_threads: expected 1 to "),
    "remove_func": (lambda: kernpack.remove_func("not.there"), "remove_func: no function named 'not.there'"),
    "copy": (
        lambda: kernpack.empty([2], "f32").copy_(kernpack.empty([3], "f32")),
        "copy: expected two tensors of one shape",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_errors_name_the_python_function(name: str) -> None:
    call, beginning = CALLS[name]
    with pytest.raises(Exception, match=f"^{re.escape(beginning)}"):
        call()


def test_no_message_in_the_sources_names_a_cpp_class() -> None:
    found = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.c*")) + sorted((ROOT / folder).rglob("*.h")):
            name = str(path.relative_to(ROOT))
            if PROGRAMS.match(name):
                continue
            code = re.sub(r"^[ \t]*#.*$", "", path.read_text(), flags=re.MULTILINE)
            literals = (text for text in TOKENS.findall(code) if text.startswith('"'))
            found += [f"{name}: {text}" for text in literals if CPP.search(text)]
    assert found == []
