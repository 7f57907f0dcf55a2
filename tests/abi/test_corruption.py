"""Truncated files and damaged headers: an error that says so, or a module that works. Never a dead process.

What is flipped: the ELF header, the program and section headers and the dynamic section. A flipped byte in code or data is
not detectable without knowing what the file should be (docs/abi.md says so)."""

from __future__ import annotations

import os
import random
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from support import host

SEED = 20261121


def outcome(path: Path) -> str:
    """Loads and calls in this process: "good", "refused", or what was wrong about the answer."""
    try:
        module = host.load(path)
    except host.Raised as error:
        return "refused" if str(path) in error.message else f"unclear: {error}"
    if host.names(module) != ["add", "second"]:
        return f"other names: {host.names(module)}"
    result = host.call(host.function(module, "add"), host.integer(40), host.integer(2)).bits
    return "good" if result == 42 else f"wrong answer: {result}"


def outcomes_in_child(paths: list[Path]) -> list[str]:
    """One forked child for all, another one from where it died."""
    results: list[str] = []
    while len(results) < len(paths):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
            with os.fdopen(writer, "w", buffering=1) as out:
                for path in paths[len(results) :]:
                    out.write(outcome(path).replace("\n", " ") + "\n")
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as lines:
            results += lines.read().splitlines()
        _, status = os.waitpid(child, 0)
        if len(results) < len(paths):
            results.append(f"died: status {status}")
    return results


def check(contents: Iterator[tuple[str, bytes]], folder: Path) -> Counter[str]:
    paths, labels = [], []
    for number, (label, content) in enumerate(contents):
        path = folder / f"{number}.so"
        path.write_bytes(content)
        paths.append(path)
        labels.append(label)
    results = outcomes_in_child(paths)
    wrong = [
        f"{label}: {result}" for label, result in zip(labels, results, strict=True) if result not in ("good", "refused")
    ]
    assert not wrong, f"{len(wrong)} of {len(results)}: {wrong[:10]}"
    return Counter(results)


def test_1000_truncations(compile_fake: Callable[..., Path], tmp_path: Path) -> None:
    content = compile_fake("whole").read_bytes()
    rng = random.Random(SEED)
    sizes = [0, 1, 15, 16, 63, 64, len(content) - 1, *(rng.randrange(len(content)) for _ in range(993))]
    counts = check(((f"{size} bytes", content[:size]) for size in sizes), tmp_path)
    assert counts == {"refused": 1000}


def header_bytes(content: bytes) -> list[int]:
    """Offsets of every byte of the ELF header, the program and section headers and the dynamic section."""
    phoff, shoff = struct.unpack_from("<QQ", content, 32)
    phnum, shnum = struct.unpack_from("<H", content, 56)[0], struct.unpack_from("<H", content, 60)[0]
    offsets = [*range(64), *range(phoff, phoff + 56 * phnum), *range(shoff, shoff + 64 * shnum)]
    for i in range(phnum):
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", content, phoff + 56 * i)
        if kind == 2:
            for entry in range(offset, offset + size, 16):
                # The address of start-up code may be any function's: a wrong one is wrong code.
                start_up = struct.unpack_from("<q", content, entry)[0] in (12, 13)
                offsets += range(entry, entry + (8 if start_up else 16))
    return offsets


def test_1000_bit_flips_in_headers(compile_fake: Callable[..., Path], tmp_path: Path) -> None:
    content = compile_fake("whole").read_bytes()
    rng = random.Random(SEED)
    where = header_bytes(content)

    def flipped() -> Iterator[tuple[str, bytes]]:
        for _ in range(1000):
            at, bit = rng.choice(where), rng.randrange(8)
            damaged = bytearray(content)
            damaged[at] ^= 1 << bit
            yield f"byte {at} bit {bit}", bytes(damaged)

    counts = check(flipped(), tmp_path)
    assert counts["refused"] > 100
    assert counts["good"] > 100  # section headers are hardly read
