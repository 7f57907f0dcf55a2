#include <kernpack/error.h>
#include <kernpack/shape.h>
#include <kernpack/signature/sequence.h>

#include <algorithm>

#include "execute/resolved_plan.h"
#include "execute/raise.h"
#include "plan/effects.h"

namespace kernpack::sdk::program {
namespace {

// Borrowed from the step, but for shapes, which go to `owned`.
KpAny GetValue(const Constant& constant, std::vector<Any>* owned) {
  if (const auto* text = std::get_if<std::string>(&constant)) return AnyView(text->c_str()).raw();
  if (const auto* flag = std::get_if<bool>(&constant)) return AnyView(*flag).raw();
  if (const auto* number = std::get_if<int64_t>(&constant)) return AnyView(*number).raw();
  if (const auto* real = std::get_if<double>(&constant)) return AnyView(*real).raw();
  if (const auto* dtype = std::get_if<DType>(&constant)) return AnyView(*dtype).raw();
  if (const auto* shape = std::get_if<std::vector<int64_t>>(&constant)) {
    owned->emplace_back(Shape(ShapeView(shape->data(), shape->size())));
    return owned->back().raw();
  }
  return kp_none();
}

// True if the call writes to an argument, which may then overlap other arguments, or gets a number for a tensor.
bool LooksAtValues(const Program& program, const Step& step, const signature::View& view) {
  if (view.Writes()) return true;
  for (size_t i = 0; i < step.args.size(); ++i) {
    const uint32_t kind = signature::GetKind(view.Param(static_cast<int>(i)));
    if (kind == KP_PARAM_TENSOR && !program.values[step.args[i]].type.is_tensor()) return true;
  }
  return false;
}

// Tensors that the call gets where the plan has no copy of them, though they are another device's.
std::vector<uint32_t> Elsewhere(const Program& program, const Step& step, const ResolvedStep& resolved,
                                const std::vector<ResolvedValue>& values) {
  const signature::View view{resolved.call.words};
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < step.args.size(); ++i) {
    const bool host_only = (signature::GetFlags(view.Param(static_cast<int>(i))) & KP_PARAM_ON_CPU) != 0;
    const bool tensor = program.values[step.args[i]].type.is_tensor();
    if (tensor && !host_only && values[step.args[i]].device != resolved.device) found.push_back(i);
  }
  return found;
}

class Resolver {
 public:
  Resolver(const FunctionTable& functions, const DeviceMap& map, ResolvedPlan* out)
      : table_(functions), map_(map), out_(*out), index_(GetIndex(out->plan.module)) {}

  void Run(std::string_view entry) {
    out_.devices.push_back({kHost, DeviceAPI::Get(KP_DEVICE_CPU)});
    AddStreams();
    const std::vector<Program>& programs = out_.plan.module.programs;
    out_.programs.resize(programs.size());
    for (size_t i = 0; i < programs.size(); ++i) ResolveProgram(programs[i], out_.plan.programs[i], &out_.programs[i]);
    if (programs.empty()) KP_THROW(ValueError) << "the plan has no program";
    out_.entry = entry.empty() ? &out_.programs.back() : ProgramNamed(entry);
    const auto number = static_cast<size_t>(out_.entry - out_.programs.data());
    const Writes writes(out_.plan.module, table_);
    for (ValueId value = 0; value < out_.entry->values.size(); ++value) {
      out_.written.push_back(writes.Written(number, value));
    }
  }

 private:
  const FunctionTable& table_;
  const DeviceMap& map_;
  ResolvedPlan& out_;
  const ProgramIndex index_;

  uint32_t FindDevice(const VirtualDevice& device, const std::string& user) {
    const KpDLDevice real = map_.Real(device, user);
    for (uint32_t i = 0; i < out_.devices.size(); ++i) {
      if (SameDevice(out_.devices[i].device, real)) return i;
    }
    out_.devices.push_back({real, DeviceAPI::Get(real.device_type)});
    return static_cast<uint32_t>(out_.devices.size() - 1);
  }

  // Calls follow the work that the caller has queued. If there are calls, copies have a separate stream.
  void AddStreams() {
    const std::vector<Stream>& streams = out_.plan.streams;
    for (const Stream& stream : streams) out_.streams.push_back({FindDevice(stream.device, "a stream of it"), false});
    std::vector<bool> has(out_.devices.size(), false);
    for (const bool copies : {false, true}) {
      for (size_t i = 0; i < streams.size(); ++i) {
        ResolvedStream& stream = out_.streams[i];
        if (streams[i].copies != copies || has[stream.device]) continue;
        stream.callers = has[stream.device] = true;
      }
    }
  }

  const ResolvedProgram* ProgramNamed(std::string_view name) const {
    const auto found = index_.find(name);
    if (found != index_.end()) return &out_.programs[found->second];
    KP_THROW(ValueError) << "the plan has no program '" << name << "'";
  }

