// atom and red: one lane after the other, each as one exchange on the host.
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

#include "exec/access.h"
#include "exec/counts.h"
#include "exec/global_races.h"
#include "exec/memory_ops.h"
#include "exec/taint.h"
#define KP_ISA Plain
#include "ops/small_float.h"

namespace kernpack::emulator {
namespace {

using Plain::Brain;
using Plain::Half;
using Update = uint64_t (*)(uint64_t old, uint64_t b, uint64_t c);

template <class T>
T As(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
uint64_t Bits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
uint64_t ApplyAdd(uint64_t a, uint64_t b, uint64_t) {
  return Bits<T>(static_cast<T>(As<T>(a) + As<T>(b)));
}
template <class T>
uint64_t ApplyMin(uint64_t a, uint64_t b, uint64_t) {
  return Bits<T>(std::min(As<T>(a), As<T>(b)));
}
template <class T>
uint64_t ApplyMax(uint64_t a, uint64_t b, uint64_t) {
  return Bits<T>(std::max(As<T>(a), As<T>(b)));
}
uint64_t ApplyAnd(uint64_t a, uint64_t b, uint64_t) { return a & b; }
uint64_t ApplyOr(uint64_t a, uint64_t b, uint64_t) { return a | b; }
uint64_t ApplyXor(uint64_t a, uint64_t b, uint64_t) { return a ^ b; }
uint64_t ApplyExchange(uint64_t, uint64_t b, uint64_t) { return b; }
uint64_t ApplyCompareExchange(uint64_t a, uint64_t b, uint64_t c) { return a == b ? c : a; }
uint64_t ApplyIncrement(uint64_t a, uint64_t b, uint64_t) { return uint32_t(a) >= uint32_t(b) ? 0 : a + 1; }
uint64_t ApplyDecrement(uint64_t a, uint64_t b, uint64_t) { return a == 0 || uint32_t(a) > uint32_t(b) ? b : a - 1; }
template <class S, int kParts>
uint64_t AddSmall(uint64_t a, uint64_t b, uint64_t) {
  uint64_t out = 0;
  for (int i = 0; i < 16 * kParts; i += 16) {
    out |= uint64_t{S::Write(S::Read(uint16_t(a >> i)) + S::Read(uint16_t(b >> i)))} << i;
  }
  return out;
}

// A NaN gives way to a number.
template <class S, bool kGreater>
uint64_t ChooseSmall(uint64_t a, uint64_t b, uint64_t) {
  const double x = S::Read(uint16_t(a)), y = S::Read(uint16_t(b));
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) ? b : a;
  return (kGreater ? x < y : x > y) ? b : a;
}

struct Named {
  std::string_view operation;
  std::string_view type;
  Update update;
  bool in_bulk = false;  // of cp.reduce.async.bulk alone
};
constexpr Named kUpdates[] = {
    {"add", "u32", ApplyAdd<uint32_t>},
    {"add", "s32", ApplyAdd<uint32_t>},
    {"add", "u64", ApplyAdd<uint64_t>},
    {"add", "s64", ApplyAdd<uint64_t>},
    {"add", "f32", ApplyAdd<float>},
    {"add", "f64", ApplyAdd<double>},
    {"add", "f16", AddSmall<Half, 1>},
    {"add", "f16x2", AddSmall<Half, 2>},
    {"add", "bf16", AddSmall<Brain, 1>},
    {"add", "bf16x2", AddSmall<Brain, 2>},
    {"min", "u32", ApplyMin<uint32_t>},
    {"min", "s32", ApplyMin<int32_t>},
    {"min", "u64", ApplyMin<uint64_t>},
    {"min", "s64", ApplyMin<int64_t>},
    {"max", "u32", ApplyMax<uint32_t>},
    {"max", "s32", ApplyMax<int32_t>},
    {"max", "u64", ApplyMax<uint64_t>},
    {"max", "s64", ApplyMax<int64_t>},
    {"inc", "u32", ApplyIncrement},
    {"dec", "u32", ApplyDecrement},
    {"and", "b32", ApplyAnd},
    {"and", "b64", ApplyAnd},
    {"or", "b32", ApplyOr},
    {"or", "b64", ApplyOr},
    {"xor", "b32", ApplyXor},
    {"xor", "b64", ApplyXor},
    {"exch", "b32", ApplyExchange},
    {"exch", "b64", ApplyExchange},
    {"cas", "b16", ApplyCompareExchange},
    {"cas", "b32", ApplyCompareExchange},
    {"cas", "b64", ApplyCompareExchange},
    {"min", "f16", ChooseSmall<Half, false>, true},
    {"max", "f16", ChooseSmall<Half, true>, true},
    {"min", "bf16", ChooseSmall<Brain, false>, true},
    {"max", "bf16", ChooseSmall<Brain, true>, true},
};

template <class T>
uint64_t Exchange(uint8_t* at, Update update, uint64_t b, uint64_t c) {
  auto* word = reinterpret_cast<T*>(at);
  T old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(word, &old, static_cast<T>(update(old, b, c)), false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
  }
  return old;
}

}  // namespace

bool FindAtomic(std::string_view operation, std::string_view type, uint8_t* variant, bool in_bulk) {
  for (size_t i = 0; i < std::size(kUpdates); ++i) {
    if (kUpdates[i].operation != operation || kUpdates[i].type != type || (kUpdates[i].in_bulk && !in_bulk)) continue;
    *variant = static_cast<uint8_t>(i);
    return true;
  }
  return false;
}

void UpdateMemory(uint8_t variant, uint32_t bytes, uint8_t* at, const uint8_t* by) {
  const Update update = kUpdates[variant].update;
  uint64_t value = 0;
  std::memcpy(&value, by, bytes);
  if (bytes == 2) Exchange<uint16_t>(at, update, value, 0);
  if (bytes == 4) Exchange<uint32_t>(at, update, value, 0);
  if (bytes == 8) Exchange<uint64_t>(at, update, value, 0);
}

void RunAtomic(Warp& warp, const Instruction& i, uint32_t mask) {
  const Update update = kUpdates[i.variant].update;
  uint64_t addresses[kLanes];
  Addresses(warp, i, addresses);
  const auto get = [&](uint32_t slot, uint32_t lane) -> uint64_t {
    if (slot == kNoOperand) return 0;
    if (i.wide) return reinterpret_cast<const uint64_t*>(warp.registers + slot)[lane];
    const uint32_t word = reinterpret_cast<const uint32_t*>(warp.registers + slot)[lane];
    return i.bytes == 2 ? word & 0xffff : word;
  };
  while (mask != 0) {
    Access access;
    access.kind = AccessKind::kAtomic;
    access.bytes = i.bytes;
    Locate(warp, i, addresses, &mask, &access);
    CountAccess(warp, i, access);
    NeedUntainted(warp, i, i.op[2], access.mask, "updates memory with");
    NeedUntainted(warp, i, i.op[3], access.mask, "updates memory with");
    SetTaint(warp, i.op[1], access.mask, 0);
    const bool global = GlobalChecked(warp, access.space);
    if (global) CheckGlobal(warp, i, access, 0);
    for (uint32_t l = 0; l < kLanes; ++l) {
      if ((access.mask >> l & 1) == 0) continue;
      if (RacesChecked(warp, access.space)) CheckRaces(warp, i, access, l, false);
      const uint64_t b = get(i.op[2], l), c = get(i.op[3], l);
      uint64_t old = 0;
      if (i.bytes == 2) old = Exchange<uint16_t>(access.host[l], update, b, c);
      if (i.bytes == 4) old = Exchange<uint32_t>(access.host[l], update, b, c);
      if (i.bytes == 8) old = Exchange<uint64_t>(access.host[l], update, b, c);
      if (i.op[1] == kNoOperand) continue;
      if (i.wide) {
        reinterpret_cast<uint64_t*>(warp.registers + i.op[1])[l] = old;
      } else {
        reinterpret_cast<uint32_t*>(warp.registers + i.op[1])[l] = static_cast<uint32_t>(old);
      }
    }
    if (global) AcquireGlobal(warp, i, access);
    Wrote(warp, i, access);
    ++warp.effects;
  }
}

}  // namespace kernpack::emulator
