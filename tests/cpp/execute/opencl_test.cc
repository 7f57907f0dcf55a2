// Plans on OpenCL devices: PoCL makes two of one CPU.
#include <chrono>
#include <cstdlib>
#include <mutex>

#include "execute/support.h"

#include <kernpack/sdk/program/trace.h>

namespace execute_test {
namespace {

constexpr char kSource[] = R"(
__kernel void scale(__global const float* x, ulong x0, __global float* z, ulong z0, int rounds) {
  size_t i = get_global_id(0);
  float v = x[x0 + i];
  for (int r = 0; r < rounds; ++r) v = v * 1.0009765625f + 0.001f;
  z[z0 + i] = v;
}
)";

// "c.work(x: f32[N], rounds: int) -> (z: f32[N])" on the host and on OpenCL devices.
class Work {
 public:
  static sp::Function Entry() {
    sp::Function function;
    function.name = "c.work";
    function.signature = "(x: f32[N], rounds: int) -> (z: f32[N])";
    function.device_types = {KP_DEVICE_OPENCL, KP_DEVICE_CPU};
    function.resolve = [](KpDLDevice device) -> sp::Callable {
      if (device.device_type == KP_DEVICE_CPU) return {&OnHost, nullptr};
      static auto& kernels = *new std::map<int32_t, Work>;  // code stays as long as the process
      Work& work = kernels[device.device_id];
      work.Load(device);
      return {&OnDevice, &work};
    };
    return function;
  }

 private:
  const KpDeviceApi* api_ = nullptr;
  void* kernel_ = nullptr;

  void Load(KpDLDevice device) {
    void* code = nullptr;
    if (kernel_) return;
    EXPECT_EQ(kp_device_api(device.device_type, &api_), 0) << TakeError();
    EXPECT_EQ(api_->load_code(api_, device, kp_bytes(kSource), kp_bytes("cl"), kp_bytes(""), &code), 0) << TakeError();
    EXPECT_EQ(api_->get_kernel(api_, device, code, kp_bytes("scale"), &kernel_), 0) << TakeError();
  }

  static int OnDevice(void* self, const KpAny* args, int32_t, KpAny*) {
    const Work& work = *static_cast<Work*>(self);
    const KpDLTensor& x = *kp_any_tensor(&args[0]);
    const KpDLTensor& z = *kp_any_tensor(&args[2]);
    const auto rounds = static_cast<int32_t>(args[1].v.v_int);
    const KpKernelArg list[] = {{KP_ARG_MEMORY, 4, x.data, x.byte_offset},
                                {KP_ARG_MEMORY, 4, z.data, z.byte_offset},
                                {KP_ARG_VALUE, sizeof rounds, &rounds, 0}};
    KpLaunch launch{};
    launch.struct_size = sizeof launch;
    launch.grid[0] = static_cast<uint32_t>(x.shape[0]);
    launch.grid[1] = launch.grid[2] = 1;
    launch.num_args = 3;
    launch.args = list;
    return work.api_->launch(work.api_, x.device, work.kernel_, &launch, kp_stream_get(x.device));
  }

  static int OnHost(void*, const KpAny* args, int32_t, KpAny*) {
    for (int64_t i = 0; i < GetSize(args[0]); ++i) {
      volatile float v = GetData(args[0])[i];
      for (int64_t r = 0; r < args[1].v.v_int; ++r) v = v * 1.0009765625f + 0.001f;
      GetData(args[2])[i] = v;
    }
    return 0;
  }
};

class ExecuteOpencl : public ExecuteTest {
 protected:
  static void SetUpTestSuite() {
    setenv("POCL_DEVICES", "pthread basic", /*replace=*/0);
    EXPECT_EQ(kp_backend_load(OPENCL_PLUGIN), 0) << TakeError();
    int32_t count = 0;
    kernpack_test::Value reason;
    ASSERT_EQ(kp_device_count(KP_DEVICE_OPENCL, &count, reason.out()), 0);
    if (count < 2)
      GTEST_SKIP() << "two OpenCL devices are needed, there are " << count << ": " << kernpack_test::Str(reason.get());
    Work::Entry().resolve(Device::opencl(0));
    Work::Entry().resolve(Device::opencl(1));
  }
  void SetUp() override {
    ExecuteTest::SetUp();
    functions.Add(Work::Entry());
  }

  sp::Plan Planned(const char* text, sp::PlanOptions options = {}) const {
    kernpack::sdk::CompilationConfig config({kernpack::sdk::Target("llvm"), kernpack::sdk::Target("opencl")},
                                            KP_DEVICE_CPU);
    return sp::MakePlan(sp::Parse(text), {&config, &functions, options});
  }
  static void ExpectNear(const Any& got, const Any& expected) {
    const std::vector<float> a = GetValues(got);
    const std::vector<float> b = GetValues(expected);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-3f * std::abs(b[i]) + 1e-3f) << i;
  }
};

