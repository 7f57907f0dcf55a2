// What a module of programs must satisfy before it is planned.
#ifndef KERNPACK_SDK_PROGRAM_VERIFY_H_
#define KERNPACK_SDK_PROGRAM_VERIFY_H_

#include <kernpack/sdk/program/function_table.h>
#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

// ValueError for the first problem found: "line 3, column 5: program main: call kernels.gelu: ...", without the position
// where the program was built. Checks that each value is defined once, before its uses; that functions and programs that
// steps name exist and are given what they take; that no program invokes itself, however indirectly; that the two programs
// of an `if` have the same results; that types agree with the functions' signatures, which is the check of a call
// (kp_sig_check) as far as the types decide it, with its kinds of errors and its words.
void Verify(const ProgramModule& module, const FunctionTable& functions);

// The type of each value of each program, as far as it follows from what is declared and from signatures. Of a module that
// Verify() accepts.
std::vector<std::vector<Type>> InferTypes(const ProgramModule& module, const FunctionTable& functions);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_VERIFY_H_
