// Copies and fills.
#include <cstring>
#include <memory>
#include <vector>

#include "driver/machine.h"

namespace kernpack::cuda {
namespace {

enum class Place { kDevice, kPinned, kPageable, kInvalid };

Place GetPlace(DevicePtr address, uint64_t bytes) {
  if (const Block* block = FindBlock(address, bytes)) {
    return block->kind == BlockKind::kHost ? Place::kPinned : Place::kDevice;
  }
  return address == 0 || InArena(address) ? Place::kInvalid : Place::kPageable;
}

// Rows of a pitched copy; a plain one has one row.
struct Rows {
  DevicePtr from;
  DevicePtr to;
  uint64_t width;
  uint64_t height;
  uint64_t from_pitch;
  uint64_t to_pitch;
};

Result CopyRows(const Rows& rows, const uint8_t* staged) {
  for (uint64_t i = 0; i < rows.height; ++i) {
    const uint8_t* from =
        staged != nullptr ? staged + i * rows.width : Access(rows.from + i * rows.from_pitch, rows.width);
    uint8_t* to = Access(rows.to + i * rows.to_pitch, rows.width);
    if (from == nullptr || to == nullptr) return kIllegalAddress;
    std::memmove(to, from, rows.width);
    if (staged != nullptr) {
      NoteWritten(rows.to + i * rows.to_pitch, rows.width);
    } else {
      NoteCopied(rows.from + i * rows.from_pitch, rows.to + i * rows.to_pitch, rows.width);
    }
  }
  return kSuccess;
}

// Pageable sources are read at once, pageable destinations waited for, and what is pinned or on a device is touched when the
// stream gets there. A graph touches all of them each time it runs.
Result Queue(const StreamRef& stream, const Rows& rows) {
  const uint64_t from_span = (rows.height - 1) * rows.from_pitch + rows.width;
  const uint64_t to_span = (rows.height - 1) * rows.to_pitch + rows.width;
  const Place from = GetPlace(rows.from, from_span);
  const Place to = GetPlace(rows.to, to_span);
  if (from == Place::kInvalid || to == Place::kInvalid) return kInvalidValue;
  std::shared_ptr<std::vector<uint8_t>> staged;
  const bool of_graph = stream->of_node || stream->capture != kCaptureNone;
  if (from == Place::kPageable && !of_graph) {
    staged = std::make_shared<std::vector<uint8_t>>(rows.width * rows.height);
    for (uint64_t i = 0; i < rows.height; ++i) {
      std::memcpy(staged->data() + i * rows.width, reinterpret_cast<const void*>(rows.from + i * rows.from_pitch),
                  rows.width);
    }
  }
  const bool wait = !of_graph && (to == Place::kPageable || (from != Place::kDevice && to == Place::kPinned));
  const Result result = Enqueue(stream, [rows, staged] { return CopyRows(rows, staged ? staged->data() : nullptr); });
  return result == kSuccess && wait ? RunUntil(stream, stream->queued) : result;
}

}  // namespace

Result cuMemcpyAsync(DevicePtr to, DevicePtr from, size_t bytes, Stream handle) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  return bytes == 0 ? kSuccess : Queue(stream, {from, to, bytes, 1, bytes, bytes});
}

Result cuMemcpy2DAsync(const Memcpy2D* copy, Stream handle) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  if (copy->from_pitch < copy->width || copy->to_pitch < copy->width) return kInvalidValue;
  const auto most = static_cast<size_t>(Machine::Get().Setting("max_pitch"));
  if (copy->from_pitch > most || copy->to_pitch > most) return kInvalidValue;
  const DevicePtr from =
      copy->from_type == kMemoryTypeHost ? reinterpret_cast<uintptr_t>(copy->from_host) : copy->from_device;
  const DevicePtr to = copy->to_type == kMemoryTypeHost ? reinterpret_cast<uintptr_t>(copy->to_host) : copy->to_device;
  if (copy->width == 0 || copy->height == 0) return kSuccess;
  return Queue(stream, {from, to, copy->width, copy->height, copy->from_pitch, copy->to_pitch});
}

Result cuMemcpyPeerAsync(DevicePtr to, Context to_context, DevicePtr from, Context from_context, size_t bytes,
                         Stream handle) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  const Block* source = FindBlock(from, bytes);
  const Block* target = FindBlock(to, bytes);
  if (source == nullptr || target == nullptr || to_context == nullptr || from_context == nullptr) return kInvalidValue;
  if (source->device != from_context->device || target->device != to_context->device) return kInvalidValue;
  return Queue(stream, {from, to, bytes, 1, bytes, bytes});
}

Result cuMemsetD8Async(DevicePtr to, unsigned char value, size_t count, Stream handle) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  if (FindBlock(to, count) == nullptr) return kInvalidValue;
  return Enqueue(stream, [=] {
    uint8_t* memory = Access(to, count);
    if (memory == nullptr) return kIllegalAddress;
    std::memset(memory, value, count);
    NoteWritten(to, count);
    return kSuccess;
  });
}

}  // namespace kernpack::cuda
