// The cost of running a plan beside its calls made by hand, how much memory it needs, and how much of two streams' work overlaps.
// Prints one JSON object.
#include <kernpack/host/device.h>
#include <kernpack/sdk/program/execute.h>
#include <kernpack/sdk/program/text.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using kernpack::Any;
using kernpack::AnyView;
using kernpack::Device;
using kernpack::sdk::CompilationConfig;
using kernpack::sdk::Target;
namespace sp = kernpack::sdk::program;

void Check(int rc) {
  if (rc == 0) return;
  KpAny error = kp_none();
  kp_error_take("bench", rc, &error);
  throw std::runtime_error(reinterpret_cast<const KpErrorObject*>(error.v.v_obj)->message.data);
}

Any Tensor(int64_t size, Device device = Device::cpu()) {
  const KpDLTensor prototype{nullptr, device, 1, kernpack::f32, &size, nullptr, 0};
  Any tensor;
  Check(kp_tensor_alloc(&prototype, KpBytes{}, tensor.out()));
  Check(kp_fill(kp_any_tensor(&tensor.raw()), 0));
  return tensor;
}

template <class Body>
double Seconds(const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// ---- calls on the host ----

int Add(void*, const KpAny* args, int32_t, KpAny*) {
  const auto* x = static_cast<const float*>(kp_any_tensor(&args[0])->data);
  const auto* y = static_cast<const float*>(kp_any_tensor(&args[1])->data);
  auto* z = static_cast<float*>(kp_any_tensor(&args[2])->data);
  for (int64_t i = 0; i < kp_any_tensor(&args[0])->shape[0]; ++i) z[i] = x[i] + y[i];
  return 0;
}

// A module of one function, "bench.add", as the loader has it.
const KpLoadedFunction* TheFunction() {
  static const char kSignature[] = "(x: f32[N], y: f32[N]) -> (z: f32[N])";
  static KpFunctionInfo info{};
  info.struct_size = sizeof info;
  info.signature = kSignature;
  static const KpFunctionDef functions[] = {{"add", &Add, &info}};
  static KpModule module{};
  module.struct_size = sizeof module;
  module.abi_version = KP_ABI_VERSION;
  module.min_host_abi = KP_ABI_MAJOR << 16;
  module.name = "bench";
  module.version = module.sdk_version = "1.0";
  module.functions = functions;
  module.functions_end = functions + 1;
  const KpLoadedModule* loaded = nullptr;
  Check(kp_module_adopt(&module, &loaded));
  return kp_module_function(loaded, kp_bytes("add"));
}

struct Ratio {
  double ours;  // seconds
  double theirs;
};

// One run of a chain of `calls` calls on `size` numbers, and the same calls by hand into tensors allocated before.
Ratio Overhead(int calls, int64_t size) {
  const KpLoadedFunction* function = TheFunction();
  sp::FunctionTable table;
  table.Add({"bench.add",
             kp_signature_text(function->signature),
             {KP_DEVICE_CPU},
             {},
             {},
             {},
             [=](KpDLDevice device) {
               sp::Callable callable;
               Check(kp_function_resolve(function, device, &callable.call, &callable.self));
               return callable;
             },
             nullptr});
  std::string text = "program main(v0: f32[N], y: f32[N]) {\n";
  for (int i = 0; i < calls; ++i) {
    text += "  v" + std::to_string(i + 1) + " = call bench.add(v" + std::to_string(i) + ", y)\n";
  }
  text += "  return v" + std::to_string(calls) + "\n}";
  CompilationConfig config({Target("llvm")});
  const sp::Executable run(sp::MakePlan(sp::Parse(text), {&config, &table, {}}), table);

  const Any x = Tensor(size);
  const Any y = Tensor(size);
  const Any result = Tensor(size);
  const Any between[] = {Tensor(size), Tensor(size)};
  const KpAny args[] = {x.raw(), y.raw(), result.raw()};
  const auto by_hand = [&] {
    const Any* from = &x;
    for (int i = 0; i < calls; ++i) {
      const Any* to = i + 1 == calls ? &result : &between[i % 2];
      const KpAny call[] = {from->raw(), y.raw(), to->raw()};
      KpAny nothing = kp_none();
      Check(kp_call(function, call, 3, &nothing));
      from = to;
    }
  };
  Ratio best{1e9, 1e9};
  const int repeat = std::max(1, 4000 / calls);
  for (int round = 0; round < 60; ++round) {
    best.ours = std::min(best.ours, Seconds([&] {
                           for (int i = 0; i < repeat; ++i) run.RunInto(args, 3);
                         }));
    best.theirs = std::min(best.theirs, Seconds([&] {
                             for (int i = 0; i < repeat; ++i) by_hand();
                           }));
  }
  return {best.ours / repeat / calls, best.theirs / repeat / calls};
}

// ---- memory ----

// Of a stack of `layers` residual layers: what is held at once, and what all values would take.
Ratio Memory(int layers) {
  sp::FunctionTable table;
  table.Add({"bench.add",
             "(x: f32[N], y: f32[N]) -> (z: f32[N])",
             {},
             {},
             {},
             {},
             [](KpDLDevice) { return sp::Callable{&Add, nullptr}; },
             nullptr});
  std::string text = "program main(h0: f32[16384], w: f32[16384]) {\n";
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    text += "  a" + n + " = call bench.add(h" + n + ", w)\n  b" + n + " = call bench.add(a" + n + ", w)\n  c" + n +
            " = call bench.add(a" + n + ", b" + n + ")\n  h" + std::to_string(i + 1) + " = call bench.add(c" + n +
            ", h" + n + ")\n";
  }
  text += "  return h" + std::to_string(layers) + "\n}";
  CompilationConfig config({Target("llvm")});
  const sp::Plan plan = sp::MakePlan(sp::Parse(text), {&config, &table, {}});
  const sp::Executable run(plan, table);
  run.Run({Tensor(16384), Tensor(16384)});
  const auto values = static_cast<double>(sp::MemoryOf(plan.programs[0], plan.module.programs[0]).values);
  return {static_cast<double>(run.buffers().peak), values};
}

