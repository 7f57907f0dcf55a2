// The structure of a module: its programs by name, in which order they can be looked at such that those that a program invokes come
// first, and the check of names, definitions and uses, numbers of arguments and results. No types.
#ifndef KERNPACK_SDK_PROGRAMS_PROGRAM_STRUCTURE_H_
#define KERNPACK_SDK_PROGRAMS_PROGRAM_STRUCTURE_H_

#include <unordered_map>

#include <kernpack/sdk/program/function_table.h>
#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

// Programs by name. Keys point into the module.
using ProgramIndex = std::unordered_map<std::string_view, size_t>;
ProgramIndex GetIndex(const ProgramModule& module);

// The programs that a step names: none, one, or the two of an `if`.
std::vector<std::string_view> GetPrograms(const Step& step);

// Indices of programs. ValueError that spells out the cycle where a program invokes itself, and where more run at once than
// ir::kMostNestedCalls. Names without a program are passed over.
std::vector<size_t> CalleesFirst(const ProgramModule& module, const ProgramIndex& index);

// ValueError, as Verify().
void CheckStructure(const ProgramModule& module, const ProgramIndex& index, const FunctionTable& functions);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PROGRAM_STRUCTURE_H_
