#include "schedule/default/panels.h"

#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "schedule/arithmetic.h"
#include "schedule/default/lift.h"

namespace kernpack::sdk::ir {

std::string UnusedAxisName(const Stage& stage, std::string name) {
  const auto taken = [&](const StageAxis& a) { return a.var->name == name; };
  while (std::any_of(stage.spatial.begin(), stage.spatial.end(), taken)) name += "_";
  return name;
}

std::string UnusedStageName(const StageProgram& program, const std::vector<Stage>& more, std::string name) {
  const auto is_stage = [&](const Stage& s) { return s.name == name; };
  const auto is_param = [&](const Param& p) { return p.name() == name; };
  const auto taken = [&](const std::vector<Stage>& s) { return std::any_of(s.begin(), s.end(), is_stage); };
  const std::vector<Param>& params = program.function.params;
  while (taken(program.stages) || taken(more) || std::any_of(params.begin(), params.end(), is_param)) name += "_";
  return name;
}

Stage PackPanels(const std::string& name, const PanelShape& shape, const std::vector<StageAxis>& inner,
                 const std::function<Expr(const PanelRead&)>& value) {
  const ExprNode& load = *shape.load;
  const Expr factor(int64_t{shape.factor});
  const StageAxis panel{MakeVar("panel", kI64), CeilDiv(shape.cut.extent, shape.factor)},
      lane{MakeVar("lane", kI64), factor};
  const Expr along = Expr(panel.var) * factor + Expr(lane.var);
  Stage pack;
  pack.name = name;
  pack.spatial = {panel};
  std::vector<Expr> from;
  size_t sum_dim = 0;
  for (size_t d = 0; d < load.args.size(); ++d) {
    const Var& var = load.args[d]->var();
    if (var == shape.cut.var) {
      from.push_back(along);
    } else if (var == shape.sum) {
      sum_dim = d;
      from.emplace_back();
    } else {
      pack.spatial.push_back({MakeVar("a" + std::to_string(d), kI64), load.buffer()->shape[d]});
      from.emplace_back(pack.spatial.back().var);
    }
  }
  for (const StageAxis& a : inner) pack.spatial.push_back(a);
  pack.spatial.push_back(lane);
  int64_t extent = 0;
  const bool all_lanes = IsConstInt(shape.cut.extent, &extent) && extent % shape.factor == 0;
  const Expr in_panel = all_lanes ? Expr() : along < shape.cut.extent;
  pack.body = value([&](const Expr& at, const Expr& mask, const Expr& filler) {
    std::vector<Expr> indices = from;
    indices[sum_dim] = at;
    const Expr both = mask && in_panel ? mask & in_panel : mask ? mask : in_panel;
    return both ? MaskedLoad(load.buffer(), std::move(indices), both, filler) : Load(load.buffer(), std::move(indices));
  });
  pack.buffer = MakeStageBuffer(pack, pack.body->type);
  return pack;
}

Expr LoadPanel(const Stage& pack, const PanelShape& shape, const std::vector<Expr>& inner,
               const std::unordered_map<const VarNode*, Expr>& values) {
  const Expr at = values.at(shape.cut.var.get());
  std::vector<Expr> to{at / Expr(int64_t{shape.factor})};
  for (const Expr& index : shape.load->args) {
    if (index->var() != shape.cut.var && index->var() != shape.sum) to.push_back(Substitute(index, values));
  }
  to.insert(to.end(), inner.begin(), inner.end());
  to.push_back(at % Expr(int64_t{shape.factor}));
  return Load(pack.buffer, std::move(to));
}

}  // namespace kernpack::sdk::ir