// ---- overlap ----

// One work-group: a stream keeps one core busy.
constexpr char kSource[] = R"(
__kernel void work(__global const float* x, ulong x0, __global float* z, ulong z0, int rounds) {
  float v = x[x0];
  for (int r = 0; r < rounds; ++r) v = native_sin(v) + 0.5f;
  z[z0] = v;
}
)";

struct Kernel {
  const KpDeviceApi* api = nullptr;
  void* kernel = nullptr;

  explicit Kernel(KpDLDevice device) {
    void* code = nullptr;
    Check(kp_device_api(device.device_type, &api));
    Check(api->load_code(api, device, kp_bytes(kSource), kp_bytes("cl"), kp_bytes(""), &code));
    Check(api->get_kernel(api, device, code, kp_bytes("work"), &kernel));
  }
  static int Call(void* self, const KpAny* args, int32_t, KpAny*) {
    const Kernel& kernel = *static_cast<Kernel*>(self);
    const KpDLTensor& x = *kp_any_tensor(&args[0]);
    const KpDLTensor& z = *kp_any_tensor(&args[2]);
    const auto rounds = static_cast<int32_t>(args[1].v.v_int);
    const KpKernelArg list[] = {{KP_ARG_MEMORY, 4, x.data, x.byte_offset},
                                {KP_ARG_MEMORY, 4, z.data, z.byte_offset},
                                {KP_ARG_VALUE, sizeof rounds, &rounds, 0}};
    const KpLaunch launch{sizeof launch, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 0, 3, list, 0, 0};
    return kernel.api->launch(kernel.api, x.device, kernel.kernel, &launch, kp_stream_get(x.device));
  }
};

struct StreamTimes {  // seconds
  double two = 1e9;
  double two_by_hand = 1e9;
  double one = 1e9;
};

