"""Where a compiler looked for headers and found none: a file that appears there is read instead of the one that was used.

Compilers list what they read, not what they missed. A preprocessor says which names it was given (-dI), from which file
(its line markers) and which folders it looks at (-v): each name in each folder is a place that may have been looked at.
What __has_include asks for no compiler says: these names are taken from the files that it read.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernpack_sdk.cache.request import Request

_QUESTION = re.compile(
    rb"(?<!define )(?<!define\t)\b__has_(?:include|include_next|embed)[ \t]*\([ \t]*([^\n]*)"
    rb"|^[ \t]*#[ \t]*embed\b[ \t]*([^\n]*)",
    re.MULTILINE,
)
_DIRECTIVES = (b"include", b"include_next", b"import")
_ENDS = {b"<": b">", b'"': b'"'}
_STARTS, _MISSING = "search starts here:", "ignoring nonexistent directory "


@dataclass
class Preprocessed:
    """All that the compiler sees, #include lines among it; `folders` in which it looks for headers. Empty where it fails."""

    text: bytes
    folders: list[str]


@dataclass
class Lookups:
    places: set[str]  # where a header may have been looked for
    files: set[str]  # that were read, or are there and were asked for
    complete: bool  # False: a question's name is computed by macros, or the folders aren't known


def preprocess(request: Request, source: Path) -> Preprocessed:
    made = Preprocessed(b"", [])
    # nvcc compiles twice: for the device, and for the host without this macro.
    for option in ([], ["-U__CUDA_ARCH__"]) if request.cuda else ([],):
        loud = ["-Xcompiler", "-dI", "-Xcompiler", "-v"] if request.cuda else ["-dI", "-v"]
        command = [*request.compiler.words, *request.compile_flags, *option, "-E", *loud, str(source)]
        run = subprocess.run(command, env=os.environ | {"LC_ALL": "C"}, capture_output=True, check=False)
        if run.returncode:
            return Preprocessed(b"", [])
        made.text += run.stdout
        made.folders += _folders(os.fsdecode(run.stderr))
    return made


def of_headers(request: Request, made: Preprocessed, source: Path, files: Iterable[str]) -> Lookups:
    """The names that these files and -include options looked for. `files` and the files of nvcc's other pass are among the found files."""
    folders = list(dict.fromkeys(made.folders))
    included = list(_included(made.text, str(source)))
    read = set(filter(os.path.isfile, {*files, *(file for file, _ in included)}))  # not <built-in>
    forced = {
        os.path.join(folder, name) for folder in (os.getcwd(), *folders) for name in _forced(request.compile_flags)
    }
    found = Lookups(forced, set(read), bool(folders))
    for file, rest in included:
        found.places |= _places(rest, file, folders)
    for file in read:
        for one, other in _QUESTION.findall(_content(file)):
            places = _places(one or other, file, folders)
            found.complete &= bool(places)
            found.places |= places
            found.files |= set(filter(os.path.isfile, places))
    return found


def _included(text: bytes, source: str) -> Iterator[tuple[str, bytes]]:
    """Each file with each name that it includes, "name" or <name>, and once with none."""
    within = [source]  # a file behind those that include it
    for line in text.splitlines():
        if not line.startswith(b"#"):
            continue
        word, _, rest = line[1:].lstrip().partition(b" ")
        if word in _DIRECTIVES:
            yield within[-1], rest.lstrip()
        elif word.isdigit():
            name, _, flags = rest[1:].rpartition(b'"')
            if b"1" in flags.split():
                within.append(_spelled(name))
                yield within[-1], b""
            elif (
                b"2" in flags.split() and len(within) > 1
            ):  # without a flag it stands for #line, which no look-up heeds
                within.pop()


def _places(rest: bytes, file: str, folders: Sequence[str]) -> set[str]:
    """Where a name that stands in a file is looked for; nowhere if macros compute it."""
    end = rest.find(_ENDS.get(rest[:1], b"\n"), 1)
    beside = [os.path.dirname(file)] if rest.startswith(b'"') else []
    return {os.path.join(folder, os.fsdecode(rest[1:end])) for folder in (*beside, *folders)} if end > 1 else set()


def _spelled(name: bytes) -> str:
    """A file of a line marker, backslashes and octal numbers in it."""
    plain = name.decode("unicode_escape").encode("latin-1") if b"\\" in name else name
    return os.path.join(os.getcwd(), os.fsdecode(plain))


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b"__has_include(UNKNOWN)"


def _folders(said: str) -> list[str]:
    """The compiler's list, with those folders on it that aren't there."""
    found, listing = [], False
    for line in said.splitlines():
        if line.startswith(_MISSING):
            found.append(line.removeprefix(_MISSING).strip('"'))
        elif line.startswith("#include ") and line.endswith(_STARTS):
            listing = True
        elif listing and (listing := line.startswith(" ")):
            found.append(line.strip())
    return list(map(os.path.abspath, found))


def _forced(flags: Sequence[str]) -> list[str]:
    return [name for option, name in itertools.pairwise(flags) if option in ("-include", "-imacros")]
