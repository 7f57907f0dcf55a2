#include <kernpack/guard.h>
#include <kernpack/sdk/codegen/generator.h>
#include <kernpack/sdk/ir/pass.h>
#include <kernpack/sdk/ir/verify.h>
#include <kernpack/sdk/object.h>
#include <kernpack/sdk/schedule/default.h>
#include <kernpack/string.h>

#include <map>
#include <mutex>

#include "codegen/register.h"
#include "codegen/packed.h"
#include "ir/launch_limits.h"
#include "target/host.h"

namespace kernpack::sdk {
namespace {

const char kBuild[] = "target.build.", kExport[] = "target.export.", kSource[] = "target.source.";

// Why kinds have no generator here.
class Missing {
 public:
  void Set(const std::string& kind, std::string why) {
    const std::lock_guard lock(mutex_);
    why_.insert_or_assign(kind, std::move(why));
  }
  // "; llvm: built without LLVM", of the kinds that have none.
  std::string Text() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const auto& [kind, why] : why_) {
      if (!PackedFunction(kBuild + kind)) text += "; " + kind + ": " + why;
    }
    return text;
  }
  static Missing& Get() {
    static Missing& missing = *new Missing;
    return missing;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> why_;
};

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

Target TargetFor(const ir::IRModule& module, const std::optional<Target>& target) {
  if (target) return *target;
  if (module.target.empty()) {
    KP_THROW(ValueError) << "build: module '" << module.name.c_str() << "' names no target; pass one";
  }
  return Target(module.target);
}

// A kind with the attribute "runs_on_this_machine" makes what runs in this process for its processor, where the target leaves that
// open. The schedule has to know, or its vectors are those of the oldest processor.
Target InThisProcess(const Target& target) {
  const TargetKind& kind = target.kind();
  if (!kind.GetAttr<bool>("runs_on_this_machine").value_or(false)) return target;
  for (const TargetOption& option : kind.options()) {
    if (!option.traits.from_device.empty() && target.attrs().contains(option.name)) return target;
  }
  return Target::FromDevice({kind.device_type(), 0}, target.ToConfig());
}

// The module that a generator gets. Checks are in the module, so every generator has them. They are added after lowering, when every
// access and its lanes are written out; their messages show the accesses as they were written.
ir::IRModule Prepared(const ir::IRModule& module, const Target& target, const BuildOptions& options) {
  const bool checked = options.checked && !module.checked;
  if (checked) ir::Verify(module);
  const ir::LabelledModule labelled = checked ? ir::LabelAccesses(module) : ir::LabelledModule{module, {}};
  const ir::IRModule scheduled = ir::ScheduleByDefault(labelled.module, target);
  ir::CheckLaunches(scheduled, target);
  return checked ? ir::CheckAccesses(ir::Lower(scheduled), labelled.labels) : scheduled;
}

// target.<service>.<kind> of the registry.
struct Service {
  std::string name;
  PackedFunction function;
};

// RuntimeError when the kind of the target has none.
Service FindService(const char* service, const Target& target) {
  RegisterBuiltinGenerators();
  static_cast<void>(target.device_type());  // a backend that is found by its device's name brings its generator
  const std::string& kind = target.kind().name();
  if (!PackedFunction(kBuild + kind)) {
    KP_THROW(RuntimeError) << "build: target kind '" << kind.c_str()
                           << "' has no code generator; enabled: " << Joined(ListGenerators()).c_str()
                           << Missing::Get().Text().c_str();
  }
  const std::string name = service + kind;
  Service found{name, PackedFunction(name)};
  if (!found.function) {
    KP_THROW(RuntimeError) << "build: the generator of target kind '" << kind.c_str() << "' has no " << name.c_str();
  }
  return found;
}

// Runs what a generator of this copy of the SDK offers; its errors are those of the packed function.
template <class Run>
void CallDirectly(const Service& service, Run run) {
  using kernpack::detail::Naming;
  Check(kernpack::detail::guarded<Naming::kForeign>(Host(), service.name.c_str(), run));
}

Generated ToGenerated(const Any& made, const std::string& kind) {
  // Python has no pointers: its generators give an address.
  if (made.type_index() == KP_TYPE_OPAQUE_PTR || made.type_index() == KP_TYPE_INT)
    return {static_cast<const KpModule*>(made.raw().v.v_ptr), {}};
  KpBytes path{};
  if (!kp_any_str(&made.raw(), &path)) {
    KP_THROW(TypeError) << "target.build." << kind.c_str()
                        << ": expected a pointer to a KpModule or the path of a shared object as the result, got "
                        << type_name(made.type_index());
  }
  return {nullptr, std::string(path.data, path.size)};
}

}  // namespace

