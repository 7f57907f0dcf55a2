// One kernel twice: as source that NVRTC compiles at the first call, and as the PTX that NVRTC made of it ahead of time.
#include <kernpack/device_source.h>
#include <kernpack/kernel.h>

#include "jit_rows.cu.h"  // kSource, the text of KERNEL in topics/jit.py
#include "jit_rows.ptx.h"  // kPtx

namespace kp = kernpack;

static constexpr kp::DeviceCode kJit{"jit", "cu", {kSource, sizeof kSource - 1}};
static constexpr kp::DeviceCode kAhead{"ahead", "ptx", {kPtx, sizeof kPtx - 1}};

static void Run(const kp::DeviceCode& code, kp::TensorView x, kp::MutTensorView out) {
  const uint32_t rows = static_cast<uint32_t>(x.size(0));
  kp::launch(x.device(), code, "normalise", {rows}, {32}, x, out, x.size(1));
}
static void Jit(kp::TensorView x, kp::MutTensorView out) { Run(kJit, x, out); }
static void Ahead(kp::TensorView x, kp::MutTensorView out) { Run(kAhead, x, out); }

KP_MODULE("jit_rows", "1.0.0");
KP_EXPORT_FOR("cuda", jit, Jit, "(x: f32[N, D]) -> (out: f32[N, D])");
KP_EXPORT_FOR("cuda", ahead, Ahead, "(x: f32[N, D]) -> (out: f32[N, D])");
