#include <kernpack/kernel.h>

#include <cmath>

namespace kp = kernpack;

namespace {

void RowNorm(kp::TensorView x, double eps, kp::MutTensorView out) {
  const kp::Span<const float> in(x);
  const kp::Span<float> norms(out);
  const int64_t columns = x.size(-1);
  kp::parallel_for(norms.size(), 64, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      double sum = eps;
      for (int64_t c = 0; c < columns; ++c) sum += double{in[row * columns + c]} * in[row * columns + c];
      norms[row] = static_cast<float>(std::sqrt(sum));
    }
  });
}

}  // namespace

KP_MODULE("row_norm", "1.0.0");
KP_DOC(row_norm, "The Euclidean norm of each row.");
KP_EXPORT(row_norm, RowNorm, "(x: f32[..., D], *, eps: float = 0.0) -> (out: f32[...]) where D > 0");
