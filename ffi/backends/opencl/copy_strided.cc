// Boxes as OpenCL's rectangles: rows of bytes, rows in a slice, slices; what is further out is one command each.
#include <array>
#include <cstddef>

#include "copy.h"
#include "stream.h"

namespace kernpack::opencl {
namespace {

constexpr int kRectangleDims = 2;  // rows and slices
constexpr int64_t kMostCommands = 256;  // beyond, one copy through a packed buffer is faster

struct Side {
  const KpMemory* memory = nullptr;
  const int64_t* strides = nullptr;  // bytes
  cl_mem buffer = nullptr;           // NULL: host memory

  char* host(int64_t at) const {
    return static_cast<char*>(memory->handle) + static_cast<int64_t>(memory->offset) + at;
  }
};

struct Plan {
  size_t row = 0;        // bytes
  int inner = 0;         // dimensions that one command covers, the last ones of `outer + inner`
  int outer = 0;         // dimensions that are stepped through
  int64_t commands = 1;  // product of the outer extents
};

// True if dimension `at`, over `inner` dimensions of rows, fits OpenCL's rules for pitches.
bool FitsRectangle(const KpStridedCopy& box, const int64_t* strides, int at, int inner, size_t row) {
  if (inner == 0) return strides[at] >= static_cast<int64_t>(row);
  const int64_t pitch = strides[at + 1];
  return strides[at] >= pitch * box.shape[at + 1] && strides[at] % pitch == 0;
}

Plan MakePlan(const KpStridedCopy& box, const Side& from, const Side& to) {
  Plan plan;
  plan.row = box.element_bytes;
  plan.outer = box.ndim;
  const int last = box.ndim - 1;
  if (from.strides[last] == box.element_bytes && to.strides[last] == box.element_bytes) {
    plan.row *= static_cast<size_t>(box.shape[last]);
    --plan.outer;
  }
  // OpenCL wants equal pitches of rectangles within one buffer: rows of their own have no such rule.
  const bool one_buffer = from.buffer != nullptr && from.buffer == to.buffer;
  while (!one_buffer && plan.inner < kRectangleDims && plan.outer > 0 &&
         FitsRectangle(box, from.strides, plan.outer - 1, plan.inner, plan.row) &&
         FitsRectangle(box, to.strides, plan.outer - 1, plan.inner, plan.row)) {
    ++plan.inner;
    --plan.outer;
  }
  for (int d = 0; d < plan.outer && plan.commands <= kMostCommands; ++d) plan.commands *= box.shape[d];
  return plan;
}

// Finds a device's side, all of whose bytes must be within one allocation.
cl_mem FindSide(const char* function, const Device& device, const KpMemory& memory, const KpStridedCopy& box,
                const int64_t* strides) {
  int64_t low = 0;
  int64_t high = box.element_bytes;
  for (int d = 0; d < box.ndim; ++d) (strides[d] < 0 ? low : high) += strides[d] * (box.shape[d] - 1);
  if (low < 0 && static_cast<uint64_t>(-low) > memory.offset) {
    KP_THROW(ValueError) << function << ": negative strides reach " << -low << " bytes before offset " << memory.offset;
  }
  return Buffers::Get()
      .Find(function, device, memory.handle, memory.offset - static_cast<uint64_t>(-low),
            static_cast<uint64_t>(high - low))
      .memory;
}

// Pitches and extents of one command.
struct Rectangle {
  std::array<size_t, 3> region;
  std::array<size_t, 2> from_pitch = {0, 0};  // of a row, of a slice; 0: OpenCL's default
  std::array<size_t, 2> to_pitch = {0, 0};

