// Running a plan.
//
//   Executable run(MakePlan(module, context), functions, {Device::cpu(), Device::opencl(1)});
//   std::vector<Any> results = run.Run({x, weight});
#ifndef KERNPACK_SDK_PROGRAM_EXECUTE_H_
#define KERNPACK_SDK_PROGRAM_EXECUTE_H_

#include <kernpack/any.h>
#include <kernpack/device.h>
#include <kernpack/sdk/program/plan.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kernpack::sdk::program {

class Trace;

struct RunOptions {
  // Nullable. Looked at before each step: once it is true the run ends with InterruptedError.
  const std::atomic<bool>* cancel = nullptr;
  // Nullable. Gets an event a step. Measuring waits for each device at the end of the run.
  Trace* trace = nullptr;
  // Whether the call returns when all is done. Otherwise results on a device are ready for what is queued behind them on the
  // caller's current stream of that device; those on the host are ready in any case.
  bool wait = true;
};

// Bytes of the buffers of plans (not results, not what functions use inside), over all devices.
struct BufferUse {
  uint64_t held = 0;  // now, kept for the next run
  uint64_t peak = 0;  // the most at once so far
};

// One program of a plan, ready to run on given devices: functions are found, streams and memory are kept from run to run.
//
// Any thread may run it; several at once, too: each has streams and memory of its own then. Destroy it when none does.
class Executable {
 public:
  // `devices`: real ones for the plan's. Those of one type are virtual 0, 1, ... of that type, in order; one may be given twice.
  // None given: each virtual device is the real one of the same type and number. The host need not be given.
  // `program`: "": the plan's last. `functions` may go.
  // ValueError: a virtual device that none is given for, naming who uses it; no such program. RuntimeError: a device that
  // is not there; a function that does not run on its device, naming the step.
  Executable(Plan plan, const FunctionTable& functions, const std::vector<KpDLDevice>& devices = {},
             std::string_view program = {});
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // One value a parameter, borrowed. Tensors are where the plan has them: it moves nothing that it does not say. One value a
  // result, new ones (a parameter that is returned is itself), allocated by the calling framework where there is one.
  // TypeError, ValueError: "main: x: expected f32[N, 8] on opencl:0, got ...". What goes wrong later names the step and keeps
  // its kind. After an error nothing of the run is held or running.
  std::vector<Any> Run(const std::vector<AnyView>& inputs, const RunOptions& options = {}) const;
  // As a function with a signature is called: `args` are the parameters, then for each result a tensor of its shape, dtype and
  // device, which overlap no input, nor each other.
  void RunInto(const KpAny* args, int32_t num_args, const RunOptions& options = {}) const;

  const Program& program() const;  // as planned
  // Its contract as a function: "(x: f32[N, 8], a: float) -> (z: f32[N, 8])", with names that a signature takes. ValueError
  // where none can say it: results that aren't tensors, dims that only a run tells, tensors on several devices.
  std::string Signature() const;
  BufferUse buffers() const;

  // For shipping a program without the SDK, which then needs no planner at run time. The program, and those it invokes, as the C
  // source of a module that has it as its function. The module calls the functions of
  // other modules through the host that loads it, which must have loaded those before; on the caller's stream, one after the
  // other. NotImplementedError: a program on several devices, shapes as values; ValueError: a function that is of no module.
  std::string Source(const std::string& module, const std::string& version) const;
  // The same as a shared object, compiled as the generator of kind c does.
  void Export(const std::string& module, const std::string& version, const std::string& path) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_EXECUTE_H_
