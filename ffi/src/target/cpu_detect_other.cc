// Processor identification where the system tells it: the auxiliary vector on aarch64; elsewhere nothing is known.
#if !defined(__x86_64__)
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "base/read_once.h"
#include "target/cpu_detect.h"
#include "target/cpu_table.h"

namespace kernpack::host {
namespace {

#if defined(__aarch64__)
struct Bit {
  const char* feature;
  bool second;  // of AT_HWCAP2
  int bit;
};

// Linux's arch/arm64/include/uapi/asm/hwcap.h, which is part of its stable interface.
constexpr Bit kBits[] = {
    {"fp-armv8", false, 0},   {"neon", false, 1},       {"aes", false, 3},      {"sha2", false, 6},
    {"crc", false, 7},        {"lse", false, 8},        {"fullfp16", false, 9}, {"rdm", false, 12},
    {"jsconv", false, 13},    {"complxnum", false, 14}, {"rcpc", false, 15},    {"sha3", false, 17},
    {"sm4", false, 19},       {"dotprod", false, 20},   {"sve", false, 22},     {"fp16fml", false, 23},
    {"dit", false, 24},       {"flagm", false, 27},     {"ssbs", false, 28},    {"sb", false, 29},
    {"pauth", false, 30},     {"ccdp", true, 0},        {"sve2", true, 1},      {"sve2-bitperm", true, 4},
    {"fptoint", true, 8},     {"i8mm", true, 13},       {"bf16", true, 14},     {"rand", true, 16},
    {"bti", true, 17},        {"mte", true, 18},        {"sme", true, 23},      {"sme-i16i64", true, 24},
    {"sme-f64f64", true, 25}, {"cssc", true, 34},       {"sme2", true, 37},
};

const CpuSpec* Read() {
  const uint64_t words[2] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
  auto* cpu = new CpuSpec;  // for ever
  cpu->arch = FindCpuArch("aarch64");
  for (const Bit& bit : kBits) {
    const CpuEntry* feature = cpu->arch->FindFeature(bit.feature);
    if (words[bit.second] >> bit.bit & 1) {
      cpu->features.Add(static_cast<size_t>(feature - cpu->arch->features.data()));
    }
  }
  return cpu;
}
#else
const CpuSpec* Read() { return new CpuSpec; }
#endif

}  // namespace

const CpuSpec& DetectedCpu() { return *ReadOnce<Read>(); }

}  // namespace kernpack::host
#endif
