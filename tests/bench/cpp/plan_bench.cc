// Time to plan a program of so many calls: a chain, and a graph whose calls take any two of the latest 64 values. Every tenth call is annotated.
#include <kernpack/sdk/program/builder.h>
#include <kernpack/sdk/program/plan.h>

#include <benchmark/benchmark.h>

#include <random>

namespace {

using namespace kernpack::sdk;
using namespace kernpack::sdk::program;

FunctionTable Functions() {
  FunctionTable table;
  Function negate, add;
  negate.name = "m.negate";
  negate.signature = "(x: f32[N]) -> (out: f32[N])";
  add.name = "m.add";
  add.signature = "(a: f32[N], b: f32[N]) -> (out: f32[N])";
  table.Add(negate);
  table.Add(add);
  return table;
}

ProgramModule Calls(int64_t count, bool chain) {
  std::mt19937 random(1);
  ProgramBuilder b("main");
  std::vector<ValueId> values = {b.Param("x", Type::Tensor(kernpack::f32, {{"N"}}))};
  const auto recent = [&] { return values[values.size() - 1 - random() % std::min<size_t>(values.size(), 64)]; };
  for (int64_t i = 0; i < count; ++i) {
    VirtualDevice device;
    if (i % 10 == 0) device = VirtualDevice::ForDeviceType(i % 20 ? KP_DEVICE_CPU : KP_DEVICE_CUDA);
    values.push_back(chain ? b.Call("m.negate", {values.back()}, device)
                           : b.Call("m.add", {recent(), recent()}, device));
  }
  b.Return({values.back()});
  return {{b.Finish()}};
}

void Planning(benchmark::State& state, bool chain) {
  const FunctionTable functions = Functions();
  const ProgramModule module = Calls(state.range(0), chain);
  CompilationConfig config({Target("llvm"), Target("cuda -arch=sm_90")}, KP_DEVICE_CUDA);
  for (auto _ : state) benchmark::DoNotOptimize(MakePlan(module, {&config, &functions, {}}));
}

}  // namespace

BENCHMARK_CAPTURE(Planning, chain, true)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Planning, graph, false)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
