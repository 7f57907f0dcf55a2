#include "kernel.h"

#include "error.h"

namespace kernpack::opencl {

Kernel::Kernel(const char* function, const Device* of, cl_kernel kernel, std::string name)
    : device(of), kernel_(kernel), name_(std::move(name)) {
  const EntryPoints& cl = *device->cl;
  cl_uint count = 0;
  Check(cl.clGetKernelInfo(kernel_, CL_KERNEL_NUM_ARGS, sizeof(count), &count, nullptr), "clGetKernelInfo", function,
        device->index);
  parameters_.resize(count);
  bound_.resize(count);
  ReadParameters();
  const auto group = [&](cl_kernel_work_group_info what, auto* out) {
    cl.clGetKernelWorkGroupInfo(kernel_, device->facts->id, what, sizeof(*out), out, nullptr);
  };
  group(CL_KERNEL_WORK_GROUP_SIZE, &max_group_);
  group(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, &required_group_);
  cl_ulong local = 0;
  group(CL_KERNEL_LOCAL_MEM_SIZE, &local);
  static_local_ = local;
}

Kernel::~Kernel() { device->cl->clReleaseKernel(kernel_); }

void Kernel::ReadParameters() {
  const auto read = [&](cl_uint index, cl_kernel_arg_info what, size_t size, void* out) {
    return device->cl->clGetKernelArgInfo(kernel_, index, what, size, out, nullptr) == CL_SUCCESS;
  };
  for (cl_uint i = 0; i < parameters_.size(); ++i) {
    Parameter& parameter = parameters_[i];
    char text[256] = "";
    if (read(i, CL_KERNEL_ARG_NAME, sizeof(text), text)) parameter.name = text;
    text[0] = 0;
    if (read(i, CL_KERNEL_ARG_TYPE_NAME, sizeof(text), text)) parameter.type = text;
    read(i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(parameter.space), &parameter.space);
    cl_kernel_arg_type_qualifier qualifier = 0;
    if (read(i, CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof(qualifier), &qualifier)) {
      parameter.is_const = (qualifier & CL_KERNEL_ARG_TYPE_CONST) != 0;
    }
  }
}

std::string Kernel::ParameterName(cl_uint index) const {
  const Parameter& parameter = parameters_[index];
  const std::string number = "parameter " + std::to_string(index);
  return parameter.name.empty() ? number : number + " (" + parameter.type + " " + parameter.name + ")";
}

}  // namespace kernpack::opencl
