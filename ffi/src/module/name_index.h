// Finds one of many names: open addressing over numbers, two machine words a name, no allocation a name.
#ifndef KERNPACK_SRC_MODULE_NAME_INDEX_H_
#define KERNPACK_SRC_MODULE_NAME_INDEX_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace kernpack::host {

class NameIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Room for `count` names. The names live elsewhere, as long as this.
  explicit NameIndex(size_t count = 0);
  // The number under which `name` is known; when it is new, adds it under `number` and returns kNone.
  uint32_t FindOrAdd(std::string_view name, uint32_t number);
  uint32_t Find(std::string_view name) const;

 private:
  struct Slot {
    const char* name;
    uint32_t size;
    uint32_t number;
    uint64_t hash;
  };
  const Slot& Probe(std::string_view name, uint64_t hash) const;

  std::vector<Slot> slots_;  // a power of two; at least half of them free
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULE_NAME_INDEX_H_
