// Targets: construction, canonical form, what errors say.
#include <kernpack/sdk/target.h>
#include <kernpack/sdk/target_tag.h>

#include <gtest/gtest.h>

#include "support.h"

namespace kernpack::sdk {
namespace {

TEST(Target, AKindsNameIsATargetWithItsDefaults) {
  const Target t("cuda");
  EXPECT_EQ(t.kind().name(), "cuda");
  EXPECT_EQ(t.device_type(), KP_DEVICE_CUDA);
  EXPECT_EQ(t.keys(), (std::vector<std::string>{"cuda", "gpu"}));
  EXPECT_EQ(t.GetAttr<int64_t>("max_num_threads"), 1024);
  EXPECT_FALSE(t.GetAttr<std::string>("arch"));
  EXPECT_EQ(t.str(), "cuda");
}

TEST(Target, TwoKindsOfOneDeviceDiffer) {
  EXPECT_EQ(Target("llvm").device_type(), Target("c").device_type());
  EXPECT_NE(Target("llvm"), Target("c"));
}

TEST(Target, CommandLineReadsAndPrintsBack) {
  const Target t("cuda -max_num_threads=512 --arch=sm_90 -libs=cublas,'my lib' -model 'two words'");
  EXPECT_EQ(t.GetAttr<int64_t>("max_num_threads"), 512);
  EXPECT_EQ(t.GetAttr<std::string>("arch"), "sm_90");
  EXPECT_EQ(t.GetAttr<std::vector<std::string>>("libs"), (std::vector<std::string>{"cublas", "my lib"}));
  EXPECT_EQ(t.GetAttr<std::string>("model"), "two words");
  EXPECT_EQ(t.str(), "cuda -arch=sm_90 -libs=cublas,'my lib' -max_num_threads=512 -model='two words'");
  EXPECT_EQ(Target(t.str()), t);
}

TEST(Target, EveryFormGivesTheSameTarget) {
  const Target line("cuda -arch=sm_90 -host='llvm -mcpu=x86-64-v3'");
  const Target json(R"({"kind": "cuda", "arch": "sm_90", "host": {"kind": "llvm", "mcpu": "x86-64-v3"}})");
  const Target dict(AttrMap{{"kind", "cuda"}, {"arch", "sm_90"}, {"host", "llvm -mcpu=x86-64-v3"}});
  const Target pair(Target("cuda -arch=sm_90"), Target("llvm -mcpu=x86-64-v3"));
  EXPECT_EQ(line, json);
  EXPECT_EQ(line, dict);
  EXPECT_EQ(line, pair);
  EXPECT_EQ(line.Hash(), json.Hash());
  EXPECT_EQ(line.host(), Target("llvm -mcpu=x86-64-v3"));
  EXPECT_EQ(Target(line.ToJson()), line);
}

TEST(Target, ErrorsSayWhatWasExpected) {
  EXPECT_ERROR(Target("cudaa"), "ValueError", "did you mean 'cuda'?");
  EXPECT_ERROR(Target("cuda -archh=sm_90"), "ValueError", "has no option 'archh'; did you mean 'arch'?");
  EXPECT_ERROR(Target("cuda -max_num_threads=many"), "ValueError", "expected an integer, got 'many'");
  EXPECT_ERROR(Target(AttrMap{{"kind", "cuda"}, {"max_num_threads", "512"}}), "TypeError",
               "option 'max_num_threads' of target kind 'cuda': expected int, got str");
  EXPECT_ERROR(Target("cuda -arch=sm_90 -arch=sm_80"), "ValueError", "'arch' is given twice");
  EXPECT_ERROR(Target("cuda -arch='sm_90"), "ValueError", "unclosed quote '");
  EXPECT_ERROR(Target(""), "ValueError", "expected a target kind or tag");
  EXPECT_ERROR(Target("{"), "ValueError", "not JSON");
  EXPECT_ERROR(Target("[1]"), "ValueError", "no target kind or tag is called '[1]'");
  EXPECT_ERROR(Target(AttrMap{{"arch", "sm_90"}}), "ValueError", "needs \"kind\"");
  EXPECT_ERROR(Target("cuda -arch=90"), "ValueError", "must be sm_<version>");
  EXPECT_ERROR(Target("cuda -max_num_threads=0"), "ValueError", "must be at least 1, got 0");
}

}  // namespace
}  // namespace kernpack::sdk
