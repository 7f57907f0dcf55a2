// Errors about programs, which all begin alike.
#ifndef KERNPACK_SDK_PROGRAMS_PROGRAM_FAIL_H_
#define KERNPACK_SDK_PROGRAMS_PROGRAM_FAIL_H_

#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

// ValueError, or another kind, "line 3, column 5: program main: <message>"; without the position where there is none.
[[noreturn]] void Fail(Position position, const Program& program, const std::string& message,
                       const char* kind = "ValueError");

// "h", or "value 7" where it has no name.
std::string GetName(const Program& program, ValueId value);
// "call kernels.gelu", "copy x".
std::string Describe(const Program& program, const Step& step);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PROGRAM_FAIL_H_
