// Planning: where every value of a module lives, which copies that takes, and when and in which memory each step runs.
#ifndef KERNPACK_SDK_PROGRAM_PLAN_H_
#define KERNPACK_SDK_PROGRAM_PLAN_H_

#include <kernpack/sdk/compilation_config.h>
#include <kernpack/sdk/program/function_table.h>
#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

inline constexpr uint32_t kNoStream = ~0u;
inline constexpr uint32_t kNoBuffer = ~0u;

// What runs in order on a device. A device has one for copies besides those for calls.
struct Stream {
  VirtualDevice device;  // no memory scope
  bool copies = false;
};

// The bytes of a tensor: factor times the symbols. Not known where a dim or the rank is not, or no signature says the dtype.
struct ByteSize {
  bool known = false;
  uint64_t factor = 0;
  std::vector<std::string> symbols;  // sorted, with repetitions

  static ByteSize Of(const Type& type);
  // "4 * D * N", "1024", "?".
  std::string str() const;
  bool operator==(const ByteSize&) const = default;
};

// One allocation, and the values that are in it, one after the other. Its size is the largest of theirs, that of the first.
struct Buffer {
  VirtualDevice device;  // scope included
  ByteSize size;
  std::vector<ValueId> values;
};

struct PlannedStep {
  // Where it is queued. kNoStream: it queues nothing (constants, tuples, shapes), or is a barrier.
  uint32_t stream = kNoStream;
  // kIf and kInvoke: all streams of the plan wait for each other before and after it.
  bool barrier = false;
  // Steps of the same program, on other streams, whose events this stream waits for first. What follows from other waits and
  // the order of streams is left out.
  std::vector<uint32_t> waits;
  // Whether a later step waits for it: an event is recorded behind it.
  bool signals = false;
  // Tensors and tuples that nothing uses after this step. Never parameters, what the program returns, or elements of a tuple
  // still in use.
  std::vector<ValueId> frees;
};

struct PlannedProgram {
  std::vector<PlannedStep> steps;  // one per step
  // The buffer of each value, or kNoBuffer: parameters, host values, what a kIf or kInvoke gives (the memory is of the program
  // that made it), and what this program returns, which outlives it.
  std::vector<uint32_t> buffer_of;
  std::vector<Buffer> buffers;
};

// A placed module: each tensor's device_type, virtual_device_id and target are set (memory_scope: where something asked for
// one), copies are steps.
struct Plan {
  ProgramModule module;
  std::vector<Stream> streams;
  std::vector<PlannedProgram> programs;  // one a program; empty before the pass that fills it
};

// Whether code on a device may use memory of another without a copy. Same type, id and scope always may.
struct Access {
  int32_t memory_type;  // a KpDeviceType
  std::string memory_scope;  // "": any
  int32_t device_type;  // of who uses it
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

// Passes: each changes the plan and leaves one that Print shows.
struct PlanPass {
  const char* name;
  void (*run)(Plan* plan, const PlanContext& context);
};

// Types that the functions' signatures say, from arguments to results. ValueError where they contradict, and where a step writes in
// place to a tensor that has two names.
void InferTypes(Plan* plan, const PlanContext& context);
// Gives each value a device. ValueError naming both sides where two constraints cannot both hold (docs/program.md).
void Place(Plan* plan, const PlanContext& context);
// A kCopy wherever a value lives elsewhere than where it is used: one per value and destination. Copies from a place to the same
// place go.
void InsertCopies(Plan* plan, const PlanContext& context);
// Copies that the access table makes needless go, where both sides are only read, and those that nothing uses.
void ElideCopies(Plan* plan, const PlanContext& context);
void AssignStreams(Plan* plan, const PlanContext& context);
void AssignBuffers(Plan* plan, const PlanContext& context);

const std::vector<PlanPass>& PlanPasses();
using PlanObserver = std::function<void(const PlanPass& pass, const Plan& after)>;
// Checks what Verify() does, and runs PlanPasses(). `observer` (nullable) sees the plan after each.
Plan MakePlan(const ProgramModule& module, const PlanContext& context, const PlanObserver& observer = {});

// The program's text with streams, waits, buffers and frees as comments, so that it parses as a program.
std::string Print(const Plan& plan);

// Where a kCall of a placed program executes: where its first tensor result lives, else its first written argument, else its
// first tensor argument, else the host. No memory scope. `function`: its entry, nullable.
VirtualDevice CallDevice(const Program& program, const Step& step, const Function* function,
                         const CompilationConfig& config);

// How many bytes a run needs at once, as far as sizes are constant.
struct MemoryUse {
  uint64_t buffers = 0;  // the plan's allocations
  uint64_t values = 0;  // if each value had memory of its own
};
MemoryUse MemoryOf(const PlannedProgram& planned, const Program& program);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_PLAN_H_
