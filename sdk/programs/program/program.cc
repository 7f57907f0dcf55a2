#include <kernpack/sdk/program/program.h>

#include <algorithm>

#include "program/type_text.h"

namespace kernpack::sdk::program {

Type TypeOf(const Constant& constant) {
  // In the order of the alternatives of Constant.
  static constexpr TypeKind kKinds[] = {TypeKind::kNone, TypeKind::kBool,  TypeKind::kInt,  TypeKind::kFloat,
                                        TypeKind::kStr,  TypeKind::kDType, TypeKind::kShape};
  static_assert(std::size(kKinds) == std::variant_size_v<Constant>);
  return Type::Of(kKinds[constant.index()]);
}

const char* StepKindName(StepKind kind) {
  static constexpr const char* kNames[] = {"const", "call", "tuple", "get", "if", "invoke", "copy", "shape"};
  return kNames[static_cast<size_t>(kind)];
}

Type DefaultType(const Program& program, const Step& step) {
  switch (step.kind) {
    case StepKind::kConstant:
      return TypeOf(step.constant);
    case StepKind::kShapeOf:
      return Type::Of(TypeKind::kShape);
    case StepKind::kCopy:
      return program.values[step.args[0]].type;
    case StepKind::kTuple: {
      std::vector<Type> elements;
      for (const ValueId v : step.args) elements.push_back(program.values[v].type);
      return Type::Tuple(std::move(elements));
    }
    case StepKind::kTupleGet: {
      const Type& tuple = program.values[step.args[0]].type;
      return step.index < tuple.elements.size() ? tuple.elements[step.index] : Type::Unknown();
    }
    default:
      return Type::Unknown();
  }
}

const Program* ProgramModule::Find(std::string_view name) const {
  const auto found = std::find_if(programs.begin(), programs.end(), [&](const Program& p) { return p.name == name; });
  return found == programs.end() ? nullptr : &*found;
}

Program* ProgramModule::Find(std::string_view name) {
  return const_cast<Program*>(static_cast<const ProgramModule*>(this)->Find(name));
}

}  // namespace kernpack::sdk::program
