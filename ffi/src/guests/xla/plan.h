// A call's values, ready but for the addresses: XLA fixes every shape and dtype when it compiles a program, so they are
// viewed and checked against the signature at the first execution only. Immutable, and one piece of memory.
#ifndef KERNPACK_SRC_GUESTS_XLA_PLAN_H_
#define KERNPACK_SRC_GUESTS_XLA_PLAN_H_

#include <kernpack/host/host.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "guests/xla/xla_ffi_abi.h"

namespace kernpack::xla {

class StaticCall;

struct Plan {
  struct TensorValue {
    uint32_t value;  // is
    uint32_t tensor;  // a view of this one
  };
  struct Alias {
    uint32_t operand;  // is written in place, and is also
    uint32_t result;  // both among the tensors
  };

  const char* name;  // of the function
  KpDLDevice device;
  size_t call_bytes;  // of what each execution copies: tensors, values, lists, one behind the other, from `tensors` on
  int64_t num_operands;
  int64_t num_tensors;  // operands, then results
  uint32_t num_values;  // of the call
  uint32_t num_all_values;  // behind those of the call come the items of lists
  uint32_t num_tensor_values;
  uint32_t num_lists;
  uint32_t num_aliases;
  const KpDLTensor* tensors;  // shapes and strides are in the same memory
  const KpAny* values;  // constants are borrowed from the call
  const KpSequenceObject* lists;
  const TensorValue* tensor_values;
  const DataType* dtypes;
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

// True if the plan was made for this device and these shapes and dtypes. Reads only fields that the frame has.
bool Fits(const Plan& plan, const CallFrame& frame, KpDLDevice device);

// Copies what an execution needs to `memory` (call_bytes) and points its parts at each other; the values. The tensors, which are
// first in it, have no addresses yet.
inline KpAny* Copy(const Plan& plan, KpDLTensor* memory) {
  std::memcpy(memory, plan.tensors, plan.call_bytes);
  auto* values = reinterpret_cast<KpAny*>(memory + plan.num_tensors);
  // NOLINTBEGIN(clang-analyzer-core.*): a plan in use points at its values and lists
  for (uint32_t i = 0; i < plan.num_tensor_values; ++i) {
    values[plan.tensor_values[i].value].v.v_tensor = memory + plan.tensor_values[i].tensor;
  }
  if (plan.num_lists == 0) return values;
  auto* lists = reinterpret_cast<KpSequenceObject*>(values + plan.num_all_values);
  for (uint32_t i = 0; i < plan.num_lists; ++i) {
    lists[i].data = values + plan.list_items[i];
    values[plan.list_values[i]].v.v_obj = &lists[i].header;
  }
  return values;
  // NOLINTEND(clang-analyzer-core.*)
}

}  // namespace kernpack::xla

#endif  // KERNPACK_SRC_GUESTS_XLA_PLAN_H_
