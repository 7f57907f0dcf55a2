"""The kernels of kernpack-kernels-cuda on a GPU beside torch's, Liger's and FlashInfer's: `cuda_pack.py CPU.so:CUDA.so [RESULTS.json]` prints a table.

Times are of the device, medians of Triton's do_bench, which empties the second-level cache before each run of a CUDA graph of the call. A floor stands beside
them: the bytes that have to move at the rate of a copy on this device, or the operations at the rate of a product of matrices."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

import cuda_pack_peers as beside
import kernpack
import torch
from torch.nn import functional
from triton.testing import do_bench

BF16 = torch.bfloat16


# Variables that choose kernels, each with another default.
CHOICES = ("KERNPACK_CUDA_ATTENTION", "KERNPACK_CUDA_PACKED_LINEAR", "KERNPACK_CUDA_SAMPLE")


class Case(NamedTuple):
    name: str
    shape: str
    ours: Callable[..., torch.Tensor]
    theirs: Callable[..., torch.Tensor]
    inputs: tuple[torch.Tensor, ...]
    bytes: int  # of inputs and results, each once
    flops: int = 0  # by tensor cores
    backward: bool = True
    peers: beside.Calls = beside.NONE
    chosen: str = ""  # NAME=VALUE of the variable that chooses a kernel which isn't the default


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, device="cuda", dtype=BF16)


def size(*tensors: torch.Tensor) -> int:
    return sum(t.numel() * t.itemsize for t in tensors)


def first(result):
    return result[0] if isinstance(result, (tuple, list)) else result


def rows(k) -> Iterator[Case]:
    for count, width in ((8192, 4096), (65536, 512)):
        x, r, w, b = random(count, width), random(count, width), random(width), random(width)
        of = (width,)
        shape = f"{count} x {width}"
        yield Case(
            "rms_norm",
            shape,
            lambda x, w: k.rms_norm(x, w),
            lambda x, w, s=of: functional.rms_norm(x, s, w, 1e-6),
            (x, w),
            size(x, x),
            peers=beside.rms_norm(),
        )
        yield Case(
            "layer_norm",
            shape,
            lambda *a: k.layer_norm(*a),
            lambda x, w, b, s=of: functional.layer_norm(x, s, w, b),
            (x, w, b),
            size(x, x),
            peers=beside.layer_norm(),
        )
        yield Case(
            "add_rms_norm",
            shape,
            lambda *a: k.add_rms_norm(*a)[0],
            lambda x, r, w, s=of: functional.rms_norm(x + r, s, w, 1e-6),
            (x, r, w),
            size(x, x, x, x),
            peers=beside.add_rms_norm(),
        )
        yield Case(
            "softmax", shape, lambda x: k.softmax(x), lambda x: x.softmax(-1), (x,), size(x, x), peers=beside.softmax()
        )
        yield Case("gelu", shape, lambda x: k.gelu(x), functional.gelu, (x,), size(x, x))
        yield Case(
            "swiglu",
            shape,
            lambda x, r: k.swiglu(x, r),
            lambda x, r: functional.silu(x) * r,
            (x, r),
            size(x, x, x),
            peers=beside.swiglu(),
        )
    x = random(2, 4096, 32, 128)
    angles = torch.rand(4096, 64, device="cuda")
    cos, sin = angles.cos(), angles.sin()

    def turned(x):
        a, b = x.chunk(2, -1)
        c, s = cos[:, None].to(BF16), sin[:, None].to(BF16)
        return torch.cat([a * c - b * s, b * c + a * s], -1)

    yield Case("rope", "2 x 4096 x 32 x 128", lambda x: k.rope(x, cos[None], sin[None]), turned, (x,), size(x, x))
    table, indices = random(128256, 2048), torch.randint(0, 128256, (8192,), device="cuda")
    out = random(8192, 2048)
    yield Case(
        "embedding",
        "8192 of 128256 x 2048",
        lambda t: k.embedding(t, indices),
        lambda t: functional.embedding(indices, t),
        (table,),
        size(out, out),
    )
    logits, targets = random(4096, 128256), torch.randint(0, 128256, (4096,), device="cuda")
    yield Case(
        "cross_entropy",
        "4096 x 128256",
        lambda t: k.cross_entropy(t, targets),
        lambda t: functional.cross_entropy(t, targets, reduction="none"),
        (logits,),
        size(logits),
    )


def sampling(k) -> Iterator[Case]:
    """The last step of a model with the logits of 64 sequences."""
    logits = random(64, 128256)
    shape = "64 x 128256"

    def nucleus(x):
        probabilities, tokens = torch.softmax(x.float() / 0.7, -1).sort(-1, descending=True)
        kept = torch.where(probabilities.cumsum(-1) - probabilities < 0.9, probabilities, 0)
        return tokens.gather(-1, torch.multinomial(kept, 1))

    nuclei = (lambda x: k.sample(x, seed=1, temperature=0.7, top_p=0.9)), nucleus
    for name, ours, theirs, peers, chosen in (
        ("argmax", lambda x: k.argmax(x), lambda x: x.argmax(-1), {}, ""),
        ("topk, 50", lambda x: k.topk(x, k=50)[0], lambda x: x.topk(50)[0], {}, ""),
        ("sample, temperature 0.7, top_p 0.9", *nuclei, beside.sample(0.7, 0.9), ""),
        ("sample, temperature 0.7, top_p 0.9, rejection", *nuclei, {}, "KERNPACK_CUDA_SAMPLE=rejection"),
    ):
        yield Case(name, shape, ours, theirs, (logits,), size(logits), backward=False, peers=peers, chosen=chosen)


def optimizers(k) -> Iterator[Case]:
    """A step over 64 tensors of f32, by torch's fused kernel."""

    def ones() -> list[torch.Tensor]:
        return [torch.ones(1 << 20, device="cuda") for _ in range(64)]

    params, grads, means, squares = ones(), ones(), ones(), ones()
    step, rate = torch.ones((), dtype=torch.int32, device="cuda"), torch.full((), 1e-4, device="cuda")
    mine = ones()
    for param, grad in zip(mine, grads, strict=True):
        param.grad = grad
    its = torch.optim.AdamW(mine, lr=1e-4, fused=True, capturable=True)
    yield Case(
        "adamw, f32",
        "64 x 1048576",
        lambda: k.adamw(params, grads, means, squares, step, rate),
        its.step,
        (),
        7 * size(*params),
        backward=False,
    )


