// Twice each element of a matrix, by every way to an element, and by pointers taken before the loop.
#include <kernpack/kernel.h>

namespace kp = kernpack;

static void Pointers(kp::TensorView x, kp::MutTensorView out) {
  const float* in = x.data_ptr<float>();
  float* to = out.data_ptr<float>();
  const int64_t n = x.numel();
  for (int64_t i = 0; i < n; ++i) to[i] = 2 * in[i];
}
static void FlatSpan(kp::TensorView x, kp::MutTensorView out) {
  const kp::Span<const float> in(x);
  const kp::Span<float> to(out);
  for (int64_t i = 0; i < in.size(); ++i) to[i] = 2 * in[i];
}
template <template <class, int> class View>
static void Indices(kp::TensorView x, kp::MutTensorView out) {
  const View<const float, 2> in(x);
  const View<float, 2> to(out);
  for (int64_t i = 0; i < in.size(0); ++i)
    for (int64_t j = 0; j < in.size(1); ++j) to(i, j) = 2 * in(i, j);
}
static void At(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.size(0); ++i)
    for (int64_t j = 0; j < x.size(1); ++j) out.at<float>(i, j) = 2 * x.at<float>(i, j);
}
static void DataPtr(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = 2 * x.data_ptr<float>()[i];
}

#define TWICE "(x: f32[N, M]) -> (out: f32[N, M])"
KP_MODULE("elements_bench", "1.0.0");
KP_EXPORT(pointers, Pointers, TWICE);
KP_EXPORT(flat_span, FlatSpan, TWICE);
KP_EXPORT(span, Indices<kp::Span>, TWICE);
KP_EXPORT(accessor, Indices<kp::Accessor>, TWICE);
KP_EXPORT(at, At, TWICE);
KP_EXPORT(data_ptr, DataPtr, TWICE);
