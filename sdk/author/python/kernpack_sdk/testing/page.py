"""The results as one HTML page without scripts: a row per op, a column per check, and the findings below."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from kernpack_sdk.testing.case import Result

_SIGNS = {"passed": "✓", "failed": "✗", "skipped": "·", "allowed": "!"}
_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem; color: #1b1b1f; background: #fff }
table { border-collapse: collapse; font-size: 13px }
th, td { padding: 2px 7px; text-align: center; border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left; font-family: ui-monospace, monospace }
thead th { writing-mode: vertical-rl; vertical-align: bottom; font-weight: normal }
.passed { color: #1a7f37 } .failed { color: #fff; background: #b3261e } .skipped { color: #999 } .allowed { color: #8a5a00 }
code { background: #f3f3f6; padding: 1px 4px } .advice { color: #555 }
@media (prefers-color-scheme: dark) {
  body { background: #17171a; color: #e6e6ea } th, td { border-color: #333 } code { background: #26262b } .advice { color: #aaa }
}
"""


def write(path: Path, facts: dict[str, Any], results: Sequence[Result], summary: str) -> None:
    title = f"kernpack test: {facts['module']} {facts['version']}"
    checks = list(dict.fromkeys(result.check for result in results))
    ops: dict[str, dict[str, Result]] = {}
    for result in results:
        ops.setdefault(result.op, {})[result.check] = result
    head = "".join(f"<th>{escape(check)}</th>" for check in checks)
    rows = "".join(
        f"<tr><td>{escape(op)}</td>{''.join(map(_cell, found.values()))}</tr>\n" for op, found in ops.items()
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style>\n'
        f"<h1>{escape(title)}</h1><p>{escape(summary)}</p>\n{_findings(results)}"
        f"<table><thead><tr><th>op</th>{head}</tr></thead>\n<tbody>{rows}</tbody></table>\n",
        encoding="utf-8",
    )


def _cell(result: Result) -> str:
    words = result.reason or f"{result.calls} calls, {result.seconds:.2f} s"
    return f'<td class="{result.status}" title="{escape(words)}">{_SIGNS[result.status]}</td>'


def _findings(results: Sequence[Result]) -> str:
    items = []
    for result in results:
        for each in result.findings:
            allowed = f" (allowed: {escape(result.reason)})" if result.status == "allowed" else ""
            call = f"<br><code>{escape(each.call)}</code>" if each.call else ""
            advice = f'<br><span class="advice">{escape(each.advice)}</span>' if each.advice else ""
            items.append(
                f"<li><b>{escape(result.op)}</b>, {escape(result.check)}{allowed}: {escape(each.text)}{call}{advice}</li>"
            )
    return f"<ol>{''.join(items)}</ol>\n" if items else ""
