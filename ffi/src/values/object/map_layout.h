// Maps as the TVM FFI ABI lays them out: kernels of either SDK read, and rehash, them with code inlined from headers, so
// layout, hash and probe distances below are part of the binary contract.
//
// Flat: the top bit of `slots` is set; `size` pairs of KpAny at `data`, in insertion order.
// Dense: `slots` is a power of two; `data` holds blocks of 16 tag bytes and 16 items. A key's chain begins at its home
// slot, and the low 7 bits of each tag are an index into kProbeDistances: how far on the chain's next item lies, 0 for the
// last. Items are also linked in insertion order.
#ifndef KERNPACK_SRC_VALUES_OBJECT_MAP_LAYOUT_H_
#define KERNPACK_SRC_VALUES_OBJECT_MAP_LAYOUT_H_

#include <cstddef>
#include <cstdint>

#include <kernpack/abi.h>

namespace kernpack::host {

struct MapPair {
  KpAny key;
  KpAny value;
};

struct MapItem {
  MapPair pair;
  uint64_t previous;  // kNoItem at the ends
  uint64_t next;
};

struct DenseMapObject {
  KpMapObject base;
  uint32_t shift;  // home slot = (kFibonacci * hash) >> shift
  uint64_t first;
  uint64_t last;
};

constexpr uint64_t kFlatMap = uint64_t{1} << 63;
constexpr uint64_t kMaxFlatPairs = 4;
constexpr uint64_t kMinFlatPairs = 2;  // so that a foreign SDK may turn a flat map into a dense one in place
constexpr uint64_t kBlockItems = 16;
constexpr uint64_t kNoItem = UINT64_MAX;
constexpr uint8_t kEmptyTag = 0xff;
constexpr uint8_t kNotHead = 0x80;
constexpr uint8_t kJumpMask = 0x7f;
constexpr uint64_t kFibonacci = 11400714819323198485u;
constexpr int kProbeCount = 126;
extern const uint64_t kProbeDistances[kProbeCount];

struct MapBlock {
  uint8_t tags[kBlockItems];
  MapItem items[kBlockItems];
};

static_assert(sizeof(KpMapObject) == 56);
static_assert(sizeof(DenseMapObject) == 80 && offsetof(DenseMapObject, shift) == 56 &&
              offsetof(DenseMapObject, first) == 64);
static_assert(sizeof(MapItem) == 48 && sizeof(MapBlock) == 16 * 49);

inline bool IsFlat(const KpMapObject& map) { return (map.slots & kFlatMap) != 0; }
inline uint8_t& TagAt(void* data, uint64_t slot) {
  return static_cast<MapBlock*>(data)[slot / kBlockItems].tags[slot % kBlockItems];
}
inline MapItem& ItemAt(void* data, uint64_t slot) {
  return static_cast<MapBlock*>(data)[slot / kBlockItems].items[slot % kBlockItems];
}

// Strings hash and compare by content whichever form they have, bytes likewise; everything else by its 16 bytes.
uint64_t HashKey(const KpAny& key) noexcept;
bool SameKey(const KpAny& a, const KpAny& b) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_VALUES_OBJECT_MAP_LAYOUT_H_
