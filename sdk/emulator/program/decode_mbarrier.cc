// mbarrier, and cp.async.mbarrier.
#include "exec/mbarrier.h"
#include "exec/memory_ops.h"
#include "program/decoder.h"

namespace kernpack::emulator {
namespace {

// Which operation it is, and how many operands follow the address at least and at most.
struct MBarrierForm {
  const char* name;
  MBarrierOp op;
  uint8_t least, most;
};
constexpr MBarrierForm kMBarrierForms[] = {
    {"mbarrier.init", MBarrierOp::kInit, 1, 1},
    {"mbarrier.inval", MBarrierOp::kInvalidate, 0, 0},
    {"mbarrier.arrive", MBarrierOp::kArrive, 0, 1},
    {"mbarrier.arrive.noComplete", MBarrierOp::kArrive, 1, 1},
    {"mbarrier.arrive.expect_tx", MBarrierOp::kArriveExpecting, 1, 1},
    {"mbarrier.arrive_drop", MBarrierOp::kDrop, 0, 1},
    {"mbarrier.arrive_drop.noComplete", MBarrierOp::kDrop, 1, 1},
    {"mbarrier.arrive_drop.expect_tx", MBarrierOp::kDropExpecting, 1, 1},
    {"mbarrier.expect_tx", MBarrierOp::kExpect, 1, 1},
    {"mbarrier.complete_tx", MBarrierOp::kComplete, 1, 1},
    {"mbarrier.test_wait", MBarrierOp::kTest, 1, 1},
    {"mbarrier.try_wait", MBarrierOp::kTest, 1, 2},
    {"mbarrier.test_wait.parity", MBarrierOp::kTestParity, 1, 1},
    {"mbarrier.try_wait.parity", MBarrierOp::kTestParity, 1, 2},
    {"cp.async.mbarrier.arrive", MBarrierOp::kAfterCopies, 0, 0},
    {"cp.async.mbarrier.arrive.noinc", MBarrierOp::kAfterCopiesCounted, 0, 0},
};

bool Arrives(MBarrierOp op) {
  return op == MBarrierOp::kArrive || op == MBarrierOp::kDrop || op == MBarrierOp::kArriveExpecting ||
         op == MBarrierOp::kDropExpecting;
}

}  // namespace

void Decoder::MemoryBarrier(Mnemonic mnemonic) {
  Instruction out = Start();
  if (mnemonic.Joined() == "mbarrier.pending_count.b64") {
    Expect(2, 2);
    out.bytes = 8;
    out.op[1] = Output(Need(0), Held::kWord, "u32", nullptr);
    out.op[2] = Input(Need(1), Held::kLong, "b64");
    out.run = RunPendingCount;
    return Emit(out);
  }
  if (mnemonic.Take("relaxed")) out.flags |= kRelaxed;
  for (const char* hint : {"release", "acquire", "cta", "cluster"}) mnemonic.Take(hint);
  out.space = TakeSpace(&mnemonic, &out.flags);
  if (!mnemonic.Take("b64") || (out.space != Space::kShared && out.space != Space::kGeneric)) Refuse("isn't emulated");
  const MBarrierForm* form = nullptr;
  for (const MBarrierForm& each : kMBarrierForms) {
    if (mnemonic.Joined() == each.name) form = &each;
  }
  if (form == nullptr) Refuse("isn't emulated");
  const bool tests = form->op == MBarrierOp::kTest || form->op == MBarrierOp::kTestParity;
  const bool given = Need(0).kind == Operand::Kind::kRegister || Need(0).kind == Operand::Kind::kSink;
  if (given != (tests || (given && Arrives(form->op)))) Refuse("expected an address such as [%rd1+4]");
  size_t next = given ? 1 : 0;
  Expect(next + 1 + form->least, next + 1 + form->most);
  out.bytes = 8;
  out.variant = static_cast<uint8_t>(form->op);
  out.run = RunMBarrier;
  Address(Need(next++), &out);
  if (tests) {
    out.op[1] = GetPredicate(Need(0));
  } else if (given && Need(0).kind == Operand::Kind::kRegister) {
    out.op[1] = Output(Need(0), Held::kLong, "b64", nullptr);
  }
  if (next < statement_->operands.size()) {
    const bool token = form->op == MBarrierOp::kTest;
    out.op[2] = Input(Need(next), token ? Held::kLong : Held::kWord, token ? "b64" : "u32");
  }
  Emit(out);
}

}  // namespace kernpack::emulator
