// Tuples have no memory of their own: what stands for the tensors in them.
#ifndef KERNPACK_SDK_PROGRAMS_PLAN_TUPLES_H_
#define KERNPACK_SDK_PROGRAMS_PLAN_TUPLES_H_

#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

// True if a value has memory on a device. A value of unknown type may have.
inline bool IsData(const Type& type) { return !type.is_host(); }

// Of one verified program, which it must not outlive, and whose steps stay as they are.
class Tuples {
 public:
  explicit Tuples(const Program& program)
      : program_(program), made_by_(program.values.size()), owner_(made_by_.size()) {
    for (ValueId v = 0; v < owner_.size(); ++v) owner_[v] = v;
    for (const Step& s : program.steps) {
      if (s.kind == StepKind::kTuple) made_by_[s.results[0]] = &s;
      if (s.kind == StepKind::kTupleGet) owner_[s.results[0]] = owner_[made_by_[s.args[0]]->args[s.index]];
    }
  }

  // The step that made a tuple; null for other values.
  const Step* MadeBy(ValueId v) const { return made_by_[v]; }
  // The value whose memory it is: itself, or the element that a `get` took.
  ValueId FindOwner(ValueId v) const { return owner_[v]; }

  // visit(ValueId) for the value if it has memory, or for each element of the tuple that has.
  template <class Visit>
  void ForEachTensor(ValueId v, const Visit& visit) const {
    if (!made_by_[v]) {
      if (IsData(program_.values[v].type)) visit(v);
      return;
    }
    for (const ValueId element : made_by_[v]->args) {
      if (IsData(program_.values[element].type)) visit(element);
    }
  }

 private:
  const Program& program_;
  std::vector<const Step*> made_by_;
  std::vector<ValueId> owner_;
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PLAN_TUPLES_H_
