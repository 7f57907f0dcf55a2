// cp.async.bulk between global memory and shared memory, without tensor maps; and the groups of all copies in bulk.
#include "exec/bulk_access.h"
#include "exec/memory_ops.h"
#include "program/decoder.h"

namespace kernpack::emulator {

uint32_t Decoder::OtherAddress(const Operand& operand, Space space, std::vector<uint32_t>* out) {
  Instruction address;
  address.space = space;
  Address(operand, &address);
  if (address.displacement != static_cast<int32_t>(address.displacement)) {  // a variable of the module
    address.op[0] = ConstantSlot(8, static_cast<uint64_t>(address.displacement));
    address.displacement = 0;
  }
  out->push_back(static_cast<uint32_t>(address.displacement));
  out->push_back(address.op[7]);
  out->push_back(static_cast<uint32_t>(address.space));
  return address.op[0];
}

void Decoder::BulkGroups(const Mnemonic& mnemonic) {
  const bool commits = mnemonic.Has("commit_group");
  Expect(commits ? 0 : 1, commits ? 0 : 1);
  Instruction out = Start();
  out.variant = kBuiltIn;
  out.run = commits ? RunCommitBulks : RunWaitForBulks;
  if (!commits) {
    if (Need(0).kind != Operand::Kind::kInteger || Need(0).value < 0) Refuse("expected a number of groups");
    out.displacement = Need(0).value;
    if (mnemonic.Has("read")) out.flags |= kRelaxed;
  }
  Emit(out);
}

void Decoder::BulkCopy(Mnemonic mnemonic) {
  if (mnemonic.Has("commit_group") || mnemonic.Has("wait_group")) return BulkGroups(mnemonic);
  if (mnemonic.Has("tensor")) return TensorCopy(mnemonic);
  if (mnemonic.Has("prefetch")) return Expect(2, 3);
  const bool hint = mnemonic.Take("L2::cache_hint"), multicast = mnemonic.Take("multicast::cluster");
  Instruction out = Start();
  out.count = 0;
  const bool reduces = mnemonic.Take("reduce");
  if (reduces) {
    mnemonic.Take("noftz");
    const std::vector<std::string_view> parts = mnemonic.parts();
    if (parts.size() < 3 || !FindAtomic(parts[parts.size() - 2], parts.back(), &out.variant, true))
      Refuse("isn't emulated: there is no such reduction");
    out.count = static_cast<uint8_t>(TypeBytes(parts.back()));
    mnemonic.Take(parts.back());
    mnemonic.Take(parts[parts.size() - 2]);
  }
  const std::string name = mnemonic.Joined();
  const bool loads = name == "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes" ||
                     name == "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes";
  const bool moves = name == "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes";
  const bool stores = name == "cp.async.bulk.global.shared::cta.bulk_group";
  if ((!loads && !moves && !stores) || (reduces && !stores) || (multicast && !loads)) Refuse("isn't emulated");
  const size_t operands = (stores ? 3 : 4) + size_t{multicast} + size_t{hint};
  Expect(operands, operands);
  out.space = stores ? Space::kGlobal : Space::kShared;
  out.flags = kCluster;
  out.bytes = kBulkUnit;
  Address(Need(0), &out);
  std::vector<uint32_t> others;
  out.op[1] = OtherAddress(Need(1), loads ? Space::kGlobal : Space::kShared, &others);
  out.op[2] = Input(Need(2), Held::kWord, "u32");
  if (!stores) out.op[3] = OtherAddress(Need(3), Space::kShared, &others);
  out.op[4] = multicast ? Input(Need(4), Held::kWord, "u16") : kNoOperand;
  out.extra = static_cast<uint32_t>(program_.extra.size());
  program_.extra.insert(program_.extra.end(), others.begin(), others.end());
  out.run = RunBulkCopy;
  Emit(out);
}

}  // namespace kernpack::emulator
