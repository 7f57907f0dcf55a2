// Launches: limits are checked before, parameters are what the kernel has, what must be asked for is.
#include <algorithm>
#include <array>

#include "support.h"

namespace kernpack::cuda {
namespace {

class Launches : public FakeDriver {
 protected:
  void SetUp() override {
    FakeDriver::SetUp();
    code_ = Load(
        Ptx("sm_80", {"kp_test_scale", "kp_test_add", "kp_test_shape", "kp_test_bounded", "kp_test_needs_cluster"}));
    memory_ = Alloc(64);
  }
  void TearDown() override {
    Unload(code_);
    Free(memory_);
    FakeDriver::TearDown();
  }
  struct Dims {
    std::array<uint32_t, 3> grid{1, 1, 1};
    std::array<uint32_t, 3> block{32, 1, 1};
    std::array<uint32_t, 3> cluster{0, 0, 0};
    uint32_t shared = 0;
    uint32_t flags = 0;
  };
  int Launch(const char* name, const Dims& dims, const std::vector<KpKernelArg>& args = {}) {
    KpLaunch launch{sizeof launch, {},         {}, {}, dims.shared, static_cast<int32_t>(args.size()),
                    args.data(),   dims.flags, 0};
    std::copy(dims.grid.begin(), dims.grid.end(), launch.grid);
    std::copy(dims.block.begin(), dims.block.end(), launch.block);
    std::copy(dims.cluster.begin(), dims.cluster.end(), launch.cluster);
    return cuda_.launch(&cuda_, Cuda(), GetKernel(code_, name), &launch, nullptr);
  }
  // The launch that kp_test_shape saw: grid, block, blocks of a cluster, dynamic shared memory.
  std::vector<uint32_t> Shape(const Dims& dims) {
    EXPECT_EQ(Launch("kp_test_shape", dims, {{KP_ARG_MEMORY, 4, memory_, 0}}), 0) << TakeError();
    std::vector<uint32_t> seen(8);
    EXPECT_EQ(Copy(On(Cuda(), memory_), Host(seen.data()), 32), 0) << TakeError();
    return seen;
  }
  std::string Refusal(const char* name, const Dims& dims, const std::vector<KpKernelArg>& args = {}) {
    const long before = kernpack_emulator_calls("cuLaunchKernelEx");
    EXPECT_EQ(Launch(name, dims, args), -1);
    EXPECT_EQ(kernpack_emulator_calls("cuLaunchKernelEx"), before) << "the driver was asked";
    return TakeError();
  }

