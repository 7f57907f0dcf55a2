// Loads, stores, atomics, addresses between spaces.
#include <algorithm>

#include "exec/memory_ops.h"
#include "exec/tensor_copy.h"
#include "program/decoder.h"

namespace kernpack::emulator {
namespace {

bool StartsWith(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

// Modifiers that say how, when and for whom, which all accesses here satisfy.
void DropHints(Mnemonic* mnemonic) {
  std::vector<std::string_view> drop;
  for (const std::string_view part : mnemonic->parts()) {
    for (const std::string_view hint : std::initializer_list<std::string_view>{
             "volatile", "relaxed", "acquire", "release", "acq_rel", "weak",  "mmio",    "cta",
             "gpu",      "sys",     "cluster", "nc",      "ca",      "cg",    "cs",      "lu",
             "cv",       "wb",      "wt",      "L1",      "L2",      "level", "unified", "noftz"}) {
      if (StartsWith(part, hint) && (part == hint || StartsWith(part.substr(hint.size()), "::"))) drop.push_back(part);
    }
  }
  for (const std::string_view part : drop) mnemonic->Take(part);
}

// Strength and scope of an access, before its hints are dropped.
uint32_t GetOrder(const Mnemonic& mnemonic, bool atomic) {
  const auto has = [&](auto... names) { return (mnemonic.Has(names) || ...); };
  uint32_t flags = 0;
  const bool releases = has("release", "acq_rel");
  if (atomic || releases || has("volatile", "relaxed", "acquire", "mmio", "cv", "wt")) flags |= kStrong;
  if (releases) flags |= kRelease;
  if (has("cta", "cluster")) flags |= kBlockScope;
  return flags;
}

}  // namespace

Space Decoder::TakeSpace(Mnemonic* mnemonic, uint32_t* flags) const {
  if (mnemonic->Take("global")) return Space::kGlobal;
  if (mnemonic->Take("shared") || mnemonic->Take("shared::cta")) return Space::kShared;
  if (mnemonic->Take("shared::cluster")) {
    *flags |= kCluster;
    return Space::kShared;
  }
  if (mnemonic->Take("local")) return Space::kLocal;
  if (mnemonic->Take("const")) return Space::kConst;
  if (mnemonic->Take("param") || mnemonic->Take("param::entry") || mnemonic->Take("param::func")) return Space::kParam;
  return Space::kGeneric;
}

void Decoder::Address(const Operand& operand, Instruction* out) {
  if (operand.kind != Operand::Kind::kAddress) Refuse("expected an address such as [%rd1+4]");
  out->displacement = operand.value;
  out->op[7] = 8;
  if (operand.base_is_register) {
    out->op[0] = frame_->slots[operand.reg];
    out->op[7] = LaneBytes(operand.reg);
    if (out->op[7] == 0) Refuse("has a predicate as its address");
    return;
  }
  if (operand.name.empty()) return;
  Place place{};
  if (!Resolve(operand.name, &place)) Refuse("names '" + operand.name + "', which is not declared");
  out->displacement += static_cast<int64_t>(place.offset);
  // A parameter of a call lies in local memory.
  if (out->space == Space::kParam && place.space == Space::kLocal) out->space = Space::kLocal;
  if (out->space == Space::kGeneric) {
    out->space = place.space;
  } else if (out->space != place.space && !(out->space == Space::kConst && place.space == Space::kGlobal)) {
    Refuse("names '" + operand.name + "', which is in another state space");
  }
}

void Decoder::LoadOrStore(Mnemonic mnemonic, bool load) {
  Instruction out = Start();
  out.flags = GetOrder(mnemonic, false);
  if ((out.flags & kStrong) != 0) program_.has_strong = true;
  DropHints(&mnemonic);
  out.space = TakeSpace(&mnemonic, &out.flags);
  if (mnemonic.Take("v2")) out.count = 2;
  if (mnemonic.Take("v4")) out.count = 4;
  if (mnemonic.Take("v8")) out.count = 8;
  if (mnemonic.parts().size() < 2) Refuse("has no type of memory");
  if (mnemonic.parts().size() != 2)
    Refuse("isn't emulated: the modifier ." + std::string(mnemonic.parts()[1]) + " is not known here");
  const std::string_view type = mnemonic.type();
  out.bytes = static_cast<uint8_t>(TypeBytes(type));
  if (out.bytes == 0 || type == "pred") Refuse("has no type of memory");
  if (out.bytes > 8) Refuse("of 128 bits isn't emulated");
  out.is_signed = type[0] == 's';
  Expect(2, 3);  // the third is a cache policy
  const Operand& address = Need(load ? 1 : 0);
  const Operand& value = Need(load ? 0 : 1);
  Address(address, &out);
  std::vector<Operand> single;
  if (value.kind != Operand::Kind::kVector) single.push_back(value);
  const std::vector<Operand>& elements = value.kind == Operand::Kind::kVector ? value.elements : single;
  if (elements.size() != out.count)
    Refuse("has a vector of " + std::to_string(elements.size()) + ", not " + std::to_string(out.count));
  std::vector<uint32_t> slots;
  for (const Operand& element : elements) {
    if (element.kind == Operand::Kind::kRegister) {
      const uint32_t bytes = LaneBytes(element.reg);
      if (bytes != 4 && bytes != 8)
        Refuse("loads and stores registers of 32 and 64 bits, not '" + frame_->function->registers[element.reg].name +
               "'");
      if (bytes == 4 && out.bytes == 8) Refuse("has a register of 32 bits for 8 bytes");
      out.wide = bytes == 8;
      slots.push_back(frame_->slots[element.reg]);
      // Loops of compare-and-swap begin with a plain load, also in CUDA's headers: if the value was old, the swap fails.
      if (load && frame_->expected.contains(element.reg)) out.flags |= kStrong | kExpected;
    } else if (load) {
      if (element.kind != Operand::Kind::kSink) Refuse("expected a register as its destination");
      slots.push_back(kNoOperand);
      if (out.bytes == 8) out.wide = true;
    } else {
      out.wide = out.wide || out.bytes == 8;
      const Held held = out.wide        ? (type == "f64" ? Held::kDouble : Held::kLong)
                        : type == "f32" ? Held::kFloat
                                        : Held::kWord;
      slots.push_back(Input(element, held, type));
    }
  }
  // A destination that is also the address is written last of all lanes' reads: addresses are taken before.
  out.extra = static_cast<uint32_t>(program_.extra.size());
  program_.extra.insert(program_.extra.end(), slots.begin(), slots.end());
  out.run = load ? RunLoad : RunStore;
  Emit(out);
}

void Decoder::Atomic(Mnemonic mnemonic, bool returns) {
  Instruction out = Start();
  out.flags = GetOrder(mnemonic, true);
  program_.has_strong = true;
  DropHints(&mnemonic);
  out.space = TakeSpace(&mnemonic, &out.flags);
  mnemonic.Take("ftz");
  if (mnemonic.parts().size() != 3) Refuse("isn't emulated");
  const std::string_view operation = mnemonic.parts()[1], type = mnemonic.type();
  if (!FindAtomic(operation, type, &out.variant))
    Refuse("isn't emulated: there is no update ." + std::string(operation) + "." + std::string(type));
  out.bytes = static_cast<uint8_t>(TypeBytes(type));
  out.wide = out.bytes == 8;
  const size_t first = returns ? 1 : 0;
  const size_t sources = operation == "cas" ? 2 : 1;
  Expect(first + 1 + sources, first + 2 + sources);
  Address(Need(first), &out);
  const Held held = type == "f32" ? Held::kFloat : type == "f64" ? Held::kDouble : out.wide ? Held::kLong : Held::kWord;
  out.op[2] = Input(Need(first + 1), held, type);
  if (sources == 2) out.op[3] = Input(Need(first + 2), held, type);
  std::vector<Instruction> after;
  if (returns && Need(0).kind != Operand::Kind::kSink) out.op[1] = Output(Need(0), held, type, &after);
  out.run = RunAtomic;
  Emit(out);
  for (const Instruction& copy : after) Emit(copy);
}

void Decoder::CopyAsync(Mnemonic mnemonic) {
  if (mnemonic.Has("mbarrier")) return MemoryBarrier(mnemonic);
  if (mnemonic.Has("bulk")) return BulkCopy(mnemonic);
  const bool commits = mnemonic.Has("commit_group"), waits = mnemonic.Has("wait_group");
  if (commits || waits || mnemonic.Has("wait_all")) {
    Expect(waits ? 1 : 0, waits ? 1 : 0);
    if (waits && Need(0).kind != Operand::Kind::kInteger) Refuse("expected a number of groups");
    Instruction out = Start();
    out.run = commits ? RunCommitCopies : RunWaitForCopies;
    out.variant = kBuiltIn;
    out.displacement = waits ? Need(0).value : -1;
    return Emit(out);
  }
  Expect(3, 5);
  Instruction out = Start();
  out.space = Space::kShared;
  Address(Need(0), &out);
  Instruction source = out;
  source.space = Space::kGlobal;
  Address(Need(1), &source);
  if (source.op[0] != kNoOperand && source.op[7] != 8) Refuse("expected a global address of 64 bits");
  out.op[1] = source.op[0];
  out.target = static_cast<uint32_t>(source.displacement);
  if (source.op[0] == kNoOperand) {
    out.op[1] = ConstantSlot(8, static_cast<uint64_t>(source.displacement));
    out.target = 0;
  }
  if (Need(2).kind != Operand::Kind::kInteger) Refuse("expected 4, 8 or 16 bytes");
  out.bytes = static_cast<uint8_t>(Need(2).value);
  if (out.bytes != 4 && out.bytes != 8 && out.bytes != 16) Refuse("expected 4, 8 or 16 bytes");
  if (statement_->operands.size() > 3 && !mnemonic.Has("L2::cache_hint"))
    out.op[2] = Input(Need(3), Held::kWord, "u32");
  out.run = RunCopyAsync;
  Emit(out);
}

// cvta: to a generic address, or back.
void Decoder::ToSpace(Mnemonic mnemonic) {
  Expect(2, 2);
  const bool back = mnemonic.Take("to");
  uint32_t flags = 0;  // the windows of the cluster's blocks are one
  const Space space = TakeSpace(&mnemonic, &flags);
  const bool wide = mnemonic.type() == "u64";
  if (!wide) Refuse("of 32 bits isn't emulated; expected '.address_size 64'");
  uint64_t window = space == Space::kShared  ? kSharedWindow
                    : space == Space::kLocal ? kLocalWindow
                    : space == Space::kParam ? kParamWindow
                                             : 0;
  // Parameters of a call in .param are in local memory here.
  Place place{};
  if (space == Space::kParam && Need(1).kind == Operand::Kind::kSymbol && Resolve(Need(1).name, &place) &&
      place.space == Space::kLocal)
    window = kLocalWindow;
  Instruction out;
  const uint32_t from = Input(Need(1), Held::kLong, "u64");
  std::vector<Instruction> after;
  const uint32_t to = Output(Need(0), Held::kLong, "u64", &after);
  out = Start();
  out.run = GetRow(back ? "sub.u64" : "add.u64");
  out.op[0] = to;
  out.op[1] = from;
  out.op[2] = ConstantSlot(8, window);
  Emit(out);
  for (const Instruction& copy : after) Emit(copy);
}

void Decoder::IsSpace(Mnemonic mnemonic) {
  Expect(2, 2);
  uint32_t flags = 0;
  const Space space = TakeSpace(&mnemonic, &flags);
  const bool own = space == Space::kShared && (flags & kCluster) == 0;
  const uint64_t window = space == Space::kShared  ? kSharedWindow
                          : space == Space::kLocal ? kLocalWindow
                          : space == Space::kParam ? kParamWindow
                                                   : 0;
  const uint32_t from = Input(Need(1), Held::kLong, "u64");
  const uint32_t top = NewSlot(8);
  Instruction mask = Start();
  mask.run = GetRow("and.b64");
  mask.op[0] = top;
  mask.op[1] = from;
  mask.op[2] = ConstantSlot(8, own ? kWindowMask | (kRankUnit * 256 - kRankUnit) : kWindowMask);
  Emit(mask);
  Instruction compare = Start();
  compare.run = GetRow("setp.eq.u64");
  compare.op[0] = GetPredicate(Need(0));
  compare.op[1] = top;
  compare.op[2] = ConstantSlot(8, window);
  Emit(compare);
}

// mapa: an address of the same variable in another block of the cluster. getctarank: the block of an address.
void Decoder::OfCluster(Mnemonic mnemonic, bool maps) {
  Expect(maps ? 3 : 2, maps ? 3 : 2);
  Instruction out;
  uint32_t flags = 0;
  const Space space = TakeSpace(&mnemonic, &flags);
  if (space != Space::kGeneric && (flags & kCluster) == 0) Refuse("expected .shared::cluster or no state space");
  if (mnemonic.parts().size() != 2) Refuse("isn't emulated");
  const bool wide = mnemonic.type() == "u64";
  const uint32_t from = Input(Need(1), wide ? Held::kLong : Held::kWord, mnemonic.type());
  const uint32_t rank = maps ? Input(Need(2), Held::kWord, "u32") : kNoOperand;
  std::vector<Instruction> after;
  const bool wide_out = wide && maps;
  const uint32_t to = Output(Need(0), wide_out ? Held::kLong : Held::kWord, wide_out ? "u64" : "u32", &after);
  out = Start();
  out.run = maps ? RunMapRank : RunGetRank;
  out.variant = kBuiltIn;
  out.space = space;
  out.wide = wide;
  out.op[0] = to;
  out.op[1] = from;
  out.op[2] = rank;
  Emit(out);
  for (const Instruction& copy : after) Emit(copy);
}

bool Decoder::Memory(const Mnemonic& mnemonic) {
  const std::string_view opcode = mnemonic.opcode();
  if (opcode == "ld" || opcode == "ldu") return LoadOrStore(mnemonic, true), true;
  if (opcode == "st") return LoadOrStore(mnemonic, false), true;
  if (opcode == "atom") return Atomic(mnemonic, true), true;
  if (opcode == "red") {
    if (mnemonic.Has("async")) Refuse("isn't emulated");
    return Atomic(mnemonic, false), true;
  }
  if (opcode == "mbarrier") return MemoryBarrier(mnemonic), true;
  if (opcode == "cp") return CopyAsync(mnemonic), true;
  if (opcode == "tensormap") return TensorMapping(mnemonic), true;
  if (opcode == "cvta") return ToSpace(mnemonic), true;
  if (opcode == "isspacep") return IsSpace(mnemonic), true;
  if (opcode == "mapa" || opcode == "getctarank") return OfCluster(mnemonic, opcode == "mapa"), true;
  const bool of_proxy = opcode == "fence" && mnemonic.Has("proxy") && mnemonic.Has("async");
  if (of_proxy || (opcode == "fence" && mnemonic.Has("mbarrier_init"))) {
    Instruction out = Start();
    out.run = of_proxy ? RunProxyFence : RunInitFence;
    out.variant = kBuiltIn;
    return Emit(out), true;
  }
  if (opcode == "fence" && mnemonic.Has("tensormap::generic") && mnemonic.Has("acquire")) {
    Expect(2, 2);
    Instruction out = Start();
    out.space = Space::kGeneric;
    Address(Need(0), &out);
    out.run = RunTensorAcquire;
    return Emit(out), true;
  }
  const bool orders = opcode == "membar" || opcode == "fence";
  if (orders && !mnemonic.Has("proxy")) {
    program_.has_strong = true;
    if (mnemonic.Has("cta") || mnemonic.Has("cluster")) return true;
    Instruction out = Start();
    out.run = RunFence;
    out.variant = kBuiltIn;
    return Emit(out), true;
  }
  return orders || opcode == "prefetch" || opcode == "prefetchu" || opcode == "discard" || opcode == "applypriority" ||
         opcode == "createpolicy";
}

}  // namespace kernpack::emulator