  Rectangle(const KpStridedCopy& box, const Side& from, const Side& to, const Plan& plan) : region{plan.row, 1, 1} {
    for (int i = 0; i < plan.inner; ++i) {
      const int d = plan.outer + plan.inner - 1 - i;
      region[static_cast<size_t>(i) + 1] = static_cast<size_t>(box.shape[d]);
      from_pitch[static_cast<size_t>(i)] = static_cast<size_t>(from.strides[d]);
      to_pitch[static_cast<size_t>(i)] = static_cast<size_t>(to.strides[d]);
    }
  }
};

cl_int Enqueue(const Stream& stream, const Rectangle& r, const Side& from, int64_t from_at, const Side& to,
               int64_t to_at, cl_bool blocking) {
  const EntryPoints& cl = *stream.device->cl;
  const auto origin = [](const Side& side, int64_t at) {
    return std::array<size_t, 3>{static_cast<size_t>(static_cast<int64_t>(side.memory->offset) + at), 0, 0};
  };
  const std::array<size_t, 3> from_origin = origin(from, from_at);
  const std::array<size_t, 3> to_origin = origin(to, to_at);
  constexpr std::array<size_t, 3> kStart = {0, 0, 0};
  if (from.buffer == nullptr) {
    return cl.clEnqueueWriteBufferRect(stream.queue(), to.buffer, blocking, to_origin.data(), kStart.data(),
                                       r.region.data(), r.to_pitch[0], r.to_pitch[1], r.from_pitch[0], r.from_pitch[1],
                                       from.host(from_at), 0, nullptr, nullptr);
  }
  if (to.buffer == nullptr) {
    return cl.clEnqueueReadBufferRect(stream.queue(), from.buffer, blocking, from_origin.data(), kStart.data(),
                                      r.region.data(), r.from_pitch[0], r.from_pitch[1], r.to_pitch[0], r.to_pitch[1],
                                      to.host(to_at), 0, nullptr, nullptr);
  }
  if (from.buffer == to.buffer) {
    return cl.clEnqueueCopyBuffer(stream.queue(), from.buffer, to.buffer, from_origin[0], to_origin[0], r.region[0], 0,
                                  nullptr, nullptr);
  }
  return cl.clEnqueueCopyBufferRect(stream.queue(), from.buffer, to.buffer, from_origin.data(), to_origin.data(),
                                    r.region.data(), r.from_pitch[0], r.from_pitch[1], r.to_pitch[0], r.to_pitch[1], 0,
                                    nullptr, nullptr);
}

}  // namespace

bool CopyStrided(const char* function, const KpMemory& from_memory, const KpMemory& to_memory, const KpStridedCopy& box,
                 void* stream_handle) {
  Side from{&from_memory, box.from_strides};
  Side to{&to_memory, box.to_strides};
  const bool from_host = from_memory.device.device_type != KP_DEVICE_OPENCL;
  const bool to_host = to_memory.device.device_type != KP_DEVICE_OPENCL;
  const Device& device = Backend::Get().Open(function, (from_host ? to_memory : from_memory).device.device_id);
  if (!from_host) from.buffer = FindSide(function, device, from_memory, box, from.strides);
  if (!to_host) to.buffer = FindSide(function, device, to_memory, box, to.strides);
  const Plan plan = MakePlan(box, from, to);
  if (plan.commands > kMostCommands) return false;

  const std::shared_ptr<Stream> stream = Stream::Find(function, device, stream_handle);
  const Rectangle rectangle(box, from, to, plan);
  for (int64_t command = 0; command < plan.commands; ++command) {
    int64_t from_at = 0;
    int64_t to_at = 0;
    int64_t rest = command;
    for (int d = plan.outer - 1; d >= 0; --d) {
      from_at += rest % box.shape[d] * from.strides[d];
      to_at += rest % box.shape[d] * to.strides[d];
      rest /= box.shape[d];
    }
    // The queue is in order: when the last command is done, all are, and host memory is free.
    const cl_bool blocking = (from_host || to_host) && command + 1 == plan.commands;
    const cl_int status = Enqueue(*stream, rectangle, from, from_at, to, to_at, blocking);
    if (status != CL_SUCCESS)
      device.cl->clFinish(stream->queue());  // no command may use the caller's memory after this
    Check(status, "a copy of a rectangle", function, device.index);
    stream->Queued();
  }
  return true;
}

}  // namespace kernpack::opencl
