"""The text that authors see in place of a compiler's output: the first mistake first, each once, in 15 lines at most.

test_mistakes.py compiles each kind of mistake with g++. The outputs here are g++'s, clang's and nvcc's as they came, shortened.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import kernpack_sdk
import pytest
from kernpack_sdk import build_failure, diagnose
from kernpack_sdk.diagnose import brackets

ROOT = Path(__file__).resolve().parents[3]
SOURCE = """\
#include <kernpack/kernel.h>
namespace kp = kernpack;
void f(kp::TensorVew x, kp::MutTensorView out) {
  const float* in = x.data_ptr<float>();
  foo(in);
  std::vector<int> sizes;
  TensorView y = x;
}
KP_MODULE("m", "1.0.0");
KP_EXPORT(f, f, "(x: f32[N]) -> (out: f32[N])");
"""


@pytest.fixture(autouse=True)
def source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(diagnose.SHOW_ALL, raising=False)
    diagnose.add_source("explained.cc", SOURCE)


def _of(output: str) -> list[str]:
    return diagnose.with_diagnosis(output).splitlines()


UNDECLARED = {
    "g++": "explained.cc:6:8: error: \u2018vector\u2019 is not a member of \u2018std\u2019\n",
    "clang": "explained.cc:6:8: error: no template named 'vector' in namespace 'std'\n",
    "nvcc": 'explained.cc(6): error: namespace "std" has no member "vector"\n',
}
MISSPELT = {
    "g++": "explained.cc:3:12: error: \u2018TensorVew\u2019 is not a member of \u2018kp\u2019\n",
    "clang": "explained.cc:3:12: error: no type named 'TensorVew' in namespace 'kernpack'; did you mean 'TensorView'?\n",
    "nvcc": 'explained.cc(3): error: namespace "kernpack" has no member "TensorVew"\n',
}
UNQUALIFIED = {
    "g++": "explained.cc:7:3: error: \u2018TensorView\u2019 was not declared in this scope; did you mean \u2018kernpack::v1::TensorView\u2019?\n",
    "clang": "explained.cc:7:3: error: unknown type name 'TensorView'; did you mean 'kp::TensorView'?\n",
    "nvcc": 'explained.cc(7): error: identifier "TensorView" is undefined\n',
}


@pytest.mark.parametrize("compiler", UNDECLARED)
def test_names_by_every_compiler(compiler: str) -> None:
    said = "std::vector is declared in <vector>, which isn't included; add #include <vector>"
    assert _of(UNDECLARED[compiler])[0] == f"kernpack: explained.cc:6: {said}"
    said = "kp::TensorVew isn't a name of Kernpack; did you mean kp::TensorView?"
    assert _of(MISSPELT[compiler])[0] == f"kernpack: explained.cc:3: {said}"
    said = "TensorView is a name of Kernpack's namespace; write kp::TensorView"
    assert _of(UNQUALIFIED[compiler])[0] == f"kernpack: explained.cc:7: {said}"


FIRST = "explained.cc:5:3: error: \u2018foo\u2019 was not declared in this scope\n    5 |   foo(in);\n      |   ^~~\n"


def test_the_first_error_comes_first_explained_or_not() -> None:
    lines = _of(FIRST + UNDECLARED["g++"] + "explained.cc:6:8: note: a note\n" * 20)
    assert lines[:3] == FIRST.splitlines()
    assert lines[4].startswith("kernpack: explained.cc:6: std::vector")
    assert _of(UNDECLARED["g++"] + FIRST)[0].startswith("kernpack: explained.cc:6: std::vector")


def test_what_only_follows_is_not_said() -> None:
    """The type of a parameter isn't known: the function isn't declared, its body means nothing, and it isn't what the contract needs."""
    follows = (
        "explained.cc:3:6: error: variable or field \u2018f\u2019 declared void\n"
        + MISSPELT["g++"]
        + "explained.cc:3:26: error: expected primary-expression before \u2018out\u2019\n"
        "explained.cc:4:21: error: \u2018x\u2019 was not declared in this scope\n"
        "explained.cc:10:14: error: \u2018f\u2019 was not declared in this scope; did you mean \u2018fma\u2019?\n"
        '   10 | KP_EXPORT(f, f, "(x: f32[N]) -> (out: f32[N])");\n'
        "      |              ^\n"
    )
    lines = [line for line in _of(follows) if line and "left out" not in line]
    assert lines == ["kernpack: explained.cc:3: kp::TensorVew isn't a name of Kernpack; did you mean kp::TensorView?"]


