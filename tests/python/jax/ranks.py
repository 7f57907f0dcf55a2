"""Two processes of jax.distributed, four CPU devices each."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile

INITIALIZE = """
import sys, jax
jax.distributed.initialize(f"localhost:{sys.argv[2]}", 2, int(sys.argv[1]))
"""


def run_two(code: str, *arguments: str) -> list[list[str]]:
    """Runs code in both, as one global mesh of eight devices; each one's lines of output. sys.argv[3:] are the arguments."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo",
    }
    with contextlib.ExitStack() as stack:
        # Files, not pipes: a rank that waits for its reader keeps the other one waiting for it.
        outputs = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(2)]
        ranks = [
            subprocess.Popen(
                [sys.executable, "-c", INITIALIZE + code, str(rank), str(port), *arguments],
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            for rank, output in enumerate(outputs)
        ]
        try:
            codes = [rank.wait(timeout=600) for rank in ranks]
        finally:
            for rank in ranks:
                rank.kill()
        for output in outputs:
            output.seek(0)
        texts = [output.read() for output in outputs]
    assert codes == [0, 0], "\n".join(text[-3000:] for text in texts)
    return [text.splitlines() for text in texts]
