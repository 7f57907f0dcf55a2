// Modules built with apache-tvm-ffi's SDK, as ours: what they are made of, and calls of their functions.
#ifndef KERNPACK_SRC_GUESTS_PEER_PEER_MODULE_H_
#define KERNPACK_SRC_GUESTS_PEER_PEER_MODULE_H_

#include <string>
#include <string_view>

#include <kernpack/abi.h>

#include "modules/library.h"
#include "modules/loaded_module.h"

namespace kernpack::host {

// Makes a module of the library's `__tvm_ffi_` functions, named after the file: positional and untyped, but for those that `contracts`
// (contracts.h; may be empty) gives a contract. Returns 0, or -1 raised.
int BuildPeerModule(const Library& library, std::string_view contracts, KpLoadedModule* out);

// The peer's metadata in the words KpFunctionInfo.cxx_types uses.
// {"type_schema": "{\"type\": \"ffi.Function\", ...}"} -> "(int, Tensor) -> None"; empty when it is anything else.
std::string DescribeTypeSchema(std::string_view metadata);

struct PeerFunction {
  KpSafeCall call;
  const char* name;
};

// Calls `function` (a PeerFunction) with the stream and the allocator of our call in force in the peer's library, and puts
// back what was there.
int PeerCall(void* function, const KpAny* args, int32_t num_args, KpAny* result);
// The same for a function that uses neither.
int PeerCallPlain(void* function, const KpAny* args, int32_t num_args, KpAny* result);
// As PeerCall, for a FUNCTION object of the peer's.
int PeerCallObject(void* function, const KpAny* args, int32_t num_args, KpAny* result);

// Objects of types that were registered here only: the peer ends the process when it looks for their names. 0, or -1 with TypeError
// raised.
int CheckForPeer(const char* who, const KpAny* args, int32_t num_args);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_GUESTS_PEER_PEER_MODULE_H_
