// The parts of the parser.
#ifndef KERNPACK_SDK_EMULATOR_PTX_PARSE_H_
#define KERNPACK_SDK_EMULATOR_PTX_PARSE_H_

#include <string_view>
#include <vector>

#include "ptx/lexer.h"
#include "ptx/syntax.h"

namespace kernpack::emulator {

// ".shared" and its like.
bool SpaceOfDirective(std::string_view word, Space* out);

// ".shared .align 4 .b8 name[16] = {...}, other[4];"
std::vector<Variable> ParseVariables(Lexer* lexer);
// One parameter or result, ".param .u64 .ptr .global .align 4 name".
Variable ParseParameter(Lexer* lexer);

// From '{' to '}'.
void ParseBody(Lexer* lexer, Function* function);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_PTX_PARSE_H_
