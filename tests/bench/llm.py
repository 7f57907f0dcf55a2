"""make bench-llm: tokens a second of SmolLM2-135M in examples/chat, and operations of language models beside PyTorch's.

Best of several, in turn, threads alike. The instruction sets stand above the figures: lower ones by KERNPACK_TARGET for ours,
ONEDNN_MAX_CPU_ISA and ATEN_CPU_CAPABILITY for torch's.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kernpack
import numpy as np
import torch
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "chat"))
import gguf
import llm_peers
import machine
from gguf_file import GgufFile
from main import shipped_model
from model import Model

NOT_HERE = {
    "onnxruntime-genai, openvino-genai": "need the model in their own formats",
}


def machine_line() -> str:
    facts = machine.describe()
    target = os.environ.get("KERNPACK_TARGET", "none")
    return f"{facts['cpu']}: {' '.join(machine.instruction_sets())}; KERNPACK_TARGET={target}"


def best(run: Callable[[], Any], seconds: float = 0.4) -> float:
    """The shortest time of as many runs as fit; one before them isn't counted."""
    run()
    shortest, spent, count = float("inf"), 0.0, 0
    while spent < seconds or count < 5:
        start = time.perf_counter()
        run()
        took = time.perf_counter() - start
        shortest, spent, count = min(shortest, took), spent + took, count + 1
    return shortest


def set_threads(n: int) -> None:
    torch.set_num_threads(n)
    kernpack.set_num_threads(n)


def tokens_per_second(k: Any) -> None:
    model, ids = Model(k, GgufFile(shipped_model())), np.random.default_rng(0).integers(0, 49152, 2048)

    def read() -> None:
        model.forward(ids[:512], model.cache(512))

    def write(context: int) -> Callable[[], None]:
        cache = model.cache(context + 1)
        model.forward(ids[:context], cache)

        def one() -> None:
            cache.length = context
            model.forward([7], cache)

        return one

    peer = llm_peers.llama_bench()
    print(f"\n{'SmolLM2-135M Q4_1, tokens/s':<30}{'threads':>8}{'ours':>8}{'llama.cpp':>11}{'theirs/ours':>13}")
    for name, run, count, depth in (
        ("prompt of 512", read, 512, 0),
        ("one token at context 128", write(128), 1, 128),
        ("one token at context 2,048", write(2048), 1, 2048),
    ):
        for threads in (1, 2):
            set_threads(threads)
            ours = count / best(run, 1.0)
            line = f"{name:<30}{threads:>8}{ours:>8,.0f}"
            if peer:
                theirs = llm_peers.tokens_per_second(peer, shipped_model(), threads, 0 if depth else count, depth)
                line += f"{theirs:>11,.0f}{theirs / ours:>13.2f}"
            print(line, flush=True)
    if not peer:
        print(f"llama.cpp: {llm_peers.MISSING}")


def dense(k: Any) -> list[tuple[str, Callable[[], Any], Callable[[], Any]]]:
    rows: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = []
    for dtype in (torch.bfloat16, torch.float32):
        w = torch.randn(1536, 1536).to(dtype)
        packed = k.pack_linear(w)
        for m in (1, 256):
            x = torch.randn(m, 1536).to(dtype)
            name = f"{str(dtype)[6:]} linear {m} x 1536 x 1536"
            rows.append((f"{name}, packed", lambda x=x, w=packed: k.packed_linear(x, w), lambda x=x, w=w: x @ w.T))
            rows.append((name, lambda x=x, w=w: k.linear(x, w), lambda x=x, w=w: x @ w.T))
    return rows


