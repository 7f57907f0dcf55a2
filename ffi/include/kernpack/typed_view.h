// The checks that Span and Accessor share: dtype, rank and device of a tensor, once, when a view of it is made.
#ifndef KERNPACK_TYPED_VIEW_H_
#define KERNPACK_TYPED_VIEW_H_

#include <kernpack/on_devices.h>
#include <kernpack/tensor_view.h>

// The default of a template's parameter, so that the functions of both kinds of files have different names.
#ifdef __CUDACC__
#define KP_VIEWS_OF_ANY_DEVICE_ true
#else
#define KP_VIEWS_OF_ANY_DEVICE_ false
#endif

KP_NAMESPACE_BEGIN

// Says that who reads through the view can: device code, or code of a device whose memory the CPU reads. In files that nvcc
// compiles it needn't be said.
//   const kp::Span<const float, 2> in(x, kp::any_device);
struct AnyDevice {};
inline constexpr AnyDevice any_device{};

namespace detail {

template <class T>
using ViewOf = std::conditional_t<std::is_const_v<T>, TensorView, MutTensorView>;

struct TypedViewName {
  const char* name;  // "Span"
  int rank;  // -1: of any rank
};
KP_COLD inline Text& operator<<(Text& text, TypedViewName v) {
  text << "kp::" << v.name << "<T";
  return v.rank < 0 ? text << '>' : text << ", " << v.rank << '>';
}

[[noreturn]] KP_COLD inline void throw_not_as_typed(TypedViewName view, TensorView x, DType dtype) {
  if (x.dtype() != dtype)
    KP_THROW(TypeError) << view << ": the tensor's dtype is " << x.dtype() << ", T stores " << dtype;
  if (view.rank >= 0 && x.dim() != view.rank)
    KP_THROW(ValueError) << view << ": expected a tensor of " << view.rank << (view.rank == 1 ? " dim" : " dims")
                         << ", got shape " << x.sizes();
  KP_THROW(ValueError) << view << ": expected a tensor on the CPU, got one on " << x.device()
                       << ": pass kp::any_device as well if the code that uses the view can read its memory";
}
[[noreturn]] KP_COLD inline void throw_not_compact(TypedViewName view, TensorView x) {
  KP_THROW(ValueError) << view << ": expected a contiguous tensor, got shape " << x.sizes() << " with strides "
                       << x.strides() << ": use a kp::Accessor, or kp::contiguous(x)";
}

// Memory that the CPU reads.
inline bool is_on_host(KpDLDevice device) {
  return KP_LIKELY(device.device_type == KP_DEVICE_CPU) || device.device_type == KP_DEVICE_CUDA_HOST ||
         device.device_type == KP_DEVICE_CUDA_MANAGED || device.device_type == KP_DEVICE_ROCM_HOST;
}

template <bool kAnyDevice>
inline void check_typed(TypedViewName view, TensorView x, DType dtype) {
  const bool fits =
      x.dtype() == dtype && (view.rank < 0 || x.dim() == view.rank) && (kAnyDevice || is_on_host(x.raw().device));
  if (KP_UNLIKELY(!fits)) throw_not_as_typed(view, x, dtype);
}

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_TYPED_VIEW_H_
