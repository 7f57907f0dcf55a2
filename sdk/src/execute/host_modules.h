// The host's loaded modules, reached through its table.
#ifndef KERNPACK_SDK_SRC_EXECUTE_HOST_MODULES_H_
#define KERNPACK_SDK_SRC_EXECUTE_HOST_MODULES_H_

#include <kernpack/host/modules.h>

namespace kernpack::sdk {

// ImportError where the host is too old to have them.
const KpModules& HostModules();

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_SRC_EXECUTE_HOST_MODULES_H_