def decoding(k: Any) -> list[tuple[str, Callable[[], Any], Callable[[], Any]]]:
    """One query beside a cache of 4,096 keys, of 9 heads that share 3."""
    rows: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = []
    table, lengths = torch.zeros(1, 1, dtype=torch.int32), torch.tensor([4096], dtype=torch.int32)
    for dtype in (torch.float32, torch.bfloat16, torch.int8):
        theirs = torch.bfloat16 if dtype == torch.int8 else dtype
        q, caches = torch.randn(1, 1, 9, 64).to(theirs), [torch.randn(1, 4096, 3, 64).mul(20).to(dtype) for _ in "kv"]
        scales = [torch.full((1, 4096, 3), 0.05)] * 2 if dtype == torch.int8 else []
        first = [a.transpose(1, 2).contiguous() for a in (q, *(c.to(theirs) for c in caches))]
        rows.append(
            (
                f"decode at 4,096, cache of {str(dtype)[6:]} / SDPA of {str(theirs)[6:]}",
                lambda q=q, c=caches, s=scales: k.paged_attention(q, *c, table, lengths, *s),
                lambda a=first: functional.scaled_dot_product_attention(*a, enable_gqa=True),
            )
        )
    return rows


def training(k: Any) -> list[tuple[str, Callable[[], Any], Callable[[], Any]]]:
    """Forward and backward passes."""
    rows: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = []
    for causal, dtype in ((False, torch.float32), (True, torch.float32), (False, torch.bfloat16)):
        given = [torch.randn(1, 1024, 8, 64).to(dtype).requires_grad_() for _ in range(3)]
        first = [a.detach().transpose(1, 2).contiguous().requires_grad_() for a in given]
        d_out = torch.randn(1, 1024, 8, 64).to(dtype)
        d_first = d_out.transpose(1, 2).contiguous()
        rows.append(
            (
                f"attention forward + backward{', causal' if causal else ''}, {str(dtype)[6:]}",
                lambda a=given, d=d_out, c=causal: torch.autograd.grad(k.attention(*a, causal=c), a, d),
                lambda a=first, d=d_first, c=causal: torch.autograd.grad(
                    functional.scaled_dot_product_attention(*a, is_causal=c), a, d
                ),
            )
        )
    logits, targets = (torch.randn(128, 49152) * 3).requires_grad_(), torch.randint(49152, (128,))
    rows.append(
        (
            "cross-entropy 128 x 49,152, forward + backward",
            lambda: torch.autograd.grad(k.cross_entropy(logits, targets).mean(), logits),
            lambda: torch.autograd.grad(functional.cross_entropy(logits, targets), logits),
        )
    )
    x, weight = torch.randn(128, 576, requires_grad=True), (torch.randn(49152, 576) / 24).requires_grad_()
    rows.append(
        (
            "the same of 576 wide states, with its linear",
            lambda: torch.autograd.grad(k.fused_linear_cross_entropy(x, weight, targets).mean(), (x, weight)),
            lambda: torch.autograd.grad(functional.cross_entropy(x @ weight.T, targets), (x, weight)),
        )
    )
    params, grads, mean, square = ([torch.rand(1 << 20) for _ in range(4)] for _ in range(4))
    leaves = [p.clone().requires_grad_() for p in params]
    for leaf, grad in zip(leaves, grads, strict=True):
        leaf.grad = grad.clone()
    fused = torch.optim.AdamW(leaves, fused=True)
    count = iter(range(1, 1 << 30))
    rows.append(
        (
            "AdamW on 4 M numbers / torch fused",
            lambda: k.adamw(params, grads, mean, square, next(count), 1e-3),
            fused.step,
        )
    )
    rows.append(
        (
            "clip_grad_norm of 4 M numbers, none clipped",
            lambda: k.clip_grad_norm(grads, max_norm=1e9),
            lambda: torch.nn.utils.clip_grad_norm_(leaves, 1e9),
        )
    )
    return rows


