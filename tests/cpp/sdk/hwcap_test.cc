// Features of aarch64 processors from the words that Linux gives: given ones, and those of emulated processors.
#include "devices/target/hwcap_arm.h"

#include <kernpack/sdk/target.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support.h"

namespace kernpack::sdk {
namespace {

std::string Joined(uint64_t hwcap, uint64_t hwcap2) {
  std::string text;
  for (const std::string_view name : host::ArmFeatures(hwcap, hwcap2)) text.append(name).append(" ");
  return text;
}

TEST(ArmHwcaps, NameTheFeaturesOfRealProcessors) {
  EXPECT_EQ(Joined(0, 0), "");
  EXPECT_EQ(Joined(0x8ff, 0), "fp-armv8 neon aes sha2 crc ") << "Cortex-A72";
  EXPECT_EQ(Joined(0x10119fff, 0), "fp-armv8 neon aes sha2 crc lse fullfp16 rdm rcpc dotprod ssbs ") << "Neoverse N1";
  EXPECT_EQ(
      Joined(0xdfffffff, 0x1f201),
      "fp-armv8 neon aes sha2 crc lse fullfp16 rdm jsconv complxnum rcpc sha3 sm4 dotprod sve fp16fml dit flagm ssbs "
      "pauth ccdp i8mm bf16 rand ")
      << "Neoverse V1";
}

TEST(ArmHwcaps, AreFeaturesThatTargetsKnow) {
  for (const host::HwcapBit& bit : host::kArmHwcaps) {
    const Target target("llvm -mtriple=aarch64-linux-gnu -mattr=+" + std::string(bit.feature));
    EXPECT_TRUE(target.HasFeature(std::string(bit.feature))) << bit.feature;
  }
}

// The features of an emulated processor, through the same table.
class EmulatedArm : public testing::Test {
 protected:
  static bool Has(const char* program) {
    return std::system((std::string("command -v ") + program + " > /dev/null").c_str()) == 0;
  }

  void SetUp() override {
    for (const char* program : {"qemu-aarch64", "aarch64-linux-gnu-g++"}) {
      if (!Has(program)) GTEST_SKIP() << "there is no " << program << " (Debian: qemu-user g++-aarch64-linux-gnu)";
    }
    folder_ = testing::TempDir() + "kernpack_hwcap_" + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/print.cc") << R"(#include <sys/auxv.h>
#include <cstdio>
#include "devices/target/hwcap_arm.h"
int main() {
  for (const auto name : kernpack::host::ArmFeatures(getauxval(AT_HWCAP), getauxval(AT_HWCAP2))) {
    std::printf("%.*s ", static_cast<int>(name.size()), name.data());
  }
})";
    const std::string compile = "aarch64-linux-gnu-g++ -std=c++20 -static -I'" FFI_SOURCES "' -o '" + folder_ +
                                "/print' '" + folder_ + "/print.cc'";
    ASSERT_EQ(std::system(compile.c_str()), 0) << compile;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string GetFeatures(const char* cpu) const {
    FILE* pipe = popen(("qemu-aarch64 -cpu " + std::string(cpu) + " '" + folder_ + "/print'").c_str(), "r");
    char line[1024] = "";
    if (pipe == nullptr || std::fgets(line, sizeof line, pipe) == nullptr) ADD_FAILURE() << cpu << ": no output";
    if (pipe != nullptr) pclose(pipe);
    return line;
  }

  std::string folder_;
};

TEST_F(EmulatedArm, TellsItsFeatures) {
  EXPECT_EQ(GetFeatures("cortex-a72"), "fp-armv8 neon aes sha2 crc ");
  const std::string all = GetFeatures("max");
  for (const char* feature : {"neon ", "lse ", "dotprod ", "sve2 ", "i8mm ", "bf16 "}) {
    EXPECT_NE(all.find(feature), std::string::npos) << feature << "is not in " << all;
  }
}

}  // namespace
}  // namespace kernpack::sdk
