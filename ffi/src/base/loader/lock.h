// KERNPACK_REQUIRE_LOCK: only files that a lock file lists may be loaded. `kernpack lock` writes it (bindings/python/kernpack/_lock.py).
#ifndef KERNPACK_SRC_BASE_LOADER_LOCK_H_
#define KERNPACK_SRC_BASE_LOADER_LOCK_H_

#include <string>

namespace kernpack::host {

// Whether the variable is set, to anything but "" and "0".
bool LockIsRequired();

// 0 where no lock is required, or the lock lists a file of that content (SHA-256, hexadecimal), of a wheel that this host runs. Else -1
// with ImportError raised: also where the lock can't be read. The lock is read at every call, so a new one needs no new process.
// `function`: who asks, for the message.
int VerifyAgainstLock(const char* function, const char* path, const std::string& digest);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_LOADER_LOCK_H_
