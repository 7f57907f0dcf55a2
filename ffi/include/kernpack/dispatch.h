// From a dtype known at run time to a C++ type.
#ifndef KERNPACK_DISPATCH_H_
#define KERNPACK_DISPATCH_H_

#include <kernpack/error.h>
#include <kernpack/half.h>

KP_NAMESPACE_BEGIN

// A type as a value, the argument that dispatch() passes.
//
//   kp::dispatch<float, kp::half>(x.dtype(), [&](auto tag) {
//     using T = typename decltype(tag)::type;
//     Run(kp::Span<const T>(x));
//   });
template <class T>
struct TypeTag {
  using type = T;
};

// Calls f(TypeTag<T>()) for the T of T... whose dtype is `dtype`. TypeError if none is.
//   kp::dispatch<float, kp::half>(x.dtype(), [&](auto t) { using T = typename decltype(t)::type; ... });
template <class... T, class F>
void dispatch(DType dtype, F&& f) {
  const bool found = ((dtype == dtype_of<T> && (f(TypeTag<T>()), true)) || ...);
  if (KP_LIKELY(found)) return;
  Text expected;
  bool first = true;
  ((expected << (first ? "" : ", ") << dtype_of<T>, first = false), ...);
  (void)first;
  KP_THROW(TypeError) << "dispatch: the kernel has no code for dtype " << dtype << " (it has " << expected.bytes()
                      << ')';
}

KP_NAMESPACE_END

#endif  // KERNPACK_DISPATCH_H_
