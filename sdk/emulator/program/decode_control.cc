// Jumps, calls, barriers, and what a warp's lanes do together.
#include "exec/collectives.h"
#include "exec/warp_group.h"
#include "program/decoder.h"

namespace kernpack::emulator {
namespace {

constexpr std::string_view kShuffles[] = {"up", "down", "bfly", "idx"};
constexpr std::string_view kVotes[] = {"all", "any", "uni", "ballot"};
constexpr std::string_view kReductions[] = {"add", "min", "max", "and", "or", "xor"};

template <size_t N>
int IndexIn(const std::string_view (&names)[N], const Mnemonic& mnemonic) {
  for (size_t i = 0; i < N; ++i) {
    if (mnemonic.Has(names[i])) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

void Decoder::Jump(const std::string& label) {
  Instruction out = Start();
  out.flow = Flow::kBranch;
  frame_->jumps.push_back(
      {static_cast<uint32_t>(program_.code.size()), label, statement_->scope, statement_->line, false});
  Emit(out);
}

void Decoder::JumpIndexed() {
  Expect(2, 2);
  const auto targets = frame_->function->branch_targets.find(Need(1).name);
  if (targets == frame_->function->branch_targets.end()) Refuse("names no list of targets (.branchtargets)");
  const uint32_t index = Input(Need(0), Held::kWord, "u32");
  Instruction out = Start();
  out.flow = Flow::kBranchIndexed;
  out.op[0] = index;
  out.extra = static_cast<uint32_t>(program_.extra.size());
  out.target = static_cast<uint32_t>(targets->second.size());
  for (const std::string& label : targets->second) {
    frame_->jumps.push_back(
        {static_cast<uint32_t>(program_.extra.size()), label, statement_->scope, statement_->line, true});
    program_.extra.push_back(0);
  }
  Emit(out);
}

// call.uni (results), function, (parameters): the function's parameters are the variables that the call names.
void Decoder::Call() {
  const std::vector<Operand>& all = statement_->operands;
  size_t next = 0;
  std::vector<Operand> results, parameters;
  if (next < all.size() && all[next].kind == Operand::Kind::kVector) results = all[next++].elements;
  if (next >= all.size() || all[next].kind != Operand::Kind::kSymbol)
    Refuse("of a function by its address isn't emulated");
  const std::string name = all[next++].name;
  if (next < all.size() && all[next].kind == Operand::Kind::kVector) parameters = all[next].elements;
  const Function* function = FindFunction(name);
  if (function == nullptr) Refuse("calls '" + name + "', which is not declared");
  if (!function->defined) return BuiltIn(name, results, parameters);
  if (results.size() != function->results.size() || parameters.size() != function->parameters.size()) {
    Refuse("gives " + name + " " + std::to_string(parameters.size()) + " parameters; it has " +
           std::to_string(function->parameters.size()));
  }
  if (statement_->guarded) {  // who does not call jumps over it
    Instruction over = Start();
    over.flow = Flow::kBranch;
    over.guard_negated = !over.guard_negated;
    Emit(over);
  }
  const auto over = static_cast<uint32_t>(program_.code.size() - 1);
  Frame frame;
  frame.caller = frame_;
  const auto pass = [&](const std::vector<Variable>& formal, const std::vector<Operand>& given) {
    for (size_t i = 0; i < formal.size(); ++i) {
      const auto found = frame_->names.find(given[i].name);
      if (found == frame_->names.end())
        Refuse("passes '" + given[i].name + "', which isn't a .param variable of the caller");
      frame.names[formal[i].name] = found->second;
    }
  };
  pass(function->results, results);
  pass(function->parameters, parameters);
  Enter(&frame, *function);
  Body(&frame);
  if (statement_->guarded) program_.code[over].target = static_cast<uint32_t>(program_.code.size());
}

// Functions that the driver itself has.
void Decoder::BuiltIn(const std::string& name, const std::vector<Operand>& results,
                      const std::vector<Operand>& parameters) {
  Instruction out = Start();
  out.variant = kBuiltIn;
  const auto place = [&](const Operand& operand) {
    Place found{};
    if (!Resolve(operand.name, &found) || found.space != Space::kLocal)
      Refuse("passes '" + operand.name + "', which isn't a .param variable of the caller");
    return static_cast<uint32_t>(found.offset);
  };
  if (name == "vprintf" && parameters.size() == 2) {
    out.run = RunPrint;
    out.op[0] = place(parameters[0]);
    out.op[1] = place(parameters[1]);
    if (!results.empty()) out.op[2] = place(results[0]);
  } else if (name == "__assertfail" && parameters.size() == 5) {
    out.run = RunAssertFail;
    for (size_t i = 0; i < 4; ++i) out.op[i] = place(parameters[i]);
  } else {
    Refuse("calls " + name + ", which has no body in this module and isn't emulated; vprintf and __assertfail are");
  }
  Emit(out);
}

void Decoder::Barrier(Mnemonic mnemonic) {
  Instruction out;
  const bool warp = mnemonic.Has("warp");
  if (mnemonic.Has("cluster")) return ClusterBarrier(mnemonic);
  if (warp) {
    Expect(1, 1);
    const uint32_t members = Input(Need(0), Held::kWord, "u32");
    out = Start();
    out.flow = Flow::kWarpSync;
    out.op[5] = members;
    return Emit(out);
  }
  const bool reduces = mnemonic.Has("red");
  const bool aligned = mnemonic.opcode() == "bar" || mnemonic.Has("aligned");
  uint8_t variant = 0;
  if (reduces) variant = mnemonic.Has("popc") ? 1 : mnemonic.Has("and") ? 2 : 3;
  size_t next = 0;
  uint32_t to = kNoOperand, count = kNoOperand, predicate = kNoOperand, flags = 0;
  if (reduces) {
    Expect(3, 4);
    const Operand& result = Need(next++);
    to = variant == 1 ? Output(result, Held::kWord, "u32", nullptr) : GetPredicate(result);
  } else {
    Expect(1, 2);
  }
  const uint32_t number = Input(Need(next++), Held::kWord, "u32");
  if (next + (reduces ? 1 : 0) < statement_->operands.size()) count = Input(Need(next++), Held::kWord, "u32");
  if (reduces) {
    if (Need(next).negated) flags = kNegateC;
    predicate = GetPredicate(Need(next));
  }
  if (mnemonic.Has("arrive") && count == kNoOperand) Refuse("needs the number of threads that take part");
  out = Start();
  out.flow = mnemonic.Has("arrive") ? Flow::kArrive : Flow::kBarrier;
  out.count = aligned ? 1 : 0;
  out.variant = variant;
  out.flags = flags;
  out.op[0] = number;
  out.op[1] = count;
  out.op[2] = to;
  out.op[3] = predicate;
  Emit(out);
}

void Decoder::ClusterBarrier(const Mnemonic& mnemonic) {
  Expect(0, 0);
  const bool arrives = mnemonic.Has("arrive");
  if (!arrives && !mnemonic.Has("wait")) Refuse("isn't emulated");
  Instruction out = Start();
  out.flow = arrives ? Flow::kClusterArrive : Flow::kClusterWait;
  out.count = mnemonic.Has("aligned") ? 1 : 0;
  if (mnemonic.Has("relaxed")) out.flags |= kRelaxed;
  Emit(out);
}

void Decoder::Collective(Mnemonic mnemonic) {
  const std::string_view opcode = mnemonic.opcode();
  if (!mnemonic.Has("sync"))
    Refuse("without .sync isn't emulated; the hardware of compute capability 7.0 has no such instruction either");
  uint32_t op[6] = {kNoOperand, kNoOperand, kNoOperand, kNoOperand, kNoOperand, kNoOperand};
  std::vector<Instruction> after;
  uint8_t variant = 0;
  uint32_t flags = 0;
  bool wide = false;
  Handler run = nullptr;
  const auto second = [&] {
    if (!Need(0).has_second) return kNoOperand;
    Operand operand;
    operand.kind = Operand::Kind::kRegister;
    operand.reg = Need(0).second;
    return GetPredicate(operand);
  };
  const auto kind = [&](int found) {
    if (found < 0) Refuse("isn't emulated");
    return static_cast<uint8_t>(found);
  };
  if (opcode == "shfl") {
    Expect(5, 5);
    variant = kind(IndexIn(kShuffles, mnemonic));
    for (size_t i = 1; i < 4; ++i) op[i + 1] = Input(Need(i), Held::kWord, "b32");
    op[5] = Input(Need(4), Held::kWord, "b32");
    op[0] = Output(Need(0), Held::kWord, "b32", &after);
    op[1] = second();
    run = RunShuffle;
  } else if (opcode == "vote") {
    Expect(3, 3);
    variant = kind(IndexIn(kVotes, mnemonic));
    if (Need(1).negated) flags = kNegateC;
    op[1] = Need(1).kind == Operand::Kind::kRegister ? GetPredicate(Need(1)) : Input(Need(1), Held::kPredicate, "pred");
    op[5] = Input(Need(2), Held::kWord, "b32");
    op[0] = variant == 3 ? Output(Need(0), Held::kWord, "b32", &after) : GetPredicate(Need(0));
    run = RunVote;
  } else if (opcode == "match") {
    Expect(3, 3);
    variant = mnemonic.Has("all") ? 1 : 0;
    wide = mnemonic.type() == "b64";
    op[2] = Input(Need(1), wide ? Held::kLong : Held::kWord, mnemonic.type());
    op[5] = Input(Need(2), Held::kWord, "b32");
    op[0] = Output(Need(0), Held::kWord, "b32", &after);
    op[1] = second();
    run = RunMatch;
  } else if (opcode == "redux") {
    Expect(3, 3);
    variant = kind(IndexIn(kReductions, mnemonic));
    if (mnemonic.type() == "f32") Refuse("isn't emulated");
    op[1] = Input(Need(1), Held::kWord, mnemonic.type());
    op[5] = Input(Need(2), Held::kWord, "b32");
    op[0] = Output(Need(0), Held::kWord, mnemonic.type(), &after);
    run = RunReduce;
  } else {  // elect
    Expect(2, 2);
    op[5] = Input(Need(1), Held::kWord, "b32");
    op[1] = second();
    op[0] = Output(Need(0), Held::kWord, "b32", &after);
    run = RunElect;
  }
  Instruction out = Start();
  out.flow = Flow::kCollective;
  out.run = run;
  out.variant = variant;
  out.flags = flags;
  out.wide = wide;
  out.is_signed = mnemonic.type() == "s32";
  std::copy(std::begin(op), std::end(op), out.op);
  Emit(out);
  for (const Instruction& copy : after) Emit(copy);
}

bool Decoder::Control(const Mnemonic& mnemonic) {
  const std::string_view opcode = mnemonic.opcode();
  if (opcode == "bra") {
    Expect(1, 1);
    return Jump(Need(0).name), true;
  }
  if (opcode == "brx") return JumpIndexed(), true;
  if (opcode == "call") return Call(), true;
  if (opcode == "exit" || (opcode == "ret" && frame_->caller == nullptr)) {
    Instruction out = Start();
    out.flow = Flow::kExit;
    return Emit(out), true;
  }
  if (opcode == "ret") {
    Instruction out = Start();
    out.flow = Flow::kBranch;
    frame_->returns.push_back(static_cast<uint32_t>(program_.code.size()));
    return Emit(out), true;
  }
  if (opcode == "trap" || opcode == "brkpt") {
    Instruction out = Start();
    out.run = RunTrap;
    out.variant = kBuiltIn;
    return Emit(out), true;
  }
  if (opcode == "bar" || opcode == "barrier") return Barrier(mnemonic), true;
  if (opcode == "shfl" || opcode == "vote" || opcode == "match" || opcode == "redux" || opcode == "elect")
    return Collective(mnemonic), true;
  if (opcode == "activemask") {
    std::vector<Instruction> after;
    const uint32_t to = Output(Need(0), Held::kWord, "b32", &after);
    Instruction out = Start();
    out.run = RunActiveMask;
    out.variant = kBuiltIn;
    out.op[0] = to;
    return Emit(out), true;
  }
  if (opcode == "setmaxnreg") {  // here, threads have all registers that they name
    Expect(1, 1);
    const Operand& count = Need(0);
    if (count.kind != Operand::Kind::kInteger || count.value < 24 || count.value > 256 || count.value % 8 != 0)
      Refuse("expected a number of registers from 24 to 256, a multiple of 8");
    Instruction out = Start();
    out.run = RunSetMaxRegisters;
    out.variant = kBuiltIn;
    out.count = static_cast<uint8_t>(count.value / 8);
    out.wide = mnemonic.Has("inc");
    return Emit(out), true;
  }
  return opcode == "nanosleep" || opcode == "pmevent" || opcode == "griddepcontrol";
}

}  // namespace kernpack::emulator
