"""Compiling what isn't in the cache yet."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from kernpack_sdk.cache import assembler, lookups, private, record
from kernpack_sdk.cache.assembler import files_of as _files_of
from kernpack_sdk.cache.request import Request, named_files

_log = logging.getLogger("kernpack_sdk.cache")
_FILE_CLOCK = 5  # CLOCK_REALTIME_COARSE, which Linux takes files' times from; it ticks every 1 to 10 ms
_TICK = 0.01


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
        same = not known.preprocessed or known.preprocessed == _preprocessed(request, source)
        if same and known.holds() and _is_whole(result):
            _log.debug("cache: %s is up to date", result)
            return result
        _log.debug("cache: what %s was made of has changed", result)
    private.write(source, request.text.encode("utf-8", "surrogateescape"))
    started = time.monotonic()
    with private.scratch(folder) as scratch:
        result = _compile(request, source, kept, scratch, name, verbose)
    _log.debug("cache: compiled %s in %.2f s", result, time.monotonic() - started)
    return result


def _is_whole(result: Path) -> bool:
    content = private.read(result)
    return content is not None and result.stem.endswith("_" + record.digest_of(content))


def _compile(request: Request, source: Path, kept: Path, scratch: Path, name: str, verbose: bool) -> Path:
    time.sleep(_TICK)  # so that a file written just before has another time than one written from here on
    started = time.clock_gettime_ns(_FILE_CLOCK)
    made, listed, assembled = scratch / f"made{request.kind}", scratch / "files.d", scratch / "assembled.d"
    command = _command(request, source, made, listed, assembled)
    _log.debug("cache: runs %s", " ".join(command))
    said = _run(command, verbose)
    if request.cuda:
        listed.write_bytes(
            os.fsencode(_run([*request.compiler.words, *request.compile_flags, "-M", str(source)], False))
        )
    content = made.read_bytes()
    result = kept.parent / f"{name}_{record.digest_of(content)}{request.kind}"
    headers = set(_files_of(os.fsdecode(listed.read_bytes())))
    data = assembler.files(assembled, headers)
    private.put(made, result)
    if data is None:
        _log.debug("cache: %s isn't kept: it includes data that its tools don't list", result)
        return result
    _keep(request, source, kept, result, headers, headers | data | _traced(said), started)
    return result


def _command(request: Request, source: Path, made: Path, listed: Path, assembled: Path) -> list[str]:
    words = [*request.compiler.words, *request.compile_flags, str(source), "-o", str(made)]
    if not request.cuda:
        words += ["-MD", "-MF", str(listed)]
    words += assembler.options(request, assembled)
    if request.kind == ".o":
        return [*words, "-c"]
    trace = ["-Xlinker", "--trace"]  # prints the files that are linked
    return [*words, *map(str, request.objects), *request.link_flags, *trace]


def _keep(
    request: Request, source: Path, kept: Path, result: Path, headers: set[str], read: set[str], started: int
) -> None:
    """Writes down what the result was made of; nothing where a file changed meanwhile, so that the next call compiles."""
    looked = lookups.of_headers(request, headers)
    places = looked.places | (lookups.of_libraries(request) if request.kind == ".so" else set())
    if request.cuda:
        read = read | {place for place in places if os.path.isfile(place)}
    read = read | set(named_files(request.words())) | _programs(request)
    files = record.take(sorted(read - {str(source)}), started)
    if files is None:
        return
    digest = "" if looked.complete else _preprocessed(request, source)
    record.write(kept, record.Record(files, record.absent(sorted(places)), digest, result.name))


def _programs(request: Request) -> set[str]:
    """The compiler proper, which a driver runs, and the files that configure the driver."""
    asked = () if request.cuda else ("cc1plus", "as", "collect2", "ld")
    found = {request.compiler.ask(f"-print-prog-name={program}").strip() for program in asked}
    found |= set(re.findall(r"^(?:Configuration file:|Reading specs from) (.*)$", request.compiler.about, re.MULTILINE))
    return {os.path.abspath(path) for path in found if os.path.isabs(path) and os.path.isfile(path)}


def _preprocessed(request: Request, source: Path) -> str:
    """A digest of all that the compiler sees; never the same where it cannot be had."""
    if not source.exists():
        return "none"
    command = [*request.compiler.words, *request.compile_flags, "-E", str(source)]
    run = subprocess.run(command, capture_output=True, check=False)
    return record.digest_of(run.stdout) if run.returncode == 0 else f"failed at {time.time_ns()}"


def _traced(said: str) -> set[str]:
    """The files that a linker says it reads: "path", "path(member)", "(path)member", "-lm (path)"."""
    paths = set()
    for line in said.splitlines():
        inside = re.match(r"(?:-l\S+ )?\((.+?)\)", line)
        paths.add(inside[1] if inside else re.sub(r"\([^()]*\)$", "", line).strip())
    return {os.path.abspath(path) for path in paths if path and os.path.isfile(path)}


def _run(command: list[str], verbose: bool) -> str:
    if verbose:
        print(" ".join(command).encode("utf-8", "backslashreplace").decode())
    run = subprocess.run(command, capture_output=True, text=True, errors="surrogateescape", check=True)
    if verbose and run.stderr:
        print(run.stderr, file=sys.stdout)
    return run.stdout