def test_an_output_that_is_short_and_not_explained_stays_as_it_is() -> None:
    assert diagnose.with_diagnosis(FIRST) == FIRST
    assert build_failure.explained(FIRST) == FIRST


def test_15_lines_at_most_and_all_by_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    output = "".join(f"explained.cc:5:{i}: error: something {i}\n" + "  a line of source\n" * 30 for i in range(20))
    lines = _of(output)
    assert len(lines) <= 15
    assert lines[0] == "explained.cc:5:0: error: something 0"
    assert (
        lines[-1]
        == f"({620 - len(lines) + 2} more lines of output are left out; set KERNPACK_COMPILER_OUTPUT=1 to see all)"
    )
    assert _of(MISSPELT["g++"] + "  note\n")[-1] == (
        "(1 more line of output is left out; set KERNPACK_COMPILER_OUTPUT=1 to see all)"
    )
    monkeypatch.setenv("KERNPACK_COMPILER_OUTPUT", "1")
    assert output in diagnose.with_diagnosis(output)
    assert output in build_failure.explained(output)
    assert (MISSPELT["g++"] + output) in diagnose.with_diagnosis(MISSPELT["g++"] + output)


def test_a_mistake_is_said_once_however_many_variants_there_are() -> None:
    """Each compilation prints its explanation, between the lines of ninja."""
    explained = diagnose.with_diagnosis(MISSPELT["g++"] + "  note\n" * 9)
    ninja = "".join(
        f"FAILED: CMakeFiles/m_x86_64_v{i}.dir/explained.cc.o\n/usr/bin/c++ -march=x86-64-v{i} -c explained.cc\n{explained}"
        for i in (2, 3, 4)
    )
    lines = build_failure.explained(f"[1/9] Building\n{ninja}ninja: build stopped: subcommand failed.\n").splitlines()
    assert lines[0].startswith("kernpack: explained.cc:3: kp::TensorVew")
    assert lines[2] == "(16 more lines of output are left out; set KERNPACK_COMPILER_OUTPUT=1 to see all)"
    assert len(lines) == 3


def test_variants_whose_namespaces_differ_have_one_mistake() -> None:
    """Headers have a namespace for each level."""
    said = "explained.cc:5:3: error: no matching function for call to \u2018foo(kernpack::v1_x86_64_v{}::TensorView&)\u2019\n"
    text = build_failure.explained("".join(said.format(i) + "    5 |   foo(in);\n" + "note\n" * 9 for i in (2, 3)))
    assert text.count("no matching function") == 1
    crossing = (
        "/include/kernpack/x.h:1:2: error: static assertion failed: KP_EXPORT: this parameter type cannot be passed\n"
        "explained.cc:10:1: note: check_parameter<kernpack::v1_x86_64_v{}::Thing>\n"
    )
    explained = [diagnose.with_diagnosis(crossing.format(i)).splitlines()[0] for i in (2, 3)]
    assert explained[0] == explained[1]
    assert explained[0].endswith("the C++ type given is kp::Thing")


def test_an_error_that_is_not_explained_is_said_once_too() -> None:
    ninja = "".join(f"FAILED: m_v{i}.o\n/usr/bin/c++ -march=x86-64-v{i}\n{FIRST}" for i in (2, 3, 4))
    text = build_failure.explained(f"{ninja}\n" + "[3/9] Building CXX object\n" * 9)
    assert text.count("error: ") == 1
    assert text.startswith(FIRST)


NVCC = """\
/sdk/include/kernpack/signature/compile.h(118): error: static assertion failed with "kernpack: this signature does not compile: see reason and position_in_text"
    static_assert(reason == Reason::kNone, "kernpack: this signature does not compile: see reason and position_in_text");
    ^
          detected during:
            instantiation of class "kernpack::v1::signature::Diagnose<reason, position_in_text> [with reason=kernpack::v1::signature::Reason::kUnknownDType, position_in_text=4U]" at line 142
            instantiation of class "kernpack::v1::signature::Compiled<Text> [with Text=<unnamed>::kp_text_7_0]" at line 7 of explained.cc

/sdk/include/kernpack/fit.h(115): error: expression must have a constant value
        static_cast<size_t>(kProgram.NumParams() + kProgram.NumResults() + (kProgram.HasWorkspace() ? 1 : 0));
        ^

"""
EXPANDED = (
    'namespace { struct kp_text_7_0 { static constexpr const char* kText = "(x: " "f33" "[N])" " -> ()"; '
    "static constexpr uint32_t kSize = 1; }; struct kp_tag_7_0 : Compiled<kp_text_7_0> { "
    'static constexpr const char* function() { return "op"; } }; '
)


