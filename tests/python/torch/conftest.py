"""The installed kernel wheel and a module of small kernels, for the torch tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed")

import kernpack
import torch

SOURCE = r"""
template <class F> void each(kp::TensorView x, kp::MutTensorView out, F f) {
  kp::dispatch<float, double>(x.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<T>()[i] = static_cast<T>(f(x.data_ptr<T>()[i]));
  });
}
void scale(kp::TensorView x, double f, kp::MutTensorView out) { each(x, out, [&](auto v) { return v * f; }); }
void plain(kp::TensorView x, kp::MutTensorView out) { each(x, out, [&](auto v) { return v + 1; }); }
void bump(kp::MutTensorView x) { each(x, x, [&](auto v) { return v + 1; }); }
void top(kp::TensorView x, int64_t k, kp::MutTensorView values, kp::MutTensorView indices) {
  const int64_t n = x.size(-1), rows = n ? x.numel() / n : 0;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < k; ++i) {
      values.data_ptr<float>()[r * k + i] = x.data_ptr<float>()[r * n + i];
      indices.data_ptr<int32_t>()[r * k + i] = static_cast<int32_t>(i);
    }
}
void kinds(kp::TensorView x, kp::StringView mode, bool flag, int64_t n, kp::MutTensorView out) {
  each(x, out, [&](auto v) { return v * (mode == "double" ? 2 : 1) + (flag ? 100 : 0) + n; });
}
void cast(kp::TensorView x, kp::DType dtype, kp::MutTensorView out) {
  kp::dispatch<float, double>(out.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<T>()[i] = static_cast<T>(x.data_ptr<float>()[i]);
  });
}
void total(kp::ListView<kp::TensorView> xs, kp::MutTensorView out) {
  each(out, out, [](auto) { return 0; });
  for (kp::TensorView x : xs)
    kp::dispatch<float, double>(x.dtype(), [&](auto t) {
      using T = typename decltype(t)::type;
      for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<T>()[i] += x.data_ptr<T>()[i];
    });
}
// out[d] += factor * sum over the rows of a of a[n, d] * b[n, d]
void add_rows(kp::TensorView a, kp::TensorView b, double factor, kp::MutTensorView out) {
  kp::dispatch<float, double>(a.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    for (int64_t i = 0; i < a.numel(); ++i)
      out.data_ptr<T>()[i % out.numel()] += static_cast<T>(factor) * a.data_ptr<T>()[i] * b.data_ptr<T>()[i];
  });
}
// out[n, d] = factor * a[n, d] * d[d]
void times_row(kp::TensorView a, kp::TensorView d, double factor, kp::MutTensorView out) {
  kp::dispatch<float, double>(a.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    for (int64_t i = 0; i < a.numel(); ++i)
      out.data_ptr<T>()[i] = static_cast<T>(factor) * a.data_ptr<T>()[i] * d.data_ptr<T>()[i % d.numel()];
  });
}
void ranked(kp::ListView<kp::TensorView> xs, kp::MutTensorView out) {
  each(out, out, [](auto) { return 0; });
  double factor = 0;
  for (kp::TensorView x : xs) add_rows(x, x, ++factor, out);
}
void ranked_backward(kp::TensorView d_out, kp::TensorView xs_item, int64_t xs_index, kp::MutTensorView d_xs) {
  times_row(xs_item, d_out, 2.0 * static_cast<double>(xs_index + 1), d_xs);
}
void ranked_second(kp::TensorView d_d_xs, kp::TensorView d_out, kp::TensorView xs_item, int64_t xs_index,
                   kp::MutTensorView d_d_out, kp::MutTensorView d_xs_item) {
  each(d_d_out, d_d_out, [](auto) { return 0; });
  add_rows(d_d_xs, xs_item, 2.0 * static_cast<double>(xs_index + 1), d_d_out);
  times_row(d_d_xs, d_out, 2.0 * static_cast<double>(xs_index + 1), d_xs_item);
}
void square(kp::TensorView x, kp::MutTensorView out, kp::MutTensorView twice) {
  each(x, out, [](auto v) { return v * v; });
  each(x, twice, [](auto v) { return 2 * v; });
}
void product(kp::TensorView a, kp::TensorView b, kp::MutTensorView out) {
  kp::dispatch<float, double>(a.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    for (int64_t i = 0; i < a.numel(); ++i) out.data_ptr<T>()[i] = a.data_ptr<T>()[i] * b.data_ptr<T>()[i];
  });
}
void square_backward(kp::TensorView d_out, kp::TensorView twice, kp::MutTensorView d_x) { product(d_out, twice, d_x); }
void cube(kp::TensorView x, kp::MutTensorView out) { each(x, out, [](auto v) { return v * v * v; }); }
void cube_backward(kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_x) {
  each(x, d_x, [](auto v) { return 3 * v * v; });
  product(d_out, d_x, d_x);
}
void cube_second(kp::TensorView d_d_x, kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_d_out,
                 kp::MutTensorView d_x) {
  each(x, d_d_out, [](auto v) { return 3 * v * v; });
  product(d_d_x, d_d_out, d_d_out);
  each(x, d_x, [](auto v) { return 6 * v; });
  product(d_out, d_x, d_x);
  product(d_d_x, d_x, d_x);
}
void where_add(kp::TensorView x, std::optional<kp::TensorView> y, kp::MutTensorView out) {
  each(x, out, [](auto v) { return v; });
  if (y)
    kp::dispatch<float, double>(x.dtype(), [&](auto t) {
      using T = typename decltype(t)::type;
      for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<T>()[i] += y->data_ptr<T>()[i];
    });
}
void scale_by(kp::TensorView x, double factor, kp::TensorView w, kp::MutTensorView out) {
  product(x, w, out);
  each(out, out, [&](auto v) { return v * factor; });
}
void scale_by_backward(kp::TensorView d_out, kp::TensorView x, double factor, kp::TensorView w, kp::MutTensorView d_x,
                       kp::MutTensorView d_w) {
  scale_by(d_out, factor, w, d_x);
  scale_by(d_out, factor, x, d_w);
}
void kernel_memory(kp::TensorView x, kp::MutTensorView out, kp::MutTensorView work) {
  each(x, out, [&](auto v) { return v + static_cast<float>(work.numel()); });
}
void weighted(kp::TensorView x, kp::TensorView by, kp::MutTensorView out) { product(x, by, out); }
void weighted_backward(kp::TensorView d_out, kp::TensorView by, kp::MutTensorView d_x) { product(d_out, by, d_x); }
void taken(kp::MutTensorView x, kp::TensorView y, double factor, kp::MutTensorView out) {
  each(y, out, [&](auto v) { return v * factor; });
  each(x, x, [](auto v) { return v + 1; });
}
void refuse(kp::TensorView x, kp::MutTensorView out) { KP_THROW(IndexError) << "not today"; }
KP_GRAD(square, square_backward);
KP_GRAD(weighted, weighted_backward);
KP_GRAD(ranked, ranked_backward);
KP_GRAD(ranked_backward, ranked_second);
KP_GRAD(scale_by, scale_by_backward);
KP_GRAD(cube, cube_backward);
KP_GRAD(cube_backward, cube_second);
"""

BOTH = "where T in {f32, f64}"
FUNCTIONS = {
    "scale": f"(x: T[*S], *, f: float = 2.0) -> (out: T[*S]) {BOTH}",
    "plain": f"(x: T[...]) -> (out: T[...]) {BOTH}",
    "bump": f"(x!: T[...]) -> () {BOTH}",
    "top": "(x: f32[..., N], *, k: int) -> (values: f32[..., k], indices: i32[..., k]) where 0 < k <= N",
    "kinds": '(x: f32[N], *, mode: str in {"single", "double"} = "single", flag: bool = False, n: int = 0) -> (out: f32[N])',
    "cast": "(x: f32[N], *, dtype: dtype) -> (out: dtype[N])",
    "total": f"(xs: list[T[N]]) -> (out: T[N]) {BOTH}",
    "ranked": f"(xs: list[T[_, D]]) -> (out: T[D]) {BOTH}",
    "ranked_backward": f"(d_out: T[D], xs_item: T[N, D], xs_index: int) -> (d_xs: T[N, D]) {BOTH}",
    "ranked_second": "(d_d_xs: T[N, D], d_out: T[D], xs_item: T[N, D], xs_index: int) -> (d_d_out: T[D], d_xs_item: T[N, D]) "
    f"{BOTH}",
    "square": f"(x: T[...]) -> (out: T[...], twice: T[...] aux) {BOTH}",
    "square_backward": f"(d_out: T[...], twice: T[...]) -> (d_x: T[...]) {BOTH}",
    "cube": f"(x: T[...]) -> (out: T[...]) {BOTH}",
    "cube_backward": f"(d_out: T[...], x: T[...]) -> (d_x: T[...]) {BOTH}",
    "cube_second": f"(d_d_x: T[...], d_out: T[...], x: T[...]) -> (d_d_out: T[...], d_x: T[...]) {BOTH}",
    "where_add": f"(x: T[N], y: T[N]? = None) -> (out: T[N]) {BOTH}",
    "scale_by": f"(x: T[...], *, factor: float = 2.0, w: T[...]) -> (out: T[...]) {BOTH}",
    "scale_by_backward": f"(d_out: T[...], x: T[...], *, factor: float, w: T[...]) -> (d_x: T[...], d_w: T[...]) {BOTH}",
    "kernel_memory": "(x: f32[N]) -> (out: f32[N]) with workspace = 4 * N",
    "weighted": f"(x: T[...], by: T[...]) -> (out: T[...]) {BOTH} with nondiff(by), deterministic",
    "weighted_backward": f"(d_out: T[...], by: T[...]) -> (d_x: T[...]) {BOTH} with deterministic",
    "taken": f"(mode!: T[N], cls: T[N], *, factor: float = 2.0) -> (out: T[N]) {BOTH} with nondiff(cls)",
    "refuse": "(x: f32[N]) -> (out: f32[N])",
}


@pytest.fixture(scope="session")
def k() -> kernpack.Module:
    return kernpack.load_inline(SOURCE, FUNCTIONS, name="torch_tests")


@pytest.fixture(scope="session")
def kernels() -> kernpack.Module:
    return kernpack.load("kernpack_kernels")


@pytest.fixture(autouse=True)
def _same_numbers() -> None:
    torch.manual_seed(0)


HOOKS = ("torch.fields", "torch.watchers", "torch.versions", "torch.results")


@pytest.fixture
def without_hooks(k) -> Iterator[None]:
    k.scale(torch.ones(1))
    before = [kernpack._core.use_torch_hook(hook, False) for hook in HOOKS]
    yield
    for hook, on in zip(HOOKS, before, strict=True):
        kernpack._core.use_torch_hook(hook, on)


@pytest.fixture
def slow(k, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of operators whose kernel at the Autograd key ran."""
    from kernpack.torch import _registry

    ran: list[str] = []
    kernels = _registry.of(k.scale).operators._kernels
    list(_registry.of(k.scale).operators)  # completes all of them

    def noting(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any, **kwargs: Any) -> Any:
            ran.append(name)
            return kernel(*args, **kwargs)

        return noted

    for name, kernel in dict(kernels).items():
        monkeypatch.setitem(kernels, name, noting(name, kernel))
    return ran
