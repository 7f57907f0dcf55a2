// Capture, graphs, functions of the host in streams, and the rest of streams and events.
#include "runtime/runtime.h"

using namespace kernpack::cuda::runtime;
using kernpack::cuda::CaptureMode;
using kernpack::cuda::CaptureStatus;
using kernpack::cuda::Event;
using kernpack::cuda::Graph;
using kernpack::cuda::GraphExec;
using kernpack::cuda::GraphNode;
using kernpack::cuda::HostFunction;
using kernpack::cuda::kInvalidValue;
using kernpack::cuda::kSuccess;
using kernpack::cuda::Stream;
using kernpack::cuda::StreamCallback;

KP_RUNTIME_API Error cudaStreamBeginCapture(Stream stream, CaptureMode mode) {
  return Called(Driver().cuStreamBeginCapture, stream, mode);
}
KP_RUNTIME_API Error cudaStreamEndCapture(Stream stream, Graph* graph) {
  return Called(Driver().cuStreamEndCapture, stream, graph);
}
KP_RUNTIME_API Error cudaStreamBeginCaptureToGraph(Stream stream, Graph graph, const GraphNode* after,
                                                   const void* edges, size_t count, CaptureMode mode) {
  return Called(Driver().cuStreamBeginCaptureToGraph, stream, graph, after, edges, count, mode);
}
// Of CUDA 13, and of 12 with edges and without.
KP_RUNTIME_API Error cudaStreamGetCaptureInfo(Stream stream, CaptureStatus* status, unsigned long long* id,
                                              Graph* graph, const void** nodes, const void** edges, size_t* count) {
  return Called(Driver().cuStreamGetCaptureInfo, stream, status, id, graph, nodes, edges, count);
}
KP_RUNTIME_API Error cudaStreamGetCaptureInfo_v3(Stream stream, CaptureStatus* status, unsigned long long* id,
                                                 Graph* graph, const void** nodes, const void** edges, size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, edges, count);
}
KP_RUNTIME_API Error cudaStreamGetCaptureInfo_v2(Stream stream, CaptureStatus* status, unsigned long long* id,
                                                 Graph* graph, const void** nodes, size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, nullptr, count);
}
KP_RUNTIME_API Error cudaThreadExchangeStreamCaptureMode(CaptureMode* mode) {
  return Called(Driver().cuThreadExchangeStreamCaptureMode, mode);
}

KP_RUNTIME_API Error cudaGraphCreate(Graph* graph, unsigned flags) {
  return Called(Driver().cuGraphCreate, graph, flags);
}
KP_RUNTIME_API Error cudaGraphDebugDotPrint(Graph graph, const char* path, unsigned flags) {
  return Called(Driver().cuGraphDebugDotPrint, graph, path, flags);
}
KP_RUNTIME_API Error cudaDeviceGetGraphMemAttribute(int device, int attribute, void* value) {
  return Called(Driver().cuDeviceGetGraphMemAttribute, device, attribute, value);
}
KP_RUNTIME_API Error cudaDeviceSetGraphMemAttribute(int device, int attribute, void* value) {
  return Called(Driver().cuDeviceSetGraphMemAttribute, device, attribute, value);
}
KP_RUNTIME_API Error cudaDeviceGraphMemTrim(int device) { return Called(Driver().cuDeviceGraphMemTrim, device); }
KP_RUNTIME_API Error cudaGraphInstantiateWithFlags(GraphExec* exec, Graph graph, unsigned long long flags) {
  return Called(Driver().cuGraphInstantiateWithFlags, exec, graph, flags);
}
KP_RUNTIME_API Error cudaGraphInstantiate(GraphExec* exec, Graph graph, unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(exec, graph, flags);
}
KP_RUNTIME_API Error cudaGraphLaunch(GraphExec exec, Stream stream) {
  return Called(Driver().cuGraphLaunch, exec, stream);
}
// All of a graph's memory and code is on the device already.
KP_RUNTIME_API Error cudaGraphUpload(GraphExec /*exec*/, Stream /*stream*/) { return kSuccess; }
KP_RUNTIME_API Error cudaGraphGetNodes(Graph graph, GraphNode* nodes, size_t* count) {
  return Called(Driver().cuGraphGetNodes, graph, nodes, count);
}
KP_RUNTIME_API Error cudaGraphExecDestroy(GraphExec exec) { return Called(Driver().cuGraphExecDestroy, exec); }
KP_RUNTIME_API Error cudaGraphDestroy(Graph graph) { return Called(Driver().cuGraphDestroy, graph); }

KP_RUNTIME_API Error cudaLaunchHostFunc(Stream stream, HostFunction function, void* data) {
  return Called(Driver().cuLaunchHostFunc, stream, function, data);
}
KP_RUNTIME_API Error cudaStreamAddCallback(Stream stream, StreamCallback callback, void* data, unsigned flags) {
  return Called(Driver().cuStreamAddCallback, stream, callback, data, flags);
}
KP_RUNTIME_API Error cudaStreamGetPriority(Stream stream, int* priority) {
  return Called(Driver().cuStreamGetPriority, stream, priority);
}
KP_RUNTIME_API Error cudaStreamGetFlags(Stream stream, unsigned* flags) {
  return Called(Driver().cuStreamGetFlags, stream, flags);
}
KP_RUNTIME_API Error cudaStreamGetId(Stream stream, unsigned long long* id) {
  return Called(Driver().cuStreamGetId, stream, id);
}
KP_RUNTIME_API Error cudaEventRecordWithFlags(Event event, Stream stream, unsigned flags) {
  return Called(Driver().cuEventRecordWithFlags, event, stream, flags);
}
KP_RUNTIME_API Error cudaEventElapsedTime_v2(float* milliseconds, Event begin, Event end) {
  return Called(Driver().cuEventElapsedTime, milliseconds, begin, end);
}
KP_RUNTIME_API Error cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return Called(Driver().cuCtxGetStreamPriorityRange, least, greatest);
}
