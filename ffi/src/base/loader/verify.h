// The checks of a file before it is loaded, by its digest (base/loader/digest.h): against the RECORD that pip wrote when it installed
// the file's distribution, and against a lock (KERNPACK_REQUIRE_LOCK), which `kernpack lock` writes
// (bindings/python/kernpack/_lock.py).
#ifndef KERNPACK_SRC_BASE_LOADER_VERIFY_H_
#define KERNPACK_SRC_BASE_LOADER_VERIFY_H_

#include <string>

namespace kernpack::host {

// Compares a file's digest (SHA-256, hexadecimal) with the one in the RECORD of the distribution that brought it. Returns 0 and
// leaves in *verified "<name> <version>" of that distribution, or nothing where no hash is found: a file that no distribution
// lists, or lists without one, or one of conda's, which rewrites what it installs. -1 with ImportError raised when they differ.
// KERNPACK_VERIFY=0: nothing is looked at.
int VerifyAgainstRecord(const char* path, const std::string& digest, std::string* verified);

// True if KERNPACK_VERIFY=0 is set.
bool VerificationIsOff();

// KERNPACK_REQUIRE_LOCK: only files that a lock file lists may be loaded. True if the variable is set, to anything but "" and "0".
bool LockIsRequired();

// 0 where no lock is required, or the lock lists a file of that content (SHA-256, hexadecimal), of a wheel that this host runs. Else -1
// with ImportError raised: also where the lock can't be read. The lock is read at every call, so a new one needs no new process.
// `function`: who asks, for the message.
int VerifyAgainstLock(const char* function, const char* path, const std::string& digest);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_LOADER_VERIFY_H_
