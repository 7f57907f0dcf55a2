// What pip wrote down of a file when it installed the file's distribution.
#ifndef KERNPACK_SRC_BASE_LOADER_DISTRIBUTION_H_
#define KERNPACK_SRC_BASE_LOADER_DISTRIBUTION_H_

#include <string>

namespace kernpack::host {

// Compares a file's digest (SHA-256, hexadecimal) with the one in the RECORD of the distribution that brought it. Returns 0 and
// leaves in *verified "<name> <version>" of that distribution, or nothing where no hash is found: a file that no distribution
// lists, or lists without one, or one of conda's, which rewrites what it installs. -1 with ImportError raised when they differ.
// KERNPACK_VERIFY=0: nothing is looked at.
int VerifyAgainstRecord(const char* path, const std::string& digest, std::string* verified);

// Whether KERNPACK_VERIFY=0 is set.
bool VerificationIsOff();

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_LOADER_DISTRIBUTION_H_
