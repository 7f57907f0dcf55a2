// Sources that are compiled where they run: their records, the names of their kernels, and which NVRTC and headers are found.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/cuda/jit.h"
#include "backends/cuda/jit_tools.h"
#include "support.h"

namespace kernpack::cuda {
namespace {

namespace fs = std::filesystem;

JitSource ReadOrFail(std::string_view image, std::string_view options = "") {
  JitSource source;
  std::string why;
  EXPECT_TRUE(ReadJitSource(image, options, &source, &why)) << why;
  return source;
}
std::string WhyNot(std::string_view image) {
  JitSource source;
  std::string why;
  EXPECT_FALSE(ReadJitSource(image, "", &source, &why));
  return why;
}

TEST(JitSource, PlainText) {
  const JitSource source = ReadOrFail("__global__ void f() {}", " -DX=1  -lineinfo ");
  EXPECT_EQ(source.name, "source.cu");
  EXPECT_EQ(source.text, "__global__ void f() {}");
  EXPECT_EQ(source.options, (std::vector<std::string>{"-DX=1", "-lineinfo", "--std=c++17"}));
  EXPECT_NE(source.digest, ReadOrFail("__global__ void f() {}").digest) << "options are a part of it";
  EXPECT_EQ(ReadOrFail("x", "--std=c++20").options, (std::vector<std::string>{"--std=c++20"}));
}

TEST(JitSource, Record) {
  const JitSource source = ReadOrFail(
      "kernpack.cuda.1\nkernels f<float, 2>; g ;\noptions -DX\nof a later version\nheader 3 a/b.cuh\nint\nsource 7 "
      "src/a b.cu\n#include "
      "\"a/b.cuh\"\nvoid");
  EXPECT_EQ(source.kernels, (std::vector<std::string>{"f<float, 2>", "g"}));
  ASSERT_EQ(source.headers.size(), 1u);
  EXPECT_EQ(source.headers[0], (std::pair<std::string, std::string>{"a/b.cuh", "int"}));
  EXPECT_EQ(source.name, "src/a b.cu");
  EXPECT_EQ(source.text, "#line 7 \"src/a b.cu\"\n#include \"a/b.cuh\"\nvoid");
  EXPECT_FALSE(source.NeedsHeaders());
  EXPECT_TRUE(ReadOrFail("#  include <cuda/std/limits>\n").NeedsHeaders());
  EXPECT_TRUE(ReadOrFail("kernpack.cuda.1\nheader 12 a\n#include <b>\nsource 1 x\n#include <a>").NeedsHeaders());
}

TEST(JitSource, StandIn) {
  const JitSource source = ReadOrFail(
      "kernpack.cuda.1\nkernels f\nstand-in\n.version 7.0\n.target sm_75\n\nend of stand-in\nsource 1 a.cu\nvoid");
  EXPECT_EQ(source.stand_in, ".version 7.0\n.target sm_75\n\n");
  EXPECT_EQ(source.text, "void");
  for (const char* rest : {".target sm_75\nsource 1 a\n", "int\nend of stand-in\nsource 1 a\n.target sm_75", ""}) {
    EXPECT_EQ(WhyNot(std::string("kernpack.cuda.1\nstand-in\n") + rest),
              "the stand-in of the record is cut off, or isn't PTX")
        << rest;
  }
}

TEST(JitSource, WhatIsNone) {
  EXPECT_EQ(WhyNot(""), "the source is empty");
  EXPECT_EQ(WhyNot(std::string_view("a\0b", 3)), "expected CUDA C++, got text with a NUL at byte 1 of 3");
  EXPECT_EQ(WhyNot("kernpack.cuda.1\nkernels f\n"), "the record has no source");
  for (const char* header : {"header", "header 90 a", "header x a", "header 99999999999999999999 a", "header 3"}) {
    EXPECT_EQ(WhyNot(std::string("kernpack.cuda.1\n") + header + "\nint\nsource 1 a\n"),
              "a header of the record is cut off")
        << header;
  }
}

TEST(JitNames, OfKernels) {
  EXPECT_EQ(JitUnit("scale<float>"), "scale<float>");
  EXPECT_EQ(JitUnit("rows::scale"), "");
  const std::vector<std::string> names{"_Z5scalePfi", "_ZN4rows5scaleEPf", "plain", "_Z6scale2Pf"};
  EXPECT_EQ(FindJitName(names, "plain"), "plain");
  EXPECT_EQ(FindJitName(names, "scale"), "_Z5scalePfi");
  EXPECT_EQ(FindJitName(names, "scale2"), "_Z6scale2Pf");
  EXPECT_EQ(FindJitName(names, "rows::scale"), "_ZN4rows5scaleEPf");
  EXPECT_EQ(FindJitName(names, "scal"), "");
  EXPECT_EQ(FindJitName(names, ""), "");
}

TEST(JitNames, OfStandIns) {
  const std::vector<std::string> names{"_Z5scaleIfLj128EEvPKT_PS0_x", "_Z5scaleIdLin2EEvPT_", "_ZN4rows5scaleIfEEvPT_",
                                       "_Z4flagIaLb1EEvPT_", "_Z5plainPf"};
  EXPECT_EQ(FindStandInName(names, "scale<float, 128>"), names[0]);
  EXPECT_EQ(FindStandInName(names, "scale<double, -2>"), names[1]);
  EXPECT_EQ(FindStandInName(names, "rows::scale<float>"), names[2]);
  EXPECT_EQ(FindStandInName(names, "flag<signed char, true>"), names[3]);
  EXPECT_EQ(FindStandInName(names, "plain"), names[4]);
  for (const char* absent :
       {"scale<float>", "scale<float, 12>", "scale<float, 1280>", "cale<float, 128>", "plain<float>"})
    EXPECT_EQ(FindStandInName(names, absent), "") << absent;
}

TEST(JitTools, AdviceOnHeaders) {
  const auto of = [](const std::string& header, const char* version = "13.5") {
    return AdviceOnHeaders("a.cu(1): catastrophic error: cannot open source file \"" + header + "\"\n", version);
  };
  EXPECT_EQ(of("cuda/std/limits"), "the header 'cuda/std/limits' isn't installed: pip install nvidia-cuda-cccl");
  EXPECT_SAYS(of("cub/cub.cuh", "12.9"), "pip install nvidia-cuda-cccl-cu12");
  EXPECT_SAYS(of("cuda_fp16.h"), "pip install nvidia-cuda-runtime");
  EXPECT_SAYS(of("cute/tensor.hpp"), "pip install nvidia-cutlass");
  EXPECT_SAYS(of("vector"), "NVRTC has no C++ standard library: include <cuda/std/vector>");
  EXPECT_SAYS(of("rows.cuh"), "the module doesn't carry the header 'rows.cuh'");
  EXPECT_SAYS(AdviceOnHeaders("c.h(1): error: ... is considered a host function, and host functions are not allowed in "
                              "JIT mode.",
                              "13.5"),
              "NVRTC's option -default-device: set KERNPACK_OPTIONS of the source in CMake");
  EXPECT_EQ(AdviceOnHeaders("a.cu(1): error: ...", "13.5"), "");
}

// A folder of packages with two versions of NVRTC, which nothing opens.
class JitPackages : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("kernpack_jit_" + std::to_string(getpid()));
    Put("nvidia/cu13/lib/libnvrtc.so.13");
    Put("nvidia/cu13/lib/libnvrtc-builtins.so.13.5");
    Put("nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
    Put("nvidia/cuda_nvrtc/lib/libnvrtc-builtins.so.12.8.93");
    Put("nvidia/cu13/include/cccl/cuda/std/limits");
    Put("nvidia_cuda_cccl-13.1.dist-info/METADATA");
    Tell({folder_.string()});
  }
  void TearDown() override {
    Tell({});
    fs::remove_all(folder_);
  }
  void Put(const std::string& file) {
    fs::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << file;
  }
  static void Tell(const std::vector<std::string>& folders) {
    std::vector<const char*> list;
    for (const std::string& folder : folders) list.push_back(folder.c_str());
    ASSERT_EQ(kp_library_folders(list.data(), static_cast<int32_t>(list.size())), 0);
  }
  fs::path folder_;
};

TEST_F(JitPackages, TheCompilerOfTheDriversVersionIsFoundWithoutOpeningIt) {
  unsetenv("KERNPACK_NVRTC");
  const auto found = [](int driver) {
    JitCompiler compiler;
    std::string why;
    EXPECT_TRUE(FindCompiler(kp_host(), driver, &compiler, &why)) << why;
    return compiler;
  };
  EXPECT_EQ(found(13).version, "13.5");
  EXPECT_EQ(found(0).version, "13.5");
  EXPECT_EQ(found(14).version, "13.5");
  EXPECT_EQ(found(12).version, "12.8");
  EXPECT_SAYS(found(12).file, "cuda_nvrtc/lib/libnvrtc.so.12");
  EXPECT_NE(found(12).identity, found(13).identity);
}

TEST_F(JitPackages, HeadersOfTheCompilersVersion) {
  const JitHeaders headers = FindHeaders(kp_host(), "13.5");
  ASSERT_GE(headers.folders.size(), 2u);
  EXPECT_EQ(headers.folders[0], (folder_ / "nvidia/cu13/include/cccl").string());
  EXPECT_SAYS(headers.identity, "nvidia_cuda_cccl-13.1.dist-info\n");
  EXPECT_EQ(FindHeaders(kp_host(), "12.8").identity.find("nvidia_cuda_cccl-13.1"), std::string::npos);
}

TEST_F(JitPackages, WithoutACompiler) {
  Tell({});
  setenv("KERNPACK_NVRTC", "/nowhere/libnvrtc.so", 1);
  JitCompiler compiler;
  std::string why;
  EXPECT_FALSE(FindCompiler(kp_host(), 13, &compiler, &why));
  EXPECT_EQ(why,
            "NVRTC, but KERNPACK_NVRTC names one that can't be used: /nowhere/libnvrtc.so: no such file; unset it, or "
            "correct it");
  unsetenv("KERNPACK_NVRTC");
  if (FindCompiler(kp_host(), 13, &compiler, &why)) GTEST_SKIP() << "this machine has " << compiler.file;
  EXPECT_SAYS(why,
              "NVRTC, NVIDIA's run-time compiler, which isn't installed: pip install \"nvidia-cuda-nvrtc>=13,<14\";");
  EXPECT_FALSE(FindCompiler(kp_host(), 12, &compiler, &why));
  EXPECT_SAYS(why, "isn't installed: pip install \"nvidia-cuda-nvrtc-cu12>=12,<13\";");
}

}  // namespace
}  // namespace kernpack::cuda
