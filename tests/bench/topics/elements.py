"""The inner loop of a kernel: each way to an element beside pointers taken before the loop."""

from __future__ import annotations

import numpy as np
from harness import Snippet
from kit import Kit
from report import Row, timed_row

import build

WAYS = {  # function: its name in the table, the goal
    "flat_span": ("kp::Span<T>, in[i]", 1.1),
    "span": ("kp::Span<T, 2>, in(i, j)", 1.1),
    "accessor": ("kp::Accessor<T, 2>, in(i, j)", None),
    "at": ("at<T>(i, j)", None),
    "data_ptr": ("data_ptr<T>() in the loop", None),
}


def measure(kit: Kit) -> list[Row]:
    import kernpack

    source = build.HERE / "ours" / "elements_bench.cc"
    k = kernpack.load(str(build.shared_object(source, "elements_bench", kit.ours_flags)))
    x = np.ones((64, 1000), np.float32)
    names = {"x": x, "out": np.empty_like(x)}
    rows = []
    for function, (name, goal) in WAYS.items():
        ours = Snippet("f(x, out=out)", names | {"f": k.functions[function]})
        theirs = Snippet("f(x, out=out)", names | {"f": k.pointers})
        timings = kit.compare({"ours": ours, "theirs": theirs})
        rows.append(timed_row("elements", f"64x1000 floats: {name}", timings, goal, peer="pointers before the loop"))
    return rows
