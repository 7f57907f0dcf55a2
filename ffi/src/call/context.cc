#include "call/context.h"

#include <atomic>

#include "host/services.h"

namespace kernpack::host {
namespace {

constinit thread_local KpCallContext* t_call = nullptr;
constinit std::atomic<int (*)()> g_interrupt_check = nullptr;

int Interrupted(int (*check)()) noexcept {
  if (check == nullptr || check() == 0) return 0;
  return kp_error_pending() ? -1 : kp_raise("KeyboardInterrupt", "interrupted");
}

}  // namespace

KpCallContext* CurrentCall() noexcept { return t_call; }

KpCallContext** CallSlot() noexcept { return &t_call; }

void* CurrentStream(KpDLDevice device) noexcept {
  for (const KpCallContext* call = t_call; call != nullptr; call = call->outer) {
    if (SameDevice(call->device, device)) return call->stream;
  }
  return nullptr;
}

}  // namespace kernpack::host

using namespace kernpack::host;

void kp_call_enter(KpCallContext* context) {
  context->outer = t_call;
  t_call = context;
}

void kp_call_leave(KpCallContext* context) { t_call = context->outer; }

void kp_set_interrupt_check(int (*check)()) { g_interrupt_check.store(check, std::memory_order_relaxed); }

namespace kernpack::host::service {

int current_stream(const KpHost*, KpDLDevice device, void** out) noexcept {
  *out = CurrentStream(device);
  return 0;
}

int tensor_alloc(const KpHost*, const KpDLTensor* prototype, KpAny* out) noexcept {
  *out = kp_none();
  for (const KpCallContext* call = t_call; call != nullptr; call = call->outer) {
    if (call->tensor_alloc != nullptr) return call->tensor_alloc(call->tensor_alloc_context, prototype, out);
  }
  if (prototype != nullptr && prototype->device.device_type != KP_DEVICE_CPU) {
    return kp_raise("RuntimeError",
                    "no allocator for device %s:%d in this call; pass a tensor of a framework on that device, or the "
                    "destination itself (out=)",
                    kp_device_type_name(prototype->device.device_type), prototype->device.device_id);
  }
  return kp_tensor_new(prototype, out);
}

int check_interrupts(const KpHost*) noexcept {
  for (const KpCallContext* call = t_call; call != nullptr; call = call->outer) {
    if (call->check_interrupts != nullptr) return Interrupted(call->check_interrupts);
  }
  return Interrupted(g_interrupt_check.load(std::memory_order_relaxed));
}

}  // namespace kernpack::host::service
