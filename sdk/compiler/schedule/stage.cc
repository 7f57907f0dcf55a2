#include <kernpack/error.h>
#include <kernpack/sdk/schedule/stage.h>

#include <algorithm>

#include "schedule/unknown.h"

namespace kernpack::sdk::ir {
namespace {

constexpr const char* kAxisNames[] = {"i", "j", "k", "l", "m", "n", "o", "p"};

// Axes for the extents, named from place `first` on.
std::vector<StageAxis> MakeAxes(const std::string& stage, const std::vector<Expr>& extents,
                                const std::vector<std::string>& names, size_t first) {
  std::vector<StageAxis> axes;
  for (const Expr& extent : extents) {
    const size_t place = first + axes.size();
    if (!extent || extent->type != kI64) KP_THROW(TypeError) << stage << ": extents are scalars of type i64";
    if (place >= std::size(kAxisNames)) KP_THROW(ValueError) << stage << ": at most 8 axes";
    axes.push_back({MakeVar(place < names.size() ? names[place] : kAxisNames[place], kI64), extent});
  }
  return axes;
}

StageBuilder::Axes Values(const std::vector<StageAxis>& axes) {
  StageBuilder::Axes out;
  for (const StageAxis& a : axes) out.emplace_back(a.var);
  return out;
}

}  // namespace

StageBuilder::StageBuilder(std::string name) { program_.function.name = std::move(name); }

Expr StageBuilder::Dim(std::string_view name) { return Expr(MakeDim(name)); }

Buffer StageBuilder::Input(std::string name, Type element, std::vector<Expr> shape) {
  Param p;
  p.buffer = MakeBuffer(std::move(name), element, std::move(shape));
  program_.function.params.push_back(p);
  return p.buffer;
}

Expr StageBuilder::Scalar(std::string name, Type type) {
  Param p;
  p.var = MakeVar(std::move(name), type);
  program_.function.params.push_back(p);
  return Expr(p.var);
}

Buffer StageBuilder::Add(Stage stage) {
  if (!stage.body || stage.body->type.lanes != 1) KP_THROW(TypeError) << stage.name << ": an element is a scalar";
  for (const Stage& s : program_.stages) {
    if (s.name == stage.name) KP_THROW(ValueError) << stage.name << ": there is a stage of this name already";
  }
  for (const Param& p : program_.function.params) {
    if (p.name() == stage.name) KP_THROW(ValueError) << stage.name << ": there is an input of this name already";
  }
  std::vector<std::string> names;
  std::vector<Expr> shape;
  for (const StageAxis& a : stage.spatial) shape.push_back(a.extent);
  for (const auto* axes : {&stage.spatial, &stage.reduced}) {
    for (const StageAxis& a : *axes) {
      if (std::count(names.begin(), names.end(), a.var->name))
        KP_THROW(ValueError) << stage.name << ": two axes are called '" << a.var->name << '\'';
      names.push_back(a.var->name);
    }
  }
  stage.buffer = MakeBuffer(stage.name, stage.body->type, std::move(shape), Scope::kWorkspace);
  program_.stages.push_back(std::move(stage));
  return program_.stages.back().buffer;
}

Buffer StageBuilder::Compute(std::string name, std::vector<Expr> shape, const std::function<Expr(const Axes&)>& body,
                             std::vector<std::string> axis_names) {
  Stage s;
  s.spatial = MakeAxes(name, shape, axis_names, 0);
  s.name = std::move(name);
  s.body = body(Values(s.spatial));
  return Add(std::move(s));
}

Buffer StageBuilder::Reduce(std::string name, Op op, int lanes, std::vector<Expr> shape, std::vector<Expr> reduced,
                            const std::function<Expr(const Axes&, const Axes&)>& body,
                            std::vector<std::string> axis_names) {
  if (reduced.empty()) KP_THROW(ValueError) << name << ": a reduction needs a reduction axis";
  Stage s;
  s.spatial = MakeAxes(name, shape, axis_names, 0);
  s.reduced = MakeAxes(name, reduced, axis_names, shape.size());
  s.name = std::move(name);
  s.body = body(Values(s.spatial), Values(s.reduced));
  s.combine = Combine{op, lanes};
  // The expression knows which operations and lanes there are.
  ir::Reduce(op, s.reduced[0].var, Expr(0), s.reduced[0].extent, lanes, s.body);
  return Add(std::move(s));
}

void StageBuilder::Result(const Buffer& stage) {
  for (Stage& s : program_.stages) {
    if (s.buffer != stage) continue;
    s.is_result = true;
    return;
  }
  KP_THROW(ValueError) << "result: expected a stage of this program";
}

StageProgram StageBuilder::Finish() const {
  const auto is_result = [](const Stage& s) { return s.is_result; };
  if (std::none_of(program_.stages.begin(), program_.stages.end(), is_result))
    KP_THROW(ValueError) << program_.function.name << ": no stage is a result";
  const std::set<const VarNode*> known = CollectVariables(program_.function);
  for (const Stage& s : program_.stages) {
    if (const VarNode* unknown = FindUnknown(s, known)) {
      KP_THROW(ValueError) << program_.function.name << ": stage '" << s.name << "' uses '" << unknown->name
                           << "', which has no value; give an input that extent alone, or make it a scalar";
    }
  }
  return program_;
}

}  // namespace kernpack::sdk::ir
