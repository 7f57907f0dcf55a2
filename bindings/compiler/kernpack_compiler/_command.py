"""`kernpack import FILE`: import_kernel() on the command line. kernpack-sdk's table of commands hands it on to main()."""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kernpack._cli.look import MISSING, Failure, Wrong, guarded
from kernpack._cli.parser import Parser

if TYPE_CHECKING:
    from kernpack_compiler._imports import ImportedFunction

_WHEEL = re.compile(r"([A-Za-z][A-Za-z0-9._]*)-([^-]+)(-[^-]+){0,3}\.whl")
_ARCH = re.compile(r"((?:sm|compute)_\d+[af]?)=(.+)")


def parser() -> Parser:
    made = Parser(
        "kernpack import", "Turn a kernel that another compiler compiled into a function of a module or a wheel."
    )
    made.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="PTX, a cubin or a fatbin. Several files are for one architecture each; sm_90a=FILE names the architecture",
    )
    made.add_argument(
        "--entry", metavar="NAME", help="the kernel's name in the code; needed if there are several kernels"
    )
    made.add_argument(
        "--contract", metavar="TEXT", required=True, help="the contract of the function: '(x: f32[N]) -> (y: f32[N])'"
    )
    made.add_argument(
        "--grid", metavar="EXTENTS", required=True, help="the number of blocks: 'ceildiv(N, 128)' or 'N, M'"
    )
    made.add_argument("--block", metavar="EXTENTS", default="128", help="threads of a block (default: 128)")
    made.add_argument("--cluster", metavar="EXTENTS", help="blocks of a cluster: '2, 1, 1'")
    made.add_argument(
        "--cooperative",
        action="store_true",
        help="run all blocks at the same time, so that they may wait for each other",
    )
    made.add_argument("--shared", metavar="BYTES", default="0", help="dynamic shared memory: '4 * N' (default: 0)")
    made.add_argument(
        "--args", metavar="LIST", help="the kernel's arguments, in its order: 'x, y, N' (default: the contract's)"
    )
    made.add_argument("--name", metavar="NAME", help="name of the function (default: the kernel's)")
    made.add_argument(
        "--grad", metavar="NAME", default="", help="the function of the module that computes the gradient"
    )
    made.add_argument(
        "--out",
        metavar="FILE",
        required=True,
        type=Path,
        help="the wheel to write, my_ops-1.0.0.whl (the platform is added to its name), or the module, my_ops.so",
    )
    made.add_argument("--module", metavar="NAME", help="name of the module (default: from --out)")
    made.add_argument("--host", metavar="TARGET", help="another processor: 'llvm -mtriple=aarch64-linux-gnu'")
    made.add_argument("--json", action="store_true", help="print JSON: the file and its targets")
    made.epilog = "Extents and arguments are expressions of the contract's dims and scalars (docs/import.md)."
    return made


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    return guarded("kernpack import", words, lambda: _run(parser().parse_args(words)))


def _run(options: argparse.Namespace) -> int:
    suffix = options.out.suffix
    named = _WHEEL.fullmatch(options.out.name)
    if suffix not in (".so", ".whl") or (suffix == ".whl" and named is None):
        raise Wrong(f"--out: expected a file such as my_ops-1.0.0.whl or my_ops.so, got '{options.out}'", _usage())
    from kernpack_compiler import _imports

    try:
        function = _imports.import_kernel(
            _code(options.files),
            options.contract,
            grid=_listed(options.grid, "--grid"),
            block=_listed(options.block, "--block"),
            args=None if options.args is None else _listed(options.args, "--args"),
            entry=options.entry,
            name=options.name,
            shared=options.shared,
            cluster=_numbers(options.cluster),
            cooperative=options.cooperative,
            grad=options.grad,
        )
        options.out.parent.mkdir(parents=True, exist_ok=True)
        made = _wheel(function, options, named) if named else _library(function, options)
    except ImportError as error:
        raise Failure(str(error), MISSING) from None
    except OSError as error:
        raise Failure(f"{error.filename or options.out}: {error.strerror or error}") from None
    except (ValueError, TypeError) as error:
        raise Failure(_as_options(str(error))) from None
    if options.json:
        print(json.dumps({"file": str(made), "function": function.name, "targets": function.targets}, indent=2))
    else:
        print(f"{made}: {function.name}{options.contract} for {', '.join(function.targets)}")
    return 0


def _usage() -> str:
    return parser().format_usage()


def _code(words: Sequence[str]) -> Path | list[Path] | dict[str, Path]:
    """The files, by architecture where that is said."""
    said = [_ARCH.fullmatch(word) for word in words]
    files = [Path(found[2] if found else word) for found, word in zip(said, words, strict=True)]
    for file in files:
        if not file.is_file():
            raise Wrong(f"{file}: no such file", _usage())
    if len(files) == 1 and said[0] is None:
        return files[0]
    by_arch = {found[1]: file for found, file in zip(said, files, strict=True) if found}
    if not by_arch:
        return files
    if len(by_arch) != len(files):
        raise Wrong("FILE: expected each file with another architecture, as in sm_90a=FILE, or all without", _usage())
    return by_arch


def _listed(text: str, option: str) -> list[object]:
    """ "ceildiv(N, 2), M" as expressions, each as text; None is a null pointer."""
    try:
        tree = ast.parse(f"[{text}\n]", mode="eval").body
    except SyntaxError as error:
        raise Wrong(f"{option}: '{text}': expected expressions with commas between: {error.msg}", _usage()) from None
    assert isinstance(tree, ast.List)
    written = [ast.unparse(each) for each in tree.elts]
    return [None if each == "None" else each for each in written]


def _numbers(text: str | None) -> list[int]:
    try:
        return [int(part) for part in text.split(",")] if text else []
    except ValueError:
        raise Wrong(f"--cluster: expected up to three whole numbers, got '{text}'", _usage()) from None


def _wheel(function: ImportedFunction, options: argparse.Namespace, named: re.Match[str]) -> Path:
    from kernpack_compiler import _wheel

    if options.module:
        raise Wrong("--module: a wheel's module is called as the wheel; leave it out", _usage())
    return _wheel.export_wheel([function], options.out.parent, named[1], named[2], target=options.host)


def _library(function: ImportedFunction, options: argparse.Namespace) -> Path:
    from kernpack_compiler._imports._module import export, make_target

    name = options.module or options.out.stem
    if not name.isidentifier():
        raise Wrong(f"--module: expected a name such as my_ops, got '{name}'", _usage())
    out: Path = options.out
    export([function], name, out, make_target(options.host))
    return out


def _as_options(text: str) -> str:
    """An error of import_kernel() in the words of the command line."""
    text = re.sub(r"^(import_kernel|export_wheel): (code: )?", "", text)
    text = re.sub(r"\bcluster=\(([^)]*)\)", r"--cluster '\1'", text)
    return re.sub(r"\b(entry|name|args)=", r"--\1", text)
