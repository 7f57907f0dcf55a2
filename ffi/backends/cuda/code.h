// Code on a device, its kernels, and launching them.
#ifndef KERNPACK_BACKENDS_CUDA_CODE_H_
#define KERNPACK_BACKENDS_CUDA_CODE_H_

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/backend.h"
#include "backends/cuda/jit_source.h"

namespace kernpack::cuda {

struct Code;
struct JitJob;

struct Kernel {
  const Device* device = nullptr;
  FunctionHandle function = nullptr;
  std::string name;
  int max_threads = 0;         // of a block
  int static_shared = 0;       // bytes
  bool needs_cluster = false;  // compiled to be launched with a cluster size
  bool knows_parameters = false;
  std::vector<size_t> parameters;  // bytes of each, where the driver tells (12.4 and newer)
  // The limit that was set on the function so far.
  std::atomic<int> dynamic_limit{0};
  std::atomic<bool> large_clusters{false};
  // Of a stand-in: the compilation of the code that takes its place, and the kernel of that code once it is loaded.
  std::shared_ptr<JitJob> awaited;
  Code* code = nullptr;
  std::atomic<Kernel*> successor{nullptr};
};

struct LoadedImage {
  ModuleHandle module = nullptr;
  std::vector<std::string> names;  // of kernels, as far as the image told
  std::string kernel;  // of an image that was compiled here for one kernel: the kernel's name in it
};

struct Code {
  const Device* device = nullptr;
  // Of code that is compiled here. Its images come with the kernels that are asked for.
  std::shared_ptr<const JitSource> source;
  std::map<std::string, std::shared_ptr<JitJob>, std::less<>>
      jobs;  // by JitUnit(), of the kernels that run as a stand-in
  std::mutex mutex;  // guards the images and the kernels
  std::map<std::string, LoadedImage, std::less<>>
      images;  // by JitUnit(), the stand-in by kStandIn; of other code one, ""
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels;
};

// Raises a ValueError about a launch of the kernel. -1.
int Refuse(const Kernel& kernel, const std::string& message);

// Each returns 0, or -1 with an error raised.
int LoadCode(const Device& device, std::string_view image, std::string_view format, std::string_view options,
             Code** out);
int UnloadCode(const Device& device, Code* code);
// `name`: of several kernels of a source, with semicolons between them, all are compiled, and the first one is returned.
int GetKernel(const Device& device, Code* code, std::string_view name, Kernel** out);
// In the place of a stand-in the kernel that was compiled, from when it is.
int FollowStandIn(const Device& device, Kernel** kernel);

// Encodes the KpTensorMap of an argument, the launch's `at`th. The driver only says that a map is wrong, so its requirements are checked
// before. 0, or -1 with an error raised.
int EncodeTensorMap(const Kernel& kernel, size_t at, const KpKernelArg& argument, TensorMap* out);

// Queues the kernel after checking the device's limits and the kernel's parameters. 0, or -1 with an error raised.
int Launch(const Device& device, Kernel* kernel, const KpLaunch& launch, Stream stream);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_CODE_H_
