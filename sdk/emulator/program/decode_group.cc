// wgmma: its shapes, types and operands; and which other instructions name its registers.
#include <algorithm>
#include <charconv>

#include "exec/matrix.h"
#include "exec/warp_group.h"
#include "program/decoder.h"

namespace kernpack::emulator {
namespace {

struct NamedElement {
  std::string_view name;
  Element element;
};
constexpr NamedElement kFactors[] = {
    {"f16", Element::kHalf},  {"bf16", Element::kBrain}, {"tf32", Element::kTf32},    {"e4m3", Element::kE4m3},
    {"e5m2", Element::kE5m2}, {"s8", Element::kSigned8}, {"u8", Element::kUnsigned8},
};
constexpr NamedElement kGroupSums[] = {{"f16", Element::kHalf}, {"f32", Element::kFloat}, {"s32", Element::kInteger}};

template <size_t N>
const NamedElement* FindElement(const NamedElement (&among)[N], std::string_view name) {
  const auto* found = std::find_if(std::begin(among), std::end(among), [&](const auto& of) { return of.name == name; });
  return found == std::end(among) ? nullptr : found;
}

enum class Family : uint8_t { kSixteen, kTf32, kEight, kInteger };
Family GetFamily(Element element) {
  if (element == Element::kHalf || element == Element::kBrain) return Family::kSixteen;
  if (element == Element::kTf32) return Family::kTf32;
  return element == Element::kE4m3 || element == Element::kE5m2 ? Family::kEight : Family::kInteger;
}

// True if wgmma has products of these types.
bool HaveProduct(Element d, Element a, Element b) {
  switch (GetFamily(a)) {
    case Family::kSixteen:
      return a == b && (d == Element::kFloat || (d == Element::kHalf && a == Element::kHalf));
    case Family::kTf32:
      return a == b && d == Element::kFloat;
    case Family::kEight:
      return GetFamily(b) == Family::kEight && (d == Element::kFloat || d == Element::kHalf);
    case Family::kInteger:
      return GetFamily(b) == Family::kInteger && d == Element::kInteger;
  }
  return false;
}

// "m64n128k16": its columns, or 0 where wgmma has no such shape.
uint32_t GetColumns(std::string_view shape, uint32_t depth, Family family) {
  if (!shape.starts_with("m64n")) return 0;
  uint32_t columns = 0;
  const char* const end = shape.data() + shape.size();
  const auto [at, error] = std::from_chars(shape.data() + 4, end, columns);
  if (error != std::errc() || std::string_view(at, static_cast<size_t>(end - at)) != "k" + std::to_string(depth))
    return 0;
  if (columns == 0 || columns > 256 || columns % 8 != 0) return 0;
  // Integers: every 16th, and 8 and 24.
  return family == Family::kInteger && columns % 16 != 0 && columns != 8 && columns != 24 ? 0 : columns;
}

void CollectOperands(const Operand& operand, std::vector<const Operand*>* out) {
  out->push_back(&operand);
  for (const Operand& element : operand.elements) CollectOperands(element, out);
}

bool WritesNothing(std::string_view op) {
  const std::string_view opcode = op.substr(0, op.find('.'));
  return opcode == "st" || opcode == "red" || opcode == "stmatrix" || opcode == "bar" || opcode == "barrier" ||
         opcode == "call" || opcode == "bra" || opcode == "brx";
}

}  // namespace

void Decoder::GroupMatrix(Mnemonic mnemonic) {
  const std::string name = mnemonic.Joined();
  if (name == "wgmma.wait_group.sync.aligned") {
    Expect(1, 1);
    if (Need(0).kind != Operand::Kind::kInteger || Need(0).value < 0) Refuse("expected a number of groups");
    Instruction out = Start();
    out.flow = Flow::kGroupWait;
    out.displacement = Need(0).value;
    return Emit(out);
  }
  const bool fences = name == "wgmma.fence.sync.aligned";
  if (fences || name == "wgmma.commit_group.sync.aligned") {
    Expect(0, 0);
    Instruction out = Start();
    out.flow = Flow::kCollective;
    out.run = fences ? RunGroupFence : RunGroupCommit;
    return Emit(out);
  }
  if (mnemonic.parts().size() > 2 && mnemonic.parts()[2] == "sp")
    Refuse("isn't emulated: products with a sparse A aren't");
  GroupMultiply(mnemonic);
}

void Decoder::GroupMultiply(Mnemonic mnemonic) {
  const bool clamps = mnemonic.Take("satfinite");
  const std::vector<std::string_view>& parts = mnemonic.parts();
  // wgmma.mma_async.sync.aligned.<shape>.<D>.<A>.<B>
  if (parts.size() != 8 || parts[1] != "mma_async" || parts[2] != "sync" || parts[3] != "aligned")
    Refuse("isn't emulated; wgmma.mma_async.sync.aligned.<shape> with three types is");
  const NamedElement* const d = FindElement(kGroupSums, parts[5]);
  const NamedElement* const a = FindElement(kFactors, parts[6]);
  const NamedElement* const b = FindElement(kFactors, parts[7]);
  if (d == nullptr || a == nullptr || b == nullptr || !HaveProduct(d->element, a->element, b->element) ||
      (clamps && d->element != Element::kInteger))
    Refuse("isn't emulated: there is no such product of these types here");
  const Family family = GetFamily(a->element);
  const uint32_t depth = 8 * PerRegister(a->element), columns = GetColumns(parts[4], depth, family);
  if (columns == 0)
    Refuse("isn't emulated: expected m64n<N>k" + std::to_string(depth) + ", with N a multiple of 8 up to 256" +
           (family == Family::kInteger ? "; above 24, of 16" : ""));
  const bool in_registers = Need(1).kind == Operand::Kind::kVector;
  // Behind scale-d: the signs of A and B, and of 16 bits which are transposed (A only in shared memory).
  const size_t given = family == Family::kInteger ? 0 : family != Family::kSixteen ? 2 : in_registers ? 3 : 4;
  Expect(4 + given, 4 + given);
  const auto constant = [&](size_t index, int64_t one, int64_t other) {
    const Operand& operand = Need(index);
    if (operand.kind == Operand::Kind::kInteger && (operand.value == one || operand.value == other))
      return operand.value == other;
    Refuse("expected " + std::to_string(one) + " or " + std::to_string(other) + " as operand " +
           std::to_string(index + 1));
  };
  uint32_t flags = in_registers ? static_cast<uint32_t>(kAInRegisters) : 0;
  if (given != 0) flags |= (constant(4, 1, -1) ? kNegatesA : 0U) | (constant(5, 1, -1) ? kNegatesB : 0U);
  if (given == 4) flags |= constant(6, 0, 1) ? kTransposesA : 0U;
  if (given > 2) flags |= constant(4 + given - 1, 0, 1) ? kTransposesB : 0U;

  std::vector<uint32_t> slots;
  const auto take = [&](const Operand& operand, const char* what) {
    if (operand.kind != Operand::Kind::kRegister || LaneBytes(operand.reg) != 4)
      Refuse("expected registers of 32 bits for " + std::string(what));
    slots.push_back(frame_->slots[operand.reg]);
  };
  for (const Operand* operand : Elements(Need(0), columns / 2 / PerRegister(d->element))) take(*operand, "D");
  if (in_registers) {
    for (const Operand* operand : Elements(Need(1), 4)) take(*operand, "A");
  }
  group_slots_.insert(slots.begin(), slots.end());
  const uint32_t of_a = in_registers ? kNoOperand : Input(Need(1), Held::kLong, "b64");
  const uint32_t of_b = Input(Need(2), Held::kLong, "b64");
  const uint32_t keeps =
      Need(3).kind == Operand::Kind::kRegister ? GetPredicate(Need(3)) : Input(Need(3), Held::kPredicate, "pred");
  Instruction out = Start();
  out.flow = Flow::kCollective;
  out.run = RunGroupMultiply;
  out.flags = (clamps ? static_cast<uint32_t>(kSat) : 0) | (Need(3).negated ? static_cast<uint32_t>(kNegateC) : 0);
  out.op[1] = of_a;
  out.op[2] = of_b;
  out.op[3] = keeps;
  out.extra = static_cast<uint32_t>(program_.extra.size());
  program_.extra.insert(program_.extra.end(),
                        {columns, depth, static_cast<uint32_t>(a->element), static_cast<uint32_t>(b->element),
                         static_cast<uint32_t>(d->element), flags});
  program_.extra.insert(program_.extra.end(), slots.begin(), slots.end());
  Emit(out);
}

void Decoder::NoteNames(const Statement& statement) {
  if (!program_.has_groups) return;
  Names& names = names_.emplace_back();
  if (statement.op.starts_with("wgmma.")) return;
  const bool writes = !WritesNothing(statement.op);
  for (size_t i = 0; i < statement.operands.size(); ++i) {
    std::vector<const Operand*> all;
    CollectOperands(statement.operands[i], &all);
    for (const Operand* operand : all) {
      const bool address = operand->kind == Operand::Kind::kAddress && operand->base_is_register;
      if (operand->kind != Operand::Kind::kRegister && !address) continue;
      if (LaneBytes(operand->reg) != 4) continue;  // not one of wgmma's
      (i == 0 && writes && !address ? names.written : names.read).push_back(frame_->slots[operand->reg]);
    }
  }
}

// Registers that copies of wgmma's registers are in count as wgmma's.
void Decoder::NameGroupRegisters() {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t s = 0; s < names_.size(); ++s) {
      const Names& names = names_[s];
      if (names.written.size() != 1 || names.read.size() != 1 || !program_.sources[s].op.starts_with("mov.")) continue;
      if (group_slots_.count(names.read[0]) != 0) changed |= group_slots_.insert(names.written[0]).second;
    }
  }
  for (const Names& names : names_) {
    Program::Named named;
    named.begin = static_cast<uint32_t>(program_.named_slots.size());
    const auto add = [&](const std::vector<uint32_t>& slots) {
      for (const uint32_t slot : slots) {
        if (group_slots_.count(slot) != 0) program_.named_slots.push_back(slot);
      }
      return static_cast<uint32_t>(program_.named_slots.size()) - named.begin;
    };
    named.written = add(names.written);
    named.count = add(names.read);
    program_.named.push_back(named);
  }
  for (Instruction& instruction : program_.code) {
    if (instruction.statement < program_.named.size() && program_.named[instruction.statement].count != 0)
      instruction.flags |= kGroupRegisters;
  }
}

}  // namespace kernpack::emulator
