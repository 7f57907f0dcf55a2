#include "exec/unit_reader.h"

#include "exec/access.h"
#include "exec/fault.h"
#include "exec/taint.h"

namespace kernpack::emulator {

const uint8_t* UnitReader::At(uint64_t address, uint32_t swizzle, bool* known) {
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
    NeedSwizzle(address, swizzle);
  }
  *known = !block.launch->checks.uninitialised || AllWritten(block.shared_written.data(), place, used_);
  if (!*known) TaintFrom(warp_, i_, lane_, place);
  return block.shared.data() + place;
}

void UnitReader::NeedSwizzle(uint64_t address, uint32_t swizzle) {
  uint32_t statement = 0;
  const uint8_t put = warp_.block->races.GetSwizzle(warp_.shared_base + address, &statement);
  if (put == 0 || put == swizzle) return;
  const Source& source = warp_.block->program->sources[statement];
  const auto name = [](uint32_t of) {
    return of == 0 ? std::string("no swizzle") : Text("a swizzle of %u bytes", 16U << of);
  };
  Fail(warp_, i_, lane_, Fault::Kind::kIllegalAddress,
       Text("reads %s at 0x%llx with %s; the copy at %s put it there with %s, as its tensor map says", what_,
            static_cast<unsigned long long>(address), name(swizzle).c_str(), SourceText(source).c_str(),
            name(put).c_str()));
}

}  // namespace kernpack::emulator
