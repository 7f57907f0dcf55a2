// Kernels with gradients for the JAX tests: each shows one rule of KP_GRAD.
#include <kernpack/kernel.h>

#include <algorithm>
#include <complex>
#include <cstring>

namespace kp = kernpack;

namespace {

template <class F>
void ForFloats(kp::TensorView x, F f) {
  kp::dispatch<float, double>(x.dtype(), [&](auto t) { f(typename decltype(t)::type()); });
}

// out = x * w over the last dimension.
void Scale(kp::TensorView x, kp::TensorView w, kp::MutTensorView out) {
  ForFloats(x, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < x.numel(); ++i) {
      out.data_ptr<T>()[i] = x.data_ptr<T>()[i] * w.data_ptr<T>()[i % w.numel()];
    }
  });
}

void ScaleBackward(kp::TensorView d_out, kp::TensorView x, kp::TensorView w, kp::MutTensorView d_x,
                   kp::MutTensorView d_w) {
  ForFloats(x, [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(d_w.data_ptr<T>(), d_w.numel(), T(0));
    for (int64_t i = 0; i < x.numel(); ++i) {
      d_x.data_ptr<T>()[i] = d_out.data_ptr<T>()[i] * w.data_ptr<T>()[i % w.numel()];
      d_w.data_ptr<T>()[i % w.numel()] += d_out.data_ptr<T>()[i] * x.data_ptr<T>()[i];
    }
  });
}

// out = a * b, whose backward is made of `times` itself, to any order.
void Times(kp::TensorView a, kp::TensorView b, kp::MutTensorView out) {
  ForFloats(a, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < a.numel(); ++i) out.data_ptr<T>()[i] = a.data_ptr<T>()[i] * b.data_ptr<T>()[i];
  });
}
int64_t g_left_runs = 0;
void TimesLeft(kp::TensorView d_out, kp::TensorView b, kp::MutTensorView d_a) {
  ++g_left_runs;
  Times(d_out, b, d_a);
}
void TimesRight(kp::TensorView d_out, kp::TensorView a, kp::MutTensorView d_b) { Times(d_out, a, d_b); }
int64_t LeftRuns() { return g_left_runs; }

// out = x * x, root = 2 * x saved for the backward; `count` has no gradient.
void Square(kp::TensorView x, double factor, kp::MutTensorView out, kp::MutTensorView count, kp::MutTensorView twice) {
  count.data_ptr<int32_t>()[0] = static_cast<int32_t>(x.numel());
  ForFloats(x, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < x.numel(); ++i) {
      const T v = x.data_ptr<T>()[i];
      out.data_ptr<T>()[i] = static_cast<T>(factor) * v * v;
      twice.data_ptr<T>()[i] = 2 * v;
    }
  });
}
void SquareBackward(kp::TensorView d_out, kp::TensorView twice, double factor, kp::MutTensorView d_x) {
  ForFloats(twice, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < twice.numel(); ++i) {
      d_x.data_ptr<T>()[i] = d_out.data_ptr<T>()[i] * twice.data_ptr<T>()[i] * static_cast<T>(factor);
    }
  });
}

// Two results; the cotangent of one that nobody used is None.
void Both(kp::TensorView x, kp::MutTensorView once, kp::MutTensorView twice) {
  ForFloats(x, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < x.numel(); ++i) {
      once.data_ptr<T>()[i] = x.data_ptr<T>()[i];
      twice.data_ptr<T>()[i] = 2 * x.data_ptr<T>()[i];
    }
  });
}
void BothBackward(kp::TensorView x, kp::TensorView d_once, std::optional<kp::TensorView> d_twice,
                  kp::MutTensorView d_x) {
  ForFloats(x, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < d_x.numel(); ++i) {
      d_x.data_ptr<T>()[i] =
          d_once.data_ptr<T>()[i] + (d_twice ? 2 * d_twice->data_ptr<T>()[i] : T(1000));  // 1000: it was None
    }
  });
}

// out = x * x over complex numbers, in torch's convention.
void ComplexSquare(kp::TensorView x, kp::MutTensorView out) {
  using C = std::complex<double>;
  for (int64_t i = 0; i < x.numel(); ++i) {
    static_cast<C*>(out.data_ptr())[i] =
        static_cast<const C*>(x.data_ptr())[i] * static_cast<const C*>(x.data_ptr())[i];
  }
}
void ComplexSquareBackward(kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_x) {
  using C = std::complex<double>;
  for (int64_t i = 0; i < x.numel(); ++i) {
    static_cast<C*>(d_x.data_ptr())[i] =
        static_cast<const C*>(d_out.data_ptr())[i] * std::conj(2.0 * static_cast<const C*>(x.data_ptr())[i]);
  }
}

