// A file that is said to be apache-tvm-ffi's library, before any of its code runs.
#ifndef KERNPACK_SRC_GUESTS_PEER_LIBRARY_FILE_H_
#define KERNPACK_SRC_GUESTS_PEER_LIBRARY_FILE_H_

namespace kernpack::host {

// 0 when it is a shared object for this machine that exports what we call; else -1 with ImportError raised. Opening the file runs its
// constructors, so this comes first.
int CheckPeerFile(const char* path);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_GUESTS_PEER_LIBRARY_FILE_H_
