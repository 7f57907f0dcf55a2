// The table that get_extension returns for "kernpack.target".
#ifndef KERNPACK_SRC_DEVICES_TARGET_TARGET_API_H_
#define KERNPACK_SRC_DEVICES_TARGET_TARGET_API_H_

#include <kernpack/host/target.h>

namespace kernpack::host {

extern const KpTargetApi kTargetApi;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_TARGET_TARGET_API_H_
