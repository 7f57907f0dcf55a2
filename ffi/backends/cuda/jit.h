// Compiles CUDA C++ of modules on the machine that runs it, or takes what an earlier process compiled.
#ifndef KERNPACK_BACKENDS_CUDA_JIT_H_
#define KERNPACK_BACKENDS_CUDA_JIT_H_

#include <string>
#include <string_view>

#include <kernpack/abi.h>

#include "backends/cuda/jit_cache.h"
#include "backends/cuda/jit_source.h"
#include "backends/cuda/jit_tools.h"

namespace kernpack::cuda {

struct JitTarget {
  std::string who;       // in errors: "cuda:0"
  int arch = 0;          // 90
  bool ptx = false;      // the emulated device runs nothing else
  int driver_cuda = 0;   // its driver's major version of CUDA; 0: not known
  bool must_keep = false;    // code that can't be kept in the cache is an error
  bool only_cached = false;  // nothing is compiled: false without an error where the cache has none
};

struct JitError {
  std::string kind;  // of Python's exceptions; "" if there is none
  std::string message;
  bool is_raised = false;  // by the host: the user interrupted
};

// -1, with the error raised in this thread.
int RaiseJit(const KpHost* host, const JitError& error);

// The unit that a kernel is compiled with: itself if it is an instance of a template ("scale<float>"); else "", all kernels that aren't
// templates.
std::string_view JitUnit(std::string_view kernel);

// NVRTC, and headers where the source needs some, as far as they are installed.
struct JitTools {
  bool found = false;
  JitCompiler compiler;
  JitHeaders headers;
  std::string why;  // there is no NVRTC, and how to get one
};
// Asks Python for the folders of packages.
JitTools FindTools(const KpHost* host, const JitSource& source, const JitTarget& target);

// False with *error. *compiled (nullable): true if it was compiled now. For any thread. `host` is NULL in a job's thread: it must not wait
// for Python, which may have ended, while the end of the process waits for the job; and the user can't interrupt it.
bool BuildJit(const KpHost* host, const JitSource& source, std::string_view unit, const JitTarget& target,
              const JitTools& tools, JitCode* out, JitError* error, bool* compiled = nullptr);

// Before a job that nobody waits for: loads NVRTC in this thread. A process that ended while another thread loads it would tear it down
// before it waits for the job. Without NVRTC the job has the error.
void OpenBeforeJobs(const JitTools& tools);

// The name of a kernel that isn't an instance, among those of an image: its own, or as C++ writes it ("_Z5scalePfi" of "scale"). "" where
// there is none.
std::string FindJitName(const std::vector<std::string>& names, std::string_view kernel);
// Of any kernel, among those of a stand-in, which has instances under the names that C++ writes.
std::string FindStandInName(const std::vector<std::string>& names, std::string_view kernel);

// Registers the global functions of the commands `kernpack warm` and `kernpack doctor`, once a process: no device is needed.
int RegisterJit(const KpHost* host);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_JIT_H_
