// Devices, streams and events.
#include "driver/machine.h"
#include "runtime/runtime.h"

namespace kernpack::cuda::runtime {
namespace {

thread_local int t_device = 0;  // of a thread without a context

// The device's primary context, for as long as the process lives.
Error Primary(int device, Context* out) {
  DeviceHandle handle = 0;
  if (const Result result = Driver().cuDeviceGet(&handle, device); result != kSuccess) return Said(result);
  Machine& machine = Machine::Get();
  {
    const std::lock_guard lock(machine.mutex);
    *out = machine.contexts[static_cast<size_t>(handle)].get();
    if ((*out)->retained != 0) return kSuccess;
  }
  return Said(Driver().cuDevicePrimaryCtxRetain(out, handle));
}

Error MakeCurrent(int device) {
  Context context = nullptr;
  if (const Error error = Primary(device, &context); error != kSuccess) return error;
  return Said(Driver().cuCtxSetCurrent(context));
}

}  // namespace

const Entries& Driver() {
  static const Entries found = [] {
    Entries made;
    ProcAddressStatus status{};
#define KP_RUNTIME_FIND_(name, version, parameters) \
  cuGetProcAddress_v2(#name, reinterpret_cast<void**>(&made.name), version, 0, &status);
    KP_EMULATOR_ENTRIES(KP_RUNTIME_FIND_)
#undef KP_RUNTIME_FIND_
    return made;
  }();
  return found;
}

Error Ready() {
  if (const Result result = Driver().cuInit(0); result != kSuccess) return Said(result);
  Context context = nullptr;
  if (const Result result = Driver().cuCtxGetCurrent(&context); result != kSuccess) return Said(result);
  return context != nullptr ? kSuccess : MakeCurrent(t_device);
}

Error CurrentDevice(int* device) { return Called(Driver().cuCtxGetDevice, device); }

}  // namespace kernpack::cuda::runtime

using namespace kernpack::cuda::runtime;
using kernpack::cuda::CaptureStatus;
using kernpack::cuda::DeviceAttribute;
using kernpack::cuda::Event;
using kernpack::cuda::kSuccess;
using kernpack::cuda::Machine;
using kernpack::cuda::Stream;

KP_RUNTIME_API Error cudaGetDeviceCount(int* count) {
  if (const auto result = Driver().cuInit(0); result != kSuccess) return Said(result);
  return Said(Driver().cuDeviceGetCount(count));
}
KP_RUNTIME_API Error cudaGetDevice(int* device) { return CurrentDevice(device); }
KP_RUNTIME_API Error cudaSetDevice(int device) {
  if (const auto result = Driver().cuInit(0); result != kSuccess) return Said(result);
  const Error error = MakeCurrent(device);
  if (error == kSuccess) t_device = device;
  return error;
}
KP_RUNTIME_API Error cudaDeviceGetAttribute(int* value, int attribute, int device) {
  if (const auto result = Driver().cuInit(0); result != kSuccess) return Said(result);
  return Said(Driver().cuDeviceGetAttribute(value, static_cast<DeviceAttribute>(attribute), device));
}
KP_RUNTIME_API Error cudaDeviceSynchronize() {
  if (const Error error = Ready(); error != kSuccess) return error;
  const std::lock_guard lock(Machine::Get().mutex);
  kernpack::cuda::Context context = nullptr;
  if (const auto result = kernpack::cuda::NeedContext(&context); result != kSuccess) return Said(result);
  return Said(kernpack::cuda::RunAll(context));
}
KP_RUNTIME_API Error cudaDriverGetVersion(int* version) { return Said(Driver().cuDriverGetVersion(version)); }
KP_RUNTIME_API Error cudaRuntimeGetVersion(int* version) { return Said(Driver().cuDriverGetVersion(version)); }

KP_RUNTIME_API Error cudaStreamCreateWithPriority(Stream* stream, unsigned flags, int priority) {
  return Called(Driver().cuStreamCreateWithPriority, stream, flags, priority);
}
KP_RUNTIME_API Error cudaStreamCreateWithFlags(Stream* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
KP_RUNTIME_API Error cudaStreamCreate(Stream* stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
KP_RUNTIME_API Error cudaStreamDestroy(Stream stream) { return Called(Driver().cuStreamDestroy, stream); }
KP_RUNTIME_API Error cudaStreamSynchronize(Stream stream) { return Called(Driver().cuStreamSynchronize, stream); }
KP_RUNTIME_API Error cudaStreamQuery(Stream stream) { return Called(Driver().cuStreamQuery, stream); }
KP_RUNTIME_API Error cudaStreamWaitEvent(Stream stream, Event event, unsigned flags) {
  return Called(Driver().cuStreamWaitEvent, stream, event, flags);
}
KP_RUNTIME_API Error cudaStreamIsCapturing(Stream stream, CaptureStatus* status) {
  return Called(Driver().cuStreamIsCapturing, stream, status);
}

KP_RUNTIME_API Error cudaEventCreateWithFlags(Event* event, unsigned flags) {
  return Called(Driver().cuEventCreate, event, flags);
}
KP_RUNTIME_API Error cudaEventCreate(Event* event) { return cudaEventCreateWithFlags(event, 0); }
KP_RUNTIME_API Error cudaEventDestroy(Event event) { return Called(Driver().cuEventDestroy, event); }
KP_RUNTIME_API Error cudaEventRecord(Event event, Stream stream) {
  return Called(Driver().cuEventRecord, event, stream);
}
KP_RUNTIME_API Error cudaEventQuery(Event event) { return Called(Driver().cuEventQuery, event); }
KP_RUNTIME_API Error cudaEventSynchronize(Event event) { return Called(Driver().cuEventSynchronize, event); }
KP_RUNTIME_API Error cudaEventElapsedTime(float* milliseconds, Event begin, Event end) {
  return Called(Driver().cuEventElapsedTime, milliseconds, begin, end);
}
