// The generator of kind cuda without a GPU: cubins and PTX by NVRTC; what runs, runs on the emulated device.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "codegen/cuda/nvrtc.h"
#include "backends/cuda/image.h"
#include "ir/compiled.h"
#include "on_device.h"

namespace ir_test {
namespace {

using kernpack::cuda::Image;
using kernpack::sdk::Nvrtc;
using kernpack::sdk::Target;

constexpr const char kScale[] = R"(module "scaling" func generated_scale(x: f32[N], k: f32) -> (o: f32[N]) {
  parallel i in 0..N { o[i] = x[i] * k }
})";
constexpr const char kEverything[] = R"(module "everything"
func rows(x: f16[N, D], n: i64) -> (o: f16[N, D], m: bf16[N]) {
  launch grid(N) block(64) {
    alloc part: f32[64] shared
    let t = i64(thread.x)
    let r = reduce(max, j in 0..D, any 8, f32(x[block.x, j]))
    part[t] = exp(r) + tanh(r)
    barrier
    alloc mine: f64[n] local
    for j in 0..n { mine[j] = f64(part[floormod(t + j, 64)]) }
    if t == 0 { m[block.x] = bf16(f32(mine[0])) }
    vectorized(4, masked) j in 0..D { o[block.x, j] = f16(f32(x[block.x, j]) * r) }
  }
})";

// Skips, with the reason, where there is no NVRTC.
class CudaCode : public testing::Test {
 protected:
  void SetUp() override {
    try {
      Nvrtc::Get();
    } catch (const kernpack::Error& e) {
      GTEST_SKIP() << e.what();
    }
  }
};

Image Read(const std::string& bytes) {
  Image image;
  std::string why;
  EXPECT_TRUE(kernpack::cuda::ReadImage(bytes, "", &image, &why)) << why;
  return image;
}

TEST_F(CudaCode, IsMachineCodeForEachArchitecture) {
  const std::string program = kernpack::sdk::Source(Parse(kEverything), Target("cuda"));
  for (const char* arch : {"sm_80", "sm_90", "sm_100"}) {
    const Image image = Read(Nvrtc::Get().Compile(program, "everything", arch, true));
    EXPECT_EQ(image.kind, Image::Kind::kCubin);
    ASSERT_EQ(image.archs.size(), 1u);
    EXPECT_EQ(image.archs[0].text(), arch);
    EXPECT_EQ(image.kernels, std::vector<std::string>{"rows_kernel"});
  }
  const Image ptx = Read(Nvrtc::Get().Compile(program, "everything", "compute_80", true));
  EXPECT_EQ(ptx.kind, Image::Kind::kPtx);
  EXPECT_EQ(ptx.archs.at(0).text(), "compute_80");
}

TEST_F(CudaCode, RefusesArchitecturesThatTheCompilerDoesNotKnow) {
  const std::string message = CatchMessage([] { Compiled(Parse(kScale), "cuda -arch=sm_999"); });
  EXPECT_EQ(message.find("ValueError: the kind cuda: NVRTC " + Nvrtc::Get().version() +
                         " generates no code for sm_999; it knows sm_"),
            0u)
      << message;
}

TEST_F(CudaCode, TellsWhatTheCompilerSays) {
  const std::string message = CatchMessage([] { Nvrtc::Get().Compile("int f( {", "broken", "sm_80", true); });
  EXPECT_EQ(message.find("RuntimeError: "), 0u);
  EXPECT_NE(message.find("broken.cu(1): error"), std::string::npos) << message;
}

TEST_F(CudaCode, RunsOnTheDeviceItIsFor) {
  const KpDLDevice newer{KP_DEVICE_CUDA, 0};  // sm_90, which runs PTX only, as the other does
  const KpDLDevice older{KP_DEVICE_CUDA, 1};  // sm_80
  const Compiled all(Parse(kScale), "cuda");
  const Compiled one(Parse("module \"only_90\"" + std::string(kScale + 16)), "cuda -arch=compute_90");
  Array x = Array::Of<float>(kF32, {3}, {1, 2, 3});
  Array o(kF32, {3});
  for (const KpDLDevice device : {newer, older}) {
    std::fill(o.bytes.begin(), o.bytes.end(), std::byte{0});
    EXPECT_EQ(OnDevice(device).Call(all, "generated_scale", {x.Value(), Float(2), o.Value()}), "");
    EXPECT_EQ(o.as<float>()[2], 6);
  }
  EXPECT_EQ(OnDevice(newer).Call(one, "generated_scale", {x.Value(), Float(3), o.Value()}), "");
  EXPECT_EQ(o.as<float>()[2], 9);
  const std::string refused = OnDevice(older).Call(one, "generated_scale", {x.Value(), Float(3), o.Value()});
  EXPECT_NE(refused.find("cuda -arch=compute_90"), std::string::npos) << refused;
  EXPECT_NE(refused.find("sm_80"), std::string::npos) << refused;
}

