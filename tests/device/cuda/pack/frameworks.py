"""The CUDA pack on a GPU, by torch, JAX and CuPy: what tests/device/run.sh runs after the pack's own cases. Called with CPU.so:CUDA.so.

Each check prints a line; what cannot run is skipped with its reason, anything else is a failure."""

import math
import os
import sys
import threading
from pathlib import Path

import kernpack

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "gpu"))
from checks import Skip, check, framework, main, torch_with_cuda

K = kernpack.load(sys.argv[1].split(os.pathsep))
TOLERANCE = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}


def close(found, expected, what):
    torch = framework("torch")
    expected = expected.float()
    bound = TOLERANCE[str(found.dtype).removeprefix("torch.")] * max(1.0, expected.abs().max().item())
    torch.testing.assert_close(found.float(), expected, rtol=0, atol=bound, msg=lambda text: f"{what}: {text}")


def attend(q, k, v, causal=True):
    """torch's attention with heads after positions, in f32."""
    torch = framework("torch")
    q, k, v = (x.float().transpose(1, 2) for x in (q, k, v))
    k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2)


def pairs(dtype):
    """(name, our op, torch's, inputs that have gradients), in sizes that models have."""
    torch, functional = framework("torch"), framework("torch.nn.functional")

    def random(*shape):
        return torch.randn(shape, device="cuda", dtype=dtype)

    w, b = random(1024), random(1024)
    x, r = random(3, 333, 1024), random(3, 333, 1024)
    rows = (x.shape[-1],)
    yield "rms_norm", lambda x, w: K.rms_norm(x, w), lambda x, w: functional.rms_norm(x, rows, w, 1e-6), (x, w)
    yield (
        "layer_norm",
        lambda x, w, b: K.layer_norm(x, w, b),
        lambda x, w, b: functional.layer_norm(x, rows, w, b),
        (x, w, b),
    )
    yield (
        "add_rms_norm",
        lambda x, r, w: K.add_rms_norm(x, r, w)[0],
        lambda x, r, w: functional.rms_norm(x + r, rows, w, 1e-6),
        (x, r, w),
    )
    yield "softmax", lambda x: K.softmax(x), lambda x: x.softmax(-1), (x,)
    yield "gelu", lambda x: K.gelu(x), functional.gelu, (x,)
    yield "silu", lambda x: K.silu(x), functional.silu, (x,)
    yield "swiglu", lambda x, r: K.swiglu(x, r), lambda x, r: functional.silu(x) * r, (x, r)
    indices = torch.randint(0, 999, (3, 333), device="cuda")
    yield (
        "embedding",
        lambda t: K.embedding(t, indices),
        lambda t: functional.embedding(indices, t),
        (random(999, 1024),),
    )
    logits, targets = random(77, 32003), torch.randint(0, 32003, (77,), device="cuda")
    targets[3] = -100
    yield (
        "cross_entropy",
        lambda t: K.cross_entropy(t, targets),
        lambda t: functional.cross_entropy(t.float(), targets, reduction="none"),
        (logits,),
    )
    hidden, head = random(77, 256), random(3001, 256)
    classes = torch.where(targets < 0, targets, targets % 3001)
    yield (
        "fused_linear_cross_entropy",
        lambda x, w: K.fused_linear_cross_entropy(x, w, classes),
        lambda x, w: functional.cross_entropy((x @ w.T).float(), classes, reduction="none"),
        (hidden, head),
    )
    q, k, v = random(2, 515, 8, 64), random(2, 515, 2, 64), random(2, 515, 2, 64)
    yield "attention", lambda q, k, v: K.attention(q, k, v, causal=True), attend, (q, k, v)
    q, k, v = random(1, 300, 4, 128), random(1, 300, 4, 128), random(1, 300, 4, 128)
    yield "attention 128", lambda q, k, v: K.attention(q, k, v, causal=True), attend, (q, k, v)


