"""The SDK wheel holds every header and the CMake package, and nothing compiled."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_wheel_is_for_any_python_and_platform(sdk_wheel: Path) -> None:
    assert sdk_wheel.name.endswith("-py3-none-any.whl")


def test_holds_every_header(sdk: Path) -> None:
    def headers(folder: Path) -> set[Path]:
        return {p.relative_to(folder) for p in folder.rglob("*.h")}

    assert headers(sdk / "kernpack_sdk/include") == headers(ROOT / "ffi/include")


def test_holds_the_cmake_package(sdk: Path) -> None:
    folder = sdk / "kernpack_sdk/lib/cmake/kernpack"
    sources = [path for path in (ROOT / "sdk/author/cmake").rglob("*") if path.is_file()]
    assert sources
    for path in sources:
        assert (folder / path.relative_to(ROOT / "sdk/author/cmake")).read_bytes() == path.read_bytes()
    assert (folder / "kernpackConfigVersion.cmake").is_file()


def test_holds_nothing_compiled(sdk: Path) -> None:
    assert [p for p in sdk.rglob("*") if p.suffix in (".so", ".a", ".o", ".pyc")] == []


def test_commands_and_cmake_entry_point(sdk: Path) -> None:
    (info,) = sdk.glob("*.dist-info")
    text = (info / "entry_points.txt").read_text()
    for line in ("[cmake.root]", "kernpack = kernpack_sdk", "kernpack-config = kernpack_sdk.cli:config_main"):
        assert line in text
    assert "Apache License" in (info / "licenses/LICENSE").read_text()
