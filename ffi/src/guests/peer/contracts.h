// Contracts that the functions of a foreign module get when it is loaded (kp_module_load_contracts).
#ifndef KERNPACK_SRC_GUESTS_PEER_CONTRACTS_H_
#define KERNPACK_SRC_GUESTS_PEER_CONTRACTS_H_

#include <string_view>

#include "modules/loaded_module.h"

namespace kernpack::host {

// Gives functions of the module at `path` the contracts, which are JSON. 0, or -1 with ValueError raised that says which contract of
// which file is wrong.
int AddContracts(std::string_view contracts, const char* path, MadeTable* table);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_GUESTS_PEER_CONTRACTS_H_
