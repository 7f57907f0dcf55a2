// Effects of steps on their arguments: the arguments that they write, and those that they need on the host; and the refusal of writes
// whose order with others could not be planned.
#ifndef KERNPACK_SDK_PROGRAMS_PLAN_EFFECTS_H_
#define KERNPACK_SDK_PROGRAMS_PLAN_EFFECTS_H_

#include <kernpack/sdk/program/function_table.h>
#include <kernpack/sdk/program/program.h>

#include "program/structure.h"

namespace kernpack::sdk::program {

// Of argument i of a call: `cache!` and `x: ... @cpu` in the signature.
bool CallWrites(const Function& function, size_t arg);
bool CallWantsHost(const Function& function, size_t arg);
// "" where any memory will do.
const std::string& CallWantsScope(const Function& function, size_t arg);

// Writes in place, the programs that steps invoke included.
class Writes {
 public:
  Writes(const ProgramModule& module, const FunctionTable& functions);

  // True if a step writes its argument i.
  bool ByStep(const Step& step, size_t arg) const;
  // True if a step of that program writes the value, directly or as an element that `get` took from a tuple.
  bool Written(size_t program, ValueId value) const { return written_[program][value]; }

 private:
  const ProgramModule& module_;
  const FunctionTable& functions_;
  ProgramIndex index_;
  std::vector<std::vector<bool>> written_;
};

// ValueError where a step writes in place to a tensor that has two names, naming the step. The module's types are checked.
void RefuseSharedWrites(const ProgramModule& module, const FunctionTable& functions);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PLAN_EFFECTS_H_
