// The attributes of a custom call of a compiled XLA program, decoded once. Call sites with equal attributes share one object: a
// model repeats its layers, and a shared object stays in the processor's cache from one layer to the next.
#ifndef KERNPACK_SRC_GUESTS_XLA_STATIC_CALL_H_
#define KERNPACK_SRC_GUESTS_XLA_STATIC_CALL_H_

#include <kernpack/host/host.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "guests/xla/plan.h"
#include "guests/xla/xla_ffi_abi.h"

namespace kernpack::xla {

class AttributeReader;

class StaticCall {
 public:
  // How one parameter is made at each execution.
  struct Argument {
    enum Kind { kConstant, kTensor, kTensorList } kind = kConstant;
    bool mutated = false;  // each of its buffers is also, in place, one of the first results
    int32_t count = 0;  // buffers taken: 1 for a tensor, the length of a list
    KpAny constant = {};  // owned
  };

  // One made from these attributes, or an earlier one that says the same. 0, or -1 with an error raised.
  static int Find(const Attributes& attributes, std::shared_ptr<StaticCall>* out);
  StaticCall() = default;
  StaticCall(const StaticCall&) = delete;
  StaticCall& operator=(const StaticCall&) = delete;
  ~StaticCall();

  // The plan for the shapes of this frame; lives as long as the call. 0, or -1 with an error raised. Takes a lock: for the first
  // execution of a call site.
  int FindPlan(const CallFrame& frame, KpDLDevice device, const Plan** out);

  const KpLoadedFunction* function = nullptr;
  bool has_workspace = false;  // one more result behind the others
  int32_t num_buffers = 0;  // expected operands
  int32_t num_mutated = 0;  // leading results that alias operands
  int32_t num_results = 0;  // results of the signature
  std::vector<Argument> arguments;

 private:
  int Decode(const Attributes& attributes);
  int AddParameter(AttributeReader& reader, int32_t index, bool is_none);

  std::vector<Plan::Owned> plans_;  // guarded by the lock of all calls
};

}  // namespace kernpack::xla

#endif  // KERNPACK_SRC_GUESTS_XLA_STATIC_CALL_H_
