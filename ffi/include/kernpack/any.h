// Any (owning) and AnyView (borrowed): values of a type known at run time, and how C++ types convert from and to them.
#ifndef KERNPACK_ANY_H_
#define KERNPACK_ANY_H_

#include <kernpack/config.h>
#include <kernpack/device.h>
#include <kernpack/dtype.h>
#include <kernpack/error.h>
#include <kernpack/object.h>

#include <optional>
#include <type_traits>

KP_NAMESPACE_BEGIN

// How T crosses the ABI. Each specialisation has
//   static Read read(const KpAny& a, T* out)   from a borrowed value, which outlives *out when T is a view
//   static KpAny view(const T& value)          a borrowed value, valid as long as `value`
//   static KpAny own(T value)                  an owned value
//   static constexpr void name(Sink& s)        "int", "Tensor", ...: what a caller should pass
enum class Read { kOk, kWrongType, kOutOfRange };
template <class T, class Enable = void>
struct Traits {
  static constexpr bool kUnsupported = true;
};

// The type of a value for messages: "int", "Tensor f32", "str".
KP_COLD inline const char* type_name(int32_t type_index) {
  switch (type_index) {
    case KP_TYPE_NONE:
      return "None";
    case KP_TYPE_INT:
      return "int";
    case KP_TYPE_BOOL:
      return "bool";
    case KP_TYPE_FLOAT:
      return "float";
    case KP_TYPE_OPAQUE_PTR:
      return "pointer";
    case KP_TYPE_DTYPE:
      return "dtype";
    case KP_TYPE_DEVICE:
      return "device";
    case KP_TYPE_DLTENSOR_PTR:
    case KP_TYPE_TENSOR:
      return "Tensor";
    case KP_TYPE_RAW_STR:
    case KP_TYPE_SMALL_STR:
    case KP_TYPE_STR:
      return "str";
    case KP_TYPE_BYTE_ARRAY_PTR:
    case KP_TYPE_SMALL_BYTES:
    case KP_TYPE_BYTES:
      return "bytes";
    case KP_TYPE_ERROR:
      return "Error";
    case KP_TYPE_FUNCTION:
      return "Function";
    case KP_TYPE_SHAPE:
      return "Shape";
    case KP_TYPE_ARRAY:
    case KP_TYPE_LIST:
      return "list";
    case KP_TYPE_MAP:
      return "dict";
    case KP_TYPE_MODULE:
      return "Module";
    default:
      return "object";
  }
}

namespace detail {

template <class T>
using Bare = std::remove_cv_t<std::remove_reference_t<T>>;

template <class T>
KP_COLD void describe_mismatch(Text& text, Read failure, const KpAny& got) {
  text << "expected ";
  Traits<T>::name(text);
  if constexpr (std::is_integral_v<T>) {
    if (failure == Read::kOutOfRange) {
      text << (std::is_signed_v<T> ? " that fits in " : " that is not negative and fits in ");
      text << static_cast<int>(sizeof(T) * 8) << " bits, got " << static_cast<long long>(got.v.v_int);
      return;
    }
  }
  text << ", got " << type_name(got.type_index);
}

template <class T>
[[noreturn]] KP_COLD void throw_mismatch(Read failure, const KpAny& got) {
  Text text;
  describe_mismatch<T>(text, failure, got);
  if (failure == Read::kOutOfRange) KP_THROW(ValueError) << text.bytes();
  KP_THROW(TypeError) << text.bytes();
}

template <class T>
T read_or_throw(const KpAny& a) {
  static_assert(!std::is_reference_v<T>, "cast to a value type");
  T value{};
  const Read r = Traits<T>::read(a, &value);
  if (KP_UNLIKELY(r != Read::kOk)) throw_mismatch<T>(r, a);
  return value;
}

// An owned value from a borrowed one: pointers to the caller's memory become objects. Defined in string.h.
KpAny own_any(const KpAny& borrowed);

}  // namespace detail

class Any;

