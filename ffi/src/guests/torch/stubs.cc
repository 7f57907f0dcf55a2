// torch's boxed kernels carry no pointer of their own, so each operator gets a function of its own from this pool.
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/os/thread.h"
#include "guests/torch/op.h"
#include "guests/torch/throw.h"

namespace kernpack::torch {
namespace {

constexpr size_t kStubs = 2048;
std::atomic<const Op*> g_ops[kStubs];
std::atomic<size_t> g_taken{0};

struct Raised {
  Throw thrower;
  const char* text;  // valid until the next error of this thread
};

constexpr size_t kTextBytes = 4096;

const os::ThreadValue g_text(std::free);

// This thread's kTextBytes for the text of an error, freed with the thread; NULL when there is no memory. Not thread_local: see
// -ftls-model in ffi/CMakeLists.txt.
char* ThreadText() noexcept {
  void* text = g_text.Get();
  if (text == nullptr) {
    text = std::malloc(kTextBytes);
    g_text.Set(text);
  }
  return static_cast<char*>(text);
}

Raised TakeRaised(const char* who) noexcept {
  KpAny error = kp_none();
  kp_error_take(who, -1, &error);
  const auto* object = reinterpret_cast<const KpErrorObject*>(error.v.v_obj);
  const bool value_error = std::strcmp(object->kind.data, "ValueError") == 0;
  char* const text = ThreadText();
  if (text != nullptr) {
    std::snprintf(text, kTextBytes, "%s%s%s", value_error ? "" : object->kind.data, value_error ? "" : ": ",
                  object->message.data);
  }
  kp_any_release(&error);
  // std::invalid_argument and std::runtime_error of the C++ library that torch itself uses, whatever ours is.
  return {FindThrow(value_error), text != nullptr ? text : who};
}

// No destructor may be pending here or in a stub: the exception is not one of our own runtime library's.
void Run(size_t slot, Value* stack, uint64_t num_inputs, uint64_t num_outputs) {
  const Op* op = g_ops[slot].load(std::memory_order_acquire);
  if (__builtin_expect(CallOp(*op, stack, num_inputs, num_outputs) == 0, 1)) return;
  const Raised raised = TakeRaised(op->function->name);
  if (raised.thrower == nullptr) throw std::runtime_error(raised.text);  // no libstdc++: torch is built with ours
  raised.thrower(raised.text);
}

template <size_t kSlot>
void Stub(Value* stack, uint64_t num_inputs, uint64_t num_outputs) {
  Run(kSlot, stack, num_inputs, num_outputs);
}

template <size_t... kSlots>
constexpr std::array<BoxedKernel, sizeof...(kSlots)> MakeStubs(std::index_sequence<kSlots...>) {
  return {&Stub<kSlots>...};
}

constexpr auto kTable = MakeStubs(std::make_index_sequence<kStubs>());

}  // namespace

BoxedKernel TakeStub(const Op* op) {
  const size_t slot = g_taken.fetch_add(1, std::memory_order_relaxed);
  if (slot >= kStubs) {
    kp_raise("RuntimeError",
             "%s: cannot become a torch operator: this process has registered %zu kernel functions with torch already, "
             "which is the limit",
             op->function->name, kStubs);
    return nullptr;
  }
  g_ops[slot].store(op, std::memory_order_release);
  return kTable[slot];
}

}  // namespace kernpack::torch
