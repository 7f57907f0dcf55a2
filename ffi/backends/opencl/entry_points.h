// The OpenCL library of this machine, opened at run time: nothing links to it. One list of every function that is called makes the
// table, its types and the look-up.
#ifndef KERNPACK_BACKENDS_OPENCL_ENTRY_POINTS_H_
#define KERNPACK_BACKENDS_OPENCL_ENTRY_POINTS_H_

#include <string>

// The oldest OpenCL that is driven; newer drivers offer all of it.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define KP_OPENCL_ENTRY_POINTS(X) \
  X(clGetPlatformIDs)             \
  X(clGetPlatformInfo)            \
  X(clGetDeviceIDs)               \
  X(clGetDeviceInfo)              \
  X(clCreateContext)              \
  X(clCreateCommandQueue)         \
  X(clReleaseCommandQueue)        \
  X(clFlush)                      \
  X(clFinish)                     \
  X(clCreateBuffer)               \
  X(clReleaseMemObject)           \
  X(clEnqueueReadBuffer)          \
  X(clEnqueueReadBufferRect)      \
  X(clEnqueueWriteBuffer)         \
  X(clEnqueueWriteBufferRect)     \
  X(clEnqueueCopyBuffer)          \
  X(clEnqueueCopyBufferRect)      \
  X(clEnqueueFillBuffer)          \
  X(clEnqueueMarkerWithWaitList)  \
  X(clEnqueueBarrierWithWaitList) \
  X(clWaitForEvents)              \
  X(clGetEventInfo)               \
  X(clRetainEvent)                \
  X(clReleaseEvent)               \
  X(clGetEventProfilingInfo)      \
  X(clCreateProgramWithSource)    \
  X(clCreateProgramWithBinary)    \
  X(clBuildProgram)               \
  X(clGetProgramInfo)             \
  X(clGetProgramBuildInfo)        \
  X(clReleaseProgram)             \
  X(clCreateKernel)               \
  X(clGetKernelInfo)              \
  X(clGetKernelArgInfo)           \
  X(clGetKernelWorkGroupInfo)     \
  X(clSetKernelArg)               \
  X(clReleaseKernel)              \
  X(clEnqueueNDRangeKernel)

namespace kernpack::opencl {

struct EntryPoints {
#define KP_OPENCL_DECLARE_(name) decltype(&::name) name = nullptr;
  KP_OPENCL_ENTRY_POINTS(KP_OPENCL_DECLARE_)
#undef KP_OPENCL_DECLARE_
};

// Opens libOpenCL.so.1 (KERNPACK_OPENCL_LIBRARY names another) and looks every entry point up. Returns why that cannot be done,
// or "" when `out` is filled. The library stays in memory.
std::string OpenDriver(EntryPoints* out);

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_ENTRY_POINTS_H_
