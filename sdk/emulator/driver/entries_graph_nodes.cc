// Graphs that a program makes or changes node by node. A node's work is recorded as a captured stream would record it, so that it's checked
// in the same way.
#include <algorithm>
#include <fstream>
#include <map>

#include "driver/graph.h"

namespace kernpack::cuda {
namespace {

constexpr auto kOperatingSystem = static_cast<Result>(304);  // CUDA_ERROR_OPERATING_SYSTEM
constexpr auto kGraphUpdateFailed = static_cast<Result>(910);  // CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE

GraphNode Find(const GraphOpaque& graph, GraphNode node) {
  for (const auto& each : graph.nodes) {
    if (each.get() == node) return node;
  }
  return nullptr;
}
Graph GraphOf(GraphNode node) {
  for (Graph graph : Machine::Get().graphs) {
    if (Find(*graph, node) != nullptr) return graph;
  }
  return nullptr;
}

// The work that `queue` would queue on a stream of the context.
template <class F>
Result Record(Context context, WorkList* work, F queue) {
  if (context == nullptr) {
    if (const Result result = NeedContext(&context); result != kSuccess) return result;
  }
  auto stream = std::make_shared<StreamOpaque>();
  stream->context = context;
  stream->capture = kCaptureActive;
  stream->capture_mode = kCaptureModeRelaxed;
  stream->of_node = true;
  context->streams.push_back(stream);
  const Result result = queue(stream.get());
  std::erase(context->streams, stream);
  if (result == kSuccess) *work = std::move(stream->graph);
  return result;
}

Result Add(GraphNode* node, Graph graph, const GraphNode* after, size_t count, NodeType type, WorkList work) {
  if (node == nullptr || !IsGraph(graph) || (after == nullptr && count != 0)) return kInvalidValue;
  auto made = std::make_unique<GraphNodeOpaque>();
  made->type = type;
  made->work = std::move(work);
  for (size_t i = 0; i < count; ++i) {
    if (Find(*graph, after[i]) == nullptr) return kInvalidValue;
    made->after.push_back(after[i]);
  }
  *node = made.get();
  graph->nodes.push_back(std::move(made));
  return kSuccess;
}

Result RecordKernel(const KernelNodeParams* of, WorkList* work) {
  if (of == nullptr) return kInvalidValue;
  FunctionHandle function = of->function != nullptr ? of->function : of->kernel;
  if (function == nullptr || of->extra != nullptr) return kInvalidValue;
  return Record(of->function != nullptr ? nullptr : of->context, work, [&](Stream stream) {
    const LaunchConfig config{of->grid[0],  of->grid[1],      of->grid[2], of->block[0], of->block[1],
                              of->block[2], of->shared_bytes, stream,      nullptr,      0};
    return cuLaunchKernelEx(&config, function, of->parameters, nullptr);
  });
}

// A layer is a copy of rows.
Result RecordCopy(const Memcpy3D* of, Context context, WorkList* work) {
  if (of == nullptr || of->from.array != nullptr || of->to.array != nullptr) return kInvalidValue;
  return Record(context, work, [&](Stream stream) {
    const auto at = [](const Memcpy3D::End& end, size_t z) {
      const DevicePtr base = end.type == kMemoryTypeHost ? reinterpret_cast<uintptr_t>(end.host) : end.device;
      return base + end.x + (end.y + (end.z + z) * end.height) * end.pitch;
    };
    for (size_t z = 0; z < of->depth; ++z) {
      Memcpy2D layer{};
      layer.from_type = layer.to_type = kMemoryTypeUnified;
      layer.from_device = at(of->from, z);
      layer.to_device = at(of->to, z);
      layer.from_pitch = of->height > 1 ? of->from.pitch : std::max(of->from.pitch, of->width);
      layer.to_pitch = of->height > 1 ? of->to.pitch : std::max(of->to.pitch, of->width);
      layer.width = of->width, layer.height = of->height;
      if (const Result result = cuMemcpy2DAsync(&layer, stream); result != kSuccess) return result;
    }
    return kSuccess;
  });
}

Result RecordFill(const MemsetNodeParams* of, Context context, WorkList* work) {
  if (of == nullptr) return kInvalidValue;
  return Record(context, work, [&](Stream stream) {
    for (size_t row = 0; row < of->height; ++row) {
      const DevicePtr to = of->to + row * of->pitch;
      Result result = kInvalidValue;
      if (of->element_bytes == 1) {
        result = cuMemsetD8Async(to, static_cast<unsigned char>(of->value), of->width, stream);
      } else if (of->element_bytes == 2) {
        result = cuMemsetD16Async(to, static_cast<unsigned short>(of->value), of->width, stream);
      } else if (of->element_bytes == 4) {
        result = cuMemsetD32Async(to, of->value, of->width, stream);
      }
      if (result != kSuccess) return result;
    }
    return kSuccess;
  });
}

Result RecordHost(const HostNodeParams* of, WorkList* work) {
  if (of == nullptr) return kInvalidValue;
  return Record(nullptr, work, [&](Stream stream) { return cuLaunchHostFunc(stream, of->function, of->data); });
}

// The node of a graph that can be launched which was copied from `node`.
Result FindInExec(GraphExec exec, GraphNode node, NodeType type, GraphNode* out) {
  if (!IsGraph(AsGraph(exec))) return kInvalidValue;
  for (const auto& each : AsGraph(exec)->nodes) {
    if (each->origin != node || each->type != type) continue;
    *out = each.get();
    return kSuccess;
  }
  return kInvalidValue;
}

}  // namespace

bool IsGraph(Graph graph) { return Machine::Get().graphs.count(graph) != 0; }

void AddCaptured(Graph graph, std::function<Result()> work) {
  auto node = std::make_unique<GraphNodeOpaque>();
  node->type = work.target<KernelWork>() != nullptr ? kNodeKernel : kNodeHost;
  if (!graph->nodes.empty()) node->after.push_back(graph->nodes.back().get());
  node->work.push_back(std::move(work));
  graph->nodes.push_back(std::move(node));
}

Graph CopyGraph(const GraphOpaque& graph) {
  auto* const copy = new GraphOpaque();
  std::map<GraphNode, GraphNode> copies;
  for (const auto& node : graph.nodes) {
    auto made = std::make_unique<GraphNodeOpaque>();
    made->type = node->type, made->work = node->work, made->origin = node.get();
    copies[node.get()] = made.get();
    copy->nodes.push_back(std::move(made));
  }
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (GraphNode before : graph.nodes[n]->after) copy->nodes[n]->after.push_back(copies.at(before));
  }
  Machine::Get().graphs.insert(copy);
  return copy;
}

