// Calls of a foreign function by a contract.
#include <array>

#include <kernpack/host/host.h>

#include "guests/peer/contracts.h"

namespace kernpack::host {
namespace {

int Fill(const ContractCall& by, const PassedArgument& wanted, const KpAny* args, KpAny* out) {
  if (wanted.from == PassedArgument::From::kConstant) {
    *out = wanted.constant;
    return 0;
  }
  if (wanted.from == PassedArgument::From::kValue) {
    *out = args[wanted.index];
    return 0;
  }
  const KpDLTensor* tensor = kp_any_tensor(&args[wanted.index]);
  if (tensor == nullptr) {
    return kp_raise("ValueError",
                    "%s: expected the tensor that has the dim %s, which is passed to %s, got None: pass the tensor",
                    by.name.c_str(), wanted.dim.c_str(), by.foreign.c_str());
  }
  *out = kp_none();
  out->type_index = KP_TYPE_INT;
  out->v.v_int = tensor->shape[wanted.axis < 0 ? tensor->ndim + wanted.axis : wanted.axis];
  return 0;
}

}  // namespace

int CallByContract(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  const auto& by = *static_cast<const ContractCall*>(self);
  if (num_args != by.num_args) {
    return kp_raise("TypeError", "%s: expected %d arguments, the parameters and a tensor for each result, got %d",
                    by.name.c_str(), by.num_args, num_args);
  }
  std::array<KpAny, kMostPassedArguments> passed;
  for (size_t i = 0; i < by.args.size(); ++i) {
    if (Fill(by, by.args[i], args, &passed[i]) != 0) return -1;
  }
  if (const int rc = by.call(by.self, passed.data(), static_cast<int32_t>(by.args.size()), result); rc != 0) return rc;
  if (result->type_index == KP_TYPE_NONE) return 0;
  // The function put its results into new tensors; those of the contract's results were perhaps never written.
  const int rc = kp_raise("TypeError",
                          "%s: expected %s to write its results to its arguments and to return None, but it returned "
                          "a value of type %s: a function that returns its results can't have a contract",
                          by.name.c_str(), by.foreign.c_str(), kp_type_name(result->type_index));
  kp_any_release(result);
  *result = kp_none();
  return rc;
}

}  // namespace kernpack::host
