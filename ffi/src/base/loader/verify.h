// The checks of a file before it is loaded, by its digest (base/loader/digest.h): against the RECORD that pip wrote when it installed
// the file's distribution, and against a lock (KERNPACK_REQUIRE_LOCK), which `kernpack lock` writes
// (bindings/python/kernpack/_lock.py).
#ifndef KERNPACK_SRC_BASE_LOADER_VERIFY_H_
#define KERNPACK_SRC_BASE_LOADER_VERIFY_H_

#include <cstdint>
#include <string>
#include <vector>

namespace kernpack::host {

// A distribution whose RECORD has a hash for a file.
struct Listing {
  std::string name, version;
  std::string hash;  // as RECORD has it: "sha256=..."
  int64_t written = 0;  // when RECORD was, in nanoseconds since 1970
};

// The hashes that the RECORD of installed distributions has for a file.
class Record {
 public:
  // `path` stays where it is. Nothing is found of a file that no distribution lists, or lists without a hash, or one of conda's, which
  // rewrites what it installs; or with KERNPACK_VERIFY=0.
  explicit Record(const char* path);

  bool empty() const { return listings_.empty(); }
  // True if it has that digest (SHA-256, hexadecimal) for the file.
  bool Lists(const std::string& digest) const;
  // The digest that the file has if nobody changed it; false where there is none, or several distributions list the file.
  bool OnlyDigest(std::string* digest) const;
  // Returns 0 if the file's digest is the one in RECORD, and leaves in *verified "<name> <version>" of the distribution; nothing where
  // the record is empty. Else -1 with ImportError raised.
  int Verify(const std::string& digest, std::string* verified) const;

 private:
  const char* path_;
  std::vector<Listing> listings_;
};

// The version of the distribution of that name that is installed in the folder; empty where there is none.
std::string InstalledVersion(const std::string& folder, const std::string& name);

// KERNPACK_VERIFY: when a file is compared with RECORD.
enum class Verification {
  kLoad,  // when it is loaded in a state that isn't known; the default
  kInstall,  // never: its content is taken for what RECORD says
  kOff  // never: RECORD isn't looked at
};
// Returns 0, or -1 with ValueError raised.
int ReadVerification(Verification* out);

// True if KERNPACK_VERIFY=0 is set.
bool VerificationIsOff();

// True if KERNPACK_COPY=1 is set: every file is copied before it is loaded.
bool CopyIsWanted();

// KERNPACK_REQUIRE_LOCK: only files that a lock file lists may be loaded. True if the variable is set, to anything but "" and "0".
bool LockIsRequired();

// 0 where no lock is required, or the lock lists a file of that content (SHA-256, hexadecimal), of a wheel that this host runs. Else -1
// with ImportError raised: also where the lock can't be read. The lock is read at every call, so a new one needs no new process.
// `function`: who asks, for the message.
int VerifyAgainstLock(const char* function, const char* path, const std::string& digest);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_LOADER_VERIFY_H_
