// Storage keys: the borrowed form that a lookup uses, and the owned form that the table keeps.
#ifndef KERNPACK_SRC_DEVICES_STORAGE_KEY_H_
#define KERNPACK_SRC_DEVICES_STORAGE_KEY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include <kernpack/abi.h>

#include "base/hash.h"

namespace kernpack::host {

// A KpStorageKey without the fields that its scope doesn't use. Borrows its text; never allocates.
struct KeyView {
  std::string_view module;  // empty: shared between modules
  std::string_view key;
  uint32_t scope;
  KpDLDevice device;
  void* stream;

  friend bool operator==(const KeyView& a, const KeyView& b) {
    return a.key == b.key && a.module == b.module && a.scope == b.scope &&
           a.device.device_type == b.device.device_type && a.device.device_id == b.device.device_id &&
           a.stream == b.stream;
  }
};

inline bool IsOfStream(const KeyView& key, KpDLDevice device, void* stream) {
  return key.scope == KP_SCOPE_STREAM && key.stream == stream && key.device.device_type == device.device_type &&
         key.device.device_id == device.device_id;
}

// Returns 0, or -1 with a ValueError raised. `who` names the service in it. List requests may leave the key empty.
int ReadKey(const KpStorageKey* key, const char* who, KeyView* out, bool key_needed = true);

// A key with text of its own.
class StoredKey {
 public:
  explicit StoredKey(const KeyView& from)
      : text_(std::string(from.module).append(from.key)), module_size_(from.module.size()), rest_(from) {}
  KeyView view() const {
    KeyView view = rest_;
    view.module = std::string_view(text_).substr(0, module_size_);
    view.key = std::string_view(text_).substr(module_size_);
    return view;
  }

 private:
  std::string text_;
  size_t module_size_;
  KeyView rest_;  // its two texts are not read
};

inline KeyView AsView(const KeyView& key) { return key; }
inline KeyView AsView(const StoredKey& key) { return key.view(); }

struct KeyHash {
  using is_transparent = void;
  template <class Key>
  size_t operator()(const Key& any) const noexcept {
    const KeyView key = AsView(any);
    const uint64_t numbers[] = {key.scope | static_cast<uint64_t>(key.device.device_type) << 32,
                                static_cast<uint32_t>(key.device.device_id), reinterpret_cast<uintptr_t>(key.stream)};
    const uint64_t hash = HashText({reinterpret_cast<const char*>(numbers), sizeof numbers});
    return HashText(key.key, HashText(key.module, hash));
  }
};

struct KeyEqual {
  using is_transparent = void;
  template <class A, class B>
  bool operator()(const A& a, const B& b) const noexcept {
    return AsView(a) == AsView(b);
  }
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_STORAGE_KEY_H_
