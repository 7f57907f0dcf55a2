// Text and bytes: StringView and BytesView (borrowed), String and Bytes (owning).
#ifndef KERNPACK_STRING_H_
#define KERNPACK_STRING_H_

#include <kernpack/any.h>

KP_NAMESPACE_BEGIN

// Borrowed bytes with a length, not NUL-terminated: kp::StringView, which is UTF-8 by convention, and kp::BytesView. StringView is
// the C++ type of a signature's `str`.
//
//   void Pool(kp::TensorView x, kp::StringView mode, kp::MutTensorView out) {  // "mode: str in {'mean', 'sum'}"
//     const bool mean = mode == "mean";
//     const std::string text(mode);  // a copy
template <bool kText>
class BasicView {
 public:
  constexpr BasicView() = default;
  constexpr BasicView(const char* data, size_t size) : data_(data), size_(size) {}
  constexpr BasicView(KpBytes bytes) : data_(bytes.data), size_(bytes.size) {}
  constexpr BasicView(const char* text) : data_(text), size_(text ? __builtin_strlen(text) : 0) {}
  // From std::string, std::string_view, kp::String.
  template <class S, class = decltype(static_cast<const char*>(std::declval<const S&>().data())),
            class = decltype(std::declval<const S&>().size())>
  constexpr BasicView(const S& s) : data_(s.data()), size_(s.size()) {}

  constexpr const char* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const char* begin() const { return data_; }
  constexpr const char* end() const { return data_ + size_; }
  constexpr char operator[](size_t i) const { return data_[i]; }
  constexpr operator KpBytes() const { return {data_, size_}; }
  // To std::string and std::string_view: std::string(view).
  template <class S, class = decltype(std::declval<const S&>().data()),
            class = std::enable_if_t<std::is_constructible_v<S, const char*, size_t>>>
  explicit constexpr operator S() const {
    return S(data_ ? data_ : "", size_);
  }

  friend bool operator==(BasicView a, BasicView b) {
    return a.size_ == b.size_ && (a.size_ == 0 || !__builtin_memcmp(a.data_, b.data_, a.size_));
  }
  friend bool operator!=(BasicView a, BasicView b) { return !(a == b); }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
};
using StringView = BasicView<true>;
using BytesView = BasicView<false>;

namespace detail {

// Owned: up to 7 bytes inside the value, else an object with the bytes and a NUL after them.
inline KpAny own_bytes(KpBytes bytes, bool is_text) {
  KpAny a = kp_none();
  if (bytes.size <= 7) {
    a.type_index = is_text ? KP_TYPE_SMALL_STR : KP_TYPE_SMALL_BYTES;
    a.small_len = static_cast<uint32_t>(bytes.size);
    if (bytes.size) __builtin_memcpy(a.v.v_bytes, bytes.data, bytes.size);
    return a;
  }
  const int32_t type_index = is_text ? KP_TYPE_STR : KP_TYPE_BYTES;
  KpStrObject* object = new_object<KpStrObject>(type_index, bytes.size + 1);
  char* copy = reinterpret_cast<char*>(object + 1);
  __builtin_memcpy(copy, bytes.data, bytes.size);
  copy[bytes.size] = 0;
  object->bytes = {copy, bytes.size};
  a.type_index = type_index;
  a.v.v_obj = &object->header;
  return a;
}

inline bool read_bytes(const KpAny& a, bool is_text, KpBytes* out) {
  if (is_text) return kp_any_str(&a, out);
  if (a.type_index == KP_TYPE_BYTE_ARRAY_PTR)
    *out = *static_cast<const KpBytes*>(a.v.v_ptr);
  else if (a.type_index == KP_TYPE_SMALL_BYTES)
    *out = {a.v.v_bytes, a.small_len};
  else if (a.type_index == KP_TYPE_BYTES)
    *out = reinterpret_cast<const KpStrObject*>(a.v.v_obj)->bytes;
  else
    return false;
  return true;
}

KP_COLD inline KpAny own_any(const KpAny& borrowed) {
  KpBytes bytes;
  switch (borrowed.type_index) {
    case KP_TYPE_RAW_STR:
      kp_any_str(&borrowed, &bytes);
      return own_bytes(bytes, true);
    case KP_TYPE_BYTE_ARRAY_PTR:
      read_bytes(borrowed, false, &bytes);
      return own_bytes(bytes, false);
    case KP_TYPE_DLTENSOR_PTR:
      KP_THROW(TypeError) << "a tensor that is only borrowed for this call cannot be kept or returned; copy it into a "
                             "kp::Tensor";
    case KP_TYPE_RVALUE_REF: {
      KpObject* object = *static_cast<KpObject**>(borrowed.v.v_ptr);
      KpAny a = kp_none();
      if (!object) return a;
      kp_retain(object);
      a.type_index = object->type_index;
      a.v.v_obj = object;
      return a;
    }
    default: {
      kp_any_retain(&borrowed);
      return borrowed;
    }
  }
}

}  // namespace detail

