// A timeline of runs of a program, for ui.perfetto.dev and chrome://tracing.
//
//   Trace trace;
//   executable.Run(inputs, {.trace = &trace});
//   trace.Write("run.json");
#ifndef KERNPACK_SDK_PROGRAM_TRACE_H_
#define KERNPACK_SDK_PROGRAM_TRACE_H_

#include <kernpack/abi.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace kernpack::sdk::program {

struct TraceEvent {
  std::string name;  // "call kernels.gelu"
  std::string program;
  uint32_t step;
  KpDLDevice device;  // a real one
  uint32_t stream;  // of the plan; kNoStream: a step that queues nothing
  bool copies;  // whether that stream is one for copies
  double begin;  // microseconds of a clock that is the same for all events of the process
  double end;
  uint64_t bytes;  // of the step's result tensors
};

// Any thread; several runs may share one.
class Trace {
 public:
  void Add(std::vector<TraceEvent> events);
  // In the order in which they began.
  std::vector<TraceEvent> events() const;
  // Chrome's trace format: one process per device, one thread per stream, one slice per step.
  std::string Json() const;
  // OSError if the file cannot be written.
  void Write(const std::string& path) const;

 private:
  mutable std::mutex mutex_;
  std::vector<TraceEvent> events_;
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_TRACE_H_
