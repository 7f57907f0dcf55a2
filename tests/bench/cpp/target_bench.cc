// Microseconds a target: from text to its canonical form.
#include <kernpack/sdk/target.h>

#include <benchmark/benchmark.h>

namespace {

void Parse(benchmark::State& state, const char* text) {
  for (auto _ : state) benchmark::DoNotOptimize(kernpack::sdk::Target(text));
}

}  // namespace

BENCHMARK_CAPTURE(Parse, kind, "cuda")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Parse, options, "cuda -arch=sm_90 -max_num_threads=512")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Parse, processor, "llvm -mcpu=x86-64-v3")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Parse, host, "cuda -arch=sm_90 -host='llvm -mcpu=x86-64-v3'")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(Parse, tag, "nvidia/h100")->Unit(benchmark::kMicrosecond);
BENCHMARK_MAIN();
