// Ops with code for CUDA, as PTX; some with a mistake that only the device has.
#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

namespace kp = kernpack;
namespace {

// out[i] = 2 * x[i + shift] for i < n, and then a sum over the block that races where `race` isn't 0.
constexpr kp::DeviceCode kCode{"twice", "ptx", R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 x, .param .u64 out, .param .u32 n, .param .u32 shift, .param .u32 race) {
  .reg .b32 %i, %n, %s, %t; .reg .b64 %at, %to, %from; .reg .f32 %v; .reg .pred %p;
  .shared .align 4 .b32 cell;
  mov.u32 %i, %ctaid.x;
  mov.u32 %t, %tid.x;
  mad.lo.u32 %i, %i, 64, %t;
  ld.param.u32 %s, [race];
  setp.eq.u32 %p, %s, 0;
  @%p bra $NO_RACE;
  st.shared.u32 [cell], %t;
$NO_RACE:
  ld.param.u32 %n, [n];
  setp.ge.u32 %p, %i, %n;
  @%p bra $END;
  ld.param.u32 %s, [shift];
  ld.param.u64 %from, [x];
  ld.param.u64 %to, [out];
  mul.wide.u32 %at, %i, 4;
  add.u64 %to, %to, %at;
  add.u32 %i, %i, %s;
  mul.wide.u32 %at, %i, 4;
  add.u64 %from, %from, %at;
  ld.global.f32 %v, [%from];
  add.f32 %v, %v, %v;
  st.global.f32 [%to], %v;
$END:
  ret;
})"};

void OnCpu(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = 2 * x.data_ptr<float>()[i];
}

void Launch(kp::TensorView x, kp::MutTensorView out, int64_t count, uint32_t shift = 0, uint32_t race = 0) {
  if (count == 0) return;
  const auto blocks = static_cast<uint32_t>((count + 63) / 64);
  kp::launch(x.device(), kCode, "twice", {blocks}, {64}, x, out, static_cast<uint32_t>(count), shift, race);
}
void Fine(kp::TensorView x, kp::MutTensorView out) { Launch(x, out, x.numel()); }
void ShortTail(kp::TensorView x, kp::MutTensorView out) { Launch(x, out, x.numel() / 2 * 2); }
void PastTheEnd(kp::TensorView x, kp::MutTensorView out) { Launch(x, out, x.numel(), 1024); }
void Races(kp::TensorView x, kp::MutTensorView out) { Launch(x, out, x.numel(), 0, 1); }
void TooLarge(kp::TensorView x, kp::MutTensorView out) {
  kp::launch(x.device(), kCode, "twice", {1}, {4096}, x, out, 0U, 0U, 0U);
}
void Refuses(kp::TensorView x, kp::MutTensorView out) {
  KP_CHECK(x.numel() % 2 == 0, ValueError)
      << "x: expected an even number of elements on a CUDA device, got " << x.numel();
  Launch(x, out, x.numel());
}
void RefusesAll(kp::TensorView, kp::MutTensorView) { KP_CHECK(false, ValueError) << "expected another device"; }
void RowsMixed(kp::TensorView x, kp::MutTensorView out) { Launch(x, out, x.numel() - (x.size(0) > 1 ? 1 : 0)); }

// out[i] = x[i] + x[i + step], where 0 <= i + step < limit: a causal sum with step -1, and with step 1 its gradient.
constexpr kp::DeviceCode kNeighbours{"with_neighbour", "ptx", R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry with_neighbour(.param .u64 x, .param .u64 out, .param .u32 n, .param .s32 step, .param .u32 limit) {
  .reg .b32 %i, %n, %t; .reg .b64 %at, %to, %from; .reg .f32 %v, %w; .reg .pred %p;
  mov.u32 %i, %ctaid.x;
  mov.u32 %t, %tid.x;
  mad.lo.u32 %i, %i, 64, %t;
  ld.param.u32 %n, [n];
  setp.ge.u32 %p, %i, %n;
  @%p bra $END;
  ld.param.u64 %from, [x];
  ld.param.u64 %to, [out];
  mul.wide.u32 %at, %i, 4;
  add.u64 %to, %to, %at;
  add.u64 %at, %from, %at;
  ld.global.f32 %v, [%at];
  ld.param.u32 %t, [step];
  add.u32 %i, %i, %t;
  ld.param.u32 %n, [limit];
  setp.ge.u32 %p, %i, %n;
  @%p bra $STORE;
  mul.wide.u32 %at, %i, 4;
  add.u64 %at, %from, %at;
  ld.global.f32 %w, [%at];
  add.f32 %v, %v, %w;
$STORE:
  st.global.f32 [%to], %v;
$END:
  ret;
})"};

