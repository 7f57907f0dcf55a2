"""The time that each hook into torch's and JAX's insides saves: rows of other topics with the hook, against the same without it. And calls
without any hook, against torch's own operators."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import timeit
from collections.abc import Callable

import kernpack
import kernpack.torch
import torch
from harness import Timing
from kernpack.torch import _by_name, _registry
from kit import Kit
from report import Row, timed_row

import build
from topics.jax_compile import WORKER

WITHOUT_SHARES = "import kernpack.jax; from kernpack._private.jax import shares; shares.share_alike = lambda *a: None\n"
CALLS = 300


def measure(kit: Kit) -> list[Row]:
    k = kernpack.load(build.shared_object(build.HERE / "ours/torch_bench.cc", "torch_bench", build.our_flags()))
    a, b, c = torch.ones(4, 8), torch.ones(4, 8), torch.ones(8)
    x, seed = torch.ones(4, 8, requires_grad=True), torch.ones(4, 8)
    read = lambda: kit.ours.three_checked(a, b, c)  # noqa: E731
    rows: dict[tuple[str, str], Callable[[], object]] = {
        ("torch.fields", "three torch tensors, full signature"): read,
        ("torch.watchers", "three torch tensors, full signature"): read,
        ("torch.watchers", "forward and backward of one op"): lambda: torch.autograd.grad(k.twice(x), x, seed),
        ("torch.versions", "three torch tensors, all written"): lambda: kit.ours.three_written(a, b, c),
        ("torch.results", "torch in, new torch result out"): lambda: kit.ours.new_like(a),
    }
    found = [_toggled(kit, hook, title, call) for (hook, title), call in rows.items()]
    return [*found, _operators(kit, k), _shares(kit), *_without_hooks(kit)]


def _row(hook: str, title: str, timings: dict[str, Timing]) -> Row:
    return timed_row("hooks", f"{hook}: {title}", timings, peer="ours, without the hook")


def _time(call: Callable[[], object]) -> float:
    return timeit.timeit(call, number=CALLS) / CALLS * 1e9


def _toggled(kit: Kit, hook: str, title: str, call: Callable[[], object]) -> Row:
    call()
    timings = {"ours": Timing(), "theirs": Timing()}
    for _ in range(kit.repetitions):
        for name, timing in timings.items():
            kernpack._core.use_torch_hook(hook, name == "ours")
            timing.samples.append(_time(call))
    kernpack._core.use_torch_hook(hook, True)
    return _row(hook, title, timings)


def _operators(kit: Kit, k: kernpack.Module) -> Row:
    a, b = torch.ones(4, 8), torch.ones(4, 8)
    function = _registry.of(k.blend)
    dispatched, whole = function.dispatch, _by_name.whole_call(function.op)
    timings = {"ours": Timing(), "theirs": Timing()}
    for _ in range(kit.repetitions):
        timings["ours"].samples.append(_time(lambda: dispatched(a, b, factor=0.5)))
        timings["theirs"].samples.append(_time(lambda: whole(a, b, factor=0.5)))
    return _row("torch.operators", "operator through the dispatcher", timings)


def _shares(kit: Kit) -> Row:
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    seconds = {}
    for name, before in (("ours", ""), ("theirs", WITHOUT_SHARES)):
        command = [sys.executable, "-c", before + WORKER, kit.ours.path]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        seconds[name] = float(done.stdout.split()[0])
    title = "jax.shares: trace, lower and compile 100 ops on 4 devices"
    return Row("hooks", title, seconds["ours"], seconds["theirs"], unit="s", peer="ours, without the hook")


def _without_hooks(kit: Kit) -> list[Row]:
    environment = os.environ | {"KERNPACK_PRIVATE": "0"}
    command = [sys.executable, str(build.HERE / "public_way.py"), str(kit.repetitions)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [
        timed_row(
            "hooks", f"no hooks: {title}", {name: Timing(each) for name, each in samples.items()}, goal, peer=peer
        )
        for title, peer, goal, samples in json.loads(done.stdout)
    ]
