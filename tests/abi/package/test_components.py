"""find_package(kernpack COMPONENTS ...): a component is a target, and one that is missing is refused by name."""

from __future__ import annotations

import kernpack_sdk
import pytest


def test_headers_are_always_there_and_an_optional_component_may_be_missing(build) -> None:
    text = "find_package(kernpack REQUIRED COMPONENTS headers OPTIONAL_COMPONENTS nonsense)\n"
    built = build(text + 'message(STATUS "found: ${kernpack_headers_FOUND} ${kernpack_nonsense_FOUND}")\n', {})
    assert built.ok, built.log
    assert "found: TRUE FALSE" in built.log


@pytest.mark.parametrize("component", ["nonsense", "sdk"])
def test_a_missing_component_is_refused(build, component: str) -> None:
    built = build(f"find_package(kernpack REQUIRED COMPONENTS headers {component})\n", {})
    assert not built.ok
    assert f"there is no component '{component}' in" in built.text


def test_the_package_says_its_version(build) -> None:
    built = build('message(STATUS "version: ${kernpack_VERSION}.")\n', {})
    assert built.ok, built.log
    assert f"version: {kernpack_sdk.__version__}." in built.log