TEST_F(ExecuteOpencl, ThreeCallsOnTwoPlacesGiveWhatTheyGiveOnOne) {
  const char* program = R"(program main(x: f32[N] @cpu, rounds: int) {
    a @cpu = call c.work(x, rounds)
    b @PLACE = call c.work(a, rounds)
    c @cpu = call t.add(b, x)
    d @PLACE = call c.work(c, rounds)
    z @cpu = call t.add(d, b)
    return z
  })";
  const auto at = [&](const std::string& place) {
    std::string text = program;
    for (size_t i; (i = text.find("PLACE")) != std::string::npos;) text.replace(i, 5, place);
    return Planned(text.c_str());
  };
  const Floats x(Counting(1000));
  const std::vector<Any> expected = sp::Executable(at("cpu"), functions).Run({x, 5});
  const sp::Executable run(at("opencl:0"), functions);
  for (int round = 0; round < 3; ++round) ExpectNear(run.Run({x, 5})[0], expected[0]);
  const sp::Executable other(at("opencl:0"), functions, {Device::opencl(1)});
  ExpectNear(other.Run({x, 5})[0], expected[0]);
}

// Halves of a batch, each on a device; and the same on streams of one.
constexpr const char* kHalves = R"(program main(x: f32[N] @cpu, y: f32[N] @cpu, rounds: int) {
  a @opencl:0 = call c.work(x, rounds)
  b @opencl:1 = call c.work(y, rounds)
  c @opencl:0 = call c.work(a, rounds)
  d @opencl:1 = call c.work(b, rounds)
  z @cpu = call t.add(c, d)
  return z, c, d
})";

TEST_F(ExecuteOpencl, HalvesOfABatchRunOnTwoDevicesAtATime) {
  const sp::Executable run(Planned(kHalves), functions);
  const Floats x(Counting(20000));
  const Floats y(Counting(20000));
  run.Run({x, y, 10});
  // Begun before the other ended, on both sides: whether the machine has time for both is not ours to say.
  sp::Trace trace;
  const std::vector<Any> results = run.Run({x, y, 4000}, {.trace = &trace});
  std::map<int32_t, std::pair<double, double>> span;  // by device
  for (const sp::TraceEvent& event : trace.events()) {
    if (event.name != "call c.work") continue;
    auto [place, first] = span.try_emplace(event.device.device_id, event.begin, event.end);
    if (!first) place->second.second = event.end;
  }
  ASSERT_EQ(span.size(), 2u);
  EXPECT_LT(span[0].first, span[1].second);
  EXPECT_LT(span[1].first, span[0].second);
  ExpectNear(results[1], results[2]);
}

TEST_F(ExecuteOpencl, ResultsThatNobodyWaitsForAreReadyOnTheCallersStream) {
  const sp::Executable run(Planned(R"(program main(x: f32[N] @opencl:0, rounds: int) {
    a @opencl:0 = call c.work(x, rounds)
    b @opencl:0 = call c.work(x, rounds)
    c @opencl:0 = call c.work(a, rounds)
    d @opencl:0 = call c.work(b, rounds)
    return c, d
  })",
                                   {.streams_per_device = 2}),
                           functions);
  const std::vector<Any> expected = run.Run({Floats(Counting(5000), Device::opencl()), 200});
  for (int round = 0; round < 5; ++round) {
    const std::vector<Any> results = run.Run({Floats(Counting(5000), Device::opencl()), 200}, {.wait = false});
    EXPECT_EQ(GetValues(results[0]), GetValues(expected[0])) << "copied on the current stream";
    EXPECT_EQ(GetValues(results[1]), GetValues(expected[1]));
  }
}

TEST_F(ExecuteOpencl, TheCallersStreamIsCurrentAgainAfterARun) {
  const kernpack::sdk::DeviceAPI* api = kernpack::sdk::DeviceAPI::Get(KP_DEVICE_OPENCL);
  auto* device = const_cast<kernpack::sdk::DeviceAPI*>(api);
  void* stream = device->CreateStream(Device::opencl());
  {
    const kernpack::sdk::StreamGuard guard(Device::opencl(), stream);
    const sp::Executable run(Planned(kHalves), functions);
    run.Run({Floats(Counting(10)), Floats(Counting(10)), 1});
    EXPECT_EQ(kp_stream_get(Device::opencl()), stream);
    EXPECT_THROW(run.Run({Floats(Counting(10)), Floats(Counting(9)), 1}), kernpack::Error);
    EXPECT_EQ(kp_stream_get(Device::opencl()), stream);
  }
  device->FreeStream(Device::opencl(), stream);
}

}  // namespace
}  // namespace execute_test