// Owned bytes, which may outlive the call: kp::String and kp::Bytes. 16 bytes; copies share the text, which never changes.
//
//   kp::String Greet(kp::StringView name) { return kp::String(("hello, " + std::string(name)).c_str()); }
template <bool kText>
class BasicString {
 public:
  BasicString() : BasicString(BasicView<kText>()) {}
  BasicString(BasicView<kText> bytes) : any_(Any::adopt(detail::own_bytes(bytes, kText))) {}
  BasicString(const char* text) : BasicString(BasicView<kText>(text)) {}

  BasicView<kText> view() const {
    KpBytes bytes = {nullptr, 0};
    detail::read_bytes(any_.raw(), kText, &bytes);
    return bytes;
  }
  const char* data() const { return view().data(); }
  size_t size() const { return view().size(); }
  bool empty() const { return size() == 0; }

  const Any& any() const& { return any_; }
  Any any() && { return static_cast<Any&&>(any_); }

  friend bool operator==(const BasicString& a, const BasicString& b) { return a.view() == b.view(); }
  friend bool operator!=(const BasicString& a, const BasicString& b) { return !(a == b); }

 private:
  Any any_;
};
using String = BasicString<true>;
using Bytes = BasicString<false>;

template <bool kText>
struct Traits<BasicView<kText>> {
  static Read read(const KpAny& a, BasicView<kText>* out) {
    KpBytes bytes;
    if (!detail::read_bytes(a, kText, &bytes)) return Read::kWrongType;
    *out = bytes;
    return Read::kOk;
  }
  // Short text is stored inside the value; longer text needs an object, which a borrowed value cannot own.
  static KpAny view(const BasicView<kText>& value) {
    static_assert(!kText, "pass kp::String, a literal or std::string, not kp::StringView, to a function");
    KpAny a = kp_none();
    a.type_index = KP_TYPE_BYTE_ARRAY_PTR;
    a.v.v_ptr = const_cast<BasicView<kText>*>(&value);
    return a;
  }
  static KpAny own(BasicView<kText> value) { return detail::own_bytes(value, kText); }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << (kText ? "str" : "bytes");
  }
};

template <bool kText>
struct Traits<BasicString<kText>> {
  static Read read(const KpAny& a, BasicString<kText>* out) {
    KpBytes bytes;
    if (!detail::read_bytes(a, kText, &bytes)) return Read::kWrongType;
    *out = BasicString<kText>(BasicView<kText>(bytes));
    return Read::kOk;
  }
  static KpAny view(const BasicString<kText>& value) { return value.any().raw(); }
  static KpAny own(BasicString<kText> value) { return static_cast<BasicString<kText>&&>(value).any().release(); }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << (kText ? "str" : "bytes");
  }
};

// std::string (and std::string_view as a parameter), recognised by shape so that <string> is not needed here.
template <class S>
struct Traits<S, std::enable_if_t<std::is_same_v<typename S::value_type, char> && !std::is_base_of_v<AnyView, S> &&
                                  std::is_constructible_v<S, const char*, size_t> &&
                                  std::is_same_v<decltype(S::npos), const size_t>>> {
  static Read read(const KpAny& a, S* out) {
    KpBytes bytes;
    if (!kp_any_str(&a, &bytes)) return Read::kWrongType;
    *out = S(bytes.data, bytes.size);
    return Read::kOk;
  }
  static KpAny view(const S& value) {
    static_assert(std::is_same_v<decltype(std::declval<S&>().c_str()), const char*>,
                  "pass kp::String or std::string, not std::string_view, to a function");
    KpAny a = kp_none();
    a.type_index = KP_TYPE_RAW_STR;
    a.v.v_c_str = value.c_str();
    return a;
  }
  static KpAny own(const S& value) { return detail::own_bytes({value.data(), value.size()}, true); }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "str";
  }
};

KP_NAMESPACE_END

#endif  // KERNPACK_STRING_H_
