"""The kernels that the wrong calls are made on. None of them is ever entered, but those that fail on purpose."""

from __future__ import annotations

NAME = "error_tests"
SOURCE = r"""
#include <new>
#include <stdexcept>

void rows(kp::TensorView a, kp::TensorView w, int64_t n, kp::MutTensorView out) {}
void two(kp::TensorView a, kp::MutTensorView low, kp::MutTensorView high) {}
void grouped(kp::TensorView q, kp::TensorView k, kp::MutTensorView probs) {}
void bump(kp::MutTensorView x) {}
void kinds(kp::TensorView x, int64_t i, double f, bool b, kp::StringView s, kp::DType t, std::optional<kp::Device> d,
           kp::MutTensorView out) {}
void many(kp::ListView<kp::TensorView> xs, kp::MutTensorView out) {}
void divide(int64_t n, kp::TensorView x, kp::MutTensorView out) {}
void on_cpu(kp::TensorView x, kp::TensorView lengths) {}
void fill_ones(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < out.numel(); ++i) out.data_ptr<float>()[i] = 1;
}

int add(int a, int b) { return a + b; }
int64_t narrow(int8_t a, uint8_t b, int16_t c, uint16_t d, int32_t e, uint32_t f, uint64_t g) {
  return int64_t{a} + b + c + d + e + f + static_cast<int64_t>(g);
}
double half(double x) { return x / 2; }
bool flip(bool x) { return !x; }
kp::Any echo(kp::Any x) { return x; }
int64_t length(kp::StringView s) { return static_cast<int64_t>(s.size()); }
void touch(kp::TensorView x) {}
kp::Any apply(kp::Function f, kp::Any x) { return f(x); }

void throw_int() { throw 42; }
void throw_text() { throw "text"; }
void throw_std() { throw std::runtime_error("from the standard library"); }
void throw_range() { throw std::out_of_range("index 9"); }
void throw_memory() { throw std::bad_alloc(); }
void throw_kind(kp::StringView text) { KP_THROW(LookupError) << text; }
void throw_odd() { KP_THROW(OddError) << "odd"; }
void check(int64_t n) { KP_CHECK(n < 3, ValueError) << "check: n: expected less than 3, got " << n; }
void typed_throw(kp::TensorView x, kp::MutTensorView out) { throw 42; }
void typed_std(kp::TensorView x, kp::MutTensorView out) { throw std::runtime_error("told"); }
void in_parallel() {
  kp::parallel_for(8, 1, [](int64_t begin, int64_t) {
    if (begin == 0) throw std::runtime_error("told");
  });
}
void in_factory() {
  kp::storage_get_or_init("never", []() -> int64_t { throw std::runtime_error("told"); });
}
kp::Function makes_thrower() {
  return kp::Function::from([](int64_t n) { throw std::runtime_error("told"); });
}
"""

FUNCTIONS: dict[str, str | None] = {
    "rows": "(a: T[N, D], w: T[D], *, n: int = 1) -> (out: T[N, D]) where T in {f32, f64}",
    "two": "(a: f32[N]) -> (low: f32[N], high: f32[N])",
    "grouped": "(q: f32[H, N], k: f32[G, N]) -> (probs: f32[H]) where H % G == 0",
    "bump": "(x!: f32[N]) -> ()",
    "kinds": '(x: f32[N], *, i: int = 1, f: float = 1.0, b: bool = False, s: str in {"add", "sub"} = "add",'
    " t: dtype = f32, d: device? = None) -> (out: f32[N])",
    "many": "(xs: list[f32[N]]) -> (out: f32[N])",
    "divide": "(n: int, x: f32[N]) -> (out: f32[N // n]) where n < 100",
    "on_cpu": "(x: f32[N], lengths: i64[B] @cpu) -> ()",
    "fill_ones": "(x: f32[..., N]) -> (out: f32[..., N])",
    "typed_throw": "(x: f32[N]) -> (out: f32[N])",
    "typed_std": "(x: f32[N]) -> (out: f32[N])",
    **dict.fromkeys(
        [
            "add",
            "narrow",
            "half",
            "flip",
            "echo",
            "length",
            "touch",
            "apply",
            "throw_int",
            "throw_text",
            "throw_std",
            "throw_range",
            "throw_memory",
            "throw_kind",
            "throw_odd",
            "check",
            "in_parallel",
            "in_factory",
            "makes_thrower",
        ]
    ),
}
