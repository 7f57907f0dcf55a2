// Capture, and graphs as a whole. A graph keeps captured work in the order in which it was captured, which no dependency contradicts.
#include <algorithm>

#include "driver/graph.h"

namespace kernpack::cuda {
namespace {

constexpr auto kCaptureUnmatched = static_cast<Result>(903);  // CUDA_ERROR_STREAM_CAPTURE_UNMATCHED
constexpr auto kIllegalState = static_cast<Result>(401);  // CUDA_ERROR_ILLEGAL_STATE

Result DestroyGraph(Graph graph) {
  if (Machine::Get().graphs.erase(graph) == 0) return kInvalidValue;
  delete graph;
  return kSuccess;
}

}  // namespace

Result cuStreamBeginCapture(Stream handle, CaptureMode mode) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  if (stream == stream->context->legacy) return kStreamCaptureUnsupported;
  if (mode < kCaptureModeGlobal || mode > kCaptureModeRelaxed) return kInvalidValue;
  if (stream->capture != kCaptureNone) return kIllegalState;
  static unsigned long long last = 0;
  stream->capture = kCaptureActive;
  stream->capture_mode = mode;
  stream->capture_id = ++last;
  stream->graph.clear();
  stream->into = nullptr;
  return kSuccess;
}

// A graph that has nodes already. The new ones come after all of them, which more dependencies wouldn't change.
Result cuStreamBeginCaptureToGraph(Stream handle, Graph graph, const GraphNode* /*after*/, const void* /*edges*/,
                                   size_t /*count*/, CaptureMode mode) {
  if (!IsGraph(graph)) return kInvalidValue;
  if (const Result result = cuStreamBeginCapture(handle, mode); result != kSuccess) return result;
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  stream->into = graph;
  return kSuccess;
}

Result cuStreamEndCapture(Stream handle, Graph* graph) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  *graph = nullptr;
  if (stream->capture == kCaptureNone) return kIllegalState;
  if (stream->origin != nullptr) return kCaptureUnmatched;
  bool broken = stream->capture == kCaptureInvalidated;
  for (const StreamRef& joined : stream->context->streams) {
    if (joined->origin != stream) continue;
    broken = broken || joined->capture == kCaptureInvalidated;
    joined->origin = nullptr, joined->capture = kCaptureNone, joined->capture_id = 0;
  }
  stream->capture = kCaptureNone, stream->capture_id = 0;
  auto work = std::move(stream->graph);
  stream->graph.clear();
  if (broken) return kStreamCaptureInvalidated;
  if (stream->into != nullptr && !IsGraph(stream->into)) return kInvalidValue;  // it has been destroyed meanwhile
  *graph = stream->into != nullptr ? stream->into : new GraphOpaque();
  for (auto& each : work) AddCaptured(*graph, std::move(each));
  Machine::Get().graphs.insert(*graph);
  return kSuccess;
}

Result cuStreamGetCaptureInfo(Stream handle, CaptureStatus* status, unsigned long long* id, Graph* graph,
                              const void** dependencies, const void** edges, size_t* count) {
  if (const Result result = cuStreamIsCapturing(handle, status); result != kSuccess) return result;
  StreamRef stream;
  if (handle != nullptr) {
    if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  }
  if (id != nullptr) *id = stream != nullptr ? stream->capture_id : 0;
  if (graph != nullptr) *graph = nullptr;  // it is made when the capture ends
  if (dependencies != nullptr) *dependencies = nullptr;
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = 0;
  return kSuccess;
}

Result cuGraphInstantiateWithFlags(GraphExec* exec, Graph graph, unsigned long long /*flags*/) {
  std::vector<GraphNode> order;
  if (!IsGraph(graph) || !InOrder(*graph, &order)) return kInvalidValue;
  *exec = reinterpret_cast<GraphExec>(CopyGraph(*graph));
  return kSuccess;
}

Result cuGraphLaunch(GraphExec exec, Stream handle) {
  StreamRef stream;
  if (const Result result = NeedStream(handle, &stream); result != kSuccess) return result;
  if (!IsGraph(AsGraph(exec))) return kInvalidValue;
  std::vector<GraphNode> order;
  InOrder(*AsGraph(exec), &order);
  for (GraphNode node : order) {
    for (const auto& work : node->work) {
      if (const Result result = Enqueue(stream, work); result != kSuccess) return result;
    }
  }
  return kSuccess;
}

Result cuGraphExecDestroy(GraphExec exec) { return DestroyGraph(AsGraph(exec)); }
Result cuGraphDestroy(Graph graph) { return DestroyGraph(graph); }

}  // namespace kernpack::cuda
