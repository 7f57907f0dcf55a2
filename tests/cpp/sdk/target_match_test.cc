// Processor features, and which code runs where.
#include <kernpack/sdk/target_match.h>

#include <gtest/gtest.h>

#include "support.h"

namespace kernpack::sdk {
namespace {

bool Runs(const char* code, const char* machine) { return Supports(Target(code), Target(machine)); }
std::string Why(const char* code, const char* machine) { return Matches(Target(code), Target(machine)).reason; }

TEST(TargetFeatures, AFeatureBringsWhatItNeeds) {
  const Target t("llvm -mattr=+avx512f");
  for (const char* feature : {"avx512f", "avx2", "fma", "f16c", "avx", "sse4.2", "sse2"}) {
    EXPECT_TRUE(t.HasFeature(feature)) << feature;
  }
  EXPECT_FALSE(t.HasFeature("avx512bw"));
  EXPECT_EQ(t.GetFeature<int64_t>("vector_width"), 512);
  EXPECT_EQ(t.GetFeature<std::string>("arch"), "x86_64");
  EXPECT_EQ(t.str(), "llvm -mattr=+avx512f");
  EXPECT_EQ(Target("llvm -mattr=fma,+avx2,+fma"), Target("llvm -mattr=+avx2,+fma"));
}

TEST(TargetFeatures, ModelsHaveTheirFeatures) {
  const struct {
    const char* target;
    const char* has;
    const char* lacks;
  } kCases[] = {
      {"llvm -mcpu=x86-64", "sse2", "sse3"},
      {"llvm -mcpu=x86-64-v2", "sse4.2", "avx"},
      {"llvm -mcpu=haswell", "avx2", "avx512f"},
      {"llvm -mcpu=skylake-avx512", "avx512bw", "avx512vnni"},
      {"llvm -mcpu=cascadelake", "avx512vnni", "avx512bf16"},
      {"llvm -mcpu=sapphirerapids", "amx-int8", "amx-fp16"},
      {"llvm -mcpu=znver4", "avx512vnni", "avx512fp16"},
      {"llvm -mcpu=alderlake", "avxvnni", "avx512f"},
      {"llvm -mcpu=cortex-a72", "neon", "dotprod"},
      {"llvm -mcpu=neoverse-v1", "sve", "sve2"},
      {"c -mcpu=cortex-m55", "mve", "pacbti"},
      {"c -mcpu=cortex-m7", "dsp", "mve"},
      {"c -mcpu=cortex-m3", "hwdiv", "dsp"},
      {"c -mcpu=cortex-m55 -mattr=-mve", "dsp", "mve.fp"},
  };
  for (const auto& [target, has, lacks] : kCases) {
    EXPECT_TRUE(Target(target).HasFeature(has)) << target;
    EXPECT_FALSE(Target(target).HasFeature(lacks)) << target;
  }
  EXPECT_EQ(Target("c -mcpu=cortex-m55").keys(), (std::vector<std::string>{"arm_cpu", "cpu"}));
}

TEST(TargetFeatures, VectorWidthsFollowFromFeatures) {
  EXPECT_EQ(Target("llvm -mtriple=riscv64-linux-gnu -mattr=+v").GetFeature<int64_t>("vector_width"), 128);
  EXPECT_EQ(Target("llvm -mtriple=riscv64-linux-gnu -mattr=+v,+zvl256b").GetFeature<int64_t>("vector_width"), 256);
  EXPECT_EQ(Target("llvm -mcpu=sifive-x280").GetFeature<int64_t>("vector_width"), 512);
  EXPECT_FALSE(Target("llvm").GetFeature<int64_t>("vector_width"));
}

TEST(TargetFeatures, AMinusTakesAwayWhatNeedsIt) {
  EXPECT_FALSE(Target("llvm -mcpu=x86-64-v4 -mattr=-avx2").HasFeature("avx512f"));
  const Target no_fma("llvm -mcpu=haswell -mattr=-fma");
  EXPECT_FALSE(no_fma.HasFeature("fma"));
  EXPECT_TRUE(no_fma.HasFeature("avx2"));
  EXPECT_ERROR(Target("llvm -mattr=+avx2,-avx"), "ValueError",
               "avx is removed with -, but a feature added with + needs it");
}

TEST(TargetFeatures, UnknownNamesAreRefusedWithTheNearest) {
  EXPECT_ERROR(Target("llvm -mcpu=haswel"), "ValueError", "did you mean 'haswell'?");
  EXPECT_ERROR(Target("llvm -mtriple=x86_64-linux-gnu -mattr=+avx51f"), "ValueError", "did you mean 'avx512f'?");
  EXPECT_ERROR(Target("llvm -mtriple=aarch64-linux-gnu -mcpu=haswell"), "ValueError", "among those of aarch64");
  EXPECT_ERROR(Target("llvm -mcpu=native"), "ValueError", "Target.from_device(\"cpu\") names this one");
  EXPECT_EQ(Target("llvm -mtriple=powerpc64le-linux-gnu -mcpu=pwr10 -mattr=+mma").features().size(), 0U);
}

TEST(TargetFeatures, LlvmOptionsAreWellFormed) {
  for (const char* good :
       {"-opt", "--opt", "-opt=text", "-opt:bool=true", "-opt:int=-4", "-opt:uint=4", "-opt:string="}) {
    const Target t(AttrMap{{"kind", "llvm"}, {"cl-opt", AttrArray{good}}});
    EXPECT_EQ(Target(t.str()), t);
  }
  for (const char* bad : {"opt", "---opt", "-", "-opt:", "-opt:=", "-opt:bool", "-opt:bool=", "-opt:invalid=1",
                          "-opt:bool=2", "-opt:bool=fred", "-opt:int=haha", "-opt:uint=-1"}) {
    EXPECT_ERROR(Target(AttrMap{{"kind", "llvm"}, {"cl-opt", AttrArray{bad}}}), "ValueError",
                 "takes -name, -name=text");
  }
}

TEST(TargetMatch, CodeRunsWhereItsFeaturesAre) {
  EXPECT_TRUE(Runs("llvm -mcpu=x86-64-v3", "llvm -mcpu=haswell"));
  EXPECT_TRUE(Runs("c -mcpu=x86-64-v3", "llvm -mcpu=znver2"));
  EXPECT_FALSE(Runs("llvm -mcpu=x86-64-v4", "llvm -mcpu=haswell"));
  EXPECT_TRUE(Runs("llvm", "llvm -mcpu=haswell"));
  EXPECT_FALSE(Runs("llvm -mcpu=x86-64", "llvm"));
  EXPECT_FALSE(Runs("llvm -mcpu=cortex-a72", "llvm -mcpu=haswell"));
  EXPECT_TRUE(Runs("llvm -mattr=+fma", "llvm -mattr=+avx2"));
  EXPECT_TRUE(Runs("llvm -mcpu=x86-64-v3 -num-cores=64 -opt-level=2 -fast-math", "llvm -mcpu=haswell -num-cores=4"));
  EXPECT_FALSE(Runs("llvm -mabi=lp64", "llvm -mabi=lp64d"));
  EXPECT_TRUE(Runs("llvm -mtriple=powerpc64le-linux-gnu", "llvm -mtriple=powerpc64le-unknown-linux"));
  EXPECT_FALSE(Runs("llvm -mtriple=powerpc64le-linux-gnu", "llvm -mcpu=haswell"));
  EXPECT_EQ(Why("llvm -mcpu=cascadelake", "llvm -mcpu=skylake-avx512"),
            "this processor is x86-64-v4 and lacks avx512vnni");
  EXPECT_EQ(Why("cuda", "llvm"), "it is for cuda");
}

TEST(TargetMatch, CudaCodeRunsOnItsArchitectures) {
  EXPECT_TRUE(Runs("cuda -arch=sm_80", "cuda -arch=sm_86"));
  EXPECT_FALSE(Runs("cuda -arch=sm_86", "cuda -arch=sm_80"));
  EXPECT_FALSE(Runs("cuda -arch=sm_80", "cuda -arch=sm_90"));
  EXPECT_TRUE(Runs("cuda -arch=compute_80", "cuda -arch=sm_90"));
  EXPECT_FALSE(Runs("cuda -arch=compute_90a", "cuda -arch=sm_100"));
  EXPECT_TRUE(Runs("cuda -arch=sm_90a", "cuda -arch=sm_90"));
  EXPECT_TRUE(Runs("cuda -arch=sm_100f", "cuda -arch=sm_103"));
  EXPECT_FALSE(Runs("cuda -arch=compute_100f", "cuda -arch=sm_120"));
  EXPECT_FALSE(Runs("cuda -arch=sm_90", "cuda"));
  EXPECT_FALSE(Runs("cuda -max_num_threads=1024", "cuda -max_threads_per_block=512"));
  EXPECT_EQ(Why("cuda -max_num_threads=1024", "cuda -max_threads_per_block=512"), "max_threads_per_block is 512 there");
  EXPECT_FALSE(Runs("opencl -thread_warp_size=32", "opencl -thread_warp_size=64"));
}

// Code built for a target runs on what that target describes; what runs on less runs on more.
TEST(TargetMatch, IsReflexiveAndTransitive) {
  std::vector<Target> targets;
  for (const char* text : {"llvm",
                           "c",
                           "llvm -mcpu=x86-64",
                           "llvm -mcpu=x86-64-v2",
                           "llvm -mcpu=x86-64-v3",
                           "llvm -mcpu=x86-64-v4",
                           "llvm -mcpu=skylake",
                           "llvm -mcpu=alderlake",
                           "llvm -mcpu=znver3",
                           "llvm -mcpu=znver4",
                           "llvm -mcpu=sapphirerapids",
                           "llvm -mcpu=x86-64-v3 -mattr=-fma",
                           "llvm -mcpu=cortex-a72",
                           "llvm -mcpu=neoverse-v2",
                           "cuda",
                           "cuda -arch=sm_80",
                           "cuda -arch=sm_86",
                           "cuda -arch=sm_90",
                           "opencl",
                           "opencl -max_num_threads=128"}) {
    targets.emplace_back(text);
  }
  const size_t n = targets.size();
  std::vector<std::vector<bool>> runs(n, std::vector<bool>(n));
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) runs[i][j] = Supports(targets[i], targets[j]);
    EXPECT_TRUE(runs[i][i]) << targets[i].str();
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      for (size_t k = 0; k < n; ++k) {
        if (runs[i][j] && runs[j][k]) {
          EXPECT_TRUE(runs[i][k]) << targets[i].str() << " on " << targets[j].str() << " on " << targets[k].str();
        }
      }
    }
  }
}

