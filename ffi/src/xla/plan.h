// A call's values, ready but for the addresses: XLA fixes every shape and dtype when it compiles a program, so they are
// viewed and checked against the signature at the first execution only. Immutable, and one piece of memory.
#ifndef KERNPACK_SRC_XLA_PLAN_H_
#define KERNPACK_SRC_XLA_PLAN_H_

#include <kernpack/host/host.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "xla/xla_ffi_abi.h"

namespace kernpack::xla {

class StaticCall;

struct Plan {
  static constexpr uint32_t kNoTensor = ~uint32_t{0};
  struct Alias {
    uint32_t operand;  // is written in place, and is also
    uint32_t result;  // both among the tensors
  };

  const char* name;  // of the function
  KpDLDevice device;
  size_t call_bytes;  // of an execution's copies: tensors, values, lists, one behind the other
  int64_t num_operands;
  int64_t num_tensors;  // operands, then results
  uint32_t num_values;  // of the call
  uint32_t num_all_values;  // behind those of the call come the items of lists
  uint32_t num_lists;
  uint32_t num_aliases;
  const KpDLTensor* tensors;  // shapes and strides are in the same memory
  const KpAny* values;  // constants are borrowed from the call
  const uint32_t* value_tensors;  // which tensor a value is; kNoTensor for what is none
  const DataType* dtypes;
  const KpSequenceObject* lists;
  const uint32_t* list_values;  // which value the list is; parallel to lists
  const uint32_t* list_items;  // the value of the list's first item; parallel to lists
  const Alias* aliases;

  struct Deleter {
    void operator()(const Plan* plan) const { ::operator delete(const_cast<Plan*>(plan)); }
  };
  using Owned = std::unique_ptr<const Plan, Deleter>;
};

// 0, or -1 with an error raised: the frame's operands and results do not fit the call or its signature.
int MakePlan(const CallFrame& frame, const StaticCall& call, KpDLDevice device, Plan::Owned* out);

// Whether the plan was made for this device and these shapes and dtypes. Reads nothing that the frame does not have.
bool Fits(const Plan& plan, const CallFrame& frame, KpDLDevice device);

// Copies values and lists to `memory` (call_bytes), behind room for the tensors, and points them at each other.
inline KpAny* CopyValues(const Plan& plan, KpDLTensor* memory) {
  auto* values = reinterpret_cast<KpAny*>(memory + plan.num_tensors);
  // NOLINTBEGIN(clang-analyzer-core.*): a plan in use points at its values and lists
  for (uint32_t i = 0; i < plan.num_all_values; ++i) {
    values[i] = plan.values[i];
    if (plan.value_tensors[i] != Plan::kNoTensor) values[i].v.v_tensor = memory + plan.value_tensors[i];
  }
  if (plan.num_lists == 0) return values;
  auto* lists = reinterpret_cast<KpSequenceObject*>(values + plan.num_all_values);
  std::memcpy(lists, plan.lists, plan.num_lists * sizeof(KpSequenceObject));
  for (uint32_t i = 0; i < plan.num_lists; ++i) {
    lists[i].data = values + plan.list_items[i];
    values[plan.list_values[i]].v.v_obj = &lists[i].header;
  }
  return values;
  // NOLINTEND(clang-analyzer-core.*)
}

}  // namespace kernpack::xla

#endif  // KERNPACK_SRC_XLA_PLAN_H_
