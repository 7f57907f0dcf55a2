// Index arithmetic (i64) that folds constants, so that what is printed can be read.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_ARITHMETIC_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_ARITHMETIC_H_

#include <kernpack/sdk/ir/expr.h>

namespace kernpack::sdk::ir {

Expr Sum(const Expr& a, const Expr& b);
Expr Difference(const Expr& a, const Expr& b);
Expr Product(const Expr& a, const Expr& b);
Expr Quotient(const Expr& a, int64_t divisor);  // truncates
Expr CeilDiv(const Expr& a, int64_t divisor);
Expr Smaller(const Expr& a, const Expr& b);
Expr Larger(const Expr& a, const Expr& b);
Expr AsIndex(const Expr& a);  // in 64 bits
Expr CastLike(const Var& var, const Expr& a);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_ARITHMETIC_H_
