#include <kernpack/sdk/program/plan.h>

#include <algorithm>

#include "plan/canonical.h"
#include "plan/effects.h"
#include "plan/rewriter.h"
#include "plan/tuples.h"
#include "target/host.h"

namespace kernpack::sdk::program {
namespace {

// Where a use wants its value: a device, and a memory of it; an open scope: any.
bool IsThere(const VirtualDevice& value, const VirtualDevice& wanted) {
  return WithScope(value, wanted.memory_scope()) == wanted && (!wanted.memory_scope() || value == wanted);
}

class Inserter {
 public:
  Inserter(const ProgramModule& module, size_t number, const PlanContext& context, const Writes& writes,
           const ProgramIndex& index)
      : module_(module),
        number_(number),
        context_(context),
        writes_(writes),
        index_(index),
        rewriter_(module.programs[number]),
        tuples_(rewriter_.from()),
        original_(rewriter_.from().values.size()),
        copies_(original_.size()) {
    for (ValueId v = 0; v < original_.size(); ++v) original_[v] = v;
  }
  Program Run() {
    for (const Step& s : rewriter_.from().steps) OneStep(s);
    for (const Result& r : rewriter_.from().results) {
      const ValueId v = r.device.IsFullyUnconstrained() ? rewriter_[r.value] : At(r.value, r.device, r.position);
      rewriter_.to().results.push_back({v, r.device, r.position});
    }
    return std::move(rewriter_.to());
  }

 private:
  const ProgramModule& module_;
  const size_t number_;
  const PlanContext& context_;
  const Writes& writes_;
  const ProgramIndex& index_;
  Rewriter rewriter_;
  const Tuples tuples_;
  // By old value: what it is a copy of, as old numbers; itself otherwise.
  std::vector<ValueId> original_;
  // By original: copies of what it holds now, with where they are, as new numbers.
  std::vector<std::vector<std::pair<VirtualDevice, ValueId>>> copies_;

  const VirtualDevice& Device(ValueId old) const { return rewriter_.from().values[old].device; }
  // The value that all copies of what `old` holds are copies of.
  ValueId GetOriginal(ValueId old) const { return original_[tuples_.FindOwner(old)]; }
  bool IsTensor(ValueId old) const { return IsData(rewriter_.from().values[old].type); }

  void OneStep(const Step& s) {
    if (s.kind == StepKind::kCopy) return ExplicitCopy(s);
    std::vector<ValueId> args;
    args.reserve(s.args.size());
    for (size_t i = 0; i < s.args.size(); ++i) args.push_back(Argument(s, i));
    if (s.kind == StepKind::kIf || s.kind == StepKind::kInvoke) {
      Invoke(s, std::move(args));
    } else {
      rewriter_.Keep(s, std::move(args));
    }
    for (size_t i = 0; i < s.args.size(); ++i) {
      if (!writes_.ByStep(s, i)) continue;
      tuples_.ForEachTensor(s.args[i], [&](ValueId v) { copies_[GetOriginal(v)].clear(); });  // they hold what was
    }
  }

  ValueId Argument(const Step& s, size_t i) {
    const ValueId v = s.args[i];
    switch (s.kind) {
      case StepKind::kCall: {
        const Function* function = context_.functions->Find(s.callee);
        const VirtualDevice device = CallWantsHost(*function, i)
                                         ? context_.config->host_virtual_device()
                                         : CallDevice(rewriter_.from(), s, function, *context_.config);
        const std::string& scope = CallWantsScope(*function, i);
        const VirtualDevice wanted = scope.empty() ? device : WithScope(device, scope);
        return tuples_.MadeBy(v) ? TupleAt(v, wanted, s.position) : At(v, wanted, s.position);
      }
      case StepKind::kIf:
        if (i == 0) return At(v, context_.config->host_virtual_device(), s.position);
        return At(v, ParamDevice(s, i - 1), s.position);
      case StepKind::kInvoke:
        return At(v, ParamDevice(s, i), s.position);
      default:
        return rewriter_[v];
    }
  }

  // Both programs of an `if` have theirs in one place.
  const VirtualDevice& ParamDevice(const Step& s, size_t i) const {
    const Program& callee = module_.programs[index_.at(s.callee)];
    return callee.values[callee.params[i]].device;
  }

