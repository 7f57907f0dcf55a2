// Launches kernels of rows.cu and halves.cu, and some that don't compile.
#include <kernpack/device_source.h>
#include <kernpack/kernel.h>

#include "halves.cu.h"
#include "rows.cu.h"

namespace kp = kernpack;

namespace {

KP_DEVICE_SOURCE(kBroken, "", R"(
extern "C" __global__ void broken(const float* x, float* out, long long n) {
  out[0] = nothing_of_this_name;
}
)");
constexpr int kBrokenLine = 14;  // of the mistake above
KP_DEVICE_SOURCE(kLacking, "", "#include <cub/not_there.cuh>\n");

template <class... Args>
void Run(const kp::DeviceCode& code, kp::StringView kernel, kp::TensorView x, const Args&... args) {
  kp::launch(x.device(), code, kernel, {static_cast<uint32_t>(x.numel())}, kp::any_block, x, args..., x.numel());
}

void Scale(kp::TensorView x, double by, kp::MutTensorView out) {
  Run(device_code::rows_cu, kp::instance("scale", x.dtype()), x, static_cast<float>(by), out);
}
void AddTwo(kp::TensorView x, kp::MutTensorView out) {
  Run(device_code::rows_cu, kp::instance("add", x.dtype(), 2), x, out);
}
void Negate(kp::TensorView x, kp::MutTensorView out) { Run(device_code::rows_cu, "rows::negate", x, out); }
void Shift(kp::TensorView x, kp::MutTensorView out) { Run(device_code::rows_cu, "shift", x, out); }
void Twice(kp::TensorView x, kp::MutTensorView out) {
  Run(device_code::halves_cu, kp::instance("twice", x.dtype()), x, out);
}
void Broken(kp::TensorView x, kp::MutTensorView out) { Run(kBroken, "broken", x, out); }
void Lacking(kp::TensorView x, kp::MutTensorView out) { Run(kLacking, "lacking", x, out); }
void Absent(kp::TensorView x, kp::MutTensorView out) { Run(device_code::rows_cu, "negative", x, out); }
int64_t BrokenLine() { return kBrokenLine; }

constexpr char kUnary[] = "(x: f32[N]) -> (out: f32[N])";

}  // namespace

KP_MODULE("jit_rows", "1.0.0");
KP_EXPORT_FOR("cuda", scale, Scale, "(x: T[N], by: float) -> (out: T[N]) where T in {f32, f64, i32, c64}");
KP_EXPORT_FOR("cuda", add_two, AddTwo, "(x: i32[N]) -> (out: i32[N])");
KP_EXPORT_FOR("cuda", negate, Negate, kUnary);
KP_EXPORT_FOR("cuda", shift, Shift, kUnary);
KP_EXPORT_FOR("cuda", twice, Twice, "(x: T[N]) -> (out: T[N]) where T in {f16, f32}");
KP_EXPORT_FOR("cuda", broken, Broken, kUnary);
KP_EXPORT_FOR("cuda", lacking, Lacking, kUnary);
KP_EXPORT_FOR("cuda", absent, Absent, kUnary);
KP_EXPORT(broken_line, BrokenLine);
