#include "schedule/default/words.h"

#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>
#include <functional>

#include "schedule/arithmetic.h"

namespace kernpack::sdk::ir {
namespace {

const Expr& GetLoad(const Expr& operand) { return operand->op == Op::kCast ? operand->args[0] : operand; }

struct WordForm {
  int parts = 0;  // of a word; 0: there is no form
  bool unsigned_left = false, unsigned_right = false;
  bool adds_to_left = false;  // 128, so that it is unsigned
};

WordForm FindForm(Type left, Type right, const Processor& machine) {
  if (!IsInteger(left) || !IsInteger(right)) return {};
  const bool bytes = left.bits == 8 && right.bits == 8, both_signed = IsSigned(left) && IsSigned(right);
  if (machine.multiplies_bytes && bytes && (IsSigned(left) || IsSigned(right)))
    return {4, !IsSigned(left) || both_signed, !IsSigned(right), both_signed};
  const auto fits = [](Type t) { return t.bits == 8 || (t.bits == 16 && IsSigned(t)); };
  return machine.multiplies_pairs && fits(left) && fits(right) ? WordForm{2} : WordForm{};
}

// One part of a word, as an i32.
Expr Part(const Expr& word, int part, int bits, bool is_unsigned) {
  const auto number = [](int n) { return ConstInt(kI32, n); };
  if (is_unsigned) return (part ? word >> number(part * bits) : word) & number((1 << bits) - 1);
  const int above = 32 - bits * (part + 1);
  return (above ? word << number(above) : word) >> number(32 - bits);
}

// Loads of one stage become what `instead` makes of them.
class StageReader : public Mutator {
 public:
  StageReader(const BufferNode* stage, std::function<Expr(const Expr&)> instead)
      : stage_(stage), instead_(std::move(instead)) {}
  Expr MutateExpr(const Expr& e) override {
    const Expr made = Mutator::MutateExpr(e);
    return made->op == Op::kLoad && made->buffer().get() == stage_ ? instead_(made) : made;
  }

 private:
  const BufferNode* const stage_;
  const std::function<Expr(const Expr&)> instead_;
};

class WordWriter {
 public:
  WordWriter(const Matmul& m, const Panels& panels, const WordForm& form, int lanes)
      : all_(m.sums()), panels_(panels), form_(form), bits_(32 / form.parts), lanes_(lanes), out_(m) {}

  Matmul Write() {
    if (form_.adds_to_left) TakeOff(Excess());
    const StageAxis& k = all_.reduced[0];
    const Var step = MakeVar(UnusedAxisName(all_, k.var->name + "_word"), kI64);
    Expr left, right;
    for (const Expr& operand : all_.body->args) {
      const bool is_left = GetLoad(operand)->buffer()->name == out_.left;
      (is_left ? left : right) = FromPanels(GetLoad(operand), is_left, step);
    }
    Stage sums = all_;
    sums.combine = Combine{Op::kAdd, 0};
    sums.reduced = {{step, Steps()}};
    sums.body = PartProduct(left, right, 0);
    for (int part = 1; part < form_.parts; ++part) sums.body = sums.body + PartProduct(left, right, part);
    out_.sum = step->name;
    out_.left = left->buffer()->name;
    out_.right = right->buffer()->name;
    out_.sums_at = before_.size();
    std::vector<Stage>& stages = out_.lifted.program.stages;
    stages.front() = std::move(sums);
    stages.insert(stages.begin(), before_.begin(), before_.end());
    return std::move(out_);
  }

 private:
  Stage all_;
  const Panels panels_;
  const WordForm form_;
  const int bits_;
  const int lanes_;  // in which the excess is summed up
  Matmul out_;
  std::vector<Stage> before_;  // the sums

  Expr Steps() const { return CeilDiv(all_.reduced[0].extent, form_.parts); }
  Expr PartProduct(const Expr& left, const Expr& right, int part) const {
    return Part(left, part, bits_, form_.unsigned_left) * Part(right, part, bits_, form_.unsigned_right);
  }

