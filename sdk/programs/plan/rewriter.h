// Writing a program anew, step by step, with some steps added or left out.
#ifndef KERNPACK_SDK_PROGRAMS_PLAN_REWRITER_H_
#define KERNPACK_SDK_PROGRAMS_PLAN_REWRITER_H_

#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

// Values of the old program get new numbers, in the order of their definition. The old program must outlive it.
class Rewriter {
 public:
  explicit Rewriter(const Program& from) : from_(from), now_(from.values.size()) {
    to_.name = from.name;
    to_.position = from.position;
    to_.values.reserve(from.values.size());
    to_.steps.reserve(from.steps.size());
    for (const ValueId v : from.params) to_.params.push_back(Define(v));
  }

  const Program& from() const { return from_; }
  Program& to() { return to_; }
  // The new number of an old value that is defined, or stood for, already.
  ValueId operator[](ValueId old) const { return now_[old]; }

  ValueId Add(Value value) {
    to_.values.push_back(std::move(value));
    return static_cast<ValueId>(to_.values.size() - 1);
  }
  ValueId Define(ValueId old) { return now_[old] = Add(from_.values[old]); }
  // Uses of `old` become uses of `now`.
  void Replace(ValueId old, ValueId now) { now_[old] = now; }

  // Appends the step with other arguments, which are new numbers, and defines its results.
  void Keep(Step step, std::vector<ValueId> args) {
    step.args = std::move(args);
    for (ValueId& v : step.results) v = Define(v);
    to_.steps.push_back(std::move(step));
  }
  std::vector<ValueId> Renumbered(const std::vector<ValueId>& old) const {
    std::vector<ValueId> now;
    now.reserve(old.size());
    for (const ValueId v : old) now.push_back(now_[v]);
    return now;
  }

 private:
  const Program& from_;
  Program to_;
  std::vector<ValueId> now_;
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PLAN_REWRITER_H_
