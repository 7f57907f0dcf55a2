"""python -m rehearsal [FOLDER]: makes 1.1 and 2.0, builds them in FOLDER (build/rehearsal), runs every cell, and writes the
tables of docs/evolution.md.
"""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rehearsal import cells, environments, modules, table, tools, trees


def main(folder: Path) -> int:
    start = time.monotonic()

    def done(what: str) -> None:
        print(f"{time.monotonic() - start:6.1f} s  {what}", flush=True)

    made = {version: trees.make(version, folder) for version in cells.HOSTS}
    done("sources and SDKs of 1.1 and 2.0")
    hosts = {}
    for version, tree in made.items():
        hosts[version] = str(trees.build_host(tree, folder))
        done(f"host {version}")
    compiler = trees.build_compiler(made[cells.COMPILER], folder)
    exported = [m for m in cells.MODULES if m.from_compiler and m.version == cells.COMPILER]
    modules.export(exported, f"{hosts[cells.COMPILER]}:{compiler}", folder / "modules")
    done(f"compiler {cells.COMPILER}")
    with ThreadPoolExecutor(2) as pool:
        built = pool.map(lambda m: modules.build(m, made[m.version], folder / "modules"), cells.MODULES)
        files = dict(zip(cells.MODULES, built, strict=True))
        done(f"{len(files)} modules")
        ran = list(pool.map(lambda c: cells.run(c, files, hosts), cells.all_cells()))
        by_tools = list(pool.map(lambda tree: tools.run(tree, files), made.values()))
    wrong = [line for one in ran for line in one.wrong]
    failed = sum(bool(one.wrong) for one in ran)
    checked = sum(tried for tried, _ in by_tools)
    wrong_checks = [line for _, lines in by_tools for line in lines]
    environments_tried, wrong_environments = environments.run(folder / "mixed", hosts, made)
    wrong += wrong_checks + wrong_environments
    print(*wrong, sep="\n")
    if not wrong:
        table.write(one.cell for one in ran)
    crashed = sum(bool(one.crash) for one in ran) + sum("the process died" in line for line in wrong_environments)
    done(
        f"{len(ran)} cells, {len(ran) - failed} as expected; {checked} files under tools of an SDK, "
        f"{checked - len(wrong_checks)} as expected; {environments_tried} mixed environments, "
        f"{environments_tried - len(wrong_environments)} as expected; {crashed} crashes"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else trees.ROOT / "build" / "rehearsal"))
