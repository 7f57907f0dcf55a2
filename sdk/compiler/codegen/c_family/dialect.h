// Differences between the languages of C's family (C99, OpenCL C, CUDA C++). The other files of this folder have the code that
// they share; each language brings a prelude that gives the names int8_t ... uint64_t, INT64_C, UINT64_C, INFINITY, NAN
// and LANE(vector, i), which is `(vector).v[i]` where vectors are structs; with GNU C's vectors also KP_OPAQUE(lane), a
// statement after which the compiler knows nothing of that variable's value, where it needs that.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_DIALECT_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_DIALECT_H_

#include <kernpack/sdk/ir/expr.h>

namespace kernpack::sdk::ir {

class Dialect {
 public:
  virtual ~Dialect() = default;
  // The target's kind, for messages.
  virtual const char* Kind() const = 0;
  // True if code has GNU C's vectors under `#if KP_VECTORS`, beside structs of lanes.
  virtual bool HasGnuVectors() const = 0;
  // The words before the result type of a small function.
  virtual std::string Inline() const = 0;
  // "restrict", as this language spells it.
  virtual std::string Restrict() const = 0;
  // The address space of a buffer as a qualifier with a space behind it; "" where there is one space only.
  virtual std::string Space(Scope scope) const = 0;
  // The C library's function: "sqrtf". op: abs (of floats) or of class Rounding; type: f32 or f64.
  virtual std::string Function(Op op, Type type) const = 0;
  // The body of a function of a and b for an operation on integers, or "" where C's own does.
  virtual std::string IntegerBody(Op, Type) const { return ""; }
  // The index of this thread, as int32_t. Only asked inside a Launch.
  virtual std::string ThreadIndex(int axis) const = 0;
  virtual std::string BlockIndex(int axis) const = 0;
  // The statement at which the threads of a block meet.
  virtual std::string Barrier() const = 0;
  // True if a variable must not have this name.
  virtual bool IsReserved(std::string_view name) const = 0;
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_DIALECT_H_
