// Finds one of many names: open addressing over numbers, one machine word a slot, no allocation a name.
#ifndef KERNPACK_SRC_MODULES_NAME_INDEX_H_
#define KERNPACK_SRC_MODULES_NAME_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/hash.h"

namespace kernpack::host {

class NameIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  NameIndex() = default;
  // Room for `count` names, which live elsewhere: the callers below say what a number's name is.
  explicit NameIndex(size_t count);
  size_t room() const { return room_; }

  // The number under which `name` is known; when it is new, adds it under `number` and returns kNone.
  template <class GetName>
  uint32_t FindOrAdd(std::string_view name, uint32_t number, const GetName& name_of) {
    const uint32_t hash = Hash(name);
    Slot& slot = slots_[Probe(name, hash, name_of)];
    if (slot.number_plus_1 != 0) return slot.number_plus_1 - 1;
    slot = Slot{hash, number + 1};
    return kNone;
  }
  template <class GetName>
  uint32_t Find(std::string_view name, const GetName& name_of) const {
    return slots_ ? slots_[Probe(name, Hash(name), name_of)].number_plus_1 - 1 : kNone;
  }

 private:
  struct Slot {
    uint32_t hash;
    uint32_t number_plus_1;  // 0: free
  };
  static uint32_t Hash(std::string_view name) { return static_cast<uint32_t>(HashText(name)); }

  template <class GetName>
  size_t Probe(std::string_view name, uint32_t hash, const GetName& name_of) const {
    for (size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.number_plus_1 == 0 || (slot.hash == hash && name == name_of(slot.number_plus_1 - 1))) return at;
    }
  }

  std::unique_ptr<Slot[]> slots_;  // a power of two; at least a fifth of them free
  size_t mask_ = 0;
  size_t room_ = 0;
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULES_NAME_INDEX_H_
