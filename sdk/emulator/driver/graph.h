// Graphs: work that is captured, or that a program adds node by node.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_GRAPH_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_GRAPH_H_

#include <functional>
#include <memory>
#include <vector>

#include "driver/machine.h"
#include "exec/block.h"

namespace kernpack::cuda {

// The launch of a kernel, as it is queued or kept by a graph: the parameters are copied, and the kernel is kept.
struct KernelWork {
  struct Queued {
    FunctionHandle function = nullptr;
    std::shared_ptr<const emulator::Program> program;
    std::vector<uint8_t> parameters;
    emulator::Launch launch;
  };
  std::shared_ptr<Queued> queued;
  Context context = nullptr;
  Result operator()() const;
};

using WorkList = std::vector<std::function<Result()>>;

struct GraphNodeOpaque {
  NodeType type = kNodeEmpty;
  WorkList work;
  std::vector<GraphNode> after;
  GraphNode origin = nullptr;  // of a copied node: the node of the graph that was copied
  std::vector<void*> parameters;  // that cuGraphKernelNodeGetParams has handed out
};

struct GraphOpaque {
  std::vector<std::unique_ptr<GraphNodeOpaque>> nodes;
};

// Captured work as a node after the others.
void AddCaptured(Graph graph, std::function<Result()> work);
// A copy whose nodes know what they were copied from.
Graph CopyGraph(const GraphOpaque& graph);
// The nodes, each behind those that it waits for. False: they wait for each other.
bool InOrder(const GraphOpaque& graph, std::vector<GraphNode>* out);

bool IsGraph(Graph graph);
// A graph that can be launched is a copy.
inline Graph AsGraph(GraphExec exec) { return reinterpret_cast<Graph>(exec); }

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_GRAPH_H_
