// Kernels with one bug each, for the checking mode to find in the memory of any device: they queue copies and fills of the
// device's backend, and no code of its own.
#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

namespace kp = kernpack;
using Out = kp::MutTensorView;

namespace {

constexpr uint64_t kItem = sizeof(float);

KpMemory At(kp::TensorView x, int64_t bytes = 0) {
  return {x.raw().data, x.raw().byte_offset + static_cast<uint64_t>(bytes), x.device()};
}
uint64_t Bytes(kp::TensorView x) { return static_cast<uint64_t>(x.nbytes()); }

void Copy(const KpMemory& from, const KpMemory& to, uint64_t bytes) {
  const KpDeviceApi& api = kp::device_api(from.device);
  kp::detail::check_host(api.copy(&api, &from, &to, bytes, kp::stream(from.device)));
}
void Fill(const KpMemory& to, uint64_t bytes, int32_t value) {
  const KpDeviceApi& api = kp::device_api(to.device);
  kp::detail::check_host(api.fill(&api, &to, bytes, value, kp::stream(to.device)));
}
void Copy(kp::TensorView x, Out out) { Copy(At(x), At(out), Bytes(x)); }
KpMemory At(const kp::Workspace& w, kp::TensorView like) { return {w.data(), 0, like.device()}; }

// ---- nothing wrong ----
void Fine(Out state, kp::TensorView x, Out out, Out scratch) {
  Copy(At(x), At(scratch), Bytes(x));
  Copy(At(scratch), At(out), Bytes(x));
  Fill(At(state), Bytes(state), 0);
}
void FineKept(kp::TensorView x, Out out) {  // 0, and 1 in each byte after that
  kp::Workspace w(x.device(), "kept", Bytes(x), kp::zeroed);
  Copy(At(w, x), At(out), Bytes(x));
  Fill(At(w, x), Bytes(x), 1);
}

// ---- bugs ----
void WritesInput(kp::TensorView x, Out out) {
  Copy(x, out);
  Fill(At(x, static_cast<int64_t>(kItem)), kItem, 0);
}
void WritesPastResult(kp::TensorView x, Out out) {
  Copy(x, out);
  Fill(At(out, static_cast<int64_t>(Bytes(out))), kItem, 0);
}
void WritesBeforeResult(kp::TensorView x, Out out) {
  Copy(x, out);
  Fill(At(out, -static_cast<int64_t>(kItem)), kItem, 0);
}
void WritesPastMutated(Out x) { Fill(At(x), Bytes(x) + kItem, 0); }
void ForgetsLast(kp::TensorView x, Out out) { Copy(At(x), At(out), Bytes(x) - kItem); }
void NeverWrites(kp::TensorView x, Out out) { (void)x, (void)out; }
void ReadsPastInput(kp::TensorView x, Out out) { Copy(At(x, static_cast<int64_t>(kItem)), At(out), Bytes(x)); }
void IgnoresOffset(kp::TensorView x, Out out) { Copy({x.raw().data, 0, x.device()}, At(out), Bytes(x)); }
void TrustsContractWorkspace(kp::TensorView x, Out out, Out scratch) { Copy(At(scratch), At(out), Bytes(x)); }
void WritesPastWorkspace(kp::TensorView x, Out out, Out scratch) {
  Copy(x, out);
  Fill(At(scratch), Bytes(scratch) + kItem, 0);
}
void TrustsWorkspace(kp::TensorView x, Out out) {
  kp::Workspace w(x.device(), "trusted", Bytes(x));
  Copy(At(w, x), At(out), Bytes(x));
}
void OverrunsWorkspace(kp::TensorView x, Out out) {
  Copy(x, out);
  kp::Workspace w(x.device(), "short", 64);
  Fill(At(w, x), 64 + kItem, 0);
}
void OverrunsZeroed(kp::TensorView x, Out out) {
  Copy(x, out);
  kp::Workspace w(x.device(), "zeroed_short", 64, kp::zeroed);
  Fill(At(w, x), 64 + kItem, 0);
}
void ReadsPastInts(kp::TensorView x, Out out) { ReadsPastInput(x, out); }
void StoresPointer(kp::TensorView x, Out out) {
  Copy(x, out);
  kp::storage_set("where", kp::Any(x.raw().data));
}
void WritesItem(kp::ListView<kp::TensorView> xs, Out out) {
  Copy(xs[0], out);
  Fill(At(xs[1]), kItem, 0);
}
void WritesHost(kp::TensorView x, kp::TensorView by, Out out) {
  Copy(x, out);
  *const_cast<float*>(by.data_ptr<float>()) = 7;
}

}  // namespace

KP_MODULE("planted_device", "1.0.0");
#define PLANT(name, function, signature)              \
  KP_EXPORT_FOR("toy", name, function, signature);    \
  KP_EXPORT_FOR("opencl", name, function, signature); \
  KP_EXPORT_FOR("cuda", name, function, signature)
#define ONE_TO_ONE "(x: f32[N]) -> (out: f32[N])"

PLANT(fine, Fine, "(state!: f32[M], x: f32[N]) -> (out: f32[N]) with workspace = 4 * N");
PLANT(fine_kept, FineKept, "(x: i32[N]) -> (out: i32[N])");
PLANT(writes_input, WritesInput, ONE_TO_ONE);
PLANT(writes_past_result, WritesPastResult, ONE_TO_ONE);
PLANT(writes_before_result, WritesBeforeResult, ONE_TO_ONE);
PLANT(writes_past_mutated, WritesPastMutated, "(x!: f32[N]) -> ()");
PLANT(forgets_last, ForgetsLast, ONE_TO_ONE);
PLANT(never_writes, NeverWrites, ONE_TO_ONE);
PLANT(reads_past_input, ReadsPastInput, ONE_TO_ONE);
PLANT(ignores_offset, IgnoresOffset, ONE_TO_ONE);
PLANT(trusts_contract_workspace, TrustsContractWorkspace, ONE_TO_ONE " with workspace = 4 * N");
PLANT(writes_past_workspace, WritesPastWorkspace, ONE_TO_ONE " with workspace = 4 * N");
PLANT(trusts_workspace, TrustsWorkspace, ONE_TO_ONE);
PLANT(overruns_workspace, OverrunsWorkspace, ONE_TO_ONE);
PLANT(overruns_zeroed, OverrunsZeroed, ONE_TO_ONE);
PLANT(reads_past_ints, ReadsPastInts, "(x: i32[N]) -> (out: i32[N]) with deterministic");
PLANT(stores_pointer, StoresPointer, ONE_TO_ONE);
PLANT(writes_item, WritesItem, "(xs: list[f32[N]]) -> (out: f32[N])");
PLANT(writes_host, WritesHost, "(x: f32[N], by: f32[] @cpu) -> (out: f32[N])");
