// The installed apache-tvm-ffi's library, which modules built with its SDK run through.
#ifndef KERNPACK_SRC_GUESTS_PEER_LIBRARY_H_
#define KERNPACK_SRC_GUESTS_PEER_LIBRARY_H_

#include <cstdint>

namespace kernpack::host {

using PeerManagedAllocator = void (*)();  // opaque here

// Its functions that modules need of us.
struct PeerLibrary {
  int (*set_stream)(int32_t device_type, int32_t device_id, void* stream, void** out_previous);
  int (*set_allocator)(PeerManagedAllocator allocator, int globally, PeerManagedAllocator* out_previous);
};

// Makes the library's symbols available to the module at `path`: uses the one that is loaded, else opens the file that
// KERNPACK_TVM_FFI_LIB or kp_peer_set_library names, if it exports what such a library does and then is of a version that we know; without importing the Python package and without keeping the signal
// handlers it installs. Returns 0, or -1 with ImportError raised. Calls must not overlap.
int PeerRequire(const char* path);

// After a successful PeerRequire.
const PeerLibrary& Peer();

// A file that is said to be apache-tvm-ffi's library, before any of its code runs.
// 0 when it is a shared object for this machine that exports what we call; else -1 with ImportError raised. Opening the file runs its
// constructors, so this comes first.
int CheckPeerFile(const char* path);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_GUESTS_PEER_LIBRARY_H_
