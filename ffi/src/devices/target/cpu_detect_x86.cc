// Processor identification on x86-64. Not __builtin_cpu_supports: the tool chain of the released wheel links a version of it
// that always says no.
#if defined(__x86_64__)
#include <cpuid.h>

#include "base/os/processors.h"
#include "base/read_once.h"
#include "shared/target/cpu_table.h"
#include "devices/target/cpu_machine.h"
#include "devices/target/cpuid_x86.h"

namespace kernpack::host {
namespace {

struct Bit {
  const char* feature;
  CpuidLeaf leaf;
  CpuidRegister reg;
  int bit;
};

// Intel's Software Developer's Manual, volume 2A, CPUID; AMD's Architecture Programmer's Manual, volume 3, appendix E.
constexpr Bit kBits[] = {
    {"sse3", kBasic, kEcx, 0},
    {"pclmul", kBasic, kEcx, 1},
    {"ssse3", kBasic, kEcx, 9},
    {"fma", kBasic, kEcx, 12},
    {"cx16", kBasic, kEcx, 13},
    {"sse4.1", kBasic, kEcx, 19},
    {"sse4.2", kBasic, kEcx, 20},
    {"crc32", kBasic, kEcx, 20},
    {"movbe", kBasic, kEcx, 22},
    {"popcnt", kBasic, kEcx, 23},
    {"aes", kBasic, kEcx, 25},
    {"xsave", kBasic, kEcx, 27},
    {"avx", kBasic, kEcx, 28},
    {"f16c", kBasic, kEcx, 29},
    {"rdrnd", kBasic, kEcx, 30},
    {"cx8", kBasic, kEdx, 8},
    {"cmov", kBasic, kEdx, 15},
    {"mmx", kBasic, kEdx, 23},
    {"fxsr", kBasic, kEdx, 24},
    {"sse", kBasic, kEdx, 25},
    {"sse2", kBasic, kEdx, 26},
    {"fsgsbase", kExtended, kEbx, 0},
    {"bmi", kExtended, kEbx, 3},
    {"avx2", kExtended, kEbx, 5},
    {"bmi2", kExtended, kEbx, 8},
    {"avx512f", kExtended, kEbx, 16},
    {"avx512dq", kExtended, kEbx, 17},
    {"rdseed", kExtended, kEbx, 18},
    {"adx", kExtended, kEbx, 19},
    {"avx512ifma", kExtended, kEbx, 21},
    {"clflushopt", kExtended, kEbx, 23},
    {"clwb", kExtended, kEbx, 24},
    {"avx512cd", kExtended, kEbx, 28},
    {"sha", kExtended, kEbx, 29},
    {"avx512bw", kExtended, kEbx, 30},
    {"avx512vl", kExtended, kEbx, 31},
    {"avx512vbmi", kExtended, kEcx, 1},
    {"waitpkg", kExtended, kEcx, 5},
    {"avx512vbmi2", kExtended, kEcx, 6},
    {"gfni", kExtended, kEcx, 8},
    {"vaes", kExtended, kEcx, 9},
    {"vpclmulqdq", kExtended, kEcx, 10},
    {"avx512vnni", kExtended, kEcx, 11},
    {"avx512bitalg", kExtended, kEcx, 12},
    {"avx512vpopcntdq", kExtended, kEcx, 14},
    {"rdpid", kExtended, kEcx, 22},
    {"cldemote", kExtended, kEcx, 25},
    {"movdiri", kExtended, kEcx, 27},
    {"movdir64b", kExtended, kEcx, 28},
    {"avx512vp2intersect", kExtended, kEdx, 8},
    {"serialize", kExtended, kEdx, 14},
    {"amx-bf16", kExtended, kEdx, 22},
    {"avx512fp16", kExtended, kEdx, 23},
    {"amx-tile", kExtended, kEdx, 24},
    {"amx-int8", kExtended, kEdx, 25},
    {"avxvnni", kExtended1, kEax, 4},
    {"avx512bf16", kExtended1, kEax, 5},
    {"cmpccxadd", kExtended1, kEax, 7},
    {"amx-fp16", kExtended1, kEax, 21},
    {"avxifma", kExtended1, kEax, 23},
    {"avxvnniint8", kExtended1, kEdx, 4},
    {"avxneconvert", kExtended1, kEdx, 5},
    {"prefetchi", kExtended1, kEdx, 14},
    {"sahf", kAmd, kEcx, 0},
    {"lzcnt", kAmd, kEcx, 5},
    {"sse4a", kAmd, kEcx, 6},
    {"prfchw", kAmd, kEcx, 8},
    {"mwaitx", kAmd, kEcx, 29},
    {"clzero", kAmd8, kEbx, 0},
    {"rdpru", kAmd8, kEbx, 4},
    {"wbnoinvd", kAmd8, kEbx, 9},
    {"xsaveopt", kSave, kEax, 0},
    {"xsavec", kSave, kEax, 1},
};

// Register state that the operating system saves: XCR0.
uint64_t ReadSaved(const CpuidLeaves& leaves) {
  if ((leaves.registers[kBasic][kEcx] & bit_OSXSAVE) == 0) return 0;
  uint32_t a = 0;
  uint32_t d = 0;
  __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return (uint64_t{d} << 32) | a;
}

// All that needs `feature`, itself included.
CpuFeatures NeedingIt(const CpuArch& arch, const char* feature) {
  const auto place = static_cast<size_t>(arch.FindFeature(feature) - arch.features.data());
  CpuFeatures out;
  for (size_t i = 0; i < arch.features.size(); ++i) {
    if (arch.features[i].needs.Has(place)) out.Add(i);
  }
  return out;
}

const CpuSpec* Read() {
  constexpr uint64_t kAvxState = 0x6;
  constexpr uint64_t kAvx512State = 0xe6;
  constexpr uint64_t kTileState = 0x60000;
  CpuidLeaves leaves;
  if (!ReadKeptLeaves(&leaves)) AskProcessor(&leaves);
  const uint64_t saved = ReadSaved(leaves);
  auto* cpu = new CpuSpec;  // for ever
  cpu->arch = FindCpuArch("x86_64");
  for (const Bit& bit : kBits) {
    const CpuEntry* feature = cpu->arch->FindFeature(bit.feature);
    if (leaves.registers[bit.leaf][bit.reg] >> bit.bit & 1) {
      cpu->features.Add(static_cast<size_t>(feature - cpu->arch->features.data()));
    }
  }
  const char* missing = (saved & kAvxState) != kAvxState         ? "avx"
                        : (saved & kAvx512State) != kAvx512State ? "avx512f"
                                                                 : nullptr;
  if (missing) cpu->features = cpu->features.Without(NeedingIt(*cpu->arch, missing));
  if ((saved & kTileState) != kTileState) *cpu = WithoutTiles(*cpu);
  return cpu;
}

}  // namespace

const CpuSpec& DetectedCpu() { return *ReadOnce<Read>(); }

CpuSpec WithoutTiles(CpuSpec cpu) {
  if (cpu.arch) cpu.features = cpu.features.Without(NeedingIt(*cpu.arch, "amx-tile"));
  return cpu;
}

bool AskForTiles() { return os::AskForTiles(); }

}  // namespace kernpack::host
#endif
