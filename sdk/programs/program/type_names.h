// The names of the kinds of types other than tensors in the text form.
#ifndef KERNPACK_SDK_PROGRAMS_PROGRAM_TYPE_NAMES_H_
#define KERNPACK_SDK_PROGRAMS_PROGRAM_TYPE_NAMES_H_

#include <kernpack/sdk/program/type.h>

namespace kernpack::sdk::program {

struct TypeKindRow {
  TypeKind kind;
  const char* name;
};
inline constexpr TypeKindRow kTypeKinds[] = {
    {TypeKind::kUnknown, "?"}, {TypeKind::kInt, "int"},     {TypeKind::kFloat, "float"},
    {TypeKind::kBool, "bool"}, {TypeKind::kStr, "str"},     {TypeKind::kDType, "dtype"},
    {TypeKind::kNone, "none"}, {TypeKind::kShape, "shape"}, {TypeKind::kTuple, "tuple"},
};

const char* TypeKindName(TypeKind kind);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PROGRAM_TYPE_NAMES_H_
