// Planning: where every value of a module lives, which copies that takes, and when and in which memory each step runs.
#ifndef KERNPACK_SDK_PROGRAM_PLAN_H_
#define KERNPACK_SDK_PROGRAM_PLAN_H_

#include <kernpack/sdk/compilation_config.h>
#include <kernpack/sdk/program/function_table.h>
#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

inline constexpr uint32_t kNoStream = ~0u;
inline constexpr uint32_t kNoBuffer = ~0u;

// A queue of steps of one device, which run in order. A device has one stream for copies besides those for calls.
struct Stream {
  VirtualDevice device;  // no memory scope
  bool copies = false;
};

// The bytes of a tensor: factor times the symbols. Unknown if a dim, the rank or the dtype is unknown.
struct ByteSize {
  bool known = false;
  uint64_t factor = 0;
  std::vector<std::string> symbols;  // sorted, with repetitions

  static ByteSize Of(const Type& type);
  // "4 * D * N", "1024", "?".
  std::string str() const;
  bool operator==(const ByteSize&) const = default;
};

// One allocation, and the values that use it, one after the other. Its size is that of the first value, which is the largest.
struct Buffer {
  VirtualDevice device;  // scope included
  ByteSize size;
  std::vector<ValueId> values;
};

struct PlannedStep {
  // The stream on which the step is queued. kNoStream: it queues nothing (constants, tuples, shapes), or is a barrier.
  uint32_t stream = kNoStream;
  // kIf and kInvoke: all streams of the plan wait for each other before and after the step.
  bool barrier = false;
  // Steps of the same program, on other streams, whose events this stream waits for first. Waits that follow from other waits
  // or from the order of a stream are omitted.
  std::vector<uint32_t> waits;
  // True if a later step waits for this step: an event is recorded after it.
  bool signals = false;
  // Tensors and tuples that aren't used after this step. Never parameters, results of the program, or elements of a tuple
  // that is still in use.
  std::vector<ValueId> frees;
};

struct PlannedProgram {
  std::vector<PlannedStep> steps;  // one per step
  // The index of each value's buffer, or kNoBuffer: for parameters, host values, results of kIf or kInvoke (the invoked
  // program owns their memory), and results of this program, which outlive it.
  std::vector<uint32_t> buffer_of;
  std::vector<Buffer> buffers;
};

// A placed module: each tensor's device_type, virtual_device_id and target are set (memory_scope: where it was
// requested), and copies are steps.
struct Plan {
  ProgramModule module;
  std::vector<Stream> streams;
  std::vector<PlannedProgram> programs;  // one per program; empty before the pass that fills it
};

// Code on one device may use memory of another without a copy. With the same type, id and scope this is always allowed.
struct Access {
  int32_t memory_type;  // a KpDeviceType
  std::string memory_scope;  // "": any
  int32_t device_type;  // of the code that uses it
  bool same_id = true;  // only when the virtual ids are equal
};

struct PlanOptions {
  // Streams for calls on one device; a CPU has one. At least 1.
  int streams_per_device = 4;
  std::vector<Access> access;
};

struct PlanContext {
  CompilationConfig* config;
  const FunctionTable* functions;
  PlanOptions options;
};

// A pass changes the plan; Print shows the plan after each pass.
struct PlanPass {
  const char* name;
  void (*run)(Plan* plan, const PlanContext& context);
};

// Infers types from the functions' signatures, from arguments to results. ValueError for contradictions, and for a step that
// writes in place to a tensor with two names.
void InferTypes(Plan* plan, const PlanContext& context);
// Assigns a device to each value. ValueError naming both constraints if two contradict (docs/program.md).
void Place(Plan* plan, const PlanContext& context);
// Adds a kCopy where a value isn't on the device that uses it: one per value and destination. Removes copies from a place to the
// same place.
void InsertCopies(Plan* plan, const PlanContext& context);
// Removes copies that the access table makes unnecessary, if both sides are only read, and copies that aren't used.
void ElideCopies(Plan* plan, const PlanContext& context);
void AssignStreams(Plan* plan, const PlanContext& context);
void AssignBuffers(Plan* plan, const PlanContext& context);

const std::vector<PlanPass>& PlanPasses();
using PlanObserver = std::function<void(const PlanPass& pass, const Plan& after)>;
// Calls Verify(), then runs PlanPasses(). `observer` (nullable) is called with the plan after each pass. Errors of both.
Plan MakePlan(const ProgramModule& module, const PlanContext& context, const PlanObserver& observer = {});

// The program's text, with streams, waits, buffers and frees as comments: it parses as a program.
std::string Print(const Plan& plan);

// The device on which a kCall of a placed program executes: that of its first tensor result, else of its first written
// argument, else of its first tensor argument, else the host. No memory scope. `function`: the call's entry, nullable.
VirtualDevice CallDevice(const Program& program, const Step& step, const Function* function,
                         const CompilationConfig& config);

// The bytes that a run needs at once. Only constant sizes count.
struct MemoryUse {
  uint64_t buffers = 0;  // the plan's allocations
  uint64_t values = 0;  // if each value had memory of its own
};
MemoryUse MemoryOf(const PlannedProgram& planned, const Program& program);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_PLAN_H_
