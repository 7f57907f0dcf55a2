#include "gpu.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <stdexcept>

#include "backends/cuda/driver_types.h"

namespace kernpack::emulator {
namespace {

using namespace cuda;  // its types of the driver

// One context for all kernels, but after an error, which ends it.
class Gpu {
 public:
  Gpu() {
    void* library = dlopen(GpuDriver(), RTLD_NOW);
    if (library == nullptr) throw std::runtime_error(dlerror());
    lookup_ = reinterpret_cast<Lookup>(dlsym(library, "cuGetProcAddress_v2"));
    if (lookup_ == nullptr) throw std::runtime_error(std::string(GpuDriver()) + " has no cuGetProcAddress_v2");
    Call("cuInit", 0U);
    Call("cuDeviceGet", &device_, 0);
    constexpr int kMajor = 75, kMinor = 76;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_
    int major = 0, minor = 0;
    Call("cuDeviceGetAttribute", &major, kMajor, device_);
    Call("cuDeviceGetAttribute", &minor, kMinor, device_);
    target_ = ".target sm_" + std::to_string(major * 10 + minor);
    Begin();
  }

  void Run(const std::string& text, const std::vector<Region>& regions, std::vector<uint64_t> parameters,
           const Shape& shape) {
    std::vector<DevicePtr> copies;
    for (const Region& region : regions) {
      Call("cuMemAlloc", &copies.emplace_back(), std::max<size_t>(region.size, 1));
      Copy(copies.back(), reinterpret_cast<DevicePtr>(region.data), region.size);
    }
    std::vector<void*> slots;
    for (uint64_t& parameter : parameters) {
      for (size_t i = 0; i < regions.size(); ++i) {
        const uint64_t offset = parameter - regions[i].begin;
        if (offset < std::max<uint64_t>(regions[i].size, 1)) {
          parameter = copies[i] + offset;
          break;
        }
      }
      slots.push_back(&parameter);
    }
    ModuleHandle module{};
    FunctionHandle kernel{};
    // Features of a later GPU need its target, and a version of PTX that knows it.
    const std::string taken = std::regex_replace(std::regex_replace(text, std::regex("\\.target sm_\\w+"), target_),
                                                 std::regex("\\.version [0-9.]+"), ".version 9.0");
    char log[2000] = "";
    int options[] = {5, 6};  // CU_JIT_ERROR_LOG_BUFFER and its size
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    try {
      Call("cuModuleLoadDataEx", &module, taken.c_str(), 2U, options, values);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(std::string(error.what()) + ": " + log);
    }
    Call("cuModuleGetFunction", &kernel, module, "k");
    constexpr int kMostDynamicShared = 8;
    if (shape.shared > 0) Call("cuFuncSetAttribute", kernel, kMostDynamicShared, static_cast<int>(shape.shared));
    LaunchAttribute attributes[2] = {};
    attributes[0].id = kLaunchClusterDimension;
    attributes[0].value.cluster = {shape.cluster, 1, 1};
    attributes[1].id = kLaunchCooperative;
    attributes[1].value.cooperative = 1;
    const bool clustered = shape.cluster > 1;
    const LaunchConfig config = {shape.grid,
                                 1,
                                 1,
                                 shape.block,
                                 1,
                                 1,
                                 shape.shared,
                                 nullptr,
                                 clustered ? attributes : attributes + 1,
                                 static_cast<unsigned>(clustered) + static_cast<unsigned>(shape.cooperative)};
    Call("cuLaunchKernelEx", &config, kernel, slots.data(), nullptr);
    Call("cuStreamSynchronize", nullptr);
    for (size_t i = 0; i < regions.size(); ++i) {
      Copy(reinterpret_cast<DevicePtr>(regions[i].data), copies[i], regions[i].size);
      Call("cuMemFree", copies[i]);
    }
    Call("cuModuleUnload", module);
  }

  // The context can't be used after an error.
  void BeginAgain() {
    Call("cuDevicePrimaryCtxReset", device_);
    Begin();
  }

 private:
  using Lookup = int (*)(const char*, void**, int, unsigned long long, int*);

  void Begin() {
    Context context{};
    Call("cuDevicePrimaryCtxRetain", &context, device_);
    Call("cuCtxSetCurrent", context);
  }

  void Copy(DevicePtr to, DevicePtr from, size_t bytes) {
    Call("cuMemcpyAsync", to, from, bytes, nullptr);
    Call("cuStreamSynchronize", nullptr);
  }

  // The form of CUDA 12.0.
  template <class... Arguments>
  void Call(const char* name, Arguments... arguments) {
    void* entry = nullptr;
    int status = 0;
    if (lookup_(name, &entry, 12000, 0, &status) != 0 || entry == nullptr) {
      throw std::runtime_error(std::string("the driver has no ") + name);
    }
    const int result = reinterpret_cast<int (*)(Arguments...)>(entry)(arguments...);
    if (result != 0) throw std::runtime_error(std::string(name) + " returned " + std::to_string(result));
  }

  Lookup lookup_ = nullptr;
  DeviceHandle device_{};
  std::string target_;
};

}  // namespace

const char* GpuDriver() { return std::getenv("KERNPACK_TEST_CUDA_DRIVER"); }

std::string RunOnGpu(const std::string& text, const std::vector<Region>& regions,
                     const std::vector<uint64_t>& parameters, const Shape& shape) {
  static Gpu gpu;
  try {
    gpu.Run(text, regions, parameters, shape);
    return "";
  } catch (const std::runtime_error& error) {
    gpu.BeginAgain();
    return error.what();
  }
}

}  // namespace kernpack::emulator
