// ListView (borrowed, typed) and Array (owning, of any values).
#ifndef KERNPACK_ARRAY_H_
#define KERNPACK_ARRAY_H_

#include <kernpack/any.h>
#include <kernpack/error.h>

#include <initializer_list>

KP_NAMESPACE_BEGIN
namespace detail {

inline const KpSequenceObject* sequence_of(const KpAny& a) {
  if (a.type_index != KP_TYPE_ARRAY && a.type_index != KP_TYPE_LIST) return nullptr;
  return reinterpret_cast<const KpSequenceObject*>(a.v.v_obj);
}

[[noreturn]] KP_COLD inline void throw_bad_index(size_t i, size_t n) {
  KP_THROW(IndexError) << "index " << i << " is out of range for " << n << " items";
}

KP_COLD inline void delete_array(void* object, int flags) {
  KpSequenceObject* array = static_cast<KpSequenceObject*>(object);
  if (flags & KP_DELETE_STRONG) {
    for (int64_t i = 0; i < array->size; ++i) kp_any_release(&array->data[i]);
    array->size = 0;
  }
  if (flags & KP_DELETE_WEAK) ::operator delete(object);
}

}  // namespace detail

// A borrowed list of T's, valid during the call: the C++ type of a signature's `list[...]`.
//
//   void Sum(kp::ListView<kp::TensorView> xs, kp::MutTensorView out) {  // "(xs: list[f32[N]]) -> (out: f32[N])"
//     const kp::Span<float> to(out);
//     for (const kp::TensorView x : xs) Add(kp::Span<const float>(x), to);
template <class T>
class ListView {
 public:
  ListView() = default;
  explicit ListView(const KpSequenceObject* sequence) : sequence_(sequence) {}

  size_t size() const { return sequence_ ? static_cast<size_t>(sequence_->size) : 0; }
  bool empty() const { return size() == 0; }
  T operator[](size_t i) const {  // unchecked index; the types were checked when the call began
    T value{};
    (void)Traits<T>::read(sequence_->data[i], &value);
    return value;
  }
  // IndexError when out of range.
  T at(size_t i) const {
    if (KP_UNLIKELY(i >= size())) detail::throw_bad_index(i, size());
    return (*this)[i];
  }

  class Iterator {
   public:
    Iterator(const ListView* list, size_t i) : list_(list), i_(i) {}
    T operator*() const { return (*list_)[i_]; }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return i_ != other.i_; }
    bool operator==(const Iterator& other) const { return i_ == other.i_; }

   private:
    const ListView* list_;
    size_t i_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

 private:
  const KpSequenceObject* sequence_ = nullptr;
};

// An owned list of any values, such as several results of a function without a signature; copies share the list, which never
// changes.
//
//   kp::Array Split(int64_t n) { return {n / 2, n - n / 2}; }
//   const int64_t first = Split(5)[0].cast<int64_t>();
class Array {
 public:
  Array() : Array(nullptr, 0) {}
  Array(std::initializer_list<Any> items) : Array(items.begin(), items.size()) {}
  Array(const Any* items, size_t n)
      : object_(detail::new_object<KpSequenceObject>(KP_TYPE_ARRAY, n * sizeof(KpAny), &detail::delete_array)) {
    object_->data = reinterpret_cast<KpAny*>(object_.get() + 1);
    object_->size = object_->capacity = static_cast<int64_t>(n);
    for (size_t i = 0; i < n; ++i) object_->data[i] = Any(items[i]).release();
  }
  explicit Array(detail::Ref<KpSequenceObject> object)
      : object_(static_cast<detail::Ref<KpSequenceObject>&&>(object)) {}

  size_t size() const { return static_cast<size_t>(object_->size); }
  bool empty() const { return size() == 0; }
  AnyView operator[](size_t i) const { return object_->data[i]; }  // unchecked
  // IndexError when out of range.
  AnyView at(size_t i) const {
    if (KP_UNLIKELY(i >= size())) detail::throw_bad_index(i, size());
    return (*this)[i];
  }
  const detail::Ref<KpSequenceObject>& object() const { return object_; }

 private:
  detail::Ref<KpSequenceObject> object_;
};

template <class T>
struct Traits<ListView<T>> {
  static Read read(const KpAny& a, ListView<T>* out) {
    const KpSequenceObject* sequence = detail::sequence_of(a);
    if (KP_UNLIKELY(!sequence)) return Read::kWrongType;
    for (int64_t i = 0; i < sequence->size; ++i) {
      T item{};
      const Read r = Traits<T>::read(sequence->data[i], &item);
      if (KP_UNLIKELY(r != Read::kOk)) return r;
    }
    *out = ListView<T>(sequence);
    return Read::kOk;
  }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "list[";
    Traits<T>::name(s);
    s << "]";
  }
};

template <>
struct Traits<Array> {
  static Read read(const KpAny& a, Array* out) {
    if (!detail::sequence_of(a)) return Read::kWrongType;
    kp_retain(a.v.v_obj);
    *out = Array(detail::Ref<KpSequenceObject>(reinterpret_cast<KpSequenceObject*>(a.v.v_obj)));
    return Read::kOk;
  }
  static KpAny view(const Array& value) {
    KpAny a = kp_none();
    a.type_index = value.object()->header.type_index;
    a.v.v_obj = value.object().object();
    return a;
  }
  static KpAny own(Array value) {
    const KpAny a = view(value);
    kp_any_retain(&a);
    return a;
  }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << "list";
  }
};

KP_NAMESPACE_END

#endif  // KERNPACK_ARRAY_H_
