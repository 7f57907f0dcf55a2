// Tensor: an owned tensor. Borrowed ones: tensor_view.h.
#ifndef KERNPACK_TENSOR_H_
#define KERNPACK_TENSOR_H_

#include <kernpack/tensor_view.h>

KP_NAMESPACE_BEGIN

// An owned tensor, for memory that a kernel needs for itself or keeps; copies share the memory. A default-constructed Tensor isn't
// `defined()`.
//
//   const kp::Tensor sums = kp::Tensor::Empty({rows}, kp::f32);  // from the calling framework's allocator, not zeroed
//   const kp::Tensor like = kp::Tensor::EmptyLike(x);            // the shape, dtype and device of x
//   const kp::Span<float> to(sums);
class Tensor : public TensorApi<Tensor, void> {
 public:
  Tensor() = default;
  explicit Tensor(detail::Ref<KpTensorObject> object) : object_(static_cast<detail::Ref<KpTensorObject>&&>(object)) {}

  // Uninitialised, contiguous, from the calling framework's allocator if it has one. MemoryError, ValueError.
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
  operator MutTensorView() const { return defined() ? MutTensorView(tensor()) : MutTensorView(); }
  const detail::Ref<KpTensorObject>& object() const { return object_; }

 private:
  detail::Ref<KpTensorObject> object_;
};

inline Text& operator<<(Text& text, const Tensor& t) { return text << TensorView(t); }

// As a parameter it accepts only tensor objects: a borrowed buffer (JAX under jit) cannot be owned.
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
