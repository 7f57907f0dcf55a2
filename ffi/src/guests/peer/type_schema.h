// The peer's metadata in the words KpFunctionInfo.cxx_types uses.
#ifndef KERNPACK_SRC_GUESTS_PEER_TYPE_SCHEMA_H_
#define KERNPACK_SRC_GUESTS_PEER_TYPE_SCHEMA_H_

#include <string>
#include <string_view>

namespace kernpack::host {

// {"type_schema": "{\"type\": \"ffi.Function\", ...}"} -> "(int, Tensor) -> None"; empty when it is anything else.
std::string DescribeTypeSchema(std::string_view metadata);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_GUESTS_PEER_TYPE_SCHEMA_H_