bool InOrder(const GraphOpaque& graph, std::vector<GraphNode>* out) {
  out->clear();
  std::map<GraphNode, bool> done;
  for (bool found = true; found && out->size() < graph.nodes.size();) {
    found = false;
    for (const auto& node : graph.nodes) {
      const auto is_done = [&](GraphNode before) { return done[before]; };
      if (done[node.get()] || !std::all_of(node->after.begin(), node->after.end(), is_done)) continue;
      done[node.get()] = found = true;
      out->push_back(node.get());
    }
  }
  return out->size() == graph.nodes.size();
}

Result cuGraphCreate(Graph* graph, unsigned flags) {
  if (graph == nullptr || flags != 0) return kInvalidValue;
  *graph = new GraphOpaque();
  Machine::Get().graphs.insert(*graph);
  return kSuccess;
}
Result cuGraphClone(Graph* clone, Graph graph) {
  if (clone == nullptr || !IsGraph(graph)) return kInvalidValue;
  *clone = CopyGraph(*graph);
  return kSuccess;
}

Result cuGraphAddKernelNode(GraphNode* node, Graph graph, const GraphNode* after, size_t count,
                            const KernelNodeParams* parameters) {
  WorkList work;
  if (const Result result = RecordKernel(parameters, &work); result != kSuccess) return result;
  return Add(node, graph, after, count, kNodeKernel, std::move(work));
}
Result cuGraphAddMemcpyNode(GraphNode* node, Graph graph, const GraphNode* after, size_t count, const Memcpy3D* copy,
                            Context context) {
  WorkList work;
  if (const Result result = RecordCopy(copy, context, &work); result != kSuccess) return result;
  return Add(node, graph, after, count, kNodeMemcpy, std::move(work));
}
Result cuGraphAddMemsetNode(GraphNode* node, Graph graph, const GraphNode* after, size_t count,
                            const MemsetNodeParams* fill, Context context) {
  WorkList work;
  if (const Result result = RecordFill(fill, context, &work); result != kSuccess) return result;
  return Add(node, graph, after, count, kNodeMemset, std::move(work));
}
Result cuGraphAddHostNode(GraphNode* node, Graph graph, const GraphNode* after, size_t count,
                          const HostNodeParams* host) {
  WorkList work;
  if (const Result result = RecordHost(host, &work); result != kSuccess) return result;
  return Add(node, graph, after, count, kNodeHost, std::move(work));
}
Result cuGraphAddEmptyNode(GraphNode* node, Graph graph, const GraphNode* after, size_t count) {
  return Add(node, graph, after, count, kNodeEmpty, {});
}
// The child's work as it is now, as the driver copies the child.
Result cuGraphAddChildGraphNode(GraphNode* node, Graph graph, const GraphNode* after, size_t count, Graph child) {
  std::vector<GraphNode> order;
  if (!IsGraph(child) || !InOrder(*child, &order)) return kInvalidValue;
  WorkList work;
  for (GraphNode each : order) work.insert(work.end(), each->work.begin(), each->work.end());
  return Add(node, graph, after, count, kNodeGraph, std::move(work));
}

