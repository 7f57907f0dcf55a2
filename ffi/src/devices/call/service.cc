// Services of the current call for its kernel: the stream, new tensors, the check for Ctrl-C.
#include <atomic>

#include <kernpack/host/device.h>

#include "base/guard.h"
#include "devices/call/context.h"
#include "devices/observers.h"
#include "base/call_flags.h"
#include "base/services.h"
#include "values/object/object.h"

namespace kernpack::host {
namespace {

constinit std::atomic<int (*)()> g_interrupt_check = nullptr;

int Interrupted(int (*check)()) noexcept {
  if (check == nullptr || check() == 0) return 0;
  return kp_error_pending() ? -1 : kp_raise("KeyboardInterrupt", "interrupted");
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

void kp_set_interrupt_check(int (*check)()) { g_interrupt_check.store(check, std::memory_order_relaxed); }

namespace kernpack::host::service {

int current_stream(const KpHost*, KpDLDevice device, void** out) noexcept {
  *out = CurrentStream(device);
  return 0;
}

int tensor_alloc(const KpHost*, const KpDLTensor* prototype, KpAny* out) noexcept {
  *out = kp_none();
  bool served = false;
  if (check::Checking() &&
      Guard("tensor_alloc", [&] { return kObservers.tensor_alloc(prototype, out, &served); }) != 0) {
    return -1;
  }
  if (served) return 0;
  for (const KpCallContext* call = CurrentCall(); call != nullptr; call = call->outer) {
    if (call->tensor_alloc != nullptr) return call->tensor_alloc(call->tensor_alloc_context, prototype, out);
  }
  if (prototype == nullptr || prototype->device.device_type == KP_DEVICE_CPU) return kp_tensor_new(prototype, out);
  const KpDLDevice device = prototype->device;
  OwnedAny reason;
  int32_t count = 0;
  if (kp_device_count(device.device_type, &count, reason.out()) != 0) return -1;
  if (count > 0) return kp_tensor_alloc(prototype, KpBytes{nullptr, 0}, out);
  KpBytes why{};
  kp_any_str(&reason.get(), &why);
  return kp_raise("RuntimeError",
                  "no allocator for device %s:%d in this call; pass a tensor of a framework on that device, or the "
                  "destination itself (out=): %.*s",
                  kp_device_type_name(device.device_type), device.device_id, static_cast<int>(why.size), why.data);
}

int check_interrupts(const KpHost*) noexcept {
  for (const KpCallContext* call = CurrentCall(); call != nullptr; call = call->outer) {
    if (call->check_interrupts != nullptr) return Interrupted(call->check_interrupts);
  }
  return Interrupted(g_interrupt_check.load(std::memory_order_relaxed));
}

}  // namespace kernpack::host::service
