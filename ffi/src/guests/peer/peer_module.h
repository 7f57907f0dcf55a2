// A module built with apache-tvm-ffi's SDK, as one of ours.
#ifndef KERNPACK_SRC_GUESTS_PEER_PEER_MODULE_H_
#define KERNPACK_SRC_GUESTS_PEER_PEER_MODULE_H_

#include <string>
#include <string_view>

#include "modules/library.h"
#include "modules/loaded_module.h"

namespace kernpack::host {

// Makes a module of the library's `__tvm_ffi_` functions: positional, untyped, named after the file. Returns 0, or -1
// raised.
int BuildPeerModule(const Library& library, KpLoadedModule* out);

// The peer's metadata in the words KpFunctionInfo.cxx_types uses.
// {"type_schema": "{\"type\": \"ffi.Function\", ...}"} -> "(int, Tensor) -> None"; empty when it is anything else.
std::string DescribeTypeSchema(std::string_view metadata);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_GUESTS_PEER_PEER_MODULE_H_
