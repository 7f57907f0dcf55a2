// The small functions that generated code calls, each written out once, before its first use. Where an operator of the
// language means what the IR means, the operator is used and there is no function.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_HELPERS_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_HELPERS_H_

#include <set>

#include "codegen/c_family/dialect.h"
#include "codegen/c_family/spelling.h"

namespace kernpack::sdk::ir {

class Helpers {
 public:
  explicit Helpers(const Dialect& dialect) : dialect_(dialect) {}

  const Dialect& dialect() const { return dialect_; }
  // Types and functions so far, those of scalars first.
  std::string Text() const;

  // Each returns an expression, with operands given as text; what it calls is defined first.
  std::string Binary(Op op, Type type, const std::string& a, const std::string& b);
  std::string Unary(Op op, Type type, const std::string& a);
  std::string Cast(Type from, Type to, const std::string& a);
  std::string Bitcast(Type from, Type to, const std::string& a);
  std::string Select(Type type, const std::string& condition, const std::string& a, const std::string& b);
  std::string Broadcast(Type to, const std::string& a);
  std::string Ramp(Type to, const std::string& base, const std::string& stride);
  std::string Shuffle(Type a_type, Type b_type, Type to, const std::vector<int>& lanes, const std::string& a,
                      const std::string& b);
  std::string ReduceLanes(Op op, Type type, const std::string& a);
  std::string Extern(const std::string& name, Type type, const std::vector<Type>& args);

  // Vectors in memory: consecutive elements from `at`, or at[index] with an i64 vector `index` (else ""). `mask` and
  // `otherwise` may be "".
  struct Place {
    Scope scope;
    std::string at, index, mask;
  };
  std::string Load(Type type, const Place& place, const std::string& otherwise);
  std::string Store(Type type, const Place& place, const std::string& value);
  // A scalar's way from and to memory.
  static std::string FromMemory(Type type, const std::string& cell);
  static std::string ToMemory(Type type, const std::string& value);

  // Defines a vector's type.
  void Need(Type vector);

 private:
  const Dialect& dialect_;
  std::string scalars_;
  std::string gnu_, structs_;  // the same types and functions of vectors, twice
  std::set<std::string> defined_;

  bool First(const std::string& name) { return defined_.insert(name).second; }
  std::string ScalarBinary(Op op, Type type, const std::string& a, const std::string& b);
  std::string ScalarUnary(Op op, Type type, const std::string& a);
  std::string ScalarCast(Type from, Type to, const std::string& a);
  std::string ScalarBitcast(Type from, Type to, const std::string& a);
  std::string Saturate(Type from, Type to, const std::string& a);
  void StorageConversions(Type storage);
  std::string NativeBinary(Op op, Type type);
  std::string Opaque(Type type, const std::string& lane);
  std::string NativeMinMax(Op op, Type type);
  std::string NativeCast(Type from, Type to);
  std::string NativeSaturate(Type from, Type to);
  static std::string NativeShuffle(Type at, Type bt, Type to, const std::vector<int>& lanes);

  // A definition that does for both kinds of vectors.
  void DefineVector(const std::string& text);
  using Params = std::vector<std::pair<Type, std::string>>;
  // A vector function: as a GNU expression (empty: there is none), elsewhere lane by lane.
  std::string VectorFunction(const std::string& name, Type result, const Params& params, const std::string& native,
                             const std::string& lane);
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_HELPERS_H_
