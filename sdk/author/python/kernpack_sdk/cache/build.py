"""Compiling what isn't in the cache yet."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

from kernpack_sdk import progress, shared_object
from kernpack_sdk.cache import assembler, linker, lookups, private, record, rules
from kernpack_sdk.cache.request import Request, named_files

_log = logging.getLogger("kernpack_sdk.cache")
_FILE_CLOCK = 5  # CLOCK_REALTIME_COARSE, which Linux takes files' times from; it ticks every 1 to 10 ms, as Windows' only clock
_TICK = 0.01

# Where tools list what they read, in the folder of one build.
_COMPILED, _ASSEMBLED, _LINKED = "compiled.d", "assembled.d", "linked.d"
_UNLISTED = (
    "-unlisted"  # in names of results that aren't kept: with -flto, the data is read when such objects are linked
)
_CONFIGURED = ("Configuration file: ", "Reading specs from ")  # how GCC and clang say so


def compiled(request: Request, folder: Path, name: str, *, verbose: bool = False) -> Path:
    """The result of a request, in `folder`; compiled unless an entry holds. Two processes may do this at once.

    Raises subprocess.CalledProcessError, its `stderr` the compiler's output, and PermissionError for another user's folder.
    """
    folder = private.folder(folder)
    key = request.key()
    source = folder / f"{name}_{key}{request.suffix}"
    kept = folder / f"{name}_{key}.json"
    known = record.read(kept)
    if known is not None:
        result = folder / known.result
        same = not known.preprocessed or known.preprocessed == _digest(lookups.preprocess(request, source))
        if same and known.holds() and _is_whole(result):
            _log.debug("cache: %s is up to date", result)
            return result
        _log.debug("cache: what %s was made of has changed", result)
    private.write(source, request.text.encode("utf-8", "surrogateescape"))
    started = time.monotonic()
    with private.scratch(folder) as scratch, _announced(request, name, folder):
        result = _compile(request, source, kept, scratch, name, verbose)
    _log.debug("cache: compiled %s in %.2f s", result, time.monotonic() - started)
    return result


def _announced(request: Request, name: str, folder: Path) -> contextlib.AbstractContextManager[None]:
    """nvcc needs a minute for sources that g++ compiles in a second."""
    if not request.cuda:
        return contextlib.nullcontext()
    part = "linking" if not request.text else "compiling"
    compiler = os.path.basename(request.compiler.words[0])
    return progress.announced(f"kernpack: {part} the CUDA code of {name} with {compiler}", folder)


def _is_whole(result: Path) -> bool:
    content = private.read(result)
    return content is not None and result.stem.endswith("_" + record.compute_digest(content))


def _compile(request: Request, source: Path, kept: Path, scratch: Path, name: str, verbose: bool) -> Path:
    time.sleep(_TICK)  # so that a file written just before has another time than one written from here on
    started = time.time_ns() if sys.platform == "win32" else time.clock_gettime_ns(_FILE_CLOCK)
    made = scratch / f"made{request.kind}"
    _run(_command(request, source, made, scratch), verbose)
    seen = lookups.preprocess(request, source)
    data = assembler.files(scratch / _ASSEMBLED, seen.text)
    if data is None or any(_UNLISTED in part.name for part in request.objects):
        data, name = None, f"{name}{_UNLISTED}"
    result = kept.parent / f"{name}_{record.compute_digest(made.read_bytes())}{request.kind}"
    private.put(made, result)
    if data is None:
        _log.debug("cache: %s isn't kept: it includes data that its tools don't list", result)
        return result
    headers = lookups.of_headers(request, seen, source, rules.of_compiler(scratch / _COMPILED))
    read = headers.files | data | set(named_files(request.words())) | _programs(request)
    places = headers.places | assembler.places(data, seen.folders)
    if request.kind == shared_object.SUFFIX:
        linked = linker.files(scratch / _LINKED, made)
        looked = linker.places(request, linked)
        read |= set(filter(os.path.isfile, looked)) if linked is None else linked
        places |= looked
    files = record.take(sorted(read - {str(source)}), started)
    if files is not None:  # none of them changed meanwhile
        digest = "" if headers.complete else _digest(seen)
        record.write(kept, record.Record(files, record.absent(sorted(places)), digest, result.name))
    return result


def _command(request: Request, source: Path, made: Path, scratch: Path) -> list[str]:
    """Has each tool list what it reads."""
    words = [*request.compiler.words, *request.compile_flags, str(source), "-o", str(made)]
    words += ["-MD", "-MF", str(scratch / _COMPILED), *assembler.options(request, scratch / _ASSEMBLED)]
    if request.kind == ".o":
        return [*words, "-c"]
    return [*words, *map(str, request.objects), *linker.options(request, scratch / _LINKED), *request.link_flags]


def _programs(request: Request) -> set[str]:
    """The compiler proper, which a driver runs, and the files that configure the driver."""
    asked = () if request.cuda else ("cc1plus", "as", "collect2", "ld")
    found = {request.compiler.ask(f"-print-prog-name={program}").strip() for program in asked}
    for line in request.compiler.about.splitlines():
        found |= {line.removeprefix(start) for start in _CONFIGURED if line.startswith(start)}
    return {os.path.abspath(path) for path in found if os.path.isabs(path) and os.path.isfile(path)}


def _digest(seen: lookups.Preprocessed) -> str:
    """Of all that the compiler sees; never the same where it cannot be had."""
    return record.compute_digest(seen.text) if seen.folders else f"failed at {time.time_ns()}"


def _run(command: list[str], verbose: bool) -> None:
    _log.debug("cache: runs %s", " ".join(command))
    if verbose:
        print(" ".join(command).encode("utf-8", "backslashreplace").decode())
    run = subprocess.run(command, capture_output=True, text=True, errors="surrogateescape", check=True)
    if verbose and run.stderr:
        print(run.stderr, file=sys.stdout)