def test_a_contract_of_a_macro_by_what_the_preprocessor_makes_of_it() -> None:
    said = "kernpack: explained.cc:7: the contract of 'op' doesn't parse: no such dtype 'f33'; did you mean 'f32'?"
    lines = diagnose.with_diagnosis(NVCC, lambda: EXPANDED).splitlines()
    assert lines[:3] == [said, "  (x: f33[N]) -> ()", "      ^"]
    assert _of(NVCC)[0] == "kernpack: explained.cc:7: a contract doesn't parse at byte 4: no such dtype"


CMAKE = """\
-- The CXX compiler identification is GNU 12.2.0
CMake Error at /sdk/lib/cmake/kernpack/kernpack_add_module.cmake:22 (message):
  kernpack_add_module(m): unknown argument 'm.cc'; the arguments are SOURCES,
  VARIANT_SOURCES
Call Stack (most recent call first):
  cmake/helper.cmake:3 (kernpack_add_module)
  CMakeLists.txt:4 (helper)


CMake Error at CMakeLists.txt:9 (find_package):
  By not providing "FindX.cmake" in CMAKE_MODULE_PATH this project has asked
  CMake to find a package configuration file.

    XConfig.cmake

-- Configuring incomplete, errors occurred!
"""


def test_an_error_of_cmake_has_the_authors_line_and_no_stack() -> None:
    text = build_failure.explained(CMAKE)
    assert text.startswith(
        "kernpack: CMakeLists.txt:4: kernpack_add_module(m): unknown argument 'm.cc'; the arguments are SOURCES, VARIANT_SOURCES\n"
    )
    assert "kernpack: CMakeLists.txt:9: By not providing" in text
    assert "\n  XConfig.cmake\n" in text
    assert "Call Stack" not in text
    assert "/sdk/lib" not in text


BALANCED = {
    "strings": 'auto a = "({["; auto b = "\\"("; auto c = \'{\'; auto d = \'\\\'\'; auto e = R"x(" ) ( )y" )x"; int f = 1\'000\'(000);',
    "comments": "// it's ({\n/* \" ( { */ int a; // \\\n ( goes on\n",
    "directives": "#define OPEN {\n#define MORE \\\n  ( \\\n  {\nint a;\n",
    "branches": "#if A\nvoid f() {\n#elif B\nvoid f(int) {\n#else\nvoid g() {\n#endif\n}\n",
    "heads": "void f() { for (int i = 0; i < 3; ++i) { if (int a = 1; a) {} } switch (int a = 1; a) {} }\n",
    "statements as an argument": "CASE(a, int b = 1;\n  f(b); g(b))\n",
    "odd indentation": "void f()\n    {\nif (a)\n  {\n      b();\n }\n        }\n",
    "nothing": "",
}


@pytest.mark.parametrize("row", BALANCED)
def test_a_source_that_is_balanced(row: str) -> None:
    diagnose.add_source("balanced.cc", BALANCED[row] + "\n")
    assert brackets.lost("balanced.cc:1:1: error: expected something\n") == ""


def test_no_source_of_this_repository_has_lost_a_bracket() -> None:
    """They compile: whatever is found is a false alarm."""
    files = [file for folder in ("kernels", "examples", "ffi/include") for file in (ROOT / folder).rglob("*.[ch]*")]
    assert len(files) > 300
    for file in files:
        diagnose.add_source("theirs.cc", file.read_text(encoding="utf-8", errors="replace"))
        assert brackets.lost("theirs.cc:1:1: error: expected something\n") == "", file


def test_the_launcher_needs_nothing_but_its_folder(tmp_path: Path) -> None:
    """As CMake runs it: isolated, without site packages, and with whatever lies in the current folder."""
    (tmp_path / "re.py").write_text("raise SystemExit('not the standard library')\n")
    source = tmp_path / "lost.cc"
    source.write_text("int f() {\n  return 1;\n")
    folder = Path(kernpack_sdk.__file__).parent / "diagnose"
    command = [sys.executable, "-I", "-S", str(folder), "g++", "-c", str(source), "-o", str(tmp_path / "lost.o")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    missing = "the '{' of this line isn't closed: a '}' is missing before the end of the file"
    assert done.stderr.startswith(f"kernpack: {source}:1: {missing}\n")
    source.write_text("int f() { return 1; }\n")
    assert subprocess.run(command, capture_output=True, cwd=tmp_path, check=False).returncode == 0
