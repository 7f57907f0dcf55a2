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
  // Nullable. Read before each step: if it is true, the run ends with InterruptedError.
  const std::atomic<bool>* cancel = nullptr;
  // Nullable. Receives one event per step. A traced run waits for each device at its end.
  Trace* trace = nullptr;
  // If true, the call waits until all work is done. If false, work that is queued later on the caller's current stream of a device
  // may use the results there; results on the host are complete in any case.
  bool wait = true;
};

// Bytes of the buffers of plans (without results and workspaces of functions), over all devices.
struct BufferUse {
  uint64_t held = 0;  // at the moment, kept for the next run
  uint64_t peak = 0;  // the highest use so far
};

// One program of a plan, ready to run on given devices. It has resolved the functions, and keeps streams and memory between runs.
//
// Any thread may run it, also several at once: each run then has its own streams and memory. Don't destroy it during a run.
class Executable {
 public:
  // `devices`: the real devices. Those of one type are the plan's virtual devices 0, 1, ... of that type, in order; one may be given
  // twice. Empty: each virtual device is the real one of the same type and number. The host need not be given.
  // `program`: a name, or "" for the plan's last program. `functions` isn't used after the constructor.
  // ValueError: no device is given for a virtual device, with the step that uses it; no such program. RuntimeError: a device
  // doesn't exist; a function does not run on its device, with the step.
  Executable(Plan plan, const FunctionTable& functions, const std::vector<KpDLDevice>& devices = {},
             std::string_view program = {});
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // `inputs`: one value per parameter, borrowed. Tensors must be on the devices that the plan states; only the plan's copies move
  // them. Returns one value per result: new tensors, allocated by the calling framework if there is one (a returned parameter is
  // the argument itself). TypeError, ValueError: "main: x: expected f32[N, 8] on opencl:0, got ...". Errors of a step keep their
  // kind and name the step. After an error the run has ended and freed its memory.
  std::vector<Any> Run(const std::vector<AnyView>& inputs, const RunOptions& options = {}) const;
  // The calling convention of functions with a signature: `args` are the parameters, then for each result a tensor of its shape,
  // dtype and device. These must overlap neither an input nor each other.
  void RunInto(const KpAny* args, int32_t num_args, const RunOptions& options = {}) const;

  const Program& program() const;  // as planned
  // The program's contract: "(x: f32[N, 8], a: float) -> (z: f32[N, 8])", with names that are valid in a signature. ValueError
  // if no signature can express it: results that aren't tensors, dims known only in a run, tensors on several devices.
  std::string Signature() const;
  BufferUse buffers() const;

  // For running a program without the SDK. Returns the C source of a module whose function is the program; programs that it
  // invokes are included. The module calls functions of
  // other modules through the host that loads it, which must have loaded them before; it calls them in order on the caller's
  // stream. NotImplementedError: a program on several devices, shapes as values; ValueError: a function that belongs to no module.
  std::string Source(const std::string& module, const std::string& version) const;
  // Writes the same module as a shared object, compiled as by the generator of kind c.
  void Export(const std::string& module, const std::string& version, const std::string& path) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_EXECUTE_H_
