// NVRTC and headers of NVIDIA's wheels, where they are installed.
#ifndef KERNPACK_BACKENDS_CUDA_JIT_TOOLS_H_
#define KERNPACK_BACKENDS_CUDA_JIT_TOOLS_H_

#include <string>
#include <vector>

#include <kernpack/abi.h>

namespace kernpack::nvrtc {
struct Library;
}

namespace kernpack::cuda {

// The folder of packages that has the file or folder `below`; "" where none has. Without Python the host knows none, but the backend's
// own is one.
std::string FindPackageFolder(const KpHost* host, const std::string& below);

// An NVRTC that needn't be loaded yet: a process that finds its code in the cache never loads it.
struct JitCompiler {
  std::string file;
  std::string version;  // "13.5"
  std::string identity;  // another build of the same version has another one
};

// The one that drivers of `driver_cuda` (12; 0: not known) can use best. False with *why, which says how to get one.
bool FindCompiler(const KpHost* host, int driver_cuda, JitCompiler* out, std::string* why);

// Loads it, once a process. NULL with *why.
const nvrtc::Library* OpenCompiler(const JitCompiler& compiler, std::string* why);

// Folders with headers of the CUDA C++ libraries, the CUDA runtime and CUTLASS, for an NVRTC of that version, and the versions of the
// wheels that have them.
struct JitHeaders {
  std::vector<std::string> folders;
  std::string identity;
};
JitHeaders FindHeaders(const KpHost* host, const std::string& version);

// A line that says what to install, where the log says that a header is missing; else "".
std::string AdviceOnHeaders(const std::string& log, const std::string& version);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_JIT_TOOLS_H_
