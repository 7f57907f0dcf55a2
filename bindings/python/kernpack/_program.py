"""The programs that CXX, CC and NVCC name."""

from __future__ import annotations

import re
import shlex
import shutil


def split_command(command: str) -> list[str] | None:
    """A command's words: a path with spaces, a wrapper before a compiler (ccache g++), or what a shell would read, quotes included.
    None where there is no such program."""
    command = command.strip()
    for end in (*(space.start() for space in re.finditer(r"\s", command)), len(command)):
        if shutil.which(command[:end]) is not None:  # the shortest that is a program; the rest are its arguments
            return [command[:end], *_shell_words(command[end:])]
    words = _shell_words(command)
    return words if words and shutil.which(words[0]) is not None else None


def _shell_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a quote without the second one
        return text.split()
