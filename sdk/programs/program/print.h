// Writing one program line by line, for the text form and for what adds to it.
#ifndef KERNPACK_SDK_PROGRAMS_PROGRAM_PRINT_H_
#define KERNPACK_SDK_PROGRAMS_PROGRAM_PRINT_H_

#include <kernpack/sdk/program/program.h>

#include <functional>

namespace kernpack::sdk::program {

// Words of the text form, which values cannot be called.
bool IsReserved(std::string_view name);
// The name of each value in the text, all different.
std::vector<std::string> SpellValues(const Program& program);
// `comment` (nullable) says what follows step i on its line, behind a '#'; "" for nothing.
std::string Print(const Program& program, const std::vector<std::string>& names,
                  const std::function<std::string(size_t step)>& comment);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PROGRAM_PRINT_H_
