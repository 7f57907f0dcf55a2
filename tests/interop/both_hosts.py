"""One module under both hosts in one process; what each of them must see. Run by test_both_hosts.py.

python both_hosts.py ORDER MODULE: ORDER names the hosts in the order in which they load and call the module ("o" ours, "p" the
peer's). All of it runs in eight threads at the end.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

CUDA = 2
THREADS = 8
ROUNDS = 100


class CallContext(ctypes.Structure):
    """KpCallContext."""

    _fields_ = (
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("stream", ctypes.c_void_p),
        ("rest", ctypes.c_void_p * 8),
    )


class Ours:
    """kernpack.load()."""

    name = "ours"

    def __init__(self, path: str) -> None:
        import kernpack
        from support import host

        self.module = kernpack.load(path)
        self._lib = host.lib()

    @contextmanager
    def stream(self, device_id: int, stream: int) -> Iterator[None]:
        context = CallContext(CUDA, device_id, stream)
        self._lib.kp_call_enter(ctypes.byref(context))
        try:
            yield
        finally:
            self._lib.kp_call_leave(ctypes.byref(context))


class Theirs:
    """tvm_ffi.load_module()."""

    name = "theirs"

    def __init__(self, path: str) -> None:
        import tvm_ffi
        from tvm_ffi import libinfo

        self.module = tvm_ffi.load_module(path)
        self._lib = ctypes.CDLL(str(libinfo.find_libtvm_ffi()))
        self._lib.TVMFFIEnvSetStream.argtypes = (ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)

    @contextmanager
    def stream(self, device_id: int, stream: int) -> Iterator[None]:
        before = ctypes.c_void_p()
        assert self._lib.TVMFFIEnvSetStream(CUDA, device_id, stream, ctypes.byref(before)) == 0
        try:
            yield
        finally:
            assert self._lib.TVMFFIEnvSetStream(CUDA, device_id, before, None) == 0


def expect(got: object, wanted: object, what: str) -> None:
    if got != wanted:
        raise AssertionError(f"{what}: expected {wanted!r}, got {got!r}")


def expect_error(host: Any, number: int) -> None:
    try:
        host.module.fail(number)
    except ValueError as error:
        if f"number {number}" not in str(error):
            raise AssertionError(f"{host.name}: expected number {number}, got {error}") from None
    else:
        raise AssertionError(f"{host.name}: no error")


def check(host: Any, salt: int) -> None:
    """One host's view, in whatever state the other has left the module. `salt` tells threads and rounds apart."""
    name, module = host.name, host.module
    value = 2 * salt + (name == "ours")  # no number of one host is one of the other's
    device = salt % 3
    expect_error(host, value)
    with host.stream(device, 4096 + 16 * value):
        expect(module.stream_of(device), 4096 + 16 * value, f"{name}: stream")
        expect_error(host, value)
        expect(module.stream_of(device), 4096 + 16 * value, f"{name}: stream after an error")
        module.put("kept", value, device, True)
        expect(module.get("kept", device, True), value, f"{name}: storage of a stream")
    with host.stream(device, 8192 + 16 * value):
        expect(module.get("kept", device, True), -1, f"{name}: storage of another stream")
    for prefix in ("", "::"):  # its own keys, and those it shares with other modules of the same host
        key = f"{prefix}key of thread {salt // 1000}"
        module.put(key, value, 0, False)
        expect(module.get(key, 0, False), value, f"{name}: {key}")
        expect(module.get_or_init(key, -5), value, f"{name}: {key}, made already")


def check_once_for_all(hosts: list[Any]) -> None:
    """A key that every thread of every host asks for has one value a host: the first that was given."""
    for host in hosts:
        first = host.module.get_or_init("first", 10 if host.name == "ours" else 20)
        expect(first, 10 if host.name == "ours" else 20, f"{host.name}: first")


def in_threads(hosts: list[Any]) -> None:
    wrong: list[BaseException] = []
    start = threading.Barrier(THREADS)

    def work(thread: int) -> None:
        try:
            start.wait()
            for i in range(ROUNDS):
                check_once_for_all(hosts)
                check(hosts[(i + thread) % len(hosts)], 1000 * (thread + 1) + i)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise wrong[0]


def main(order: str, path: str) -> None:
    hosts = []
    for i, letter in enumerate(order):
        host = Ours(path) if letter == "o" else Theirs(path)
        hosts.append(host)
        for known in hosts:  # the one that came now, and those before it once more
            check(known, i)
    in_threads(hosts)
    images = {host.module.image() for host in hosts}
    print("one copy" if len(images) == 1 else f"{len(images)} copies")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
