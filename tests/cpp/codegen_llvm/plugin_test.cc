// The plugin's file: LLVM inside must not meet another LLVM of the process.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

std::vector<std::string> LinesOf(const std::string& command) {
  std::vector<std::string> lines;
  FILE* const pipe = popen(command.c_str(), "r");
  char line[4096];
  while (pipe && std::fgets(line, sizeof line, pipe)) lines.emplace_back(line);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return lines;
}

TEST(LlvmPlugin, ExportsNothingOfLlvm) {
  const std::vector<std::string> symbols = LinesOf("nm -D --defined-only " LLVM_PLUGIN);
  ASSERT_EQ(symbols.size(), 1u);
  EXPECT_NE(symbols[0].find(" kp_generator_v1"), std::string::npos) << symbols[0];
}

}  // namespace
