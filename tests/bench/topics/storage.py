"""storage_get of one key, from one thread and from two at once."""

from __future__ import annotations

from kit import Kit
from report import Row

import build

CALLS = 200_000


def measure(kit: Kit) -> list[Row]:
    import kernpack

    flags = ([f"-I{build.ROOT / 'ffi' / 'include'}"], [*kit.ours_flags[1], "-lpthread"])
    path = build.shared_object(build.HERE / "ours" / "storage_bench.c", "storage_bench", flags, build.CC)
    module = kernpack.load(str(path))
    samples = {1: [], 2: []}
    for _ in range(max(5, kit.repetitions // 6)):
        for threads, found in samples.items():
            found.append(module.run(threads, CALLS))
    return [
        Row(
            "storage",
            f"storage_get, {threads} thread{'s' * (threads > 1)}",
            min(found),
            None,
            note="a call, in each thread",
        )
        for threads, found in samples.items()
    ]
