#include "codegen/frame/launch.h"

#include <kernpack/device_code.h>

#include "ir/stable_hash.h"
#include "codegen/frame/instance.h"

namespace kernpack::frame {
namespace {

// A launch has at most so many blocks or threads in a dimension.
constexpr int64_t kMostThreads = INT32_MAX;

// Which assert of a kernel failed first, and its values.
constexpr int64_t kMostWords = 5;

int CheckExtents(void* self, const int64_t* extents) {
  for (int d = 0; d < 6; ++d) {
    if (extents[d] <= kMostThreads) continue;
    return kp_fail(InstanceOf(self).host, "ValueError",
                   "a launch has at most %i blocks or threads per dimension, not %i", kMostThreads, extents[d]);
  }
  return 0;
}

bool IsEmpty(const int64_t* extents) {
  for (int d = 0; d < 6; ++d) {
    if (extents[d] <= 0) return true;
  }
  return false;
}

// The facts that a launch needs.
struct Queue {
  const KpDeviceApi* api = nullptr;
  void* kernel = nullptr;
  void* stream = nullptr;

  int Find(const KpFrameCall* call, const char* name) {
    const detail::Instance& instance = InstanceOf(call->self);
    const KpHost* host = instance.host;
    const KpFrameCode& code = *call->code;
    return detail::find_device_api(host, call->device, &api) ||
                   detail::find_kernel(
                       {detail::device_host(host), api, call->device, instance.module_name, kp_bytes(code.name),
                        kp_bytes(code.format), KpBytes{code.data, code.size}, KpBytes{nullptr, 0}, kp_bytes(name)},
                       &kernel) ||
                   host->current_stream(host, call->device, &stream)
               ? -1
               : 0;
  }

  int Launch(const KpFrameCall* call, const int64_t* extents, int32_t n, const KpKernelArg* args) const {
    return Launch(call, KpLaunch{}, extents, n, args);
  }
  int Launch(const KpFrameCall* call, KpLaunch launch, const int64_t* extents, int32_t n,
             const KpKernelArg* args) const {
    launch.struct_size = sizeof launch;
    for (int d = 0; d < 3; ++d) {
      launch.grid[d] = static_cast<uint32_t>(extents[d]);
      launch.block[d] = static_cast<uint32_t>(extents[d + 3]);
    }
    launch.num_args = n;
    launch.args = args;
    return api->launch(api, call->device, kernel, &launch, stream);
  }
};

// True if each parameter that has to be a multiple of 16 is one.
bool Takes(const KpFrameKernel& kernel, int32_t n, const KpKernelArg* args) {
  for (int32_t i = 0; i < n && i < 64; ++i) {
    if ((kernel.multiples >> i & 1) == 0) continue;
    const KpKernelArg& arg = args[kernel.parameters ? kernel.parameters[i].argument : static_cast<uint32_t>(i)];
    uint64_t value = arg.offset;
    if (arg.kind == KP_ARG_MEMORY) {
      value += reinterpret_cast<uintptr_t>(arg.data);
    } else {
      value = 0;
      memcpy(&value, arg.data, arg.size);
    }
    if (value % 16 != 0) return false;
  }
  return true;
}

int64_t NumberIn(const KpKernelArg& arg) {
  int64_t value = 0;
  memcpy(&value, arg.data, sizeof value);
  return value;
}

void Describe(const KpFrameParameter& parameter, const KpKernelArg* args, KpTensorMap* out) {
  const KpFrameTensorMap& map = *parameter.map;
  const KpKernelArg& memory = args[parameter.argument];
  *out = {const_cast<void*>(memory.data),
          memory.offset,
          parameter.tensor,
          map.rank,
          map.element_type,
          map.interleave,
          map.swizzle,
          map.l2_promotion,
          map.fill,
          {},
          {},
          {},
          {}};
  for (uint32_t i = 0; i < map.rank; ++i) {
    out->box[i] = map.box[i];
    out->steps[i] = map.steps[i];
    out->extents[i] = NumberIn(args[map.extents[i]]);
    if (i != 0) out->strides[i - 1] = NumberIn(args[map.strides[i - 1]]);
  }
}

// The kernel's parameters, where they aren't the launch's arguments in order.
int LaunchParameters(const Queue& queue, const KpFrameCall* call, const KpLaunch& launch, const int64_t* extents,
                     const KpFrameKernel& kernel, const KpKernelArg* args) {
  const auto n = static_cast<size_t>(kernel.num_parameters);
  auto* chosen = static_cast<KpKernelArg*>(__builtin_alloca((n + 1) * sizeof(KpKernelArg)));
  auto* maps = static_cast<KpTensorMap*>(__builtin_alloca((n + 1) * sizeof(KpTensorMap)));
  for (size_t i = 0; i < n; ++i) {
    chosen[i] = args[kernel.parameters[i].argument];
    if (!kernel.parameters[i].map) continue;
    Describe(kernel.parameters[i], args, &maps[i]);
    chosen[i] = {KP_ARG_TENSOR_MAP, sizeof maps[i], &maps[i], 0};
  }
  return queue.Launch(call, launch, extents, kernel.num_parameters, chosen);
}

}  // namespace
}  // namespace kernpack::frame

