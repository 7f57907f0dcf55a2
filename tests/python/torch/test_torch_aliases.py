"""A tensor that is written and shares memory with another argument is refused in the same words, however the program runs."""

from __future__ import annotations

import kernpack
import pytest
import torch

SOURCE = """
void add_to(kp::MutTensorView x, kp::TensorView y) {
  for (int64_t i = 0; i < x.numel(); ++i) x.at<float>(i) += y.at<float>(i);
}
void add_all(kp::ListView<kp::MutTensorView> xs, std::optional<kp::TensorView> y, kp::MutTensorView o) {
  for (auto x : xs) if (y) add_to(x, *y);
  o.data_ptr<float>()[0] = 1;
}
void reverse(kp::TensorView s, kp::MutTensorView d) {
  const int64_t n = s.numel();
  for (int64_t i = 0; i < n; ++i) d.data_ptr<float>()[n - 1 - i] = s.data_ptr<float>()[i];
}
"""
TEXTS = {
    "add_to": "(x!: f32[N] strided, y: f32[N] strided) -> ()",
    "add_all": "(xs!: list[f32[N]], y: f32[N]?) -> (o: f32[1])",
    "reverse": "(s: f32[N]) -> (d: f32[N])",
}
CALLS = {
    "given_twice": lambda k, x: k.add_to(x, x),
    "views": lambda k, x: k.add_to(x[:4], x[2:6]),
    "a_view_of_a_copy": lambda k, x: (lambda y: (k.add_to(y[1:], y[:-1]), x.copy_(y)))(x * 2),
    "items": lambda k, x: k.add_all([x[:4], x[2:6]], None),
    "an_item_and_another": lambda k, x: k.add_all([x * 1, x], x),
    "destination": lambda k, x: k.reverse(x, out=x),
}
APART = {
    "halves": lambda k, x: k.add_to(x[:4], x[4:]),
    "interleaved": lambda k, x: k.add_to(x[::2], x[1::2]),
    "interleaved_of_a_copy": lambda k, x: (lambda y: (k.add_to(y[::2], y[1::2]), x.copy_(y)))(x * 2),
    "items": lambda k, x: k.add_all([x[:4], x[4:]], None),
    "a_copy": lambda k, x: k.add_to(x, x.clone()),
    "destination": lambda k, x: k.reverse(x[:4], out=x[4:]),
}


def ways(names, with_inductor):
    """Backends and calls; inductor, which compiles C++, for some of these."""
    return [(b, n) for b in ("eager", "aot_eager") for n in names] + [("inductor", n) for n in with_inductor]


@pytest.fixture(scope="module")
def k():
    return kernpack.load_inline(SOURCE, TEXTS, name="torch_aliases")


def record_step(k, call):
    def step(x):
        call(k, x)
        return x * 1

    return step


@pytest.mark.parametrize(("backend", "name"), ways(CALLS, ["given_twice", "views", "destination"]))
def test_refused_in_the_same_words(k, backend, name):
    step = record_step(k, CALLS[name])
    with pytest.raises(
        ValueError, match="expected memory of its own to write to, got a tensor that overlaps"
    ) as wanted:
        step(torch.ones(8))
    torch.compiler.reset()
    with pytest.raises(ValueError, match="expected memory of its own") as found:
        torch.compile(step, backend=backend, fullgraph=True)(torch.ones(8))
    # A compiled program writes to d by another way than out=.
    assert str(found.value) == str(wanted.value).replace("out (d): ", "d: ")


@pytest.mark.parametrize(("backend", "name"), ways(APART, ["interleaved", "interleaved_of_a_copy"]))
def test_taken_where_no_byte_is_shared(k, backend, name):
    step = record_step(k, APART[name])
    x, y = torch.arange(8.0), torch.arange(8.0)
    torch.compiler.reset()
    assert torch.equal(torch.compile(step, backend=backend, fullgraph=True)(y), step(x))
    assert torch.equal(x, y)


@pytest.mark.parametrize("around", [torch.no_grad, torch.inference_mode])
def test_without_gradients(k, around):
    torch.compiler.reset()
    with around(), pytest.raises(ValueError, match="overlaps y"):
        torch.compile(record_step(k, CALLS["views"]), backend="aot_eager", fullgraph=True)(torch.ones(8))


def test_sizes_that_only_the_run_knows(k):
    torch.compiler.reset()
    compiled = torch.compile(
        lambda x, n: k.add_to(x[: x.shape[0] // 2 + n], x[x.shape[0] // 2 - n :]), backend="aot_eager", dynamic=True
    )
    x = torch.arange(8.0)
    compiled(x, 0)
    assert x.tolist() == [4, 6, 8, 10, 4, 5, 6, 7]
    for n in (1, 2):
        with pytest.raises(ValueError, match="overlaps y"):
            compiled(x, n)


def test_a_program_that_was_exported(k):
    class Module(torch.nn.Module):
        def forward(self, x):
            y = x * 1
            k.add_to(y[:4], y[2:6])
            return y

    program = torch.export.export(Module(), (torch.ones(8),))
    for each in (program, program.run_decompositions()):
        with pytest.raises(ValueError, match="overlaps y"):
            each.module()(torch.ones(8))
