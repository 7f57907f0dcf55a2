// TensorView and MutTensorView: tensors borrowed for the call, to read and to write, with the names that at::Tensor uses.
#ifndef KERNPACK_TENSOR_VIEW_H_
#define KERNPACK_TENSOR_VIEW_H_

#include <kernpack/any.h>
#include <kernpack/call.h>
#include <kernpack/shape.h>
#include <kernpack/signature/memory.h>

// With -DKP_CHECKED_AT=1, at<T>(i, j) checks the dtype, the number of indices and their range.
#ifndef KP_CHECKED_AT
#define KP_CHECKED_AT 0
#endif

KP_NAMESPACE_BEGIN
namespace detail {

[[noreturn]] KP_COLD inline void throw_wrong_dtype(const char* access, DType asked, DType actual) {
  KP_THROW(TypeError) << access << ": the tensor's dtype is " << actual << ", T stores " << asked;
}
[[noreturn]] KP_COLD inline void throw_no_strides() {
  KP_THROW(ValueError) << "strides(): this tensor carries no strides (it is compact row-major); use stride(i)";
}
[[noreturn]] KP_COLD inline void throw_wrong_rank(int given, ShapeView shape) {
  KP_THROW(IndexError) << "at<T>(): expected " << static_cast<int64_t>(shape.size())
                       << (shape.size() == 1 ? " index" : " indices") << " into a tensor of shape " << shape << ", got "
                       << given;
}
[[noreturn]] KP_COLD inline void throw_wrong_index(int dimension, int64_t index, ShapeView shape) {
  KP_THROW(IndexError) << "at<T>(): index " << index << " of dimension " << dimension
                       << " is outside a tensor of shape " << shape;
}

}  // namespace detail

// The members that TensorView, MutTensorView, Tensor and Contiguous share. Sizes and strides are in elements; offsets in bytes.
// Void is the type behind an untyped pointer to the elements: const void if they are read-only.
//
//   const int64_t rows = x.size(0), columns = x.size(-1);
//   if (x.dtype() == kp::f32 && x.is_contiguous()) Run(x.data_ptr<float>(), x.numel());
//   const float last = x.at<float>(rows - 1, columns - 1);
template <class Derived, class Void>
class TensorApi {
  template <class T>
  using Element = std::conditional_t<std::is_const_v<Void>, const T, T>;

 public:
  int64_t dim() const { return t().ndim; }
  ShapeView sizes() const { return {t().shape, static_cast<size_t>(t().ndim)}; }
  ShapeView shape() const { return sizes(); }
  // IndexError outside [-dim, dim).
  int64_t size(int64_t i) const { return sizes().at(i); }
  // ValueError if the tensor has none; every Kernpack binding sets them.
  ShapeView strides() const {
    if (KP_UNLIKELY(!t().strides && t().ndim > 0)) detail::throw_no_strides();
    return {t().strides, static_cast<size_t>(t().ndim)};
  }
  int64_t stride(int64_t i) const {
    if (KP_LIKELY(t().strides != nullptr)) return strides().at(i);
    const ShapeView all = sizes();
    all.at(i);  // checks
    int64_t product = 1;
    for (int64_t d = i < 0 ? i + dim() : i; ++d < dim();) product *= all[static_cast<size_t>(d)];
    return product;
  }
  int64_t numel() const { return sizes().numel(); }
  DType dtype() const { return t().dtype; }
  Device device() const { return t().device; }
  int64_t itemsize() const { return dtype().itemsize(); }
  // Bytes of the elements, without gaps; sub-byte types are packed.
  int64_t nbytes() const { return (numel() * t().dtype.bits * t().dtype.lanes + 7) / 8; }
  int64_t byte_offset() const { return static_cast<int64_t>(t().byte_offset); }

  // True if it is row-major without gaps. Strides of dimensions of size 1 don't matter; a tensor without elements is contiguous.
  bool is_contiguous() const { return !t().strides || signature::IsCompact(t()); }

  // The first element: byte_offset is added. On some devices (OpenCL) data is a handle: use raw().data and byte_offset().
  Void* data_ptr() const { return static_cast<char*>(t().data) + t().byte_offset; }
  // The first element as a T. TypeError if the tensor has another dtype.
  template <class T>
  Element<T>* data_ptr() const {
    if (KP_UNLIKELY(dtype() != dtype_of<T>)) detail::throw_wrong_dtype("data_ptr<T>()", dtype_of<T>, dtype());
    return static_cast<Element<T>*>(data_ptr());
  }

