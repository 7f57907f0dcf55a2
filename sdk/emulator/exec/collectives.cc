#include "exec/collectives.h"

#include <chrono>

#include "exec/block.h"
#include "exec/fault.h"
#include "exec/warp.h"

namespace kernpack::emulator {
namespace {

void PutPredicate(Warp& warp, uint32_t slot, uint32_t mask, uint32_t bits) {
  if (slot == kNoOperand) return;
  uint32_t& word = *Words(warp, slot);
  word = (word & ~mask) | (bits & mask);
}
void PutAll(Warp& warp, uint32_t slot, uint32_t mask, uint32_t value) {
  if (slot == kNoOperand) return;
  uint32_t* out = Words(warp, slot);
  for (uint32_t l = 0; l < kLanes; ++l) out[l] = (mask >> l & 1) != 0 ? value : out[l];
}

}  // namespace

void RunShuffle(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t* a = Words(warp, i.op[2]);
  const uint32_t* b = Words(warp, i.op[3]);
  const uint32_t* c = Words(warp, i.op[4]);
  uint32_t out[kLanes];
  uint32_t inside = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint32_t segment = c[l] >> 8 & 31, clamp = c[l] & 31, offset = b[l] & 31;
    const uint32_t least = l & segment, most = least | (clamp & ~segment);
    int from = 0;
    bool in = false;
    switch (i.variant) {
      case 0:
        from = static_cast<int>(l) - static_cast<int>(offset);
        in = from >= static_cast<int>(most);
        break;
      case 1:
        from = static_cast<int>(l + offset);
        in = from <= static_cast<int>(most);
        break;
      case 2:
        from = static_cast<int>(l ^ offset);
        in = from <= static_cast<int>(most);
        break;
      default:
        from = static_cast<int>(least | (offset & ~segment));
        in = from <= static_cast<int>(most);
        break;
    }
    if (!in) from = static_cast<int>(l);
    const auto lane = static_cast<uint32_t>(from) & 31;
    if ((mask >> l & 1) != 0 && in && (mask >> lane & 1) == 0 && (warp.threads >> lane & 1) != 0) {
      Fail(warp, i, l, Fault::Kind::kUninitialised,
           Text("takes the value of lane %u, which doesn't participate", lane));
    }
    out[l] = a[lane];
    inside |= uint32_t(in) << l;
  }
  uint32_t* to = Words(warp, i.op[0]);
  for (uint32_t l = 0; l < kLanes; ++l) to[l] = (mask >> l & 1) != 0 ? out[l] : to[l];
  PutPredicate(warp, i.op[1], mask, inside);
}

void RunVote(Warp& warp, const Instruction& i, uint32_t mask) {
  uint32_t predicate = *Words(warp, i.op[1]);
  if ((i.flags & kNegateC) != 0) predicate = ~predicate;
  predicate &= mask;
  if (i.variant == 3) return PutAll(warp, i.op[0], mask, predicate);
  const bool all = predicate == mask, any = predicate != 0;
  const bool out = i.variant == 0 ? all : i.variant == 1 ? any : all || !any;
  PutPredicate(warp, i.op[0], mask, out ? ~0U : 0);
}

void RunMatch(Warp& warp, const Instruction& i, uint32_t mask) {
  const auto value = [&](uint32_t lane) -> uint64_t {
    return i.wide ? reinterpret_cast<const uint64_t*>(warp.registers + i.op[2])[lane] : Words(warp, i.op[2])[lane];
  };
  uint32_t out[kLanes] = {};
  bool all = true;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if ((mask >> l & 1) == 0) continue;
    for (uint32_t m = 0; m < kLanes; ++m) out[l] |= uint32_t((mask >> m & 1) != 0 && value(m) == value(l)) << m;
    all = all && out[l] == mask;
  }
  uint32_t* to = Words(warp, i.op[0]);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if ((mask >> l & 1) != 0) to[l] = i.variant == 0 ? out[l] : all ? mask : 0;
  }
  PutPredicate(warp, i.op[1], mask, all ? ~0U : 0);
}

void RunReduce(Warp& warp, const Instruction& i, uint32_t mask) {
  const uint32_t* a = Words(warp, i.op[1]);
  uint32_t out = a[First(mask)];
  for (uint32_t left = mask & (mask - 1); left != 0; left &= left - 1) {
    const uint32_t b = a[First(left)];
    const bool less = i.is_signed ? static_cast<int32_t>(b) < static_cast<int32_t>(out) : b < out;
    switch (i.variant) {
      case 0:
        out += b;
        break;
      case 1:
        out = less ? b : out;
        break;
      case 2:
        out = less ? out : b;
        break;
      case 3:
        out &= b;
        break;
      case 4:
        out |= b;
        break;
      default:
        out ^= b;
        break;
    }
  }
  PutAll(warp, i.op[0], mask, out);
}

void RunActiveMask(Warp& warp, const Instruction& i, uint32_t mask) { PutAll(warp, i.op[0], mask, mask); }

void RunElect(Warp& warp, const Instruction& i, uint32_t mask) {
  PutAll(warp, i.op[0], mask, First(mask));
  PutPredicate(warp, i.op[1], mask, mask & (0 - mask));
}

void RunTrap(Warp& warp, const Instruction& i, uint32_t mask) {
  Fail(warp, i, First(mask), Fault::Kind::kTrap, "was reached: the kernel stops itself");
}

void RunClock(Warp& warp, const Instruction& i, uint32_t mask) {
  ++warp.effects;  // what waits for a time doesn't wait for ever
  const auto now = static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  if (!i.wide) return PutAll(warp, i.op[0], mask, static_cast<uint32_t>(now));
  auto* out = reinterpret_cast<uint64_t*>(warp.registers + i.op[0]);
  for (uint32_t l = 0; l < kLanes; ++l) out[l] = (mask >> l & 1) != 0 ? now : out[l];
}

}  // namespace kernpack::emulator