TEST(TargetMatch, PicksTheMostSpecific) {
  const std::vector<Target> variants = {Target("llvm"), Target("llvm -mcpu=x86-64-v4"), Target("llvm -mcpu=x86-64-v3"),
                                        Target("llvm -mcpu=x86-64-v2"), Target("cuda")};
  const BestMatch best = PickBest(variants, Target("llvm -mcpu=znver3"));
  EXPECT_EQ(best.index, 2U);
  EXPECT_EQ(best.Explain(),
            "  llvm: any cpu\n"
            "  llvm -mcpu=x86-64-v4: refused, this processor is x86-64-v3 and lacks avx512f avx512bw avx512cd avx512dq "
            "avx512vl\n"
            "* llvm -mcpu=x86-64-v3: this processor is x86-64-v3\n"
            "  llvm -mcpu=x86-64-v2: this processor is x86-64-v3\n"
            "  cuda: refused, it is for cuda\n");
  const BestMatch none = PickBest(std::vector<Target>{Target("cuda")}, Target("llvm"));
  EXPECT_FALSE(none.index);
  const std::vector<Target> gpu = {Target("cuda -arch=compute_90"), Target("cuda -arch=sm_80"),
                                   Target("cuda -arch=sm_86"), Target("cuda")};
  EXPECT_EQ(PickBest(gpu, Target("cuda -arch=sm_86")).index, 2U);
  EXPECT_EQ(PickBest(gpu, Target("cuda -arch=sm_90")).index, 0U);
  EXPECT_EQ(PickBest(gpu, Target("cuda -arch=sm_75")).index, 3U);
}

}  // namespace
}  // namespace kernpack::sdk
