#include "exec/unit_reader.h"

#include "exec/access.h"
#include "exec/fault.h"
#include "exec/taint.h"

namespace kernpack::emulator {

const uint8_t* UnitReader::At(uint64_t address, bool* known) {
  Block& block = *warp_.block;
  constexpr uint32_t kBytes = GroupOperand::kUnit;
  if (address + kBytes > block.shared_bytes) {
    Fail(warp_, i_, lane_, Fault::Kind::kIllegalAddress,
         Text("reads %s at 0x%llx; the block has %llu bytes of shared memory", what_,
              static_cast<unsigned long long>(address), static_cast<unsigned long long>(block.shared_bytes)));
  }
  const uint64_t place = warp_.shared_base + address;
  read_.push_back(static_cast<uint32_t>(place / AsyncReads::kUnit));
  if (block.copies_under_way != 0) {
    Access access;
    access.space = Space::kShared;
    access.kind = AccessKind::kRead;
    access.bytes = kBytes;
    access.mask = 1U << lane_;
    access.address[lane_] = place;
    NeedArrived(warp_, i_, access);
  }
  if (block.launch->checks.races) {
    CheckRaces(warp_, i_, AccessKind::kRead, place, kBytes, lane_, false);
    NeedFenced(warp_, i_, place, kBytes, lane_);
  }
  *known = !block.launch->checks.uninitialised || AllWritten(block.shared_written.data(), place, used_);
  if (!*known) TaintFrom(warp_, i_, lane_, place);
  return block.shared.data() + place;
}

}  // namespace kernpack::emulator
