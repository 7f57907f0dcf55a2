"""A process of its own for the topic `hooks`: calls without any hook into torch, against operators of torch's own kinds with equal
arguments. Prints JSON: title, peer, goal, and samples of ours and theirs in nanoseconds.

KERNPACK_PRIVATE=0 python public_way.py REPETITIONS
"""

from __future__ import annotations

import json
import sys

import kernpack
import kernpack.torch
import torch
from harness import Snippet, Timing, interleave
from topics.torch_ops import PEER, load_peers

import build

RECORDED = "torch.library.register_autograd"


def main() -> None:
    k = kernpack.load(build.shared_object(build.HERE / "ours/torch_bench.cc", "torch_bench", build.our_flags()))
    peers = load_peers()
    ours = torch.ops.kernpack_torch_bench
    torch.library.register_autograd("bench_peer::twice", lambda _, d_out: peers.twice.default(d_out))
    x, y = torch.ones(4, 8), torch.ones(4, 8)
    live = torch.ones(4, 8, requires_grad=True)
    names = {"x": x, "y": y, "live": live, "grad": torch.autograd.grad}
    rows = (
        ("k.op, new result", PEER, 2.0, "f(x, y, factor=0.5)", k.blend, peers.blend.default),
        ("k.op, one tensor is written", PEER, 2.0, "f(x, y)", k.increase, peers.increase.default),
        ("k.op, a gradient is recorded", RECORDED, 2.0, "f(live)", k.twice, peers.twice.default),
        ("k.op, forward and backward", RECORDED, 2.0, "grad(f(live), live, x)", k.twice, peers.twice.default),
        ("operator by name", PEER, 2.0, "f(x, y, factor=0.5)", ours.blend.default, peers.blend.default),
        ("operator by name, any overload", PEER, 2.0, "f(x, y, factor=0.5)", ours.blend, peers.blend),
        ("operator by name, written", PEER, 2.0, "f(x, y)", ours.increase.default, peers.increase.default),
        ("operator by name, recorded", RECORDED, 2.0, "f(live)", ours.twice.default, peers.twice.default),
    )
    found = []
    for title, peer, goal, statement, mine, theirs in rows:
        calls = {"ours": Snippet(statement, names | {"f": mine}), "theirs": Snippet(statement, names | {"f": theirs})}
        timings: dict[str, Timing] = interleave(calls, int(sys.argv[1]))
        found.append((title, peer, goal, {name: timing.samples for name, timing in timings.items()}))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