// out = x + mask, the mask broadcast over "..." by the kernel, items taken from a list added.
void Mixed(kp::TensorView x, kp::TensorView mask, kp::ListView<kp::TensorView> more, kp::MutTensorView out) {
  ForFloats(x, [&](auto zero) {
    using T = decltype(zero);
    const int64_t width = x.size(-1);
    for (int64_t i = 0; i < x.numel(); ++i) {
      int64_t row = i / width, at = 0, stride = 1;
      for (int64_t d = x.dim() - 2; d >= 0; --d) {
        if (mask.size(d) != 1) at += row % x.size(d) * stride;
        stride *= mask.size(d);
        row /= x.size(d);
      }
      T sum = x.data_ptr<T>()[i] + mask.data_ptr<T>()[at * width + i % width];
      for (size_t j = 0; j < more.size(); ++j) sum += more[j].data_ptr<T>()[i % width];
      out.data_ptr<T>()[i] = sum;
    }
  });
}
// out = 2 * x where keep, else 0; `rows` is a whole number that nothing reads.
void Chosen(kp::TensorView x, kp::TensorView keep, kp::TensorView, kp::MutTensorView out) {
  ForFloats(x, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < x.numel(); ++i) {
      out.data_ptr<T>()[i] = keep.data_ptr<bool>()[i] ? 2 * x.data_ptr<T>()[i] : T(0);
    }
  });
}

void MixedBackward(kp::TensorView d_out, kp::MutTensorView d_x) { Times(d_out, d_out, d_x); }

// out[d] += factor * a[n, d] * b[n, d], for all rows n.
void AddRows(kp::TensorView a, kp::TensorView b, double factor, kp::MutTensorView out) {
  ForFloats(a, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < a.numel(); ++i) {
      out.data_ptr<T>()[i % out.numel()] += static_cast<T>(factor) * a.data_ptr<T>()[i] * b.data_ptr<T>()[i];
    }
  });
}

void Clear(kp::MutTensorView x) { std::memset(x.data_ptr(), 0, static_cast<size_t>(x.nbytes())); }

// out = sum over the items of (1 + the item's number) * the sum of its squared rows.
void Ranked(kp::ListView<kp::TensorView> xs, kp::MutTensorView out) {
  Clear(out);
  for (size_t i = 0; i < xs.size(); ++i) AddRows(xs[i], xs[i], 1.0 + static_cast<double>(i), out);
}
void RankedBackward(kp::TensorView d_out, kp::TensorView item, int64_t index, kp::MutTensorView d_item) {
  ForFloats(item, [&](auto zero) {
    using T = decltype(zero);
    const T factor = static_cast<T>(2 * (index + 1));
    for (int64_t i = 0; i < item.numel(); ++i) {
      d_item.data_ptr<T>()[i] = factor * item.data_ptr<T>()[i] * d_out.data_ptr<T>()[i % d_out.numel()];
    }
  });
}
void RankedSecond(kp::TensorView d_d_item, kp::TensorView d_out, kp::TensorView item, int64_t index,
                  kp::MutTensorView d_d_out, kp::MutTensorView d_item) {
  Clear(d_d_out);
  AddRows(d_d_item, item, 2.0 * static_cast<double>(index + 1), d_d_out);
  RankedBackward(d_out, d_d_item, index, d_item);
}

void Plain(kp::TensorView x, kp::MutTensorView out) {
  ForFloats(x, [&](auto zero) {
    using T = decltype(zero);
    std::copy_n(x.data_ptr<T>(), x.numel(), out.data_ptr<T>());
  });
}

void RowSums(kp::TensorView x, kp::MutTensorView out) {
  ForFloats(x, [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(out.data_ptr<T>(), out.numel(), T(0));
    for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<T>()[i % out.numel()] += x.data_ptr<T>()[i];
  });
}

void Power(kp::TensorView x, kp::TensorView by, kp::MutTensorView out) {
  ForFloats(x, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<T>()[i] = x.data_ptr<T>()[i] * by.data_ptr<T>()[0];
  });
}

}  // namespace

#define FLOATS " where T in {f32, f64}"
KP_MODULE("jax_gradients", "1.0.0");
KP_EXPORT(scale, Scale, "(x: T[..., D], w: T[D]) -> (out: T[..., D])" FLOATS);
KP_EXPORT(scale_backward, ScaleBackward,
          "(d_out: T[..., D], x: T[..., D], w: T[D]) -> (d_x: T[..., D], d_w: T[D] sum)" FLOATS);
