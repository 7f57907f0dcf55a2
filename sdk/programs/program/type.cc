#include <kernpack/sdk/ir/type.h>
#include <kernpack/sdk/program/type.h>

#include "program/type_text.h"

namespace kernpack::sdk::program {
namespace {

bool Fits(const Dim& a, const Dim& b) { return a.is_unknown() || b.is_unknown() || a == b; }

}  // namespace

std::string Dim::str() const { return is_constant() ? std::to_string(extent) : is_unknown() ? "_" : symbol; }

Type Type::Tensor(DType dtype, std::optional<std::vector<Dim>> dims) {
  return {TypeKind::kTensor, dtype, std::move(dims), {}};
}

Type Type::Tuple(std::vector<Type> elements) { return {TypeKind::kTuple, {}, {}, std::move(elements)}; }

std::string Type::str() const {
  if (kind == TypeKind::kTensor) {
    std::string out = ir::TypeName(dtype) + "[";
    if (!dims) return out + "...]";
    for (size_t i = 0; i < dims->size(); ++i) out += (i ? ", " : "") + (*dims)[i].str();
    return out + "]";
  }
  std::string out = TypeKindName(kind);
  if (kind != TypeKind::kTuple) return out;
  out += "[";
  for (size_t i = 0; i < elements.size(); ++i) out += (i ? ", " : "") + elements[i].str();
  return out + "]";
}

bool Fits(const Type& value, const Type& expected) {
  if (value.kind == TypeKind::kUnknown || expected.kind == TypeKind::kUnknown) return true;
  if (value.kind != expected.kind || value.elements.size() != expected.elements.size()) return false;
  for (size_t i = 0; i < value.elements.size(); ++i) {
    if (!Fits(value.elements[i], expected.elements[i])) return false;
  }
  if (!value.is_tensor()) return true;
  if (value.dtype != expected.dtype) return false;
  if (!value.dims || !expected.dims) return true;
  if (value.dims->size() != expected.dims->size()) return false;
  for (size_t i = 0; i < value.dims->size(); ++i) {
    if (!Fits((*value.dims)[i], (*expected.dims)[i])) return false;
  }
  return true;
}

const char* TypeKindName(TypeKind kind) {
  for (const TypeKindRow& row : kTypeKinds) {
    if (row.kind == kind) return row.name;
  }
  return "tensor";
}

}  // namespace kernpack::sdk::program