constexpr int kChain = 4;
constexpr int64_t kRounds = 400000;

// The two chains of Streams() on two streams of our own.
void ByHand(const Kernel& kernel, const std::vector<Any>& tensors, void* const streams[2]) {
  const KpDLDevice device = Device::opencl();
  for (size_t i = 0; i < kChain; ++i) {
    for (size_t chain = 0; chain < 2; ++chain) {
      const KpAny args[] = {tensors[2 * i + chain].raw(), AnyView(kRounds).raw(), tensors[2 * i + 2 + chain].raw()};
      Check(kp_stream_set(device, streams[chain], nullptr));
      Check(Kernel::Call(const_cast<Kernel*>(&kernel), args, 3, nullptr));
    }
  }
  Check(kp_stream_set(device, nullptr, nullptr));
  Check(kernel.api->stream_wait_stream(kernel.api, device, streams[0], streams[1]));
  Check(kernel.api->stream_sync(kernel.api, device, streams[0]));
}

// Two chains of four kernels on opencl:0 that do not depend on each other.
StreamTimes Streams() {
  sp::FunctionTable table;
  static Kernel kernel(Device::opencl());
  table.Add({"bench.work",
             "(x: f32[N], rounds: int) -> (z: f32[N])",
             {KP_DEVICE_OPENCL},
             {},
             {},
             {},
             [](KpDLDevice) { return sp::Callable{&Kernel::Call, &kernel}; },
             nullptr});
  std::string text = "program main(x0: f32[N] @opencl:0, y0: f32[N] @opencl:0, rounds: int) {\n";
  for (int i = 0; i < kChain; ++i) {
    for (const char* name : {"x", "y"}) {
      text += std::string("  ") + name + std::to_string(i + 1) + " = call bench.work(" + name + std::to_string(i) +
              ", rounds)\n";
    }
  }
  text += "  return x4, y4\n}";
  CompilationConfig config({Target("llvm"), Target("opencl")}, KP_DEVICE_CPU);
  const auto executable = [&](int streams) {
    sp::PlanOptions options;
    options.streams_per_device = streams;
    return std::make_unique<sp::Executable>(sp::MakePlan(sp::Parse(text), {&config, &table, options}), table);
  };
  const auto two = executable(2);
  const auto one = executable(1);
  std::vector<Any> tensors;
  for (int i = 0; i < 2 * kChain + 2; ++i) tensors.push_back(Tensor(1, Device::opencl()));
  void* streams[2];
  for (void*& stream : streams) Check(kernel.api->stream_new(kernel.api, Device::opencl(), 0, &stream));
  StreamTimes best;
  for (int round = 0; round < 12; ++round) {
    best.two = std::min(best.two, Seconds([&] { two->Run({tensors[0], tensors[1], kRounds}); }));
    best.two_by_hand = std::min(best.two_by_hand, Seconds([&] { ByHand(kernel, tensors, streams); }));
    best.one = std::min(best.one, Seconds([&] { one->Run({tensors[0], tensors[1], kRounds}); }));
  }
  return best;
}

}  // namespace

int main() {
  try {
    const Ratio one = Overhead(16, 1);
    const Ratio some = Overhead(16, 1024);
    const Ratio memory = Memory(12);
    std::printf("{\"overhead_1\": [%.9g, %.9g], \"overhead_1024\": [%.9g, %.9g], \"memory\": [%.0f, %.0f]", one.ours,
                one.theirs, some.ours, some.theirs, memory.ours, memory.theirs);
    Check(kp_backend_load(OPENCL_PLUGIN));
    int32_t devices = 0;
    Check(kp_device_count(KP_DEVICE_OPENCL, &devices, nullptr));
    if (devices > 0) {
      const StreamTimes times = Streams();
      std::printf(", \"streams\": [%.9g, %.9g, %.9g]", times.two, times.two_by_hand, times.one);
    }
    std::printf("}\n");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
