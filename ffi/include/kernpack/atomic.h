// Elements that several threads of a CPU kernel write to: atomics of every type, with C++17 and without a lock. On CUDA devices use
// atomicAdd and the other atomics of CUDA's headers.
#ifndef KERNPACK_ATOMIC_H_
#define KERNPACK_ATOMIC_H_

#include <kernpack/half.h>

#include <type_traits>

KP_NAMESPACE_BEGIN

// Replaces *to by f(*to) as one step, and returns the old value. f is called again if another thread was faster, so it
// must have no effect but its value. Orders no other memory (relaxed): the end of kp::parallel_for does.
template <class T, class F>
T atomic_update(T* to, F f) {
  static_assert(
      std::is_trivially_copyable<T>::value && sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0,
      "kernpack: atomic_update takes elements of 1, 2, 4 or 8 bytes; update the parts of a larger one one by one");
  T before, after;
  __atomic_load(to, &before, __ATOMIC_RELAXED);
  do {
    after = f(before);
  } while (!__atomic_compare_exchange(to, &before, &after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return before;
}

namespace detail {

template <class T>
auto is_complex(const T* z) -> decltype(z->real(), std::true_type());
std::false_type is_complex(const void*);

}  // namespace detail

// *to += value as one step; returns the old value. The two parts of a std::complex are a step each. Sums of floating-point numbers
// depend on the order in which threads come, so a kernel that uses it isn't `deterministic`.
template <class T>
T atomic_add(T* to, typename std::common_type<T>::type value) {
  if constexpr (std::is_integral<T>::value) {
    return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
  } else if constexpr (std::is_floating_point<T>::value) {
    return atomic_update(to, [value](T before) { return before + value; });
  } else if constexpr (decltype(detail::is_complex(to))::value) {
    auto* parts = reinterpret_cast<typename T::value_type*>(to);  // [complex.numbers] lets one
    const auto real = atomic_add(parts, value.real());
    return T(real, atomic_add(parts + 1, value.imag()));
  } else {  // kp::half, kp::bfloat16 and smaller: they convert from and to float
    const float by = static_cast<float>(value);
    return atomic_update(to, [by](T before) { return T(static_cast<float>(before) + by); });
  }
}

KP_NAMESPACE_END

#endif  // KERNPACK_ATOMIC_H_
