// Kernels on whatever driver there is, through the host and the plugin: the real one in tests/device/run.sh, the emulated one in
// CI. KERNPACK_CUDA_IMAGES is a folder with kernels.cu compiled to kernels.{cubin,fatbin,ptx}; without it the same as PTX.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include <kernpack/host/device.h>

#include "../kernels_ptx.h"

namespace {

constexpr KpDLDevice kDevice{KP_DEVICE_CUDA, 0};

std::string TakeError() {
  KpAny error = kp_none();
  kp_error_take("test", -1, &error);
  const auto* object = reinterpret_cast<const KpErrorObject*>(error.v.v_obj);
  const std::string text(object->message.data, object->message.size);
  kp_any_release(&error);
  return text;
}

#define KP_OK(call) ASSERT_EQ((call), 0) << TakeError()

struct ImageFile {
  std::string format;
  std::string bytes;
};

std::vector<ImageFile> Images() {
  const char* folder = std::getenv("KERNPACK_CUDA_IMAGES");
  if (folder == nullptr) {
    return {
        {"ptx", kernpack::cuda::Ptx("sm_90", {"kp_test_scale", "kp_test_add", "kp_test_shape", "kp_test_bounded"})}};
  }
  std::vector<ImageFile> images;
  for (const char* format : {"cubin", "fatbin", "ptx"}) {
    std::ifstream file(std::string(folder) + "/kernels." + format, std::ios::binary);
    images.push_back({format, std::string(std::istreambuf_iterator<char>(file), {})});
  }
  return images;
}

class CudaKernels : public testing::TestWithParam<ImageFile> {
 protected:
  void SetUp() override {
    KP_OK(kp_device_api(KP_DEVICE_CUDA, &api_));
    const KpBytes image{GetParam().bytes.data(), GetParam().bytes.size()};
    KP_OK(api_->load_code(api_, kDevice, image, kp_bytes(GetParam().format.c_str()), kp_bytes(""), &code_));
    KP_OK(api_->stream_new(api_, kDevice, 0, &stream_));
    KP_OK(api_->alloc(api_, kDevice, kCount * 4, 64, kp_bytes(""), &memory_));
  }
  void TearDown() override {
    KP_OK(api_->free(api_, kDevice, memory_));
    KP_OK(api_->stream_free(api_, kDevice, stream_));
    KP_OK(api_->unload_code(api_, kDevice, code_));
  }
  void* Kernel(const char* name) {
    void* kernel = nullptr;
    EXPECT_EQ(api_->get_kernel(api_, kDevice, code_, kp_bytes(name), &kernel), 0) << TakeError();
    return kernel;
  }
  int Scale(void* handle, float factor, int32_t count) {
    const KpKernelArg args[] = {
        {KP_ARG_MEMORY, 4, handle, 0}, {KP_ARG_VALUE, 4, &factor, 0}, {KP_ARG_VALUE, 4, &count, 0}};
    const auto blocks = static_cast<uint32_t>(count + 255) / 256;
    const KpLaunch launch{sizeof launch, {blocks, 1, 1}, {256, 1, 1}, {}, 0, 3, args, 0, 0};
    return api_->launch(api_, kDevice, Kernel("kp_test_scale"), &launch, stream_);
  }
  int Copy(const void* from, KpDLDevice from_device, void* to, KpDLDevice to_device, uint64_t bytes) {
    const KpMemory source{const_cast<void*>(from), 0, from_device};
    const KpMemory target{to, 0, to_device};
    return api_->copy(api_, &source, &target, bytes, stream_);
  }
  int64_t Property(const char* name) {
    KpAny value = kp_none();
    EXPECT_EQ(kp_device_get_property(kDevice, kp_bytes(name), &value), 0) << TakeError();
    return value.v.v_int;
  }
  std::vector<uint32_t> Shape(KpLaunch launch) {
    const KpKernelArg memory{KP_ARG_MEMORY, 4, memory_, 0};
    launch.struct_size = sizeof launch;
    launch.num_args = 1;
    launch.args = &memory;
    EXPECT_EQ(api_->launch(api_, kDevice, Kernel("kp_test_shape"), &launch, stream_), 0) << TakeError();
    std::vector<uint32_t> seen(8);
    EXPECT_EQ(Copy(memory_, kDevice, seen.data(), {KP_DEVICE_CPU, 0}, 32), 0) << TakeError();
    return seen;
  }

