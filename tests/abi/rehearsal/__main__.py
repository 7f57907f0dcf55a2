"""python -m rehearsal [FOLDER]: makes 1.1 and 2.0, builds them in FOLDER (build/rehearsal), runs every cell, and writes the
table of docs/evolution.md.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rehearsal import cells, environments, modules, table, trees


def main(folder: Path) -> int:
    start = time.monotonic()
    made = {version: trees.make(version, folder) for version in cells.HOSTS}
    print(f"{time.monotonic() - start:6.1f} s  sources of 1.1 and 2.0", flush=True)
    hosts = {}
    for version, tree in made.items():
        hosts[version] = str(trees.build_host(tree, folder))
        print(f"{time.monotonic() - start:6.1f} s  host {version}", flush=True)
    with ThreadPoolExecutor(2) as pool:
        files = dict(
            zip(
                cells.MODULES,
                pool.map(lambda m: modules.build(m, made[m.version], folder / "modules"), cells.MODULES),
                strict=True,
            )
        )
        print(f"{time.monotonic() - start:6.1f} s  {len(files)} modules", flush=True)
        ran = list(pool.map(lambda c: cells.run(c, files, hosts), cells.all_cells()))
    wrong = [line for one in ran for line in one.wrong]
    environments_tried, wrong_environments = environments.run(folder / "mixed", hosts)
    wrong += wrong_environments
    print(*wrong, sep="\n")
    if not wrong:
        table.write(one.cell for one in ran)
    failed = sum(bool(one.wrong) for one in ran)
    crashed = sum(bool(one.crash) for one in ran) + sum("the process died" in line for line in wrong_environments)
    print(
        f"{time.monotonic() - start:6.1f} s  {len(ran)} cells, {len(ran) - failed} as expected; {environments_tried} mixed "
        f"environments, {environments_tried - len(wrong_environments)} as expected; {crashed} crashes"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else trees.ROOT / "build" / "rehearsal"))
