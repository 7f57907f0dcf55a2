#include "exec/async_reads.h"

#include <algorithm>

namespace kernpack::emulator {

void AsyncReads::Reset(uint64_t shared_bytes) {
  if (reads_.empty() && counts_.size() == shared_bytes / kUnit + 1) return;
  reads_.clear();
  counts_.assign(shared_bytes / kUnit + 1, 0);
}

AsyncReads::Id AsyncReads::Begin(AsyncRead read) {
  for (const uint32_t unit : read.units) ++counts_[unit];
  return reads_.insert(reads_.end(), std::move(read));
}

void AsyncReads::End(Id read) {
  for (const uint32_t unit : read->units) --counts_[unit];
  reads_.erase(read);
}

const AsyncRead* AsyncReads::Find(uint64_t offset, uint64_t bytes) const {
  if (reads_.empty() || bytes == 0) return nullptr;
  for (uint64_t unit = offset / kUnit; unit <= (offset + bytes - 1) / kUnit; ++unit) {
    if (counts_[unit] == 0) continue;
    for (const AsyncRead& read : reads_) {
      if (std::find(read.units.begin(), read.units.end(), unit) != read.units.end()) return &read;
    }
  }
  return nullptr;
}

}  // namespace kernpack::emulator