Any FromGenerated(const Generated& made) {
  if (made.table) return Any(static_cast<void*>(const_cast<KpModule*>(made.table)));
  return Any(String(made.library));
}

void RegisterGenerator(const std::string& kind, Generator offered, bool replace) {
  const auto generator = std::make_shared<const Generator>(std::move(offered));
  const auto add = [&](const char* service, int32_t num_args, PackedBody body) {
    RegisterPacked(service + kind, num_args, std::move(body), replace, generator);
  };
  add(kBuild, 2, [generator](const KpAny* args) {
    return FromGenerated(generator->build(ToIRModule(args[0], "module"), ToTarget(args[1], "target")));
  });
  if (generator->export_library) {
    add(kExport, 3, [generator](const KpAny* args) {
      generator->export_library(ToIRModule(args[0], "module"), ToTarget(args[1], "target"),
                                std::string(AnyView(args[2]).cast<StringView>()));
      return Any();
    });
  }
  if (generator->source) {
    add(kSource, 2, [generator](const KpAny* args) {
      return Any(String(generator->source(ToIRModule(args[0], "module"), ToTarget(args[1], "target"))));
    });
  }
}

void ExplainMissingGenerator(const std::string& kind, std::string why) { Missing::Get().Set(kind, std::move(why)); }

std::vector<std::string> ListGenerators() {
  RegisterBuiltinGenerators();
  std::vector<std::string> kinds;
  for (const std::string& kind : TargetKind::List()) {
    if (PackedFunction(kBuild + kind)) kinds.push_back(kind);
  }
  return kinds;
}

Generated Build(const ir::IRModule& module, const std::optional<Target>& target, const BuildOptions& options) {
  const Target chosen = InThisProcess(TargetFor(module, target));
  const Service service = FindService(kBuild, chosen);
  const ir::IRModule prepared = Prepared(module, chosen, options);
  const Generator* const own = service.function.own();
  if (!own) return ToGenerated(service.function({ToAny(prepared), ToAny(chosen)}), chosen.kind().name());
  Generated made;
  CallDirectly(service, [&] { made = own->build(prepared, chosen); });
  return made;
}

void Export(const ir::IRModule& module, const std::optional<Target>& target, const std::string& path,
            const BuildOptions& options) {
  const Target chosen = TargetFor(module, target);
  const Service service = FindService(kExport, chosen);
  const ir::IRModule prepared = Prepared(module, chosen, options);
  if (const Generator* const own = service.function.own()) {
    CallDirectly(service, [&] { own->export_library(prepared, chosen, path); });
  } else {
    service.function({ToAny(prepared), ToAny(chosen), Any(String(path))});
  }
}

std::string Source(const ir::IRModule& module, const std::optional<Target>& target, const BuildOptions& options) {
  const Target chosen = InThisProcess(TargetFor(module, target));
  const Service service = FindService(kSource, chosen);
  const ir::IRModule prepared = Prepared(module, chosen, options);
  const Generator* const own = service.function.own();
  if (!own) return std::string(service.function({ToAny(prepared), ToAny(chosen)}).cast<StringView>());
  std::string text;
  CallDirectly(service, [&] { text = own->source(prepared, chosen); });
  return text;
}

}  // namespace kernpack::sdk
