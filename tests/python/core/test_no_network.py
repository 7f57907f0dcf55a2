"""Importing, loading and calling open no connection: in a namespace without a network, with every system call for sockets seen."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import kernpack

CODE = """
import sys
events = []
sys.addaudithook(lambda event, arguments: event.startswith("socket.") and events.append(event))
import kernpack
module = kernpack.load(sys.argv[1])
assert module.twice(21) == 42
kernpack.info()
assert events == [], events
print("called")
"""


def _works(*command: str) -> bool:
    """True if this machine has the program and permits it; containers often don't."""
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0


def test_import_load_and_call_open_no_connection(tmp_path: Path) -> None:
    path = kernpack.load_inline("int64_t twice(int64_t n) { return 2 * n; }", ["twice"]).path
    trace = tmp_path / "trace"
    command = [sys.executable, "-c", CODE, path]
    # Python's audit events are always watched; these two where they are permitted.
    strace = ["strace", "-f", "-qq", "-e", "trace=network", "-o", str(trace)]
    if _works(*strace):
        command = [*strace, *command]
    else:
        print("strace isn't permitted here: only Python's own events are watched")
    if _works("unshare", "-rn"):
        command = ["unshare", "-rn", *command]
    else:
        print("unshare -rn isn't permitted here: the network is there, though not used")
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "called\n"
    if trace.exists():
        assert "AF_INET" not in trace.read_text(encoding="utf-8")
