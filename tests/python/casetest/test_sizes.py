"""Sizes are found for any contract that has some, and hold its conditions."""

from __future__ import annotations

import itertools
import random

import kernpack
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from kernpack._contract import Parameter
from kernpack._domain import Tensor
from kernpack._solve import Solution
from kernpack_sdk.testing import values
from kernpack_sdk.testing.case import Op
from kernpack_sdk.testing.generate import Generator, Unsolved, Wish
from kernpack_sdk.testing.inputs import Inputs

# The kernel doesn't matter: nothing is called.
SIGNATURES = {
    "topk": "(x: f32[..., N], *, k: int) -> (values: f32[..., k]) where 0 < k <= N",
    "groups": "(x: f32[N, D], *, group: int = 128) -> (q: i8[N, D], s: f32[N, D // group]) where group > 0, D % group == 0",
    "heads": "(q: f32[B, H, S, D], k: f32[B, G, S, D]) -> (y: f32[B, H, S, D]) where H % G == 0, D % 8 == 0, D <= 256",
    "packed": "(x: u8[N, K // 2], s: f32[N, ceildiv(K, 32)], y: f32[M, K]) -> (z: f32[M, N]) where K % 32 == 0",
    "conv": "(x: f32[C, H, W], w: f32[O, C, K, L], *, stride: int = 1) -> (y: f32[O, (H - K) // stride + 1, (W - L) // stride + 1]) "
    "where stride > 0, K <= H, L <= W, K % 2 == 1, L == K",
    "items": "(x: f32[H, W], s: list[int]) -> (y: f32[(H - s[2]) // s[0] + 1]) where s[0] > 0, s[2] <= H, s[1] == 2 * W",
    "square": "(x: f32[N, M]) -> (y: f32[N]) where N == M * M, N > 3",
    "rope": "(x: f32[..., S, D], cos: f32[~..., S, D // 2]) -> (y: f32[..., S, D]) where D % 2 == 0",
    "scratch": "(x: f32[N], n: int) -> (y: f32[N]) where n >= 0 with workspace = 4 * N * n - 16",
    "tuples": "(x: T[*S], y: T[*S]?, z: U[_, 3]) -> (w: T[*S]) where T in {f32, f64}, U in {i32, i64}",
}


def _generator(name: str, seed: int) -> Generator:
    return Generator(Op.of(_module(), name), seed, Inputs())


@pytest.fixture(scope="module")
def module() -> kernpack.Module:
    return _module()


def _module() -> kernpack.Module:
    parameters = {"tensor": "kp::TensorView", "int": "int64_t", "list": "kp::ListView<int64_t>"}
    types = {
        "topk": ("tensor", "int"),
        "groups": ("tensor", "int"),
        "heads": ("tensor",) * 2,
        "packed": ("tensor",) * 3,
        "conv": ("tensor", "tensor", "int"),
        "items": ("tensor", "list"),
        "square": ("tensor",),
        "rope": ("tensor",) * 2,
        "scratch": ("tensor", "int"),
        "tuples": ("tensor", "optional", "tensor"),
    }
    source = ""
    for name, kinds in types.items():
        outs = 2 if name in ("groups", "scratch") else 1  # a second result, or the workspace
        arguments = [parameters.get(kind, "std::optional<kp::TensorView>") for kind in kinds]
        source += f"void {name}({', '.join([*arguments, *['kp::MutTensorView'] * outs])}) {{}}\n"
    return kernpack.load_inline(source, SIGNATURES, name="sizes_of_contracts")


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(sorted(SIGNATURES)),
    profile=st.sampled_from(["small", "odd", "large", "one"]),
    seed=st.integers(0, 2**31),
)
def test_calls_fit_their_contracts(name: str, profile: str, seed: int) -> None:
    generator = _generator(name, seed)
    try:
        call = generator.call(Wish("", profile=profile, which=random.Random(seed).choice("NDKS")))
    except Unsolved:  # rare: `kernpack test` draws again
        reject()
    contract = generator.contract
    given_ = [_seen(call.values[parameter.name]) for parameter in contract.parameters]
    solution = Solution(contract, given_)
    assert all(size >= 0 for i in range(len(contract.results)) for size in solution.result(i)[0])
    assert solution.workspace() is None or solution.workspace() >= 0


def _seen(value: object) -> object:
    names = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "uint8": "u8", "int8": "i8"}
    return Tensor(value.shape, names[value.dtype.name]) if hasattr(value, "dtype") else value  # type: ignore[attr-defined]


def test_the_default_of_a_list_gives_its_items() -> None:
    axes = Parameter("axes", "int", None, False, True, False, False, False, False, False, True, [5, 6], ())
    assert values.scalars(axes)[:3] == [5, 6, 1]


def test_a_seed_always_gives_the_same_calls(module: kernpack.Module) -> None:
    texts = []
    for _ in range(2):
        generator = _generator("topk", 5)
        texts.append([generator.call(wish).text() for wish in itertools.islice(generator.wishes(3), 9)])
    assert texts[0] == texts[1]
    assert len(set(texts[0])) > 3
