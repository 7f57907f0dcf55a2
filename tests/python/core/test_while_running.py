"""Events while a kernel runs without the GIL."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import kernpack
import numpy as np
import pytest
import torch


def _call_meanwhile(call: Callable[[], object], action: Callable[[], object]) -> object:
    """The result of `call` in another thread, during which `action` ran."""
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    time.sleep(0.1)  # the call below sleeps for longer
    action()
    assert not found, "the kernel had returned before the action ran"
    thread.join()
    return found[0]


SECONDS = 0.5


def test_the_last_reference_may_go(k):
    box = [np.ones(4, dtype=np.float32)]
    result = _call_meanwhile(lambda: k.slow_shape(box[0], SECONDS), box.clear)
    np.testing.assert_array_equal(result, [4, 4])


def test_a_numpy_array_may_be_reshaped(k):
    x = np.ones(4, dtype=np.float32)

    def reshape() -> None:
        x.shape = (2, 2)

    np.testing.assert_array_equal(_call_meanwhile(lambda: k.slow_shape(x, SECONDS), reshape), [4, 4])


def test_a_torch_tensor_may_shrink(k):
    x = torch.ones(4)
    result = _call_meanwhile(lambda: k.slow_shape(x, SECONDS), lambda: x.resize_(1))
    assert result.tolist() == [4, 4]
    assert x.shape == (1,)


@pytest.mark.parametrize("kind", ["numpy", "bytearray"])
def test_memory_that_is_in_use_cannot_be_resized(k, kind):
    data = bytearray(np.ones(4, dtype=np.float32).tobytes())
    x = np.ones(4, dtype=np.float32)
    resize: Callable[[], object] = (lambda: x.resize(4096)) if kind == "numpy" else (lambda: data.extend(b"x" * 4096))

    def refused() -> None:
        with pytest.raises((ValueError, BufferError)):
            resize()

    argument = x if kind == "numpy" else memoryview(data).cast("f")
    result = _call_meanwhile(lambda: k.slow_shape(argument, SECONDS), refused)
    np.testing.assert_array_equal(np.asarray(result), [4, 4])


INTERRUPTED = """
import os, signal, sys, threading, time
import kernpack

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs start with SIGINT ignored
k = kernpack.load(sys.argv[1])
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    k.spin(60.0)
except KeyboardInterrupt:
    print("interrupted" if time.monotonic() - start < 30 else "late")
"""


def test_ctrl_c_reaches_a_kernel_that_asks(k):
    child = subprocess.run([sys.executable, "-c", INTERRUPTED, k.path], capture_output=True, text=True, timeout=600)
    assert child.stdout == "interrupted\n", child.stderr


COMPILES = """
import sys
import kernpack

source = "int answer() { return 42; }"
print(kernpack.load_inline(source, {"answer": None}, name="twice_at_once").answer())
"""


def test_two_processes_compile_the_same_source_at_once(tmp_path):
    environment = os.environ | {"KERNPACK_CACHE_DIR": str(tmp_path)}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", COMPILES],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for child in children:
        out, err = child.communicate(timeout=300)
        assert (child.returncode, out) == (0, "42\n"), err
    assert len(list((tmp_path / "inline").rglob("*.so"))) == 1
    assert kernpack.load(next(tmp_path.rglob("*.so"))).answer() == 42
