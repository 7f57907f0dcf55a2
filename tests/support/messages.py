"""Writes every text that a user may read (errors, warnings, hints, log lines, help) to build/messages.txt, by file and line.

    make messages               build/messages.txt, from ffi, sdk, bindings, kernels and cmake
    scripts/messages FILE...    those files only, to the terminal

What varies is shown as `…`. C and C++ are read by tree-sitter, Python by `ast`. A text counts where it reads like prose: two
words or more. Code that generators emit and tests are left out.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("ffi", "sdk", "bindings", "kernels", "cmake")
HOLE = "…"
# Nodes that join pieces into one text.
JOINS = {"binary_expression", "concatenated_string", "parenthesized_expression", "conditional_expression"}
STRINGS = {"string_literal", "raw_string_literal", "concatenated_string"}


CODE = re.compile(r"[;{}]\s*(\n|$)|^\s*#|::|^-|\w\(\w+ |\b(return|static|const|int|void)\b.*[;(]|-m(cpu|arch)=|-arch=")


def is_prose(text: str) -> bool:
    """Two words next to each other, and not a line of code."""
    words = re.findall(r"(?<![\w%$./~-])[A-Za-z]['a-z-]*[a-z]\b(?![\w(/=])", text)
    return len(words) >= 2 and " " in text.strip() and not CODE.search(text)


def tidy(pieces: list[str]) -> str:
    text = "".join(pieces).replace("\\n", " ").replace('\\"', '"')
    text = re.sub(rf"(?:\s*{HOLE})+(?=\s*{HOLE})", "", text)
    return re.sub(r"\s+", " ", text).strip()


def pieces(node: Node, out: list[str]) -> None:
    """The strings below `node` in order; a hole for each other operand, `|` between the two of a choice."""
    if node.type == "conditional_expression":
        pieces(node.child_by_field_name("consequence"), out)
        out.append("|")
        pieces(node.child_by_field_name("alternative"), out)
    elif node.type in JOINS:
        for child in node.named_children:
            pieces(child, out)
    elif node.type in STRINGS:
        kinds = ("string_content", "escape_sequence", "raw_string_content")
        out.append("".join(c.text.decode() for c in node.children if c.type in kinds))
    elif node.type != "comment":
        out.append(HOLE)


def whole(node: Node) -> Node:
    while node.parent is not None and node.parent.type in JOINS:
        node = node.parent
    return node


def of_cpp(source: bytes) -> list[tuple[int, str]]:
    roots = {}

    def walk(node: Node) -> None:
        if node.type in STRINGS:
            root = whole(node)
            roots[root.start_byte] = root
        elif node.type != "preproc_include":
            for child in node.children:
                walk(child)

    walk(Parser(Language(tree_sitter_cpp.language())).parse(source).root_node)
    out = []
    for root in roots.values():
        parts: list[str] = []
        pieces(root, parts)
        if any(is_prose(part) for part in parts) or is_prose(tidy(parts)):
            out.append((root.start_point[0] + 1, tidy(parts)))
    return out


# A command up to its closing bracket; brackets in quotes do not count.
CMAKE_MESSAGE = re.compile(
    r'^[ \t]*(?:message|option)[ \t]*\(((?:[^"()]|"(?:[^"\\]|\\.)*"|\([^()]*\))*)\)', re.I | re.M
)


def of_cmake(source: bytes) -> list[tuple[int, str]]:
    text = source.decode()
    return [(text.count("\n", 0, found.start()) + 1, tidy([found[1]])) for found in CMAKE_MESSAGE.finditer(text)]


def of_python(source: bytes) -> list[tuple[int, str]]:
    tree = ast.parse(source)
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    out = []

    def get_text(node: ast.expr) -> str:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.JoinedStr):
            return "".join(get_text(value) for value in node.values)
        if isinstance(node, ast.BinOp):
            return get_text(node.left) + get_text(node.right)
        return HOLE

    def walk(node: ast.AST) -> None:
        if id(node) in docs:
            return
        if isinstance(node, (ast.JoinedStr, ast.Constant, ast.BinOp)):
            text = tidy([get_text(node)])  # type: ignore[arg-type]
            if is_prose(text):
                out.append((node.lineno, text))  # type: ignore[attr-defined]
            return
        for child in ast.iter_child_nodes(node):
            walk(child)

    walk(tree)
    return out


def texts(path: Path) -> list[tuple[int, str]]:
    if path.name == "CMakeLists.txt" or path.suffix == ".cmake":
        return of_cmake(path.read_bytes())
    if path.suffix == ".py":
        return of_python(path.read_bytes())
    return of_cpp(path.read_bytes())


# Tables of processors and of products, whose rows aren't sentences.
LEFT_OUT = ("ffi/shared/target/cpu_table_", "sdk/compiler/target/cpu_table_", "sdk/compiler/target/tags_")


def files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", *FOLDERS], cwd=ROOT, text=True, capture_output=True, check=True).stdout
    kinds = (".c", ".cc", ".h", ".py", ".cmake")
    named = [name for name in listed.splitlines() if name.endswith((*kinds, "CMakeLists.txt"))]
    return [ROOT / name for name in named if not name.startswith(LEFT_OUT)]


def main() -> None:
    given = [Path(name).resolve() for name in sys.argv[1:]]
    lines = []
    for path in given or files():
        found = texts(path)
        if found:
            lines.append(f"\n{path.relative_to(ROOT)}")
            lines += [f"{number:5d}  {text}" for number, text in sorted(set(found))]
    if given:
        print("\n".join(lines))
        return
    out = ROOT / "build/messages.txt"
    out.parent.mkdir(exist_ok=True)
    out.write_text("\n".join(lines) + "\n")
    print(f"{sum(not line.startswith(chr(10)) for line in lines)} texts: {out.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
