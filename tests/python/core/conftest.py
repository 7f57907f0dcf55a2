"""One module for the whole suite, compiled once and kept in the inline cache."""

from __future__ import annotations

import kernpack
import pytest

SOURCE = r"""
void nop() {}
int add(int a, int b) { return a + b; }
kp::Any echo(kp::Any x) { return x; }
void fail(int n) { KP_THROW(ValueError) << "n is " << n; }
void fail_oddly() { KP_THROW(OddError) << "odd"; }
void throw_int() { throw 42; }
void touch(kp::TensorView x) {}
void scale(kp::TensorView x, double f, kp::TensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = static_cast<float>(x.data_ptr<float>()[i] * f);
}
void split(kp::TensorView x, kp::TensorView low, kp::TensorView high) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    low.data_ptr<float>()[i] = x.data_ptr<float>()[i] - 1;
    high.data_ptr<float>()[i] = x.data_ptr<float>()[i] + 1;
  }
}
void bump(kp::TensorView x) {
  for (int64_t i = 0; i < x.numel(); ++i) x.data_ptr<float>()[i] += 1;
}
void rows(kp::TensorView a, kp::TensorView w) {}
"""

FUNCTIONS = {
    "nop": None,
    "add": None,
    "echo": None,
    "fail": None,
    "fail_oddly": None,
    "throw_int": None,
    "touch": None,
    "scale": "(x: T[*S], *, f: float = 2.0) -> (out: T[*S]) where T in {f32}",
    "split": "(x: T[*S]) -> (low: T[*S], high: T[*S]) where T in {f32}",
    "bump": "(x!: f32[N]) -> () with quick",
    "rows": "(a: T[N, D], w: T[D]) -> () where T in {f32, f64}",
}


@pytest.fixture(scope="session")
def k() -> kernpack.Module:
    return kernpack.load_inline(SOURCE, FUNCTIONS, name="core_tests")
