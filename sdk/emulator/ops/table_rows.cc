// Loads and stores of rows, and the test that addresses are one.
#include <cstring>

#include "exec/warp.h"
#include "ops/rows.h"

namespace kernpack::emulator::KP_ISA {
namespace {

template <class W>
bool Steps(const W* values, W first, W step) {
  W differ = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    differ |= values[l] ^ first;
    first += step;
  }
  return differ == 0;
}

// A row of vectors of kCount values of type T, which registers hold as W.
template <class T, class W, uint32_t kCount>
struct GetRow {
  template <bool kUniform>
  static void LoadAll(const uint8_t* from, const uint32_t* slots, unsigned char* registers) {
    for (uint32_t e = 0; e < kCount; ++e) {
      auto* to = reinterpret_cast<W*>(registers + slots[e]);
      for (uint32_t l = 0; l < kLanes; ++l) {
        T value;
        std::memcpy(&value, from + ((kUniform ? 0 : l * kCount) + e) * sizeof(T), sizeof value);
        to[l] = static_cast<W>(value);
      }
    }
  }
  static void Load(const Lanes& lanes, const uint32_t* slots, unsigned char* registers) {
    if (lanes.mask == ~0U) {
      return lanes.step == 0 ? LoadAll<true>(lanes.host, slots, registers)
                             : LoadAll<false>(lanes.host, slots, registers);
    }
    for (uint32_t left = lanes.mask; left != 0; left &= left - 1) {
      const auto l = static_cast<uint32_t>(__builtin_ctz(left));
      T values[kCount];
      std::memcpy(values, lanes.host + lanes.Offset(l), sizeof values);
      for (uint32_t e = 0; e < kCount; ++e) reinterpret_cast<W*>(registers + slots[e])[l] = static_cast<W>(values[e]);
    }
  }

  static void StoreLane(const uint32_t* slots, const unsigned char* registers, uint32_t lane, uint8_t* to) {
    for (uint32_t e = 0; e < kCount; ++e) {
      const auto value = static_cast<T>(reinterpret_cast<const W*>(registers + slots[e])[lane]);
      std::memcpy(to + e * sizeof(T), &value, sizeof value);
    }
  }
  static void Store(const Lanes& lanes, const uint32_t* slots, const unsigned char* registers) {
    if (lanes.mask == ~0U && lanes.step != 0) {
      for (uint32_t l = 0; l < kLanes; ++l)
        StoreLane(slots, registers, l, lanes.host + size_t{l} * (sizeof(T) * kCount));
      return;
    }
    for (uint32_t left = lanes.mask; left != 0; left &= left - 1) {
      const auto l = static_cast<uint32_t>(__builtin_ctz(left));
      StoreLane(slots, registers, l, lanes.host + lanes.Offset(l));
    }
  }
};

template <class T, class W>
RowMoves GetMoves(uint32_t count) {
  if (count == 1) return {GetRow<T, W, 1>::Load, GetRow<T, W, 1>::Store};
  if (count == 2) return {GetRow<T, W, 2>::Load, GetRow<T, W, 2>::Store};
  if (count == 4) return {GetRow<T, W, 4>::Load, GetRow<T, W, 4>::Store};
  return {nullptr, nullptr};
}

RowMoves Moves(uint32_t bytes, uint32_t count, bool wide, bool is_signed) {
  if (wide) return bytes == 8 ? GetMoves<uint64_t, uint64_t>(count) : RowMoves{nullptr, nullptr};
  if (bytes == 4) return GetMoves<uint32_t, uint32_t>(count);
  if (bytes == 2) return is_signed ? GetMoves<int16_t, uint32_t>(count) : GetMoves<uint16_t, uint32_t>(count);
  if (bytes == 1) return is_signed ? GetMoves<int8_t, uint32_t>(count) : GetMoves<uint8_t, uint32_t>(count);
  return {nullptr, nullptr};
}

}  // namespace

void SumTile(Tile* tile, uint32_t order);  // table_sums.cc
extern const StripCode kStripCode;         // table_strips.cc
extern const RowCode kRowCode;
const RowCode kRowCode{Steps<uint64_t>, Steps<uint32_t>, Moves, SumTile, &kStripCode};

}  // namespace kernpack::emulator::KP_ISA
