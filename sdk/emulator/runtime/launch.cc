// Launches and what is asked of a kernel.
#include <vector>

#include "runtime/runtime.h"

namespace kernpack::cuda::runtime {
namespace {

// The arguments of <<<...>>>, from their evaluation to the call of the stub.
struct Configuration {
  Dim3 grid, block;
  size_t shared_bytes;
  Stream stream;
};

std::vector<Configuration>& Configurations() {
  thread_local std::vector<Configuration> stack;
  return stack;
}

struct Attributes {  // cudaLaunchAttribute and CUlaunchAttribute are the same
  LaunchAttribute* list = nullptr;
  unsigned count = 0;
};

Error Launch(const void* host, const Configuration& as, void** arguments, Attributes attributes = {}) {
  FunctionHandle function = nullptr;
  if (const Error error = FindFunction(host, &function); error != kSuccess) return error;
  int most = 0;
  Driver().cuFuncGetAttribute(&most, kFuncMaxThreadsPerBlock, function);
  const size_t threads = size_t{as.block.x} * as.block.y * as.block.z;
  if (threads == 0 || threads > static_cast<size_t>(most) || size_t{as.grid.x} * as.grid.y * as.grid.z == 0) {
    return Said(kInvalidConfiguration);
  }
  const LaunchConfig config = {as.grid.x,
                               as.grid.y,
                               as.grid.z,
                               as.block.x,
                               as.block.y,
                               as.block.z,
                               static_cast<unsigned>(as.shared_bytes),
                               as.stream,
                               attributes.list,
                               attributes.count};
  return Said(Driver().cuLaunchKernelEx(&config, function, arguments, nullptr));
}

}  // namespace
}  // namespace kernpack::cuda::runtime

using namespace kernpack::cuda::runtime;
using kernpack::cuda::FunctionAttribute;
using kernpack::cuda::FunctionHandle;
using kernpack::cuda::kSuccess;
using kernpack::cuda::Stream;

KP_RUNTIME_API unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared_bytes, Stream stream) {
  Configurations().push_back({grid, block, shared_bytes, stream});
  return 0;
}
KP_RUNTIME_API Error __cudaPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared_bytes, Stream* stream) {
  if (Configurations().empty()) return Said(kInvalidConfiguration);
  const Configuration top = Configurations().back();
  Configurations().pop_back();
  *grid = top.grid, *block = top.block, *shared_bytes = top.shared_bytes, *stream = top.stream;
  return kSuccess;
}

// nvcc 13 asks for a handle first; here it is the stub's address.
KP_RUNTIME_API Error __cudaGetKernel(const void** kernel, const void* host) {
  *kernel = host;
  return kSuccess;
}
KP_RUNTIME_API Error __cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void** arguments,
                                        size_t shared_bytes, Stream stream) {
  return Launch(kernel, {grid, block, shared_bytes, stream}, arguments);
}
KP_RUNTIME_API Error cudaLaunchKernel(const void* host, Dim3 grid, Dim3 block, void** arguments, size_t shared_bytes,
                                      Stream stream) {
  return Launch(host, {grid, block, shared_bytes, stream}, arguments);
}
KP_RUNTIME_API Error cudaLaunchKernelExC(const LaunchArguments* config, const void* host, void** arguments) {
  return Launch(host, {config->grid, config->block, config->shared_bytes, config->stream}, arguments,
                {config->attributes, config->attribute_count});
}

KP_RUNTIME_API Error cudaLaunchCooperativeKernel(const void* host, Dim3 grid, Dim3 block, void** arguments,
                                                 size_t shared_bytes, Stream stream) {
  kernpack::cuda::LaunchAttribute cooperative{};
  cooperative.id = kernpack::cuda::kLaunchCooperative;
  cooperative.value.cooperative = 1;
  return Launch(host, {grid, block, shared_bytes, stream}, arguments, {&cooperative, 1});
}

KP_RUNTIME_API Error cudaFuncSetAttribute(const void* host, int attribute, int value) {
  FunctionHandle function = nullptr;
  if (const Error error = FindFunction(host, &function); error != kSuccess) return error;
  constexpr int kCarveout = 9;  // a hint
  if (attribute == kCarveout) return kSuccess;
  return Said(Driver().cuFuncSetAttribute(function, static_cast<FunctionAttribute>(attribute), value));
}
KP_RUNTIME_API Error cudaFuncSetCacheConfig(const void* host, int /*config*/) {
  FunctionHandle function = nullptr;
  return FindFunction(host, &function);
}
KP_RUNTIME_API Error cudaFuncGetAttributes(FunctionAttributes* out, const void* host) {
  FunctionHandle function = nullptr;
  if (const Error error = FindFunction(host, &function); error != kSuccess) return error;
  int shared = 0, local = 0;
  *out = {};
  Driver().cuFuncGetAttribute(&shared, kernpack::cuda::kFuncSharedSizeBytes, function);
  Driver().cuFuncGetAttribute(&out->max_threads, kernpack::cuda::kFuncMaxThreadsPerBlock, function);
  Driver().cuFuncGetAttribute(&local, kernpack::cuda::kFuncLocalSizeBytes, function);
  Driver().cuFuncGetAttribute(&out->ptx_version, kernpack::cuda::kFuncPtxVersion, function);
  Driver().cuFuncGetAttribute(&out->binary_version, kernpack::cuda::kFuncBinaryVersion, function);
  out->shared_bytes = static_cast<size_t>(shared);
  out->local_bytes = static_cast<size_t>(local);
  return Said(Driver().cuFuncGetAttribute(&out->max_dynamic_shared_bytes,
                                          kernpack::cuda::kFuncMaxDynamicSharedSizeBytes, function));
}