def gradients(op, inputs, d=None):
    torch = framework("torch")
    inputs = [x.detach().clone().requires_grad_() for x in inputs]
    out = op(*inputs)
    out = out[0] if isinstance(out, (tuple, list)) else out
    d = torch.ones_like(out) if d is None else d.to(out.dtype)
    return out.detach(), torch.autograd.grad(out, inputs, d)


def first(result):
    return result[0] if isinstance(result, (tuple, list)) else result


@check
def torch_results_and_gradients() -> None:
    torch = torch_with_cuda()
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        for name, ours, theirs, inputs in pairs(dtype):
            wide = [x.float() for x in inputs]
            d = torch.randn_like(first(theirs(*wide)))
            out, grads = gradients(ours, inputs, d)
            expected, wanted = gradients(theirs, wide, d.to(out.dtype).float())
            close(out, expected, f"{name} {dtype}")
            for grad, want in zip(grads, wanted, strict=True):
                close(grad, want, f"gradient of {name} {dtype}")


@check
def torch_compile_forward_and_backward() -> None:
    torch = torch_with_cuda()
    x, w = torch.randn(64, 512, device="cuda"), torch.randn(512, device="cuda")

    def layer(x, w):
        return K.swiglu(K.rms_norm(x, w), x).sum()

    expected = gradients(layer, (x, w))[1]
    found = gradients(torch.compile(layer, fullgraph=True), (x, w))[1]
    for one, other in zip(found, expected, strict=True):
        close(one, other, "compiled")


