// Copies and launches on opencl:0 through the device table, and the same with plain OpenCL calls on the same device, so that one
// process measures both. Each returns the nanoseconds of one operation, the fastest of `rounds` batches.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <dlfcn.h>
#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

#include <chrono>
#include <vector>

namespace kp = kernpack;

namespace {

constexpr char kSource[] = R"(
__kernel void scale(__global float* y, ulong y0, __global const float* x, ulong x0, float a, int n) {
  size_t i = get_global_id(0);
  if (i < n) y[y0 + i] = a * x[x0 + i];
}
)";
constexpr kp::DeviceCode kCode{"bench", "cl", kSource};
constexpr int64_t kBatch = 100;  // launches between two waits

template <class T>
T* Find(T*, const char* name) {
  static void* const library = dlopen("libOpenCL.so.1", RTLD_NOW);
  void* symbol = library ? dlsym(library, name) : nullptr;
  KP_CHECK(symbol != nullptr, RuntimeError) << "libOpenCL.so.1 has no " << name;
  return reinterpret_cast<T*>(symbol);
}
#define CL(name) (Find(&::name, #name))

// The objects that a program without Kernpack would set up, on the device of the same name.
struct Raw {
  cl_context context;
  cl_command_queue queue;
  cl_kernel kernel;

  explicit Raw(kp::StringView wanted) {
    cl_platform_id platforms[16];
    cl_uint platform_count = 0;
    CL(clGetPlatformIDs)(16, platforms, &platform_count);
    cl_device_id device = nullptr;
    for (cl_uint p = 0; p < platform_count && p < 16; ++p) {
      cl_device_id devices[16];
      cl_uint count = 0;
      CL(clGetDeviceIDs)(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &count);
      for (cl_uint d = 0; d < count && d < 16 && !device; ++d) {
        char name[256] = "";
        CL(clGetDeviceInfo)(devices[d], CL_DEVICE_NAME, sizeof name, name, nullptr);
        if (kp::StringView(name) == wanted) device = devices[d];
      }
    }
    KP_CHECK(device != nullptr, RuntimeError) << "plain OpenCL finds no device named " << wanted;
    cl_int status = 0;
    context = CL(clCreateContext)(nullptr, 1, &device, nullptr, nullptr, &status);
    queue = CL(clCreateCommandQueue)(context, device, 0, &status);
    const char* source = kSource;
    cl_program program = CL(clCreateProgramWithSource)(context, 1, &source, nullptr, &status);
    CL(clBuildProgram)(program, 1, &device, "", nullptr, nullptr);
    kernel = CL(clCreateKernel)(program, "scale", &status);
    KP_CHECK(status == CL_SUCCESS, RuntimeError) << "plain OpenCL cannot make the kernel: " << status;
  }
};

Raw& TheRaw() {
  static Raw& raw = []() -> Raw& {
    const KpDeviceApi& api = kp::device_api(kp::Device::opencl());
    kp::Any name;
    kp::detail::check_host(api.get_attr(&api, kp::Device::opencl(), KP_ATTR_DEVICE_NAME, name.out()));
    KpBytes text;
    kp_any_str(&name.raw(), &text);
    return *new Raw(text);
  }();
  return raw;
}

void Check(cl_int status) { KP_CHECK(status == CL_SUCCESS, RuntimeError) << "OpenCL error " << status; }

// The fastest of `rounds` calls of body(), in nanoseconds.
template <class Body>
double Fastest(int64_t rounds, Body body) {
  double best = 1e18;
  for (int64_t i = 0; i < rounds; ++i) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    if (took.count() < best) best = took.count();
  }
  return best;
}

double CopyOurs(bool to_device, int64_t bytes, int64_t rounds) {
  const kp::Device device = kp::Device::opencl();
  const KpDeviceApi& api = kp::device_api(device);
  void* handle = nullptr;
  kp::detail::check_host(api.alloc(&api, device, static_cast<uint64_t>(bytes), 64, KpBytes{}, &handle));
  std::vector<char> host(static_cast<size_t>(bytes), 1);
  const KpMemory here{host.data(), 0, kp::Device::cpu()};
  const KpMemory there{handle, 0, device};
  const double best = Fastest(rounds, [&] {
    kp::detail::check_host(
        api.copy(&api, to_device ? &here : &there, to_device ? &there : &here, static_cast<uint64_t>(bytes), nullptr));
  });
  kp::detail::check_host(api.free(&api, device, handle));
  return best;
}

