#include "driver/machine.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "driver/findings.h"
#include "driver/graph.h"

namespace kernpack::cuda {

Machine& Machine::Get() {
  static Machine* const machine = [] {
    auto* made = new Machine();
    made->Reset();
    return made;
  }();
  return *machine;
}

void Machine::Reset() {
  DropMappedMemory(this);
  while (!blocks.empty()) RemoveBlock(blocks.begin()->first);
  for (Event event : events) delete event;
  for (ModuleHandle module : modules) delete module;
  for (Pool pool : pools) delete pool;
  for (Graph graph : graphs) delete graph;
  for (Library library : libraries) delete library;
  blocks.clear(), used.clear(), events.clear(), modules.clear(), pools.clear(), contexts.clear();
  default_pools.clear(), graphs.clear(), libraries.clear();
  ForgetOrder();
  hidden.clear(), faults.clear(), calls.clear(), freed.clear(), reports.clear(), told.clear();
  archs = {90, 80};
  initialised = false;
  child_calls = 0;
  settings = {{"devices", 2},
              {"driver_version", 13050},
              {"memory_bytes", long{8} << 30},
              {"max_pitch", 0x7fffffff},
              {"pools", 1},
              {"managed", 1},
              {"peers", 1},
              {"workers", 0},
              {"seconds", 60},
              {"seed", 0},
              {"mma_order", 3},
              {"host_level", 0},
              {"uninitialised", 1},
              {"races", 1},
              {"global_races", 0},
              {"disguised", 0}};
  if (arena == 0) {
    void* reserved = mmap(nullptr, kArenaBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) std::abort();
    arena = reinterpret_cast<uintptr_t>(reserved);
  }
  arena_next = arena;
}

std::vector<Context>& ContextStack() {
  thread_local std::vector<Context> stack;
  return stack;
}

CaptureMode& ThreadCaptureMode() {
  thread_local CaptureMode mode = kCaptureModeGlobal;
  return mode;
}

Result NeedContext(Context* out) {
  if (ContextStack().empty() || ContextStack().back() == nullptr) return kInvalidContext;
  *out = ContextStack().back();
  return (*out)->broken;
}

namespace {

// NVIDIA's driver crashes over such a handle, where it doesn't take another stream's place: here it is found for sure.
Result UnknownStream(Context context, Stream handle) {
  if (context->broken == kSuccess) {
    std::fprintf(
        stderr,
        "kernpack's emulated CUDA device: a call got the stream %p, which was destroyed or never was: on a GPU this "
        "crashes the process. Every later call fails.\n",
        static_cast<void*>(handle));
    context->broken = kInvalidHandle;
    AddFinding("stream", "a call got a stream that was destroyed or never was: on a GPU this crashes the process");
  }
  return kInvalidHandle;
}

}  // namespace

Result NeedStream(Stream handle, StreamRef* out) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  if (handle == nullptr || handle == reinterpret_cast<Stream>(1)) {
    *out = context->legacy;
    for (const StreamRef& stream : context->streams) {
      if (stream->blocking && stream->capture != kCaptureNone) {
        stream->capture = kCaptureInvalidated;
        return kStreamCaptureImplicit;
      }
    }
    return kSuccess;
  }
  for (const auto& owner : Machine::Get().contexts) {
    for (const StreamRef& stream : owner->streams) {
      if (stream.get() != handle) continue;
      if (stream->destroyed) return UnknownStream(context, handle);
      *out = stream;
      return owner->broken;
    }
  }
  return UnknownStream(context, handle);
}

Result UnsafeWhileCapturing() {
  if (ThreadCaptureMode() == kCaptureModeRelaxed) return kSuccess;
  Result result = kSuccess;
  for (const auto& context : Machine::Get().contexts) {
    for (const StreamRef& stream : context->streams) {
      if (stream->capture == kCaptureNone || stream->capture_mode != kCaptureModeGlobal) continue;
      stream->capture = kCaptureInvalidated;
      result = kStreamCaptureUnsupported;
    }
  }
  return result;
}

Result RefuseCaptured(const StreamRef& stream) {
  if (stream->capture == kCaptureNone) return kSuccess;
  stream->capture = kCaptureInvalidated;
  return kStreamCaptureUnsupported;
}

Result Enqueue(const StreamRef& stream, std::function<Result()> run, std::vector<Point> after) {
  if (stream->capture == kCaptureInvalidated) return kStreamCaptureInvalidated;
  if (stream->capture == kCaptureActive) {
    (stream->origin != nullptr ? stream->origin : stream)->graph.push_back(std::move(run));
    return kSuccess;
  }
  Context context = stream->context;
  if (stream == context->legacy) {
    for (const StreamRef& other : context->streams) {
      if (other->blocking) after.push_back({other, other->queued});
    }
  } else if (stream->blocking) {
    after.push_back({context->legacy, context->legacy->queued});
  }
  stream->queue.push_back({++stream->queued, HostAwaited(), std::move(after), std::move(run)});
  return kSuccess;
}

namespace {

void RunTo(const StreamRef& stream, uint64_t sequence) {
  while (stream->done < sequence) {
    Work work = std::move(stream->queue.front());
    stream->queue.pop_front();
    for (const Point& point : work.after) RunTo(point.stream, point.sequence);
    BeginWork(stream.get(), work);
    Context context = stream->context;
    if (context->broken == kSuccess) {
      if (const Result result = work.run(); result != kSuccess) context->broken = result;
      const std::string race = EndWork();
      if (!race.empty() && context->broken == kSuccess) {
        context->broken = kLaunchFailed;
        Machine::Get().reports[kLaunchFailed] = race;
        Machine::Get().told.erase(kLaunchFailed);
        AddFinding("race", race);
      }
    }
    stream->done = work.sequence;
  }
}

}  // namespace

Result RunUntil(const StreamRef& stream, uint64_t sequence) {
  RunTo(stream, sequence);
  HostWaited(*stream, sequence);
  return stream->context->broken;
}

Result RunAll(Context context) {
  const std::vector<StreamRef> streams = context->streams;
  RunUntil(context->legacy, context->legacy->queued);
  for (const StreamRef& stream : streams) RunUntil(stream, stream->queued);
  std::erase_if(context->streams, [](const StreamRef& s) { return s->destroyed && s->done == s->queued; });
  return context->broken;
}

bool InArena(DevicePtr address) {
  const uintptr_t arena = Machine::Get().arena;
  return address >= arena && address < arena + kArenaBytes;
}

Block* FindBlock(DevicePtr address, uint64_t size, uintptr_t* begin) {
  auto& blocks = Machine::Get().blocks;
  auto found = blocks.upper_bound(address);
  if (found == blocks.begin()) return nullptr;
  --found;
  const uint64_t offset = address - found->first;
  if (offset >= std::max<uint64_t>(found->second.size, 1) || size > found->second.size - offset) return nullptr;
  if (begin != nullptr) *begin = found->first;
  return &found->second;
}

uint8_t* Access(DevicePtr address, uint64_t size) {
  uintptr_t begin = 0;
  if (Block* block = FindBlock(address, size, &begin)) {
    return block->usable ? block->backing + (address - begin) : nullptr;
  }
  return InArena(address) ? nullptr : reinterpret_cast<uint8_t*>(address);
}

}  // namespace kernpack::cuda
