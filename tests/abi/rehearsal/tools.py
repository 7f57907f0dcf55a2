"""The tools of each version's SDK on the modules of every version: what `kernpack check` and `kernpack stubs` say of them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from rehearsal.modules import Module
from rehearsal.trees import Tree, environment


def _major(version: str) -> str:
    return version.split(".")[0]


def oldest_host(sdk: str, module: Module) -> str | None:
    """The oldest host of a module by `kernpack check` of an SDK: "1.0"; "" if only a newer SDK knows; None if the
    module is of another major."""
    if _major(sdk) != _major(module.version):
        return None
    if "CLAIM" in module.news and sdk < module.version:
        return ""
    needs_its_own = "NEEDS" in module.news or "CLAIM" in module.news
    return module.version if needs_its_own else f"{_major(module.version)}.0"


def calls_news(module: Module) -> bool:
    """True if the module calls a service of 1.1, which a host of 1.0 lacks."""
    return module.news == "NEWS" and module.language in ("c", "cxx")


def _refusal(sdk: str, module: Module) -> str:
    """A pattern of it."""
    kind = "backend" if module.language == "backend" else "module"
    known, its = _major(sdk), _major(module.version)
    remedy = (
        "run `pip install -U kernpack-sdk`"
        if its > known
        else f"install a newer build of the {kind}, or rebuild it with this version of kernpack-sdk"
    )
    needs = f"needs a host of ABI {its}.x (it exports kp_{kind}_v{its}), this is kernpack-sdk "
    return rf"{re.escape(needs)}\S+ with ABI {re.escape(f'{sdk}, which reads every {known}.x; {remedy}')}"


def _expected(sdk: str, module: Module) -> str:
    """A pattern of what follows the file's name."""
    oldest = oldest_host(sdk, module)
    if oldest is None:
        return f"^{_refusal(sdk, module)}$"
    if not oldest:
        return rf"^ok, .*, hosts of ABI {re.escape(sdk)} refuse it, .*: pip install -U kernpack-sdk$"
    news = r" \(rehearse needs 1\.1\)" if calls_news(module) else ""
    what = "a backend" if module.language == "backend" else r"\d+ functions"
    return rf"^ok, [\d.]+ KB, {what}, needs .*, runs on hosts of ABI {re.escape(oldest)} and newer{news}$"


def _run(tree: Tree, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "kernpack_sdk", *map(str, arguments)]
    return subprocess.run(command, env=environment(tree.site), capture_output=True, text=True, check=False)


def _check(tree: Tree, files: Mapping[Module, Path]) -> Iterator[str]:
    ran = _run(tree, "check", *files.values())
    said = {Path(name).name: text for name, text in (line.split(": ", 1) for line in ran.stdout.splitlines())}
    for module, path in files.items():
        wanted, got = _expected(tree.version, module), said.get(path.name, ran.stderr)
        if not re.search(wanted, got):
            yield f"kernpack check {tree.version}, {module.name}: expected {wanted!r}, got {got!r}"


def _stubs(tree: Tree, module: Module, file: Path) -> Iterator[str]:
    ran = _run(tree, "stubs", file)
    works = _major(tree.version) == _major(module.version)
    wanted, got = (r"def twice\(", ran.stdout) if works else (_refusal(tree.version, module), ran.stderr)
    if not re.search(wanted, got) or (ran.returncode == 0) is not works:
        yield f"kernpack stubs {tree.version}, {module.name}: expected {wanted!r}, got {ran.returncode}: {got!r}"


def run(tree: Tree, files: Mapping[Module, Path]) -> tuple[int, list[str]]:
    """How many files the tools of an SDK were tried on, and what was not as expected."""
    tried = len(files)
    wrong = list(_check(tree, files))
    for module, file in files.items():
        if module.language in ("c", "cxx") and module.news in ("", "NEWS"):
            tried += 1
            wrong += _stubs(tree, module, file)
    return tried, wrong