Result cuGraphAddDependencies(Graph graph, const GraphNode* from, const GraphNode* to, size_t count) {
  if (!IsGraph(graph) || (count != 0 && (from == nullptr || to == nullptr))) return kInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    if (Find(*graph, from[i]) == nullptr || Find(*graph, to[i]) == nullptr || from[i] == to[i]) return kInvalidValue;
  }
  for (size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
  return kSuccess;
}
Result cuGraphAddDependencies_v2(Graph graph, const GraphNode* from, const GraphNode* to, const void* /*edges*/,
                                 size_t count) {
  return cuGraphAddDependencies(graph, from, to, count);
}

Result cuGraphGetNodes(Graph graph, GraphNode* nodes, size_t* count) {
  if (!IsGraph(graph) || count == nullptr) return kInvalidValue;
  const size_t all = graph->nodes.size();
  if (nodes != nullptr) {
    for (size_t i = 0; i < *count; ++i) nodes[i] = i < all ? graph->nodes[i].get() : nullptr;
  }
  *count = nodes != nullptr ? std::min(*count, all) : all;
  return kSuccess;
}
Result cuGraphNodeGetType(GraphNode node, NodeType* type) {
  if (type == nullptr || GraphOf(node) == nullptr) return kInvalidValue;
  *type = node->type;
  return kSuccess;
}
Result cuGraphDestroyNode(GraphNode node) {
  Graph graph = GraphOf(node);
  if (graph == nullptr) return kInvalidValue;
  for (const auto& each : graph->nodes) std::erase(each->after, node);
  std::erase_if(graph->nodes, [&](const auto& each) { return each.get() == node; });
  return kSuccess;
}

// The nodes and what they wait for, in Graphviz's language.
Result cuGraphDebugDotPrint(Graph graph, const char* path, unsigned /*flags*/) {
  if (!IsGraph(graph) || path == nullptr) return kInvalidValue;
  constexpr const char* kKinds[] = {"kernel", "copy", "fill", "function of the host", "graph", "empty"};
  std::ofstream file(path);
  file << "digraph {\n";
  std::map<GraphNode, size_t> numbers;
  for (const auto& node : graph->nodes) {
    const size_t number = numbers.size();
    numbers[node.get()] = number;
    file << "  n" << number << " [label=\"" << kKinds[node->type];
    if (node->type == kNodeKernel) file << ' ' << node->work[0].target<KernelWork>()->queued->program->name;
    file << "\"];\n";
  }
  for (const auto& node : graph->nodes) {
    for (GraphNode before : node->after) file << "  n" << numbers[before] << " -> n" << numbers[node.get()] << ";\n";
  }
  file << "}\n";
  file.close();
  return file ? kSuccess : kOperatingSystem;
}
// Graphs here allocate nothing themselves.
Result cuDeviceGetGraphMemAttribute(DeviceHandle device, int attribute, void* value) {
  int count = 0;
  if (cuDeviceGetCount(&count); device < 0 || device >= count) return kInvalidDevice;
  if (value == nullptr || attribute < 0 || attribute > 3) return kInvalidValue;
  *static_cast<unsigned long long*>(value) = 0;
  return kSuccess;
}
Result cuDeviceSetGraphMemAttribute(DeviceHandle device, int attribute, void* value) {
  unsigned long long unread = 0;
  if (const Result result = cuDeviceGetGraphMemAttribute(device, attribute, &unread); result != kSuccess) return result;
  return value != nullptr && attribute % 2 == 1 ? kSuccess : kInvalidValue;  // the odd ones are high-water marks
}
Result cuDeviceGraphMemTrim(DeviceHandle device) {
  unsigned long long unread = 0;
  return cuDeviceGetGraphMemAttribute(device, 0, &unread);
}

