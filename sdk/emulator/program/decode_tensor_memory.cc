// tcgen05: tensor memory, and products that have it as their D.
#include <algorithm>
#include <bit>
#include <charconv>

#include "exec/tensor_memory.h"
#include "program/decoder.h"

namespace kernpack::emulator {
namespace {

struct NamedShape {
  std::string_view name;
  TensorShape shape;
  uint32_t registers;  // of .x1
};
constexpr NamedShape kTensorShapes[] = {
    {"32x32b", TensorShape::k32x32b, 1},   {"16x32bx2", TensorShape::k16x32bx2, 1}, {"16x64b", TensorShape::k16x64b, 1},
    {"16x128b", TensorShape::k16x128b, 2}, {"16x256b", TensorShape::k16x256b, 4},
};
constexpr uint32_t kMostRegisters = 128;

struct NamedKind {
  std::string_view name;
  TensorKind kind;
  uint32_t scales;  // of a row, if it has no .scale_vec; 0: it needs one, or has none
};
constexpr NamedKind kTensorKinds[] = {
    {"kind::f16", TensorKind::kF16, 0},           {"kind::tf32", TensorKind::kTf32, 0},
    {"kind::f8f6f4", TensorKind::kF8f6f4, 0},     {"kind::i8", TensorKind::kI8, 0},
    {"kind::mxf8f6f4", TensorKind::kMxf8f6f4, 1}, {"kind::mxf4", TensorKind::kMxf4, 2},
    {"kind::mxf4nvf4", TensorKind::kMxf4nvf4, 0},
};

struct NamedCopy {
  std::string_view name, copies;
  TensorCopyShape shape;
};
constexpr NamedCopy kTensorCopies[] = {
    {"128x256b", "", TensorCopyShape::k128x256b},
    {"128x128b", "", TensorCopyShape::k128x128b},
    {"64x128b", "warpx2::02_13", TensorCopyShape::k64x128b0213},
    {"64x128b", "warpx2::01_23", TensorCopyShape::k64x128b0123},
    {"32x128b", "warpx4", TensorCopyShape::k32x128b},
};

}  // namespace

bool Decoder::TensorMemoryUse(const Mnemonic& of) {
  if (of.opcode() != "tcgen05") return false;
  Mnemonic mnemonic = of;
  if (mnemonic.Has("cta_group::2")) Refuse("isn't emulated: .cta_group::1 is, without .cta_group::2");
  const std::string name = mnemonic.Joined();
  program_.has_tensor_memory = true;
  // Orders nothing that barriers and tcgen05.wait don't order here.
  if (name == "tcgen05.fence::before_thread_sync" || name == "tcgen05.fence::after_thread_sync")
    return Expect(0, 0), true;
  const auto emit = [&](Instruction* out, Flow flow, Handler run) {
    out->flow = flow;
    out->run = run;
    out->bytes = 4;
    Emit(*out);
    return true;
  };
  if (name == "tcgen05.wait::ld.sync.aligned" || name == "tcgen05.wait::st.sync.aligned") {
    Expect(0, 0);
    Instruction out = Start();
    return emit(&out, Flow::kCollective, of.Has("wait::ld") ? RunTensorWaitForLoads : RunTensorWaitForStores);
  }
  if (mnemonic.Take("cta_group::1")) return TensorOfGroup(mnemonic), true;
  if (mnemonic.parts().size() > 1 && (mnemonic.parts()[1] == "ld" || mnemonic.parts()[1] == "st"))
    return MoveTensor(mnemonic), true;
  Refuse("isn't emulated");
}

// Those that name a group of blocks, of one block.
void Decoder::TensorOfGroup(Mnemonic mnemonic) {
  if (mnemonic.Has("mma")) return MultiplyTensor(mnemonic);
  if (mnemonic.Has("cp")) return CopyTensor(mnemonic);
  Instruction out = Start();
  out.bytes = 4;
  out.flow = Flow::kCollective;
  const bool allocates = mnemonic.Has("alloc"), commits = mnemonic.Has("commit");
  if (allocates || commits) out.space = TakeSpace(&mnemonic, &out.flags);
  const bool multicast = commits && mnemonic.Take("multicast::cluster");
  const std::string name = mnemonic.Joined();
  if (name == "tcgen05.alloc.sync.aligned.b32" && (out.flags & kCluster) == 0) {
    Expect(2, 2);
    Address(Need(0), &out);
    out.op[1] = Input(Need(1), Held::kWord, "u32");
    out.run = RunTensorAllocate;
  } else if (name == "tcgen05.dealloc.sync.aligned.b32") {
    Expect(2, 2);
    out.op[1] = Input(Need(0), Held::kWord, "u32");
    out.op[2] = Input(Need(1), Held::kWord, "u32");
    out.run = RunTensorDeallocate;
  } else if (name == "tcgen05.relinquish_alloc_permit.sync.aligned") {
    Expect(0, 0);
    out.run = RunTensorRelinquish;
  } else if (name == "tcgen05.commit.mbarrier::arrive::one.b64") {
    Expect(multicast ? 2 : 1, multicast ? 2 : 1);
    if (multicast) out.op[1] = Input(Need(1), Held::kWord, "u16");
    Address(Need(0), &out);
    out.bytes = 8;
    out.flow = Flow::kPlain;
    out.run = RunTensorCommit;
  } else {
    Refuse("isn't emulated");
  }
  if ((allocates || commits) && out.space != Space::kShared && out.space != Space::kGeneric)
    Refuse("expected an address of shared memory");
  Emit(out);
}

void Decoder::MoveTensor(Mnemonic mnemonic) {
  const bool load = mnemonic.Has("ld");
  const std::vector<std::string_view>& parts = mnemonic.parts();
  // tcgen05.ld.sync.aligned.<shape>.x<N>.b32
  const NamedShape* shape = nullptr;
  uint32_t times = 0;
  if (parts.size() == 7 && parts[2] == "sync" && parts[3] == "aligned" && parts[5].starts_with("x") &&
      parts[6] == "b32") {
    for (const NamedShape& each : kTensorShapes) {
      if (each.name == parts[4]) shape = &each;
    }
    std::from_chars(parts[5].data() + 1, parts[5].data() + parts[5].size(), times);
  }
  if (shape == nullptr || !std::has_single_bit(times) || times * shape->registers > kMostRegisters) {
    Refuse(
        "isn't emulated; .sync.aligned.<shape>.x<N>.b32 is, with up to 128 registers, and without .pack::16b, "
        ".unpack::16b and .red");
  }
  const uint32_t count = times * shape->registers;
  const bool halves = shape->shape == TensorShape::k16x32bx2;
  Expect(halves ? 3 : 2, halves ? 3 : 2);
  uint32_t offset = 0;
  if (halves) {
    const Operand& given = Need(load ? 2 : 1);
    if (given.kind != Operand::Kind::kInteger || given.value < 0 || given.value >= kTensorColumns)
      Refuse("expected the second half's offset, from 0 to 511");
    offset = static_cast<uint32_t>(given.value);
  }
  std::vector<uint32_t> slots;
  for (const Operand* operand : Elements(Need(load ? 0 : halves ? 2 : 1), count)) {
    if (!load) {
      slots.push_back(Input(*operand, Held::kWord, "b32"));
      continue;
    }
    if (operand->kind != Operand::Kind::kSink &&
        (operand->kind != Operand::Kind::kRegister || LaneBytes(operand->reg) != 4))
      Refuse("expected registers of 32 bits");
    slots.push_back(Output(*operand, Held::kWord, "b32", nullptr));
  }
  Instruction out = Start();
  TensorAddress(Need(load ? 1 : 0), &out);
  out.flow = Flow::kCollective;
  out.run = load ? RunTensorMemoryLoad : RunTensorMemoryStore;
  out.bytes = 4;
  out.variant = static_cast<uint8_t>(shape->shape);
  out.extra = static_cast<uint32_t>(program_.extra.size());
  program_.extra.insert(program_.extra.end(), {offset, count});
  program_.extra.insert(program_.extra.end(), slots.begin(), slots.end());
  Emit(out);
}

void Decoder::TensorAddress(const Operand& operand, Instruction* out) {
  if (operand.kind != Operand::Kind::kAddress || !operand.base_is_register || LaneBytes(operand.reg) != 4)
    Refuse("expected an address of tensor memory such as [%r1+8]");
  out->op[0] = frame_->slots[operand.reg];
  out->displacement = operand.value;
}

void Decoder::CopyTensor(const Mnemonic& mnemonic) {
  // Triton has .warpx4 before the shape, which ptxas takes, too.
  const auto* const found =
      std::find_if(std::begin(kTensorCopies), std::end(kTensorCopies), [&](const NamedCopy& copy) {
        Mnemonic rest = mnemonic;
        return rest.Take(copy.name) && (copy.copies.empty() || rest.Take(copy.copies)) && rest.Joined() == "tcgen05.cp";
      });
  if (found == std::end(kTensorCopies)) {
    Refuse(
        "isn't emulated; .128x256b, .128x128b, .64x128b.warpx2 and .32x128b.warpx4 are, without formats that are "
        "unpacked");
  }
  Expect(2, 2);
  Instruction out = Start();
  TensorAddress(Need(0), &out);
  out.extra = static_cast<uint32_t>(program_.extra.size());
  program_.extra.push_back(static_cast<uint32_t>(out.displacement));
  out.displacement = 0;
  out.op[1] = Input(Need(1), Held::kLong, "b64");
  out.bytes = 4;
  out.variant = static_cast<uint8_t>(found->shape);
  out.run = RunTensorCopy;
  Emit(out);
}

void Decoder::MultiplyTensor(Mnemonic mnemonic) {
  const NamedKind* kind = nullptr;
  for (const NamedKind& each : kTensorKinds) {
    if (mnemonic.Take(each.name)) kind = &each;
  }
  const bool scaled = mnemonic.Take("block_scale");
  uint32_t scales = kind == nullptr ? 0 : kind->scales;
  // .block32 and .block16 tell how many elements have a scale.
  const bool has_fours = kind != nullptr && kind->kind >= TensorKind::kMxf4;
  const std::pair<std::string_view, uint32_t> sizes[] = {
      {"scale_vec::1X", 1}, {"scale_vec::2X", 2}, {"scale_vec::4X", 4}, {"block32", has_fours ? 2 : 1}, {"block16", 4}};
  bool right = kind != nullptr && scaled == (kind->kind >= TensorKind::kMxf8f6f4);
  for (const auto& [name, count] : sizes) {
    if (!mnemonic.Take(name)) continue;
    right = right && scaled && (kind->scales == 0 ? count != 1 : count == kind->scales);
    scales = count;
  }
  if (!right || (scaled && scales == 0) || mnemonic.Joined() != "tcgen05.mma") {
    Refuse(
        "isn't emulated; .kind::f16, .kind::tf32, .kind::f8f6f4 and .kind::i8 are, and with .block_scale "
        ".kind::mxf8f6f4 "
        "(.scale_vec::1X), .kind::mxf4 (2X) and .kind::mxf4nvf4 (2X, 4X), without .ws, .sp and .collector");
  }
  // With scales there are two more operands; without, the lanes that are left out may come before the predicate, and a scale of D after it.
  const bool leaves_out = !scaled && Need(4).kind == Operand::Kind::kVector;
  const bool halves = kind->kind == TensorKind::kF16 || kind->kind == TensorKind::kTf32;
  const size_t operands = scaled ? 7 : leaves_out ? 6 : 5;
  Expect(operands, operands + size_t{halves});
  uint32_t scale_of_d = 0;
  if (statement_->operands.size() > operands) {
    const Operand& scale = Need(operands);
    if (scale.kind != Operand::Kind::kInteger || scale.value < 0 || scale.value > 15)
      Refuse("expected a scale of D from 0 to 15 as its last operand");
    scale_of_d = static_cast<uint32_t>(scale.value);
  }
  std::vector<uint32_t> left_out(4, kNoOperand);
  if (leaves_out) {
    const std::vector<const Operand*> lanes = Elements(Need(4), left_out.size());
    for (size_t n = 0; n < lanes.size(); ++n) left_out[n] = Input(*lanes[n], Held::kWord, "b32");
  }
  Instruction out = Start();
  TensorAddress(Need(0), &out);
  const uint32_t d = out.op[0];
  const auto of_d = static_cast<uint32_t>(out.displacement);
  uint32_t of_a = 0;
  if (Need(1).kind == Operand::Kind::kAddress) {
    TensorAddress(Need(1), &out);
    out.op[1] = out.op[0];
    of_a = static_cast<uint32_t>(out.displacement);
    out.count = 2;
  } else {
    out.op[1] = Input(Need(1), Held::kLong, "b64");
  }
  uint32_t of_scales[2] = {};
  for (uint32_t n = 0; scaled && n < 2; ++n) {
    TensorAddress(Need(4 + n), &out);
    out.op[5 + n] = out.op[0];
    of_scales[n] = static_cast<uint32_t>(out.displacement);
  }
  const Operand& keeps = Need(operands - 1);
  out.op[0] = d;
  out.displacement = 0;
  out.op[2] = Input(Need(2), Held::kLong, "b64");
  out.op[3] = Input(Need(3), Held::kWord, "b32");
  out.op[4] = keeps.kind == Operand::Kind::kRegister ? GetPredicate(keeps) : Input(keeps, Held::kPredicate, "pred");
  if (keeps.negated) out.flags |= kNegateC;
  out.bytes = 4;
  out.variant = static_cast<uint8_t>(kind->kind);
  out.run = RunTensorMultiply;
  out.extra = static_cast<uint32_t>(program_.extra.size());
  program_.extra.insert(program_.extra.end(), {of_d, of_a, scales, of_scales[0], of_scales[1], scale_of_d});
  program_.extra.insert(program_.extra.end(), left_out.begin(), left_out.end());
  Emit(out);
}

}  // namespace kernpack::emulator
