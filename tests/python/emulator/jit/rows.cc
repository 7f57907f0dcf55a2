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

// The stand-in adds another number than the source, so that results tell which of them ran.
KP_DEVICE_SOURCE_WITH_STAND_IN(kLift, "lift<float, 1>", R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry _Z4liftIfLj1EEvPKT_PS0_x(.param .u64 in, .param .u64 to, .param .u64 count) {
  .reg .pred %p<2>;
  .reg .f32 %f<3>;
  .reg .b32 %r<5>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [to];
  ld.param.u64 %rd3, [count];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  cvt.u64.u32 %rd4, %r4;
  setp.ge.s64 %p1, %rd4, %rd3;
  @%p1 bra DONE;
  shl.b64 %rd5, %rd4, 2;
  add.s64 %rd6, %rd1, %rd5;
  add.s64 %rd7, %rd2, %rd5;
  ld.global.f32 %f1, [%rd6];
  add.f32 %f2, %f1, 0f42C80000;
  st.global.f32 [%rd7], %f2;
DONE:
  ret;
}
)",
                               R"(
template <class T, unsigned by>
__global__ void lift(const T* x, T* out, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + T(by);
}
)");

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
void Lift(kp::TensorView x, kp::MutTensorView out) { Run(kLift, kp::instance("lift", x.dtype(), 1), x, out); }
void LiftTwo(kp::TensorView x, kp::MutTensorView out) { Run(kLift, kp::instance("lift", x.dtype(), 2), x, out); }
void Several(kp::TensorView x, kp::MutTensorView out) {
  kp::prepare(x.device(), device_code::rows_cu, "scale<float>; add<float, 7>;shift; rows::negate");
  Run(device_code::rows_cu, "scale<float>", x, 2.0f, out);
  Run(device_code::rows_cu, "add<float, 7>", kp::TensorView(out), out);
  Run(device_code::rows_cu, "shift", kp::TensorView(out), out);
}
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
KP_EXPORT_FOR("cuda", lift, Lift, kUnary);
KP_EXPORT_FOR("cuda", lift_two, LiftTwo, kUnary);
KP_EXPORT_FOR("cuda", several, Several, kUnary);
KP_EXPORT_FOR("cuda", twice, Twice, "(x: T[N]) -> (out: T[N]) where T in {f16, f32}");
KP_EXPORT_FOR("cuda", broken, Broken, kUnary);
KP_EXPORT_FOR("cuda", lacking, Lacking, kUnary);
KP_EXPORT_FOR("cuda", absent, Absent, kUnary);
KP_EXPORT(broken_line, BrokenLine);
