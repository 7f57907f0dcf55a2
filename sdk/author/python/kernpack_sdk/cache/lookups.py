"""Where a compiler looked for headers and found none: a file that appears there is read instead of the one that was used.

Compilers list what they read, not what they missed. The names are in the sources (#include, __has_include), and the
folders in the compiler's own list; each name in each folder is a place that may have been looked at.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kernpack_sdk.cache.request import Request

_DIRECTIVE = re.compile(r"^[ \t]*(?:#|%:)[ \t]*(?:include|include_next|import|embed)\b[ \t]*(.*)", re.MULTILINE)
_QUESTION = re.compile(r"(?<!define )(?<!define\t)\b__has_(?:include|include_next|embed)[ \t]*\([ \t]*([^\n]*)")
_NAME = re.compile(r'<([^>\n]+)>|"([^"\n]+)"')

# Libraries that g++ and clang++ link unasked.
_IMPLIED = ("stdc++", "m", "gcc", "gcc_s", "c")


@dataclass
class Lookups:
    places: set[str] = field(default_factory=set)
    complete: bool = True  # False: a name is computed by macros, or the folders aren't known


def of_headers(request: Request, files: Iterable[str]) -> Lookups:
    """The places where a header may have been looked for by these files and by -include options."""
    folders = _include_folders(request)
    found = Lookups(complete=bool(folders))
    waiting, seen = [*files], set[str]()
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        names, beside, complete = _names(file)
        found.complete &= complete
        places = {os.path.join(folder, name) for name in names for folder in folders}
        places |= {os.path.join(os.path.dirname(file), name) for name in beside}
        if request.cuda:  # its list of files is that of one pass; what others read is found here
            waiting += filter(os.path.isfile, places - found.places)
        found.places |= places
    for name in _forced(request.compile_flags):
        found.places |= {os.path.abspath(name), *(os.path.join(folder, name) for folder in folders)}
    return found


def of_libraries(request: Request) -> set[str]:
    """The places where the linker may have looked for libraries."""
    words = request.words()
    run = request.compiler.ask("-print-search-dirs")
    listed = re.search(r"^libraries: =?(.*)$", run, re.MULTILINE)
    folders = [word[2:] for word in words if word.startswith("-L")] + (listed[1].split(":") if listed else [])
    wanted = {word[2:] for word in words if word.startswith("-l")} | set(_IMPLIED)
    names = {n for w in wanted for n in ([w[1:]] if w.startswith(":") else [f"lib{w}.so", f"lib{w}.a"])}
    return {os.path.abspath(os.path.join(folder, name)) for folder in folders for name in names}


def _names(file: str) -> tuple[set[str], set[str], bool]:
    """Names that a file includes or asks about, those also looked for beside it, and whether these are all."""
    try:
        # As paths are decoded: the names in it are asked for.
        with open(file, encoding=sys.getfilesystemencoding(), errors="surrogateescape") as opened:
            text = opened.read()
    except OSError:
        return set(), set(), False
    names, beside, complete = set[str](), set[str](), True
    for rest in [*_DIRECTIVE.findall(text), *_QUESTION.findall(text)]:
        name = _NAME.match(rest)
        if name is None:
            complete = False
            continue
        names.add(name[1] or name[2])
        if name[2]:
            beside.add(name[2])
    return names, beside, complete


def _include_folders(request: Request) -> list[str]:
    """The compiler's list, with those folders on it that aren't there."""
    loud = ["-Xcompiler", "-v"] if request.cuda else ["-v"]
    language = "cu" if request.cuda else "c++"
    text = request.compiler.ask(*request.compile_flags, *loud, "-E", "-x", language, os.devnull, "-o", os.devnull)
    listed = re.findall(r"^#include .* search starts here:\n((?: .*\n)*)", text, re.MULTILINE)
    missing = re.findall(r'^ignoring nonexistent directory "(.*)"$', text, re.MULTILINE)
    return [os.path.abspath(line.strip()) for line in "".join(listed).splitlines() + missing]


def _forced(flags: Sequence[str]) -> list[str]:
    return [name for option, name in itertools.pairwise(flags) if option in ("-include", "-imacros")]
