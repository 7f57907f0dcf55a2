#include "exec/race.h"

#include <algorithm>

#include "program/program.h"

namespace kernpack::emulator {

void RaceShadow::Reset(uint64_t shared_bytes, uint32_t warps) {
  words_.assign((shared_bytes + 3) / 4, Word());
  seen_.assign(static_cast<size_t>(warps) * warps, 0);
  warps_ = warps;
  opened_ = 1;
  partial_ = false;
}

// Called before the warps' clocks advance.
void RaceShadow::Join(const std::vector<Warp>& warps, const std::vector<uint32_t>& met) {
  if (seen_.empty()) return;
  std::vector<uint32_t> all(warps_, 0);
  for (const uint32_t w : met) {
    for (uint32_t other = 0; other < warps_; ++other) all[other] = std::max(all[other], seen_[w * warps_ + other]);
  }
  for (const uint32_t w : met) all[w] = std::max(all[w], warps[w].clock);
  for (const uint32_t w : met) std::copy(all.begin(), all.end(), seen_.begin() + w * warps_);
  ++opened_;
  uint32_t live = 0;
  for (const Warp& warp : warps) live += warp.live() != 0;
  if (met.size() < live) partial_ = true;
}

bool RaceShadow::Before(const Warp& warp, uint32_t thread, uint32_t clock) const {
  const uint32_t other = thread / kLanes;
  if (other == warp.index) return clock < warp.clock;
  return clock <= seen_[warp.index * warps_ + other];
}

void RaceShadow::One(const Warp& warp, uint32_t thread, uint32_t statement, Word* word, uint8_t bytes, Access access,
                     bool same, Conflict* out) {
  const bool writes = access != Access::kRead;
  if (word->writer != kNobody && word->writer != thread && (word->write_bytes & bytes) != 0) {
    const bool both_atomic = access == Access::kAtomic && word->atomic;
    const bool repeated = same && word->writer / kLanes == warp.index && word->write_serial == warp.instructions;
    if (!both_atomic && !repeated && !Before(warp, word->writer, word->write_clock)) {
      *out = {true, word->writer, word->write_statement, true};
      return;
    }
  }
  if (writes && word->reader != kNobody && word->reader != thread && (word->read_bytes & bytes) != 0) {
    bool ordered = true;
    uint32_t who = word->reader;
    if (word->reader != kMany) {
      ordered = Before(warp, word->reader, word->read_clock);
    } else if (word->read_warp != kMany) {
      who = word->read_warp * kLanes;
      ordered = Before(warp, who, word->read_clock);
    } else {
      who = 0;
      ordered = partial_ || word->read_clock < opened_;
    }
    if (!ordered) {
      *out = {true, who, word->read_statement, false};
      return;
    }
  }
  if (writes) {
    // A plain write stays one when the same thread updates the word afterwards.
    const bool plain_before = word->writer == thread && word->write_clock == warp.clock && !word->atomic;
    word->atomic = access == Access::kAtomic && !plain_before;
    word->writer = thread;
    word->write_clock = warp.clock;
    word->write_statement = statement;
    word->write_serial = warp.instructions;
    word->write_bytes = bytes;
    if (access == Access::kWrite) word->reader = kNobody;
    return;
  }
  const bool overlap = (word->read_bytes & bytes) != 0;
  if (word->reader == kNobody || word->reader == thread || !overlap ||
      (word->reader != kMany && Before(warp, word->reader, word->read_clock))) {
    word->reader = thread;
    word->read_clock = warp.clock;
    word->read_warp = warp.index;
  } else if (word->read_warp == warp.index) {
    word->reader = kMany;
    word->read_clock = warp.clock;
  } else {
    word->reader = kMany;
    word->read_warp = kMany;
    word->read_clock = opened_;
  }
  word->read_statement = statement;
  word->read_bytes = bytes;
}

RaceShadow::Conflict RaceShadow::Check(const Warp& warp, uint32_t lane, const Instruction& instruction, uint64_t offset,
                                       uint32_t bytes, Access access, bool same) {
  Conflict conflict;
  const uint32_t thread = warp.index * kLanes + lane;
  for (uint64_t at = offset; at < offset + bytes && !conflict.found;) {
    const uint64_t word = at / 4;
    const uint64_t end = std::min((word + 1) * 4, offset + bytes);
    const auto mask = static_cast<uint8_t>(((1U << (end - at)) - 1) << (at % 4));
    One(warp, thread, instruction.statement, &words_[word], mask, access, same, &conflict);
    at = end;
  }
  return conflict;
}

}  // namespace kernpack::emulator
