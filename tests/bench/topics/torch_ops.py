"""Our operators against hand-written ones: TORCH_LIBRARY, torch.library.custom_op, a hand-written autograd.Function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kernpack
import kernpack.torch
import torch
from harness import Snippet, Timing, interleave_runs
from kit import Kit
from report import Row, timed_row

import build

PEER = "TORCH_LIBRARY"
CUSTOM = "torch.library.custom_op"


def measure(kit: Kit) -> list[Row]:
    k = kernpack.load(build.shared_object(build.HERE / "ours/torch_bench.cc", "torch_bench", build.our_flags()))
    load_peers()
    for name in ("blend", "twice"):
        torch.library.register_fake(f"bench_peer::{name}", lambda x, *args, **kwargs: torch.empty_like(x))
    return [*_eager(kit, k), _autograd(kit, k), _compiled(kit, k), _compile_time(k)]


def load_peers() -> Any:
    """Hand-written operators with our kernels' names and arguments."""
    torch.ops.load_library(build.shared_object(build.HERE / "peers/torch_library_bench.cc", "peer", _torch_flags()))
    return torch.ops.bench_peer


def _torch_flags() -> tuple[list[str], list[str]]:
    base = Path(torch.__file__).parent
    include = [f"-I{base / 'include'}", f"-I{base / 'include/torch/csrc/api/include'}", "-std=c++20"]
    return include, [f"-L{base / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]


def _eager(kit: Kit, k: kernpack.Module) -> list[Row]:
    @torch.library.custom_op("bench_custom::blend", mutates_args=())
    def custom(x: torch.Tensor, y: torch.Tensor, factor: float) -> torch.Tensor:
        return k.blend(x, y, factor=factor)

    x, y = torch.ones(4, 8), torch.ones(4, 8)
    calls = {
        "ours": ("f(x, y, factor=0.5)", torch.ops.kernpack_torch_bench.blend.default),
        "theirs": ("f(x, y, factor=0.5)", torch.ops.bench_peer.blend.default),
        "custom_op": ("f(x, y, 0.5)", custom),
        "direct": ("f(x, y, factor=0.5)", k.blend),
    }
    timings = kit.compare({name: Snippet(text, {"f": f, "x": x, "y": y}) for name, (text, f) in calls.items()})
    ours, theirs, slow, direct = (timings[name] for name in calls)
    return [
        timed_row("torch ops", "operator through the dispatcher", {"ours": ours, "theirs": theirs}, 1.25, peer=PEER),
        timed_row("torch ops", "k.op on plain tensors", {"ours": direct, "theirs": slow}, 0.12, peer=CUSTOM),
        timed_row("torch ops", "operator through the dispatcher", {"ours": ours, "theirs": slow}, peer=CUSTOM),
        timed_row(
            "torch ops",
            "an operator written by hand",
            {"ours": theirs, "theirs": slow},
            peer=CUSTOM,
            note="TORCH_LIBRARY in the place of ours: no operator costs less",
        ),
        timed_row("torch ops", "k.op on plain tensors", {"ours": direct, "theirs": ours}, 0.4, peer="our operator"),
    ]


def _autograd(kit: Kit, k: kernpack.Module) -> Row:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return k.twice(x)

        @staticmethod
        def backward(ctx, d_out):
            return k.twice_backward(d_out)

    x, seed = torch.ones(4, 8, requires_grad=True), torch.ones(4, 8)
    timings = kit.compare(
        {
            name: Snippet("grad(f(x), x, seed)", {"f": f, "x": x, "seed": seed, "grad": torch.autograd.grad})
            for name, f in {"ours": k.twice, "theirs": Twice.apply}.items()
        }
    )
    return timed_row("torch ops", "forward and backward of one op", timings, 1.1, peer="hand-written autograd.Function")


def _chain(op, length: int):
    def run(x):
        for _ in range(length):
            x = op(x)
        return x

    return run


def _compiled(kit: Kit, k: kernpack.Module) -> Row:
    x = torch.ones(4, 8)
    graphs = {}
    for name, op in {"ours": k.twice, "theirs": torch.ops.bench_peer.twice.default}.items():
        torch._dynamo.reset()
        graphs[name] = torch.compile(_chain(op, 20), fullgraph=True)
        graphs[name](x)
    timings = kit.compare({name: Snippet("f(x)", {"f": f, "x": x}) for name, f in graphs.items()})
    return timed_row("torch ops", "compiled graph of 20 ops", timings, 1.1, peer=PEER)


def _compile_time(k: kernpack.Module) -> Row:
    def once(op):
        def action() -> None:
            torch._dynamo.reset()
            torch.compile(_chain(op, 100), fullgraph=True, backend="aot_eager")(torch.ones(4, 8))

        return action

    actions = {"ours": once(k.twice), "theirs": once(torch.ops.bench_peer.twice.default)}
    for action in actions.values():
        action()
    timings: dict[str, Timing] = interleave_runs(actions, repetitions=5)
    return timed_row("torch ops", "torch.compile of 100 ops", timings, 1.1, peer=PEER)
