#include <kernpack/error.h>
#include <kernpack/sdk/program/execute.h>

#include <mutex>
#include <optional>

#include "codegen/compile_source.h"
#include "execute/raise.h"
#include "execute/runner.h"
#include "execute/signature.h"
#include "execute/source.h"
#include "execute/step_clock.h"

namespace kernpack::sdk::program {

class Executor::Impl {
 public:
  Impl(Plan plan, const FunctionTable& functions, const std::vector<KpDLDevice>& devices, std::string_view program) {
    prepared_.plan = std::move(plan);
    Prepare(functions, DeviceMap(devices), program, &prepared_);
  }

  // `use` gets the frame after the steps, while its values are there; `given` as Frame::given.
  template <class Use>
  void Run(const KpAny* params, int32_t num_params, const KpAny* given, const RunOptions& options, const Use& use) {
    std::unique_ptr<RunState> state = Take();
    Frame& frame = state->frame;
    const size_t results = entry().results.size();
    for (size_t i = 0; i < results; ++i) frame.given[i] = given ? given[i] : kp_none();
    try {
      state->lanes.Enter();
      std::optional<StepClock> clock;
      if (options.trace) clock.emplace(&prepared_, &state->lanes);
      Runner runner(&prepared_, state.get(), &meter_, &options, clock ? &*clock : nullptr);
      runner.Run(&frame, params, num_params);
      try {
        runner.Land();
        if (clock) state->lanes.Finish();
        if (clock) clock->Finish(options.trace);
        use(&runner, &frame);
        state->lanes.Leave(options.wait);
      } catch (const Error& e) {
        Rethrow(entry().name + ": after the last step", e);
      }
    } catch (...) {
      state->lanes.Abandon();  // the state goes, and what it holds
      throw;
    }
    frame.Release();
    Give(std::move(state));
  }

  std::string Signature() const { return DeriveSignature(prepared_); }
  std::string Source(const std::string& module, const std::string& version) const {
    return WriteSource(prepared_, module, version);
  }
  const Program& entry() const { return *prepared_.entry->program; }
  BufferUse buffers() const { return {meter_.held(), meter_.peak()}; }

 private:
  Prepared prepared_;
  Meter meter_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<RunState>> idle_;

  std::unique_ptr<RunState> Take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<RunState> state = std::move(idle_.back());
        idle_.pop_back();
        return state;
      }
    }
    return std::make_unique<RunState>(&prepared_);
  }
  void Give(std::unique_ptr<RunState> state) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(state));
  }
};

Executor::Executor(Plan plan, const FunctionTable& functions, const std::vector<KpDLDevice>& devices,
                   std::string_view program)
    : impl_(std::make_unique<Impl>(std::move(plan), functions, devices, program)) {}
Executor::~Executor() = default;

std::vector<Any> Executor::Run(const std::vector<AnyView>& inputs, const RunOptions& options) const {
  static_assert(sizeof(AnyView) == sizeof(KpAny));
  std::vector<Any> results;
  impl_->Run(reinterpret_cast<const KpAny*>(inputs.data()), static_cast<int32_t>(inputs.size()), nullptr, options,
             [&](Runner* runner, Frame* frame) {
               const size_t count = impl_->entry().results.size();
               results.reserve(count);
               for (size_t i = 0; i < count; ++i) results.push_back(Any::adopt(runner->TakeResult(frame, i)));
             });
  return results;
}

void Executor::RunInto(const KpAny* args, int32_t num_args, const RunOptions& options) const {
  const Program& program = impl_->entry();
  const auto params = static_cast<int32_t>(program.params.size());
  const auto results = static_cast<int32_t>(program.results.size());
  if (num_args != params + results) {
    KP_THROW(TypeError) << program.name << ": expected " << params << " arguments and " << results
                        << " tensors for results, got " << num_args;
  }
  for (int32_t i = params; i < num_args; ++i) {
    if (kp_any_tensor(&args[i])) continue;
    KP_THROW(TypeError) << program.name << ": expected a tensor to write result " << i - params << " to, got "
                        << type_name(args[i].type_index);
  }
  impl_->Run(args, params, args + params, options, [](Runner* runner, Frame* frame) { runner->FillGiven(frame); });
}

const Program& Executor::program() const { return impl_->entry(); }
std::string Executor::Signature() const { return impl_->Signature(); }
std::string Executor::Source(const std::string& module, const std::string& version) const {
  return impl_->Source(module, version);
}
void Executor::Export(const std::string& module, const std::string& version, const std::string& path) const {
  ExportSource({"c", Source(module, version)}, Target("c"), path);
}
BufferUse Executor::buffers() const { return impl_->buffers(); }

}  // namespace kernpack::sdk::program
