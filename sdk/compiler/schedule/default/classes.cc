#include "schedule/default/classes.h"

#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>
#include <functional>

#include "schedule/arithmetic.h"

namespace kernpack::sdk::ir {
namespace {

// Halves are joined until one is left, as the order `any` does.
Expr Tree(std::vector<Expr> parts) {
  for (size_t half = parts.size() / 2; half; half /= 2) {
    for (size_t i = 0; i < half; ++i) parts[i] = parts[i] + parts[i + half];
  }
  return parts[0];
}

// Loads of some buffers become what `instead` makes of them.
class ReplaceLoads : public Mutator {
 public:
  explicit ReplaceLoads(std::function<Expr(const Expr&)> instead) : instead_(std::move(instead)) {}
  Expr MutateExpr(const Expr& e) override { return e->op == Op::kLoad ? instead_(e) : Mutator::MutateExpr(e); }

 private:
  const std::function<Expr(const Expr&)> instead_;
};

class Writer {
 public:
  Writer(const Matmul& m, const std::optional<Panels>& panels)
      : m_(m), all_(m.sums()), panels_(panels), members_(m.lanes), k_(all_.reduced[0].extent) {
    while (members_ > 2 * groups_) members_ /= 2, groups_ *= 2;
    int64_t extent = 0;
    is_whole_ = IsConstInt(k_, &extent) && extent % m.lanes == 0;
    at_ = all_.spatial.size() - (m.row.empty() ? 1 : 2);
    out_.lifted = m.lifted;
    out_.group = AxisName(m.sum + "_group");
    out_.member = AxisName(m.sum + "_member");
    out_.step = AxisName(m.sum + "_step");
  }

  InClasses Write() {
    Stage last = m_.lifted.stage(), joined = all_;
    if (m_.lifted.program.stages.size() == 1) {
      joined.name = StageName(last.name + "_local");
      joined.buffer = MakeStageBuffer(joined, last.buffer->element);
      last.body = Load(joined.buffer, GetIndices(last));
      last.reduced.clear();
      last.combine.reset();
    }
    out_.joined = joined.name;
    Stage sums = Sums();
    out_.sums = sums.name;
    Stage members = Joined(sums, members_, at_ + 1);
    out_.members = members.name = StageName(out_.sums + "_group");
    members.buffer = MakeStageBuffer(members, members.body->type);
    Stage whole = Joined(members, groups_, at_);
    whole.name = joined.name;
    whole.buffer = joined.buffer;
    std::vector<Stage>& stages = out_.lifted.program.stages;
    stages = std::move(packs_);
    for (Stage* s : {&sums, &members, &whole, &last}) stages.push_back(std::move(*s));
    return std::move(out_);
  }

 private:
  const Matmul& m_;
  const Stage& all_;
  const std::optional<Panels> panels_;
  int members_, groups_ = 1;
  const Expr k_;  // extent of the sum
  bool is_whole_;  // every class has as many elements
  size_t at_;  // of the axis of groups among those of `sums`
  InClasses out_;
  std::vector<Stage> packs_;

  Expr Steps() const { return CeilDiv(k_, m_.lanes); }
  // k, of the axes of one class.
  Expr Element(const Var& step, const Var& member, const Var& group) const {
    return Sum(Sum(Product(Expr(step), Expr(int64_t{m_.lanes})), Product(Expr(member), Expr(int64_t{groups_}))),
               Expr(group));
  }

  std::string AxisName(std::string name) const { return UnusedAxisName(all_, std::move(name)); }
  std::string StageName(std::string name) const { return UnusedStageName(m_.lifted.program, packs_, std::move(name)); }

  static std::vector<Expr> GetIndices(const Stage& s) {
    std::vector<Expr> out;
    for (const StageAxis& a : s.spatial) out.emplace_back(a.var);
    return out;
  }

