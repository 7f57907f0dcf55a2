// The handlers that are registered with XLA: one instantiate, one execute a platform, for every function of every module.
#include <kernpack/host/xla.h>

#include <exception>
#include <memory>

#include "base/loader/float_environment.h"
#include "base/call_flags.h"
#include "guests/xla/call_site.h"
#include "guests/xla/execute.h"
#include "guests/xla/runtime.h"

namespace kernpack::xla {
namespace {

// Nothing may be thrown through XLA.
template <typename Body>
Error* Guarded(const CallFrame* frame, Body body) noexcept {
  try {
    return body();
  } catch (const std::exception& e) {
    return MakeError(frame->api, ErrorCode::kInternal, e.what());
  } catch (...) {
    return MakeError(frame->api, ErrorCode::kInternal, "kernpack: unknown C++ exception");
  }
}

Error* Instantiate(const CallFrame* frame) {
  if (Error* error = CheckRuntime(frame)) return error;
  auto site = std::make_unique<CallSite>();
  if (StaticCall::Find(frame->attributes, &site->call)) return TakeRaised(frame->api, "kernpack: XLA instantiate", -1);
  site->cpu_call = site->call->function->cpu_call;
  site->cpu_self = site->call->function->cpu_self;
  return SetCallSite(frame, site.release());
}

Error* ExecuteOnCpu(const CallFrame* frame) {
  CallSite* site = nullptr;
  if (Error* error = GetCallSite(frame, &site)) return error;
  int32_t width = site->pool_width.load(std::memory_order_relaxed);
  if (width == 0) {
    width = PoolWidth(frame);
    site->pool_width.store(width, std::memory_order_relaxed);
  }
  constexpr KpDLDevice kCpu = {KP_DEVICE_CPU, 0};
  KpCallContext context = {};
  context.device = kCpu;
  context.parallel_for = ParallelFor;
  context.parallel_context = const_cast<CallFrame*>(frame);
  context.parallel_threads = width;
  KpSafeCall call = site->cpu_call;
  void* self = site->cpu_self;
  int rc = 0;
  if (!call || host::Watched()) rc = kp_function_resolve(site->call->function, kCpu, &call, &self);
  const host::SubnormalsAreNumbers in_the_kernel;
  if (!rc) rc = Execute(*frame, site, kCpu, call, self, &context);
  return rc ? TakeRaised(frame->api, site->call->function->name, rc) : nullptr;
}

Error* ExecuteOnCuda(const CallFrame* frame) {
  const Api* api = frame->api;
  CallSite* site = nullptr;
  if (Error* error = GetCallSite(frame, &site)) return error;
  OrdinalGetArgs ordinal = {sizeof ordinal, nullptr, frame->context, 0};
  if (Error* error = api->device_ordinal_get(&ordinal)) return error;
  StreamGetArgs stream = {sizeof stream, nullptr, frame->context, nullptr};
  if (Error* error = api->stream_get(&stream)) return error;
  const KpDLDevice device = {KP_DEVICE_CUDA, ordinal.ordinal};
  KpCallContext context = {};
  context.device = device;
  context.stream = stream.stream;
  KpSafeCall call = nullptr;
  void* self = nullptr;
  int rc = kp_function_resolve(site->call->function, device, &call, &self);
  if (!rc) rc = Execute(*frame, site, device, call, self, &context);
  return rc ? TakeRaised(api, site->call->function->name, rc) : nullptr;
}

}  // namespace
}  // namespace kernpack::xla

using kernpack::xla::AnswerMetadata;
using kernpack::xla::CallFrame;
using kernpack::xla::Guarded;

extern "C" void* kp_xla_ffi_instantiate(void* call_frame) {
  auto* frame = static_cast<CallFrame*>(call_frame);
  return Guarded(frame, [frame] { return AnswerMetadata(frame, true) ? nullptr : kernpack::xla::Instantiate(frame); });
}

extern "C" void* kp_xla_ffi_execute_cpu(void* call_frame) {
  auto* frame = static_cast<CallFrame*>(call_frame);
  return Guarded(frame, [frame] {
    return frame->extension && AnswerMetadata(frame, false) ? nullptr : kernpack::xla::ExecuteOnCpu(frame);
  });
}

extern "C" void* kp_xla_ffi_execute_cuda(void* call_frame) {
  auto* frame = static_cast<CallFrame*>(call_frame);
  return Guarded(frame,
                 [frame] { return AnswerMetadata(frame, false) ? nullptr : kernpack::xla::ExecuteOnCuda(frame); });
}
