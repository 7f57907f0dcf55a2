// Every operation on one lane: the semantics table as code. The interpreter and constant folding use it;
// generators are tested against it. docs/ir.md is the same table for people.
//
// A lane is 64 bits: signed integers sign-extended, unsigned ones and bool zero-extended, floats as the bits of their
// type.
#ifndef KERNPACK_SDK_COMPILER_IR_SCALAR_H_
#define KERNPACK_SDK_COMPILER_IR_SCALAR_H_

#include <kernpack/sdk/ir/op.h>
#include <kernpack/sdk/ir/type.h>

namespace kernpack::sdk::ir {

// `type` is that of the operands. Binary, Bits, Compare (gives 0 or 1) and Pow.
uint64_t EvalBinary(Op op, Type type, uint64_t a, uint64_t b);
// Unary, Rounding and Math. Math functions are the C library's in double precision, rounded once.
uint64_t EvalUnary(Op op, Type type, uint64_t a);
uint64_t EvalCast(Type from, Type to, uint64_t a);
uint64_t EvalBitcast(Type from, Type to, uint64_t a);

// The lane of an integer (wraps) or of a double (rounds), in `type`.
uint64_t LaneFromInt(Type type, int64_t value);
uint64_t LaneFromDouble(Type type, double value);
// The value of a lane of any float type.
double DoubleFromLane(Type type, uint64_t lane);
// A NaN becomes its type's canonical one.
uint64_t CanonicalLane(Type type, uint64_t lane);
bool IsNanLane(Type type, uint64_t lane);

// Memory <-> lane. `at` need not be aligned. bool: any non-zero byte is true.
uint64_t ReadLane(Type type, const void* at);
void WriteLane(Type type, void* at, uint64_t lane);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_SCALAR_H_
