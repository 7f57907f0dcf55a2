"""The results as JUnit XML, which CI systems show."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

from kernpack_sdk.testing.case import Result


def write(path: Path, name: str, results: Sequence[Result]) -> None:
    """One test case for each check of each op."""
    suite = ET.Element(
        "testsuite",
        name=name,
        tests=str(len(results)),
        failures=str(sum(result.status == "failed" for result in results)),
        errors="0",
        skipped=str(sum(result.status in ("skipped", "allowed") for result in results)),
        time=f"{sum(result.seconds for result in results):.3f}",
    )
    for result in results:
        case = ET.SubElement(
            suite, "testcase", classname=f"{name}.{result.op}", name=result.check, time=f"{result.seconds:.3f}"
        )
        if result.status == "failed":
            first = result.findings[0]
            failure = ET.SubElement(case, "failure", message=_legal(first.text))
            failure.text = _legal("\n\n".join(f"{each.text}\n{each.call}\n{each.advice}" for each in result.findings))
        elif result.status != "passed":
            words = result.reason if result.status == "skipped" else f"allowed: {result.reason}"
            ET.SubElement(case, "skipped", message=_legal(words))
    root = ET.Element("testsuites")
    root.append(suite)
    path.parent.mkdir(parents=True, exist_ok=True)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _legal(text: str) -> str:
    """Without what XML cannot hold."""
    return "".join(
        letter if letter in "\n\t" or " " <= letter < "\ud800" or "\ue000" <= letter <= "\ufffd" else "?"
        for letter in text
    )
