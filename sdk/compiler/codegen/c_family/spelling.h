// Spellings of types, constants and operations that all languages of C's family share.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_SPELLING_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_SPELLING_H_

#include <kernpack/sdk/ir/op.h>
#include <kernpack/sdk/ir/type.h>

#include <vector>

namespace kernpack::sdk::ir {

// The C type in which one lane is computed: "float", "int32_t", "bool"; storage types are the unsigned integer of their size.
std::string CElement(Type t);
// The C type of one element in memory: as CElement, but a byte for bool.
std::string CMemory(Type t);
// A value with its lanes: "float", "f32x8". Lanes of bool are an i32 vector of 0 and -1.
std::string CType(Type t);
// The vector type behind CType: of a storage type the unsigned integer's, of bool i32's.
Type CVector(Type t);
// A scalar constant; for vectors that of one lane.
std::string CConst(Type t, uint64_t bits);
// The smallest and the largest value of an integer type.
std::string CMin(Type t);
std::string CMax(Type t);
// The word for the operation in names of functions: "add", "floordiv".
std::string CWord(Op op);
// "f(a, b)"
std::string FormatCall(const std::string& function, const std::vector<std::string>& args);
// A string literal, with quotes.
std::string CString(std::string_view text);
// The expression without the parentheses around all of it.
std::string Bare(const std::string& expression);
// Words that no language of the family lets a variable have, and those that generated code uses itself.
bool IsCWord(std::string_view name);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_SPELLING_H_
