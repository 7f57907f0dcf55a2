// out = 3 x on the toy, by way of scratch memory that the caller of a kernel provides, and of a workspace that is kept.
#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

namespace kp = kernpack;

constexpr kp::DeviceCode kCode{"steps", "toy", "kernel add: a0 a1 + -> a2"};

static void Triple(kp::TensorView x, kp::MutTensorView out, kp::MutTensorView workspace) {
  const auto threads = static_cast<uint32_t>(x.numel());
  KpDLTensor scratch = workspace.raw();
  scratch.dtype = kp::f32;
  kp::launch(x.device(), kCode, "add", {threads}, kp::any_block, x, x, kp::MutTensorView(&scratch));
  kp::launch(x.device(), kCode, "add", {threads}, kp::any_block, x, kp::TensorView(&scratch), out);
}

// Counts its calls in device memory that is zeroed once.
static void Count(kp::TensorView x, kp::MutTensorView out) {
  kp::Workspace kept(x.device(), "calls", 4, kp::zeroed);
  int64_t one = 1;
  KpDLTensor calls{kept.data(), x.device(), 1, kp::f32, &one, nullptr, 0};
  kp::launch(x.device(), kCode, "add", {1}, kp::any_block, x, kp::TensorView(&calls), kp::MutTensorView(&calls));
  kp::launch(x.device(), kCode, "add", {1}, kp::any_block, kp::TensorView(&calls), 0.0f, out);
}

KP_MODULE("with_workspace", "1.0.0");
KP_EXPORT_FOR("toy", triple, Triple, "(x: f32[N]) -> (out: f32[N]) with workspace = N * 4");
KP_EXPORT_FOR("toy", count, Count, "(x: f32[1]) -> (out: f32[1])");
