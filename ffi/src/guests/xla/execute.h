// Running a call site: its plan's tensors get their addresses, on the stack, and the function is called. In a header, because
// a handler is little more than this.
#ifndef KERNPACK_SRC_GUESTS_XLA_EXECUTE_H_
#define KERNPACK_SRC_GUESTS_XLA_EXECUTE_H_

#include <cstddef>
#include <memory>

#include <kernpack/signature/typed_call.h>

#include "devices/call/context.h"
#include "guests/xla/call_site.h"
#include "guests/xla/plan.h"
#include "guests/xla/xla_ffi_abi.h"

namespace kernpack::xla {

inline void FillAddresses(const Plan& plan, const CallFrame& frame, KpDLTensor* tensors) {
  const auto fill = [&](void* const* buffers, int64_t count) {
    for (int64_t i = 0; i < count; ++i, ++tensors) tensors->data = static_cast<const Buffer*>(buffers[i])->data;
  };
  fill(frame.arguments.items, plan.num_operands);
  fill(frame.results.items, plan.num_tensors - plan.num_operands);
}

inline int CheckAliases(const Plan& plan, const KpDLTensor* tensors) {
  for (uint32_t i = 0; i < plan.num_aliases; ++i) {
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): aliases are among the tensors just filled
    if (tensors[plan.aliases[i].operand].data == tensors[plan.aliases[i].result].data) continue;
    return kp_raise("TypeError",
                    "%s: a parameter written in place needs input_output_aliases in the XLA call; call the function "
                    "through kernpack.jax",
                    plan.name);
  }
  return 0;
}

inline bool IsFor(const Plan& plan, const CallFrame& frame, KpDLDevice device) {
  return frame.arguments.size == plan.num_operands && frame.results.size == plan.num_tensors - plan.num_operands &&
         host::SameDevice(plan.device, device);
}

inline int FindPlan(const CallFrame& frame, KpDLDevice device, CallSite* site, const Plan** out) {
  if (site->call->FindPlan(frame, device, out)) return -1;
  site->plan.store(*out, std::memory_order_release);
  return 0;
}

// `memory` has room for the plan's call_bytes.
inline int Run(const Plan& plan, const CallFrame& frame, KpDLTensor* memory, KpSafeCall call, void* self,
               KpCallContext* context) {
  const KpAny* values = Copy(plan, memory);
  FillAddresses(plan, frame, memory);
  if (plan.num_aliases && CheckAliases(plan, memory)) return -1;
  const host::CallScope scope(context);
  return signature::RunKernel({call, self}, values, static_cast<int>(plan.num_values));
}

// 0, or -1 with an error raised. `device` is where the buffers are; `context` is entered for the call.
inline int Execute(const CallFrame& frame, CallSite* site, KpDLDevice device, KpSafeCall call, void* self,
                   KpCallContext* context) {
  // Shapes are static in XLA: what the first execution saw holds for all.
  const Plan* plan = site->plan.load(std::memory_order_acquire);
  if ((!plan || !IsFor(*plan, frame, device)) && FindPlan(frame, device, site, &plan)) return -1;
  if (plan->call_bytes <= 4096) {
    alignas(16) std::byte memory[4096];
    return Run(*plan, frame, reinterpret_cast<KpDLTensor*>(memory), call, self, context);
  }
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(plan->call_bytes);
  return Run(*plan, frame, reinterpret_cast<KpDLTensor*>(memory.get()), call, self, context);
}

}  // namespace kernpack::xla

#endif  // KERNPACK_SRC_GUESTS_XLA_EXECUTE_H_