// A borrowed value of any type, valid during the call that it came with. 16 bytes; cheap to copy.
//
//   void Print(kp::AnyView value) {
//     if (const auto number = value.try_cast<int64_t>()) kp::printf(kp::LogLevel::info, "%ld", long(*number));
//     const kp::TensorView tensor = value.cast<kp::TensorView>();  // TypeError if it is something else
class AnyView {
 public:
  AnyView() : any_(kp_none()) {}
  AnyView(const KpAny& any) : any_(any) {}
  template <class T, class = std::enable_if_t<!std::is_base_of_v<AnyView, T> && !std::is_same_v<T, Any>>,
            class = decltype(&Traits<T>::view)>
  AnyView(const T& value) : any_(Traits<T>::view(value)) {}
  AnyView(const char* text) : any_(kp_none()) {
    any_.type_index = KP_TYPE_RAW_STR;
    any_.v.v_c_str = text;
  }

  const KpAny& raw() const { return any_; }
  int32_t type_index() const { return any_.type_index; }
  bool is_none() const { return any_.type_index == KP_TYPE_NONE; }

  // The value as a T. TypeError if it has another type, ValueError if an int does not fit.
  template <class T>
  T cast() const {
    return detail::read_or_throw<T>(any_);
  }
  // The value as a T, or nothing.
  template <class T>
  std::optional<T> try_cast() const {
    T value{};
    if (Traits<T>::read(any_, &value) != Read::kOk) return std::nullopt;
    return value;
  }

 protected:
  KpAny any_;
};

// An owned value of any type, which may outlive the call. 16 bytes; holds one reference if the value is an object.
//
//   kp::Any value = 3;
//   value = kp::Tensor::Empty({2, 3}, kp::f32);
//   return value;  // from a function without a signature
class Any {
 public:
  Any() : any_(kp_none()) {}
  Any(const Any& other) : any_(other.any_) { kp_any_retain(&any_); }
  Any(Any&& other) noexcept : any_(other.any_) { other.any_ = kp_none(); }
  Any(AnyView view) : any_(detail::own_any(view.raw())) {}
  template <class T, class = std::enable_if_t<!std::is_base_of_v<AnyView, T> && !std::is_base_of_v<Any, T>>,
            class = decltype(&Traits<T>::own)>
  Any(T value) : any_(Traits<T>::own(static_cast<T&&>(value))) {}
  Any(const char* text) : Any(AnyView(text)) {}
  Any& operator=(Any other) noexcept {
    const KpAny mine = any_;
    any_ = other.any_;
    other.any_ = mine;
    return *this;
  }
  ~Any() { kp_any_release(&any_); }

  // Takes ownership of the reference that `owned` holds.
  static Any adopt(const KpAny& owned) {
    Any any;
    any.any_ = owned;
    return any;
  }
  // Gives up ownership: the caller must release the returned value.
  KpAny release() {
    const KpAny any = any_;
    any_ = kp_none();
    return any;
  }

  operator AnyView() const { return AnyView(any_); }
  const KpAny& raw() const { return any_; }
  KpAny* out() { return &any_; }  // for a C function that writes an owned value; this must be None before the call
  int32_t type_index() const { return any_.type_index; }
  bool is_none() const { return any_.type_index == KP_TYPE_NONE; }
  template <class T>
  T cast() const& {
    return AnyView(any_).cast<T>();
  }
  template <class T>
  std::optional<T> try_cast() const& {
    return AnyView(any_).try_cast<T>();
  }

 private:
  KpAny any_;
};

// ---- plain values ----

template <class T>
struct Traits<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>>> {
  static Read read(const KpAny& a, T* out) {
    if (KP_UNLIKELY(a.type_index != KP_TYPE_INT && a.type_index != KP_TYPE_BOOL)) return Read::kWrongType;
    *out = static_cast<T>(a.v.v_int);
    if constexpr (sizeof(T) < sizeof(int64_t)) {
      if (KP_UNLIKELY(static_cast<int64_t>(*out) != a.v.v_int)) return Read::kOutOfRange;
    } else if constexpr (std::is_unsigned_v<T>) {
      if (KP_UNLIKELY(a.v.v_int < 0)) return Read::kOutOfRange;
    }
    return Read::kOk;
  }
  static KpAny view(T value) {
    if constexpr (sizeof(T) == sizeof(int64_t) && std::is_unsigned_v<T>) {
      if (KP_UNLIKELY(static_cast<int64_t>(value) < 0))
        KP_THROW(ValueError) << "the unsigned integer " << value << " does not fit in an int (64 bits, signed)";
    }
    KpAny a = kp_none();
    a.type_index = KP_TYPE_INT;
    a.v.v_int = static_cast<int64_t>(value);
    return a;
  }
  static KpAny own(T value) { return view(value); }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "int";
  }
};

