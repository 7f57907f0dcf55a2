// Checks that a tensor parameter fits its mark: kp::MutTensorView if the function writes it, else kp::TensorView. The compiler's
// message names the parameter: by its number, and by its name in the notes below (MarkFits<..., Named<'o', 'u', 't'> >).
#ifndef KERNPACK_FIT_MARK_H_
#define KERNPACK_FIT_MARK_H_

#include <kernpack/signature/program.h>
#include <kernpack/tensor_view.h>

#include <utility>

KP_NAMESPACE_BEGIN
namespace detail {

template <char... letters>
struct Named {};

// Byte i of a program's strings. Text() isn't for constant expressions.
constexpr char letter_at(signature::View program, uint32_t i) {
  return static_cast<char>(program.words[program.words[signature::kHeadPool] + i / 4] >> (i % 4 * 8) & 0xff);
}
constexpr size_t length_at(signature::View program, uint32_t i) {
  size_t n = 0;
  while (letter_at(program, i + static_cast<uint32_t>(n))) ++n;
  return n;
}
template <class Compiled, uint32_t at, size_t... i>
constexpr auto name_at(std::index_sequence<i...>) {
  return Named<letter_at(signature::View{Compiled::Program()}, at + i)...>();
}

// Named<...> of the argument in that position: a parameter, a result or the workspace.
template <class Compiled, int position>
constexpr auto argument_name() {
  constexpr signature::View program{Compiled::Program()};
  constexpr int result = position - program.NumParams();
  if constexpr (result >= program.NumResults()) {
    return Named<'w', 'o', 'r', 'k', 's', 'p', 'a', 'c', 'e'>();
  } else {
    constexpr uint32_t at = (result < 0 ? *program.Param(position) : *program.Result(result)) & 0xffff;
    return name_at<Compiled, at>(std::make_index_sequence<length_at(program, at)>());
  }
}

#define KP_WRITTEN_ \
  " is written (marked ! in the signature, a result or the workspace): make its kp::TensorView a kp::MutTensorView"
#define KP_READ_                                                                                     \
  " is a read-only input in the signature: make its kp::MutTensorView a kp::TensorView, or mark it " \
  "written: `name!: ...`"

// Instantiated where type and mark differ. `number` counts from 1.
template <size_t number, bool written, class Name>
struct MarkFits {
  static_assert(!written, "KP_EXPORT: this C++ parameter" KP_WRITTEN_);
  static_assert(written, "KP_EXPORT: this C++ parameter" KP_READ_);
  static constexpr bool value = false;
};
// Before C++26 the text is a literal: one specialisation a number.
#define KP_MARK_FITS_(number)                                                 \
  template <bool written, class Name>                                         \
  struct MarkFits<number, written, Name> {                                    \
    static_assert(!written, "KP_EXPORT: C++ parameter " #number KP_WRITTEN_); \
    static_assert(written, "KP_EXPORT: C++ parameter " #number KP_READ_);     \
    static constexpr bool value = false;                                      \
  };
KP_MARK_FITS_(1)
KP_MARK_FITS_(2)
KP_MARK_FITS_(3)
KP_MARK_FITS_(4)
KP_MARK_FITS_(5)
KP_MARK_FITS_(6)
KP_MARK_FITS_(7)
KP_MARK_FITS_(8)
KP_MARK_FITS_(9)
KP_MARK_FITS_(10)
KP_MARK_FITS_(11)
KP_MARK_FITS_(12)
KP_MARK_FITS_(13)
KP_MARK_FITS_(14)
KP_MARK_FITS_(15)
KP_MARK_FITS_(16)
#undef KP_MARK_FITS_
#undef KP_READ_
#undef KP_WRITTEN_

// `View`: TensorView or MutTensorView, taken out of its optional or list.
template <class Compiled, size_t position, bool written, class View>
constexpr bool mark_fits() {
  if constexpr (written == std::is_same_v<View, MutTensorView>)
    return true;
  else
    return MarkFits<position + 1, written, decltype(argument_name<Compiled, static_cast<int>(position)>())>::value;
}

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_FIT_MARK_H_
