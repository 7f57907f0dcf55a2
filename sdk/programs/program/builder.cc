#include <kernpack/error.h>
#include <kernpack/sdk/program/builder.h>

#include "program/type_text.h"

namespace kernpack::sdk::program {

ProgramBuilder::ProgramBuilder(std::string name) { program_.name = std::move(name); }

void ProgramBuilder::Check(ValueId value, const char* what) const {
  if (value < program_.values.size()) return;
  KP_THROW(ValueError) << "program " << program_.name << ": " << what
                       << ": expected a value of this program, got number " << value << " of "
                       << program_.values.size();
}

ValueId ProgramBuilder::AddValue(std::string name, Type type, VirtualDevice device) {
  program_.values.push_back({std::move(name), std::move(type), std::move(device), {}});
  return static_cast<ValueId>(program_.values.size() - 1);
}

ValueId ProgramBuilder::Param(std::string name, Type type, VirtualDevice device) {
  if (!program_.steps.empty()) {
    KP_THROW(ValueError) << "program " << program_.name << ": parameter '" << name
                         << "' after a step: add parameters first";
  }
  program_.params.push_back(AddValue(std::move(name), std::move(type), std::move(device)));
  return program_.params.back();
}

std::vector<ValueId> ProgramBuilder::Add(Step step, size_t results, VirtualDevice device) {
  for (const ValueId v : step.args) Check(v, StepKindName(step.kind));
  const Type type = DefaultType(program_, step);
  for (size_t i = 0; i < results; ++i) step.results.push_back(AddValue("", type, device));
  program_.steps.push_back(std::move(step));
  return program_.steps.back().results;
}

ValueId ProgramBuilder::Const(Constant constant) {
  Step step{StepKind::kConstant};
  step.constant = std::move(constant);
  return Add(std::move(step), 1).front();
}

ValueId ProgramBuilder::Call(std::string function, std::vector<ValueId> args, VirtualDevice device) {
  return CallAll(std::move(function), std::move(args), 1, std::move(device)).front();
}

std::vector<ValueId> ProgramBuilder::CallAll(std::string function, std::vector<ValueId> args, size_t results,
                                             VirtualDevice device) {
  return Add({StepKind::kCall, std::move(args), {}, std::move(function)}, results, std::move(device));
}

ValueId ProgramBuilder::Tuple(std::vector<ValueId> elements) {
  return Add({StepKind::kTuple, std::move(elements)}, 1).front();
}

ValueId ProgramBuilder::TupleGet(ValueId tuple, uint32_t index) {
  return Add({StepKind::kTupleGet, {tuple}, {}, {}, {}, index}, 1).front();
}

std::vector<ValueId> ProgramBuilder::If(ValueId condition, std::string then, std::string otherwise,
                                        std::vector<ValueId> args, size_t results) {
  args.insert(args.begin(), condition);
  return Add({StepKind::kIf, std::move(args), {}, std::move(then), std::move(otherwise)}, results);
}

std::vector<ValueId> ProgramBuilder::Invoke(std::string program, std::vector<ValueId> args, size_t results) {
  return Add({StepKind::kInvoke, std::move(args), {}, std::move(program)}, results);
}

ValueId ProgramBuilder::Copy(ValueId value, VirtualDevice to) {
  return Add({StepKind::kCopy, {value}}, 1, std::move(to)).front();
}

ValueId ProgramBuilder::ShapeOf(ValueId tensor) { return Add({StepKind::kShapeOf, {tensor}}, 1).front(); }

ProgramBuilder& ProgramBuilder::Name(ValueId value, std::string name) {
  Check(value, "name");
  program_.values[value].name = std::move(name);
  return *this;
}

ProgramBuilder& ProgramBuilder::Typed(ValueId value, Type type) {
  Check(value, "type");
  program_.values[value].type = std::move(type);
  return *this;
}

ProgramBuilder& ProgramBuilder::On(ValueId value, VirtualDevice device) {
  Check(value, "device");
  program_.values[value].device = std::move(device);
  return *this;
}

ProgramBuilder& ProgramBuilder::Return(const std::vector<ValueId>& values, VirtualDevice device) {
  for (const ValueId v : values) {
    Check(v, "return");
    program_.results.push_back({v, device, {}});
  }
  return *this;
}

}  // namespace kernpack::sdk::program