template <class T>
struct Traits<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  static Read read(const KpAny& a, T* out) {
    if (KP_LIKELY(a.type_index == KP_TYPE_FLOAT))
      *out = static_cast<T>(a.v.v_float);
    else if (a.type_index == KP_TYPE_INT || a.type_index == KP_TYPE_BOOL)
      *out = static_cast<T>(a.v.v_int);
    else
      return Read::kWrongType;
    return Read::kOk;
  }
  static KpAny view(T value) {
    KpAny a = kp_none();
    a.type_index = KP_TYPE_FLOAT;
    a.v.v_float = static_cast<double>(value);
    return a;
  }
  static KpAny own(T value) { return view(value); }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "float";
  }
};

template <>
struct Traits<bool> {
  static Read read(const KpAny& a, bool* out) {
    if (a.type_index != KP_TYPE_BOOL && a.type_index != KP_TYPE_INT) return Read::kWrongType;
    if (KP_UNLIKELY(a.v.v_int != 0 && a.v.v_int != 1)) return Read::kOutOfRange;
    *out = a.v.v_int != 0;
    return Read::kOk;
  }
  static KpAny view(bool value) {
    KpAny a = kp_none();
    a.type_index = KP_TYPE_BOOL;
    a.v.v_int = value;
    return a;
  }
  static KpAny own(bool value) { return view(value); }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "bool";
  }
};

template <>
struct Traits<DType> {
  static Read read(const KpAny& a, DType* out) {
    if (a.type_index != KP_TYPE_DTYPE) return Read::kWrongType;
    *out = a.v.v_dtype;
    return Read::kOk;
  }
  static KpAny view(DType value) {
    KpAny a = kp_none();
    a.type_index = KP_TYPE_DTYPE;
    a.v.v_dtype = value;
    return a;
  }
  static KpAny own(DType value) { return view(value); }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "dtype";
  }
};

template <>
struct Traits<Device> {
  static Read read(const KpAny& a, Device* out) {
    if (a.type_index != KP_TYPE_DEVICE) return Read::kWrongType;
    *out = a.v.v_device;
    return Read::kOk;
  }
  static KpAny view(Device value) {
    KpAny a = kp_none();
    a.type_index = KP_TYPE_DEVICE;
    a.v.v_device = value;
    return a;
  }
  static KpAny own(Device value) { return view(value); }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "device";
  }
};

// An address, which the callee interprets; None is a null pointer.
template <>
struct Traits<void*> {
  static Read read(const KpAny& a, void** out) {
    if (a.type_index != KP_TYPE_OPAQUE_PTR && a.type_index != KP_TYPE_NONE) return Read::kWrongType;
    *out = a.type_index == KP_TYPE_NONE ? nullptr : a.v.v_ptr;
    return Read::kOk;
  }
  static KpAny view(void* value) {
    KpAny a = kp_none();
    a.type_index = KP_TYPE_OPAQUE_PTR;
    a.v.v_ptr = value;
    return a;
  }
  static KpAny own(void* value) { return view(value); }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "pointer";
  }
};

template <>
struct Traits<AnyView> {
  static Read read(const KpAny& a, AnyView* out) {
    *out = AnyView(a);
    return Read::kOk;
  }
  static KpAny view(AnyView value) { return value.raw(); }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "any value";
  }
};

template <>
struct Traits<Any> {
  static Read read(const KpAny& a, Any* out) {
    *out = Any(AnyView(a));
    return Read::kOk;
  }
  static KpAny view(const Any& value) { return value.raw(); }
  static KpAny own(Any value) { return value.release(); }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "any value";
  }
};

// None is an empty optional.
template <class T>
struct Traits<std::optional<T>> {
  static Read read(const KpAny& a, std::optional<T>* out) {
    if (a.type_index == KP_TYPE_NONE) {
      out->reset();
      return Read::kOk;
    }
    out->emplace();
    return Traits<T>::read(a, &**out);
  }
  static KpAny view(const std::optional<T>& value) { return value ? Traits<T>::view(*value) : kp_none(); }
  static KpAny own(std::optional<T> value) { return value ? Traits<T>::own(static_cast<T&&>(*value)) : kp_none(); }
  template <class Sink>
  static constexpr void name(Sink& s) {
    Traits<T>::name(s);
    s << " or None";
  }
};

KP_NAMESPACE_END

#endif  // KERNPACK_ANY_H_
