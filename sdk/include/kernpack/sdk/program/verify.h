// Checks a module of programs before it is planned.
#ifndef KERNPACK_SDK_PROGRAM_VERIFY_H_
#define KERNPACK_SDK_PROGRAM_VERIFY_H_

#include <kernpack/sdk/program/function_table.h>
#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

// ValueError for the first problem found: "line 3, column 5: program main: call kernels.gelu: ...", without the position
// if the program was built in code. Checks that each value is defined once, before its uses; that the functions and programs
// that steps name exist and get valid arguments; that no program invokes itself, directly or indirectly; that the two programs
// of an `if` have the same results; that types agree with the functions' signatures, with the checks of a call
// (kp_sig_check) that need no values, and its error messages.
void Verify(const ProgramModule& module, const FunctionTable& functions);

// The type of each value of each program, as far as declarations and signatures determine it. The module must pass
// Verify().
std::vector<std::vector<Type>> InferTypes(const ProgramModule& module, const FunctionTable& functions);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_VERIFY_H_
