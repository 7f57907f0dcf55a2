// Between the C calling convention and a C++ function: arguments in, result out, every exception caught.
#ifndef KERNPACK_GLUE_H_
#define KERNPACK_GLUE_H_

#include <kernpack/any.h>
#include <kernpack/compact.h>
#include <kernpack/guard.h>
#include <kernpack/signature/program.h>
#include <kernpack/string.h>
#include <kernpack/tensor.h>

#include <utility>

KP_NAMESPACE_BEGIN
namespace detail {

// ---- compact copies of tensors that came without strides ----

// Tensors of foreign callers may lack strides; kernels may rely on them. Freed when the call ends.
class FilledStrides {
 public:
  FilledStrides() = default;
  FilledStrides(const FilledStrides&) = delete;
  FilledStrides& operator=(const FilledStrides&) = delete;
  ~FilledStrides() {
    while (KP_UNLIKELY(head_ != nullptr)) {
      Copy* next = head_->next;
      ::operator delete(head_);
      head_ = next;
    }
  }
  // `value`: what load() has read.
  template <class T>
  void fill(T* value) {
    if constexpr (is_tensor_view<T>) {
      if (KP_UNLIKELY(value->defined() && !value->raw().strides && value->raw().ndim > 0))
        *value = T(with_strides(TensorView(value->tensor())));
    }
  }
  template <class T>
  void fill(std::optional<T>* value) {
    if (*value) fill(&**value);
  }

 private:
  struct Copy {
    Copy* next;
    KpDLTensor tensor;
  };
  KP_COLD const KpDLTensor* with_strides(TensorView view) {
    const KpDLTensor& t = view.raw();
    const size_t n = static_cast<size_t>(t.ndim);
    Copy* copy = static_cast<Copy*>(::operator new(sizeof(Copy) + n * sizeof(int64_t)));
    int64_t* strides = reinterpret_cast<int64_t*>(copy + 1);
    for (size_t d = 0; d < n; ++d) strides[d] = view.stride(static_cast<int64_t>(d));
    copy->next = head_;
    copy->tensor = t;
    copy->tensor.strides = strides;
    head_ = copy;
    return &copy->tensor;
  }

  Copy* head_ = nullptr;
};

// ---- arguments ----

template <size_t I, class T>
struct Slot {
  T value{};
};
template <class Indices, class... T>
struct Slots;
template <size_t... I, class... T>
struct Slots<std::index_sequence<I...>, T...> : Slot<I, T>... {};

// The names of a function and its arguments in messages. `program`, nullable: the signature's program, which has the names.
struct Names {
  const char* function;
  const uint32_t* program;
};

KP_COLD inline void name_argument(Text& text, const Names& names, size_t index) {
  text << names.function << ": ";
  const signature::View program{names.program};
  const int i = static_cast<int>(index);
  if (!names.program || i > program.NumParams() + program.NumResults())
    text << "argument " << index;
  else if (i < program.NumParams())
    text << program.ParamName(i);
  else if (i < program.NumParams() + program.NumResults())
    text << program.ResultName(i - program.NumParams());
  else
    text << "workspace";
  text << ": ";
}

template <class T>
[[noreturn]] KP_COLD void throw_bad_argument(const Names& names, size_t index, Read failure, const KpAny& got) {
  Text text;
  name_argument(text, names, index);
  describe_mismatch<T>(text, failure, got);
  if (failure == Read::kOutOfRange) KP_THROW(ValueError) << text.bytes();
  KP_THROW(TypeError) << text.bytes();
}

[[noreturn]] KP_COLD inline void throw_bad_count(const char* function, size_t expected, int32_t got) {
  KP_THROW(TypeError) << function << ": expected " << expected
                      << (expected == 1 ? " argument, got " : " arguments, got ") << got;
}

// A tensor that the contract marks `compact`.
template <class T>
void make_compact(T* value, const KpAny& given, const Names& names, size_t index, CompactCopies& copies) {
  copies.replace(value, given, [&](TensorView x) {
    Text text;
    name_argument(text, names, index);
    describe_shared_elements(text, x);
    KP_THROW(ValueError) << text.bytes();
  });
}

struct Nothing {};

template <bool kCompact, class T, class Copies>
void load(T* out, const KpAny& a, const Names& names, size_t index, FilledStrides& strides, Copies& copies) {
  const Read r = Traits<T>::read(a, out);
  if (KP_UNLIKELY(r != Read::kOk)) throw_bad_argument<T>(names, index, r, a);
  if constexpr (kCompact) make_compact(out, a, names, index, copies);
  (void)copies;
  strides.fill(out);
}

// ---- the call ----

// True if an argument can become a T.
template <class T, class = void>
struct Crosses : std::false_type {};
template <class T>
struct Crosses<T, std::void_t<decltype(&Traits<T>::read)>> : std::true_type {};

template <class Fn>
struct FunctionType;

template <class R, class... A>
struct FunctionType<R (*)(A...)> {
  using Result = Bare<R>;
  using Indices = std::index_sequence_for<A...>;
  using Arguments = Slots<Indices, Bare<A>...>;
  static constexpr size_t kArity = sizeof...(A);