  // One element, by an index per dimension, each in [0, size): x.at<float>(i, j). Not checked unless KP_CHECKED_AT is 1:
  // then TypeError as data_ptr<T>(), IndexError for a wrong number of indices or an index out of range.
  template <class T, bool kChecked = (KP_CHECKED_AT != 0), class... Index>
  Element<T>& at(Index... index) const {
    const int64_t indices[] = {static_cast<int64_t>(index)..., 0};
    constexpr int kCount = sizeof...(Index);
    if constexpr (kChecked) check_at(dtype_of<T>, indices, kCount);
    int64_t offset = 0;
    for (int d = 0; d < kCount; ++d)
      offset = t().strides ? offset + indices[d] * t().strides[d] : offset * t().shape[d] + indices[d];
    return static_cast<Element<T>*>(data_ptr())[offset];
  }

  // The tensor itself, for C functions. Its `data` isn't const, even for a TensorView.
  const KpDLTensor& raw() const { return t(); }

 private:
  const KpDLTensor& t() const { return *static_cast<const Derived*>(this)->tensor(); }
  void check_at(DType asked, const int64_t* indices, int count) const {
    if (KP_UNLIKELY(dtype() != asked)) detail::throw_wrong_dtype("at<T>()", asked, dtype());
    if (KP_UNLIKELY(dim() != count)) detail::throw_wrong_rank(count, sizes());
    for (int d = 0; d < count; ++d) {
      if (KP_UNLIKELY(indices[d] < 0 || indices[d] >= t().shape[d])) detail::throw_wrong_index(d, indices[d], sizes());
    }
  }
};

// A read-only tensor, borrowed for the call: the C++ type of a signature's inputs. One pointer; cheap to copy. A
// default-constructed TensorView isn't `defined()`, and no other member may be called.
//
//   void Double(kp::TensorView x, kp::MutTensorView out) {  // "(x: f32[N]) -> (out: f32[N])"
//     const kp::Span<const float> in(x);
//     const kp::Span<float> to(out);
//     for (int64_t i = 0; i < in.size(); ++i) to[i] = 2 * in[i];
//   }
class TensorView : public TensorApi<TensorView, const void> {
 public:
  TensorView() = default;
  explicit TensorView(const KpDLTensor* tensor) : tensor_(tensor) {}
  bool defined() const { return tensor_ != nullptr; }
  const KpDLTensor* tensor() const { return tensor_; }

 private:
  const KpDLTensor* tensor_ = nullptr;
};

// A writeable tensor, borrowed for the call: the C++ type of a signature's results, of parameters marked `name!` and of the
// workspace. Converts to a TensorView. A default-constructed MutTensorView isn't `defined()`, and no other member may be called.
//
//   void Clear(kp::MutTensorView x) {  // "(x!: f32[...]) -> ()"
//     for (float& element : kp::Span<float>(x)) element = 0;
//   }
class MutTensorView : public TensorApi<MutTensorView, void> {
 public:
  MutTensorView() = default;
  explicit MutTensorView(const KpDLTensor* tensor) : tensor_(tensor) {}
  bool defined() const { return tensor_ != nullptr; }
  const KpDLTensor* tensor() const { return tensor_; }
  operator TensorView() const { return TensorView(tensor_); }

 private:
  const KpDLTensor* tensor_ = nullptr;
};

namespace detail {

template <class T>
inline constexpr bool is_tensor_view = std::is_same_v<T, TensorView> || std::is_same_v<T, MutTensorView>;

}  // namespace detail

// Writes, for example, "f32[2, 3] on cpu".
KP_COLD inline Text& operator<<(Text& text, TensorView t) {
  if (!t.defined()) return text << "an undefined tensor";
  text << t.dtype() << t.sizes();
  return t.device().is_cpu() ? text : text << " on " << t.device();
}

// The signature determines whether a value may be written: both accept any tensor.
template <class View>
struct Traits<View, std::enable_if_t<detail::is_tensor_view<View>>> {
  static Read read(const KpAny& a, View* out) {
    const KpDLTensor* tensor = kp_any_tensor(&a);
    if (KP_UNLIKELY(!tensor)) return Read::kWrongType;
    *out = View(tensor);
    return Read::kOk;
  }
  static KpAny view(View value) {
    KpAny a = kp_none();
    if (!value.defined()) return a;
    a.type_index = KP_TYPE_DLTENSOR_PTR;
    a.v.v_tensor = const_cast<KpDLTensor*>(value.tensor());
    return a;
  }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "Tensor";
  }
};

KP_NAMESPACE_END

#endif  // KERNPACK_TENSOR_VIEW_H_
