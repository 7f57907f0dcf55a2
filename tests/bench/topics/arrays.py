"""Calls with NumPy arrays and with each SDK's own tensors, beside other ways to bind C++."""

from __future__ import annotations

import ctypes

import numpy as np
from harness import Snippet
from kit import Kit
from report import Row, timed_row

import build


def _arrays() -> dict[str, object]:
    return {"a": np.ones((4, 8), np.float32), "b": np.ones((4, 8), np.float32), "c": np.ones(8, np.float32)}


def measure(kit: Kit) -> list[Row]:
    ours = Snippet("f(a, b, c)", _arrays() | {"f": kit.ours.three_checked})
    theirs = Snippet("f(a, b, c)", _arrays() | {"f": kit.theirs.three_checked})
    rows = [
        timed_row("arrays", "three NumPy arrays, full signature", kit.compare({"ours": ours, "theirs": theirs}), 0.2)
    ]
    rows.append(_written(kit))
    rows.append(_own_tensors(kit))
    for peer, function in (
        ("pybind11 (py::array_t)", kit.pybind11.three),
        ("nanobind (nb::ndarray)", kit.nanobind.three),
    ):
        timings = kit.compare({"ours": ours, "theirs": Snippet("f(a, b, c)", _arrays() | {"f": function})})
        rows.append(timed_row("arrays", "three NumPy arrays, full signature", timings, peer=peer))
    rows.append(_ctypes(kit, ours))
    return rows


def _written(kit: Kit) -> Row:
    timings = kit.compare(
        {
            "ours": Snippet("f(a, b, c)", _arrays() | {"f": kit.ours.three_written}),
            "theirs": Snippet("f(a, b, c)", _arrays() | {"f": kit.ours.three_checked}),
        }
    )
    return timed_row("arrays", "three NumPy arrays, all written", timings, 1.3, peer="ours, three read")


def _own_tensors(kit: Kit) -> Row:
    import kernpack
    import tvm_ffi

    ours = {name: kernpack.from_dlpack(array) for name, array in _arrays().items()}
    theirs = {name: tvm_ffi.from_dlpack(array) for name, array in _arrays().items()}
    timings = kit.compare(
        {
            "ours": Snippet("f(a, b, c)", ours | {"f": kit.ours.three_checked}),
            "theirs": Snippet("f(a, b, c)", theirs | {"f": kit.theirs.three_checked}),
        }
    )
    return timed_row("arrays", "three of the SDK's own tensors", timings, 0.6)


def _ctypes(kit: Kit, ours: Snippet) -> Row:
    source = build.HERE / "peers" / "ctypes_bench.c"
    library = ctypes.CDLL(str(build.shared_object(source, "ctypes_bench", ([], []), build.CC)))
    library.three.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_long]
    statement = "f(a.ctypes.data, b.ctypes.data, c.ctypes.data, 32)"
    timings = kit.compare({"ours": ours, "theirs": Snippet(statement, _arrays() | {"f": library.three})})
    return timed_row(
        "arrays", "three NumPy arrays, full signature", timings, peer="ctypes", note="ctypes checks nothing"
    )
