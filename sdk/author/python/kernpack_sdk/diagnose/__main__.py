"""Runs a compiler as `python -I -S <this folder> <compiler> <arguments>`; where it fails, explains first what it can.

CMake does so (kernpack_add_module.cmake), with any Python and nothing of the SDK importable: this folder imports the standard library
alone, and the explainer only after a failure.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main(command: list[str]) -> int:
    done = subprocess.run(command, capture_output=True, check=False)
    text = done.stderr
    if done.returncode != 0:
        # Last: no module beside this folder may stand before one of the standard library.
        sys.path.append(str(Path(__file__).resolve().parents[1]))
        from diagnose.launcher import explained

        text = explained(command, text)
    sys.stdout.buffer.write(done.stdout)
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(text)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
