"""Graphs that a program makes node by node (cuGraphAddKernelNode), by ctypes. The word says which part."""

from __future__ import annotations

import ctypes as c
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from driver_calls import _PTX, begin, call, need

_UPDATE_FAILED, _KERNEL, _COPY, _FILL, _HOST, _CHILD, _EMPTY = 910, 0, 1, 2, 3, 4, 5
_Function = c.CFUNCTYPE(None, c.c_void_p)


class _Kernel(c.Structure):
    _fields_ = (
        ("function", c.c_void_p),
        ("grid", c.c_uint * 3),
        ("block", c.c_uint * 3),
        ("shared", c.c_uint),
        ("parameters", c.POINTER(c.c_void_p)),
        ("extra", c.c_void_p),
        ("kernel", c.c_void_p),
        ("context", c.c_void_p),
    )


class _End(c.Structure):
    _fields_ = (
        ("x", c.c_size_t * 4),
        ("type", c.c_int),
        ("host", c.c_void_p),
        ("device", c.c_uint64),
        ("array", c.c_void_p),
        ("reserved", c.c_void_p),
        ("pitch", c.c_size_t),
        ("height", c.c_size_t),
    )


class _Copy(c.Structure):
    _fields_ = (("source", _End), ("to", _End), ("size", c.c_size_t * 3))


class _Fill(c.Structure):
    _fields_ = (
        ("to", c.c_uint64),
        ("pitch", c.c_size_t),
        ("value", c.c_uint),
        ("element", c.c_uint),
        ("width", c.c_size_t),
        ("height", c.c_size_t),
    )


class _Host(c.Structure):
    _fields_ = (("function", _Function), ("data", c.c_void_p))


class _Updated(c.Structure):
    _fields_ = (("result", c.c_int), ("node", c.c_void_p), ("source", c.c_void_p))


class _Launched:
    """The parameters of a kernel node, and what they point to."""

    def __init__(self, kernel: c.c_void_p, memory: int, threads: int = 32) -> None:
        self.pointer = c.c_uint64(memory)
        self.list = (c.c_void_p * 1)(c.addressof(self.pointer))
        self.node = _Kernel(kernel, (1, 1, 1), (threads, 1, 1), 0, self.list)
        self.node.keeps = self.pointer  # as long as the node is there


def graph() -> c.c_void_p:
    made = c.c_void_p()
    need("cuGraphCreate", c.byref(made), 0)
    return made


def add(kind: str, of: c.c_void_p, after: list[c.c_void_p], *parameters: object) -> c.c_void_p:
    node = c.c_void_p()
    nodes = (c.c_void_p * max(len(after), 1))(*(each.value for each in after))
    need(f"cuGraphAdd{kind}Node", c.byref(node), of, nodes, len(after), *parameters)
    return node


def instantiate(of: c.c_void_p) -> c.c_void_p:
    made = c.c_void_p()
    need("cuGraphInstantiateWithFlags", c.byref(made), of, 0)
    return made


def run(exec_: c.c_void_p) -> None:
    need("cuGraphLaunch", exec_, None)
    need("cuStreamSynchronize", None)


def words(address: int, count: int = 4) -> list[int]:
    out = (c.c_uint32 * count)()
    need("cuMemcpyDtoH", out, address, 4 * count)
    return list(out)


def nodes(of: c.c_void_p) -> list[tuple[c.c_void_p, int]]:
    count, kind = c.c_size_t(), c.c_int()
    need("cuGraphGetNodes", of, None, c.byref(count))
    list_ = (c.c_void_p * max(count.value, 1))()
    need("cuGraphGetNodes", of, list_, c.byref(count))
    out = []
    for node in list_[: count.value]:
        need("cuGraphNodeGetType", c.c_void_p(node), c.byref(kind))
        out.append((c.c_void_p(node), kind.value))
    return out


