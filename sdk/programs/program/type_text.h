// How the text form writes types: the names of their kinds, and the type of a step's result that it leaves out.
#ifndef KERNPACK_SDK_PROGRAMS_PROGRAM_TYPE_TEXT_H_
#define KERNPACK_SDK_PROGRAMS_PROGRAM_TYPE_TEXT_H_

#include <kernpack/sdk/program/program.h>
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

// The type that a step gives its result when nobody says another: what the text form leaves out.
// From the types of its arguments, which `program` has. Unknown for calls and for `if` and `invoke`.
Type DefaultType(const Program& program, const Step& step);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PROGRAM_TYPE_TEXT_H_
