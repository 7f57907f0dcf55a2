"""Each operation by itself, at the sizes of the model: generated against hand-written, in short rounds that take turns."""

import time

import numpy as np

ROUNDS = 25


def cases(batch=8, tokens=64, width=384, heads=12):
    """Name to arguments; f32, and bool or i32 masks."""
    random = np.random.default_rng(0)

    def normal(*shape):
        return random.standard_normal(shape).astype(np.float32)

    keep = random.random((batch, tokens)) < 0.8
    return {
        "layer_norm": (normal(batch, tokens, width), normal(width), normal(width)),
        "gelu": (normal(batch, tokens, 4 * width),),
        "softmax": (normal(batch, heads, tokens, tokens), keep.reshape(batch, 1, 1, tokens)),
        "mean_pool": (normal(batch, tokens, width), keep.astype(np.int32)),
    }


def call(k, name, arguments):
    keywords = {"eps": 1e-12} if name == "layer_norm" else {}
    return getattr(k, name)(*arguments, **keywords)


def fastest(providers, name, arguments):
    """Seconds of one call, the least of all rounds, a provider."""
    least = dict.fromkeys(providers, float("inf"))
    for _ in range(ROUNDS):
        for provider, k in providers.items():
            start = time.perf_counter()
            call(k, name, arguments)
            least[provider] = min(least[provider], time.perf_counter() - start)
    return least


def table(providers):
    names = list(providers)
    lines = [f"{'microseconds':<12}" + "".join(f"{name:>22}" for name in names)]
    for name, arguments in cases().items():
        least = fastest(providers, name, arguments)
        lines.append(f"{name:<12}" + "".join(f"{least[provider] * 1e6:>22.0f}" for provider in names))
    return "\n".join(lines)
