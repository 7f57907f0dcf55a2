"""Zig for a program of Windows under Wine, where Windows' zig doesn't run: the commands are run by Linux' zig.

On Linux, `bridge.py serve COMMAND...` runs a command with CXX and CC set to this file under the Python of Windows that
WINDOWS_PYTHON names, and answers it as long as the command runs. WINEPREFIX is Wine's folder. In what compilers say, paths
stay Linux', which Windows' programs find as long as they work on the drive Z:, Linux' root.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

_DRIVE = re.compile(r"([A-Za-z]):(?=[\\/])")
_ZIG = (sys.executable, "-m", "ziglang")
_TARGET = ("-target", "x86_64-windows-gnu")


def _here(text: str) -> str:
    """A word of a command as Linux needs it: Wine keeps a link for each drive."""
    links = Path(os.environ["WINEPREFIX"]) / "dosdevices"
    if not _DRIVE.search(text):
        return text
    return _DRIVE.sub(lambda found: os.path.realpath(links / f"{found[1].lower()}:").rstrip("/"), text).replace(
        "\\", "/"
    )


def _answer(connection: socket.socket) -> None:
    with connection, connection.makefile("rw", encoding="utf-8") as stream:
        asked: dict[str, Any] = json.loads(stream.readline())
        kind, *words = asked["words"]
        for word in words:  # #include "Z:\folder\file" in a source that a program wrote
            path = _here(word)
            if path.endswith((".cc", ".c")) and os.path.isfile(path):
                with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
                    text = file.read()
                changed = re.sub(r'(?m)^#include "[^"\n]*"', lambda found: _here(found[0]), text)
                if changed != text:
                    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                        file.write(changed)
        done = subprocess.run(
            [*_ZIG, kind, *(_TARGET if kind in ("cc", "c++") else ()), *map(_here, words)],
            cwd=_here(asked["folder"]),
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        stream.write(json.dumps({"code": done.returncode, "out": done.stdout, "error": done.stderr}) + "\n")
        stream.flush()


def _serve(command: list[str]) -> int:
    server = socket.create_server(("127.0.0.1", 0))

    def loop() -> None:
        while True:
            connection, _ = server.accept()
            threading.Thread(target=_answer, args=(connection,), daemon=True).start()

    threading.Thread(target=loop, daemon=True).start()
    python = os.environ["WINDOWS_PYTHON"]
    own = "Z:" + os.path.abspath(__file__).replace("/", "\\")
    variables = {name: f'"{python}" -I "{own}" {kind}' for name, kind in (("CXX", "c++"), ("CC", "cc"))}
    environment = os.environ | variables | {"KERNPACK_TEST_BRIDGE": str(server.getsockname()[1])}
    # Without compiled files, torch alone takes each process ten seconds more; the repository gets none.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    environment["PYTHONPYCACHEPREFIX"] = "\\".join([*python.split("\\")[:-2], "pycache"])
    return subprocess.run(command, env=environment, check=False).returncode


def _ask(words: list[str]) -> int:
    port = int(os.environ["KERNPACK_TEST_BRIDGE"])
    with (
        socket.create_connection(("127.0.0.1", port)) as connection,
        connection.makefile("rw", encoding="utf-8") as stream,
    ):
        stream.write(json.dumps({"words": words, "folder": os.getcwd()}) + "\n")
        stream.flush()
        answer = json.loads(stream.readline())
    sys.stdout.write(answer["out"])
    sys.stderr.write(answer["error"])
    return int(answer["code"])


if __name__ == "__main__":
    sys.exit(_serve(sys.argv[2:]) if sys.argv[1] == "serve" else _ask(sys.argv[1:]))