@check
def torch_graphs_replay_forward_and_backward() -> None:
    torch = torch_with_cuda()
    q, k, v = (torch.randn(1, 200, 4, 64, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    w = torch.randn(64, device="cuda", dtype=torch.bfloat16)

    def step():
        given = [x.detach().requires_grad_() for x in (q, k, v, w)]
        out = K.rms_norm(K.attention(*given[:3], causal=True), given[3])
        return out.detach(), *torch.autograd.grad(out.float().square().sum(), given)

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()  # its workspaces exist then, and its code is loaded
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        captured = step()
    for seed in (1, 2):
        torch.manual_seed(seed)
        for x in (q, k, v):
            x.copy_(torch.randn_like(x))
        graph.replay()
        torch.cuda.synchronize()
        replayed = [x.clone() for x in captured]
        for one, other in zip(replayed, step(), strict=True):
            assert torch.equal(one, other), "a replay gives other bits than a call"


@check
def torch_streams_and_threads() -> None:
    torch = torch_with_cuda()
    x = torch.randn(512, 4096, device="cuda")
    w = torch.randn(4096, device="cuda")
    expected = gradients(lambda x, w: K.rms_norm(x, w), (x, w))[1]
    wrong = []

    def work():
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(20):
                found = gradients(lambda x, w: K.rms_norm(x, w), (x, w))[1]
                stream.synchronize()
                wrong.extend(1 for a, b in zip(found, expected, strict=True) if not torch.equal(a, b))

    torch.cuda.synchronize()
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, f"{len(wrong)} gradients differ"


@check
def more_than_2_to_the_31_elements() -> None:
    torch = torch_with_cuda()
    rows = (1 << 31) // 4096 + 5
    x = torch.randn(64, 4096, device="cuda", dtype=torch.bfloat16).repeat(rows // 64 + 1, 1)[:rows]
    w = torch.randn(4096, device="cuda", dtype=torch.bfloat16)
    for name, op in (("rms_norm", lambda x: K.rms_norm(x, w)), ("softmax", K.softmax), ("silu", K.silu)):
        out = op(x)
        assert torch.equal(out[-5:], op(x[-5:].clone())), name
        assert torch.equal(out[:64], op(x[:64].clone())), name
        del out
    d_x, d_w = gradients(lambda x, w: K.rms_norm(x, w), (x, w))[1]
    assert d_x[-1].isfinite().all()
    assert d_w.isfinite().all()


@check
def long_attention() -> None:
    torch = torch_with_cuda()
    q, k, v = (torch.randn(1, 16384, 4, 128, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    close(K.attention(q, k, v, causal=True), attend(q, k, v), "16,384 positions")


@check
def a_language_model_of_hugging_face() -> None:
    torch, transformers = torch_with_cuda(), framework("transformers")
    import kernpack_kernels.torch as kt

    torch.manual_seed(0)
    sizes = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = transformers.LlamaConfig(vocab_size=512, num_key_value_heads=2, pad_token_id=0, **sizes)
    for dtype, tolerance in ((torch.float32, 2e-4), (torch.bfloat16, 8e-2)):
        model = transformers.LlamaForCausalLM(config).eval().to("cuda", dtype)
        ids = torch.randint(1, 512, (2, 100), device="cuda")

        def step(model=model, ids=ids):
            model.zero_grad()
            given = model(ids, labels=ids)
            given.loss.backward()
            grads = {name: p.grad.float().clone() for name, p in model.named_parameters()}
            return given.logits.detach().float(), given.loss.detach().float(), grads

        logits, loss, grads = step()
        tokens = model.generate(ids, max_new_tokens=12, do_sample=False)
        by = {row.by for row in kt.patch(model).rows}
        assert by == {"rms_norm", "swiglu", "attention", "rope", "cross_entropy"}, by
        found_logits, found_loss, found_grads = step()
        torch.testing.assert_close(found_logits, logits, rtol=0, atol=tolerance * logits.abs().max().item())
        torch.testing.assert_close(found_loss, loss, rtol=tolerance, atol=0)
        for name, grad in grads.items():
            largest = grad.abs().max().item()
            torch.testing.assert_close(
                found_grads[name], grad, rtol=0, atol=tolerance * largest, msg=lambda text, n=name: f"{n}: {text}"
            )
        if dtype == torch.float32:
            assert torch.equal(model.generate(ids, max_new_tokens=12, do_sample=False), tokens)
        kt.unpatch(model)


@check
def jax_results_and_gradients() -> None:
    jax, np = framework("jax"), framework("numpy")
    jnp = jax.numpy
    if jax.default_backend() != "gpu":
        raise Skip("jax.default_backend() is " + jax.default_backend())
    rng = np.random.default_rng(0)
    x, w = (jnp.asarray(rng.normal(size=s), jnp.float32) for s in ((64, 512), (512,)))

    def ours(x, w):
        return K.rms_norm(x, w, eps=1e-6).sum()

    def theirs(x, w):
        return (x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * w).sum()

    for transform in (lambda f: f, jax.jit):
        found = transform(jax.grad(ours, (0, 1)))(x, w)
        for one, other in zip(found, jax.grad(theirs, (0, 1))(x, w), strict=True):
            np.testing.assert_allclose(one, other, rtol=0, atol=2e-5 * float(jnp.abs(other).max()))
    q, k, v = (jnp.asarray(rng.normal(size=(2, 65, 4, 64)), jnp.bfloat16) for _ in range(3))

    def plain(q, k, v):
        q, k, v = (y.astype(jnp.float32) for y in (q, k, v))
        s = jnp.einsum("bshd,blhd->bhsl", q, k) / math.sqrt(64)
        s = jnp.where(jnp.tril(jnp.ones((65, 65), bool)), s, -jnp.inf)
        return jnp.einsum("bhsl,blhd->bshd", jax.nn.softmax(s), v)

    found = jax.jit(lambda q, k, v: K.attention(q, k, v, causal=True))(q, k, v)
    np.testing.assert_allclose(found.astype(jnp.float32), plain(q, k, v), rtol=0, atol=3e-2)
    mapped = jax.vmap(lambda y: K.softmax(y))(x.reshape(4, 16, 512))
    np.testing.assert_allclose(mapped, jax.nn.softmax(x.reshape(4, 16, 512)), rtol=0, atol=1e-6)


@check
def cupy_arrays() -> None:
    cupy = framework("cupy")
    x = cupy.random.standard_normal((33, 257), dtype=cupy.float32)
    e = cupy.exp(x - x.max(-1, keepdims=True))
    assert bool(cupy.allclose(cupy.asarray(K.softmax(x)), e / e.sum(-1, keepdims=True), atol=1e-6))


if __name__ == "__main__":
    sys.exit(main())
