// A plan with everything looked up that runs need: functions, real devices, what follows from what. ResolvedStep is a step of
// the plan with what was found for it, ResolvedCall the function that it calls, and so on.
#ifndef KERNPACK_SDK_PROGRAMS_EXECUTE_RESOLVED_PLAN_H_
#define KERNPACK_SDK_PROGRAMS_EXECUTE_RESOLVED_PLAN_H_

#include <kernpack/any.h>
#include <kernpack/sdk/program/plan.h>

#include "execute/device_map.h"

namespace kernpack::sdk::program {

// One that a plan uses. Several virtual devices may be the same real one.
struct RealDevice {
  KpDLDevice device;
  DeviceAPI* api;
  bool is_host() const { return device.device_type == KP_DEVICE_CPU; }
};

// A stream of the plan.
struct ResolvedStream {
  uint32_t device;  // index in ResolvedPlan::devices
  bool callers;  // uses the stream that is current for the caller, as the first of each device does; others are our own
};

struct ResolvedCall {
  Callable callable;
  const uint32_t* words = nullptr;  // null: untyped
  const char* name = nullptr;
  int32_t num_params = 0;
  int32_t num_results = 0;
  bool has_workspace = false;
  // True if the shapes and dtypes of the step's arguments and results follow from the program's inputs. The step then needs no check
  // in a run whose inputs have the types of the previous run.
  bool follows = false;
  std::vector<uint32_t> elsewhere;  // arguments in memory of another device, which this one may use
  std::vector<KpAny> defaults;  // of the last parameters, which the step does not give; borrowed from the signature
};

inline constexpr int64_t kUnknownDim = -1;

struct ResolvedProgram;

struct ResolvedStep {
  const Step* step;
  const PlannedStep* planned;
  uint32_t device;  // where it executes, in ResolvedPlan::devices
  ResolvedCall call;
  const ResolvedProgram* then = nullptr;  // of kIf for true, of kInvoke
  const ResolvedProgram* otherwise = nullptr;
  KpAny constant = kp_none();  // borrowed from the program
};

struct ResolvedValue {
  uint32_t device;  // in ResolvedPlan::devices
  uint32_t buffer;  // of the plan, or kNoBuffer
  int32_t result = -1;  // of the program that the step makes directly
};

struct ResolvedProgram {
  const Program* program;
  const PlannedProgram* planned;
  std::vector<ResolvedStep> steps;
  std::vector<ResolvedValue> values;
  // Of each parameter's dims: a number (from 0), kUnknownDim, or -2 - i, the i-th symbol of the program.
  std::vector<std::vector<int64_t>> param_dims;
  uint32_t num_symbols = 0;
};

struct ResolvedPlan {
  Plan plan;
  std::vector<Function> functions;  // those that are called: they keep what they call alive
  std::vector<RealDevice> devices;  // the host first
  std::vector<ResolvedStream> streams;  // one per stream of the plan
  std::vector<ResolvedProgram> programs;  // one per program of the plan
  std::vector<Any> shapes;  // constants that are objects
  const ResolvedProgram* entry = nullptr;
  std::vector<bool> written;  // values of the entry that some step writes in place

  ResolvedPlan() = default;
  ResolvedPlan(const ResolvedPlan&) = delete;
  ResolvedPlan& operator=(const ResolvedPlan&) = delete;
};

// Fills `out`, which has its plan. Errors: see Executable.
void Resolve(const FunctionTable& functions, const DeviceMap& map, std::string_view program, ResolvedPlan* out);

// "main: step 3 (call kernels.gelu)".
std::string GetName(const Program& program, const Step& step);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_EXECUTE_RESOLVED_PLAN_H_
