"""Truncated files: an error that says so. Files of an installed distribution of which a bit was flipped: refused, whatever the bit.

Of a file that no distribution brought, nobody knows what it should be (docs/abi.md says so)."""

from __future__ import annotations

import os
import random
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import support.installed
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


def tables(content: bytes) -> list[int]:
    """Offsets of every byte of the dynamic section, the relocations, the symbols, their names, versions and hashes."""
    kinds = {2, 3, 4, 5, 6, 11, 14, 15, 0x6FFFFFF6, 0x6FFFFFFE, 0x6FFFFFFF}  # SHT_SYMTAB to SHT_GNU_versym
    shoff, shnum = struct.unpack_from("<Q", content, 40)[0], struct.unpack_from("<H", content, 60)[0]
    offsets: list[int] = []
    for i in range(shnum):
        _, kind, _, _, offset, size = struct.unpack_from("<IIQQQQ", content, shoff + 64 * i)
        if kind in kinds:
            offsets += range(offset, offset + size)
    return offsets


def test_flips_in_an_installed_module(compile_fake: Callable[..., Path], tmp_path: Path) -> None:
    """KERNPACK_FLIPS says how many; `make flips` makes 2,000."""
    installed = support.installed.install(compile_fake("flipped"), tmp_path / "site", "flipped-kernels", "1.2")
    content = installed.read_bytes()
    where, rng = tables(content), random.Random(SEED)
    assert len(where) > 1000
    for _ in range(int(os.environ.get("KERNPACK_FLIPS", "200"))):
        at, bit = rng.choice(where), rng.randrange(8)
        damaged = bytearray(content)
        damaged[at] ^= 1 << bit
        installed.write_bytes(damaged)
        with pytest.raises(host.Raised, match=r"isn't the file that flipped-kernels 1\.2 installed") as refused:
            host.load(installed)
        assert "run `pip install --force-reinstall flipped-kernels==1.2`" in refused.value.message, f"{at} bit {bit}"
    installed.write_bytes(content)
    assert outcome(installed) == "good"
