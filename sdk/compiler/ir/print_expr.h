// Expressions and names in the text form.
#ifndef KERNPACK_SDK_COMPILER_IR_PRINT_EXPR_H_
#define KERNPACK_SDK_COMPILER_IR_PRINT_EXPR_H_

#include "ir/names.h"

namespace kernpack::sdk::ir {

// How tightly an operator binds; 0: it is written as a call. Printer and parser agree on it.
int GetPrecedence(Op op);
inline constexpr int kUnaryPrecedence = 8;

// Defines the variables of reductions in `names` as it meets them.
std::string PrintExpr(const Expr& e, Names* names, int outer = 0);
std::string PrintList(const std::vector<Expr>& list, Names* names);
// With quotes; control characters, quotes and backslashes escaped.
std::string Quote(std::string_view text);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_PRINT_EXPR_H_