  ValueId At(ValueId old, const VirtualDevice& wanted, Position position) {
    if (!IsTensor(old) || IsThere(Device(old), wanted)) return rewriter_[old];
    const ValueId original = GetOriginal(old);
    if (IsThere(Device(original), wanted)) return rewriter_[original];
    auto& copies = copies_[original];
    for (const auto& [device, copy] : copies) {
      if (IsThere(device, wanted)) return copy;
    }
    const Value& value = rewriter_.from().values[old];
    const std::string name = (value.name.empty() ? "v" : value.name) + "_" + DeviceTypeName(*wanted.device_type());
    const ValueId copy = rewriter_.Add({name, value.type, wanted, position});
    AddCopy(rewriter_[old], copy, position);
    copies.emplace_back(wanted, copy);
    return copy;
  }

  void AddCopy(ValueId from, ValueId to, Position position) {
    Step step{StepKind::kCopy, {from}, {to}};
    step.position = position;
    rewriter_.to().steps.push_back(std::move(step));
  }

  // The tuple, or one of copies of those elements that are elsewhere.
  ValueId TupleAt(ValueId old, const VirtualDevice& wanted, Position position) {
    const std::vector<ValueId>& elements = tuples_.MadeBy(old)->args;
    std::vector<ValueId> args;
    for (const ValueId v : elements) args.push_back(At(v, wanted, position));
    if (args == rewriter_.Renumbered(elements)) return rewriter_[old];
    const Value& value = rewriter_.from().values[old];
    const ValueId tuple = rewriter_.Add({value.name, value.type, value.device, position});
    Step step{StepKind::kTuple, std::move(args), {tuple}};
    step.position = position;
    rewriter_.to().steps.push_back(std::move(step));
    return tuple;
  }

  // Results come where the program hands them out, and are copied to where the caller wants them.
  void Invoke(const Step& s, std::vector<ValueId> args) {
    const Program& callee = module_.programs[index_.at(s.callee)];
    Step step = s;
    step.args = std::move(args);
    std::vector<std::pair<ValueId, ValueId>> copies;
    for (size_t i = 0; i < s.results.size(); ++i) {
      const Result& r = callee.results[i];
      const VirtualDevice& made = r.device.IsFullyUnconstrained() ? callee.values[r.value].device : r.device;
      const ValueId wanted = s.results[i];
      if (!IsTensor(wanted) || made == Device(wanted)) {
        step.results[i] = rewriter_.Define(wanted);
        continue;
      }
      const Value& value = rewriter_.from().values[wanted];
      step.results[i] = rewriter_.Add({value.name, value.type, made, value.position});
      copies.emplace_back(step.results[i], wanted);
      copies_[wanted].emplace_back(made, step.results[i]);
    }
    rewriter_.to().steps.push_back(std::move(step));
    for (const auto& [from, old] : copies) AddCopy(from, rewriter_.Define(old), s.position);
  }

  // A copy that the program asks for. Where either side is written it is one, whatever the places: that is what it is for.
  void ExplicitCopy(const Step& s) {
    const ValueId from = s.args[0], to = s.results[0];
    const bool written = writes_.Written(number_, from) || writes_.Written(number_, to);
    if (written) return rewriter_.Keep(s, {rewriter_[from]});
    const ValueId original = original_[to] = GetOriginal(from);
    if (Device(from) == Device(to)) return rewriter_.Replace(to, rewriter_[from]);
    if (Device(original) == Device(to)) return rewriter_.Replace(to, rewriter_[original]);
    auto& copies = copies_[original];
    const auto same = [&](const auto& copy) { return copy.first == Device(to); };
    const auto found = std::find_if(copies.begin(), copies.end(), same);
    if (found != copies.end()) return rewriter_.Replace(to, found->second);
    rewriter_.Keep(s, {rewriter_[from]});
    copies.emplace_back(Device(to), rewriter_[to]);
  }
};

}  // namespace

void InsertCopies(Plan* plan, const PlanContext& context) {
  const Writes writes(plan->module, *context.functions);
  const ProgramIndex index = GetIndex(plan->module);
  ProgramModule out;
  out.programs.reserve(plan->module.programs.size());
  for (size_t p = 0; p < plan->module.programs.size(); ++p) {
    out.programs.push_back(Inserter(plan->module, p, context, writes, index).Run());
  }
  plan->module = std::move(out);
}

}  // namespace kernpack::sdk::program
