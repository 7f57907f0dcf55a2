// Loading and launching OpenCL kernels: what works, and what each mistake is told.
#include "fixture.h"

namespace kernpack_test {
namespace {

constexpr char kSource[] = R"(
__kernel void add(__global float* y, ulong y0, __global const float* x, ulong x0) {
  size_t i = get_global_id(0);
  y[y0 + i] += x[x0 + i];
}
__kernel void weighted(__global float* y, ulong y0, __constant float* w, ulong w0) {
  y[y0 + get_global_id(0)] = 10 * w[w0 + get_global_id(0)];
}
__kernel void reverse(__global float* y, ulong y0, __local float* tile) {
  size_t i = get_local_id(0), n = get_local_size(0), base = y0 + get_group_id(0) * n;
  tile[i] = y[base + i];
  barrier(CLK_LOCAL_MEM_FENCE);
  y[base + i] = tile[n - 1 - i];
}
__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void fours(__global float* y, ulong y0) {
  y[y0 + get_global_id(0)] = get_local_size(0);
}
__kernel void kinds(__global float* y, ulong y0, char a, short b, int c, long d, uchar e, float f, double g) {
  y[y0] = a + b + c + d + e + f + g;
}
)";

class OpenclCodeTest : public OpenclTest {
 protected:
  void SetUp() override {
    OpenclTest::SetUp();
    if (api != nullptr) code = LoadSource(kSource);
  }
  void TearDown() override {
    if (code != nullptr) Unload(code);
    OpenclTest::TearDown();
  }
  void ExpectRefusal(int rc, const std::string& expected) {
    const std::string refusal = Refusal(rc);
    EXPECT_NE(refusal.find(expected), std::string::npos) << refusal << "\nexpected: " << expected;
  }
  void* code = nullptr;
};

TEST_F(OpenclCodeTest, KernelsSeeHandleAndElementOffset) {
  void* x = Upload(Counting(10));
  void* y = Upload(std::vector<float>(10, 100));
  ASSERT_EQ(Launch(Kernel(code, "add"), 3, 1, {MemoryArg(y, 4 * 5), MemoryArg(x, 4)}), 0) << TakeError();
  EXPECT_EQ(Download(y, 10), (std::vector<float>{100, 100, 100, 100, 100, 102, 103, 104, 100, 100}));
  ExpectRefusal(Launch(Kernel(code, "add"), 3, 1, {MemoryArg(y, 6), MemoryArg(x)}),
                "add: parameter 0 (float* y): the offset of 6 bytes isn't a multiple of the element's 4 bytes");
  Free(x);
  Free(y);
}

TEST_F(OpenclCodeTest, TheSameNameGivesTheSameKernel) {
  EXPECT_EQ(Kernel(code, "add"), Kernel(code, "add"));
  EXPECT_NE(Kernel(code, "add"), Kernel(code, "reverse"));
}

TEST_F(OpenclCodeTest, TakesScalarsOfEverySize) {
  void* y = Upload({0});
  const int8_t a = -1;
  const int16_t b = -20;
  const int32_t c = 300;
  const int64_t d = 4000;
  const uint8_t e = 200;
  const float f = 0.5F;
  const double g = 0.25;
  void* kernel = Kernel(code, "kinds");
  ASSERT_EQ(
      Launch(kernel, 1, 1,
             {MemoryArg(y), ValueArg(a), ValueArg(b), ValueArg(c), ValueArg(d), ValueArg(e), ValueArg(f), ValueArg(g)}),
      0)
      << TakeError();
  EXPECT_EQ(Download(y, 1), std::vector<float>{4479.75F});
  ExpectRefusal(
      Launch(kernel, 1, 1,
             {MemoryArg(y), ValueArg(d), ValueArg(b), ValueArg(c), ValueArg(d), ValueArg(e), ValueArg(f), ValueArg(g)}),
      "TypeError: launch: kinds: parameter 2 (char a) does not take 8 bytes");
  Free(y);
}

TEST_F(OpenclCodeTest, LocalMemoryIsAnArgument) {
  void* y = Upload(Counting(8));
  ASSERT_EQ(Launch(Kernel(code, "reverse"), 2, 4, {MemoryArg(y), LocalArg(16)}), 0) << TakeError();
  EXPECT_EQ(Download(y, 8), (std::vector<float>{4, 3, 2, 1, 8, 7, 6, 5}));
  Value most;
  ASSERT_EQ(api->get_attr(api, device, KP_ATTR_MAX_SHARED_MEMORY_PER_BLOCK, most.out()), 0);
  ExpectRefusal(
      Launch(Kernel(code, "reverse"), 2, 4, {MemoryArg(y), LocalArg(static_cast<uint32_t>(most->v.v_int) + 16)}),
      "bytes of local memory on opencl:");
  Free(y);
}

TEST_F(OpenclCodeTest, ConstantMemoryIsReadOnlyInKernels) {
  void* w = Upload(Counting(4), "constant");
  void* y = Upload(std::vector<float>(4, 0));
  ASSERT_EQ(Launch(Kernel(code, "weighted"), 4, 1, {MemoryArg(y), MemoryArg(w)}), 0) << TakeError();
  EXPECT_EQ(Download(y, 4), (std::vector<float>{10, 20, 30, 40}));
  ASSERT_EQ(Launch(Kernel(code, "add"), 4, 1, {MemoryArg(y), MemoryArg(w)}), 0) << TakeError();  // const __global
  EXPECT_EQ(Download(y, 4), (std::vector<float>{11, 22, 33, 44}));
  ExpectRefusal(Launch(Kernel(code, "add"), 4, 1, {MemoryArg(w), MemoryArg(y)}),
                "TypeError: launch: add: parameter 0 (float* y) may be written, its memory is of scope 'constant'");
  Value most;
  ASSERT_EQ(api->get_property(api, device, kp_bytes("max_constant_bytes"), most.out()), 0);
  void* large = Alloc(static_cast<uint64_t>(most->v.v_int) + 4, "constant");
  ExpectRefusal(Launch(Kernel(code, "weighted"), 4, 1, {MemoryArg(y), MemoryArg(large)}),
                "is __constant, of which opencl:");
  Free(large);
  Free(w);
  Free(y);
}

TEST_F(OpenclCodeTest, MemoryWithoutBytesMayBePassed) {
  void* empty = Alloc(0);
  void* y = Upload({1});
  const float a = 1;
  const int none = 0;
  void* scale = LoadSource(kScaleSource);
  ASSERT_EQ(Launch(Kernel(scale, "scale"), 1, 1, {MemoryArg(y), MemoryArg(empty), ValueArg(a), ValueArg(none)}), 0)
      << TakeError();
  EXPECT_EQ(Download(y, 1), std::vector<float>{1});
  Unload(scale);
  Free(empty);
  Free(y);
}

TEST_F(OpenclCodeTest, ArgumentsMustFit) {
  void* y = Upload({1, 2, 3, 4});
  const float a = 1;
  ExpectRefusal(Launch(Kernel(code, "add"), 1, 1, {MemoryArg(y)}),
                "TypeError: launch: add has 4 parameters, the 1 arguments are 2 (memory is two");
  ExpectRefusal(Launch(Kernel(code, "reverse"), 1, 1, {MemoryArg(y), ValueArg(a)}),
                "parameter 2 (float* tile): expected local memory, got a value");
  ExpectRefusal(Launch(Kernel(code, "reverse"), 1, 1, {ValueArg(a), ValueArg(a), ValueArg(a)}),
                "parameter 0 (float* y): expected memory, got a value");
  KpKernelArg strange = ValueArg(a);
  strange.kind = 9;
  ExpectRefusal(Launch(Kernel(code, "reverse"), 1, 1, {MemoryArg(y), strange}), "argument 1 has an unknown kind, 9");
  void* freed = Alloc(4);
  Free(freed);
  ExpectRefusal(Launch(Kernel(code, "fours"), 1, 4, {MemoryArg(freed)}), "isn't an allocation on opencl:");
  ExpectRefusal(Launch(Kernel(code, "fours"), 1, 4, {MemoryArg(y, 20)}), "are outside the allocation of 16 bytes");
  Free(y);
}

TEST_F(OpenclCodeTest, WorkGroupsMustFit) {
  void* y = Upload(std::vector<float>(8, 0));
  ASSERT_EQ(Launch(Kernel(code, "fours"), 2, 4, {MemoryArg(y)}), 0) << TakeError();
  ASSERT_EQ(Launch(Kernel(code, "fours"), 8, 0, {MemoryArg(y)}), 0) << TakeError();
  EXPECT_EQ(Download(y, 8), std::vector<float>(8, 4));
  ExpectRefusal(Launch(Kernel(code, "fours"), 6, 0, {MemoryArg(y)}),
                "grid[0]: the kernel requires work groups of 4, 6 work");
  ExpectRefusal(Launch(Kernel(code, "fours"), 2, 2, {MemoryArg(y)}),
                "ValueError: launch: fours: block: the kernel requires work groups of [4, 1, 1], got [2, 1, 1]");
  ExpectRefusal(Launch(Kernel(code, "add"), 1, 1 << 30, {MemoryArg(y), MemoryArg(y)}),
                "ValueError: launch: add: block[0]: expected 1 to ");
  Value most;
  ASSERT_EQ(api->get_attr(api, device, KP_ATTR_MAX_THREADS_PER_BLOCK, most.out()), 0);
  KpLaunch launch = {};
  launch.struct_size = sizeof(launch);
  const KpKernelArg args[] = {MemoryArg(y), MemoryArg(y)};
  launch.args = args;
  launch.num_args = 2;
  for (int d = 0; d < 3; ++d) launch.grid[d] = 1;
  launch.block[0] = static_cast<uint32_t>(most->v.v_int);
  launch.block[1] = 2;
  launch.block[2] = 1;
  ExpectRefusal(api->launch(api, device, Kernel(code, "add"), &launch, nullptr),
                "block: a work group of this kernel has at most");
  launch.block[0] = 1;
  launch.block[1] = 0;
  ExpectRefusal(api->launch(api, device, Kernel(code, "add"), &launch, nullptr), "block[1]: expected 1 to ");
  launch.block[1] = 1;
  launch.cluster[0] = 2;
  ExpectRefusal(api->launch(api, device, Kernel(code, "add"), &launch, nullptr),
                "opencl has no clusters, got [2, 0, 0]");
  launch.cluster[0] = 0;
  launch.dynamic_shared = 128;
  ExpectRefusal(api->launch(api, device, Kernel(code, "add"), &launch, nullptr),
                "pass 128 bytes for a __local parameter");
  Free(y);
}

TEST_F(OpenclCodeTest, ArgumentsAreThoseOfTheLaunch) {
  void* scale = LoadSource(kScaleSource);
  void* kernel = Kernel(scale, "scale");
  void* y = Upload({0});
  const int n = 1;
  for (int round = 0; round < 50; ++round) {
    void* x = Upload({static_cast<float>(round)});  // often at the address of the last round's
    for (const float a : {1.0F, 2.0F, 2.0F}) {
      ASSERT_EQ(Launch(kernel, 1, 1, {MemoryArg(y), MemoryArg(x), ValueArg(a), ValueArg(n)}), 0) << TakeError();
      ASSERT_EQ(Download(y, 1), std::vector<float>{a * static_cast<float>(round)});
    }
    Free(x);
    const float one = 1;
    ExpectRefusal(Launch(kernel, 1, 1, {MemoryArg(y), MemoryArg(x), ValueArg(one), ValueArg(n)}),
                  "isn't an allocation on");
  }
  Free(y);
  Unload(scale);
}

TEST_F(OpenclCodeTest, SourceThatDoesNotCompileSaysWhy) {
  void* bad = nullptr;
  const KpBytes source = kp_bytes("__kernel void f(__global float* y) { y[0] = undeclared_name; }");
  const std::string refusal = Refusal(api->load_code(api, device, source, kp_bytes("cl"), kp_bytes("-DX=1"), &bad));
  EXPECT_EQ(refusal.find("ValueError: load_code: the OpenCL source does not compile for opencl:"), 0U) << refusal;
  EXPECT_NE(refusal.find("undeclared_name"), std::string::npos) << refusal;
  EXPECT_NE(refusal.find("-DX=1"), std::string::npos) << refusal;
}

TEST_F(OpenclCodeTest, OptionsReachTheCompiler) {
  void* y = Upload({0});
  void* defined = LoadSource("__kernel void f(__global float* y, ulong y0) { y[y0] = VALUE; }", "-DVALUE=42");
  ASSERT_EQ(Launch(Kernel(defined, "f"), 1, 1, {MemoryArg(y)}), 0) << TakeError();
  EXPECT_EQ(Download(y, 1), std::vector<float>{42});
  Unload(defined);
  Free(y);
}

TEST_F(OpenclCodeTest, UnknownNamesAndFormatsAreRefused) {
  void* found = nullptr;
  const std::string names = Refusal(api->get_kernel(api, device, code, kp_bytes("nothing"), &found));
  EXPECT_EQ(names.find("AttributeError: get_kernel: there is no kernel 'nothing'; the code has "), 0U) << names;
  EXPECT_NE(names.find("reverse"), std::string::npos) << names;
  ExpectRefusal(api->load_code(api, device, kp_bytes("x"), kp_bytes("ptx"), kp_bytes(""), &found),
                "ValueError: load_code: opencl takes no format 'ptx'; expected 'cl'");
  ExpectRefusal(api->load_code(api, device, kp_bytes(""), kp_bytes("cl"), kp_bytes(""), &found), "the image is empty");
  ExpectRefusal(api->load_code(api, device, kp_bytes("no program binary"), kp_bytes("clbin"), kp_bytes(""), &found),
                "refuses this program binary of 17 bytes");
}

TEST_F(OpenclCodeTest, UnloadedCodeIsRefused) {
  void* other = LoadSource(kScaleSource);
  void* kernel = Kernel(other, "scale");
  Unload(other);
  ExpectRefusal(Launch(kernel, 1, 1, {}), "no kernel of opencl:");
  void* found = nullptr;
  ExpectRefusal(api->get_kernel(api, device, other, kp_bytes("scale"), &found), "no loaded code of opencl:");
  ExpectRefusal(api->unload_code(api, device, other), "no loaded code of opencl:");
}

}  // namespace
}  // namespace kernpack_test
