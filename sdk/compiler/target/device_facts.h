// Properties of a device, for Target::FromDevice; no other code of the target language asks devices.
#ifndef KERNPACK_SDK_COMPILER_TARGET_DEVICE_FACTS_H_
#define KERNPACK_SDK_COMPILER_TARGET_DEVICE_FACTS_H_

#include <kernpack/sdk/target.h>

namespace kernpack::sdk {

// Fills the options that the device answers for and `options` does not give. RuntimeError when there is no such device.
void AskDevice(const TargetKind& kind, int64_t device_id, const DeviceQuery& query, AttrMap* options);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_TARGET_DEVICE_FACTS_H_
