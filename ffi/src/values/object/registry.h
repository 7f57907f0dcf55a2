// What the registries share with the rest of the host.
#ifndef KERNPACK_SRC_VALUES_OBJECT_REGISTRY_H_
#define KERNPACK_SRC_VALUES_OBJECT_REGISTRY_H_

#include <string>
#include <vector>

#include <kernpack/abi.h>

namespace kernpack::host {

// The interned key of a type index that this host allotted; NULL for any other.
const char* RegisteredTypeName(int32_t type_index) noexcept;

// *out is an ARRAY of strings. Returns 0, or -1 with an error raised.
int NewStringArray(const std::vector<std::string>& texts, KpAny* out);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_VALUES_OBJECT_REGISTRY_H_
