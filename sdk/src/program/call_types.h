// What a function's signature says of a call whose arguments have types instead of values.
#ifndef KERNPACK_SDK_SRC_PROGRAM_CALL_TYPES_H_
#define KERNPACK_SDK_SRC_PROGRAM_CALL_TYPES_H_

#include <kernpack/sdk/program/function_table.h>
#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

struct Argument {
  const Type* type;
  const Constant* constant;  // nullable: what the value is, where the program says
};

// The types of the results. What depends on values of the run stays unknown; what cannot be right in any run is a problem:
// "x: expected dtype f32, got i32[N]" (empty: none). Conditions of `where` are left to the run.
std::vector<Type> TypesOfCall(const Function& function, const std::vector<Argument>& args, std::string* problem);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_SRC_PROGRAM_CALL_TYPES_H_
