"""The explainer's part in a run of the compiler: its output explained, and its source after the macros."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from .report import with_diagnosis


def explained(command: Sequence[str], output: bytes) -> bytes:
    """The output of a compiler that failed, explained."""
    said = output.decode("utf-8", "surrogateescape")
    return with_diagnosis(said, lambda: preprocessed(command)).encode("utf-8", "surrogateescape")


def preprocessed(command: Sequence[str]) -> str:
    """The source of a compiler's command after its macros; "" where it has none."""
    words, skip = [], False
    for word in command:
        if skip or word in ("-c", "-MD", "-MMD", "-MP"):
            skip = False
        elif word in ("-o", "-MF", "-MT", "-MQ"):
            skip = True
        else:
            words.append(word)
    run = subprocess.run([*words, "-E"], capture_output=True, check=False)
    return run.stdout.decode("utf-8", "replace") if run.returncode == 0 else ""
