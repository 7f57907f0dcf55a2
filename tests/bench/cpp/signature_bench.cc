// Nanoseconds a check: three tensors with a full signature, and with a destination.
#include <kernpack/host/signature.h>

#include <benchmark/benchmark.h>

namespace {

constexpr const char* kText =
    "(x: T[..., D], weight: T[D], bias: T[D], *, eps: float = 1e-6) -> (out: T[..., D]) where T in {f32, f16, bf16}";

void Check(benchmark::State& state, bool destination) {
  const KpSignature* signature = nullptr;
  if (kp_signature_parse(kp_bytes(kText), nullptr, &signature))
    return state.SkipWithError("the signature does not parse");
  static float memory[4][512];
  int64_t shape[] = {1, 512};
  int64_t strides[] = {512, 1};
  KpDLTensor tensors[4];
  KpAny values[5] = {kp_none(), kp_none(), kp_none(), kp_none(), kp_none()};
  for (int i = 0; i < 4; ++i) {
    const bool row = i == 1 || i == 2;
    tensors[i] = KpDLTensor{memory[i],
                            {KP_DEVICE_CPU, 0},
                            row ? 1 : 2,
                            {KP_DTYPE_FLOAT, 32, 1},
                            row ? shape + 1 : shape,
                            row ? strides + 1 : strides,
                            0};
    KpAny& value = values[i < 3 ? i : 4];
    value.type_index = KP_TYPE_DLTENSOR_PTR;
    value.v.v_tensor = &tensors[i];
  }
  values[3].type_index = KP_TYPE_FLOAT;
  KpSigFrame frame;
  const uint32_t* program = kp_signature_program(signature);
  for (auto _ : state) {
    const int rc = kp_sig_check(program, "layer_norm", values, destination ? values + 4 : nullptr, 0, &frame);
    if (rc) return state.SkipWithError("the check fails");
    benchmark::DoNotOptimize(frame);
  }
}
BENCHMARK_CAPTURE(Check, three_tensors, false);
BENCHMARK_CAPTURE(Check, three_tensors_and_destination, true);

void Prototype(benchmark::State& state) {
  const KpSignature* signature = nullptr;
  if (kp_signature_parse(kp_bytes("(*, n: int) -> (y: f32[n, 2 * n])"), nullptr, &signature)) {
    return state.SkipWithError("the signature does not parse");
  }
  KpAny n = kp_none();
  n.type_index = KP_TYPE_INT;
  n.v.v_int = 8;
  KpSigFrame frame;
  if (kp_sig_check(kp_signature_program(signature), "f", &n, nullptr, 0, &frame))
    return state.SkipWithError("the check fails");
  const auto look = [](void*, int32_t, const KpDLTensor* prototype, KpAny*) {
    benchmark::DoNotOptimize(prototype->shape[0]);
    return 0;
  };
  const KpSigMemory memory = {nullptr, look, nullptr};
  for (auto _ : state) {
    KpAny result = kp_none();
    benchmark::DoNotOptimize(kp_sig_lend(&frame, "f", &memory, &result));
  }
}
BENCHMARK(Prototype);

}  // namespace

BENCHMARK_MAIN();
