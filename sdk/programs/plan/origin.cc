#include "plan/origin.h"

#include "program/fail.h"

namespace kernpack::sdk::program {
namespace {

std::string Where(const Program& p, Position at) {
  if (!at.line) return " in program " + p.name;
  return " (line " + std::to_string(at.line) + ", column " + std::to_string(at.column) + ")";
}

}  // namespace

std::string Describe(const ProgramModule& module, const Origin& origin) {
  const Program& p = module.programs[origin.program];
  switch (origin.kind) {
    case OriginKind::kAnnotation:
      return "the annotation of " + GetName(p, origin.index) + Where(p, p.values[origin.index].position);
    case OriginKind::kResultAnnotation:
      return "the annotation of result " + std::to_string(origin.index) + Where(p, p.results[origin.index].position);
    case OriginKind::kFunction:
      return Describe(p, p.steps[origin.index]) + Where(p, p.steps[origin.index].position);
    case OriginKind::kHost:
      return GetName(p, origin.index) + ", which is of the host" + Where(p, p.values[origin.index].position);
    case OriginKind::kNone:
      break;
  }
  return "nothing";
}

}  // namespace kernpack::sdk::program
