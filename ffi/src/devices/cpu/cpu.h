// The processor as a device.
#ifndef KERNPACK_SRC_DEVICES_CPU_CPU_H_
#define KERNPACK_SRC_DEVICES_CPU_CPU_H_

#include <kernpack/device_api.h>

namespace kernpack::host {

const KpBackend* CpuBackend() noexcept;

namespace cpu {
int GetAttr(const KpDeviceApi* api, KpDLDevice device, int32_t kind, KpAny* out) noexcept;
int CopyStrided(const KpDeviceApi* api, const KpMemory* from, const KpMemory* to, const KpStridedCopy* box,
                void* stream, int32_t* done) noexcept;
}  // namespace cpu

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_CPU_CPU_H_
