// Checks at compile time, parameter by parameter, that a C++ function fits the signature it is exported under.
#ifndef KERNPACK_FIT_H_
#define KERNPACK_FIT_H_

#include <kernpack/array.h>
#include <kernpack/fit_mark.h>
#include <kernpack/glue.h>
#include <kernpack/signature/program.h>

KP_NAMESPACE_BEGIN
namespace detail {

// The KpParamKind a C++ parameter type can take, -1 for none; optional and list unwrapped.
template <class T>
constexpr int kind_of_type() {
  if constexpr (is_tensor_view<T>)
    return KP_PARAM_TENSOR;
  else if constexpr (std::is_same_v<T, bool>)
    return KP_PARAM_BOOL;
  else if constexpr (std::is_integral_v<T>)
    return KP_PARAM_INT;
  else if constexpr (std::is_floating_point_v<T>)
    return KP_PARAM_FLOAT;
  else if constexpr (std::is_same_v<T, DType>)
    return KP_PARAM_DTYPE;
  else if constexpr (std::is_same_v<T, Device>)
    return KP_PARAM_DEVICE;
  else if constexpr (std::is_constructible_v<T, const char*, size_t> || std::is_same_v<T, String>)
    return KP_PARAM_STR;
  else
    return -1;
}

template <class T>
struct Unwrapped {
  using Item = T;
  static constexpr bool kOptional = false, kList = false;
};
template <class T>
struct Unwrapped<std::optional<T>> {
  using Item = T;
  static constexpr bool kOptional = true, kList = false;
};
template <class T>
struct Unwrapped<ListView<T>> {
  using Item = T;
  static constexpr bool kOptional = false, kList = true;
};

// Instantiated for each parameter: `position` (from 0) says which one a message is about.
template <size_t position, uint32_t kind, uint32_t flags, class T>
struct ParameterFits {
  using U = Unwrapped<T>;
  static constexpr bool optional = (flags & KP_PARAM_OPTIONAL) != 0, list = (flags & KP_PARAM_LIST) != 0;
  static constexpr int given = kind_of_type<typename U::Item>();
  static_assert(!optional || U::kOptional,
                "KP_EXPORT: this parameter is optional (?) in the signature: its C++ type must be std::optional<...>");
  static_assert(optional || !U::kOptional,
                "KP_EXPORT: this C++ parameter is a std::optional, but the signature does not mark it optional (?)");
  static_assert(!list || U::kList,
                "KP_EXPORT: this parameter is a list in the signature: its C++ type must be kp::ListView<...>");
  static_assert(list || !U::kList, "KP_EXPORT: this C++ parameter is a kp::ListView, but no list in the signature");
  static_assert(kind != KP_PARAM_TENSOR || given == KP_PARAM_TENSOR,
                "KP_EXPORT: this parameter is a tensor in the signature: its C++ type must be kp::TensorView, or "
                "kp::MutTensorView if the signature marks it as written (!)");
  static_assert(kind != KP_PARAM_INT || given == KP_PARAM_INT,
                "KP_EXPORT: this parameter is an int in the signature: its C++ type must be an integer");
  static_assert(kind != KP_PARAM_FLOAT || given == KP_PARAM_FLOAT,
                "KP_EXPORT: this parameter is a float in the signature: its C++ type must be double or float");
  static_assert(kind != KP_PARAM_BOOL || given == KP_PARAM_BOOL,
                "KP_EXPORT: this parameter is a bool in the signature: its C++ type must be bool");
  static_assert(kind != KP_PARAM_DTYPE || given == KP_PARAM_DTYPE,
                "KP_EXPORT: this parameter is a dtype in the signature: its C++ type must be kp::DType");
  static_assert(kind != KP_PARAM_DEVICE || given == KP_PARAM_DEVICE,
                "KP_EXPORT: this parameter is a device in the signature: its C++ type must be kp::Device");
  static_assert(kind != KP_PARAM_STR || given == KP_PARAM_STR,
                "KP_EXPORT: this parameter is a str in the signature: its C++ type must be kp::StringView");
  static constexpr bool value = true;
};

// The results and the workspace, which follow the parameters.
template <size_t position, class T>
struct ResultFits {
  static_assert(
      is_tensor_view<T>,
      "KP_EXPORT: after the signature's parameters come its results, then its workspace if it has one: each a "
      "kp::MutTensorView, which the function writes");
  static constexpr bool value = is_tensor_view<T>;
};

template <class Compiled, size_t position, class T>
constexpr bool argument_fits() {
  constexpr signature::View program{Compiled::Program()};
  if constexpr (position < static_cast<size_t>(program.NumParams())) {
    constexpr const uint32_t* param = program.Param(static_cast<int>(position));
    constexpr uint32_t flags = signature::GetFlags(param);
    using Item = typename Unwrapped<T>::Item;
    if constexpr (!ParameterFits<position, signature::GetKind(param), flags, T>::value || !is_tensor_view<Item>)
      return !is_tensor_view<Item>;
    else
      return mark_fits<Compiled, position, (flags & KP_PARAM_MUTATED) != 0, Item>();
  } else if constexpr (ResultFits<position, T>::value) {
    return mark_fits<Compiled, position, true, T>();
  } else {
    return false;
  }
}

template <class Compiled, class Fn>
struct Fits;
template <class Compiled, class R, class... A>
struct Fits<Compiled, R (*)(A...)> {
  static constexpr signature::View kProgram{Compiled::Program()};
  static constexpr size_t kExpected =
      static_cast<size_t>(kProgram.NumParams() + kProgram.NumResults() + (kProgram.HasWorkspace() ? 1 : 0));
  static_assert(std::is_void_v<R>,
                "KP_EXPORT: a function with a signature returns void: its results are the kp::MutTensorViews after its "
                "parameters");
  static_assert(sizeof...(A) == kExpected,
                "KP_EXPORT: the C++ function must have one parameter for each of the signature's parameters, then one "
                "kp::MutTensorView for each result, then one for the workspace if the signature has one");
  template <size_t... I>
  static constexpr bool all(std::index_sequence<I...>) {
    return (argument_fits<Compiled, I, Bare<A>>() && ... && true);
  }
  static constexpr bool value() {
    if constexpr (sizeof...(A) == kExpected)
      return all(std::index_sequence_for<A...>());
    else
      return false;
  }
};
template <class Compiled, class R, class... A>
struct Fits<Compiled, R (*)(A...) noexcept> : Fits<Compiled, R (*)(A...)> {};

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_FIT_H_
