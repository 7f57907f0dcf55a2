// The list of packs in a fat binary that `kernpack split` divided, damaged ones, too. tests/python/cli/test_split.py installs packs
// and runs their code.
#include <cstring>

#include "backends/cuda/packs.h"
#include "support.h"

namespace kernpack::cuda {
namespace {

std::string PackEntry(uint16_t kind, uint32_t number, const std::string& content) {
  std::string entry(64, '\0');
  const uint32_t header = 64;
  const uint64_t size = content.size();
  std::memcpy(entry.data(), &kind, sizeof kind);
  std::memcpy(entry.data() + 4, &header, sizeof header);
  std::memcpy(entry.data() + 8, &size, sizeof size);
  std::memcpy(entry.data() + 28, &number, sizeof number);
  return entry + content;
}
std::string PackFatbin(const std::string& entries) {
  std::string fatbin("\x50\xed\x55\xba\1\0\x10\0", 8);
  const uint64_t size = entries.size();
  return fatbin + std::string(reinterpret_cast<const char*>(&size), sizeof size) + entries;
}
constexpr uint16_t kList = 0x4b50;
const std::string kDigest(64, 'a');

TEST(Packs, TheListIsRead) {
  const std::string list =
      "kernpack.packs.1\nsm_80 " + kDigest + " k-cu-sm80==1.0\nsm_90 " + kDigest + " k-cu-sm90==1.0\n";
  const std::vector<CodePack> packs = ReadPacks(PackFatbin(PackEntry(1, 80, "ptx.....") + PackEntry(kList, 0, list)));
  ASSERT_EQ(packs.size(), 2u);
  EXPECT_EQ(packs[0].number, 80);
  EXPECT_EQ(packs[1].digest, kDigest);
  EXPECT_EQ(packs[1].wheel, "k-cu-sm90==1.0");
  EXPECT_EQ(AdviceOnPacks(packs, 90), "its code for sm_90 is in another wheel: pip install \"k-cu-sm90==1.0\"");
  EXPECT_EQ(AdviceOnPacks(packs, 86), "its code for sm_80 is in another wheel: pip install \"k-cu-sm80==1.0\"");
  EXPECT_EQ(AdviceOnPacks(packs, 100), "the module's wheels have code for sm_80, sm_90");
}

TEST(Packs, WhatIsNoListIsLeftOut) {
  EXPECT_TRUE(ReadPacks(PackFatbin(PackEntry(2, 90, "code...."))).empty());
  for (const std::string& list :
       {std::string("kernpack.packs.2\nsm_90 ") + kDigest + " k\n",
        std::string("kernpack.packs.1\nsm_90 ../../etc/passwd k\n"), "kernpack.packs.1\n90 " + kDigest + " k\n",
        "kernpack.packs.1\nsm_90 " + kDigest.substr(1) + " k\n", std::string("kernpack.packs.1\n\n \nsm_90\n"),
        std::string()}) {
    EXPECT_TRUE(ReadPacks(PackFatbin(PackEntry(kList, 0, list))).empty()) << list;
  }
}

TEST(Packs, CutOffAnywhere) {
  const std::string whole = PackFatbin(PackEntry(kList, 0, "kernpack.packs.1\nsm_90 " + kDigest + " k\n"));
  for (size_t size = 16; size < whole.size(); ++size) {
    EXPECT_TRUE(ReadPacks(std::string_view(whole).substr(0, size)).empty()) << size;
  }
  EXPECT_EQ(ReadPacks(whole).size(), 1u);
}

TEST(Packs, ImagesStayAndTheListGoes) {
  const std::string ptx = PackEntry(1, 80, "ptx.....");
  const std::string list = PackEntry(kList, 0, "kernpack.packs.1\nsm_90 " + kDigest + " k\n");
  const std::string whole = PackFatbin(list + ptx);
  std::string joined, why;
  ASSERT_TRUE(JoinPacks(kp_host(), whole, ReadPacks(whole), 90, &joined, &why)) << why;  // the pack isn't installed
  EXPECT_EQ(joined, PackFatbin(ptx));
}

}  // namespace
}  // namespace kernpack::cuda
