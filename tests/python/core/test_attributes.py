"""Attributes that authors add to their functions: KP_ATTRIBUTES, and KpFunctionInfo.attributes of C modules."""

from __future__ import annotations

from pathlib import Path

import kernpack
import pytest
from support.fake import compile_fake_in

SOURCE = r"""
#include <kernpack/kernel.h>
int64_t Add(int64_t a, int64_t b) { return a + b; }
KP_MODULE("attributed", "1");
KP_EXPORT(add, Add);
KP_EXPORT(plus, Add);
KP_ATTRIBUTES(add, "flops=1\npaper.title=On a = b\nempty=\n");
"""


def test_attributes_of_a_function_in_python() -> None:
    k = kernpack.load_inline(SOURCE)
    assert k.functions["add"].attributes == {"flops": "1", "paper.title": "On a = b", "empty": ""}
    assert k.functions["plus"].attributes == {}
    k.functions["add"].attributes["flops"] = "2"  # a dict of the asker's own
    assert k.functions["add"].attributes["flops"] == "1"


def test_a_text_that_is_no_attributes_does_not_compile() -> None:
    with pytest.raises(Exception, match="KP_ATTRIBUTES: expected lines of key=value: flops: 1"):
        kernpack.load_inline(SOURCE.replace("flops=1", "flops: 1"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Flops=1", r"second: attributes: expected lines of key=value with a key of \[a-z_\].*, got 'Flops=1'"),
        ("a=1\\n\\nb=2", "second: attributes: expected lines of key=value .*, got ''"),
        ("a=1\\na=2", "second: attributes: 'a' is given twice; keep one"),
    ],
)
def test_attributes_that_are_none_are_refused_with_their_function(text: str, message: str, tmp_path: Path) -> None:
    k = kernpack.load(compile_fake_in(tmp_path)(FAKE_INFO=f'.attributes="{text}"'))
    with pytest.raises(ValueError, match=message):
        k.second(1, 2)
    assert k.add(40, 2) == 42
