#include "exec/race.h"

#include <algorithm>

#include "program/program.h"

namespace kernpack::emulator {

void RaceShadow::Reset(uint64_t shared_bytes, uint32_t warps, uint32_t barriers, uint32_t clusters, uint32_t cores) {
  words_.resize((shared_bytes + 3) / 4);
  if (++block_ == 0) words_.assign(words_.size(), Word()), block_ = 1;
  together_ = warps / clusters;
  clocked_ = together_ + cores;
  wide_ = 3 * clocked_;
  seen_.assign(size_t{warps} * wide_, 0);
  arrived_.assign((size_t{barriers} + 2 * clusters) * wide_, 0);
  barriers_ = barriers;
}

RaceShadow::Word* RaceShadow::At(uint64_t index) {
  Word* const word = &words_[index];
  if (word->block != block_) *word = Word(), word->block = block_;
  return word;
}

void RaceShadow::Arrive(const Warp& warp, uint32_t barrier) {
  if (seen_.empty()) return;
  HandOver(warp, arrived_.data() + size_t{barrier} * wide_);
}

void RaceShadow::ArriveUntil(const Warp& warp, uint32_t barrier, uint32_t clock) {
  if (seen_.empty()) return;
  uint32_t& own = arrived_[size_t{barrier} * wide_ + (warp.index - warp.cluster_first)];
  own = std::max(own, clock);
}

void RaceShadow::HandOver(const Warp& warp, uint32_t* to) const {
  if (seen_.empty()) return;
  const uint32_t* const own = seen_.data() + size_t{warp.index} * wide_;
  for (uint32_t other = 0; other < wide_; ++other) to[other] = std::max(to[other], own[other]);
  uint32_t& itself = to[warp.index - warp.cluster_first];
  itself = std::max(itself, warp.clock);
}

void RaceShadow::Take(const Warp& warp, const uint32_t* from) {
  if (seen_.empty()) return;
  uint32_t* const own = seen_.data() + size_t{warp.index} * wide_;
  for (uint32_t other = 0; other < wide_; ++other) own[other] = std::max(own[other], from[other]);
}

void RaceShadow::Join(const std::vector<Warp>& warps, const std::vector<uint32_t>& met, uint32_t barrier) {
  if (seen_.empty()) return;
  for (const uint32_t w : met) Arrive(warps[w], barrier);
  const auto all = arrived_.begin() + size_t{barrier} * wide_;
  for (const uint32_t w : met) std::copy(all, all + wide_, seen_.begin() + size_t{w} * wide_);
  std::fill(all, all + wide_, 0U);
}

void RaceShadow::OpenCluster(uint32_t cluster) {
  if (seen_.empty()) return;
  const auto arrived = arrived_.begin() + static_cast<int64_t>(size_t{ClusterBarrier(cluster)} * wide_);
  std::copy(arrived, arrived + wide_, arrived + wide_);
  std::fill(arrived, arrived + wide_, 0U);
}

void RaceShadow::WaitForCluster(const Warp& warp, uint32_t cluster) {
  if (seen_.empty()) return;
  Take(warp, arrived_.data() + (size_t{ClusterBarrier(cluster)} + 1) * wide_);
}

void RaceShadow::FenceProxy(const Warp& warp) { Fence(warp, clocked_); }

void RaceShadow::FenceGlobal(const Warp& warp) { Fence(warp, 2 * clocked_); }

void RaceShadow::Fence(const Warp& warp, uint32_t part) {
  if (seen_.empty()) return;
  uint32_t* const own = seen_.data() + size_t{warp.index} * wide_;
  for (uint32_t other = 0; other < clocked_; ++other) own[part + other] = std::max(own[part + other], own[other]);
  own[part + (warp.index - warp.cluster_first)] = warp.clock;
}

void RaceShadow::MarkAsync(uint64_t offset, uint64_t bytes, uint8_t swizzle) {
  for (uint64_t w = offset / 4; w < (offset + bytes + 3) / 4; ++w) {
    Word& word = *At(w);
    word.async = true;
    word.swizzle = swizzle & 3;
  }
}
uint8_t RaceShadow::GetSwizzle(uint64_t offset, uint32_t* statement) {
  const Word& word = *At(offset / 4);
  *statement = word.write_statement;
  return word.writer == kNobody || !word.async ? 0 : word.swizzle;
}

RaceShadow::Conflict RaceShadow::Unfenced(const Warp& warp, uint64_t offset, uint64_t bytes) {
  const uint32_t* const fenced = seen_.data() + size_t{warp.index} * wide_ + clocked_;
  for (uint64_t w = offset / 4; w < (offset + bytes + 3) / 4; ++w) {
    const Word& word = *At(w);
    if (word.writer == kNobody || word.async) continue;
    if (word.write_clock <= fenced[word.writer / kLanes - warp.cluster_first]) continue;
    return {true, word.writer, false, word.write_statement, true};
  }
  return {};
}

bool RaceShadow::Before(const Warp& warp, uint32_t thread, uint32_t clock) const {
  const uint32_t other = thread / kLanes;
  if (other == warp.index) return clock < warp.clock;
  return clock <= seen_[size_t{warp.index} * wide_ + (other - warp.cluster_first)];
}

void RaceShadow::One(const Warp& warp, uint32_t thread, uint32_t statement, Word* word, uint8_t bytes, Access access,
                     bool same, Conflict* out) {
  const bool writes = access != Access::kRead;
  if (word->writer != kNobody && word->writer != thread && (word->write_bytes & bytes) != 0) {
    const bool both_atomic = access == Access::kAtomic && word->atomic;
    const bool repeated = same && access == Access::kWrite && !word->atomic;
    if (!both_atomic && !repeated && !Before(warp, word->writer, word->write_clock)) {
      *out = {true, word->writer, false, word->write_statement, true};
      return;
    }
  }
  if (writes && (word->read_bytes & bytes) != 0) {
    bool of_warp = false;
    const uint32_t who = UnorderedReader(warp, thread, *word, &of_warp);
    if (who != kNobody) {
      *out = {true, who, of_warp, word->read_statement, false};
      return;
    }
  }
  if (writes) {
    // A plain write stays one when the same thread updates the word afterwards.
    const bool plain_before = word->writer == thread && word->write_clock == warp.clock && !word->atomic;
    word->atomic = access == Access::kAtomic && !plain_before;
    word->async = false;
    word->writer = thread;
    word->write_clock = warp.clock;
    word->write_statement = statement;
    word->write_bytes = bytes;
    if (access == Access::kWrite) word->reader = kNobody;
    return;
  }
  Read(warp, thread, statement, word, bytes);
}

void RaceShadow::Read(const Warp& warp, uint32_t thread, uint32_t statement, Word* word, uint8_t bytes) {
  word->read_statement = statement;
  const bool overlap = (word->read_bytes & bytes) != 0;
  const bool one = word->reader != kMany;
  if (word->reader == kNobody || word->reader == thread || (one && !overlap) ||
      (one && Before(warp, word->reader, word->read_clock))) {
    word->reader = thread;
    word->read_clock = warp.clock;
    word->read_bytes = bytes;
    return;
  }
  word->read_bytes |= bytes;
  if (readers_ == nullptr) readers_.reset(new Readers[words_.size() * together_]);
  Readers* const all = readers_.get() + static_cast<size_t>(word - words_.data()) * together_;
  if (one) {
    std::fill(all, all + together_, Readers{0, 0});
    all[word->reader / kLanes - warp.cluster_first] = {word->read_clock, word->reader % kLanes};
    word->reader = kMany;
  }
  Readers& own = all[warp.index - warp.cluster_first];
  const uint32_t lane = thread % kLanes;
  own = {warp.clock, own.clock == warp.clock && own.lane != lane ? kLanes : lane};
}

uint32_t RaceShadow::UnorderedReader(const Warp& warp, uint32_t thread, const Word& word, bool* of_warp) const {
  if (word.reader == kNobody || word.reader == thread) return kNobody;
  if (word.reader != kMany) return Before(warp, word.reader, word.read_clock) ? kNobody : word.reader;
  const Readers* const all = readers_.get() + static_cast<size_t>(&word - words_.data()) * together_;
  const uint32_t first = warp.cluster_first;
  for (uint32_t w = 0; w < together_; ++w) {
    const uint32_t lane = all[w].lane == kLanes ? 0 : all[w].lane, who = (first + w) * kLanes + lane;
    if (all[w].clock == 0 || (first + w == warp.index && all[w].lane == thread % kLanes)) continue;
    if (Before(warp, who, all[w].clock)) continue;
    *of_warp = all[w].lane == kLanes;
    return who;
  }
  return kNobody;
}

// Neighbouring words mostly have one history: an answer of Before is kept for the next word.
void RaceShadow::ReadWords(const Warp& warp, uint32_t thread, uint32_t statement, Word* words, uint64_t count,
                           Conflict* out) {
  constexpr uint8_t kAll = 0xf;
  uint32_t writer = kNobody, write_clock = 0, reader = kNobody, read_clock = 0;  // that are before
  for (Word* word = words; word != words + count; ++word) {
    if (word->block != block_) *word = Word(), word->block = block_;
    if (word->writer != kNobody && word->writer != thread &&
        (word->writer != writer || word->write_clock != write_clock)) {
      if (Before(warp, word->writer, word->write_clock)) {
        writer = word->writer, write_clock = word->write_clock;
      } else {
        return One(warp, thread, statement, word, kAll, Access::kRead, false, out);
      }
    }
    if (word->reader != kNobody && word->reader != thread &&
        (word->reader != reader || word->read_clock != read_clock)) {
      if (word->reader == kMany || !Before(warp, word->reader, word->read_clock)) {
        Read(warp, thread, statement, word, kAll);
        continue;
      }
      reader = word->reader, read_clock = word->read_clock;
    }
    word->reader = thread;
    word->read_clock = warp.clock;
    word->read_statement = statement;
    word->read_bytes = kAll;
  }
}

void RaceShadow::WriteWords(const Warp& warp, uint32_t thread, uint32_t statement, Word* words, uint64_t count,
                            bool same, Conflict* out) {
  constexpr uint8_t kAll = 0xf;
  uint32_t writer = kNobody, write_clock = 0, reader = kNobody, read_clock = 0;  // that are before
  for (Word* word = words; word != words + count; ++word) {
    if (word->block != block_) *word = Word(), word->block = block_;
    const bool write_known = word->writer == kNobody || word->writer == thread ||
                             (word->writer == writer && word->write_clock == write_clock);
    const bool read_known =
        word->reader == kNobody || word->reader == thread || (word->reader == reader && word->read_clock == read_clock);
    if (!write_known || !read_known) {
      const uint32_t last_writer = word->writer, last_write = word->write_clock;
      const uint32_t last_reader = word->reader, last_read = word->read_clock;
      const bool ordered = last_writer != kNobody && last_writer != thread && !same && word->write_bytes == kAll;
      const bool read_ordered = last_reader < kMany && last_reader != thread && word->read_bytes != 0;
      One(warp, thread, statement, word, kAll, Access::kWrite, same, out);
      if (out->found) return;
      if (ordered) writer = last_writer, write_clock = last_write;
      if (read_ordered) reader = last_reader, read_clock = last_read;
      continue;
    }
    word->atomic = word->async = false;
    word->writer = thread;
    word->write_clock = warp.clock;
    word->write_statement = statement;
    word->write_bytes = kAll;
    word->reader = kNobody;
  }
}

RaceShadow::Conflict RaceShadow::CheckExpected(const Warp& warp, uint32_t thread, uint64_t offset, uint32_t bytes) {
  for (uint64_t w = offset / 4; w < (offset + bytes + 3) / 4; ++w) {
    const Word& word = *At(w);
    if (word.writer == kNobody || word.writer == thread || word.atomic) continue;
    if (Before(warp, word.writer, word.write_clock)) continue;
    return {true, word.writer, false, word.write_statement, true};
  }
  return {};
}

RaceShadow::Conflict RaceShadow::Check(const Warp& warp, uint32_t lane, const Instruction& instruction, uint64_t offset,
                                       uint32_t bytes, Access access, bool same) {
  Conflict conflict;
  const uint32_t thread = warp.index * kLanes + lane;
  if ((instruction.flags & kExpected) != 0) return CheckExpected(warp, thread, offset, bytes);
  if ((offset | bytes) % 4 == 0 && access != Access::kAtomic) {
    if (access == Access::kRead) {
      ReadWords(warp, thread, instruction.statement, words_.data() + offset / 4, bytes / 4, &conflict);
    } else {
      WriteWords(warp, thread, instruction.statement, words_.data() + offset / 4, bytes / 4, same, &conflict);
    }
    return conflict;
  }
  for (uint64_t at = offset; at < offset + bytes && !conflict.found;) {
    const uint64_t word = at / 4;
    const uint64_t end = std::min((word + 1) * 4, offset + bytes);
    const auto mask = static_cast<uint8_t>(((1U << (end - at)) - 1) << (at % 4));
    One(warp, thread, instruction.statement, At(word), mask, access, same, &conflict);
    at = end;
  }
  return conflict;
}

}  // namespace kernpack::emulator