  // Tells the author, in words, which parameter type cannot cross.
  template <class T>
  static constexpr bool check_parameter() {
    static_assert(
        Crosses<T>::value,
        "KP_EXPORT: this parameter type cannot be passed from other languages; use kp::TensorView (kp::MutTensorView "
        "if the function writes it), an integer, a float, bool, kp::StringView, kp::DType, kp::Device, std::optional "
        "of one, kp::ListView, kp::Function, kp::AnyView");
    return true;
  }

  // kCompact: bit i says that argument i is handed on compact.
  template <uint64_t kCompact = 0, class Fn, size_t... I>
  static void apply(Fn&& fn, const Names& names, const KpAny* args, int32_t n, KpAny* result,
                    std::index_sequence<I...>) {
    static_assert((check_parameter<Bare<A>>() && ... && true), "");
    if (KP_UNLIKELY(n != static_cast<int32_t>(kArity))) throw_bad_count(names.function, kArity, n);
    FilledStrides strides;
    std::conditional_t<kCompact != 0, CompactCopies, Nothing> copies;
    Arguments slots;
    (load<(I < 64 && (kCompact >> (I % 64) & 1))>(&static_cast<Slot<I, Bare<A>>&>(slots).value, args[I], names, I,
                                                  strides, copies),
     ...);
    (void)args;
    (void)strides;
    (void)copies;
    (void)slots;
    if constexpr (std::is_void_v<R>)
      fn(static_cast<Bare<A>&&>(static_cast<Slot<I, Bare<A>>&>(slots).value)...);
    else
      *result = Traits<Result>::own(fn(static_cast<Bare<A>&&>(static_cast<Slot<I, Bare<A>>&>(slots).value)...));
    (void)result;
  }
};
template <class R, class... A>
struct FunctionType<R (*)(A...) noexcept> : FunctionType<R (*)(A...)> {};

// A KpSafeCall around Fn. Tag has what messages call it: function() and program().
template <class Tag, auto Fn>
int call(void* self, const KpAny* args, int32_t n, KpAny* result) noexcept {
  using Type = FunctionType<decltype(Fn)>;
  return guarded(Instance::from(self)->host, Tag::function(), [&] {
    CallScope scope(self, Tag::function());
    Type::template apply<compact_params(Tag::program())>(Fn, Names{Tag::function(), Tag::program()}, args, n, result,
                                                         typename Type::Indices());
  });
}

// ---- "(int, Tensor) -> None", made at compile time ----

struct ConstantText {
  char data[1024] = {};
  size_t size = 0;
  constexpr ConstantText& operator<<(const char* text) {
    while (*text && size + 1 < sizeof(data)) data[size++] = *text++;
    return *this;
  }
};

template <class R, class... A>
constexpr ConstantText write_types(R (*)(A...)) {
  ConstantText s;
  bool first = true;
  s << "(";
  ((s << (first ? "" : ", "), first = false, Traits<Bare<A>>::name(s)), ...);
  (void)first;
  s << ") -> ";
  if constexpr (std::is_void_v<R>)
    s << "None";
  else
    Traits<Bare<R>>::name(s);
  return s;
}
template <class R, class... A>
constexpr ConstantText write_types(R (*fn)(A...) noexcept) {
  return write_types(static_cast<R (*)(A...)>(fn));
}

template <size_t N>
struct ConstantString {
  char data[N + 1];
};

template <auto Fn>
struct TypesOf {
  static constexpr auto make() {
    constexpr ConstantText text = write_types(Fn);
    ConstantString<text.size> s = {};
    for (size_t i = 0; i < text.size; ++i) s.data[i] = text.data[i];
    return s;
  }
  static constexpr auto value = make();
};

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_GLUE_H_
