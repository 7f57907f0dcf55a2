// Reference-counted objects of the ABI: making them, holding them.
#ifndef KERNPACK_OBJECT_H_
#define KERNPACK_OBJECT_H_

#include <kernpack/config.h>

#include <new>

KP_NAMESPACE_BEGIN
namespace detail {

template <class Body>
void delete_plain(void* object, int flags) {
  if (flags & KP_DELETE_WEAK) ::operator delete(object);
}

// A zeroed body in `memory` (nullable: then NULL), with one strong reference.
template <class Body>
Body* init_object(void* memory, int32_t type_index, void (*deleter)(void*, int)) {
  if (!memory) return nullptr;
  __builtin_memset(memory, 0, sizeof(Body));
  Body* body = static_cast<Body*>(memory);
  KpObject* header = reinterpret_cast<KpObject*>(body);
  header->counts = 1 | static_cast<uint64_t>(1) << 32;
  header->type_index = type_index;
  header->deleter = deleter;
  return body;
}

// A body with `extra` bytes behind it and a deleter of this module's. Throws std::bad_alloc.
template <class Body>
Body* new_object(int32_t type_index, size_t extra = 0, void (*deleter)(void*, int) = &delete_plain<void>) {
  return init_object<Body>(::operator new(sizeof(Body) + extra), type_index, deleter);
}

// A body with `extra` bytes behind it and a deleter of this module's. NULL when memory runs out.
template <class Body>
Body* new_object(std::nothrow_t, int32_t type_index, size_t extra = 0,
                 void (*deleter)(void*, int) = &delete_plain<void>) {
  return init_object<Body>(::operator new(sizeof(Body) + extra, std::nothrow), type_index, deleter);
}

// Owns one reference to an object with this body (a C struct that starts with a KpObject); may be null.
template <class Body>
class Ref {
 public:
  Ref() = default;
  explicit Ref(Body* owned) : body_(owned) {}
  Ref(const Ref& other) : body_(other.body_) { kp_retain(object()); }
  Ref(Ref&& other) noexcept : body_(other.body_) { other.body_ = nullptr; }
  Ref& operator=(Ref other) noexcept {
    Body* mine = body_;
    body_ = other.body_;
    other.body_ = mine;
    return *this;
  }
  ~Ref() { kp_release(object()); }

  Body* get() const { return body_; }
  Body* operator->() const { return body_; }
  explicit operator bool() const { return body_ != nullptr; }
  KpObject* object() const { return reinterpret_cast<KpObject*>(body_); }
  // Gives the reference away.
  Body* release() {
    Body* body = body_;
    body_ = nullptr;
    return body;
  }

 private:
  Body* body_ = nullptr;
};

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_OBJECT_H_