  void ResolveProgram(const Program& program, const PlannedProgram& planned, ResolvedProgram* out) {
    out->program = &program;
    out->planned = &planned;
    for (ValueId id = 0; id < program.values.size(); ++id) {
      const Value& value = program.values[id];
      const std::string name = value.name.empty() ? "%" + std::to_string(id) : value.name;
      out->values.push_back({FindDevice(value.device, program.name + ": " + name), planned.buffer_of[id]});
    }
    ResolveParams(program, out);
    // Values whose shapes and dtypes follow from the inputs.
    std::vector<bool> follows(program.values.size(), false);
    for (const ValueId param : program.params) follows[param] = true;
    for (size_t i = 0; i < program.steps.size(); ++i) {
      out->steps.push_back(ResolveStep(program, program.steps[i], planned.steps[i], out->values, &follows));
    }
    MarkDirectResults(program, out);
  }

  static void ResolveParams(const Program& program, ResolvedProgram* out) {
    std::vector<std::string> symbols;
    for (const ValueId param : program.params) {
      std::vector<int64_t>& dims = out->param_dims.emplace_back();
      for (const Dim& dim : program.values[param].type.dims.value_or(std::vector<Dim>())) {
        if (dim.is_constant() || dim.is_unknown()) {
          dims.push_back(dim.is_constant() ? dim.extent : kUnknownDim);
          continue;
        }
        const auto known = std::find(symbols.begin(), symbols.end(), dim.symbol);
        dims.push_back(-2 - (known - symbols.begin()));
        if (known == symbols.end()) symbols.push_back(dim.symbol);
      }
    }
    out->num_symbols = static_cast<uint32_t>(symbols.size());
  }

  ResolvedStep ResolveStep(const Program& program, const Step& step, const PlannedStep& planned,
                           const std::vector<ResolvedValue>& values, std::vector<bool>* follows) {
    ResolvedStep out{&step, &planned, 0, {}};
    if (planned.stream != kNoStream) out.device = out_.streams[planned.stream].device;
    bool gives = std::all_of(step.args.begin(), step.args.end(), [&](ValueId value) { return (*follows)[value]; });
    switch (step.kind) {
      case StepKind::kConstant:
        out.constant = GetValue(step.constant, &out_.shapes);
        break;
      case StepKind::kCall:
        ResolveCall(program, step, &out);
        if (out.call.words) out.call.elsewhere = Elsewhere(program, step, out, values);
        gives = gives && out.call.words && !LooksAtValues(program, step, signature::View{out.call.words});
        out.call.follows = gives;
        break;
      case StepKind::kIf:
        out.otherwise = ProgramNamed(step.otherwise);
        [[fallthrough]];
      case StepKind::kInvoke:
        out.then = ProgramNamed(step.callee);
        gives = false;
        break;
      default:
        break;
    }
    for (const ValueId result : step.results) (*follows)[result] = gives;
    return out;
  }

  void ResolveCall(const Program& program, const Step& step, ResolvedStep* out) {
    const std::string name = GetName(program, step);
    const Function* found = table_.Find(step.callee);
    if (!found) {
      KP_THROW(ValueError) << name << ": there is no function '" << step.callee << "'" << table_.Suggest(step.callee);
    }
    if (!found->resolve) KP_THROW(ValueError) << name << ": there is nothing to call: the entry is for planning only";
    out_.functions.push_back(*found);
    ResolvedCall& call = out->call;
    call.name = step.callee.c_str();
    try {
      call.callable = found->resolve(out_.devices[out->device].device);
    } catch (const Error& e) {
      Rethrow(name, e);
    }
    call.words = found->words();  // the copy in out_.functions shares them
    if (!call.words) return;
    const signature::View view{call.words};
    call.num_params = view.NumParams();
    call.num_results = view.NumResults();
    call.has_workspace = view.HasWorkspace();
    for (auto i = static_cast<int>(step.args.size()); i < call.num_params; ++i) {
      const uint32_t at = view.Param(i)[3];
      if (!at || (view.words[at] & 0xff) == signature::kListDefault) {
        KP_THROW(ValueError) << name << ": expected an argument for parameter " << view.ParamName(i) << ", got none";
      }
      call.defaults.push_back(signature::ReadDefault(view, view.words + at));
    }
  }

  // Marks results that steps can write directly to the caller's destination.
  static void MarkDirectResults(const Program& program, ResolvedProgram* out) {
    std::vector<bool> made(program.values.size(), false);
    for (const ResolvedStep& step : out->steps) {
      const bool writes = step.step->kind == StepKind::kCopy || (step.step->kind == StepKind::kCall && step.call.words);
      for (const ValueId value : step.step->results) made[value] = writes;
    }
    for (size_t i = 0; i < program.results.size(); ++i) {
      ResolvedValue& value = out->values[program.results[i].value];
      if (made[program.results[i].value] && value.result < 0) value.result = static_cast<int32_t>(i);
    }
  }
};

}  // namespace

void Resolve(const FunctionTable& functions, const DeviceMap& map, std::string_view program, ResolvedPlan* out) {
  Resolver(functions, map, out).Run(program);
}

std::string GetName(const Program& program, const Step& step) {
  std::string name = program.name + ": step " + std::to_string(&step - program.steps.data()) + " (";
  name += StepKindName(step.kind);
  return name + (step.callee.empty() ? "" : " " + step.callee) + ")";
}

}  // namespace kernpack::sdk::program
