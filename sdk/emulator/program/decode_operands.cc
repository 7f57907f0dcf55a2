// Registers, immediates, special registers and names, as slots.
#include <bit>
#include <unordered_map>

#include "program/decoder.h"

namespace kernpack::emulator {
namespace {

const std::unordered_map<std::string_view, Special>& Specials() {
  static const auto* const specials = new std::unordered_map<std::string_view, Special>{
      {"%tid.x", Special::kTidX},
      {"%tid.y", Special::kTidY},
      {"%tid.z", Special::kTidZ},
      {"%ntid.x", Special::kNtidX},
      {"%ntid.y", Special::kNtidY},
      {"%ntid.z", Special::kNtidZ},
      {"%ctaid.x", Special::kCtaidX},
      {"%ctaid.y", Special::kCtaidY},
      {"%ctaid.z", Special::kCtaidZ},
      {"%nctaid.x", Special::kNctaidX},
      {"%nctaid.y", Special::kNctaidY},
      {"%nctaid.z", Special::kNctaidZ},
      {"%laneid", Special::kLaneId},
      {"%warpid", Special::kWarpId},
      {"%nwarpid", Special::kNwarpId},
      {"%smid", Special::kSmId},
      {"%nsmid", Special::kNsmId},
      {"%gridid", Special::kGridId},
      {"%lanemask_eq", Special::kLanemaskEq},
      {"%lanemask_le", Special::kLanemaskLe},
      {"%lanemask_lt", Special::kLanemaskLt},
      {"%lanemask_ge", Special::kLanemaskGe},
      {"%lanemask_gt", Special::kLanemaskGt},
      {"%dynamic_smem_size", Special::kDynamicShared},
      {"%total_smem_size", Special::kTotalShared},
      {"%clock", Special::kClock},
      {"%clock64", Special::kClock64},
      {"%globaltimer", Special::kGlobalTimer},
      {"%cluster_ctaid.x", Special::kClusterCtaidX},
      {"%cluster_ctaid.y", Special::kClusterCtaidY},
      {"%cluster_ctaid.z", Special::kClusterCtaidZ},
      {"%cluster_ctarank", Special::kClusterCtarank},
      {"%clusterid.x", Special::kClusterIdX},
      {"%clusterid.y", Special::kClusterIdY},
      {"%clusterid.z", Special::kClusterIdZ},
      {"%nclusterid.x", Special::kNclusterIdX},
      {"%nclusterid.y", Special::kNclusterIdY},
      {"%nclusterid.z", Special::kNclusterIdZ},
      {"%envreg1", Special::kWorkspaceHigh},
      {"%envreg2", Special::kWorkspaceLow},
      {"%cluster_nctaid.x", Special::kClusterNctaidX},
      {"%cluster_nctaid.y", Special::kClusterNctaidY},
      {"%cluster_nctaid.z", Special::kClusterNctaidZ},
      {"%cluster_nctarank", Special::kClusterNctarank},
  };
  return *specials;
}

uint32_t CountBytes(Held held) {
  switch (held) {
    case Held::kPredicate:
      return 0;
    case Held::kLong:
    case Held::kDouble:
      return 8;
    default:
      return 4;
  }
}

uint64_t FloatBits(const Operand& operand, Held held) {
  const auto bits = static_cast<uint64_t>(operand.value);
  const double value = operand.float_bytes == 8
                           ? std::bit_cast<double>(bits)
                           : static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  const bool to_double = held == Held::kDouble || held == Held::kLong;
  if (to_double) return operand.float_bytes == 8 ? bits : std::bit_cast<uint64_t>(value);
  return operand.float_bytes == 4 ? bits : std::bit_cast<uint32_t>(static_cast<float>(value));
}

}  // namespace

uint32_t Decoder::NewSlot(uint32_t lane_bytes) {
  if (lane_bytes != 0) {
    const uint32_t slot = next_slot_;
    next_slot_ += lane_bytes * 32;
    return slot;
  }
  if (predicates_left_ == 0) {
    predicate_chunk_ = next_slot_;
    predicates_left_ = 16;
    next_slot_ += 64;
  }
  return predicate_chunk_ + 4 * (16 - predicates_left_--);
}

uint32_t Decoder::ConstantSlot(uint32_t lane_bytes, uint64_t bits) {
  if (lane_bytes == 4) bits &= 0xffffffffU;
  if (lane_bytes == 0) bits = bits != 0 ? 0xffffffffU : 0;
  const auto [found, made] = constants_.try_emplace({lane_bytes, bits}, 0);
  if (made) {
    found->second = NewSlot(lane_bytes);
    program_.constants.push_back({found->second, lane_bytes, bits});
  }
  return found->second;
}

uint32_t Decoder::GetSpecialSlot(const std::string& name, Instruction* /*clock*/) {
  const auto found = Specials().find(name);
  if (found == Specials().end()) Refuse("reads " + name + ", which isn't emulated");
  const auto [slot, made] = specials_.try_emplace(static_cast<int>(found->second), 0);
  if (made) {
    slot->second = NewSlot(4);
    program_.specials.push_back({slot->second, found->second});
  }
  return slot->second;
}

uint32_t Decoder::LaneBytes(uint32_t reg) const {
  const std::string& type = frame_->function->registers[reg].type;
  if (type == "pred") return 0;
  const uint32_t bytes = TypeBytes(type);
  return bytes <= 4 ? 4 : bytes;
}

// A variable's place: in the function, among the kernel's or the module's shared ones, or in global memory.
bool Decoder::Resolve(const std::string& name, Place* out) const {
  const auto local = frame_->names.find(name);
  if (local != frame_->names.end() && local->second.offset != ~uint64_t{0}) return *out = local->second, true;
  const auto shared = shared_.find(name);
  if (shared != shared_.end()) return *out = {Space::kShared, shared->second}, true;
  for (const Variable& variable : module_.variables) {
    if (variable.name != name || variable.space != Space::kShared) continue;
    return *out = {Space::kShared, program_.shared_bytes}, true;  // dynamic: behind the others
  }
  uint64_t address = 0;
  if (!find_(name, &address)) return false;
  return *out = {Space::kGlobal, address}, true;
}

const Operand& Decoder::Need(size_t index) const {
  if (index >= statement_->operands.size()) {
    Refuse("has " + std::to_string(statement_->operands.size()) + " operands; at least " + std::to_string(index + 1) +
           " are needed");
  }
  return statement_->operands[index];
}

void Decoder::Expect(size_t least, size_t most) const {
  const size_t count = statement_->operands.size();
  if (count >= least && count <= most) return;
  Refuse("has " + std::to_string(count) + " operands; expected " + std::to_string(least) +
         (most > least ? " to " + std::to_string(most) : ""));
}

uint32_t Decoder::GetPredicate(const Operand& operand) const {
  if (operand.kind == Operand::Kind::kSink) return kNoOperand;
  if (operand.kind != Operand::Kind::kRegister || LaneBytes(operand.reg) != 0)
    Refuse("expected a predicate among its operands");
  return frame_->slots[operand.reg];
}

// The slot of a source, as the instruction holds it; a register of another width is converted first.
uint32_t Decoder::Input(const Operand& operand, Held held, std::string_view type) {
  const uint32_t bytes = CountBytes(held);
  switch (operand.kind) {
    case Operand::Kind::kRegister: {
      const uint32_t have = LaneBytes(operand.reg);
      const uint32_t slot = frame_->slots[operand.reg];
      if (have == bytes) return slot;
      if (have == 0 || bytes == 0)
        Refuse("takes no predicate where '" + frame_->function->registers[operand.reg].name +
               "' is, or only a predicate");
      const uint32_t temporary = NewSlot(bytes);
      if (have == 8 && bytes == 4) {
        EmitRow("cvt.u32.u64", temporary, slot);
      } else if (have == 4 && bytes == 8) {
        EmitRow(type.starts_with("s") ? "cvt.s64.s32" : "cvt.u64.u32", temporary, slot);
      } else {
        Refuse("reads the register '" + frame_->function->registers[operand.reg].name +
               "' of 128 bits, which isn't emulated here");
      }
      return temporary;
    }
    case Operand::Kind::kInteger: {
      if (held == Held::kFloat) return ConstantSlot(4, std::bit_cast<uint32_t>(static_cast<float>(operand.value)));
      if (held == Held::kDouble) return ConstantSlot(8, std::bit_cast<uint64_t>(static_cast<double>(operand.value)));
      return ConstantSlot(bytes, static_cast<uint64_t>(operand.value));
    }
    case Operand::Kind::kFloat:
      return ConstantSlot(bytes, FloatBits(operand, held));
    case Operand::Kind::kSpecial: {
      const uint32_t slot = GetSpecialSlot(operand.name, nullptr);
      if (bytes == 4) return slot;
      const uint32_t temporary = NewSlot(8);
      EmitRow("cvt.u64.u32", temporary, slot);
      return temporary;
    }
    case Operand::Kind::kSymbol: {
      Place place{};
      if (!Resolve(operand.name, &place)) Refuse("names '" + operand.name + "', which is not declared");
      return ConstantSlot(bytes, place.offset + static_cast<uint64_t>(operand.value));
    }
    default:
      Refuse("has an operand of a kind that it does not take");
  }
}

// The slot of a destination. One of another width is written through a temporary, and `after` gets what copies it.
uint32_t Decoder::Output(const Operand& operand, Held held, std::string_view type, std::vector<Instruction>* after) {
  if (operand.kind == Operand::Kind::kSink) {
    return NewSlot(CountBytes(held));
  }
  if (operand.kind != Operand::Kind::kRegister) Refuse("expected a register as its destination");
  const uint32_t bytes = CountBytes(held), have = LaneBytes(operand.reg), slot = frame_->slots[operand.reg];
  if (have == bytes) return slot;
  if (have == 0 || bytes == 0 || have == 16) {
    Refuse("cannot write to '" + frame_->function->registers[operand.reg].name + "': a register of type ." +
           frame_->function->registers[operand.reg].type);
  }
  const uint32_t temporary = NewSlot(bytes);
  const Handler row = GetRow(have == 4 ? "cvt.u32.u64" : type.starts_with("s") ? "cvt.s64.s32" : "cvt.u64.u32");
  Instruction copy = Start();
  copy.run = row;
  copy.op[0] = slot;
  copy.op[1] = temporary;
  after->push_back(copy);
  return temporary;
}

Instruction Decoder::Start() {
  Instruction out;
  out.statement = static_cast<uint32_t>(program_.sources.size() - 1);
  if (!statement_->guarded) return out;
  if (LaneBytes(statement_->guard) != 0) Refuse("is guarded by a register that isn't a predicate");
  out.guard = frame_->slots[statement_->guard];
  out.guard_negated = statement_->guard_negated;
  return out;
}

void Decoder::Emit(const Instruction& instruction) { program_.code.push_back(instruction); }

Handler Decoder::GetRow(const std::string& name) const {
  const Row* row = FindRow(name.c_str());
  if (row == nullptr) Refuse("isn't emulated");
  return row->run;
}

void Decoder::EmitRow(const char* name, uint32_t to, uint32_t from) {
  Instruction out = Start();
  out.run = GetRow(name);
  out.op[0] = to;
  out.op[1] = from;
  Emit(out);
}

}  // namespace kernpack::emulator
