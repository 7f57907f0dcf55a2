// A kernel: its parameters, its limits, and its launches.
#ifndef KERNPACK_BACKENDS_OPENCL_KERNEL_H_
#define KERNPACK_BACKENDS_OPENCL_KERNEL_H_

#include <kernpack/device_api.h>

#include <mutex>
#include <string>
#include <vector>

#include "buffers.h"

namespace kernpack::opencl {

class Stream;

class Kernel {
 public:
  static constexpr const char* kWhat = "kernel";

  // Owns `kernel`. Throws kp::Error.
  Kernel(const char* function, const Device* of, cl_kernel kernel, std::string name);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  ~Kernel();

  // Queues it. ValueError or TypeError for arguments and sizes that do not fit, before anything is queued. Any thread.
  void Launch(const char* function, const KpLaunch& launch, Stream* stream);

  const Device* const device;

 private:
  struct Parameter {
    std::string name;  // "" where the program was built without names
    std::string type;
    cl_kernel_arg_address_qualifier space = 0;  // 0: not known
    bool is_const = false;
  };

  // The last value of a parameter. OpenCL keeps arguments between launches: equal ones need not be set again.
  struct Bound {
    uint32_t size = UINT32_MAX;
    unsigned char value[16] = {};  // of a value, where it fits
    const void* handle = nullptr;  // of memory; in force as long as no allocation came or went
    uint64_t offset = 0;
    uint64_t generation = 0;
  };

  void ReadParameters();
  void CheckSizes(const char* function, const KpLaunch& launch) const;
  void CheckItems(const char* function, const KpLaunch& launch) const;
  void CheckArgumentCount(const char* function, const KpLaunch& launch) const;
  void SetArguments(const char* function, const KpLaunch& launch);
  void SetValue(const char* function, cl_uint index, const KpKernelArg& arg);
  void SetLocal(const char* function, cl_uint index, const KpKernelArg& arg);
  void SetMemory(const char* function, cl_uint index, const KpKernelArg& arg);
  void Set(const char* function, cl_uint index, size_t size, const void* value);
  void ExpectSpace(const char* function, cl_uint index, bool fits, const char* given) const;
  std::string ParameterName(cl_uint index) const;

  cl_kernel kernel_;
  const std::string name_;
  std::vector<Parameter> parameters_;
  size_t max_group_ = 0;  // work items of a work group
  size_t required_group_[3] = {};  // reqd_work_group_size; zeros: none
  uint64_t static_local_ = 0;  // bytes of local memory that it declares itself
  std::mutex launching_;  // clSetKernelArg may be called by one thread at a time; guards the rest
  std::vector<Bound> bound_;  // a parameter each
};

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_KERNEL_H_