def operations(k: Any) -> list[tuple[str, Callable[[], Any], Callable[[], Any]]]:
    """Name, ours, torch's."""
    torch.manual_seed(0)
    rows: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = []
    n, columns = 1536, 576
    w = torch.randn(n, columns)
    packed = torch.from_numpy(k.pack_q4_1(gguf.quants.quantize(w.numpy(), gguf.GGMLQuantizationType.Q4_1)))
    int4 = torch.ops.aten._convert_weight_to_int4pack_for_cpu(torch.randint(0, 16, (n, columns), dtype=torch.int32), 1)
    scales = torch.rand(columns // 32, n, 2, dtype=torch.bfloat16)
    for m in (1, 256):
        x, half = torch.randn(m, columns), torch.randn(m, columns, dtype=torch.bfloat16)
        rows.append(
            (
                f"int4 linear {m} x {n} x {columns} / int4pack",
                lambda x=x: k.packed_linear(x, packed),
                lambda half=half: torch.ops.aten._weight_int4pack_mm_for_cpu(half, int4, 32, scales),
            )
        )
        wide = w.bfloat16()
        rows.append(
            (
                "the same / torch bf16",
                lambda x=x: k.packed_linear(x, packed),
                lambda half=half, wide=wide: half @ wide.T,
            )
        )
    for s, length, causal, dtype, heads, groups in (
        (1024, 1024, False, torch.float32, 8, 8),
        (1024, 1024, True, torch.float32, 8, 8),
        (1024, 1024, False, torch.bfloat16, 8, 8),
        (1, 4096, True, torch.float32, 9, 3),
        (1, 4096, True, torch.bfloat16, 9, 3),
    ):
        q, keys, v = (torch.randn(1, c, h, 64).to(dtype) for c, h in ((s, heads), (length, groups), (length, groups)))
        shapes = f"S {s}, L {length}, H {heads}/{groups}{', causal' if causal else ''}, {str(dtype)[6:]}"
        first = [a.transpose(1, 2).contiguous() for a in (q, keys, v)]
        rows.append(
            (
                f"attention {shapes}",
                lambda q=q, keys=keys, v=v, causal=causal: k.attention(q, keys, v, causal=causal),
                lambda first=first, c=causal and s > 1, g=heads != groups: functional.scaled_dot_product_attention(
                    *first, is_causal=c, enable_gqa=g
                ),
            )
        )
    rows += [*dense(k), *decoding(k), *training(k)]
    ones = torch.ones(576)
    for m in (1, 512):
        x, r = torch.randn(m, 576), torch.randn(m, 576)
        rows.append(
            (
                f"add_rms_norm {m} x 576",
                lambda x=x, r=r: k.add_rms_norm(x, r, ones),
                lambda x=x, r=r: functional.rms_norm(x + r, (576,), ones),
            )
        )
        both = torch.randn(m, 3072)
        rows.append(
            (
                f"swiglu {m} x 1536",
                lambda both=both: k.swiglu(both[:, :1536], both[:, 1536:]),
                lambda both=both: functional.silu(both[:, :1536]) * both[:, 1536:],
            )
        )
        heads_of, angles = torch.randn(m, 9, 64), torch.randn(m, 32)
        rows.append(
            (
                f"rope {m} x 9 x 64",
                lambda x=heads_of, a=angles: k.rope(x, a, a),
                lambda x=heads_of, a=angles[:, None]: torch.cat(
                    [x[..., :32] * a - x[..., 32:] * a, x[..., 32:] * a + x[..., :32] * a], -1
                ),
            )
        )
    logits = torch.randn(49152) * 3
    rows.append(
        (
            "top-40, top-p of 49,152",
            lambda: k.sample(logits, seed=1, top_k=40, top_p=0.9),
            lambda: torch.multinomial(torch.softmax(torch.topk(logits, 40).values, 0), 1),
        )
    )
    rows.append(("argmax of 49,152", lambda: k.argmax(logits), lambda: torch.argmax(logits)))
    return rows


def main() -> None:
    k = kernpack.load("kernpack_kernels")
    print(machine_line())
    print(f"torch {torch.__version__} ({torch.backends.cpu.get_cpu_capability()})")
    set_threads(1)
    print(f"\n{'1 thread, microseconds':<58}{'ours':>10}{'torch':>10}{'ours/torch':>12}")
    for name, ours, theirs in operations(k):
        a, b = best(ours), best(theirs)
        print(f"{name:<58}{a * 1e6:>10,.1f}{b * 1e6:>10,.1f}{a / b:>12.2f}", flush=True)
    tokens_per_second(k)
    print("\nNot measured beside them:")
    for name, reason in NOT_HERE.items():
        print(f"  {name}: {reason}")


if __name__ == "__main__":
    main()