  // Values past the end of a class are -0 in the sum, which changes no partial result: -0 * 0 of floats, and of
  // integers 0, since no partial result of theirs is -0.
  static Expr Filler(Type element, bool left) {
    return left && IsFloat(element) ? ConstFloat(element, -0.0) : Const(element, 0);
  }

  Stage Sums() {
    Stage sums = all_;
    sums.name = StageName(m_.lifted.stage().name + "_class");
    sums.is_result = false;
    sums.spatial.clear();
    sums.combine = Combine{Op::kAdd, 0};
    std::unordered_map<const VarNode*, Expr> values;
    for (const StageAxis& a : all_.spatial) {
      sums.spatial.push_back({MakeVar(a.var->name, kI64), a.extent});
      values[a.var.get()] = Expr(sums.spatial.back().var);
    }
    const Var group = MakeVar(out_.group, kI64), member = MakeVar(out_.member, kI64), step = MakeVar(out_.step, kI64);
    const auto place = sums.spatial.begin() + static_cast<long>(at_);
    sums.spatial.insert(place, {{group, Expr(int64_t{groups_})}, {member, Expr(int64_t{members_})}});
    sums.reduced = {{step, Steps()}};
    values[all_.reduced[0].var.get()] = Element(step, member, group);
    sums.body = ReplaceLoads([&](const Expr& load) {
                  if (panels_) return FromPanels(load, values, step, member, group);
                  const Expr there = Substitute(load, values);
                  if (is_whole_) return there;
                  const Expr zero = Filler(load->type, load->buffer()->name == m_.left);
                  return MaskedLoad(load->buffer(), there->args, Element(step, member, group) < k_, zero);
                }).MutateExpr(all_.body);
    sums.buffer = MakeStageBuffer(sums, sums.body->type);
    return sums;
  }

  // [panel, other dimensions..., group, member, step, lane] of an operand, and its load from there.
  Expr FromPanels(const Expr& load, const std::unordered_map<const VarNode*, Expr>& values, const Var& step,
                  const Var& member, const Var& group) {
    const bool left = load->buffer()->name == m_.left;
    const PanelShape shape{load, all_.spatial[all_.spatial.size() - (left ? 2 : 1)],
                           left ? panels_->rows : panels_->columns, all_.reduced[0].var};
    const auto axis = [](const char* name, const Expr& extent) { return StageAxis{MakeVar(name, kI64), extent}; };
    const StageAxis g = axis("group", Expr(int64_t{groups_})), m = axis("member", Expr(int64_t{members_})),
                    s = axis("step", Steps());
    const Expr k = Element(s.var, m.var, g.var);
    const Stage pack = PackPanels(
        StageName(load->buffer()->name + "_pack"), shape, {g, m, s},
        [&](const PanelRead& read) { return read(k, is_whole_ ? Expr() : k < k_, Filler(load->type, left)); });
    (left ? out_.left : out_.right) = pack.name;
    packs_.push_back(pack);
    return LoadPanel(pack, shape, {Expr(group), Expr(member), Expr(step)}, values);
  }

  // The tree over the axis at place `at` of `parts`, which has `count` values.
  static Stage Joined(const Stage& parts, int count, size_t at) {
    Stage s;
    for (size_t a = 0; a < parts.spatial.size(); ++a) {
      if (a != at) s.spatial.push_back({MakeVar(parts.spatial[a].var->name, kI64), parts.spatial[a].extent});
    }
    std::vector<Expr> values;
    for (int i = 0; i < count; ++i) {
      std::vector<Expr> indices = GetIndices(s);
      indices.insert(indices.begin() + static_cast<long>(at), Expr(int64_t{i}));
      values.push_back(Load(parts.buffer, std::move(indices)));
    }
    s.body = Tree(std::move(values));
    return s;
  }
};

}  // namespace

InClasses ByClasses(const Matmul& matmul, const std::optional<Panels>& panels) {
  return Writer(matmul, panels).Write();
}

}  // namespace kernpack::sdk::ir
