"""One module for the whole suite, compiled once and kept in the inline cache."""

from __future__ import annotations

import kernpack
import pytest

SOURCE = r"""
#include <chrono>
#include <thread>

void nop() {}
int add(int a, int b) { return a + b; }
kp::Any echo(kp::Any x) { return x; }
void fail(int n) { KP_THROW(ValueError) << "n is " << n; }
void fail_oddly() { KP_THROW(KindOfManyThreads) << "odd"; }
void throw_int() { throw 42; }
void touch(kp::TensorView x) {}
void scale(kp::TensorView x, double f, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = static_cast<float>(x.data_ptr<float>()[i] * f);
}
void split(kp::TensorView x, kp::MutTensorView low, kp::MutTensorView high) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    low.data_ptr<float>()[i] = x.data_ptr<float>()[i] - 1;
    high.data_ptr<float>()[i] = x.data_ptr<float>()[i] + 1;
  }
}
void nibbles(kp::TensorView x, kp::MutTensorView out) {}
void bump(kp::MutTensorView x) {
  for (int64_t i = 0; i < x.numel(); ++i) x.data_ptr<float>()[i] += 1;
}
void rows(kp::TensorView a, kp::TensorView w) {}
void add_rows(kp::MutTensorView a, kp::TensorView w) {
  for (int64_t i = 0; i < a.size(0); ++i) {
    for (int64_t j = 0; j < a.size(1); ++j) a.data_ptr<float>()[i * a.stride(0) + j] += w.data_ptr<float>()[j];
  }
}

void scratch(kp::TensorView x, kp::MutTensorView out, kp::MutTensorView workspace) {
  if (workspace.dtype() != kp::u8) KP_THROW(TypeError) << "workspace is " << workspace.dtype();
  for (int64_t i = 0; i < workspace.numel(); ++i) workspace.data_ptr<uint8_t>()[i] = 0xff;
  *out.data_ptr<int64_t>() = workspace.numel();
}
void shift(kp::TensorView x, kp::TensorView by, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = x.data_ptr<float>()[i] + *by.data_ptr<float>();
}
void slow_shape(kp::TensorView x, double seconds, kp::MutTensorView out) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  float sum = 0;
  for (int64_t i = 0; i < x.numel(); ++i) sum += x.data_ptr<float>()[i];
  out.data_ptr<float>()[0] = static_cast<float>(x.size(0));
  out.data_ptr<float>()[1] = sum;
}
void spin(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) kp::check_interrupts();
}
kp::Any apply(kp::Function f, kp::Any x) { return f(x); }
kp::Any give(kp::Function f, kp::TensorView like) { return f(); }
int64_t count_down(kp::Function f, int64_t n) { return n == 0 ? 0 : 1 + f(n - 1).cast<int64_t>(); }
float lend(kp::Function f, kp::TensorView x) { return static_cast<float>(f(x).cast<double>()); }
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
    "nibbles": "(x: f32[N]) -> (out: i4[N])",
    "bump": "(x!: f32[N]) -> () with quick",
    "add_rows": "(a!: f32[N, D] strided, w: f32[D]) -> ()",
    "rows": "(a: T[N, D], w: T[D]) -> () where T in {f32, f64}",
    "scratch": "(x: f32[N]) -> (out: i64[]) with workspace = 4 * N + 3",
    "shift": "(x: f32[N], by: f32[]) -> (out: f32[N])",
    "slow_shape": "(x: f32[N], seconds: float) -> (out: f32[2])",
    "spin": None,
    "apply": None,
    "give": None,
    "count_down": None,
    "lend": None,
}


@pytest.fixture(scope="session")
def k() -> kernpack.Module:
    return kernpack.load_inline(SOURCE, FUNCTIONS, name="core_tests")
