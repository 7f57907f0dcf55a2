// Instructions that the tables know, and moves.
#include <algorithm>

#include "exec/collectives.h"
#include "program/decoder.h"

namespace kernpack::emulator {
namespace {

struct Modifier {
  std::string_view name;
  uint32_t flags;
};
// Modifiers that change nothing here have no flags: results are rounded to nearest, and have the best accuracy.
constexpr Modifier kModifiers[] = {
    {"ftz", kFtz},
    {"sat", kSat},
    {"rn", 0},
    {"rz", kRoundZero},
    {"rm", kRoundDown},
    {"rp", kRoundUp},
    {"rni", kToInteger},
    {"rzi", kToInteger | kRoundZero},
    {"rmi", kToInteger | kRoundDown},
    {"rpi", kToInteger | kRoundUp},
    {"approx", 0},
    {"full", 0},
    {"relu", kRelu},
    {"NaN", kPropagateNan},
    {"noftz", 0},
};

uint32_t TakeModifiers(Mnemonic* mnemonic) {
  uint32_t flags = 0;
  const bool approx = mnemonic->Has("approx");
  for (const Modifier& modifier : kModifiers) {
    if (mnemonic->Take(modifier.name)) flags |= modifier.flags;
  }
  const std::string_view opcode = mnemonic->opcode();
  if (opcode == "setp" || opcode == "set") {
    if (mnemonic->Take("and")) flags |= kAnd;
    if (mnemonic->Take("or")) flags |= kOr;
    if (mnemonic->Take("xor")) flags |= kXor;
  }
  if (approx && (opcode == "div" || mnemonic->type() == "f64")) flags |= kApprox;
  if (mnemonic->Has("cc")) flags |= kCarryOut;
  if (opcode == "addc" || opcode == "subc" || opcode == "madc") mnemonic->Take("cc");
  return flags;
}

}  // namespace

void Decoder::ByTable(Mnemonic mnemonic) {
  const uint32_t flags = TakeModifiers(&mnemonic);
  const std::string name = mnemonic.Joined();
  const Row* row = FindRow(name.c_str());
  if (row == nullptr) Refuse("isn't emulated");
  if ((flags & ~row->flags & ~uint32_t{kToInteger}) != 0) Refuse("has a modifier that " + name + " doesn't take");
  const bool compares = mnemonic.opcode() == "setp" || mnemonic.opcode() == "set";
  size_t most =
      std::count_if(std::begin(row->operands), std::end(row->operands), [](Held h) { return h != Held::kNone; });
  size_t least = most;
  if (compares) least = 3, most = (flags & (kAnd | kOr | kXor)) != 0 ? 4 : 3;
  if (compares && most == 4) least = 4;
  Expect(least, most);

  std::vector<Instruction> after;
  Instruction out;
  uint32_t slots[5] = {kNoOperand, kNoOperand, kNoOperand, kNoOperand, kNoOperand};
  for (size_t i = 1; i < statement_->operands.size(); ++i) {
    const Operand& operand = Need(i);
    if (operand.negated) {
      if (!compares || i != 3) Refuse("takes no negated predicate there");
      out.flags |= kNegateC;
    }
    slots[i] = row->operands[i] == Held::kPredicate && operand.kind == Operand::Kind::kRegister
                   ? GetPredicate(operand)
                   : Input(operand, row->operands[i], mnemonic.type());
  }
  const Operand& first = Need(0);
  const std::string_view to =
      mnemonic.parts().size() > 2 ? mnemonic.parts()[mnemonic.parts().size() - 2] : mnemonic.type();
  slots[0] = row->operands[0] == Held::kPredicate
                 ? GetPredicate(first)
                 : Output(first, row->operands[0], mnemonic.opcode() == "cvt" ? to : mnemonic.type(), &after);
  if (first.has_second) {
    if (mnemonic.opcode() != "setp") Refuse("has one destination only");
    Operand second;
    second.kind = Operand::Kind::kRegister;
    second.reg = first.second;
    slots[4] = GetPredicate(second);
  }
  const uint32_t negated = out.flags;
  out = Start();
  out.run = row->run;
  if (compares) out.variant = kCompares;
  if (mnemonic.opcode() == "selp") out.variant = kSelects;
  out.flags = flags | negated;
  std::copy(std::begin(slots), std::end(slots), out.op);
  Emit(out);
  for (const Instruction& copy : after) Emit(copy);
}

// Instructions of sm_100 whose parts the tables have: pairs of f32, one half after the other, and the extreme of three.
bool Decoder::InParts(const Mnemonic& of) {
  const std::string opcode(of.opcode());
  const bool extreme = opcode == "min" || opcode == "max", pairs = of.type() == "f32x2";
  const bool three = extreme && of.type() == "f32" && statement_->operands.size() == 4;
  if (!three && (!pairs || (opcode != "add" && opcode != "sub" && opcode != "mul" && opcode != "fma"))) return false;
  Mnemonic mnemonic = of;
  const uint32_t flags = TakeModifiers(&mnemonic);
  const uint32_t known = three ? kFtz | kPropagateNan : kFtz | kRounding;
  if (mnemonic.parts().size() != 2 || (flags & ~known) != 0) Refuse("isn't emulated");
  const size_t sources = three || opcode == "fma" ? 3 : 2;
  Expect(1 + sources, 1 + sources);
  const auto emit = [&](const std::string& name, uint32_t to, std::initializer_list<uint32_t> from, uint32_t with) {
    Instruction out = Start();
    out.run = GetRow(name);
    out.flags = with;
    out.op[0] = to;
    std::copy(from.begin(), from.end(), out.op + 1);
    Emit(out);
  };
  std::vector<Instruction> after;
  std::vector<uint32_t> slots;
  for (size_t i = 1; i <= sources; ++i)
    slots.push_back(Input(Need(i), three ? Held::kFloat : Held::kLong, three ? "f32" : "b64"));
  const uint32_t to = Output(Need(0), three ? Held::kFloat : Held::kLong, three ? "f32" : "b64", &after);
  if (three) {
    const uint32_t of_two = NewSlot(4);
    emit(opcode + ".f32", of_two, {slots[0], slots[1]}, flags);
    emit(opcode + ".f32", to, {of_two, slots[2]}, flags);
  } else {
    const uint32_t half = ConstantSlot(4, 32);
    uint32_t results[2];
    for (uint32_t h = 0; h < 2; ++h) {
      uint32_t parts[3] = {kNoOperand, kNoOperand, kNoOperand};
      for (size_t s = 0; s < sources; ++s) {
        uint32_t whole = slots[s];
        if (h == 1) emit("shr.b64", whole = NewSlot(8), {slots[s], half}, 0);
        emit("cvt.u32.u64", parts[s] = NewSlot(4), {whole}, 0);
      }
      const uint32_t result = NewSlot(4);
      emit(opcode + ".f32", result, {parts[0], parts[1], parts[2]}, flags);
      emit("cvt.u64.u32", results[h] = NewSlot(8), {result}, 0);
    }
    const uint32_t upper = NewSlot(8);
    emit("shl.b64", upper, {results[1], half}, 0);
    emit("or.b64", to, {results[0], upper}, 0);
  }
  for (const Instruction& copy : after) Emit(copy);
  return true;
}

// mov with vectors, which packs or unpacks; mov of a clock.
bool Decoder::Moves(const Mnemonic& mnemonic) {
  if (mnemonic.opcode() != "mov") return false;
  Expect(2, 2);
  const Operand& to = Need(0);
  const Operand& from = Need(1);
  if (from.kind == Operand::Kind::kSpecial &&
      (from.name == "%clock" || from.name == "%clock64" || from.name == "%globaltimer" || from.name == "%clock_hi")) {
    if (to.kind != Operand::Kind::kRegister || LaneBytes(to.reg) == 0) Refuse("expected a register as its destination");
    Instruction out = Start();
    out.run = RunClock;
    out.variant = kBuiltIn;
    out.op[0] = frame_->slots[to.reg];
    out.wide = LaneBytes(to.reg) == 8;
    Emit(out);
    return true;
  }
  const bool pack = from.kind == Operand::Kind::kVector, unpack = to.kind == Operand::Kind::kVector;
  if (!pack && !unpack) return false;
  const uint32_t bytes = TypeBytes(mnemonic.type());
  const std::vector<Operand>& parts = pack ? from.elements : to.elements;
  if (pack == unpack || parts.empty() || bytes % parts.size() != 0) Refuse("expected a vector of 2 or 4 on one side");
  const auto part_bytes = static_cast<uint32_t>(bytes / parts.size());
  if (bytes > 8) Refuse("of 128 bits isn't emulated");
  const Held whole_held = bytes == 8 ? Held::kLong : Held::kWord;
  const std::string width = std::to_string(bytes * 8);
  const auto emit = [&](const std::string& name, uint32_t d, uint32_t a, uint32_t b) {
    Instruction out = Start();
    out.run = GetRow(name);
    out.op[0] = d;
    out.op[1] = a;
    out.op[2] = b;
    Emit(out);
  };
  const std::string narrow = part_bytes == 4 ? "u32" : part_bytes == 2 ? "u16" : "u8";
  if (unpack) {
    const uint32_t whole = Input(from, whole_held, mnemonic.type());
    // The source may be among the destinations' registers only when it is one of several; keep it until the last.
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].kind == Operand::Kind::kSink) continue;
      std::vector<Instruction> after;
      const uint32_t slot = Output(parts[i], Held::kWord, mnemonic.type(), &after);
      const uint32_t shifted = NewSlot(bytes == 8 ? 8 : 4);
      emit("shr.b" + width, shifted, whole, ConstantSlot(4, i * part_bytes * 8));
      emit("cvt." + narrow + ".u" + width, slot, shifted, kNoOperand);
      for (const Instruction& copy : after) Emit(copy);
    }
    return true;
  }
  uint32_t sum = ConstantSlot(bytes == 8 ? 8 : 4, 0);
  for (size_t i = 0; i < parts.size(); ++i) {
    const uint32_t part = Input(parts[i], Held::kWord, mnemonic.type());
    const uint32_t widened = NewSlot(bytes == 8 ? 8 : 4), shifted = NewSlot(bytes == 8 ? 8 : 4),
                   joined = NewSlot(bytes == 8 ? 8 : 4);
    emit("cvt.u" + width + "." + narrow, widened, part, kNoOperand);
    emit("shl.b" + width, shifted, widened, ConstantSlot(4, i * part_bytes * 8));
    emit("or.b" + width, joined, sum, shifted);
    sum = joined;
  }
  std::vector<Instruction> after;
  const uint32_t slot = Output(to, whole_held, mnemonic.type(), &after);
  emit("mov.b" + width, slot, sum, kNoOperand);
  for (const Instruction& copy : after) Emit(copy);
  return true;
}

}  // namespace kernpack::emulator