KP_GRAD(scale, scale_backward);
KP_EXPORT(times, Times, "(a: T[...], b: T[...]) -> (out: T[...])" FLOATS);
KP_EXPORT(times_left, TimesLeft, "(d_out: T[...], b: T[...]) -> (d_a: T[...])" FLOATS);
KP_EXPORT(times_right, TimesRight, "(d_out: T[...], a: T[...]) -> (d_b: T[...])" FLOATS);
KP_EXPORT(times_left_d, Times, "(d_d_a: T[...], b: T[...]) -> (d_d_out: T[...])" FLOATS);
KP_EXPORT(times_left_b, Times, "(d_d_a: T[...], d_out: T[...]) -> (d_b: T[...])" FLOATS);
KP_EXPORT(times_right_d, Times, "(d_d_b: T[...], a: T[...]) -> (d_d_out: T[...])" FLOATS);
KP_EXPORT(times_right_a, Times, "(d_d_b: T[...], d_out: T[...]) -> (d_a: T[...])" FLOATS);
KP_GRAD(times, times_left);
KP_GRAD(times, times_right);
KP_GRAD(times_left, times_left_d);
KP_GRAD(times_left, times_left_b);
KP_GRAD(times_right, times_right_d);
KP_GRAD(times_right, times_right_a);
KP_EXPORT(left_runs, LeftRuns);
KP_EXPORT(square, Square,
          "(x: T[...], *, factor: float = 1.0) -> (out: T[...], count: i32[], twice: T[...] aux)" FLOATS);
KP_EXPORT(square_backward, SquareBackward, "(d_out: T[...], twice: T[...], *, factor: float) -> (d_x: T[...])" FLOATS);
KP_GRAD(square, square_backward);
KP_EXPORT(both, Both, "(x: T[N]) -> (once: T[N], twice: T[N])" FLOATS);
KP_EXPORT(both_backward, BothBackward, "(x: T[N], d_once: T[N], d_twice: T[N]?) -> (d_x: T[N])" FLOATS);
KP_GRAD(both, both_backward);
KP_EXPORT(complex_square, ComplexSquare, "(x: c128[...]) -> (out: c128[...])");
KP_EXPORT(complex_square_backward, ComplexSquareBackward, "(d_out: c128[...], x: c128[...]) -> (d_x: c128[...])");
KP_GRAD(complex_square, complex_square_backward);
KP_EXPORT(mixed, Mixed,
          "(x: T[..., D], mask: T[~..., D], more: list[T[D]]) -> (out: T[..., D]) where T in {f32, f64} "
          "with nondiff(mask, more)");
KP_EXPORT(mixed_backward, MixedBackward, "(d_out: T[...]) -> (d_x: T[...])" FLOATS);
KP_GRAD(mixed, mixed_backward);
KP_EXPORT(chosen, Chosen,
          "(x: T[..., D], keep: bool[..., D], rows: i64[D]) -> (out: T[..., D]) where T in {f32, f64} "
          "with nondiff(keep, rows)");
KP_EXPORT(chosen_backward, Chosen, "(d_out: T[..., D], keep: bool[..., D], rows: i64[D]) -> (d_x: T[..., D])" FLOATS);
KP_GRAD(chosen, chosen_backward);
KP_EXPORT(ranked, Ranked, "(xs: list[T[_, D]]) -> (out: T[D])" FLOATS);
KP_EXPORT(ranked_backward, RankedBackward, "(d_out: T[D], xs_item: T[N, D], xs_index: int) -> (d_xs: T[N, D])" FLOATS);
KP_EXPORT(
    ranked_second, RankedSecond,
    "(d_d_xs: T[N, D], d_out: T[D], xs_item: T[N, D], xs_index: int) -> (d_d_out: T[D], d_xs_item: T[N, D])" FLOATS);
KP_GRAD(ranked, ranked_backward);
KP_GRAD(ranked_backward, ranked_second);
KP_EXPORT(plain, Plain, "(x: T[N]) -> (out: T[N])" FLOATS);
KP_EXPORT(shifted, Times, "(x: T[N], by: T[N]) -> (out: T[N]) where T in {f32, f64} with nondiff(by)");
KP_EXPORT(row_sums, RowSums, "(x: T[..., D]) -> (out: T[D] sum)" FLOATS);
KP_EXPORT(whole_sums, RowSums, "(x: T[..., D]) -> (out: T[D])" FLOATS);
KP_EXPORT(power, Power, "(x: T[...], by: T[]) -> (out: T[...])" FLOATS);