TEST_F(CudaCode, OfACheckedBuildHandsTheHostWhatFailed) {
  const IRModule module = Parse(R"(module "gathering" func generated_gather(idx: i64[N], t: f32[M]) -> (o: f32[N]) {
    parallel i in 0..N { o[i] = t[idx[i]] }
  })");
  const kernpack::sdk::BuildOptions checked{.checked = true};
  const std::string program = kernpack::sdk::Source(module, Target("cuda"), checked);
  EXPECT_NE(program.find("if (atomicCAS((int*)word, 0, number) != 0) return;"), std::string::npos) << program;
  EXPECT_NE(program.find("generated_gather_kernel(const int64_t i_count, const int64_t i_first, const int64_t* "
                         "__restrict__ idx, const int64_t M, "
                         "const float* __restrict__ t, float* __restrict__ o, int64_t* kp_asserts) {"),
            std::string::npos)
      << program;
  const Image image = Read(Nvrtc::Get().Compile(program, "gathering", "sm_90", true));
  EXPECT_EQ(image.kernels, std::vector<std::string>{"generated_gather_kernel"});
  EXPECT_EQ(kernpack::sdk::Source(module, Target("cuda")).find("kp_asserts"), std::string::npos);

  const Compiled compiled(module, "cuda -arch=compute_90", checked);
  const KpDLDevice device{KP_DEVICE_CUDA, 0};
  Array good = Array::Of<int64_t>(kI64, {3}, {2, 0, 1}), bad = Array::Of<int64_t>(kI64, {3}, {2, 9, -1});
  Array t = Array::Of<float>(kF32, {3}, {10, 11, 12}), o(kF32, {3});
  EXPECT_EQ(OnDevice(device).Call(compiled, "generated_gather", {bad.Value(), t.Value(), o.Value()}),
            "IndexError: generated_gather: t[idx[i]]: index 9 is out of range for axis 0 of extent 3");
  EXPECT_EQ(OnDevice(device).Call(compiled, "generated_gather", {good.Value(), t.Value(), o.Value()}), "");
  EXPECT_EQ(o.as<float>()[0], 12);
}

TEST_F(CudaCode, ThatWasChangedIsRefusedWhenItIsLoaded) {
  const std::string path = testing::TempDir() + "kernpack_exported_cuda.so";
  kernpack::sdk::Export(Parse("module \"tampered\"" + std::string(kScale + 16)), Target("cuda -arch=compute_80"), path);
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const size_t at = bytes.find(".entry");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = '!';
  std::ofstream(path, std::ios::binary) << bytes;
  const char* const name = path.c_str();
  const KpLoadedModule* loaded = nullptr;
  EXPECT_EQ(kp_module_load(&name, 1, 0, &loaded), -1);
  KpAny error = kp_none();
  kp_error_take(nullptr, -1, &error);
  const std::string message = reinterpret_cast<const KpErrorObject*>(error.v.v_obj)->message.data;
  kp_any_release(&error);
  EXPECT_NE(message.find("the device code for 'cuda -arch=compute_80' inside this module is not what was built"),
            std::string::npos)
      << message;
  std::remove(name);
}

// In a process of its own: who has opened NVRTC keeps it.
TEST(CudaWithoutNvrtc, SaysHowToGetIt) {
  const std::string message = CatchMessage([] { Compiled(Parse(kScale), "cuda"); });
  EXPECT_EQ(
      message.find("RuntimeError: the kind cuda needs NVRTC, NVIDIA's run-time compiler, which was not found: pip "
                   "install nvidia-cuda-nvrtc, or set KERNPACK_NVRTC to the path of libnvrtc.so; no GPU is needed. "
                   "Tried:\n  /nowhere/libnvrtc.so"),
      0u)
      << message;
}

}  // namespace
}  // namespace ir_test
