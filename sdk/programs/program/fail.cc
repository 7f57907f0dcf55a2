#include "program/fail.h"

#include <kernpack/error.h>

#include "ir/lexer.h"

namespace kernpack::sdk::program {

void Fail(Position position, const Program& program, const std::string& message, const char* kind) {
  const std::string text = "program " + program.name + ": " + message;
  if (position.line) ir::FailAt(position, text, kind);
  throw Error(kind, KpBytes{text.data(), text.size()});
}

std::string GetName(const Program& program, ValueId value) {
  if (value >= program.values.size()) return "value " + std::to_string(value) + ", which doesn't exist";
  const std::string& name = program.values[value].name;
  return name.empty() ? "value " + std::to_string(value) : "'" + name + "'";
}

std::string Describe(const Program& program, const Step& step) {
  const std::string kind = StepKindName(step.kind);
  if (!step.callee.empty()) return kind + " " + step.callee + (step.otherwise.empty() ? "" : ", " + step.otherwise);
  return step.args.empty() ? kind : kind + " " + GetName(program, step.args[0]);
}

}  // namespace kernpack::sdk::program
