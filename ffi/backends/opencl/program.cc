#include "program.h"

#include <vector>

#include "binary_cache.h"
#include "error.h"

namespace kernpack::opencl {
namespace {

// Always: names and kinds of parameters are what launches are checked against.
std::string AllOptions(std::string_view options) {
  std::string all = "-cl-kernel-arg-info";
  if (!options.empty()) all.append(" ").append(options);
  return all;
}

std::string BuildLog(const Device& device, cl_program program) {
  size_t size = 0;
  device.cl->clGetProgramBuildInfo(program, device.facts->id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  device.cl->clGetProgramBuildInfo(program, device.facts->id, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  log.resize(std::min(log.find('\0'), log.size()));
  while (!log.empty() && (log.back() == '\n' || log.back() == ' ')) log.pop_back();
  return log.empty() ? "(the compiler's log is empty)" : log;
}

cl_int Build(const Device& device, cl_program program, const std::string& options) {
  return device.cl->clBuildProgram(program, 1, &device.facts->id, options.c_str(), nullptr, nullptr);
}

// NULL, and why in *status, when the driver does not take it.
cl_program FromBinary(const Device& device, const unsigned char* data, size_t size, const std::string& options,
                      cl_int* status) {
  cl_int accepted = CL_SUCCESS;
  cl_program program =
      device.cl->clCreateProgramWithBinary(device.context, 1, &device.facts->id, &size, &data, &accepted, status);
  if (*status == CL_SUCCESS) *status = accepted;
  if (*status == CL_SUCCESS) *status = Build(device, program, options);
  if (*status == CL_SUCCESS) return program;
  if (program != nullptr) device.cl->clReleaseProgram(program);
  return nullptr;
}

std::vector<unsigned char> GetBinary(const Device& device, cl_program program) {
  size_t size = 0;
  if (device.cl->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr) != CL_SUCCESS)
    return {};
  std::vector<unsigned char> binary(size);
  unsigned char* data = binary.data();
  if (device.cl->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(data), &data, nullptr) != CL_SUCCESS) return {};
  return binary;
}

}  // namespace

cl_program BuildSource(const char* function, const Device& device, std::string_view source, std::string_view options) {
  const std::string all = AllOptions(options);
  const std::string key = CacheKey(*device.facts, source, all);
  cl_int status = CL_SUCCESS;
  if (const auto cached = ReadCache(key); !cached.empty()) {
    if (cl_program program = FromBinary(device, cached.data(), cached.size(), all, &status)) return program;
  }
  const char* text = source.data();
  const size_t size = source.size();
  cl_program program = device.cl->clCreateProgramWithSource(device.context, 1, &text, &size, &status);
  Check(status, "clCreateProgramWithSource", function, device.index);
  status = Build(device, program, all);
  if (status == CL_SUCCESS) {
    WriteCache(key, GetBinary(device, program));
    return program;
  }
  const std::string log = BuildLog(device, program);
  device.cl->clReleaseProgram(program);
  KP_THROW(ValueError) << function << ": the OpenCL source does not compile for " << GetName(device.index) << " ("
                       << device.facts->name << ", options '" << all << "'): " << ErrorName(status) << '\n'
                       << log;
}

cl_program BuildBinary(const char* function, const Device& device, std::string_view binary, std::string_view options) {
  cl_int status = CL_SUCCESS;
  cl_program program = FromBinary(device, reinterpret_cast<const unsigned char*>(binary.data()), binary.size(),
                                  AllOptions(options), &status);
  if (program != nullptr) return program;
  KP_THROW(ValueError) << function << ": " << GetName(device.index) << " (" << device.facts->name << ", driver "
                       << device.facts->driver_version << ") refuses this program binary of " << binary.size()
                       << " bytes with " << ErrorName(status) << "; load the source, format '" << kSourceFormat << '\'';
}

}  // namespace kernpack::opencl