double CopyRaw(bool to_device, int64_t bytes, int64_t rounds) {
  Raw& raw = TheRaw();
  cl_int status = 0;
  const auto size = static_cast<size_t>(bytes);
  cl_mem buffer = CL(clCreateBuffer)(raw.context, CL_MEM_READ_WRITE, size, nullptr, &status);
  Check(status);
  std::vector<char> host(size, 1);
  const auto write = CL(clEnqueueWriteBuffer);
  const auto read = CL(clEnqueueReadBuffer);
  const double best = Fastest(rounds, [&] {
    Check(to_device ? write(raw.queue, buffer, CL_TRUE, 0, size, host.data(), 0, nullptr, nullptr)
                    : read(raw.queue, buffer, CL_TRUE, 0, size, host.data(), 0, nullptr, nullptr));
  });
  CL(clReleaseMemObject)(buffer);
  return best;
}

double Copy(bool ours, bool to_device, int64_t bytes, int64_t rounds) {
  return ours ? CopyOurs(to_device, bytes, rounds) : CopyRaw(to_device, bytes, rounds);
}

// Other arguments in each launch, as in a program: what is kept of the last ones does not help.
double LaunchRaw(int64_t rounds) {
  Raw& raw = TheRaw();
  cl_int status = 0;
  cl_mem x = CL(clCreateBuffer)(raw.context, CL_MEM_READ_WRITE, 64, nullptr, &status);
  cl_mem y = CL(clCreateBuffer)(raw.context, CL_MEM_READ_WRITE, 64, nullptr, &status);
  const auto set = CL(clSetKernelArg);
  const auto enqueue = CL(clEnqueueNDRangeKernel);
  const auto finish = CL(clFinish);
  const cl_ulong zero = 0;
  const int n = 1;
  const size_t size[3] = {1, 1, 1};
  const double best = Fastest(rounds, [&] {
    for (int64_t i = 0; i < kBatch; ++i) {
      const float a = static_cast<float>(i);
      set(raw.kernel, 0, sizeof y, i % 2 ? &y : &x);
      set(raw.kernel, 1, sizeof zero, &zero);
      set(raw.kernel, 2, sizeof x, i % 2 ? &x : &y);
      set(raw.kernel, 3, sizeof zero, &zero);
      set(raw.kernel, 4, sizeof a, &a);
      set(raw.kernel, 5, sizeof n, &n);
      Check(enqueue(raw.queue, raw.kernel, 3, nullptr, size, size, 0, nullptr, nullptr));
    }
    Check(finish(raw.queue));
  });
  CL(clReleaseMemObject)(x);
  CL(clReleaseMemObject)(y);
  return best / kBatch;
}

double LaunchOurs(int64_t rounds) {
  const kp::Device device = kp::Device::opencl();
  const KpDeviceApi& api = kp::device_api(device);
  void* memory[2] = {};
  for (void*& handle : memory) kp::detail::check_host(api.alloc(&api, device, 64, 64, KpBytes{}, &handle));
  void* kernel = kp::device_kernel(device, kCode, "scale");
  const int n = 1;
  const double best = Fastest(rounds, [&] {
    for (int64_t i = 0; i < kBatch; ++i) {
      const float a = static_cast<float>(i);
      const KpKernelArg args[] = {{KP_ARG_MEMORY, 4, memory[i % 2], 0},
                                  {KP_ARG_MEMORY, 4, memory[1 - i % 2], 0},
                                  {KP_ARG_VALUE, sizeof a, &a, 0},
                                  {KP_ARG_VALUE, sizeof n, &n, 0}};
      const KpLaunch launch{sizeof launch, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, 0, 4, args, 0, 0};
      kp::detail::check_host(api.launch(&api, device, kernel, &launch, nullptr));
    }
    kp::detail::check_host(api.stream_sync(&api, device, nullptr));
  });
  for (void* handle : memory) kp::detail::check_host(api.free(&api, device, handle));
  return best / kBatch;
}

double Launch(bool ours, int64_t rounds) { return ours ? LaunchOurs(rounds) : LaunchRaw(rounds); }

}  // namespace

KP_MODULE("opencl_bench", "1.0.0");
KP_EXPORT(copy, Copy);
KP_EXPORT(launch, Launch);
