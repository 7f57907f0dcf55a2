#include "copy.h"

#include "stream.h"

namespace kernpack::opencl {
namespace {

const Device& FindDevice(const char* function, const KpMemory& from, const KpMemory& to) {
  const KpMemory& mine = from.device.device_type == KP_DEVICE_OPENCL ? from : to;
  return Backend::Get().Open(function, mine.device.device_id);
}

bool IsHost(const KpMemory& memory) { return memory.device.device_type != KP_DEVICE_OPENCL; }

char* HostAddress(const KpMemory& memory) { return static_cast<char*>(memory.handle) + memory.offset; }

}  // namespace

EventRef Copy(const char* function, const KpMemory& from, const KpMemory& to, uint64_t bytes, void* stream_handle,
              HostMemory host) {
  const Device& device = FindDevice(function, from, to);
  const std::shared_ptr<Stream> stream = Stream::Find(function, device, stream_handle);
  const EntryPoints& cl = *device.cl;
  cl_event made = nullptr;
  cl_event* event = host == HostMemory::kBusyUntilEvent ? &made : nullptr;
  const cl_bool blocking = event == nullptr;
  const uint64_t position = stream->Position();
  Buffer source;
  Buffer target;
  if (!IsHost(from)) source = Buffers::Get().Find(function, device, from.handle, from.offset, bytes);
  if (!IsHost(to)) target = Buffers::Get().Find(function, device, to.handle, to.offset, bytes);
  if (bytes == 0) return event != nullptr ? stream->Mark(function) : EventRef();
  if (IsHost(from)) {
    Check(cl.clEnqueueWriteBuffer(stream->queue(), target.memory, blocking, to.offset, bytes, HostAddress(from), 0,
                                  nullptr, event),
          "clEnqueueWriteBuffer", function, device.index);
  } else if (IsHost(to)) {
    Check(cl.clEnqueueReadBuffer(stream->queue(), source.memory, blocking, from.offset, bytes, HostAddress(to), 0,
                                 nullptr, event),
          "clEnqueueReadBuffer", function, device.index);
  } else {
    Check(cl.clEnqueueCopyBuffer(stream->queue(), source.memory, target.memory, from.offset, to.offset, bytes, 0,
                                 nullptr, event),
          "clEnqueueCopyBuffer", function, device.index);
  }
  const bool waited = event == nullptr && (IsHost(from) || IsHost(to));
  stream->Queued();
  if (waited) stream->Reached(position + 1);
  if (event == nullptr) return EventRef();
  EventRef reached(&device, made);
  Check(cl.clFlush(stream->queue()), "clFlush", function, device.index);
  return reached;
}

void Fill(const char* function, const KpMemory& to, uint64_t bytes, int32_t value, void* stream_handle) {
  const Device& device = FindDevice(function, to, to);
  const std::shared_ptr<Stream> stream = Stream::Find(function, device, stream_handle);
  const Buffer target = Buffers::Get().Find(function, device, to.handle, to.offset, bytes);
  if (bytes == 0) return;
  const auto pattern = static_cast<cl_uchar>(value);
  Check(device.cl->clEnqueueFillBuffer(stream->queue(), target.memory, &pattern, sizeof(pattern), to.offset, bytes, 0,
                                       nullptr, nullptr),
        "clEnqueueFillBuffer", function, device.index);
  stream->Queued();
}

}  // namespace kernpack::opencl
