"""The life of interpreters: threads that call into one that ends, subinterpreters, a second import."""

from __future__ import annotations

import subprocess
import sys

import kernpack
import pytest

SOURCE = r"""
#include <thread>

// Threads that nobody joins. Like most C++ threads they cannot be unwound: what tries ends the process.
void call_forever(kp::Function f, int threads) {
  for (int i = 0; i < threads; ++i) {
    std::thread([f]() noexcept {
      for (;;) {
        KpAny result = kp_none();
        if (f.object()->call(f.object().object(), nullptr, 0, &result) == 0) kp_any_release(&result);
      }
    }).detach();
  }
}

// Each copy of a function is let go on a thread of its own.
void release_forever(kp::Function make) {
  std::thread([make]() noexcept {
    for (;;) {
      KpAny result = kp_none();
      if (make.object()->call(make.object().object(), nullptr, 0, &result) == 0) kp_any_release(&result);
    }
  }).detach();
}
"""

# Ends while the threads are at every stage of a callback: asking for the GIL, in Python, outside the GIL in Python.
SCRIPT = """
import sys, threading, time
import kernpack
k = kernpack.load(sys.argv[1])
called = threading.Event()

def quick():
    called.set()

def slow():
    called.set()
    time.sleep(0.001)

class Value:
    def __del__(self):
        time.sleep(0)

k.call_forever(quick, 3)
k.call_forever(slow, 3)
k.release_forever(lambda: Value())
called.wait()
"""

RUNS, AT_ONCE = 12, 4


@pytest.fixture(scope="module")
def path() -> str:
    functions = ["call_forever", "release_forever"]
    return kernpack.load_inline(SOURCE, functions, name="interpreter_end").path


def test_native_threads_that_call_python_survive_its_end(path: str) -> None:
    for _ in range(RUNS // AT_ONCE):
        batch = [
            subprocess.Popen([sys.executable, "-c", SCRIPT, path], stderr=subprocess.PIPE, text=True)
            for _ in range(AT_ONCE)
        ]
        for process in batch:
            _, errors = process.communicate(timeout=600)
            assert process.returncode == 0, errors


def test_what_was_registered_to_run_at_exit_may_still_call_back(path: str) -> None:
    code = """
import atexit, sys
import kernpack
k = kernpack.load(sys.argv[1])
kernpack.register_func("interpreter_end.answer", lambda: 42)
atexit.register(lambda: print(kernpack.get_func("interpreter_end.answer")()))
"""
    ran = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=600, check=False)
    assert (ran.returncode, ran.stdout) == (0, "42\n"), ran.stderr


def test_the_thread_that_ends_the_interpreter_may_call_back_until_it_is_gone(path: str) -> None:
    code = """
import atexit, sys
answer = []
atexit.register(lambda: print(answer[0]()))  # before kernpack registers its own: runs after it
import kernpack
k = kernpack.load(sys.argv[1])
kernpack.register_func("interpreter_end.late", lambda: "late")
answer.append(kernpack.get_func("interpreter_end.late"))
"""
    ran = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=600, check=False)
    assert (ran.returncode, ran.stdout) == (0, "late\n"), ran.stderr


def test_a_callback_that_never_returns_does_not_keep_the_process(path: str) -> None:
    code = """
import sys, threading
import kernpack
k = kernpack.load(sys.argv[1])
called = threading.Event()

def forever():
    called.set()
    while True:
        pass

k.call_forever(forever, 2)
called.wait()
"""
    ran = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the module that makes subinterpreters has another name")
def test_a_subinterpreter_is_refused_by_name() -> None:
    code = """
import _xxsubinterpreters as interpreters
try:
    interpreters.run_string(interpreters.create(), "import kernpack")
except interpreters.RunFailedError as error:
    print(error)
import kernpack  # the main one may still
kernpack.register_func("interpreter_end.main", lambda: 1)
assert kernpack.get_func("interpreter_end.main")() == 1
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "ImportError" in ran.stdout
    ours, of_python = "expected the main interpreter, got subinterpreter", "does not support loading in subinterpreters"
    assert (
        ours if sys.version_info < (3, 12) else of_python
    ) in ran.stdout  # as of 3.12 Python itself refuses, before us


def test_a_second_import_gives_the_same_core() -> None:
    code = """
import sys
from kernpack import _core
del sys.modules["kernpack._core"]
import importlib
assert importlib.import_module("kernpack._core") is _core
assert importlib.reload(_core) is _core
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr


# A first call of its kind, when the modules that it needs are gone already.
LAST = """
import builtins, sys
import kernpack
k = kernpack.load(sys.argv[1])

class Last:
    def __init__(self, x):
        self.x = x
    def __del__(self, k=k, print=print):
        y = k.scale(self.x)
        print(type(y).__name__, y.tolist() if hasattr(y, "tolist") else memoryview(y).tolist())

{make}
{keep} = Last(x)
"""
KINDS = {
    "numpy": ("import numpy as np; x = np.ones(2, np.float32)", "ndarray"),
    "torch": ("import torch; x = torch.ones(2)", "Tensor"),
    "buffer": ("x = memoryview(bytearray(b'\\0\\0\\x80\\x3f' * 2)).cast('f')", "Tensor"),
}


@pytest.mark.parametrize(("kind", "keep"), [*((kind, "last") for kind in KINDS), ("numpy", "builtins.last")])
def test_a_first_call_in_del_works_when_the_modules_are_gone(k: kernpack.Module, kind: str, keep: str) -> None:
    make, result = KINDS[kind]
    code = LAST.format(make=make, keep=keep)
    ran = subprocess.run([sys.executable, "-c", code, k.path], capture_output=True, text=True, timeout=600, check=False)
    assert (ran.returncode, ran.stdout) == (0, f"{result} [2.0, 2.0]\n"), ran.stderr
