// cp.async.bulk between global memory and shared memory. Those by tensor maps aren't emulated.
#include "exec/memory_ops.h"
#include "program/decoder.h"

namespace kernpack::emulator {

void Decoder::BulkCopy(Mnemonic mnemonic) {
  if (mnemonic.Joined() == "cp.async.bulk.commit_group") return Expect(0, 0);
  if (mnemonic.Has("wait_group")) return Expect(1, 1);  // a copy out of shared memory is done at once
  if (mnemonic.Has("prefetch") && !mnemonic.Has("tensor")) return Expect(2, 3);
  const bool hint = mnemonic.Take("L2::cache_hint");
  const std::string name = mnemonic.Joined();
  const bool loads = name == "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes" ||
                     name == "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes";
  const bool moves = name == "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes";
  const bool stores = name == "cp.async.bulk.global.shared::cta.bulk_group";
  if (!loads && !moves && !stores) Refuse("isn't emulated");
  const size_t operands = (stores ? 3 : 4) + (hint ? 1 : 0);
  Expect(operands, operands);
  Instruction out = Start();
  out.space = stores ? Space::kGlobal : Space::kShared;
  out.flags = kCluster;
  out.bytes = 16;
  out.variant = loads ? 1 : 0;
  Address(Need(0), &out);
  std::vector<uint32_t> others;  // displacements and bytes of the other addresses
  const auto other = [&](size_t operand, Space space) {
    Instruction address;
    address.space = space;
    Address(Need(operand), &address);
    if (address.displacement != static_cast<int32_t>(address.displacement)) {  // a variable of the module
      address.op[0] = ConstantSlot(8, static_cast<uint64_t>(address.displacement));
      address.displacement = 0;
    }
    others.push_back(static_cast<uint32_t>(address.displacement));
    others.push_back(address.op[7]);
    return address.op[0];
  };
  out.op[1] = other(1, loads ? Space::kGlobal : Space::kShared);
  out.op[2] = Input(Need(2), Held::kWord, "u32");
  if (!stores) out.op[3] = other(3, Space::kShared);
  out.extra = static_cast<uint32_t>(program_.extra.size());
  program_.extra.insert(program_.extra.end(), others.begin(), others.end());
  out.run = RunBulkCopy;
  Emit(out);
}

}  // namespace kernpack::emulator
