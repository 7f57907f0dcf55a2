// Which bytes have been written, a bit for each.
#include <cstring>

#include "exec/address_space.h"

namespace kernpack::emulator {
namespace {

uint8_t GetBits(uint64_t first, uint64_t last) {  // of one byte of the map, both within 0..7
  return static_cast<uint8_t>((0xffU << first) & (0xffU >> (7 - last)));
}

// Blocks of a grid run on several threads and may share a byte of the map.
void Set(uint8_t* at, uint8_t bits) {
  if ((__atomic_load_n(at, __ATOMIC_RELAXED) & bits) != bits) __atomic_fetch_or(at, bits, __ATOMIC_RELAXED);
}

}  // namespace

void MarkWritten(uint8_t* written, uint64_t offset, uint64_t bytes) {
  if (bytes == 0) return;
  const uint64_t last = offset + bytes - 1, from = offset / 8, to = last / 8;
  if (from == to) return Set(written + from, GetBits(offset % 8, last % 8));
  Set(written + from, GetBits(offset % 8, 7));
  for (uint64_t i = from + 1; i < to; ++i) __atomic_store_n(written + i, uint8_t{0xff}, __ATOMIC_RELAXED);
  Set(written + to, GetBits(0, last % 8));
}

bool AllWritten(const uint8_t* written, uint64_t offset, uint64_t bytes) {
  if (bytes == 0) return true;
  const auto holds = [&](uint64_t i, uint8_t bits) {
    return (__atomic_load_n(written + i, __ATOMIC_RELAXED) & bits) == bits;
  };
  const uint64_t last = offset + bytes - 1, from = offset / 8, to = last / 8;
  if (from == to) return holds(from, GetBits(offset % 8, last % 8));
  if (!holds(from, GetBits(offset % 8, 7)) || !holds(to, GetBits(0, last % 8))) return false;
  for (uint64_t i = from + 1; i < to; ++i) {
    if (!holds(i, 0xff)) return false;
  }
  return true;
}

}  // namespace kernpack::emulator
