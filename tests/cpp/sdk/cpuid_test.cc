// The leaves of CPUID that glibc keeps are what the processor says.
#include "devices/target/cpuid_x86.h"

#if defined(__x86_64__)
#include <gtest/gtest.h>

namespace kernpack::host {
namespace {

TEST(Cpuid, TheLeavesThatGlibcKeepsAreTheProcessors) {
  CpuidLeaves kept, asked;
  if (!ReadKeptLeaves(&kept)) GTEST_SKIP() << "this glibc is older than 2.33";
  AskProcessor(&asked);
  EXPECT_NE(asked.registers[kBasic][kEdx], 0u);
  for (int i = 0; i < kLeafCount; ++i) {
    for (const CpuidRegister reg : {kEax, kEbx, kEcx, kEdx}) {
      if (i == kBasic && reg == kEbx) continue;  // the number of the core that was asked
      EXPECT_EQ(kept.registers[i][reg], asked.registers[i][reg])
          << "leaf " << std::hex << kCpuidLeaves[i].leaf << ", register " << reg;
    }
  }
}

}  // namespace
}  // namespace kernpack::host
#endif
