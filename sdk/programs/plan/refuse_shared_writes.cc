
#include <numeric>

#include "plan/effects.h"
#include "plan/returned_parameters.h"
#include "program/fail.h"

namespace kernpack::sdk::program {
namespace {

// A program that returns a parameter hands on its argument's memory, so that two values of the caller are one tensor. Steps and
// copies are ordered by values, so a write under one name would not be ordered with reads under the other.
class SharedTensors {
 public:
  explicit SharedTensors(const Program& program)
      : tuples_(program), group_(program.values.size()), members_(program.values.size(), 1) {
    std::iota(group_.begin(), group_.end(), ValueId{0});
  }

  ValueId Of(ValueId v) {
    v = tuples_.FindOwner(v);
    while (group_[v] != v) v = group_[v] = group_[group_[v]];
    return v;
  }
  void Join(ValueId a, ValueId b) {
    a = Of(a), b = Of(b);
    if (a == b) return;
    group_[b] = a;
    members_[a] += members_[b];
  }
  bool IsShared(ValueId v) { return members_[Of(v)] > 1; }
  const Tuples& tuples() const { return tuples_; }

 private:
  const Tuples tuples_;
  std::vector<ValueId> group_;
  std::vector<uint32_t> members_;  // of the group's first
};

void Check(const Program& p, const HandedOn& handed_on, const Writes& writes) {
  SharedTensors shared(p);
  for (const Step& s : p.steps) {
    for (size_t arg = 0; arg < s.args.size(); ++arg) {
      if (!writes.ByStep(s, arg)) continue;
      shared.tuples().ForEachTensor(s.args[arg], [&](ValueId v) {
        if (!shared.IsShared(v)) return;
        Fail(s.position, p,
             Describe(p, s) + " writes " + GetName(p, v) +
                 " in place, which has an alias: a program that was invoked before returns its parameter, so "
                 "its argument and its result are one tensor; copy one of them first, or write before the invocation");
      });
    }
    for (size_t arg = 0; arg < s.args.size(); ++arg) {
      if (!handed_on.By(s, arg)) continue;
      for (const ValueId result : s.results) {
        if (IsData(p.values[result].type)) shared.Join(s.args[arg], result);
      }
    }
  }
}

}  // namespace

void RefuseSharedWrites(const ProgramModule& module, const FunctionTable& functions) {
  const HandedOn handed_on(module);
  const Writes writes(module, functions);
  for (const Program& p : module.programs) Check(p, handed_on, writes);
}

}  // namespace kernpack::sdk::program
