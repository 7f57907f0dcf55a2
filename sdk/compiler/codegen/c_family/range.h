// Bounds of integer expressions: where no operation can wrap, the operators of C do.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_RANGE_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_RANGE_H_

#include <kernpack/sdk/ir/stmt.h>

#include <unordered_map>

namespace kernpack::sdk::ir {

__extension__ typedef __int128 Int128;

struct Range {
  Int128 low, high;  // both included
};

// No tensor has more elements in a dimension: the entries of generated functions refuse it.
inline constexpr int64_t kLargestExtent = int64_t{1} << 48;

class Ranges {
 public:
  // Knows what a function's extents may be; of another variable nothing is known, until one of these says it.
  explicit Ranges(const FuncNode& f);
  void Bind(const StmtNode& let);
  void Count(const StmtNode& loop);

  // Of a scalar integer, after wrapping.
  Range Of(const Expr& e) const;
  // True if C's +, -, *, /, % in the type of e gives the value of e.
  bool IsPlain(const Expr& e) const;

 private:
  std::unordered_map<const VarNode*, Range> known_;

  static Range OfType(Type t);
  // In exact arithmetic; false when nothing is known.
  bool Exact(const Expr& e, Range* out) const;
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_RANGE_H_
