"""`make messages` shows what a user may read, whatever language it is written in."""

from pathlib import Path

import pytest
from support import messages

HERE = Path(__file__).parent


def collected(folder: Path, name: str, source: str) -> list[str]:
    path = folder / name
    path.write_text(source)
    return [text for _, text in messages.texts(path)]


def test_of_cpp_a_message_is_one_line_with_holes_for_what_varies(tmp_path: Path) -> None:
    source = 'void f() { KP_THROW(ValueError) << name << ": expected " << n << (n == 1 ? " tensor" : " tensors") << ", got none"; }'
    assert collected(tmp_path, "a.cc", source) == ["…: expected … tensor| tensors, got none"]


def test_of_c_neighbouring_literals_are_one_message(tmp_path: Path) -> None:
    source = 'int f(void) { return kp_raise("ValueError", "%s: no such "\n "device", name); }'
    assert collected(tmp_path, "a.c", source) == ["%s: no such device"]


def test_of_python_docstrings_are_left_out(tmp_path: Path) -> None:
    source = 'def f(x):\n    """Does some thing."""\n    raise ValueError(f"expected a list, got {x!r}")\n'
    assert collected(tmp_path, "a.py", source) == ["expected a list, got …"]


def test_of_cmake_messages_are_taken(tmp_path: Path) -> None:
    assert collected(tmp_path, "a.cmake", 'message(FATAL_ERROR "no compiler was found")\n') == [
        'FATAL_ERROR "no compiler was found"'
    ]


@pytest.mark.parametrize(
    "code", ['const char* a = "int x = f(y);";', 'const char* a = "f32";', '#include "some thing.h"']
)
def test_code_and_names_are_left_out(tmp_path: Path, code: str) -> None:
    assert collected(tmp_path, "a.cc", code) == []
