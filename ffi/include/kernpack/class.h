// Objects of your own C++ class, as values that callers hold and pass back.
#ifndef KERNPACK_CLASS_H_
#define KERNPACK_CLASS_H_

#include <kernpack/any.h>
#include <kernpack/call.h>

#include <cstddef>
#include <utility>

// Names a class for callers: KP_CLASS(Plan, "my_kernels.Plan"), once, at global scope, before kp::Ptr<Plan> is used. Type
// names and errors show the key; start it with the module's name, because all modules of a host share the keys.
#define KP_CLASS(type, key)                                       \
  template <>                                                     \
  struct kernpack::detail::ClassKey<type> {                       \
    static constexpr const char* value = key;                     \
    static_assert(sizeof(key) > 1, "KP_CLASS: the key is empty"); \
  }

KP_NAMESPACE_BEGIN
namespace detail {

template <class T>
struct ClassKey;  // no definition: KP_CLASS(T, "...") is missing

// The object that a caller holds: the ABI's opaque object, followed by the C++ object.
template <class T>
struct Boxed {
  KpOpaqueObject opaque;  // handle: the T
  const char* key;
  alignas(T) unsigned char value[sizeof(T)];

  static_assert(alignof(T) <= alignof(std::max_align_t),
                "KP_CLASS: an over-aligned class; hold it by a pointer inside");

  T* get() { return static_cast<T*>(opaque.handle); }
  static void destroy(void* object, int flags) {
    if (flags & KP_DELETE_STRONG) static_cast<Boxed*>(object)->get()->~T();
    if (flags & KP_DELETE_WEAK) ::operator delete(object);
  }
  // Null unless the object is one of this module's T. Only this module's code has that deleter and that key, so no lookup is needed,
  // and an object of another module, or of another version of this one, is never mistaken for ours.
  static Boxed* of(KpObject* object) {
    if (object->deleter != &destroy) return nullptr;
    Boxed* boxed = reinterpret_cast<Boxed*>(object);
    return boxed->key == ClassKey<T>::value ? boxed : nullptr;
  }
};

}  // namespace detail

// Shares ownership of an object of class T, for which KP_CLASS is written. The last owner destroys the object, on that owner's
// thread. May be null, which callers see as None; a parameter that accepts None is std::optional<kp::Ptr<T>>.
//
//   KP_CLASS(Plan, "my_kernels.Plan");
//   kp::Ptr<Plan> MakePlan(int64_t n) { return kp::make<Plan>(n); }
//   void Run(kp::Ptr<Plan> plan, kp::TensorView x) { plan->run(x); }
template <class T>
class Ptr {
 public:
  Ptr() = default;
  explicit Ptr(detail::Ref<detail::Boxed<T>> boxed) : boxed_(static_cast<detail::Ref<detail::Boxed<T>>&&>(boxed)) {}

  T* get() const { return boxed_ ? boxed_->get() : nullptr; }
  T* operator->() const { return get(); }
  T& operator*() const { return *get(); }
  explicit operator bool() const { return static_cast<bool>(boxed_); }
  const detail::Ref<detail::Boxed<T>>& object() const { return boxed_; }

 private:
  detail::Ref<detail::Boxed<T>> boxed_;
};

// A new T(args...), with the calling host's type index for its key. Exceptions of T's constructor pass through.
template <class T, class... A>
Ptr<T> make(A&&... args) {
  using Box = detail::Boxed<T>;
  const KpHost* h = detail::host();
  int32_t type_index = 0;
  detail::check_host(h->type_index(h, kp_bytes(detail::ClassKey<T>::value), &type_index));
  Box* boxed = detail::new_object<Box>(type_index, 0, &Box::destroy);
  try {
    boxed->opaque.handle = new (boxed->value) T(std::forward<A>(args)...);
  } catch (...) {
    ::operator delete(static_cast<void*>(boxed));
    throw;
  }
  boxed->key = detail::ClassKey<T>::value;
  return Ptr<T>(detail::Ref<Box>(boxed));
}

template <class T>
struct Traits<Ptr<T>> {
  static Read read(const KpAny& a, Ptr<T>* out) {
    if (!kp_is_object(&a)) return Read::kWrongType;
    detail::Boxed<T>* boxed = detail::Boxed<T>::of(a.v.v_obj);
    if (KP_UNLIKELY(!boxed)) return Read::kWrongType;
    kp_retain(a.v.v_obj);
    *out = Ptr<T>(detail::Ref<detail::Boxed<T>>(boxed));
    return Read::kOk;
  }
  static KpAny view(const Ptr<T>& value) {
    KpAny a = kp_none();
    if (!value) return a;
    a.v.v_obj = value.object().object();
    a.type_index = a.v.v_obj->type_index;
    return a;
  }
  static KpAny own(Ptr<T> value) {
    const KpAny a = view(value);
    kp_any_retain(&a);
    return a;
  }
  template <class Sink>
  static constexpr void name(Sink& s) {
    s << detail::ClassKey<T>::value;
  }
};

KP_NAMESPACE_END

#endif  // KERNPACK_CLASS_H_
