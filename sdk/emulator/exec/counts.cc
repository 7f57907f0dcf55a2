#include "exec/counts.h"

#include <algorithm>
#include <bit>

#include "exec/access.h"

namespace kernpack::emulator {
namespace {

constexpr uint32_t kBanks = 32;
constexpr uint32_t kBankBytes = 4;

uint64_t Ceiling(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

// The distinct values of `count` numbers, which are sorted.
uint64_t Distinct(uint64_t* values, uint32_t count) {
  std::sort(values, values + count);
  return static_cast<uint64_t>(std::unique(values, values + count) - values);
}

void CountGlobal(const Access& access, Counts* counts, Moved* moved) {
  uint64_t sectors[2 * kLanes];
  uint32_t count = 0;
  for (uint32_t left = access.mask; left != 0; left &= left - 1) {
    const uint64_t address = access.address[std::countr_zero(left)];
    if (access.kind != AccessKind::kWrite) counts->read.Add(address, access.bytes);
    if (access.kind != AccessKind::kRead) counts->written.Add(address, access.bytes);
    sectors[count++] = address / kSectorBytes;
    sectors[count++] = (address + access.bytes - 1) / kSectorBytes;
  }
  const uint64_t bytes = static_cast<uint64_t>(std::popcount(access.mask)) * access.bytes;
  const uint64_t units = Distinct(sectors, count);
  moved->bytes += bytes;
  moved->units += units;
  moved->least += std::min(units, Ceiling(bytes, kSectorBytes));  // fewer where threads share bytes
}

// Passes of the lanes of `mask`: as many as the fullest bank has words.
uint64_t Passes(const Access& access, uint32_t mask) {
  uint64_t words[kLanes * 4];
  uint32_t count = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1) {
    const uint64_t address = access.address[std::countr_zero(left)];
    const uint64_t last = (address + access.bytes - 1) / kBankBytes;
    for (uint64_t word = address / kBankBytes; word <= last && count < kLanes * 4; ++word) words[count++] = word;
  }
  const uint64_t distinct = Distinct(words, count);
  uint32_t of_bank[kBanks] = {};
  for (uint64_t i = 0; i < distinct; ++i) ++of_bank[words[i] % kBanks];
  return *std::max_element(std::begin(of_bank), std::end(of_bank));
}

void CountShared(const Access& access, Moved* moved) {
  const uint32_t lanes = access.bytes <= 4 ? kLanes : access.bytes <= 8 ? kLanes / 2 : kLanes / 4;
  const uint32_t first = lanes == kLanes ? ~0U : (1U << lanes) - 1;
  for (uint32_t lane = 0; lane < kLanes; lane += lanes) {
    const uint32_t mask = access.mask & first << lane;
    if (mask == 0) continue;
    moved->bytes += static_cast<uint64_t>(std::popcount(mask)) * access.bytes;
    moved->units += Passes(access, mask);
    ++moved->least;
  }
}

// Of each, those of the same place.
template <class T>
void AddEach(std::vector<T>* to, const std::vector<T>& others) {
  for (size_t i = 0; i < to->size(); ++i) (*to)[i].Add(others[i]);
}

}  // namespace

void Runs::Add(const Runs& others) {
  warps += others.warps;
  threads += others.threads;
}

void Moved::Add(const Moved& others) {
  bytes += others.bytes;
  units += others.units;
  least += others.least;
}

void Sectors::Add(uint64_t address, uint64_t bytes) {
  if (bytes == 0) return;
  for (uint64_t sector = address / kSectorBytes; sector <= (address + bytes - 1) / kSectorBytes; ++sector) {
    const uint64_t at = sector % kPerPage;
    pages_[sector / kPerPage][at / 64] |= uint64_t{1} << at % 64;
  }
}

void Sectors::Add(const Sectors& others) {
  for (const auto& [page, bits] : others.pages_) {
    for (size_t i = 0; i < bits.size(); ++i) pages_[page][i] |= bits[i];
  }
}

uint64_t Sectors::count() const {
  uint64_t count = 0;
  for (const auto& [page, bits] : pages_) {
    for (const uint64_t word : bits) count += static_cast<uint64_t>(std::popcount(word));
  }
  return count;
}

void Counts::Add(const Counts& others) {
  AddEach(&runs, others.runs);
  AddEach(&global, others.global);
  AddEach(&shared, others.shared);
  read.Add(others.read);
  written.Add(others.written);
}

std::vector<Runs> Counts::RunsOfSources(const Program& program) const {
  std::vector<Runs> of(program.sources.size());
  std::vector<bool> seen(of.size());
  for (size_t pc = 0; pc < runs.size(); ++pc) {
    const uint32_t source = program.code[pc].statement;
    if (!seen[source]) of[source] = runs[pc];
    seen[source] = true;
  }
  return of;
}

void CountAccess(const Warp& warp, const Instruction& instruction, const Access& access) {
  Counts* const counts = warp.block->counts;
  if (counts == nullptr || access.mask == 0) return;
  if (access.space == Space::kGlobal) CountGlobal(access, counts, &counts->global[instruction.statement]);
  if (access.space == Space::kShared) CountShared(access, &counts->shared[instruction.statement]);
}

}  // namespace kernpack::emulator
