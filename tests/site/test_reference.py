"""How plain comments of the headers become documentation, and that no public header is left out of the reference."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs/site"))
import doc_comments
import reference

GUARD = "// About the file.\n#ifndef A_H_\n"


@pytest.mark.parametrize(
    ("source", "converted"),
    [
        ("// Above.\nint f();", "///Above."),
        ("/* Above,\n * on lines. */\nint f();", "/** Above,\n * on lines. */"),
        ("int f(); // behind", "int f(); ///< behind"),
        ("int32_t n; /* behind */", "int32_t n; /**< behind */"),
        ("}  // namespace detail", "}  // namespace detail"),
        ('const char* a = "http://x";', 'const char* a = "http://x";'),
        ("/* ---- streams ---- */", "/* ---- streams ---- */"),
        ("#define A \\\n  // inside\n", "  // inside"),
        ("// std::vector<int> at 50% of `a<b>` @ \\n *out", "std::vector\\<int\\> at 50\\% of `a<b>` \\@ \\\\n \\*out"),
        ("typedef struct KpA {\n  int a;\n} KpA;", "struct KpA {\n  int a;\n};"),
        ("  friend class B;", ""),
    ],
)
def test_comments_as_doxygen_reads_them(source: str, converted: str) -> None:
    result = doc_comments.converted(f"{GUARD}{source}\n").replace("/// ", "///")
    assert converted.replace("/// ", "///") in result


def test_the_comment_about_the_file_belongs_to_no_declaration() -> None:
    assert "About the file" not in doc_comments.converted(f"{GUARD}int f();\n")


def test_lines_of_use_are_code() -> None:
    source = f"{GUARD}// A list.\n//\n//   List<int> x;  // 50% <b>\n//   x.f();\n//\n// More.\nclass A;\n"
    assert (
        "/// A list.\n///\n///@verbatim\n///List<int> x;  // 50% <b>\n///x.f();\n///@endverbatim\n///\n/// More.\n"
        in (doc_comments.converted(source))
    )


def test_what_a_header_says_of_itself() -> None:
    assert reference.first_comment("// One.\n//\n//   code(1)\n//\n// Two.\n#ifndef A\n") == (
        "One.\n\n```text\n  code(1)\n\n```\n\nTwo."
    )
    assert reference.first_comment("// KP_<NAME> of `a_b<c>` *x\n#ifndef A\n") == r"KP\_\<NAME\> of `a_b<c>` \*x"
    assert reference.first_comment("/* One,\n * two.\n */\n#ifndef A\n") == "One,\ntwo."


def test_every_public_header_is_on_a_page() -> None:
    assert reference.missing() == []
    assert all(file.is_file() for _, _, side, names in reference.CXX for file in reference.headers(side, names))


def test_a_class_names_its_header_as_one_includes_it() -> None:
    said = '<includes refid="a" local="no">kernpack.host.target.h</includes><name>kernpack.x</name>'
    spelled = '<includes refid="a" local="no">kernpack/host/target.h</includes><name>kernpack.x</name>'
    assert reference.spell_includes(said) == reference.spell_includes(spelled) == spelled


def test_doxygens_stars_are_left_out_of_lines_of_use() -> None:
    said = "<para><verbatim> * List&lt;int&gt; x;\n *   *x.f();\n * </verbatim></para>"
    assert reference.plain_uses(said) == "<para><verbatim>List&lt;int&gt; x;\n  *x.f();</verbatim></para>"


def test_classes_stand_in_the_order_of_their_headers() -> None:
    names = ["structA", "structB", "classC"]
    said = "".join(f'    <innerclass refid="{name}" prot="public">k::{name}</innerclass>\n' for name in names)
    places = {"structA": ("a.h", 70), "structB": ("b.h", 9), "classC": ("a.h", 8)}
    ordered = reference.in_source_order(f"<x>\n{said}</x>\n", places.__getitem__)
    assert [ordered.index(name) for name in ("classC", "structA", "structB")] == sorted(map(ordered.index, names))
    assert ordered.startswith("<x>\n    <innerclass")
    assert ordered.endswith("</innerclass>\n</x>\n")
