// Contracts that the functions of a foreign module get when it is loaded (kp_module_load_contracts), and calls by them: from our calling
// convention to the arguments that the function takes.
#ifndef KERNPACK_SRC_GUESTS_PEER_CONTRACTS_H_
#define KERNPACK_SRC_GUESTS_PEER_CONTRACTS_H_

#include <string>
#include <string_view>
#include <vector>

#include <kernpack/abi.h>

#include "modules/loaded_module.h"

namespace kernpack::host {

// One argument of the foreign function.
struct PassedArgument {
  enum class From { kValue, kDim, kConstant };
  From from;
  int32_t index;  // kValue, kDim: of our parameters and then results
  int32_t axis;  // kDim: from the front, or, below 0, from the back
  KpAny constant;
  std::string dim;  // for messages
};

// Immortal, as its module.
struct ContractCall {
  KpSafeCall call;
  void* self;
  std::string name;  // ours
  std::string foreign;  // its own
  int32_t num_args;  // of our convention
  std::vector<PassedArgument> args;
};

inline constexpr size_t kMostPassedArguments = 128;

// `self` is a ContractCall.
int CallByContract(void* self, const KpAny* args, int32_t num_args, KpAny* result);

// Gives functions of the module at `path` the contracts, which are JSON. 0, or -1 with ValueError raised that says which contract of
// which file is wrong.
int AddContracts(std::string_view contracts, const char* path, MadeTable* table);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_GUESTS_PEER_CONTRACTS_H_