  static constexpr int32_t kCount = 1000003;
  const KpDeviceApi* api_ = nullptr;
  void* code_ = nullptr;
  void* stream_ = nullptr;
  void* memory_ = nullptr;
};

TEST_P(CudaKernels, ScaleMultipliesOnTheDevice) {
  std::vector<float> values(kCount);
  std::iota(values.begin(), values.end(), 0.0F);
  KP_OK(Copy(values.data(), {KP_DEVICE_CPU, 0}, memory_, kDevice, kCount * 4));
  KP_OK(Scale(memory_, 2, kCount));
  KP_OK(Scale(memory_, 2, kCount));
  std::vector<float> landed(kCount);
  KP_OK(Copy(memory_, kDevice, landed.data(), {KP_DEVICE_CPU, 0}, kCount * 4));
  for (int32_t i = 0; i < kCount; ++i) ASSERT_EQ(landed[static_cast<size_t>(i)], 4 * static_cast<float>(i)) << i;
}

// A kernel on memory that host and device share, and on pinned memory.
TEST_P(CudaKernels, EveryScopeIsReached) {
  for (const char* scope : {"managed", "host"}) {
    if (std::string(scope) == "managed" && Property("managed_memory") == 0) continue;
    void* handle = nullptr;
    KP_OK(api_->alloc(api_, kDevice, 4000, 64, kp_bytes(scope), &handle));
    auto* values = static_cast<float*>(handle);
    std::fill_n(values, 1000, 3.0F);
    KP_OK(Scale(handle, 2, 1000));
    KP_OK(api_->stream_sync(api_, kDevice, stream_));
    EXPECT_EQ(values[999], 6.0F) << scope;
    KP_OK(api_->free(api_, kDevice, handle));
  }
}

// If it were, what is written to the new memory on another stream would come between.
TEST_P(CudaKernels, MemoryFreedWhileItIsUsedIsntReused) {
  constexpr int32_t kFew = 50000;
  const std::vector<float> ones(kFew, 1.0F);
  for (int round = 0; round < 20; ++round) {
    void* used = nullptr;
    KP_OK(api_->alloc(api_, kDevice, kFew * 4, 64, kp_bytes(""), &used));
    KP_OK(Copy(ones.data(), {KP_DEVICE_CPU, 0}, used, kDevice, kFew * 4));
    for (int i = 0; i < 10; ++i) KP_OK(Scale(used, 2, kFew));
    const KpMemory from{used, 0, kDevice};
    const KpMemory to{memory_, 0, kDevice};
    KP_OK(api_->copy(api_, &from, &to, kFew * 4, stream_));
    KP_OK(api_->free(api_, kDevice, used));
    void* next = nullptr;
    KP_OK(api_->alloc(api_, kDevice, kFew * 4, 64, kp_bytes(""), &next));
    const KpMemory place{next, 0, kDevice};
    KP_OK(api_->fill(api_, &place, kFew * 4, 255, nullptr));
    KP_OK(api_->free(api_, kDevice, next));
    std::vector<float> landed(kFew);
    KP_OK(Copy(memory_, kDevice, landed.data(), {KP_DEVICE_CPU, 0}, kFew * 4));
    ASSERT_EQ(landed, std::vector<float>(kFew, 1024.0F)) << round;
  }
}

TEST_P(CudaKernels, GeometryReachesTheKernel) {
  EXPECT_EQ(Shape({0, {3, 4, 5}, {8, 4, 2}, {}, 100, 0, nullptr}), (std::vector<uint32_t>{3, 4, 5, 8, 4, 2, 1, 100}));
}

TEST_P(CudaKernels, SharedMemoryBeyondTheDefaultIsGiven) {
  const auto most = static_cast<uint32_t>(Property("max_shared_memory_per_block_optin")) - 1024;
  EXPECT_EQ(Shape({0, {2, 1, 1}, {64, 1, 1}, {}, most, 0, nullptr})[7], most);
}

TEST_P(CudaKernels, ClustersReachTheKernel) {
  if (Property("clusters") == 0) GTEST_SKIP() << "clusters need compute capability 9.0";
  EXPECT_EQ(Shape({0, {8, 2, 1}, {32, 1, 1}, {4, 2, 1}, 0, 0, nullptr})[6], 8U);
  EXPECT_EQ(Shape({0, {16, 1, 1}, {32, 1, 1}, {16, 1, 1}, 0, 0, nullptr})[6], 16U);
}

TEST_P(CudaKernels, LaunchBoundsAreAskedFor) {
  const KpLaunch launch{sizeof launch, {1, 1, 1}, {256, 1, 1}, {}, 0, 0, nullptr, 0, 0};
  EXPECT_EQ(api_->launch(api_, kDevice, Kernel("kp_test_bounded"), &launch, stream_), -1);
  EXPECT_NE(TakeError().find("at most 128 threads per block"), std::string::npos);
}

TEST_P(CudaKernels, UnknownNamesListTheOthers) {
  void* kernel = nullptr;
  EXPECT_EQ(api_->get_kernel(api_, kDevice, code_, kp_bytes("kp_test_none"), &kernel), -1);
  EXPECT_NE(TakeError().find("has no kernel 'kp_test_none', only "), std::string::npos);
}

// The last words of a process whose kernel wrote outside its memory. Run apart from compute-sanitizer, which would report it.
TEST_P(CudaKernels, StickyErrorDeathTest) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        void* nowhere = reinterpret_cast<void*>(uintptr_t{1} << 44);
        int code = Scale(nowhere, 2, 1000);
        if (code == 0) code = api_->stream_sync(api_, kDevice, stream_);
        const std::string error = code == 0 ? "no error" : TakeError();
        const bool freed = api_->free(api_, kDevice, memory_) == 0 && api_->stream_free(api_, kDevice, stream_) == 0 &&
                           api_->unload_code(api_, kDevice, code_) == 0;
        std::fprintf(stderr, "%s; %s\n", error.c_str(), freed ? "freed" : TakeError().c_str());
        std::exit(0);
      },
      testing::ExitedWithCode(0), "CUDA_ERROR_ILLEGAL_ADDRESS.*This error is sticky.*; freed");
}

INSTANTIATE_TEST_SUITE_P(Images, CudaKernels, testing::ValuesIn(Images()),
                         [](const auto& info) { return info.param.format; });

}  // namespace
