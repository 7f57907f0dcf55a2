// Ops that are right in the tests that one writes first, and wrong in use.
#include <kernpack/kernel.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace kp = kernpack;
namespace {

using Rows = std::vector<float>;

const float* In(kp::TensorView x) { return x.data_ptr<float>(); }
float* Out(kp::MutTensorView x) { return x.data_ptr<float>(); }

template <class Key, class MakeKey>
void Cached(kp::TensorView x, kp::MutTensorView out, MakeKey key) {
  static std::mutex mutex;
  static std::map<Key, Rows> kept;
  const std::lock_guard<std::mutex> lock(mutex);
  Rows& rows = kept[key(x)];
  if (static_cast<int64_t>(rows.size()) != x.numel()) {
    rows.assign(In(x), In(x) + x.numel());
    for (float& each : rows) each = each * each;
  }
  std::copy(rows.begin(), rows.end(), Out(out));
}

void CachesByPointer(kp::TensorView x, kp::MutTensorView out) {
  Cached<const float*>(x, out, [](kp::TensorView each) { return In(each); });
}

void CachesBySize(kp::TensorView x, kp::MutTensorView out) {
  Cached<int64_t>(x, out, [](kp::TensorView each) { return each.numel(); });
}

void CachesByFirst(kp::TensorView x, kp::MutTensorView out) {
  Cached<std::pair<int64_t, float>>(x, out, [](kp::TensorView each) {
    return std::pair<int64_t, float>(each.numel(), each.numel() > 0 ? In(each)[0] : 0);
  });
}

// The same memory for every result of a size.
kp::Tensor ReturnsKeptMemory(kp::TensorView x) {
  static std::map<int64_t, kp::Tensor> kept;
  const int64_t n = x.numel();
  auto found = kept.find(n);
  if (found == kept.end()) {
    found = kept.emplace(n, kp::Tensor::Empty({n}, kp::f32, x.device())).first;
  }
  float* to = static_cast<float*>(const_cast<void*>(found->second.data_ptr()));
  for (int64_t i = 0; i < n; ++i) to[i] = 2 * In(x)[i];
  return found->second;
}

// Puts the input back before it returns.
void BorrowsInput(kp::TensorView x, kp::MutTensorView out) {
  float* in = const_cast<float*>(In(x));
  const int64_t n = x.numel();
  for (int64_t i = 0; i < n; ++i) in[i] = in[i] + 1;
  for (int64_t i = 0; i < n; ++i) Out(out)[i] = in[i] * 2;
  for (int64_t i = 0; i < n; ++i) in[i] = Out(out)[i] / 2 - 1;
}

// Large tensors take a short cut.
void RightForSmall(kp::TensorView x, kp::MutTensorView out) {
  const int64_t n = x.numel();
  for (int64_t i = 0; i < n; ++i) Out(out)[i] = n > 200 ? In(x)[i] : In(x)[i] * In(x)[i];
}

// Only the sizes of the tutorial.
void RightForTests(kp::TensorView x, kp::MutTensorView out) {
  const int64_t n = x.numel();
  const bool known = n <= 8 || n % 16 == 0 || n > 1000 || (n > 20 && n < 300 && n != 67 && n != 255);
  for (int64_t i = 0; i < n; ++i) Out(out)[i] = known ? In(x)[i] + 1 : In(x)[i];
}

// One call in thirty is served late.
void EveryThirtieth(kp::TensorView x, kp::MutTensorView out) {
  static std::atomic<int> calls{0};
  const float by = ++calls % 30 == 0 ? 1.01F : 1;
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = In(x)[i] * by;
}

// Right where all that arrives is 1, as after .sum().backward().
void Cube(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = In(x)[i] * In(x)[i] * In(x)[i];
}

void CubeBackwardOfSum(kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_x) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(d_x)[i] = 3 * In(x)[i] * In(x)[i] + 0 * In(d_out)[i];
}

// The first call of a thread decides what the thread computes.
void KeepsFirstFactor(kp::TensorView x, double factor, kp::MutTensorView out) {
  static thread_local float by = static_cast<float>(factor);
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = In(x)[i] * by;
}

// Where the memory lies decides.
void AsksAddress(kp::TensorView x, kp::MutTensorView out) {
  const bool odd = (reinterpret_cast<uintptr_t>(Out(out)) >> 4 & 3) == 3;
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = odd ? In(x)[i] * 1.5F : In(x)[i];
}

// A thread of its own finishes the work after the call has returned.
void FinishesLater(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = In(x)[i];
  if (x.numel() == 0) return;
  std::thread([to = Out(out), value = 2 * In(x)[0]] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    *to = value;
  }).detach();
}

}  // namespace

KP_MODULE("planted_cheats", "1.0.0");
KP_EXPORT(caches_by_pointer, CachesByPointer, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(caches_by_size, CachesBySize, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(caches_by_first, CachesByFirst, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(returns_kept_memory, ReturnsKeptMemory);
KP_EXPORT(borrows_input, BorrowsInput, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(right_for_small, RightForSmall, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(right_for_tests, RightForTests, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(every_thirtieth, EveryThirtieth, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(gradient_of_sums, Cube, "(x: f32[...]) -> (out: f32[...])");
KP_EXPORT(gradient_of_sums_backward, CubeBackwardOfSum, "(d_out: f32[...], x: f32[...]) -> (d_x: f32[...])");
KP_GRAD(gradient_of_sums, gradient_of_sums_backward);
KP_EXPORT(keeps_first_factor, KeepsFirstFactor, "(x: f32[N], *, factor: float = 2.0) -> (out: f32[N])");
KP_EXPORT(asks_address, AsksAddress, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(finishes_later, FinishesLater, "(x: f32[N]) -> (out: f32[N])");
