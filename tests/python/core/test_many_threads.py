"""Calls from many threads at once. Where Python has no GIL they run side by side in the call core, too; `make freethreaded` runs this
file there, with a million calls (KERNPACK_THREADED_CALLS)."""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
import time
from collections.abc import Callable

import kernpack
import numpy as np
import pytest

THREADS = 8
CALLS = int(os.environ.get("KERNPACK_THREADED_CALLS", "16000"))  # of all threads together


def _together(body: Callable[[int], None], count: int = THREADS) -> None:
    """Runs body(0), body(1), ... in a thread each, which begin at once; raises what one of them raised."""
    barrier = threading.Barrier(count)
    errors: list[BaseException] = []

    def run(index: int) -> None:
        try:
            barrier.wait()
            body(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python always has a GIL")
def test_the_gil_stays_off():
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined]
    assert kernpack.info()["gil"] == "off"


def test_each_thread_gets_the_results_of_its_own_calls(k):
    """The threads' shapes and types differ, so that what is kept of one thread's call is wrong for another's."""

    def call(index: int) -> None:
        x = np.arange(index + 1, dtype=np.float32)
        own = kernpack.from_dlpack(x.copy())
        table = np.ones((index + 1, 4), dtype=np.float32)
        for i in range(CALLS // THREADS // 5):
            np.testing.assert_array_equal(k.scale(x, f=i), x * np.float32(i)) if i % 64 == 0 else k.scale(x, f=i)
            low, high = k.split(x)
            assert low[index] == x[index] - 1
            assert high[index] == x[index] + 1
            assert k.scale(own).shape == (index + 1,)
            assert k.add(i, index) == i + index
            k.add_rows(table, table[0].copy())

    _together(call)


def test_one_array_may_be_read_by_all(k):
    x = np.arange(100, dtype=np.float32)

    def call(_: int) -> None:
        for _ in range(CALLS // THREADS // 4):
            assert k.scale(x)[99] == 198

    _together(call)


def test_a_function_is_made_once_whoever_asks_first():
    names = [f"op{i}" for i in range(16)]
    source = "\n".join(f"int {name}() {{ return 1; }}" for name in names)
    module = kernpack.load_inline(source, dict.fromkeys(names), name="asked_by_many")
    for name in names:
        found: list[object] = [None] * THREADS

        def ask(index: int, name: str = name, found: list[object] = found) -> None:
            found[index] = getattr(module, name)
            assert getattr(module, name)() == 1

        _together(ask)
        assert len(set(map(id, found))) == 1


def test_errors_are_those_of_the_thread_that_made_them(k):
    class OddError(Exception):
        pass

    # A kind stays registered for the process: other tests need kinds that nobody registers, so this name is this test's alone.
    kind = "KindOfManyThreads"

    def call(index: int) -> None:
        for i in range(CALLS // THREADS // 40):
            with pytest.raises(ValueError, match=f"n is {index * 100_000 + i}$"):
                k.fail(index * 100_000 + i)
            with pytest.raises((OddError, RuntimeError), match="odd"):
                k.fail_oddly()
            if index == 0:
                kernpack.register_error(kind, OddError)

    _together(call)


def test_callbacks_and_containers_from_many_threads(k):
    shared = {"a": [1, 2, 3]}

    def call(index: int) -> None:
        for i in range(CALLS // THREADS // 40):
            assert k.apply(lambda x: x + 1, i) == i + 1
            assert k.lend(lambda x: float(np.asarray(x).sum()), np.full(index + 1, 2, np.float32)) == 2 * (index + 1)
            assert k.echo([i, "text of some length", (np.float32, None)])[0] == i
            shared[f"key {index}"] = [i]
            assert k.echo(shared)["a"] == [1, 2, 3]
            assert k.echo(np.dtype("float32")) == "f32"

    _together(call)


def test_checks_and_profiles_may_be_switched_during_calls(k):
    stop = threading.Event()

    def switch() -> None:
        while not stop.is_set():
            with kernpack.checking():
                time.sleep(0.001)
            with kernpack.profile():
                time.sleep(0.001)

    def call(index: int) -> None:
        x = np.full(index + 1, 3, np.float32)
        for i in range(CALLS // THREADS // 16):
            assert k.scale(x)[index] == 6
            assert k.add(i, 1) == i + 1

    switcher = threading.Thread(target=switch)
    switcher.start()
    try:
        _together(call)
    finally:
        stop.set()
        switcher.join()


def test_threads_may_come_and_go(k):
    """Each takes over what one before it learnt."""
    for size in range(1, 40):

        def call(index: int, size: int = size) -> None:
            assert k.scale(np.ones(size * (index + 1), np.float32)).sum() == 2 * size * (index + 1)

        _together(call, 4)


def test_one_tensor_may_be_exported_by_all(k):
    tensor = kernpack.from_dlpack(np.arange(6, dtype=np.float32))

    def export(_: int) -> None:
        for _ in range(CALLS // THREADS // 40):
            assert memoryview(tensor).nbytes == 24
            assert np.from_dlpack(tensor)[5] == 5
            assert k.scale(tensor).numpy()[5] == 10
            assert tensor.dtype == "f32"

    _together(export)


def test_a_lent_tensor_is_not_taken_from_a_call_on_another_thread(k):
    threads = []

    def keep(tensor: kernpack.Tensor) -> float:
        began = threading.Event()

        def call() -> None:
            began.set()
            k.slow_shape(tensor, 0.5)

        threads.append(threading.Thread(target=call))
        threads[0].start()
        began.wait()
        time.sleep(0.1)
        return 0.0

    with pytest.raises(BufferError, match="kept a view of a tensor that was lent to it"):
        k.lend(keep, np.ones(4, np.float32))
    threads[0].join()
