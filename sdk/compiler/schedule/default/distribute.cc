// Loops whose iterations depend on each other, of which a part doesn't: in strips, each part of the body runs for the whole
// strip before the next part. An online softmax computes its exponentials in vectors so, and adds up rows in registers.
#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "ir/uses.h"
#include "schedule/arithmetic.h"
#include "schedule/default/body_parts.h"
#include "schedule/default/nests.h"
#include "schedule/default/tile.h"

namespace kernpack::sdk::ir {
namespace {

constexpr int64_t kStrip = 64;  // iterations, which values from part to part are kept of

// Math functions are many operations each, which vectors share.
class MathFinder : public Visitor {
 public:
  bool any = false;
  void VisitExpr(const Expr& e) override {
    any = any || ClassOf(e->op) == OpClass::Math || e->op == Op::kPow;
    Visitor::VisitExpr(e);
  }
};
bool HasMath(const Stmt& s) {
  MathFinder finder;
  finder.VisitStmt(s);
  return finder.any;
}

void SplitAnd(const Expr& e, std::vector<Expr>* out) {
  if (e->op != Op::kAnd) return out->push_back(e);
  SplitAnd(e->args[0], out);
  SplitAnd(e->args[1], out);
}

// Iterations from begin to end, and what is asked in each.
struct Range {
  Expr begin, end, condition;  // the condition may be empty
};

// Conditions that end the loop at a fixed number become its end.
Range Tightened(const StmtNode& loop, const Expr& condition) {
  Range range{loop.args[0], loop.args[1], Expr()};
  std::vector<Expr> all;
  SplitAnd(condition, &all);
  for (const Expr& e : all) {
    const bool upper = e->op == Op::kLt || e->op == Op::kLe, swapped = e->op == Op::kGt || e->op == Op::kGe;
    const Expr counter = upper ? e->args[0] : swapped ? e->args[1] : Expr();
    const Expr limit = upper ? e->args[1] : swapped ? e->args[0] : Expr();
    const bool is_limit = counter && counter->op == Op::kVar && counter->var() == loop.var && limit->type == kI64 &&
                          !IsUsed(loop.var, limit) && !ReadsMemory(limit);
    if (!is_limit) {
      range.condition = range.condition ? range.condition & e : e;
    } else if (e->op == Op::kLt || e->op == Op::kGt) {
      range.end = Smaller(range.end, limit);
    } else {  // limit + 1 might wrap
      range.end = Sum(Smaller(Difference(Larger(range.end, range.begin), Expr(1)), limit), Expr(1));
    }
  }
  return range;
}

class DistributedWriter : public Mutator {
 public:
  // The first statement of a body that is `asked` names a condition of all others.
  DistributedWriter(const StmtNode& loop, const Range& range, const Block& body, const std::vector<BodyPart>& parts,
                    bool asked)
      : loop_(loop), range_(range), body_(body), parts_(parts), asked_(asked) {}

  Block Write() {
    const std::string& name = loop_.var->name;
    const Var strip = MakeVar(name + "_o", kI64), first = MakeVar(name + "_first", kI64),
              count = MakeVar(name + "_count", kI64);
    const Expr length = Difference(range_.end, range_.begin);
    Block out{Let(first, Sum(range_.begin, Product(Expr(strip), Expr(kStrip)))),
              Let(count, Smaller(Difference(range_.end, Expr(first)), Expr(kStrip)))};
    Keep(&out);
    for (const BodyPart& part : parts_) {
      const Var in_strip = MakeVar(name + "_i", kI64);
      out.push_back(For(in_strip, Expr(0), Expr(count), Part(part, Sum(Expr(first), Expr(in_strip)), Expr(in_strip))));
    }
    return {For(strip, Expr(0), CeilDiv(length, kStrip), std::move(out))};
  }

 private:
  const StmtNode& loop_;
  const Range& range_;
  const Block& body_;
  const std::vector<BodyPart>& parts_;
  const bool asked_;
  std::unordered_map<const VarNode*, Buffer> kept_;

  // Values that a part names and another uses, of a whole strip.
  void Keep(Block* out) {
    for (const BodyPart& part : parts_) {
      for (const size_t i : part.statements) {
        const Var& var = body_[i]->var;
        if (body_[i]->kind != StmtKind::kLet || !IsUsedElsewhere(var, part)) continue;
        kept_[var.get()] = MakeBuffer(var->name + "_strip", var->type, {Expr(kStrip)}, Scope::kLocal);
        out->push_back(Alloc(kept_.at(var.get())));
      }
    }
  }
  bool IsUsedElsewhere(const Var& var, const BodyPart& own) const {
    if (asked_ && var == body_[0]->var && parts_.size() > 1) return true;
    return std::any_of(parts_.begin(), parts_.end(), [&](const BodyPart& part) {
      return &part != &own && std::any_of(part.statements.begin(), part.statements.end(), [&](size_t i) {
        const std::vector<Var> used = FreeIn({body_[i]}).vars;
        return std::find(used.begin(), used.end(), var) != used.end();
      });
    });
  }

  Block Part(const BodyPart& part, const Expr& counter, const Expr& in_strip) {
    substitution_.clear();
    substitution_[loop_.var.get()] = counter;
    for (const auto& [var, buffer] : kept_) substitution_[var] = Load(buffer, {in_strip});
    for (const size_t i : part.statements) {
      if (body_[i]->kind == StmtKind::kLet) substitution_.erase(body_[i]->var.get());
    }
    Block out, under;
    for (const size_t i : part.statements) {
      Block& to = asked_ && i > 0 ? under : out;
      MutateStmt(body_[i], &to);
      if (body_[i]->kind != StmtKind::kLet) continue;
      const auto kept = kept_.find(body_[i]->var.get());
      if (kept != kept_.end()) to.push_back(Store(kept->second, {in_strip}, Expr(body_[i]->var)));
    }
    if (!under.empty()) out.push_back(If(MutateExpr(Expr(body_[0]->var)), std::move(under)));
    return out;
  }
};

}  // namespace

std::optional<Block> DistributeLoop(const StmtNode& loop, const IsIndependent& is_independent) {
  if (loop.kind != StmtKind::kFor || loop.for_kind != ForKind::kSerial || loop.var->type != kI64 ||
      LeavesLoop(loop.body) || !std::any_of(loop.body.begin(), loop.body.end(), HasMath))
    return std::nullopt;
  const bool is_if = loop.body.size() == 1 && loop.body[0]->kind == StmtKind::kIf && loop.body[0]->otherwise.empty();
  const Range range = is_if ? Tightened(loop, loop.body[0]->args[0]) : Range{loop.args[0], loop.args[1], Expr()};
  Block body = NameLocalValues(is_if ? loop.body[0]->body : loop.body);
  if (range.condition) body.insert(body.begin(), Let(MakeVar("is_taken", kBool), range.condition));
  const std::optional<std::vector<BodyPart>> parts = DivideBody(loop, body, bool(range.condition), is_independent);
  const auto gains = [&](const BodyPart& part) {
    return part.is_vector &&
           std::any_of(part.statements.begin(), part.statements.end(), [&](size_t i) { return HasMath(body[i]); });
  };
  if (!parts || parts->size() < 2 || std::none_of(parts->begin(), parts->end(), gains)) return std::nullopt;
  return DistributedWriter(loop, range, body, *parts, bool(range.condition)).Write();
}

}  // namespace kernpack::sdk::ir