Result cuGraphKernelNodeGetParams(GraphNode node, KernelNodeParams* out) {
  if (out == nullptr || GraphOf(node) == nullptr || node->type != kNodeKernel) return kInvalidValue;
  const KernelWork& work = *node->work[0].target<KernelWork>();
  const KernelWork::Queued& queued = *work.queued;
  *out = KernelNodeParams{};
  out->function = queued.function;
  std::copy_n(queued.launch.grid, 3, out->grid);
  std::copy_n(queued.launch.block, 3, out->block);
  out->shared_bytes = queued.launch.dynamic_shared;
  node->parameters.clear();
  for (const auto& parameter : queued.program->parameters)
    node->parameters.push_back(work.queued->parameters.data() + parameter.offset);
  out->parameters = node->parameters.data();
  out->context = work.context;
  return kSuccess;
}
Result cuGraphKernelNodeSetParams(GraphNode node, const KernelNodeParams* parameters) {
  if (GraphOf(node) == nullptr || node->type != kNodeKernel) return kInvalidValue;
  return RecordKernel(parameters, &node->work);
}

Result cuGraphExecKernelNodeSetParams(GraphExec exec, GraphNode node, const KernelNodeParams* parameters) {
  GraphNode of = nullptr;
  if (const Result result = FindInExec(exec, node, kNodeKernel, &of); result != kSuccess) return result;
  return RecordKernel(parameters, &of->work);
}
Result cuGraphExecMemcpyNodeSetParams(GraphExec exec, GraphNode node, const Memcpy3D* copy, Context context) {
  GraphNode of = nullptr;
  if (const Result result = FindInExec(exec, node, kNodeMemcpy, &of); result != kSuccess) return result;
  return RecordCopy(copy, context, &of->work);
}
Result cuGraphExecMemsetNodeSetParams(GraphExec exec, GraphNode node, const MemsetNodeParams* fill, Context context) {
  GraphNode of = nullptr;
  if (const Result result = FindInExec(exec, node, kNodeMemset, &of); result != kSuccess) return result;
  return RecordFill(fill, context, &of->work);
}
Result cuGraphExecHostNodeSetParams(GraphExec exec, GraphNode node, const HostNodeParams* host) {
  GraphNode of = nullptr;
  if (const Result result = FindInExec(exec, node, kNodeHost, &of); result != kSuccess) return result;
  return RecordHost(host, &of->work);
}
// Takes the work of a graph whose nodes are of the kinds of the one that `exec` was made of, in that order.
Result cuGraphExecUpdate(GraphExec exec, Graph graph, GraphUpdateInfo* info) {
  if (info == nullptr || !IsGraph(AsGraph(exec)) || !IsGraph(graph)) return kInvalidValue;
  *info = GraphUpdateInfo{};
  const auto &nodes = AsGraph(exec)->nodes, &given = graph->nodes;
  std::vector<GraphNode> order;
  if (nodes.size() != given.size() || !InOrder(*graph, &order)) {
    info->result = kUpdateTopologyChanged;
    return kGraphUpdateFailed;
  }
  for (size_t n = 0; n < nodes.size(); ++n) {
    const bool same_edges = nodes[n]->after.size() == given[n]->after.size();
    if (nodes[n]->type == given[n]->type && same_edges) continue;
    info->result = same_edges ? kUpdateNodeTypeChanged : kUpdateTopologyChanged;
    info->node = given[n].get();
    return kGraphUpdateFailed;
  }
  for (size_t n = 0; n < nodes.size(); ++n) nodes[n]->work = given[n]->work;
  return kSuccess;
}

}  // namespace kernpack::cuda
