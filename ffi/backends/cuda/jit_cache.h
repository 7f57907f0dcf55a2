// Compiled kernels on disk: a folder for what a kernel is made of, in it a file for each compiler that made it.
#ifndef KERNPACK_BACKENDS_CUDA_JIT_CACHE_H_
#define KERNPACK_BACKENDS_CUDA_JIT_CACHE_H_

#include <string>

#include <kernpack/abi.h>

namespace kernpack::cuda {

struct JitCode {
  std::string kernel;  // its name in the image; "" where the image has several, under their own names
  std::string image;
  std::string said;  // a line for the log: that it was compiled, or found
};

class JitCache {
 public:
  // `key`: of everything but the compiler.
  explicit JitCache(const std::string& key);

  // False where there is none by that compiler.
  bool Read(const std::string& compiler, JitCode* out) const;
  // By any compiler, for machines that have none.
  bool ReadAny(JitCode* out) const;
  // "", or why the code isn't kept.
  std::string Write(const std::string& compiler, const JitCode& code) const;
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;  // "": nowhere
};

// One line on stderr per process: `why` is of JitCache::Write.
void SayNotKept(const std::string& why);
// True once it was said.
bool IsNotKept();

inline constexpr const char* kOtherCache = "set KERNPACK_CACHE_DIR to a folder of this user with space left";

// Held while a kernel is compiled, so that of several processes and threads one compiles it. It is gone with the process that holds it.
class JitLock {
 public:
  explicit JitLock(const JitCache& cache);
  JitLock(const JitLock&) = delete;
  JitLock& operator=(const JitLock&) = delete;
  ~JitLock();
  // Waits for it. -1 with an error raised if the user interrupts; with a `host` of NULL, -1 if the process ends. Where no file can be
  // locked there is nothing to wait for.
  int Take(const KpHost* host);
  // False where the folder can't be made or written.
  bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_JIT_CACHE_H_
