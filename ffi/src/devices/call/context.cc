#include "devices/call/context.h"

namespace kernpack::host {
namespace {

constinit thread_local KpCallContext* t_call = nullptr;

}  // namespace

KpCallContext* CurrentCall() noexcept { return t_call; }

KpCallContext** CallSlot() noexcept { return &t_call; }

void* CurrentStream(KpDLDevice device) noexcept {
  for (const KpCallContext* call = t_call; call != nullptr; call = call->outer) {
    if (SameDevice(call->device, device)) return call->stream;
  }
  return ThreadStream(device);
}

void** CallStream(KpDLDevice device) noexcept {
  for (KpCallContext* call = t_call; call != nullptr; call = call->outer) {
    if (SameDevice(call->device, device)) return &call->stream;
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
