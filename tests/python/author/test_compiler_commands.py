"""CXX and its like: paths with spaces, wrappers, quotes; and what people link to ship one file."""

from __future__ import annotations

import shutil
from pathlib import Path

import kernpack
import pytest
from kernpack._program import split_command

SOURCE = """
#include <string>
#include <vector>
static int length(int n) {
  std::vector<std::string> all;
  for (int i = 0; i < n; ++i) all.push_back(std::to_string(i));
  std::vector<std::string> copied(all);
  KP_CHECK(n < 9, ValueError) << "too many";
  return static_cast<int>(copied.size());
}
KP_MODULE("lengths", "1.0.0");
KP_EXPORT(length, length);
"""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    folder = tmp_path / "my tools"
    folder.mkdir()
    for name in ("g++", "ccache"):
        (folder / name).symlink_to(shutil.which("g++") or "")
    return folder


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("g++", ["g++"]),
        ("  g++  -O1 ", ["g++", "-O1"]),
        ("env g++", ["env", "g++"]),
        ("@/g++", ["@/g++"]),
        ("@/ccache @/g++", None),  # a second path with a space is for quotes
        ("@/g++ -O1 '-DX=a b'", ["@/g++", "-O1", "-DX=a b"]),
        ("'@/g++' -O1", ["@/g++", "-O1"]),
        ("'@/ccache' \"@/g++\"", ["@/ccache", "@/g++"]),
        ("g++ -DX='", ["g++", "-DX='"]),
        ("no-such-compiler", None),
        ("'", None),
        ("", None),
    ],
)
def test_the_words_of_a_command(tools: Path, command: str, words: list[str] | None) -> None:
    found = split_command(command.replace("@", str(tools)))
    if command == "@/ccache @/g++":
        assert found == [f"{tools}/ccache", *f"{tools}/g++".split()]
    else:
        assert found == (words and [word.replace("@", str(tools)) for word in words])


def test_a_compiler_in_a_folder_with_a_space_links_the_library_of_cplusplus_statically(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", f"{tools}/g++ -O1")
    monkeypatch.setenv("KERNPACK_CACHE_DIR", str(tmp_path / "cache"))
    k = kernpack.load_inline(SOURCE, extra_ldflags=["-static-libstdc++", "-static-libgcc"])
    assert k.length(3) == 3
    with pytest.raises(ValueError, match="too many"):
        k.length(9)
