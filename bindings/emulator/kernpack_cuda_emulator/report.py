"""The report of a program's run: errors of kernels, launches, functions that were asked for and aren't there."""

from __future__ import annotations

import json
import linecache
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

VERSION = 1


class ReportError(ValueError):
    """The file of the report can't be written."""


def require_writable(path: str | Path) -> None:
    """Before the program runs, not after an hour."""
    try:
        Path(path).write_text("", encoding="utf-8")
    except OSError as error:
        raise ReportError(f"report: can't write to {path}: {error.strerror}") from error


def _merge(lines: Path) -> dict[str, list[Any]]:
    findings: list[Any] = []
    refused: dict[str, None] = {}
    launches: Counter[tuple[str, str]] = Counter()
    missing: Counter[str] = Counter()
    for line in lines.read_text(encoding="utf-8").splitlines() if lines.exists() else []:
        entry = json.loads(line)
        if "finding" in entry:
            findings.append(entry["finding"])
        elif "refused" in entry:
            refused[entry["refused"].strip()] = None
        elif "kernel" in entry:
            launches[entry["kernel"]["name"], entry["kernel"]["device"]] += entry["kernel"]["launches"]
        else:
            missing[entry["missing"]["function"]] += entry["missing"]["calls"]
    of = Counter((finding.get("kernel"), finding.get("device")) for finding in findings)
    return {
        "findings": findings,
        "kernels": [
            {"name": name, "device": device, "launches": count, "findings": of[name, device]}
            for (name, device), count in sorted(launches.items())
        ],
        "refused": list(refused),
        "missing": [{"function": function, "calls": calls} for function, calls in sorted(missing.items())],
    }


def write(path: str | Path, lines: Path, command: list[str], status: int) -> None:
    """Make the report of what the processes of a program have appended to the file `lines`."""
    whole = {"version": VERSION, "command": [str(word) for word in command], "status": status, **_merge(lines)}
    Path(path).write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")


def describe(finding: Mapping[str, Any], around: int = 2) -> str:
    """The error in words, and the lines of the source around it, if the kernel has line information and the file is there."""
    text = f"{finding['kind']}: {finding['message']}"
    if "seed" in finding:
        text += f" (warps ran in shuffled order; seed {finding['seed']} reproduces it)"
    # The line that ran; if its function was inlined, the kernel's own line too.
    for place in [finding, *finding.get("inlined_at", [])[-1:]]:
        text += _lines(place.get("file"), place.get("line"), around)
    return text


def _lines(file: str | None, line: int | None, around: int) -> str:
    if not file or not line or not linecache.getline(file, line):
        return ""
    text = f"\n\n{file}:{line}"
    for number in range(max(line - around, 1), line + around + 1):
        if source := linecache.getline(file, number).rstrip():
            text += f"\n{'>' if number == line else ' '} {number:>5}  {source}"
    return text
