"""Workspaces against malloc and torch's allocator, copies against memcpy, storage from 1, 2 and 8 threads."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

from kit import Kit
from report import Row

import build

KIB, MIB = 1 << 10, 1 << 20


def measure(kit: Kit) -> list[Row]:
    import kernpack

    flags = ([f"-I{build.ROOT / 'ffi' / 'include'}"], kit.ours_flags[1])
    module = kernpack.load(
        str(build.shared_object(build.HERE / "ours" / "device_bench.c", "device_bench", flags, build.CC))
    )
    rounds = max(10, kit.repetitions)
    rows = [
        _row(
            f"workspace of {_size(size)}", module.workspace, module.malloc_free, size, 2000, rounds, 0.5, "malloc, free"
        )
        for size in (64 * KIB, MIB, 64 * MIB)
    ]
    rows += [
        _row(
            "three workspaces at once", module.three_workspaces, module.three_mallocs, MIB, 2000, rounds, 0.5, "malloc"
        )
    ]
    if allocate := _torch_allocate():
        rows += [
            _row(
                f"workspace of {_size(size)}",
                module.workspace,
                allocate,
                size,
                500,
                rounds,
                0.5,
                "torch's CPU allocator",
            )
            for size in (64 * KIB, MIB)
        ]
    rows += [
        _row(
            f"copy of {_size(size)}",
            module.copy,
            module.plain_memcpy,
            size,
            max(1, 4 * MIB // size),
            rounds,
            1.05,
            "memcpy",
        )
        for size in (4 * KIB, MIB, 32 * MIB)
    ]
    return rows + _storage(kit)


def _size(size: int) -> str:
    return f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"


def _row(
    name: str, ours: Callable[..., float], theirs: Callable[..., float], size: int, calls: int, rounds: int,
    goal: float, peer: str,
) -> Row:  # fmt: skip
    mine, other = [], []
    for _ in range(rounds):  # in turn, so that both see the same machine
        mine.append(ours(size, calls))
        other.append(theirs(size, calls))
    return Row("devices", name, min(mine), min(other), goal=goal, peer=peer)


def _torch_allocate() -> Callable[..., float] | None:
    try:
        import torch
    except ImportError:
        return None
    base = Path(torch.__file__).parent
    flags = ([f"-I{base / 'include'}", "-std=c++20"], [f"-L{base / 'lib'}", "-lc10"])
    source = build.HERE / "peers" / "torch_allocator_bench.cc"
    function = ctypes.CDLL(str(build.shared_object(source, "torch_allocator_bench", flags))).torch_allocate
    function.restype = ctypes.c_double
    function.argtypes = [ctypes.c_longlong, ctypes.c_longlong]
    return function


def _storage(kit: Kit) -> list[Row]:
    import kernpack

    flags = ([f"-I{build.ROOT / 'ffi' / 'include'}"], [*kit.ours_flags[1], "-lpthread"])
    path = build.shared_object(build.HERE / "ours" / "storage_bench.c", "storage_bench", flags, build.CC)
    module = kernpack.load(str(path))
    return [
        Row(
            "devices",
            f"storage_get, {threads} thread{'s' * (threads > 1)}",
            min(module.run(threads, 50_000) for _ in range(max(5, kit.repetitions // 6))),
            None,
            note="a call, in each thread",
        )
        for threads in (1, 2, 8)
    ]