void AddNeighbour(kp::TensorView x, kp::MutTensorView out, int32_t step, int64_t limit) {
  const auto count = static_cast<uint32_t>(x.numel());
  if (count == 0) return;
  kp::launch(x.device(), kNeighbours, "with_neighbour", {(count + 63) / 64}, {64}, x, out, count, step,
             static_cast<uint32_t>(limit));
}
void Causal(kp::TensorView x, kp::MutTensorView out) { AddNeighbour(x, out, -1, x.numel()); }
void CausalBackward(kp::TensorView d_out, kp::MutTensorView d_x) { AddNeighbour(d_out, d_x, 1, d_out.numel()); }
void ShortBackward(kp::TensorView d_out, kp::MutTensorView d_x) {
  AddNeighbour(d_out, d_x, 1, d_out.numel() / 4 * 4);  // the last elements' neighbours are left out
}

void Neighbour(kp::TensorView x, int64_t step, kp::MutTensorView out) {
  AddNeighbour(x, out, static_cast<int32_t>(step), x.numel());
}
void NeighbourBackward(kp::TensorView d_out, int64_t step, kp::MutTensorView d_x) { Neighbour(d_out, -step, d_x); }

// out[i] = x[i] * y[i] for i < n.
constexpr kp::DeviceCode kTimes{"times", "ptx", R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry times(.param .u64 x, .param .u64 y, .param .u64 out, .param .u32 n) {
  .reg .b32 %i, %n, %t; .reg .b64 %at, %from; .reg .f32 %v, %w; .reg .pred %p;
  mov.u32 %i, %ctaid.x;
  mov.u32 %t, %tid.x;
  mad.lo.u32 %i, %i, 64, %t;
  ld.param.u32 %n, [n];
  setp.ge.u32 %p, %i, %n;
  @%p bra $END;
  mul.wide.u32 %at, %i, 4;
  ld.param.u64 %from, [x];
  add.u64 %from, %from, %at;
  ld.global.f32 %v, [%from];
  ld.param.u64 %from, [y];
  add.u64 %from, %from, %at;
  ld.global.f32 %w, [%from];
  mul.f32 %v, %v, %w;
  ld.param.u64 %from, [out];
  add.u64 %from, %from, %at;
  st.global.f32 [%from], %v;
$END:
  ret;
})"};

void Times(kp::TensorView x, kp::TensorView y, kp::MutTensorView out) {
  const auto count = static_cast<uint32_t>(x.numel());
  if (count == 0) return;
  kp::launch(x.device(), kTimes, "times", {(count + 63) / 64}, {64}, x, y, out, count);
}
void TimesOnCpu(kp::TensorView x, kp::TensorView y, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<float>()[i] = x.data_ptr<float>()[i] * y.data_ptr<float>()[i];
}

// A square keeps its slope, which callers don't see, for its backward op.
void SquareOnCpu(kp::TensorView x, kp::MutTensorView out, kp::MutTensorView slope) {
  TimesOnCpu(x, x, out);
  OnCpu(x, slope);
}
void Square(kp::TensorView x, kp::MutTensorView out, kp::MutTensorView slope) {
  Times(x, x, out);
  Fine(x, slope);
}
void SquareKeepsOther(kp::TensorView x, kp::MutTensorView out, kp::MutTensorView slope) {
  Square(x, out, slope);
  Fine(kp::TensorView(slope), slope);
}
void CausalTangent(kp::TensorView, kp::TensorView t_x, kp::MutTensorView t_out) { Causal(t_x, t_out); }
void WrongTangent(kp::TensorView x, kp::TensorView, kp::MutTensorView t_out) { Causal(x, t_out); }

// Not what a graph can contain: a wait for the device, and memory that is gone when the graph runs.
void Waits(kp::TensorView x, kp::MutTensorView out) {
  Launch(x, out, x.numel());
  const KpDeviceApi& api = kp::device_api(x.device());
  KP_CHECK(api.stream_sync(&api, x.device(), kp::stream(x.device())) == 0, RuntimeError)
      << "the device can't be waited for";
}
void ByTheWay(kp::TensorView x, kp::MutTensorView out) {
  if (x.numel() == 0) return;
  const kp::Tensor between = kp::Tensor::EmptyLike(x);
  kp::launch(x.device(), kCode, "twice", {static_cast<uint32_t>((x.numel() + 63) / 64)}, {64}, x,
             kp::TensorView(between), static_cast<uint32_t>(x.numel()), 0U, 0U);
  kp::launch(x.device(), kCode, "twice", {static_cast<uint32_t>((x.numel() + 63) / 64)}, {64}, kp::TensorView(between),
             out, static_cast<uint32_t>(x.numel()), 0U, 0U);
}

}  // namespace

