// Processor identification where the system tells it: the auxiliary vector on aarch64; elsewhere nothing is known.
#if !defined(__x86_64__)
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "base/read_once.h"
#include "shared/target/cpu_table.h"
#include "devices/target/cpu_machine.h"
#include "devices/target/hwcap_arm.h"

namespace kernpack::host {
namespace {

#if defined(__aarch64__)
const CpuSpec* Read() {
  auto* cpu = new CpuSpec;  // for ever
  cpu->arch = FindCpuArch("aarch64");
  for (const std::string_view name : ArmFeatures(getauxval(AT_HWCAP), getauxval(AT_HWCAP2))) {
    const CpuEntry* feature = cpu->arch->FindFeature(name);
    cpu->features.Add(static_cast<size_t>(feature - cpu->arch->features.data()));
  }
  return cpu;
}
#else
const CpuSpec* Read() { return new CpuSpec; }
#endif

}  // namespace

const CpuSpec& DetectedCpu() { return *ReadOnce<Read>(); }

CpuSpec WithoutTiles(CpuSpec cpu) { return cpu; }

bool AskForTiles() { return false; }

}  // namespace kernpack::host
#endif
