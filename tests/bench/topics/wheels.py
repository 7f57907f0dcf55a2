"""The sizes of the wheels in dist/."""

from __future__ import annotations

from kit import Kit
from report import Row

import build

RUNTIME_GOAL_KIB = 2048


def measure(kit: Kit) -> list[Row]:
    del kit
    wheels = sorted((build.ROOT / "dist").glob("*.whl"))
    if not wheels:
        raise FileNotFoundError("no wheels in dist/; `make wheels` builds them")
    rows = []
    for wheel in wheels:
        runtime = wheel.name.startswith("kernpack-")
        note = f"goal: under {RUNTIME_GOAL_KIB} KiB" if runtime else ""
        rows.append(
            Row("wheels", "-".join(wheel.name.split("-")[:2]), wheel.stat().st_size / 1024, None, unit="KiB", note=note)
        )
    return rows