#define TWICE "(x: f32[N]) -> (out: f32[N]) with deterministic"
KP_MODULE("on_device_cases", "1.0.0");
KP_EXPORT(on_the_cpu, OnCpu, TWICE);
KP_EXPORT(on_both, OnCpu, TWICE);
KP_EXPORT_FOR("cuda", on_both, Fine, TWICE);
KP_EXPORT(on_the_device, Fine, TWICE ", on \"cuda\"");
KP_EXPORT(refuses_some, OnCpu, TWICE);
KP_EXPORT_FOR("cuda", refuses_some, Refuses, TWICE);
KP_EXPORT(short_tail, OnCpu, TWICE);
KP_EXPORT_FOR("cuda", short_tail, ShortTail, TWICE);
KP_EXPORT(past_the_end, OnCpu, TWICE);
KP_EXPORT_FOR("cuda", past_the_end, PastTheEnd, TWICE);
KP_EXPORT(races, Races, TWICE ", on \"cuda\"");
KP_EXPORT(too_large, OnCpu, TWICE);
KP_EXPORT_FOR("cuda", too_large, TooLarge, TWICE);
KP_EXPORT(refuses_all, OnCpu, TWICE);
KP_EXPORT_FOR("cuda", refuses_all, RefusesAll, TWICE);
KP_EXPORT(rows_mixed, RowsMixed, "(x: f32[..., N]) -> (out: f32[..., N]) with on \"cuda\"");
#define IN_GRAPHS "(x: f32[N]) -> (out: f32[N]) with graph_safe, deterministic, on \"cuda\""
KP_EXPORT(in_graphs, Fine, IN_GRAPHS);
KP_EXPORT(waits, Waits, IN_GRAPHS);
KP_EXPORT(by_the_way, ByTheWay, IN_GRAPHS);

#define ON_DEVICE ", on \"cuda\""
#define BACKWARD "(d_out: f32[N]) -> (d_x: f32[N]) with deterministic"
#define TANGENT "(x: f32[N], t_x: f32[N]) -> (t_out: f32[N]) with deterministic"
KP_EXPORT(causal, Causal, TWICE ON_DEVICE);
KP_EXPORT(causal_backward, CausalBackward, BACKWARD ON_DEVICE);
KP_GRAD(causal, causal_backward);
KP_EXPORT(causal_jvp, CausalTangent, TANGENT ON_DEVICE);
KP_JVP(causal, causal_jvp);
KP_EXPORT(causal_short, Causal, TWICE ON_DEVICE);
KP_EXPORT(causal_short_backward, ShortBackward, BACKWARD ON_DEVICE);
KP_GRAD(causal_short, causal_short_backward);
KP_EXPORT(causal_wrong_jvp, WrongTangent, TANGENT ON_DEVICE);
KP_JVP(causal_short, causal_wrong_jvp);

KP_EXPORT(neighbour, Neighbour, "(x: f32[N], step: int) -> (out: f32[N]) with deterministic" ON_DEVICE);
KP_EXPORT(neighbour_backward, NeighbourBackward,
          "(d_out: f32[N], step: int) -> (d_x: f32[N]) with deterministic" ON_DEVICE);
KP_GRAD(neighbour, neighbour_backward);

#define SQUARE "(x: f32[N]) -> (out: f32[N], slope: f32[N] aux) with deterministic"
#define SQUARE_BACKWARD "(d_out: f32[N], slope: f32[N]) -> (d_x: f32[N]) with deterministic"
KP_EXPORT(square_on_device, Square, SQUARE ON_DEVICE);
KP_EXPORT(square_on_device_backward, Times, SQUARE_BACKWARD ON_DEVICE);
KP_GRAD(square_on_device, square_on_device_backward);
KP_EXPORT(square_here, SquareOnCpu, SQUARE);
KP_EXPORT_FOR("cuda", square_here, Square, SQUARE);
KP_EXPORT(square_here_backward, Times, SQUARE_BACKWARD ON_DEVICE);
KP_GRAD(square_here, square_here_backward);

KP_EXPORT(square, SquareOnCpu, SQUARE);
KP_EXPORT_FOR("cuda", square, Square, SQUARE);
KP_EXPORT(square_backward, TimesOnCpu, SQUARE_BACKWARD);
KP_EXPORT_FOR("cuda", square_backward, Times, SQUARE_BACKWARD);
KP_GRAD(square, square_backward);
KP_EXPORT(square_keeps_other, SquareOnCpu, SQUARE);
KP_EXPORT_FOR("cuda", square_keeps_other, SquareKeepsOther, SQUARE);
KP_EXPORT(square_keeps_other_backward, TimesOnCpu, SQUARE_BACKWARD);
KP_EXPORT_FOR("cuda", square_keeps_other_backward, Times, SQUARE_BACKWARD);
KP_GRAD(square_keeps_other, square_keeps_other_backward);
