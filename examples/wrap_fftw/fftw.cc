// FFTW as ops of PyTorch, JAX and NumPy: complex and real transforms over the last dimension, with gradients.
#include <fftw3.h>
#include <kernpack/kernel.h>

#include <map>
#include <mutex>
#include <utility>

namespace kp = kernpack;

namespace {

using Complex = fftwf_complex;
enum Kind { kForward = FFTW_FORWARD, kInverse = FFTW_BACKWARD, kReal = 2, kToReal = 3 };

// FFTW plans one at a time, and runs one plan on many threads at once. A plan is for one row, anywhere in memory.
fftwf_plan PlanFor(int64_t n, Kind kind) {
  static std::mutex mutex;
  static std::map<std::pair<int64_t, Kind>, fftwf_plan> plans;
  KP_CHECK(n <= 0x7fffffff, ValueError) << "expected a last dimension below 2^31, got " << n;
  const std::lock_guard lock(mutex);
  fftwf_plan& plan = plans[{n, kind}];
  if (!plan) {
    const int size = static_cast<int>(n);
    const unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED;
    auto* in = static_cast<Complex*>(fftwf_malloc(sizeof(Complex) * static_cast<size_t>(n + 2)));
    auto* out = static_cast<Complex*>(fftwf_malloc(sizeof(Complex) * static_cast<size_t>(n + 2)));
    if (in && out) {
      plan = kind == kReal     ? fftwf_plan_dft_r2c_1d(size, &in[0][0], out, flags)
             : kind == kToReal ? fftwf_plan_dft_c2r_1d(size, in, &out[0][0], flags)
                               : fftwf_plan_dft_1d(size, in, out, kind, flags);
    }
    fftwf_free(in);
    fftwf_free(out);
    KP_CHECK(plan, MemoryError) << "FFTW made no plan for " << n << " elements";
  }
  return plan;
}

template <class F>
void ForRows(int64_t rows, int64_t n, F f) {
  kp::parallel_for(rows, 1 + (1 << 14) / (n + 1), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) f(row);
  });
}

Complex* Base(kp::TensorView x) { return reinterpret_cast<Complex*>(const_cast<void*>(x.data_ptr())); }
Complex* Base(kp::MutTensorView x) { return static_cast<Complex*>(x.data_ptr()); }

void Transform(kp::TensorView x, bool inverse, double scale, kp::MutTensorView out) {
  const int64_t n = x.size(-1);
  if (x.numel() == 0) return;
  const fftwf_plan plan = PlanFor(n, inverse ? kInverse : kForward);
  ForRows(x.numel() / n, n, [&](int64_t row) {
    Complex* to = Base(out) + row * n;
    fftwf_execute_dft(plan, Base(x) + row * n, to);
    for (int64_t i = 0; scale != 1 && i < n; ++i) {
      to[i][0] *= static_cast<float>(scale);
      to[i][1] *= static_cast<float>(scale);
    }
  });
}

void Fft(kp::TensorView x, bool inverse, double scale, kp::MutTensorView out) { Transform(x, inverse, scale, out); }
// The transform is linear: its adjoint is the one of the other sign.
void FftAdjoint(kp::TensorView d_out, bool inverse, double scale, kp::MutTensorView d_x) {
  Transform(d_out, !inverse, scale, d_x);
}

void Rfft(kp::TensorView x, kp::MutTensorView out) {
  const int64_t n = x.size(-1);
  if (x.numel() == 0) return;
  const kp::Span<const float> from(x);
  const fftwf_plan plan = PlanFor(n, kReal);
  ForRows(x.numel() / n, n, [&](int64_t row) {
    // FFTW promises not to write the input of a transform to another place, but for those to real numbers.
    fftwf_execute_dft_r2c(plan, const_cast<float*>(from.data()) + row * n, Base(out) + row * (n / 2 + 1));
  });
}

// FFTW's transform to real numbers counts the bins between the ends twice, once for their mirror images.
void RfftBackward(kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_x, kp::MutTensorView space) {
  const int64_t n = x.size(-1), bins = n / 2 + 1;
  if (x.numel() == 0) return;
  const kp::Span<float> to(d_x);
  const fftwf_plan plan = PlanFor(n, kToReal);
  ForRows(x.numel() / n, n, [&](int64_t row) {
    const Complex* from = Base(d_out) + row * bins;
    Complex* half = Base(space) + row * bins;
    for (int64_t k = 0; k < bins; ++k) {
      const float weight = k == 0 || 2 * k == n ? 1 : 0.5F;
      half[k][0] = from[k][0] * weight;
      half[k][1] = from[k][1] * weight;
    }
    fftwf_execute_dft_c2r(plan, half, to.data() + row * n);
  });
}

}  // namespace

KP_MODULE("fftw_ops", "1.0.0");

KP_DOC(fft, "The discrete Fourier transform over the last dimension, times scale; inverse: with the other sign.");
KP_EXPORT(fft, Fft, "(x: c64[..., N] compact, *, inverse: bool = False, scale: float = 1.0) -> (out: c64[..., N])");
KP_EXPORT(fft_backward, FftAdjoint,
          "(d_out: c64[..., N] compact, *, inverse: bool, scale: float) -> (d_x: c64[..., N])");
KP_EXPORT(fft_backward_backward, Fft,
          "(d_d_x: c64[..., N] compact, *, inverse: bool, scale: float) -> (d_d_out: c64[..., N])");
KP_EXPORT(fft_jvp, Fft, "(t_x: c64[..., N] compact, *, inverse: bool, scale: float) -> (t_out: c64[..., N])");
KP_GRAD(fft, fft_backward);
KP_GRAD(fft_backward, fft_backward_backward);
KP_JVP(fft, fft_jvp);

KP_DOC(rfft, "The first half of the transform of real numbers; the other half mirrors it.");
KP_EXPORT(rfft, Rfft, "(x: f32[..., N] compact) -> (out: c64[..., N // 2 + 1])");
KP_EXPORT(
    rfft_backward, RfftBackward,
    "(d_out: c64[..., N // 2 + 1] compact, x: f32[..., N]) -> (d_x: f32[..., N]) with workspace = 8 * numel(d_out)");
KP_EXPORT(rfft_jvp, Rfft, "(t_x: f32[..., N] compact) -> (t_out: c64[..., N // 2 + 1])");
KP_GRAD(rfft, rfft_backward);
KP_JVP(rfft, rfft_jvp);
