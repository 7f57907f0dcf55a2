#include <kernpack/error.h>
#include <kernpack/sdk/program/execute.h>

#include <mutex>
#include <optional>

#include "codegen/compile_source.h"
#include "execute/raise.h"
#include "execute/runner.h"
#include "execute/module_parts.h"
#include "execute/step_clock.h"

namespace kernpack::sdk::program {

class Executable::Impl {
 public:
  Impl(Plan plan, const FunctionTable& functions, const std::vector<KpDLDevice>& devices, std::string_view program) {
    resolved_.plan = std::move(plan);
    Resolve(functions, DeviceMap(devices), program, &resolved_);
  }

  // `use` gets the frame after the steps, while its values are there; `given` as Frame::given.
  template <class Use>
  void Run(const KpAny* params, int32_t num_params, const KpAny* given, const RunOptions& options, const Use& use) {
    std::unique_ptr<Runner> runner = Take();
    Frame& frame = runner->frame;
    const size_t results = entry().results.size();
    for (size_t i = 0; i < results; ++i) frame.given[i] = given ? given[i] : kp_none();
    try {
      runner->streams.Enter();
      std::optional<StepClock> clock;
      if (options.trace) clock.emplace(&resolved_, &runner->streams);
      runner->Begin(&options, clock ? &*clock : nullptr);
      runner->Run(&frame, params, num_params);
      try {
        runner->Land();
        if (clock) runner->streams.Finish();
        if (clock) clock->Finish(options.trace);
        use(runner.get(), &frame);
        runner->streams.Leave(options.wait);
      } catch (const Error& e) {
        Rethrow(entry().name + ": after the last step", e);
      }
    } catch (...) {
      runner->streams.Abandon();  // the runner goes, and what it holds
      throw;
    }
    frame.Release();
    Give(std::move(runner));
  }

  std::string Signature() const { return DeriveSignature(resolved_); }
  std::string Source(const std::string& module, const std::string& version) const {
    return WriteSource(resolved_, module, version);
  }
  const Program& entry() const { return *resolved_.entry->program; }
  BufferUse buffers() const { return {meter_.held(), meter_.peak()}; }

 private:
  ResolvedPlan resolved_;
  Meter meter_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Runner>> idle_;

  std::unique_ptr<Runner> Take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<Runner> runner = std::move(idle_.back());
        idle_.pop_back();
        return runner;
      }
    }
    return std::make_unique<Runner>(&resolved_, &meter_);
  }
  void Give(std::unique_ptr<Runner> runner) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(runner));
  }
};

Executable::Executable(Plan plan, const FunctionTable& functions, const std::vector<KpDLDevice>& devices,
                       std::string_view program)
    : impl_(std::make_unique<Impl>(std::move(plan), functions, devices, program)) {}
Executable::~Executable() = default;

std::vector<Any> Executable::Run(const std::vector<AnyView>& inputs, const RunOptions& options) const {
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

void Executable::RunInto(const KpAny* args, int32_t num_args, const RunOptions& options) const {
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

const Program& Executable::program() const { return impl_->entry(); }
std::string Executable::Signature() const { return impl_->Signature(); }
std::string Executable::Source(const std::string& module, const std::string& version) const {
  return impl_->Source(module, version);
}
void Executable::Export(const std::string& module, const std::string& version, const std::string& path) const {
  ExportSource({"c", Source(module, version)}, Target("c"), path);
}
BufferUse Executable::buffers() const { return impl_->buffers(); }

}  // namespace kernpack::sdk::program
