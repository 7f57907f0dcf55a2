// Types of a program's values: tensors of a dtype and dims that may be symbols, host scalars, shapes, tuples.
#ifndef KERNPACK_SDK_PROGRAM_TYPE_H_
#define KERNPACK_SDK_PROGRAM_TYPE_H_

#include <kernpack/dtype.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kernpack::sdk::program {

// An extent: a number, a symbol (which has one value per run of its program), or unknown before the run.
struct Dim {
  int64_t extent = -1;  // below 0: a symbol, or unknown
  std::string symbol;

  Dim() = default;  // unknown
  Dim(int64_t extent_) : extent(extent_) {}
  Dim(int extent_) : extent(extent_) {}
  Dim(std::string symbol_) : symbol(std::move(symbol_)) {}
  Dim(const char* symbol_) : symbol(symbol_) {}

  bool is_constant() const { return extent >= 0; }
  bool is_unknown() const { return extent < 0 && symbol.empty(); }
  // "8", "N", "_".
  std::string str() const;
  bool operator==(const Dim&) const = default;
};

enum class TypeKind : uint8_t {
  kUnknown,  // until inferred from a function's signature
  kTensor,
  kInt,
  kFloat,
  kBool,
  kStr,
  kDType,
  kNone,
  kShape,  // the extents of a tensor
  kTuple,  // of tensors and scalars; what a parameter `list[...]` takes
};

struct Type {
  TypeKind kind = TypeKind::kUnknown;
  DType dtype;  // kTensor
  std::optional<std::vector<Dim>> dims;  // kTensor: nullopt if the rank is unknown
  std::vector<Type> elements;  // kTuple; none is a tuple itself

  static Type Unknown() { return {}; }
  static Type Tensor(DType dtype, std::optional<std::vector<Dim>> dims = std::nullopt);
  static Type Tuple(std::vector<Type> elements);
  static Type Of(TypeKind kind) { return {kind, {}, {}, {}}; }

  bool is_tensor() const { return kind == TypeKind::kTensor; }
  // True if the value is on the host: scalars, shapes and tuples themselves (not the tensors in them).
  bool is_host() const { return kind != TypeKind::kUnknown && kind != TypeKind::kTensor; }
  // "f32[N, 8]", "f32[...]" of unknown rank, "int", "shape", "tuple[f32[N], int]", "?".
  std::string str() const;
  bool operator==(const Type&) const = default;
};

// True if `value` may be used where `expected` is expected. Unknown parts of either match anything.
bool Fits(const Type& value, const Type& expected);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_TYPE_H_
