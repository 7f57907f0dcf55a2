"""Every planted bug is found, and the error names the function, what it concerns and what was done."""

from __future__ import annotations

import re

import kernpack
import pytest
from planted import BUGS, C_BUGS, STATE_BUGS, Bug


def find(module: kernpack.Module, bug: Bug) -> None:
    with kernpack.checking(trace=False), pytest.raises(kernpack.CheckError) as raised:
        bug.call(getattr(module, bug.function))
    text = str(raised.value)
    assert text.startswith(bug.function + ": ")
    assert re.search(bug.says, text), text


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.function)
def test_bug_in_cxx_is_named(planted: kernpack.Module, bug: Bug) -> None:
    find(planted, bug)


@pytest.mark.parametrize("bug", STATE_BUGS, ids=lambda bug: bug.function)
def test_bug_in_state_is_named(planted_state: kernpack.Module, bug: Bug) -> None:
    find(planted_state, bug)


@pytest.mark.parametrize("bug", C_BUGS, ids=lambda bug: bug.function)
def test_bug_in_c_is_named(planted_c: kernpack.Module, bug: Bug) -> None:
    find(planted_c, bug)
