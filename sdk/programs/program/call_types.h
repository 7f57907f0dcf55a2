// Checks a call by the function's contract. The arguments have types instead of values.
#ifndef KERNPACK_SDK_PROGRAMS_PROGRAM_CALL_TYPES_H_
#define KERNPACK_SDK_PROGRAMS_PROGRAM_CALL_TYPES_H_

#include <kernpack/error.h>
#include <kernpack/sdk/program/function_table.h>
#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

struct Argument {
  const Type* type;
  const Constant* constant = nullptr;  // nullable: what the value is, where the program says
  std::vector<const Constant*> elements;  // the same of a tuple's elements, or empty
};

// The types of the results; none where the function has no contract. It is the check of a call (kp_sig_check, kp_sig_lend), whose
// Error it throws, as in "m.add: b: expected shape [N] with N = 5 (bound by a), got [6]". What depends on symbols and values of the
// run is unknown in the results and left to the run's check; what no run can have right is refused here. Memory and devices are not
// checked: the planner decides those.
std::vector<Type> TypesOfCall(const Function& function, const std::vector<Argument>& args);

// Of an Error of TypesOfCall, for one that says more: these two are all it throws, and errors don't copy what names them.
inline const char* GetKind(const Error& refused) { return refused.is("TypeError") ? "TypeError" : "ValueError"; }

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PROGRAM_CALL_TYPES_H_