using namespace kernpack;

int kp_frame_create_with_code(const KpHost* host, const char* module, const KpFrameCode* codes, int32_t n,
                              KpInstance** out) {
  for (int32_t i = 0; i < n; ++i) {
    const uint64_t digest = DeviceCodeDigest(codes[i].data, codes[i].size);
    if (digest == codes[i].digest) continue;
    return kp_fail(
        host, "ImportError",
        "the device code for '%s' inside this module is not what was built; build or install the module again",
        codes[i].target);
  }
  return kp_frame_create(host, module, out);
}

int kp_frame_threads(const KpFrameCall* call, const int64_t* extents, int64_t* out) {
  if (frame::CheckExtents(call->self, extents)) return -1;
  *out = frame::IsEmpty(extents) ? 0 : 1;
  for (int d = 0; d < 6 && *out != 0; ++d) {
    if (__builtin_mul_overflow(*out, extents[d], out)) {
      return kp_frame_raise(call->self, "ValueError", "a launch of more than 2^63 threads");
    }
  }
  return 0;
}

int kp_frame_launch(const KpFrameCall* call, const char* kernel, const int64_t* extents, int32_t n,
                    const KpKernelArg* args) {
  if (frame::CheckExtents(call->self, extents)) return -1;
  if (frame::IsEmpty(extents)) return 0;
  frame::Queue queue;
  return queue.Find(call, kernel) ? -1 : queue.Launch(call, extents, n, args);
}

int kp_frame_launch_asserting(const KpFrameCall* call, const char* kernel, const int64_t* extents, int32_t n,
                              KpKernelArg* args, const KpFrameAssert* asserts) {
  if (frame::CheckExtents(call->self, extents)) return -1;
  if (frame::IsEmpty(extents)) return 0;
  int64_t word[frame::kMostWords] = {};
  const int64_t words = frame::kMostWords;
  void* there = nullptr;
  frame::Queue queue;
  if (kp_frame_scratch(call->self, &call->device, "asserts", 0, sizeof *word, 1, &words, &there) ||
      queue.Find(call, kernel)) {
    return -1;
  }
  args[n - 1] = {KP_ARG_MEMORY, sizeof *word, there, 0};
  const KpMemory on_device = {there, 0, call->device}, here = {word, 0, {KP_DEVICE_CPU, 0}};
  const KpDeviceApi* api = queue.api;
  if (api->fill(api, &on_device, sizeof word, 0, queue.stream) || queue.Launch(call, extents, n, args) ||
      api->copy(api, &on_device, &here, sizeof word, queue.stream)) {
    return -1;
  }
  if (word[0] == 0) return 0;
  const KpFrameAssert& failed = asserts[word[0] - 1];
  return kp_frame_raise_with(call->self, failed.kind, failed.message, word + 1, failed.count);
}

int kp_frame_launch_imported(const KpFrameCall* call, const KpFrameKernel* kernels, int32_t count,
                             const int64_t* extents, int32_t n, const KpKernelArg* args) {
  if (frame::CheckExtents(call->self, extents)) return -1;
  if (frame::IsEmpty(extents)) return 0;
  for (const KpFrameKernel* kernel = kernels; kernel != kernels + count; ++kernel) {
    const int32_t count_of_kernel = kernel->parameters ? kernel->num_parameters : n;
    if (kernel->code->group != call->code->group || !frame::Takes(*kernel, count_of_kernel, args)) continue;
    const KpFrameCall of_kernel = {call->self, kernel->code, call->device};
    KpLaunch launch{};
    launch.dynamic_shared = kernel->shared + static_cast<uint32_t>(extents[6]);
    for (int d = 0; d < 3; ++d) launch.cluster[d] = kernel->cluster[d];
    launch.flags = kernel->flags;
    frame::Queue queue;
    if (queue.Find(&of_kernel, kernel->name)) return -1;
    if (kernel->parameters) return frame::LaunchParameters(queue, &of_kernel, launch, extents, *kernel, args);
    return queue.Launch(&of_kernel, launch, extents, n, args);
  }
  return kp_frame_raise(call->self, "RuntimeError", "this module has no kernel for these arguments");
}
