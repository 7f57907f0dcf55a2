#include "code.h"

#include "handles.h"
#include "program.h"

namespace kernpack::opencl {

Code::Code(const char* function, const Device* of, std::string_view image, std::string_view format,
           std::string_view options)
    : device(of) {
  if (image.empty()) KP_THROW(ValueError) << function << ": the image is empty";
  if (format == kSourceFormat) {
    program_ = BuildSource(function, *of, image, options);
  } else if (format == kBinaryFormat) {
    program_ = BuildBinary(function, *of, image, options);
  } else {
    KP_THROW(ValueError) << function << ": opencl takes no format '" << format << "'; expected '" << kSourceFormat
                         << "' (OpenCL C source) or '" << kBinaryFormat << "' (a program binary of this device)";
  }
}

Code::~Code() {
  for (const auto& [name, kernel] : kernels_) Handles<Kernel>::Get().Forget(kernel.get());
  device->cl->clReleaseProgram(program_);
}

Kernel* Code::GetKernel(const char* function, std::string_view name) {
  const std::lock_guard lock(mutex_);
  if (const auto known = kernels_.find(name); known != kernels_.end()) return known->second.get();
  const std::string text(name);
  cl_int status = CL_SUCCESS;
  cl_kernel made = device->cl->clCreateKernel(program_, text.c_str(), &status);
  if (status == CL_INVALID_KERNEL_NAME) {
    KP_THROW(AttributeError) << function << ": there is no kernel '" << name << "'; the code has " << KernelNames();
  }
  Check(status, "clCreateKernel", function, device->index);
  const auto kernel = std::make_shared<Kernel>(function, device, made, text);
  kernels_.emplace(text, kernel);
  Handles<Kernel>::Get().Add(kernel);
  return kernel.get();
}

std::string Code::KernelNames() const {
  size_t size = 0;
  if (device->cl->clGetProgramInfo(program_, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size) != CL_SUCCESS || size < 2) {
    return "none";
  }
  std::string names(size, '\0');
  device->cl->clGetProgramInfo(program_, CL_PROGRAM_KERNEL_NAMES, size, names.data(), nullptr);
  std::string list;
  for (const char c : std::string_view(names.c_str())) {
    if (c == ';') {
      list += ", ";
    } else {
      list += c;
    }
  }
  return list;
}

}  // namespace kernpack::opencl
