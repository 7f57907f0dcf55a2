// Device code: compiled programs and the kernels in them.
#ifndef KERNPACK_BACKENDS_OPENCL_CODE_H_
#define KERNPACK_BACKENDS_OPENCL_CODE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "kernel.h"

namespace kernpack::opencl {

class Code {
 public:
  static constexpr const char* kWhat = "loaded code";

  // `format`: "cl" (source) or "clbin" (what clGetProgramInfo gives). Throws ValueError with the compiler's log.
  Code(const char* function, const Device* of, std::string_view image, std::string_view format,
       std::string_view options);
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code();  // forgets its kernels' handles

  // The same kernel for the same name. AttributeError listing the names when there is none.
  Kernel* GetKernel(const char* function, std::string_view name);

  const Device* const device;

 private:
  std::string KernelNames() const;

  cl_program program_ = nullptr;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Kernel>, std::less<>> kernels_;
};

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_CODE_H_