def losses(k) -> Iterator[Case]:
    """The loss of a model's last layer, beside torch's, which stores the logits."""
    x, weight, targets = random(4096, 2048), random(128256, 2048), torch.randint(0, 128256, (4096,), device="cuda")
    yield Case(
        "fused_linear_cross_entropy",
        "4096 x 2048 x 128256",
        lambda x, w: k.fused_linear_cross_entropy(x, w, targets),
        lambda x, w: functional.cross_entropy(functional.linear(x, w), targets, reduction="none"),
        (x, weight),
        size(x, weight),
        2 * 4096 * 2048 * 128256,
    )


def sdpa(causal: bool) -> Callable[..., torch.Tensor]:
    def call(q, k, v):
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        return functional.scaled_dot_product_attention(
            q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1]
        ).transpose(1, 2)

    return call


def packed(k) -> Iterator[Case]:
    """Four bits beside torch's dense weight."""
    width = 4096
    values = torch.randint(0, 16, (width, width), dtype=torch.uint8)
    scales, zeros = torch.full((width, width // 64), 0.01), torch.full((width, width // 64), 8.0)
    weight, dense = k.pack_int4(values, scales, zeros).cuda(), random(width, width)

    def case(rows: int, name: str, chosen: str = "") -> Case:
        x = random(rows, width)
        return Case(
            name,
            f"{rows} x {width} x {width}",
            lambda x: k.packed_linear(x, weight),
            lambda x: functional.linear(x, dense),
            (x,),
            size(x, weight, x),
            2 * rows * width * width,
            backward=False,
            chosen=chosen,
        )

    for rows in (1, 16, 128, 2048):
        yield case(rows, "packed_linear, int4")
        if rows > 32 and torch.cuda.get_device_capability() == (9, 0):
            yield case(rows, "packed_linear, int4, wgmma", "KERNPACK_CUDA_PACKED_LINEAR=wgmma")


def attention(k) -> Iterator[Case]:
    for batch, length, heads, groups, width, causal in (
        (4, 4096, 16, 16, 128, False),
        (4, 4096, 16, 16, 128, True),
        (4, 4096, 32, 8, 64, True),
        (16, 512, 16, 16, 64, False),
    ):
        q = random(batch, length, heads, width)
        kv = [random(batch, length, groups, width) for _ in range(2)]
        flops = 4 * batch * heads * length * length * width // (2 if causal else 1)
        name = "attention, causal" if causal else "attention"
        shape = f"{batch} x {length} x {heads}/{groups} x {width}"

        def ours(q, k_, v, causal=causal):
            return k.attention(q, k_, v, causal=causal)

        moved = size(q, q, *kv)
        yield Case(name, shape, ours, sdpa(causal), (q, *kv), moved, flops)
        if torch.cuda.get_device_capability() == (9, 0):
            yield Case(
                f"{name}, wgmma",
                shape,
                ours,
                sdpa(causal),
                (q, *kv),
                moved,
                flops,
                chosen="KERNPACK_CUDA_ATTENTION=wgmma",
            )
    for batch, length, heads, groups in ((64, 4096, 32, 8), (1, 32768, 32, 8)):
        q = random(batch, 1, heads, 128)
        pages = [random(batch * length // 16, 16, groups, 128) for _ in range(2)]
        table = torch.randperm(batch * length // 16, device="cuda").to(torch.int32).reshape(batch, -1)
        lengths = torch.full((batch,), length, device="cuda", dtype=torch.int32)
        plain = [x.reshape(batch, length, groups, 128) for x in pages]
        yield Case(
            "paged_attention",
            f"{batch} x {length} x {heads}/{groups} x 128",
            lambda q, t=table, n=lengths, p=pages: k.paged_attention(q, *p, t, n),
            lambda q, p=plain: sdpa(False)(q, *p),  # not paged
            (q,),
            size(*pages),
            backward=False,
            peers=beside.paged_attention(q, pages, table, lengths),
        )


def rates() -> tuple[float, float]:
    """Bytes and operations per millisecond, as this device reaches them."""
    x, y = random(1 << 29), random(1 << 29)
    copied = size(x, y) / do_bench(lambda: y.copy_(x), return_mode="median")
    a, b = random(8192, 8192), random(8192, 8192)
    return copied, 2 * 8192**3 / do_bench(lambda: a @ b, return_mode="median")


STREAM = torch.cuda.Stream()


def time(call: Callable[[], object]) -> float:
    """Of a CUDA graph of the call: so what the host does for it doesn't count."""
    STREAM.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(STREAM):
        call()  # what is compiled, loaded or kept for later calls
    STREAM.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=STREAM):
        call()
    return do_bench(graph.replay, warmup=10, rep=60, return_mode="median")


def of_gradient(op, inputs) -> float:
    STREAM.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(STREAM):  # where the gradient then is computed, too
        given = [x.detach().requires_grad_() for x in inputs]
        out = first(op(*given))
        d = torch.randn_like(out)
    return time(lambda: torch.autograd.grad(out, given, d, retain_graph=True))


def trained(peers: beside.Calls) -> beside.Calls:
    return {name: op for name, op in peers.items() if name == "liger"}


def of_peers(case: Case, peers: beside.Calls, timed: Callable[..., float]) -> dict[str, float]:
    """Peers that don't run here are reported, and left out."""
    found = {}
    for name, op in peers.items():
        try:
            found[name] = timed(op)
        except Exception as error:
            print(f"{name}: no {case.name}, {case.shape}: {type(error).__name__}: {error}")
    return found


def measure(case: Case, copied: float, multiplied: float) -> Iterator[dict[str, object]]:
    for name in CHOICES:
        os.environ.pop(name, None)
    if case.chosen:
        name, value = case.chosen.split("=")
        os.environ[name] = value  # each call reads it
    floor = max(case.bytes / copied, case.flops / multiplied)
    with torch.no_grad():
        ours, theirs = (time(lambda op=op: op(*case.inputs)) for op in (case.ours, case.theirs))
        peers = of_peers(case, case.peers, lambda op: time(lambda: op(*case.inputs)))
    row = {"op": case.name, "shape": case.shape, "ms": ours, "torch": theirs, **peers, "floor": floor}
    if case.flops:
        row["tflops"] = case.flops / ours / 1e9
    yield row
    if case.backward:
        yield {
            "op": f"gradient of {case.name}",
            "shape": case.shape,
            "ms": of_gradient(case.ours, case.inputs),
            "torch": of_gradient(case.theirs, case.inputs),
            **of_peers(case, trained(case.peers), lambda op: of_gradient(op, case.inputs)),
            "floor": max(case.bytes * 1.5 / copied, case.flops * 2.5 / multiplied),
        }


def overhead(k) -> dict[str, float]:
    """Microseconds of the host for each of 2,000 calls on tensors of one row."""
    import timeit

    x, w = random(1, 64), random(64)
    found = {}
    for name, call in (("ours", lambda: k.rms_norm(x, w)), ("torch", lambda: functional.rms_norm(x, (64,), w, 1e-6))):
        call()
        torch.cuda.synchronize()
        found[name] = min(timeit.repeat(call, number=2000, repeat=3)) / 2000 * 1e6
        torch.cuda.synchronize()
    return found


def main() -> int:
    k = kernpack.load(sys.argv[1].split(os.pathsep))
    copied, multiplied = rates()
    machine = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "copy_TB_per_s": copied / 1e9,
        "matmul_TFLOP_per_s": multiplied / 1e9,
        "host_us_per_call": overhead(k),
    }
    print(json.dumps(machine), flush=True)
    print("| operation, bf16 | shape | ms | torch | Liger | FlashInfer | ours / torch | floor / ours |")
    print("| -- | -- | --: | --: | --: | --: | --: | --: |")
    results = []
    for case in (*rows(k), *packed(k), *losses(k), *attention(k), *sampling(k), *optimizers(k)):
        for row in measure(case, copied, multiplied):
            results.append(row)
            of = row["ms"]
            peers = " | ".join(f"{row[name]:.3f}" if name in row else "" for name in beside.COLUMNS)
            ratios = f"{of / row['torch']:.2f} | {row['floor'] / of:.2f}"
            print(f"| {row['op']} | {row['shape']} | {of:.3f} | {row['torch']:.3f} | {peers} | {ratios} |", flush=True)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "w", encoding="utf-8") as out:
            json.dump({"machine": machine, "results": results}, out, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