def added() -> None:
    """A node of each kind, whose order only the dependencies say."""
    kernel, memory = begin()
    seen: list[list[int]] = []
    out = (c.c_uint32 * 4)()
    of, child = graph(), graph()
    function = _Function(lambda _: seen.append(list(out)))
    host = add("Host", of, [], c.byref(_Host(function, None)))
    copy = _Copy(_End((0, 0, 0, 0), 2, None, memory), _End((0, 0, 0, 0), 1, c.addressof(out)), (16, 1, 1))
    back = add("Memcpy", of, [], c.byref(copy), None)
    fill = add("Memset", of, [], c.byref(_Fill(memory + 4, 8, 9, 4, 1, 2)), None)  # words 1 and 3
    empty = add("Empty", of, [fill])
    launched = _Launched(kernel, memory)
    add("Kernel", child, [], c.byref(launched.node))
    whole = add("ChildGraph", of, [], child)
    for before, behind in ((whole, fill), (empty, back), (back, host)):
        pair = ((c.c_void_p * 1)(before.value), (c.c_void_p * 1)(behind.value))
        need("cuGraphAddDependencies", of, *pair, None, 1)
    launched.pointer.value = 0  # the node has its own copy
    assert [kind for _, kind in nodes(of)] == [_HOST, _COPY, _FILL, _EMPTY, _CHILD]
    made = instantiate(of)
    need("cuGraphDestroy", of)
    run(made)
    run(made)
    assert seen == [[0, 9, 2, 9]] * 2, seen
    need("cuGraphExecDestroy", made)


def changed() -> None:
    """Nodes whose parameters change, in the graph and in what is launched of it."""
    kernel, memory = begin()
    need("cuMemsetD8", memory, 255, 128)
    of = graph()
    node = add("Kernel", of, [], c.byref(_Launched(kernel, memory, 1).node))
    made = instantiate(of)
    need("cuGraphExecKernelNodeSetParams", made, node, c.byref(_Launched(kernel, memory + 4, 2).node))
    run(made)
    assert words(memory) == [2**32 - 1, 0, 1, 2**32 - 1], words(memory)
    found = _Kernel()
    need("cuGraphKernelNodeGetParams", node, c.byref(found))  # of the graph: as it was
    assert (found.function, list(found.block)) == (kernel.value, [1, 1, 1])
    assert c.cast(found.parameters[0], c.POINTER(c.c_uint64))[0] == memory
    need("cuGraphKernelNodeSetParams", node, c.byref(_Launched(kernel, memory, 4).node))
    clone = c.c_void_p()
    need("cuGraphClone", c.byref(clone), of)
    told = _Updated()
    need("cuGraphExecUpdate", made, clone, c.byref(told))
    run(made)
    assert (told.result, words(memory)) == (0, [0, 1, 2, 3])
    other = graph()
    add("Memset", other, [], c.byref(_Fill(memory, 0, 9, 4, 1, 1)), None)
    assert call("cuGraphExecUpdate", made, other, c.byref(told)) == _UPDATE_FAILED
    assert (told.result, told.node) == (3, nodes(other)[0][0].value)
    add("Empty", other, [])
    assert call("cuGraphExecUpdate", made, other, c.byref(told)) == _UPDATE_FAILED
    assert told.result == 2


