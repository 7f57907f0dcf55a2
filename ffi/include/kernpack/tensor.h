// TensorView (borrowed) and Tensor (owning), with the names that at::Tensor uses.
#ifndef KERNPACK_TENSOR_H_
#define KERNPACK_TENSOR_H_

#include <kernpack/any.h>
#include <kernpack/call.h>
#include <kernpack/shape.h>
#include <kernpack/signature/memory.h>

KP_NAMESPACE_BEGIN
namespace detail {

[[noreturn]] KP_COLD inline void throw_wrong_dtype(DType asked, DType actual) {
  KP_THROW(TypeError) << "data_ptr<T>(): the tensor's dtype is " << actual << ", T stores " << asked;
}
[[noreturn]] KP_COLD inline void throw_no_strides() {
  KP_THROW(ValueError) << "strides(): this tensor carries no strides (it is compact row-major); use stride(i)";
}

}  // namespace detail

// The accessors that both classes share, over a DLPack tensor. Sizes and strides are in elements; offsets in bytes.
template <class Derived>
class TensorApi {
 public:
  int64_t dim() const { return t().ndim; }
  ShapeView sizes() const { return {t().shape, static_cast<size_t>(t().ndim)}; }
  ShapeView shape() const { return sizes(); }
  // IndexError outside [-dim, dim).
  int64_t size(int64_t i) const { return sizes().at(i); }
  // ValueError when the tensor carries none; every Kernpack binding fills them in.
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

  // Row-major without gaps. Dimensions of size 1 do not matter, nor does anything in a tensor without elements.
  bool is_contiguous() const { return !t().strides || signature::IsCompact(t()); }

  // The first element: byte_offset is added. On some devices (OpenCL) data is a handle: use raw().data and byte_offset().
  void* data_ptr() const { return static_cast<char*>(t().data) + t().byte_offset; }
  // The same, typed. TypeError when the dtype is not the one T stores.
  template <class T>
  T* data_ptr() const {
    if (KP_UNLIKELY(dtype() != dtype_of<T>)) detail::throw_wrong_dtype(dtype_of<T>, dtype());
    return static_cast<T*>(data_ptr());
  }

  const KpDLTensor& raw() const { return t(); }

 private:
  const KpDLTensor& t() const { return *static_cast<const Derived*>(this)->tensor(); }
};

// A tensor borrowed for the call: the recommended parameter type. One pointer; copies freely. A default-made one is not
// `defined()` and may only be asked that.
class TensorView : public TensorApi<TensorView> {
 public:
  TensorView() = default;
  explicit TensorView(const KpDLTensor* tensor) : tensor_(tensor) {}
  bool defined() const { return tensor_ != nullptr; }
  const KpDLTensor* tensor() const { return tensor_; }

 private:
  const KpDLTensor* tensor_ = nullptr;
};

// A tensor that this code owns (shares). Default-made: not `defined()`.
class Tensor : public TensorApi<Tensor> {
 public:
  Tensor() = default;
  explicit Tensor(detail::Ref<KpTensorObject> object) : object_(static_cast<detail::Ref<KpTensorObject>&&>(object)) {}

  // Uninitialised, contiguous, from the calling framework's allocator where there is one. MemoryError, ValueError.
  static Tensor Empty(ShapeView shape, DType dtype, Device device = Device::cpu()) {
    KpDLTensor prototype = {};
    prototype.device = device;
    prototype.ndim = static_cast<int32_t>(shape.size());
    prototype.dtype = dtype;
    prototype.shape = const_cast<int64_t*>(shape.data());
    KpAny out = kp_none();
    const KpHost* h = detail::host();
    detail::check_host(h->tensor_alloc(h, &prototype, &out));
    return Tensor(detail::Ref<KpTensorObject>(reinterpret_cast<KpTensorObject*>(out.v.v_obj)));
  }
  template <size_t N>
  static Tensor Empty(const int64_t (&shape)[N], DType dtype, Device device = Device::cpu()) {
    return Empty(ShapeView(shape), dtype, device);
  }
  static Tensor EmptyLike(TensorView like) { return Empty(like.sizes(), like.dtype(), like.device()); }

  bool defined() const { return static_cast<bool>(object_); }
  const KpDLTensor* tensor() const { return &object_->tensor; }
  operator TensorView() const { return defined() ? TensorView(tensor()) : TensorView(); }
  const detail::Ref<KpTensorObject>& object() const { return object_; }

 private:
  detail::Ref<KpTensorObject> object_;
};

// "f32[2, 3] on cpu"
KP_COLD inline Text& operator<<(Text& text, TensorView t) {
  if (!t.defined()) return text << "an undefined tensor";
  text << t.dtype() << t.sizes();
  return t.device().is_cpu() ? text : text << " on " << t.device();
}
inline Text& operator<<(Text& text, const Tensor& t) { return text << TensorView(t); }

template <>
struct Traits<TensorView> {
  static Read read(const KpAny& a, TensorView* out) {
    const KpDLTensor* tensor = kp_any_tensor(&a);
    if (KP_UNLIKELY(!tensor)) return Read::kWrongType;
    *out = TensorView(tensor);
    return Read::kOk;
  }
  static KpAny view(TensorView value) {
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

// As a parameter it takes tensor objects only: a borrowed buffer (JAX under jit) cannot be owned.
template <>
struct Traits<Tensor> {
  static Read read(const KpAny& a, Tensor* out) {
    if (a.type_index != KP_TYPE_TENSOR) return Read::kWrongType;
    kp_retain(a.v.v_obj);
    *out = Tensor(detail::Ref<KpTensorObject>(reinterpret_cast<KpTensorObject*>(a.v.v_obj)));
    return Read::kOk;
  }
  static KpAny view(const Tensor& value) {
    KpAny a = kp_none();
    if (!value.defined()) return a;
    a.type_index = KP_TYPE_TENSOR;
    a.v.v_obj = value.object().object();
    return a;
  }
  static KpAny own(Tensor value) {
    const KpAny a = view(value);
    kp_any_retain(&a);
    return a;
  }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "Tensor (an owning one)";
  }
};

KP_NAMESPACE_END

#endif  // KERNPACK_TENSOR_H_