  void* code_ = nullptr;
  void* memory_ = nullptr;
};

TEST_F(Launches, RunTheKernel) {
  Upload(memory_, {1, 2, 3, 4});
  ASSERT_EQ(Scale(GetKernel(code_, "kp_test_scale"), memory_, 2.5F, 4), 0) << TakeError();
  EXPECT_EQ(Download(memory_, 4), (std::vector<float>{2.5, 5, 7.5, 10}));
}

TEST_F(Launches, MemoryHasAnOffset) {
  Upload(memory_, {1, 2, 3, 4});
  const float factor = 10;
  const int32_t count = 2;
  ASSERT_EQ(Launch("kp_test_scale", {},
                   {{KP_ARG_MEMORY, 4, memory_, 8}, {KP_ARG_VALUE, 4, &factor, 0}, {KP_ARG_VALUE, 4, &count, 0}}),
            0);
  EXPECT_EQ(Download(memory_, 4), (std::vector<float>{1, 2, 30, 40}));
}

TEST_F(Launches, GeometryArrives) {
  EXPECT_EQ(Shape({{3, 4, 5}, {8, 4, 2}, {}, 100}), (std::vector<uint32_t>{3, 4, 5, 8, 4, 2, 1, 100}));
  EXPECT_EQ(Shape({{4, 2, 1}, {32, 1, 1}, {2, 2, 0}, 0}), (std::vector<uint32_t>{4, 2, 1, 32, 1, 1, 4, 0}));
}

TEST_F(Launches, AGridOfThreadsIsCutIntoBlocks) {
  EXPECT_EQ(Shape({{1024, 2, 1}, {0, 0, 0}, {}, 0}), (std::vector<uint32_t>{4, 2, 1, 256, 1, 1, 1, 0}));
  EXPECT_EQ(Shape({{257, 1, 1}, {0, 0, 0}, {}, 0}), (std::vector<uint32_t>{2, 1, 1, 256, 1, 1, 1, 0}));
  EXPECT_EQ(Shape({{100, 1, 1}, {0, 0, 0}, {}, 0}), (std::vector<uint32_t>{1, 1, 1, 100, 1, 1, 1, 0}));
}

TEST_F(Launches, OfNothingDoNotReachTheDriver) {
  EXPECT_EQ(Launch("kp_test_scale", {{0, 1, 1}, {32, 1, 1}, {}, 0}), 0);
  EXPECT_EQ(Launch("kp_test_scale", {{1, 1, 0}, {32, 1, 1}, {}, 0}), 0);
  EXPECT_EQ(kernpack_emulator_calls("cuLaunchKernelEx"), 0);
}

TEST_F(Launches, BeyondTheLimitsAreRefused) {
  EXPECT_EQ(
      Refusal("kp_test_bounded", {{1, 1, 1}, {256, 1, 1}, {}, 0}),
      "ValueError: cuda:0: kernel kp_test_bounded: expected at most 128 threads per block (its registers or launch "
      "bounds "
      "allow no more), got 256: (256, 1, 1)");
  EXPECT_SAYS(Refusal("kp_test_needs_cluster", {{1, 1, 1}, {1024, 2, 1}, {2}, 0}),
              "at most 1024 threads per block (the device's limit), got 2048");
  EXPECT_SAYS(Refusal("kp_test_bounded", {{1, 1, 1}, {1, 1, 65}, {}, 0}),
              "at most (1024, 1024, 64) threads, got (1, 1, 65)");
  EXPECT_SAYS(Refusal("kp_test_bounded", {{1, 1, 1}, {32, 0, 1}, {}, 0}), "expected a block of at least (1, 1, 1)");
  EXPECT_SAYS(Refusal("kp_test_bounded", {{1, 65536, 1}, {1, 1, 1}, {}, 0}),
              "at most 65535 blocks along dimension 1, got 65536");
  EXPECT_SAYS(Refusal("kp_test_bounded", {{0xffffffff, 1, 1}, {1, 1, 1}, {}, 0}),
              "at most 2147483647 blocks along dimension 0");
}

TEST_F(Launches, SharedMemoryIsAskedFor) {
  EXPECT_EQ(Shape({{1, 1, 1}, {32, 1, 1}, {}, 47 << 10})[7], 47U << 10);
  EXPECT_EQ(kernpack_emulator_calls("cuFuncSetAttribute"), 0) << "what every block may have needs no asking";
  EXPECT_EQ(Shape({{1, 1, 1}, {32, 1, 1}, {}, 100 << 10})[7], 100U << 10);
  EXPECT_EQ(Shape({{1, 1, 1}, {32, 1, 1}, {}, 226 << 10})[7], 226U << 10);
  EXPECT_EQ(kernpack_emulator_calls("cuFuncSetAttribute"), 1) << "once a kernel";
  EXPECT_SAYS(Refusal("kp_test_shape", {{1, 1, 1}, {32, 1, 1}, {}, 227 << 10}, {{KP_ARG_MEMORY, 4, memory_, 0}}),
              "expected at most 231424 bytes of dynamic shared memory (1024 of the block's 232448 are the kernel's "
              "own), got 232448");
}

TEST_F(Launches, ClustersMustFitTheKernelAndTheGrid) {
  EXPECT_EQ(Launch("kp_test_needs_cluster", {{4, 1, 1}, {32, 1, 1}, {4, 1, 1}, 0}), 0) << TakeError();
  EXPECT_SAYS(Refusal("kp_test_needs_cluster", {}),
              "it was compiled to run in clusters of a size given at launch, and none is given");
  EXPECT_EQ(kernpack_emulator_calls("cuFuncSetAttribute"), 0);
  EXPECT_EQ(Shape({{16, 1, 1}, {32, 1, 1}, {16, 1, 1}, 0})[6], 16U);
  EXPECT_EQ(kernpack_emulator_calls("cuFuncSetAttribute"), 1) << "beyond the portable size is asked for";
  const std::vector<KpKernelArg> args{{KP_ARG_MEMORY, 4, memory_, 0}};
  EXPECT_SAYS(Refusal("kp_test_shape", {{4, 1, 1}, {32, 1, 1}, {3, 1, 1}, 0}, args),
              "expected a grid that clusters of (3, 1, 1) divide evenly, got (4, 1, 1)");
  EXPECT_SAYS(Refusal("kp_test_shape", {{32, 1, 1}, {32, 1, 1}, {32, 1, 1}, 0}, args),
              "a cluster of at most 16 blocks");
  EXPECT_SAYS(Refusal("kp_test_shape", {{8, 8, 1}, {32, 1, 1}, {8, 8, 1}, 0}, args),
              "a cluster of at most 16 blocks, got 64");
}

TEST_F(Launches, ClustersNeedHopper) {
  void* code = Load(Ptx("sm_80", {"kp_test_bounded"}), 1);
  void* kernel = GetKernel(code, "kp_test_bounded", 1);
  const KpLaunch launch{sizeof launch, {2, 1, 1}, {32, 1, 1}, {2, 1, 1}, 0, 0, nullptr, 0, 0};
  EXPECT_EQ(cuda_.launch(&cuda_, Cuda(1), kernel, &launch, nullptr), -1);
  EXPECT_SAYS(TakeError(), "clusters need a device of compute capability 9.0 or newer, this is sm_80");
  EXPECT_EQ(cuda_.launch(&cuda_, Cuda(0), kernel, &launch, nullptr), -1);
  EXPECT_SAYS(TakeError(), "it cannot be launched on cuda:0; load its code there");
  EXPECT_EQ(cuda_.launch(&cuda_, Cuda(0), nullptr, &launch, nullptr), -1);
  EXPECT_SAYS(TakeError(), "expected a kernel, got NULL");
  Unload(code, 1);
}

TEST_F(Launches, ArgumentsMustBeTheKernelsParameters) {
  const float factor = 1;
  const double wide = 1;
  const int32_t count = 1;
  const KpKernelArg memory{KP_ARG_MEMORY, 4, memory_, 0};
  EXPECT_SAYS(Refusal("kp_test_scale", {}, {memory}), "expected 3 arguments, got 1");
  EXPECT_SAYS(Refusal("kp_test_scale", {}, {memory, {KP_ARG_VALUE, 8, &wide, 0}, {KP_ARG_VALUE, 4, &count, 0}}),
              "argument 1: expected 4 bytes, got 8");
  EXPECT_SAYS(Refusal("kp_test_scale", {}, {{KP_ARG_VALUE, 4, &factor, 0}, memory, memory}),
              "argument 0: expected 8 bytes, got 4");
  EXPECT_SAYS(Refusal("kp_test_scale", {}, {memory, {KP_ARG_VALUE, 4, nullptr, 0}, memory}),
              "the address and size of a value");
  EXPECT_SAYS(
      Refusal("kp_test_scale", {}, {memory, {KP_ARG_LOCAL, 64, nullptr, 0}, memory}),
      "expected 3 arguments, got 2; local memory, which CUDA kernels declare `extern __shared__`, isn't counted");
  EXPECT_SAYS(Refusal("kp_test_scale", {}, {memory, {99, 64, nullptr, 0}, memory}), "the kind 99 is not known");
}

// Each at a multiple of 16 bytes, behind what the launch itself asks for.
TEST_F(Launches, LocalMemoryIsDynamicSharedMemory) {
  const KpKernelArg memory{KP_ARG_MEMORY, 4, memory_, 0};
  const auto seen = [&](uint32_t shared, const std::vector<KpKernelArg>& args) {
    EXPECT_EQ(Launch("kp_test_shape", {{1, 1, 1}, {32, 1, 1}, {}, shared}, args), 0) << TakeError();
    std::vector<uint32_t> shape(8);
    EXPECT_EQ(Copy(On(Cuda(), memory_), Host(shape.data()), 32), 0) << TakeError();
    return shape[7];
  };
  EXPECT_EQ(seen(0, {memory, {KP_ARG_LOCAL, 100, nullptr, 0}}), 100u);
  EXPECT_EQ(seen(8, {{KP_ARG_LOCAL, 100, nullptr, 0}, memory, {KP_ARG_LOCAL, 4, nullptr, 0}}), 132u);
  EXPECT_EQ(seen(0, {memory, {KP_ARG_LOCAL, 60000, nullptr, 0}}), 60000u) << "above 48 KiB is asked for";
  EXPECT_SAYS(Refusal("kp_test_shape", {}, {memory, {KP_ARG_LOCAL, ~0U, nullptr, 0}, {KP_ARG_LOCAL, 64, nullptr, 0}}),
              "got 4294967360");
}

// 132 multiprocessors with 2048 threads each have 264 blocks of 1024 at a time.
TEST_F(Launches, ACooperativeOneRunsAllItsBlocksAtTheSameTime) {
  const std::vector<KpKernelArg> args{{KP_ARG_MEMORY, 4, memory_, 0}};
  const auto launch = [&](uint32_t blocks, uint32_t flags) {
    return Launch("kp_test_shape", {{blocks, 1, 1}, {1024, 1, 1}, {}, 0, flags}, args);
  };
  EXPECT_EQ(launch(200, KP_LAUNCH_COOPERATIVE), 0) << TakeError();
  EXPECT_EQ(launch(300, 0), 0) << TakeError();
  EXPECT_EQ(launch(300, KP_LAUNCH_COOPERATIVE), -1);
  const std::string error = TakeError();
  EXPECT_SAYS(error,
              "while launching the kernel kp_test_shape cooperatively with grid (300, 1, 1), block (1024, 1, 1)");
  EXPECT_SAYS(error, "the blocks of a cooperative launch all run at the same time; use a smaller grid");
}

TEST_F(Launches, TellWhatTheDriverRefuses) {
  kernpack_emulator_fail("cuLaunchKernelEx", kLaunchOutOfResources, 0, 1);
  EXPECT_EQ(Launch("kp_test_bounded", {}), -1);
  const std::string error = TakeError();
  EXPECT_SAYS(error, "while launching the kernel kp_test_bounded with grid (1, 1, 1), block (32, 1, 1) and 0 bytes");
  EXPECT_SAYS(error, "compile with -maxrregcount");
}

class OnAnOlderDriver : public Launches {
  void Configure() override { kernpack_emulator_set("driver_version", 12000); }
};

// Before 12.4 a driver does not tell what parameters a kernel has.
TEST_F(OnAnOlderDriver, KernelsStillRun) {
  Upload(memory_, {1, 2, 3, 4});
  ASSERT_EQ(Scale(GetKernel(code_, "kp_test_scale"), memory_, 2, 4), 0) << TakeError();
  EXPECT_EQ(Download(memory_, 4), (std::vector<float>{2, 4, 6, 8}));
}

}  // namespace
}  // namespace kernpack::cuda
