// Making and freeing reference-counted objects; every one is counted for leak tests.
#ifndef KERNPACK_SRC_VALUES_OBJECT_OBJECT_H_
#define KERNPACK_SRC_VALUES_OBJECT_OBJECT_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include <kernpack/abi.h>

namespace kernpack::host {

constexpr uint64_t kOneStrongOneWeak = uint64_t{1} | uint64_t{1} << 32;

// Adds to the number of live objects; sharded by thread, so that two threads making objects do not share a cache line.
void CountLive(int64_t delta) noexcept;

// A zeroed body with `extra` bytes behind it and one reference. Throws std::bad_alloc. `alignment` 0: malloc's.
void* AllocateObject(size_t body, size_t extra, size_t alignment, int32_t type_index, void (*deleter)(void*, int));
void FreeObject(void* object) noexcept;

template <class Body>
Body* NewObject(int32_t type_index, void (*deleter)(void*, int), size_t extra = 0, size_t alignment = 0) {
  static_assert(std::is_trivially_destructible_v<Body>);
  return static_cast<Body*>(AllocateObject(sizeof(Body), extra, alignment, type_index, deleter));
}

// The deleter of objects that own nothing but their memory.
inline void DeletePlain(void* object, int flags) noexcept {
  if (flags & KP_DELETE_WEAK) FreeObject(object);
}

inline KpObject* Header(void* object) { return static_cast<KpObject*>(object); }

// Hands a new object to the caller.
inline void SetObject(KpAny* out, void* object) {
  out->v.v_bits = 0;
  out->v.v_obj = Header(object);
  out->type_index = Header(object)->type_index;
  out->small_len = 0;
}

// Owns one value; releases it on scope exit unless taken.
class OwnedAny {
 public:
  OwnedAny() : value_(kp_none()) {}
  OwnedAny(const OwnedAny&) = delete;
  OwnedAny& operator=(const OwnedAny&) = delete;
  ~OwnedAny() { kp_any_release(&value_); }
  KpAny* out() { return &value_; }
  const KpAny& get() const { return value_; }
  KpAny Take() {
    KpAny taken = value_;
    value_ = kp_none();
    return taken;
  }

 private:
  KpAny value_;
};

// Functions of the registries for the rest of the host.
// The interned key of a type index that this host allotted; NULL for any other.
const char* RegisteredTypeName(int32_t type_index) noexcept;

// *out is an ARRAY of strings. Returns 0, or -1 with an error raised.
int NewStringArray(const std::vector<std::string>& texts, KpAny* out);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_VALUES_OBJECT_OBJECT_H_
