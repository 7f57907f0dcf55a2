// Kernels built with apache-tvm-ffi's SDK that know nothing of contracts: they write to their last arguments and check nothing.
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

#include <cmath>

namespace ffi = tvm::ffi;

namespace {

const float* In(const ffi::TensorView& x) { return static_cast<const float*>(x.data_ptr()); }
float* Out(const ffi::TensorView& x) { return static_cast<float*>(x.data_ptr()); }

// y = x * k
void Scale(ffi::TensorView x, double k, ffi::TensorView y) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(y)[i] = In(x)[i] * static_cast<float>(k);
}

// The result first, and sizes as numbers, as generated kernels take them. scale: may be None.
void RowSums(ffi::TensorView sums, ffi::TensorView x, ffi::Optional<ffi::TensorView> scale, int64_t rows,
             int64_t columns, bool mean) {
  for (int64_t i = 0; i < rows; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < columns; ++j) sum += In(x)[i * columns + j] * (scale ? In(*scale)[j] : 1);
    Out(sums)[i] = mean ? sum / static_cast<float>(columns) : sum;
  }
}

void Sine(ffi::TensorView x, ffi::TensorView y) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(y)[i] = std::sin(In(x)[i]);
}

// d * cos(x): the gradient of sine, and its tangent.
void TimesCosine(ffi::TensorView x, ffi::TensorView d, ffi::TensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = In(d)[i] * std::cos(In(x)[i]);
}

void AddTo(ffi::TensorView total, ffi::TensorView x) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(total)[i] += In(x)[i];
}

ffi::Tensor Doubled(ffi::TensorView x) {
  ffi::Tensor y = ffi::Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, x.shape(), x.dtype(), x.device());
  for (int64_t i = 0; i < x.numel(); ++i) static_cast<float*>(y.data_ptr())[i] = 2 * In(x)[i];
  return y;
}

void Picky(ffi::TensorView x, ffi::TensorView) {
  if (x.size(0) % 2 != 0) TVM_FFI_THROW(ValueError) << "picky takes even sizes";
}

void Counted(ffi::PackedArgs args, ffi::Any*) {
  if (args.size() != 3) TVM_FFI_THROW(TypeError) << "counted takes 3 arguments, got " << args.size();
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(scale, Scale);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(row_sums_f32, RowSums);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(sine, Sine);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(times_cosine, TimesCosine);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(add_to, AddTo);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(doubled, Doubled);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(picky, Picky);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(untouched, Scale);
extern "C" __attribute__((visibility("default"))) int __tvm_ffi_counted(void*, const TVMFFIAny* args, int32_t count,
                                                                        TVMFFIAny* result) {
  TVM_FFI_SAFE_CALL_BEGIN();
  Counted(ffi::PackedArgs(reinterpret_cast<const ffi::AnyView*>(args), count), reinterpret_cast<ffi::Any*>(result));
  TVM_FFI_SAFE_CALL_END();
}
