// The same small kernels as hand-written operators of torch.
#include <torch/library.h>

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>

namespace {

void Run(const at::Tensor& x, const at::Tensor& y, double factor, at::Tensor& out) {
  TORCH_CHECK(x.is_contiguous() && y.is_contiguous() && x.sizes() == y.sizes() && x.dtype() == y.dtype());
  const float* a = x.const_data_ptr<float>();
  const float* b = y.const_data_ptr<float>();
  float* o = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) o[i] = a[i] + static_cast<float>(factor) * b[i];
}

at::Tensor Blend(const at::Tensor& x, const at::Tensor& y, double factor) {
  at::Tensor out = at::empty_like(x);
  Run(x, y, factor, out);
  return out;
}

at::Tensor Double(const at::Tensor& x) {
  at::Tensor out = at::empty_like(x);
  Run(x, x, 1.0, out);
  return out;
}

void Increase(at::Tensor& x, const at::Tensor& y) { Run(x, y, 1.0, x); }

// As torch's own operators do: autograd learns of the write.
void IncreaseCounted(c10::DispatchKeySet keys, at::Tensor& x, const at::Tensor& y) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("bench_peer::increase", "")
                             .typed<void(at::Tensor&, const at::Tensor&)>();
  {
    const at::AutoDispatchBelowADInplaceOrView guard;
    op.redispatch(keys & c10::after_ADInplaceOrView_keyset, x, y);
  }
  torch::autograd::increment_version(x);
}

}  // namespace

TORCH_LIBRARY(bench_peer, m) {
  m.def("blend(Tensor x, Tensor y, *, float factor) -> Tensor", {at::Tag::pt2_compliant_tag});
  m.def("increase(Tensor(a!) x, Tensor y) -> ()", {at::Tag::pt2_compliant_tag});
  m.def("twice(Tensor x) -> Tensor", {at::Tag::pt2_compliant_tag});
}

TORCH_LIBRARY_IMPL(bench_peer, CPU, m) {
  m.impl("blend", &Blend);
  m.impl("increase", &Increase);
  m.impl("twice", &Double);
}

TORCH_LIBRARY_IMPL(bench_peer, ADInplaceOrView, m) { m.impl("increase", &IncreaseCounted); }
