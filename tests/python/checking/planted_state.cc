// Kernels with one bug each in what they keep or make beside the tensors of a call: workspaces, storage, new tensors, threads
// and the thread's state. The last ones are right. planted.cc has the bugs in the tensors of a call.
#include <kernpack/kernel.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstring>
#include <thread>

namespace kp = kernpack;
using Out = kp::MutTensorView;  // results, and workspaces of contracts

namespace {

float* Writable(kp::TensorView x) { return const_cast<float*>(x.data_ptr<float>()); }
const float* In(kp::TensorView x) { return x.data_ptr<float>(); }
float* To(Out x) { return x.data_ptr<float>(); }
void Copy(kp::TensorView x, Out out) {
  for (int64_t i = 0; i < x.numel(); ++i) To(out)[i] = In(x)[i];
}

// ---- scratch memory that is taken for clean ----
void TrustsContractWorkspace(kp::TensorView x, Out out, Out scratch) {
  auto* sums = static_cast<float*>(scratch.data_ptr());
  for (int64_t i = 0; i < x.numel(); ++i) sums[i % 4] += In(x)[i];
  To(out)[0] = sums[0] + sums[1] + sums[2] + sums[3];
}
void TrustsWorkspace(kp::TensorView x, Out out) {
  kp::Workspace w(kp::Device::cpu(), "sums", 64);
  auto* sums = w.data_as<float>();
  for (int64_t i = 0; i < x.numel(); ++i) sums[i % 4] += In(x)[i];
  To(out)[0] = sums[0] + sums[1] + sums[2] + sums[3];
}
void KeepsInWorkspace(kp::TensorView x, Out out) {  // what the call before left is taken for this one's
  kp::Workspace w(kp::Device::cpu(), "kept", 64);
  auto* kept = w.data_as<float>();
  To(out)[0] = kept[0];
  kept[0] = In(x)[0];
}
void OverrunsWorkspace(kp::TensorView x, Out out) {
  Copy(x, out);
  kp::Workspace w(kp::Device::cpu(), "short", 100);
  std::memset(w.data(), 0, 104);
}
void OverrunsZeroed(kp::TensorView x, Out out) {
  Copy(x, out);
  kp::Workspace w(kp::Device::cpu(), "zeroed_short", 64, kp::zeroed);
  w.data_as<int64_t>()[8] = 1;
}
void ZeroesTooLate(kp::TensorView x, Out out) {  // one key, once with and once without zeroed: who comes first decides
  Copy(x, out);
  kp::Workspace plain(kp::Device::cpu(), "both", 64);
  kp::Workspace zeroed(kp::Device::cpu(), "both", 64, kp::zeroed);
}
void OverrunsInThreads(kp::TensorView x, Out out) {
  kp::parallel_for(x.numel(), 1, [&](int64_t begin, int64_t end) {
    kp::Workspace w(kp::Device::cpu(), "each", 16);
    for (int64_t i = begin; i < end; ++i) {
      w.data_as<float>()[4] = In(x)[i];
      To(out)[i] = In(x)[i];
    }
  });
}
float* g_kept = nullptr;
void KeepsPointer(kp::TensorView x, Out out) {  // a pointer outlives the call that it was lent to
  Copy(x, out);
  if (g_kept) g_kept[0] = 5;
  g_kept = Writable(x);
}
float* g_scratch = nullptr;
void KeepsWorkspacePointer(kp::TensorView x, Out out, Out scratch) {
  if (!g_scratch) g_scratch = static_cast<float*>(scratch.data_ptr());
  for (int64_t i = 0; i < x.numel(); ++i) g_scratch[i] = In(x)[i];
  for (int64_t i = 0; i < x.numel(); ++i) To(out)[i] = g_scratch[i];
}
void CountsInWorkspace(kp::TensorView ids, Out out, Out scratch) {
  auto* seen = static_cast<bool*>(scratch.data_ptr());
  int32_t count = 0;
  for (int64_t i = 0; i < ids.numel(); ++i) {
    uint8_t byte = 0;
    std::memcpy(&byte, seen + ids.data_ptr<int32_t>()[i], 1);
    if (byte) continue;
    seen[ids.data_ptr<int32_t>()[i]] = true;
    ++count;
  }
  *out.data_ptr<int32_t>() = count;
}
void AsksKeptWorkspace(kp::TensorView x, Out out) {
  kp::Workspace w(kp::Device::cpu(), "asked", 64);
  *out.data_ptr<int32_t>() = w.data_as<int32_t>()[3] ? static_cast<int32_t>(In(x)[0]) : -1;
}

// ---- storage ----
void ChangesType(kp::TensorView x, Out out) {
  Copy(x, out);
  kp::storage_set("plan", int64_t{1});
  kp::storage_set("plan", kp::Any(kp::String("not a number any more")));
}
void StoresPointer(kp::TensorView x, Out out) {
  Copy(x, out);
  kp::storage_set("where", kp::Any(static_cast<void*>(Writable(x))));
}
void FactoryChangesType(kp::TensorView x, Out out) {
  Copy(x, out);
  kp::storage_get_or_init("table", [] {
    kp::storage_set("table", int64_t{1});  // and then makes another thing of it
    return kp::String("not a number");
  });
}
void FactoryStoresPointer(kp::TensorView x, Out out) {
  Copy(x, out);
  kp::storage_get_or_init("made_where", [&] { return kp::Any(static_cast<void*>(Writable(x))); });
}
void StoresPointerInList(kp::TensorView x, Out out) {
  Copy(x, out);
  kp::storage_set("wheres", kp::Any(kp::Array{kp::Any(int64_t{1}), kp::Any(static_cast<void*>(To(out)))}));
}
void StoresWorkspacePointer(kp::TensorView x, Out out) {
  Copy(x, out);
  kp::Workspace w(kp::Device::cpu(), "stored", 64);
  kp::storage_set("scratch", kp::Any(w.data()));
}
float* g_host_scratch = nullptr;
void KeepsPointerToWorkspace(kp::TensorView x, Out out) {
  kp::Workspace w(kp::Device::cpu(), "pointed_to", 64);
  if (!g_host_scratch) g_host_scratch = w.data_as<float>();
  g_host_scratch[0] = In(x)[0];
  Copy(x, out);
}

// ---- tensors of Tensor::Empty ----
void OverrunsEmpty(kp::TensorView x, Out out) {
  Copy(x, out);
  kp::Tensor t = kp::Tensor::Empty(x.sizes(), kp::f32);
  kp::MutTensorView(t).data_ptr<float>()[x.numel()] = 1;
}
void TrustsEmpty(kp::TensorView x, Out out) {
  kp::Tensor t = kp::Tensor::Empty({4}, kp::f32);
  To(out)[0] = In(x)[0] + kp::TensorView(t).data_ptr<float>()[1];
}
void WritesReleased(kp::TensorView x, Out out) {
  Copy(x, out);
  float* released = kp::MutTensorView(kp::Tensor::Empty(x.sizes(), kp::f32)).data_ptr<float>();
  released[0] = 1;
}
void OverrunsStored(kp::TensorView x, Out out) {  // at the second call
  Copy(x, out);
  const bool first = !kp::storage_get("rows");
  const kp::Tensor rows =
      kp::storage_get_or_init("rows", [] { return kp::Tensor::Empty({8}, kp::i32); }).cast<kp::Tensor>();
  if (!first) kp::MutTensorView(rows).data_ptr<int32_t>()[8] = 1;
}
void OverrunsOneOfMany(kp::TensorView x, Out out) {
  Copy(x, out);
  for (int i = 0; i < 1000; ++i) {
    kp::Tensor t = kp::Tensor::Empty({4}, kp::u8);
    kp::MutTensorView(t).data_ptr<uint8_t>()[i == 7 ? 4 : 0] = 1;
  }
}
kp::Tensor ReturnsOverrun(int64_t n) {
  kp::Tensor t = kp::Tensor::Empty({n}, kp::i64);
  for (int64_t i = 0; i <= n; ++i) kp::MutTensorView(t).data_ptr<int64_t>()[i] = i;
  return t;
}

// ---- threads of parallel_for ----
// Runs f on a thread that is not the call's, if there is any. On a crowded machine parallel_for may leave all chunks to the
// call's thread for a while, so it is tried again.
template <class F>
void OnAnotherThread(F f) {
  using Clock = std::chrono::steady_clock;
  const auto mine = std::this_thread::get_id();
  const bool alone = kp::num_threads() < 2;
  const auto deadline = Clock::now() + std::chrono::seconds(60);
  std::atomic<bool> done{false};
  while (!done) {
    KP_CHECK(Clock::now() < deadline, RuntimeError) << "no other thread took a chunk within a minute";
    const auto patience = Clock::now() + std::chrono::milliseconds(50);
    kp::parallel_for(2, 1, [&](int64_t, int64_t) {
      if (!alone && std::this_thread::get_id() == mine) {
        while (!done && Clock::now() < patience) std::this_thread::yield();
      } else if (!done.exchange(true)) {
        f();
      }
    });
  }
}
void OverrunsZeroedInThreads(kp::TensorView x, Out out) {
  Copy(x, out);
  OnAnotherThread([] {
    kp::Workspace w(kp::Device::cpu(), "each_zeroed", 16, kp::zeroed);
    w.data_as<float>()[4] = 1;
  });
}
void LeavesRoundingInThreads(kp::TensorView x, Out out) {
  Copy(x, out);
  OnAnotherThread([] { std::fesetround(FE_UPWARD); });
}

// ---- the thread's state ----
void LeavesRounding(kp::TensorView x, Out out) {
  std::fesetround(FE_UPWARD);
  Copy(x, out);
}
void LeavesDenormals(kp::TensorView x, Out out) {
#if defined(__SSE__)
  __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#else
  std::fesetround(FE_DOWNWARD);
#endif
  Copy(x, out);
}

// ---- nothing wrong: no check may complain ----
int64_t FineTicks() {
  kp::Workspace w(kp::Device::cpu(), "ticks", sizeof(int64_t), kp::zeroed);
  return ++*w.data_as<int64_t>();
}
int64_t FineTicksInThreads() {
  int64_t ticks = 0;
  OnAnotherThread([&] {
    kp::Workspace w(kp::Device::cpu(), "ticks_in_threads", sizeof ticks, kp::zeroed);
    ticks = ++*w.data_as<int64_t>();
  });
  return ticks;
}
kp::Tensor FineTensor(kp::TensorView x) {
  for (int i = 0; i < 3; ++i) kp::Tensor::EmptyLike(x);
  kp::Tensor t = kp::Tensor::EmptyLike(x);
  std::memcpy(kp::MutTensorView(t).data_ptr(), x.data_ptr(), static_cast<size_t>(x.nbytes()));
  return t;
}
// Counts in a workspace while it calls back, which may come here again.
int64_t FineTicksAround(kp::Function callback) {
  kp::Workspace w(kp::Device::cpu(), "ticks_around", sizeof(int64_t), kp::zeroed);
  ++*w.data_as<int64_t>();
  callback();
  return *w.data_as<int64_t>();
}
// True if a workspace is the same one when it is asked for again.
bool FineAgain(kp::Function callback) {
  kp::Workspace first(kp::Device::cpu(), "again", 64, kp::zeroed);
  callback();
  kp::Workspace second(kp::Device::cpu(), "again", 64, kp::zeroed);
  return first.data() == second.data();
}

}  // namespace

