// Device types by name, both ways: DLPack's, and those that the host allots to backends.
#ifndef KERNPACK_SRC_DEVICES_NAMES_H_
#define KERNPACK_SRC_DEVICES_NAMES_H_

#include <cstdint>
#include <string_view>

#include <kernpack/abi.h>

namespace kernpack::host {

// The number DLPack gives a type of this name; 0: none; -1: the name is another name of a type ("gpu").
int32_t StaticDeviceType(std::string_view name) noexcept;

// "device_api.<name>" is a name that global_get and get_extension (version 1) know for every backend.
constexpr std::string_view kDeviceApiPrefix = "device_api.";
// *out is a FUNCTION of no arguments that gives the opened table as OPAQUE_PTR; NONE for any other name.
int DeviceApiFunction(std::string_view name, KpAny* out);
// *out is the opened table. A RuntimeError says why there is none.
int DeviceApiExtension(std::string_view name, uint32_t version, const void** out);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_NAMES_H_
