// The extension "kernpack.target".
#include "target/target_api.h"

#include <kernpack/host/host.h>

namespace kernpack::host {

const KpTargetApi kTargetApi = {
    sizeof(KpTargetApi),
    &kp_device_from_name,
    &kp_device_type_name,
};

}  // namespace kernpack::host