KP_MODULE("planted_state", "1.0.0");
KP_EXPORT(trusts_contract_workspace, TrustsContractWorkspace, "(x: f32[N]) -> (out: f32[]) with workspace = 16");
KP_EXPORT(trusts_workspace, TrustsWorkspace, "(x: f32[N]) -> (out: f32[])");
KP_EXPORT(keeps_in_workspace, KeepsInWorkspace, "(x: f32[N]) -> (out: f32[])");
KP_EXPORT(overruns_workspace, OverrunsWorkspace, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(overruns_zeroed, OverrunsZeroed, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(overruns_in_threads, OverrunsInThreads, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(zeroes_too_late, ZeroesTooLate, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(keeps_pointer, KeepsPointer, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(changes_type, ChangesType, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(stores_pointer, StoresPointer, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(factory_changes_type, FactoryChangesType, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(factory_stores_pointer, FactoryStoresPointer, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(stores_pointer_in_list, StoresPointerInList, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(stores_workspace_pointer, StoresWorkspacePointer, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(keeps_pointer_to_workspace, KeepsPointerToWorkspace, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(overruns_empty, OverrunsEmpty, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(trusts_empty, TrustsEmpty, "(x: f32[N]) -> (out: f32[])");
KP_EXPORT(writes_released, WritesReleased, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(overruns_stored, OverrunsStored, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(overruns_one_of_many, OverrunsOneOfMany, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(returns_overrun, ReturnsOverrun);
KP_EXPORT(overruns_zeroed_in_threads, OverrunsZeroedInThreads, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(leaves_rounding_in_threads, LeavesRoundingInThreads, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(leaves_rounding, LeavesRounding, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(leaves_denormals, LeavesDenormals, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(keeps_workspace_pointer, KeepsWorkspacePointer, "(x: f32[N]) -> (out: f32[N]) with workspace = 4 * N");
KP_EXPORT(counts_in_workspace, CountsInWorkspace, "(ids: i32[N]) -> (out: i32[]) with deterministic, workspace = 64");
KP_EXPORT(asks_kept_workspace, AsksKeptWorkspace, "(x: f32[N]) -> (out: i32[]) with deterministic");
KP_EXPORT(fine_ticks, FineTicks);
KP_EXPORT(fine_ticks_in_threads, FineTicksInThreads);
KP_EXPORT(fine_tensor, FineTensor);
KP_EXPORT(fine_ticks_around, FineTicksAround);
KP_EXPORT(fine_again, FineAgain);
