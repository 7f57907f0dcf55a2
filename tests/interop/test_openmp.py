"""parallel_for in a process that has an OpenMP runtime: it runs on that runtime's threads, so that two pools never compete.

k.census(chunks, n) holds its chunks back until n threads have one: with less, the test fails after a while.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from support.host import INCLUDE, ROOT
from support.interop import SOURCES, compile_module

PREAMBLE = """
import ctypes, os, sys, time
import kernpack
def tasks():
    return len(os.listdir("/proc/self/task"))
def framework():
    loaded = ctypes.CDLL(sys.argv[2], mode=ctypes.RTLD_GLOBAL)
    numbers = (ctypes.c_double * 64)()
    loaded.framework_compute(numbers, ctypes.c_long(64))
    return loaded
k = kernpack.load(sys.argv[1])
def census(*asked):
    # On a busy machine, jobs are taken from OpenMP's threads, or from all, for 100 ms after one that had to wait for them.
    time.sleep(0.11)
    return k.census(*asked)
"""


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    folder = tmp_path_factory.mktemp("threads")
    module = compile_module(SOURCES / "threads.cc", folder / "threads.so", f"-I{INCLUDE}")
    framework = folder / "libframework.so"
    source = SOURCES / "framework.c"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-fopenmp", str(source), "-o", str(framework)], check=True)
    return str(module), str(framework)


@pytest.fixture
def run(paths: tuple[str, str]):
    """Runs code in a process of its own; OpenMP has 4 threads, our pool 3, unless the environment says otherwise."""

    def run_code(code: str, **environment: str) -> None:
        variables = {
            "OMP_NUM_THREADS": "4",
            "KERNPACK_NUM_THREADS": "",
            "PYTHONPATH": os.pathsep.join([str(ROOT / "tests"), *sys.path]),
            **environment,
        }
        ran = subprocess.run(
            [sys.executable, "-c", PREAMBLE + code, *paths],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **variables},
        )
        assert ran.returncode == 0, ran.stderr

    return run_code


def test_our_own_pool_where_there_is_no_runtime(run) -> None:
    run(
        "before = tasks()\n"
        "threads, inside, ran = census(32, 3)\n"
        "assert (threads, inside, ran) == (3, 0, 32), (threads, inside, ran)\n"
        "assert tasks() == before + 2\n",
        KERNPACK_NUM_THREADS="3",
    )


def test_on_the_runtime_that_is_there(run) -> None:
    run(
        "loaded = framework()\n"
        "before = tasks()\n"
        "for _ in range(3):\n"
        "    threads, inside, ran = census(32, 4)\n"
        "    assert (threads, inside, ran) == (4, 32, 32), (threads, inside, ran)\n"
        "    loaded.framework_compute((ctypes.c_double * 64)(), ctypes.c_long(64))\n"
        "assert tasks() == before, 'a second pool was started'\n"
    )


def test_a_runtime_that_comes_later_is_used_from_then_on(run) -> None:
    run(
        "assert list(census(32, 2)) == [2, 0, 32]\n"
        "loaded = framework()\n"
        "before = tasks()\n"
        "threads, inside, ran = census(32, 1)\n"
        "assert threads <= 2 and inside == ran == 32, (threads, inside, ran)\n"
        "assert tasks() <= before\n",
        KERNPACK_NUM_THREADS="2",
    )


def test_the_smaller_of_both_widths(run) -> None:
    run("framework()\nassert list(census(32, 2)) == [2, 32, 32]\n", KERNPACK_NUM_THREADS="2")
    run("framework()\nassert list(census(32, 2)) == [2, 32, 32]\n", OMP_NUM_THREADS="2", KERNPACK_NUM_THREADS="9")
    run("framework()\nassert list(census(3, 3)) == [3, 3, 3]\n")  # no more threads than chunks


def test_threads_that_come_late_are_done_without_for_a_while(run, tmp_path) -> None:
    late = tmp_path / "libgomp.so"
    subprocess.run(["gcc", "-shared", "-fPIC", str(SOURCES / "late_openmp.c"), "-o", str(late)], check=True)
    run(
        "import time\n"
        f"late = ctypes.CDLL({str(late)!r}, mode=ctypes.RTLD_GLOBAL)\n"
        "for round in (1, 2):\n"
        "    assert [k.census(2, 1)[2] for _ in range(2)] == [2, 2]\n"
        "    assert late.regions() == round, 'the first call of a round goes there, the second to our own pool'\n"
        "    time.sleep(0.2)\n"
    )


def test_nested_calls_stay_on_their_thread(run) -> None:
    run("framework()\nassert k.nested() == 1\n")
    run(
        "loaded, seen = framework(), []\n"
        "callback = ctypes.CFUNCTYPE(None)(lambda: seen.append(list(k.census(4, 1))))\n"
        "loaded.framework_in_each_thread(callback)\n"
        "assert seen == [[1, 4, 4]] * 4, seen\n"
    )


def test_an_error_on_any_thread_is_the_callers(run) -> None:
    run(
        "framework()\n"
        "for at in (0, 17, 63, 40):\n"
        "    try:\n"
        "        k.fail(at)\n"
        "    except ValueError as error:\n"
        "        assert f'item {at} is bad' in str(error), error\n"
        "    else:\n"
        "        raise AssertionError('no error')\n"
        "assert list(census(8, 1))[1:] == [8, 8]\n"
    )


def test_under_the_peers_host(run) -> None:
    """An alias runs serially until there is a runtime. It looks once, when it first needs threads."""
    without_torch = "sys.modules['torch'] = None  # tvm_ffi imports it, and it brings a runtime\nimport tvm_ffi\n"
    run(without_torch + "k = tvm_ffi.load_module(sys.argv[1])\nassert list(census(8, 1)) == [1, 0, 8]\n")
    run(
        without_torch + "k = tvm_ffi.load_module(sys.argv[1])\nframework()\nbefore = tasks()\n"
        "assert list(census(32, 4)) == [4, 32, 32]\nassert tasks() == before\nassert k.nested() == 1\n"
        "try:\n    k.fail(17)\nexcept ValueError as error:\n    assert 'item 17 is bad' in str(error)\n"
        "else:\n    raise AssertionError('no error')\n"
    )


def test_beside_torch(run) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    run(
        "import torch\ntorch.set_num_threads(4)\nx = torch.randn(1 << 20)\n(x + x).sum()\nbefore = tasks()\n"
        "threads, inside, ran = census(32, 4)\n"
        "assert (threads, inside, ran) == (4, 32, 32), (threads, inside, ran)\n"
        "assert tasks() == before, 'a second pool was started'\n"
    )


def test_a_forked_child_does_not_touch_the_parents_runtime(run) -> None:
    run(
        "framework()\nassert list(census(8, 4)) == [4, 8, 8]\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    threads, inside, ran = census(8, 1)\n"
        "    os._exit(0 if inside == 0 and ran == 8 else 1)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
    )
