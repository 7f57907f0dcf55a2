// The operations of expressions. One row per operation: enumerator, name in the text form, class.
#ifndef KERNPACK_SDK_IR_OP_H_
#define KERNPACK_SDK_IR_OP_H_

#include <cstdint>
#include <string_view>

namespace kernpack::sdk::ir {

// Classes: Leaf and Form have a syntax of their own; Binary is arithmetic on two operands of one type; Bits the same on
// integers and bool; Compare gives bool; Unary is on one operand; Rounding and Math are on f32 and f64.
#define KP_IR_OPS(X)               \
  X(kConst, "const", Leaf)         \
  X(kVar, "var", Leaf)             \
  X(kThreadIndex, "thread", Leaf)  \
  X(kBlockIndex, "block", Leaf)    \
  X(kCast, "cast", Form)           \
  X(kBitcast, "bitcast", Form)     \
  X(kSelect, "select", Form)       \
  X(kLoad, "load", Form)           \
  X(kMaskedLoad, "load_if", Form)  \
  X(kBroadcast, "broadcast", Form) \
  X(kRamp, "ramp", Form)           \
  X(kShuffle, "shuffle", Form)     \
  X(kReduceLanes, "lanes", Form)   \
  X(kStrict, "strict", Form)       \
  X(kReduce, "reduce", Form)       \
  X(kArgMax, "argmax", Form)       \
  X(kArgMin, "argmin", Form)       \
  X(kExtern, "extern", Form)       \
  X(kAdd, "+", Binary)             \
  X(kSub, "-", Binary)             \
  X(kMul, "*", Binary)             \
  X(kDiv, "/", Binary)             \
  X(kRem, "%", Binary)             \
  X(kFloorDiv, "floordiv", Binary) \
  X(kFloorMod, "floormod", Binary) \
  X(kMin, "min", Binary)           \
  X(kMax, "max", Binary)           \
  X(kMinimum, "minimum", Binary)   \
  X(kMaximum, "maximum", Binary)   \
  X(kPow, "pow", Binary)           \
  X(kAnd, "&", Bits)               \
  X(kOr, "|", Bits)                \
  X(kXor, "^", Bits)               \
  X(kShl, "<<", Bits)              \
  X(kShr, ">>", Bits)              \
  X(kEq, "==", Compare)            \
  X(kNe, "!=", Compare)            \
  X(kLt, "<", Compare)             \
  X(kLe, "<=", Compare)            \
  X(kGt, ">", Compare)             \
  X(kGe, ">=", Compare)            \
  X(kNeg, "neg", Unary)            \
  X(kNot, "not", Unary)            \
  X(kAbs, "abs", Unary)            \
  X(kSqrt, "sqrt", Rounding)       \
  X(kFloor, "floor", Rounding)     \
  X(kCeil, "ceil", Rounding)       \
  X(kTrunc, "trunc", Rounding)     \
  X(kRound, "round", Rounding)     \
  X(kExp, "exp", Math)             \
  X(kLog, "log", Math)             \
  X(kTanh, "tanh", Math)           \
  X(kErf, "erf", Math)             \
  X(kSigmoid, "sigmoid", Math)     \
  X(kSin, "sin", Math)             \
  X(kCos, "cos", Math)

#define KP_IR_ENUM_(op, name, cls) op,
enum class Op : uint8_t { KP_IR_OPS(KP_IR_ENUM_) };
#undef KP_IR_ENUM_

enum class OpClass : uint8_t { Leaf, Form, Binary, Bits, Compare, Unary, Rounding, Math };

std::string_view OpName(Op op);
OpClass ClassOf(Op op);
// The operation of that name among all but Leaf and Form; false when there is none.
bool OpFromName(std::string_view name, Op* out);

constexpr bool HasTwoOperands(OpClass c) { return c == OpClass::Binary || c == OpClass::Bits || c == OpClass::Compare; }
// Associative in exact arithmetic, so that a reduction may use it.
constexpr bool IsReduction(Op op) {
  return op == Op::kAdd || op == Op::kMul || op == Op::kMin || op == Op::kMax || op == Op::kMinimum ||
         op == Op::kMaximum || op == Op::kAnd || op == Op::kOr || op == Op::kXor;
}

// Of a reduction alone: the counter's value at the first largest or smallest element.
constexpr bool IsArg(Op op) { return op == Op::kArgMax || op == Op::kArgMin; }

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_IR_OP_H_
