"""Arguments that may share memory with a written tensor: decided exactly, however views interleave."""

from __future__ import annotations

from typing import Any

import kernpack
import numpy as np
import pytest
import torch

SOURCE = r"""
template <class F>
void each(kp::MutTensorView a, F&& f) {
  for (int64_t i = 0; i < a.size(0); ++i) {
    for (int64_t j = 0; j < a.size(1); ++j) f(a.data_ptr<float>()[i * a.stride(0) + j * a.stride(1)]);
  }
}
void inc(kp::MutTensorView a) { each(a, [](float& x) { x += 1; }); }
void two(kp::MutTensorView a, kp::MutTensorView b) {
  each(a, [](float& x) { x += 1; });
  each(b, [](float& x) { x += 2; });
}
void add(kp::TensorView a, kp::MutTensorView b) {
  for (int64_t i = 0; i < b.size(0); ++i) {
    for (int64_t j = 0; j < b.size(1); ++j) {
      b.data_ptr<float>()[i * b.stride(0) + j * b.stride(1)] += a.data_ptr<float>()[i * a.stride(0) + j * a.stride(1)];
    }
  }
}
void all(kp::ListView<kp::MutTensorView> xs) {
  for (const kp::MutTensorView x : xs) each(x, [](float& v) { v += 1; });
}
"""
FUNCTIONS = {
    "inc": "(a!: f32[N, M] strided) -> ()",
    "two": "(a!: f32[N, M] strided, b!: f32[N, M] strided) -> ()",
    "add": "(a: f32[N, M] strided, b!: f32[N, M] strided) -> ()",
    "all": "(xs!: list[f32[_, _] strided]) -> ()",
}
INTERLEAVED = {
    "kv_unbind": ((2, 2, 3), lambda x: (x[:, 0], x[:, 1])),
    "column_halves": ((2, 6), lambda x: (x[:, :3], x[:, 3:])),
    "even_and_odd_columns": ((2, 6), lambda x: (x[:, ::2], x[:, 1::2])),
    "real_and_imaginary": ((2, 3, 2), lambda x: (x[..., 0], x[..., 1])),
    "corners": ((4, 4), lambda x: (x[:2, 2:], x[2:, :2])),
}
OVERLAPPING = {
    "corners": ((4, 4), lambda x: (x[:3, :3], x[1:, 1:])),
    "rows": ((4, 4), lambda x: (x[:3], x[1:])),
    "one_column": ((4, 5), lambda x: (x[:, :3], x[:, 2:])),
    "itself_transposed": ((3, 3), lambda x: (x, x.T)),
}
MAKE = {"numpy": lambda shape: np.zeros(shape, np.float32), "torch": torch.zeros}


@pytest.fixture(scope="module")
def k() -> Any:
    return kernpack.load_inline(SOURCE, FUNCTIONS, name="overlaps")


@pytest.mark.parametrize("framework", MAKE)
@pytest.mark.parametrize("case", INTERLEAVED)
def test_views_that_interleave_may_both_be_written(k: Any, framework: str, case: str) -> None:
    shape, views = INTERLEAVED[case]
    x = MAKE[framework](shape)
    a, b = views(x)
    for _ in range(2):  # the second call may be remembered
        k.two(a, b)
        k.add(b, a)
        k.all([a, b])
    np.testing.assert_array_equal(a, np.full(a.shape, 11))
    np.testing.assert_array_equal(b, np.full(b.shape, 6))


@pytest.mark.parametrize("framework", MAKE)
@pytest.mark.parametrize("case", OVERLAPPING)
def test_views_that_share_an_element_are_refused_both_ways(k: Any, framework: str, case: str) -> None:
    shape, views = OVERLAPPING[case]
    x = MAKE[framework](shape)
    a, b = views(x)
    for call, message in (
        (lambda: k.two(a, b), "two: a: .* overlaps b: pass a copy"),
        (lambda: k.add(a, b), "add: b: .* overlaps a: pass a copy"),
        (lambda: k.add(b, a), "add: b: .* overlaps a: pass a copy"),
        (lambda: k.all([a, b]), r"all: xs\[[01]\]: .* overlaps xs\[[01]\]: pass a copy"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert float(np.asarray(x).sum()) == 0


def test_many_items_that_interleave_may_be_written(k: Any) -> None:
    cache = torch.zeros(5, 40, 3)
    k.all(list(cache.unbind(1)))
    assert float(cache.sum()) == cache.numel()
    with pytest.raises(ValueError, match="overlaps"):
        k.all([*cache.unbind(1), cache[2:3, 30]])


@pytest.mark.parametrize(
    "shared",
    [
        torch.zeros(1, 3).expand(2, 3),
        torch.zeros(4).as_strided((2, 3), (1, 1)),
        torch.zeros(20).as_strided((3, 4), (3, 2)),
        np.lib.stride_tricks.sliding_window_view(np.zeros(6, np.float32), 3, writeable=True),
    ],
    ids=["stride_0", "stride_1_twice", "two_steps_of_3_are_three_of_2", "sliding_window"],
)
def test_elements_that_share_memory_are_not_written(k: Any, shared: Any) -> None:
    for call in (lambda: k.inc(shared), lambda: k.all([shared])):
        with pytest.raises(ValueError, match=r"expected each element to have memory of its own to write to"):
            call()


@pytest.mark.parametrize(
    "own",
    [
        torch.zeros(3, 2).t(),
        torch.zeros(4, 6)[::2, ::3],
        torch.zeros(20).as_strided((3, 2), (2, 3)),
        torch.zeros(3).as_strided((1, 3), (0, 1)),
        np.zeros((3, 4), np.float32)[::-1, ::-2],
    ],
    ids=["transposed", "every_second", "strides_2_and_3", "one_row", "backwards"],
)
def test_elements_of_their_own_are_written(k: Any, own: Any) -> None:
    k.inc(own)
    np.testing.assert_array_equal(own, np.ones(own.shape))


def test_a_search_that_takes_too_long_is_a_refusal_that_says_so(k: Any) -> None:
    # A sum of some of 40 numbers: nothing but trying tells.
    steps = [4 * int(n) + 2 for n in np.random.default_rng(0).integers(2**18, 2**19, 40)]
    whole = torch.zeros(1 + sum(steps))
    many = kernpack.load_inline(
        "void set(kp::MutTensorView a, kp::TensorView b) {}",
        {"set": "(a!: f32[...] strided, b: f32[]) -> ()"},
        name="m",
    )
    with pytest.raises(ValueError, match=r"set: a: .* (may overlap b|may share it) \(the search .* was given up\)"):
        many.set(whole.as_strided((2,) * 40, steps), whole[sum(steps) // 4 * 2])