def captured() -> None:
    """Captured work has nodes too."""
    kernel, memory = begin()
    stream, of, found, launched = c.c_void_p(), c.c_void_p(), _Kernel(), _Launched(kernel, memory)
    need("cuStreamCreate", c.byref(stream), 1)
    need("cuStreamBeginCapture", stream, 0)
    need("cuLaunchKernel", kernel, 1, 1, 1, 3, 1, 1, 0, stream, launched.list, None)
    need("cuMemsetD8Async", memory, 0, 4, stream)
    need("cuStreamEndCapture", stream, c.byref(of))
    (node, kind), (_, other) = nodes(of)
    assert kind == _KERNEL
    assert other != _KERNEL
    need("cuGraphKernelNodeGetParams", node, c.byref(found))
    assert (list(found.grid), list(found.block)) == ([1, 1, 1], [3, 1, 1])
    need("cuGraphDestroyNode", node)
    assert len(nodes(of)) == 1
    need("cuStreamBeginCaptureToGraph", stream, of, None, None, 0, 0)
    need("cuLaunchKernel", kernel, 1, 1, 1, 2, 1, 1, 0, stream, launched.list, None)
    need("cuStreamEndCapture", stream, c.byref(found_of := c.c_void_p()))
    assert found_of.value == of.value
    run(instantiate(of))
    assert words(memory, 2) == [0, 1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.dot"
        need("cuGraphDebugDotPrint", of, os.fsencode(path), 0)
        text = path.read_text(encoding="utf-8")
        assert "n0 -> n1;" in text, text
        assert 'n1 [label="kernel k"];' in text, text
        assert call("cuGraphDebugDotPrint", of, os.fsencode(path / "nowhere"), 0) == 304
    used = c.c_uint64(7)
    need("cuDeviceGetGraphMemAttribute", 0, 0, c.byref(used))
    assert used.value == 0
    assert call("cuDeviceGetGraphMemAttribute", 0, 9, c.byref(used)) == 1
    assert call("cuStreamBeginCaptureToGraph", stream, c.c_void_p(0x1234), None, None, 0, 0) == 1


def wrong() -> None:
    kernel, memory = begin()
    of, node, garbage = graph(), c.c_void_p(), c.c_void_p(0x1234)
    launched = _Launched(kernel, memory)
    first, second = add("Empty", of, []), add("Empty", of, [])
    nobody = _Launched(c.c_void_p(), memory)
    huge = _Launched(kernel, memory, 4096)
    one = c.c_void_p * 1
    for name, result in {
        "no such graph": call("cuGraphAddEmptyNode", c.byref(node), garbage, None, 0),
        "no such node": call("cuGraphAddEmptyNode", c.byref(node), of, one(0x1234), 1),
        "no parameters": call("cuGraphAddKernelNode", c.byref(node), of, None, 0, None),
        "no kernel": call("cuGraphAddKernelNode", c.byref(node), of, None, 0, c.byref(nobody.node)),
        "too many threads": call("cuGraphAddKernelNode", c.byref(node), of, None, 0, c.byref(huge.node)),
        "of three bytes": call(
            "cuGraphAddMemsetNode", c.byref(node), of, None, 0, c.byref(_Fill(memory, 0, 0, 3, 1, 1)), None
        ),
        "a type of garbage": call("cuGraphNodeGetType", garbage, c.byref(c.c_int())),
        "parameters of an empty node": call("cuGraphKernelNodeGetParams", first, c.byref(_Kernel())),
        "after itself": call("cuGraphAddDependencies", of, one(first.value), one(first.value), None, 1),
    }.items():
        print(f"{name}: {result}")
    made = instantiate(of)
    print("another kind:", call("cuGraphExecKernelNodeSetParams", made, first, c.byref(launched.node)))
    need("cuGraphAddDependencies", of, one(first.value), one(second.value), None, 1)
    need("cuGraphAddDependencies", of, one(second.value), one(first.value), None, 1)
    print("after each other:", call("cuGraphInstantiateWithFlags", c.byref(made), of, 0))


def others() -> None:
    """Contexts that a program creates, and code in files."""
    begin()
    context, current, device, major, minor = c.c_void_p(), c.c_void_p(), c.c_int(), c.c_int(), c.c_int()
    need("cuCtxCreate", c.byref(context), None, 0, 1)
    need("cuCtxGetDevice", c.byref(device))
    assert device.value == 1
    need("cuCtxDestroy", context)
    need("cuCtxGetCurrent", c.byref(current))
    assert current.value not in (None, context.value)
    assert call("cuCtxDestroy", c.c_void_p(0x1234)) == 201
    assert call("cuCtxCreate", c.byref(context), None, 0, 9) == 101
    need("cuDeviceComputeCapability", c.byref(major), c.byref(minor), 1)
    assert (major.value, minor.value) == (8, 0)
    text = c.create_string_buffer(16)
    need("cuDeviceGetPCIBusId", text, 16, 1)
    need("cuDeviceGetByPCIBusId", c.byref(device), text)
    assert device.value == 1
    assert call("cuDeviceGetByPCIBusId", c.byref(device), b"0000:77:00.0") == 101
    library, kernel, state, image, size = c.c_void_p(), c.c_void_p(), c.c_void_p(), c.c_void_p(), c.c_size_t()
    with tempfile.NamedTemporaryFile(suffix=".ptx") as file:
        file.write(_PTX)
        file.flush()
        path = file.name.encode()
        need("cuLibraryLoadFromFile", c.byref(library), path, None, None, 0, None, None, 0)
        need("cuLibraryGetKernel", c.byref(kernel), library, b"k")
        need("cuLinkCreate", 0, None, None, c.byref(state))
        need("cuLinkAddFile", state, 1, path, 0, None, None)
        need("cuLinkComplete", state, c.byref(image), c.byref(size))
    assert call("cuLibraryLoadFromFile", c.byref(library), b"/nowhere", None, None, 0, None, None, 0) == 301
    assert call("cuLinkAddFile", state, 1, b"/nowhere", 0, None, None) == 301


_PARTS: dict[str, Callable[[], None]] = {each.__name__: each for each in (added, changed, captured, wrong, others)}

if __name__ == "__main__":
    _PARTS[sys.argv[1]]()