  Expr FromPanels(const Expr& load, bool left, const Var& step) {
    const StageAxis& k = all_.reduced[0];
    const PanelShape shape{load, all_.spatial[all_.spatial.size() - (left ? 2 : 1)],
                           left ? panels_.rows : panels_.columns, k.var};
    const StageAxis word{MakeVar("word", kI64), Steps()};
    int64_t extent = 0;
    const bool is_whole = IsConstInt(k.extent, &extent) && extent % form_.parts == 0;
    const std::string name = UnusedStageName(out_.lifted.program, before_, load->buffer()->name + "_pack");
    const Stage pack = PackPanels(name, shape, {word}, [&](const PanelRead& read) {
      Expr made;
      for (int part = 0; part < form_.parts; ++part) {
        const Expr at = Sum(Expr(word.var) * Expr(form_.parts), Expr(part));
        Expr value = Cast(kI32, read(at, part == 0 || is_whole ? Expr() : at < k.extent, Const(load->type, 0)));
        if (part + 1 < form_.parts) value = value & ConstInt(kI32, (1 << bits_) - 1);
        if (part > 0) value = value << ConstInt(kI32, part * bits_);
        made = made ? made | value : value;
      }
      return left && form_.adds_to_left ? made ^ ConstInt(kI32, -0x7f7f7f80) : made;
    });
    std::unordered_map<const VarNode*, Expr> values;
    for (const StageAxis& a : all_.spatial) values[a.var.get()] = Expr(a.var);
    const Expr there = LoadPanel(pack, shape, {Expr(step)}, values);
    before_.push_back(pack);
    return there;
  }

  // [dimensions of the right operand but that of the sum]: the sum of its elements.
  Stage Excess() {
    const Expr& operand = all_.body->args[GetLoad(all_.body->args[0])->buffer()->name == out_.left];
    const Expr& load = GetLoad(operand);
    const StageAxis& k = all_.reduced[0];
    const bool sum_is_last = load->args.back()->var() == k.var;
    Stage excess;
    excess.name = UnusedStageName(out_.lifted.program, before_, load->buffer()->name + "_excess");
    excess.combine = Combine{Op::kAdd, sum_is_last ? lanes_ : 0};
    excess.reduced = {{MakeVar(k.var->name, kI64), k.extent}};
    std::vector<Expr> from;
    for (size_t d = 0; d < load->args.size(); ++d) {
      const bool is_sum = load->args[d]->var() == k.var;
      if (!is_sum) excess.spatial.push_back({MakeVar("a" + std::to_string(d), kI64), load->buffer()->shape[d]});
      from.emplace_back(is_sum ? excess.reduced[0].var : excess.spatial.back().var);
    }
    excess.body = Cast(kI32, Load(load->buffer(), std::move(from)));
    excess.buffer = MakeStageBuffer(excess, kI32);
    before_.push_back(excess);
    out_.excess = excess.name;
    return excess;
  }

  // The last stage reads sums without 128 times the excess.
  void TakeOff(const Stage& excess) {
    std::vector<Stage>& stages = out_.lifted.program.stages;
    const Expr& operand = all_.body->args[GetLoad(all_.body->args[0])->buffer()->name == out_.left];
    const auto corrected = [&, load = GetLoad(operand)](const Expr& sum) {
      std::vector<Expr> at;
      for (const Expr& index : load->args) {
        for (size_t a = 0; a < all_.spatial.size(); ++a) {
          if (index->var() == all_.spatial[a].var) at.push_back(sum->args[a]);
        }
      }
      return sum - (Load(excess.buffer, std::move(at)) << ConstInt(kI32, 7));
    };
    if (stages.size() > 1) {
      stages.back().body = StageReader(all_.buffer.get(), corrected).MutateExpr(stages.back().body);
      return;
    }
    Stage last = all_;
    all_.name = UnusedStageName(out_.lifted.program, before_, all_.name + "_sums");
    all_.is_result = false;
    all_.buffer = MakeStageBuffer(all_, kI32);
    std::vector<Expr> at;
    for (StageAxis& a : last.spatial) {
      a.var = MakeVar(a.var->name, kI64);
      at.emplace_back(a.var);
    }
    last.reduced.clear();
    last.combine.reset();
    last.body = corrected(Load(all_.buffer, at));
    stages.push_back(std::move(last));
  }
};

}  // namespace

std::optional<Matmul> InWords(const Matmul& matmul, const Panels& panels, const Processor& machine) {
  const Stage& sums = matmul.sums();
  if (sums.body->type != kI32 || matmul.row.empty()) return std::nullopt;
  const Var &k = sums.reduced[0].var, &j = sums.spatial.back().var, &i = sums.spatial[sums.spatial.size() - 2].var;
  Type left, right;
  for (const Expr& operand : sums.body->args) {
    const Expr& load = GetLoad(operand);
    if (TimesUsed(*load, k) != 1 || TimesUsed(*load, i) + TimesUsed(*load, j) != 1) return std::nullopt;
    (load->buffer()->name == matmul.left ? left : right) = load->type;
  }
  const WordForm form = FindForm(left, right, machine);
  if (!form.parts) return std::nullopt;
  return WordWriter(matmul, panels, form, machine.Lanes(32) * 4).Write();
}

}  // namespace kernpack::sdk::ir
