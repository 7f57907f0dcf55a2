// Launches: sizes and arguments are checked, because drivers refuse them late, vaguely or not at all.
#include <cstring>

#include "error.h"
#include "kernel.h"
#include "stream.h"

namespace kernpack::opencl {
namespace {

bool HasGroup(const KpLaunch& launch) { return launch.block[0] != 0 || launch.block[1] != 0 || launch.block[2] != 0; }

std::string FormatList(const uint32_t (&sizes)[3]) {
  return "[" + std::to_string(sizes[0]) + ", " + std::to_string(sizes[1]) + ", " + std::to_string(sizes[2]) + "]";
}

}  // namespace

void Kernel::Launch(const char* function, const KpLaunch& launch, Stream* stream) {
  CheckSizes(function, launch);
  CheckArgumentCount(function, launch);
  const bool grouped = HasGroup(launch);
  const bool required = required_group_[0] != 0;
  size_t global[3];
  size_t local[3];
  for (int d = 0; d < 3; ++d) {
    local[d] = grouped ? launch.block[d] : required_group_[d];
    global[d] = grouped ? launch.grid[d] * local[d] : launch.grid[d];
  }
  const std::lock_guard lock(launching_);
  SetArguments(function, launch);
  const cl_int status = device->cl->clEnqueueNDRangeKernel(stream->queue(), kernel_, 3, nullptr, global,
                                                           grouped || required ? local : nullptr, 0, nullptr, nullptr);
  if (status != CL_SUCCESS) {
    ThrowStatus(status, "clEnqueueNDRangeKernel", std::string(function) + ": " + name_, device->index);
  }
  stream->Queued();
}

void Kernel::CheckSizes(const char* function, const KpLaunch& launch) const {
  if (launch.dynamic_shared != 0) {
    KP_THROW(ValueError) << function << ": " << name_ << ": dynamic_shared: opencl has no such memory; pass "
                         << launch.dynamic_shared << " bytes for a __local parameter instead";
  }
  for (const uint32_t cluster : launch.cluster) {
    if (cluster > 1) {
      KP_THROW(ValueError) << function << ": " << name_ << ": cluster: opencl has no clusters, got "
                           << FormatList(launch.cluster);
    }
  }
  if (!HasGroup(launch)) return CheckItems(function, launch);
  size_t items = 1;
  for (int d = 0; d < 3; ++d) {
    const size_t size = launch.block[d];
    if (size == 0 || size > device->max_items[d]) {
      KP_THROW(ValueError) << function << ": " << name_ << ": block[" << d << "]: expected 1 to "
                           << device->max_items[d] << " on " << GetName(device->index) << ", got " << size;
    }
    if (required_group_[0] != 0 && size != required_group_[d]) {
      KP_THROW(ValueError) << function << ": " << name_ << ": block: the kernel requires work groups of ["
                           << required_group_[0] << ", " << required_group_[1] << ", " << required_group_[2]
                           << "], got " << FormatList(launch.block);
    }
    items *= size;  // each factor is at most 2^32, and is checked before the next
    if (items > max_group_) {
      KP_THROW(ValueError) << function << ": " << name_ << ": block: a work group of this kernel has at most "
                           << max_group_ << " work items on " << GetName(device->index) << ", got "
                           << FormatList(launch.block);
    }
  }
}

// Without a work group of its own, a launch takes the one that the kernel requires.
void Kernel::CheckItems(const char* function, const KpLaunch& launch) const {
  for (int d = 0; d < 3; ++d) {
    if (required_group_[d] > 1 && launch.grid[d] % required_group_[d] != 0) {
      KP_THROW(ValueError) << function << ": " << name_ << ": grid[" << d << "]: the kernel requires work groups of "
                           << required_group_[d] << ", " << launch.grid[d] << " work items aren't a multiple of that";
    }
  }
}

void Kernel::CheckArgumentCount(const char* function, const KpLaunch& launch) const {
  size_t given = 0;
  uint64_t local = static_local_;
  for (int32_t i = 0; i < launch.num_args; ++i) {
    const KpKernelArg& arg = launch.args[i];
    given += arg.kind == KP_ARG_MEMORY ? 2 : 1;
    if (arg.kind == KP_ARG_LOCAL) local += arg.size;
  }
  if (given != parameters_.size()) {
    KP_THROW(TypeError) << function << ": " << name_ << " has " << parameters_.size() << " parameters, the "
                        << launch.num_args << " arguments are " << given
                        << " (memory is two: the handle, and its offset in elements as ulong)";
  }
  if (local > device->local_memory) {
    KP_THROW(ValueError) << function << ": " << name_ << ": a work group has at most " << device->local_memory
                         << " bytes of local memory on " << GetName(device->index) << ", the launch needs " << local;
  }
}

void Kernel::SetArguments(const char* function, const KpLaunch& launch) {
  cl_uint index = 0;
  for (int32_t i = 0; i < launch.num_args; ++i) {
    const KpKernelArg& arg = launch.args[i];
    switch (arg.kind) {
      case KP_ARG_VALUE:
        SetValue(function, index++, arg);
        break;
      case KP_ARG_MEMORY:
        SetMemory(function, index, arg);
        index += 2;
        break;
      case KP_ARG_LOCAL:
        SetLocal(function, index++, arg);
        break;
      default:
        KP_THROW(ValueError) << function << ": " << name_ << ": argument " << i << " has an unknown kind, " << arg.kind;
    }
  }
}

void Kernel::SetValue(const char* function, cl_uint index, const KpKernelArg& arg) {
  Bound& bound = bound_[index];
  const bool small = arg.size <= sizeof(bound.value);
  if (small && bound.size == arg.size && std::memcmp(bound.value, arg.data, arg.size) == 0) return;
  const cl_kernel_arg_address_qualifier space = parameters_[index].space;
  ExpectSpace(function, index, space == 0 || space == CL_KERNEL_ARG_ADDRESS_PRIVATE, "a value");
  Set(function, index, arg.size, arg.data);
  bound.size = small ? arg.size : UINT32_MAX;
  if (small) std::memcpy(bound.value, arg.data, arg.size);
}

void Kernel::SetLocal(const char* function, cl_uint index, const KpKernelArg& arg) {
  Bound& bound = bound_[index];
  if (bound.size == arg.size) return;
  const cl_kernel_arg_address_qualifier space = parameters_[index].space;
  ExpectSpace(function, index, space == 0 || space == CL_KERNEL_ARG_ADDRESS_LOCAL, "local memory");
  Set(function, index, arg.size, nullptr);
  bound.size = arg.size;
}

// The handle and, as the next parameter, the offset in elements.
void Kernel::SetMemory(const char* function, cl_uint index, const KpKernelArg& arg) {
  Bound& bound = bound_[index];
  const uint64_t generation = Buffers::Get().generation();
  if (bound.generation == generation && bound.handle == arg.data && bound.offset == arg.offset &&
      bound.size == arg.size) {
    return;
  }
  bound.generation = 0;  // should one of the two be refused
  const Parameter& parameter = parameters_[index];
  const bool constant_space = parameter.space == CL_KERNEL_ARG_ADDRESS_CONSTANT;
  ExpectSpace(function, index,
              parameter.space == 0 || constant_space || parameter.space == CL_KERNEL_ARG_ADDRESS_GLOBAL, "memory");
  const Buffer buffer = Buffers::Get().Find(function, *device, arg.data, arg.offset, 0);
  if (arg.size == 0 || arg.offset % arg.size != 0) {
    KP_THROW(ValueError) << function << ": " << name_ << ": " << ParameterName(index) << ": the offset of "
                         << arg.offset << " bytes isn't a multiple of the element's " << arg.size << " bytes";
  }
  if (buffer.scope == Scope::kConstant && parameter.space == CL_KERNEL_ARG_ADDRESS_GLOBAL && !parameter.is_const) {
    KP_THROW(TypeError)
        << function << ": " << name_ << ": " << ParameterName(index)
        << " may be written, its memory is of scope 'constant'; declare the parameter __constant or const "
           "__global, or allocate in scope 'global'";
  }
  if (constant_space && buffer.bytes > device->max_constant) {
    KP_THROW(ValueError) << function << ": " << name_ << ": " << ParameterName(index) << " is __constant, of which "
                         << GetName(device->index) << " takes at most " << device->max_constant << " bytes, got "
                         << buffer.bytes;
  }
  Set(function, index, sizeof(cl_mem), &buffer.memory);
  const cl_ulong elements = arg.offset / arg.size;
  Set(function, index + 1, sizeof(elements), &elements);
  bound.size = arg.size;
  bound.handle = arg.data;
  bound.offset = arg.offset;
  bound.generation = generation;
}

void Kernel::Set(const char* function, cl_uint index, size_t size, const void* value) {
  const cl_int status = device->cl->clSetKernelArg(kernel_, index, size, value);
  if (__builtin_expect(status == CL_SUCCESS, 1)) return;
  if (status == CL_INVALID_ARG_SIZE || status == CL_INVALID_ARG_VALUE) {
    KP_THROW(TypeError) << function << ": " << name_ << ": " << ParameterName(index) << " does not take " << size
                        << " bytes (" << ErrorName(status) << ')';
  }
  ThrowStatus(status, "clSetKernelArg", std::string(function) + ": " + name_ + ": " + ParameterName(index),
              device->index);
}

void Kernel::ExpectSpace(const char* function, cl_uint index, bool fits, const char* given) const {
  if (__builtin_expect(fits, 1)) return;
  const char* expected = "a value";
  const cl_kernel_arg_address_qualifier space = parameters_[index].space;
  if (space == CL_KERNEL_ARG_ADDRESS_LOCAL) expected = "local memory";
  if (space == CL_KERNEL_ARG_ADDRESS_GLOBAL || space == CL_KERNEL_ARG_ADDRESS_CONSTANT) expected = "memory";
  KP_THROW(TypeError) << function << ": " << name_ << ": " << ParameterName(index) << ": expected " << expected
                      << ", got " << given;
}

}  // namespace kernpack::opencl
