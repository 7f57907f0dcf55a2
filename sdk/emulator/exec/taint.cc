#include "exec/taint.h"

#include "exec/block.h"
#include "exec/fault.h"
#include "exec/warp.h"

namespace kernpack::emulator {

uint32_t Tainted(const Warp& warp, uint32_t slot) {
  return warp.taint.empty() || slot == kNoOperand ? 0 : warp.taint[slot / 4];
}

void SetTaint(Warp& warp, uint32_t slot, uint32_t mask, uint32_t tainted) {
  if (slot == kNoOperand || (warp.taint.empty() && (tainted & mask) == 0)) return;
  if (warp.taint.empty()) warp.taint.resize(warp.block->program->register_bytes / 4);
  uint32_t& word = warp.taint[slot / 4];
  word = (word & ~mask) | (tainted & mask);
}

void TaintFrom(Warp& warp, const Instruction& instruction, uint32_t lane, uint64_t address) {
  warp.taint_statement = instruction.statement;
  warp.taint_lane = lane;
  warp.taint_address = address;
}

void CarryTaint(Warp& warp, const Instruction& i, uint32_t mask) {
  if (i.bytes != 0 || i.variant == kBuiltIn) return;  // memory and built-in functions see to it themselves
  uint32_t tainted = 0;
  const bool compares = i.variant == kCompares;
  if (i.variant == kSelects) {
    const uint32_t p = *reinterpret_cast<const uint32_t*>(warp.registers + i.op[3]);
    tainted = (p & Tainted(warp, i.op[1])) | (~p & Tainted(warp, i.op[2])) | Tainted(warp, i.op[3]);
  } else {
    for (int source = 1; source < (compares ? 4 : 5); ++source) tainted |= Tainted(warp, i.op[source]);
  }
  SetTaint(warp, i.op[0], mask, tainted);
  if (compares) SetTaint(warp, i.op[4], mask, tainted);
}

void NeedUntainted(const Warp& warp, const Instruction& instruction, uint32_t slot, uint32_t mask, const char* use) {
  const uint32_t bad = Tainted(warp, slot) & mask;
  if (bad == 0) return;
  const Source& origin = warp.block->program->sources[warp.taint_statement];
  if (warp.taint_address == kOfTensorMemory) {
    Fail(warp, instruction, First(bad), Fault::Kind::kUninitialised,
         Text("%s a value made from tensor memory that nothing has written: %s read it", use,
              SourceText(origin).c_str()));
  }
  Fail(warp, instruction, First(bad), Fault::Kind::kUninitialised,
       Text("%s a value made from shared memory that nothing has written: %s read it, the last time by "
            "%s at 0x%llx",
            use, SourceText(origin).c_str(), ThreadText(warp, warp.taint_lane).c_str(),
            static_cast<unsigned long long>(warp.taint_address)));
}

}  // namespace kernpack::emulator
