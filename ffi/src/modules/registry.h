// The modules of this process.
#ifndef KERNPACK_SRC_MODULES_REGISTRY_H_
#define KERNPACK_SRC_MODULES_REGISTRY_H_

#include <string_view>

#include "modules/loaded_module.h"

namespace kernpack::host {

// The module of that name and digest, or NULL.
const KpLoadedModule* FindModule(std::string_view name, std::string_view digest);

// How many modules of that name and major version ("1") are loaded; *out is one of them when there are any.
int CountModulesOfMajor(std::string_view name, std::string_view major, const KpLoadedModule** out);

// Releases every function that global_set was given; for kp_host_shutdown.
void DropGlobalFunctions();

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULES_REGISTRY_H_
