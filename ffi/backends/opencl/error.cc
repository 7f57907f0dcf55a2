#include "error.h"

namespace kernpack::opencl {
namespace {

struct Status {
  cl_int code;
  const char* name;
  const char* advice;  // nullable
};

constexpr const char* kFreeMemory = "free tensors and workspaces on the device, or use smaller ones";
constexpr const char* kKernelSize =
    "the kernel needs more registers or local memory than a work group of this size has; launch smaller work groups";

#define KP_STATUS(name, advice) {name, #name, advice}
constexpr Status kStatuses[] = {
    KP_STATUS(CL_DEVICE_NOT_FOUND, nullptr),
    KP_STATUS(CL_DEVICE_NOT_AVAILABLE, "another process may hold the device"),
    KP_STATUS(CL_COMPILER_NOT_AVAILABLE, "this driver has no compiler; load a program binary made for the device"),
    KP_STATUS(CL_MEM_OBJECT_ALLOCATION_FAILURE, kFreeMemory),
    KP_STATUS(CL_OUT_OF_RESOURCES, kKernelSize),
    KP_STATUS(CL_OUT_OF_HOST_MEMORY, kFreeMemory),
    KP_STATUS(CL_PROFILING_INFO_NOT_AVAILABLE, nullptr),
    KP_STATUS(CL_MEM_COPY_OVERLAP, "source and destination share bytes; copy through a third buffer"),
    KP_STATUS(CL_BUILD_PROGRAM_FAILURE, nullptr),
    KP_STATUS(CL_MAP_FAILURE, nullptr),
    KP_STATUS(CL_MISALIGNED_SUB_BUFFER_OFFSET, nullptr),
    KP_STATUS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "an earlier command on the stream failed"),
    KP_STATUS(CL_COMPILE_PROGRAM_FAILURE, nullptr),
    KP_STATUS(CL_LINKER_NOT_AVAILABLE, nullptr),
    KP_STATUS(CL_LINK_PROGRAM_FAILURE, nullptr),
    KP_STATUS(CL_DEVICE_PARTITION_FAILED, nullptr),
    KP_STATUS(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, nullptr),
    KP_STATUS(CL_INVALID_VALUE, nullptr),
    KP_STATUS(CL_INVALID_DEVICE_TYPE, nullptr),
    KP_STATUS(CL_INVALID_PLATFORM, nullptr),
    KP_STATUS(CL_INVALID_DEVICE, nullptr),
    KP_STATUS(CL_INVALID_CONTEXT, "the handle belongs to another device or another library's context"),
    KP_STATUS(CL_INVALID_QUEUE_PROPERTIES, nullptr),
    KP_STATUS(CL_INVALID_COMMAND_QUEUE, "the stream belongs to another device, or was freed"),
    KP_STATUS(CL_INVALID_HOST_PTR, nullptr),
    KP_STATUS(CL_INVALID_MEM_OBJECT, "the handle was freed, or isn't an OpenCL buffer of this device"),
    KP_STATUS(CL_INVALID_BINARY, "the program binary was made for another device or driver, or is damaged"),
    KP_STATUS(CL_INVALID_BUILD_OPTIONS, "the driver does not know one of the build options"),
    KP_STATUS(CL_INVALID_PROGRAM, nullptr),
    KP_STATUS(CL_INVALID_PROGRAM_EXECUTABLE, nullptr),
    KP_STATUS(CL_INVALID_KERNEL_NAME, nullptr),
    KP_STATUS(CL_INVALID_KERNEL_DEFINITION, nullptr),
    KP_STATUS(CL_INVALID_KERNEL, nullptr),
    KP_STATUS(CL_INVALID_ARG_INDEX, nullptr),
    KP_STATUS(CL_INVALID_ARG_VALUE, nullptr),
    KP_STATUS(CL_INVALID_ARG_SIZE, "the kernel's parameter has another size than the value passed for it"),
    KP_STATUS(CL_INVALID_KERNEL_ARGS, nullptr),
    KP_STATUS(CL_INVALID_WORK_DIMENSION, nullptr),
    KP_STATUS(CL_INVALID_WORK_GROUP_SIZE, "use a work group that the device and the kernel's attributes allow"),
    KP_STATUS(CL_INVALID_WORK_ITEM_SIZE, "one dimension of the work group is above the device's limit"),
    KP_STATUS(CL_INVALID_GLOBAL_OFFSET, nullptr),
    KP_STATUS(CL_INVALID_EVENT_WAIT_LIST, nullptr),
    KP_STATUS(CL_INVALID_EVENT, nullptr),
    KP_STATUS(CL_INVALID_OPERATION, nullptr),
    KP_STATUS(CL_INVALID_BUFFER_SIZE, "one allocation may not be larger than the device's max_mem_alloc_size"),
    KP_STATUS(CL_INVALID_GLOBAL_WORK_SIZE, nullptr),
    KP_STATUS(CL_INVALID_PROPERTY, nullptr),
    KP_STATUS(CL_INVALID_COMPILER_OPTIONS, "the driver does not know one of the build options"),
    KP_STATUS(CL_INVALID_LINKER_OPTIONS, nullptr),
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR", "install an OpenCL driver (Debian: pocl-opencl-icd runs on any CPU)"},
};
#undef KP_STATUS

const Status* Find(cl_int code) {
  for (const Status& status : kStatuses) {
    if (status.code == code) return &status;
  }
  return nullptr;
}

}  // namespace

const char* ErrorName(cl_int code) noexcept {
  const Status* status = Find(code);
  return status != nullptr ? status->name : "an OpenCL error without a name";
}

void ThrowStatus(cl_int code, const char* call, std::string_view what, int32_t device) {
  const Status* status = Find(code);
  Text text;
  text << what << " on opencl:" << device << ": " << call << " failed with " << ErrorName(code) << " (" << code << ')';
  if (status != nullptr && status->advice != nullptr) text << ": " << status->advice;
  const bool memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY;
  if (memory) KP_THROW(MemoryError) << text.bytes();
  KP_THROW(RuntimeError) << text.bytes();
}

}  // namespace kernpack::opencl
