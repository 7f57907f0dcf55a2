// The cost of the host's services: storage get from one and two threads, an error raised and taken.
#include <benchmark/benchmark.h>

#include <kernpack/host/host.h>

namespace {

const KpStorageKey kKey{kp_bytes("my_kernels"), kp_bytes("weights.0"), KP_SCOPE_PROCESS, 0, {0, 0}, nullptr};

void Get(benchmark::State& state, const KpAny& stored) {
  const KpHost* host = kp_host();
  if (state.thread_index() == 0) host->storage_set(host, &kKey, &stored);
  for (auto _ : state) {
    KpAny value;
    int32_t found = 0;
    host->storage_get(host, &kKey, &value, &found);
    benchmark::DoNotOptimize(value);
    kp_any_release(&value);
  }
}

void StorageGetInt(benchmark::State& state) {
  KpAny one = kp_none();
  one.type_index = KP_TYPE_INT;
  one.v.v_int = 1;
  Get(state, one);
}
BENCHMARK(StorageGetInt)->Threads(1)->Threads(2)->UseRealTime();

void StorageGetObject(benchmark::State& state) {
  KpAny shape;
  kp_shape_new(nullptr, 0, &shape);
  Get(state, shape);
  kp_any_release(&shape);
}
BENCHMARK(StorageGetObject)->Threads(1)->Threads(2)->UseRealTime();

void RaiseAndTake(benchmark::State& state) {
  for (auto _ : state) {
    kp_raise("ValueError", "rms_norm: weight: expected shape [D] with D = %d, got [%d]", 512, 256);
    KpAny error;
    kp_error_take("rms_norm", -1, &error);
    kp_any_release(&error);
  }
}
BENCHMARK(RaiseAndTake);

void Workspace(benchmark::State& state) {
  const KpHost* host = kp_host();
  KpStorageKey key = kKey;
  key.scope = KP_SCOPE_STREAM;
  key.device = {KP_DEVICE_CPU, 0};
  for (auto _ : state) {
    void* data = nullptr;
    host->workspace(host, &key, 4096, 0, &data);
    benchmark::DoNotOptimize(data);
  }
}
BENCHMARK(Workspace);

void ParallelForOfNothingMuch(benchmark::State& state) {
  const KpHost* host = kp_host();
  for (auto _ : state) host->parallel_for(host, 1000, 1, [](void*, int64_t, int64_t) { return 0; }, nullptr);
}
BENCHMARK(ParallelForOfNothingMuch)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
