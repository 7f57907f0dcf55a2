// Rows that each go over the same strips: groups of them take turns in one strip after the other. Of an attention a group reads each key
// and value from the nearest cache but once.
#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "ir/uses.h"
#include "schedule/arithmetic.h"
#include "schedule/default/body_parts.h"
#include "schedule/default/nests.h"

namespace kernpack::sdk::ir {
namespace {

constexpr int64_t kRows = 16;  // of a group
constexpr int64_t kMostBytesOfRow = 1024;  // of local variables

bool IsSmallLocal(const BufferNode& b) {
  int64_t size = b.element.bits / 8, extent = 0;
  for (const Expr& e : b.shape) {
    if (!IsConstInt(e, &extent) || extent < 0 || extent > kMostBytesOfRow) return false;
    size *= std::max<int64_t>(extent, 1);
  }
  return b.scope == Scope::kLocal && size <= kMostBytesOfRow;
}

// The body of a loop over rows: the loop over strips, which was made of statement `at`, and what is before and after it.
class GroupWriter : public Mutator {
 public:
  GroupWriter(const StmtNode& loop, size_t at, const StmtNode& strips) : loop_(loop), at_(at), strips_(strips) {}

  Block Write() {
    const std::string& name = loop_.var->name;
    const Var group = MakeVar(name + "_o", kI64), first = MakeVar(name + "_first", kI64),
              count = MakeVar(name + "_count", kI64);
    const Expr &begin = loop_.args[0], &end = loop_.args[1];
    first_ = Expr(first);
    count_ = Expr(count);
    Block out{Let(first, Sum(begin, Product(Expr(group), Expr(kRows)))),
              Let(count, Smaller(Difference(end, Expr(first)), Expr(kRows)))};
    for (size_t i = 0; i < at_; ++i) Keep(*loop_.body[i], &out);
    const Buffer most = MakeBuffer(strips_.var->name + "_count", kI64, {Expr(1)}, Scope::kLocal);
    out.push_back(Alloc(most));
    out.push_back(Store(most, {Expr(0)}, Expr(0)));
    out.push_back(ForRows([&](Block* row) {
      for (size_t i = 0; i < at_; ++i) Rewritten(loop_.body[i], row);
      row->push_back(Store(most, {Expr(0)}, Larger(Load(most, {Expr(0)}), MutateExpr(strips_.args[1]))));
    }));
    const Var strip_count = MakeVar(most->name, kI64);
    out.push_back(Let(strip_count, Load(most, {Expr(0)})));
    out.push_back(For(strips_.var, Expr(0), Expr(strip_count), {ForRows([&](Block* row) {
                        Block own;
                        for (const Stmt& s : strips_.body) Rewritten(s, &own);
                        row->push_back(If(Expr(strips_.var) < MutateExpr(strips_.args[1]), std::move(own)));
                      })}));
    if (at_ + 1 < loop_.body.size())
      out.push_back(ForRows([&](Block* row) {
        for (size_t i = at_ + 1; i < loop_.body.size(); ++i) Rewritten(loop_.body[i], row);
      }));
    return {For(group, Expr(0), CeilDiv(Difference(end, begin), kRows), std::move(out))};
  }

  Expr MutateExpr(const Expr& e) override {
    const Expr made = Mutator::MutateExpr(e);
    if (made->op != Op::kLoad && made->op != Op::kMaskedLoad) return made;
    const auto kept = kept_.find(made->buffer().get());
    if (kept == kept_.end()) return made;
    std::vector<Expr> args = made->args;
    args.insert(args.begin(), row_);
    if (made->op == Op::kLoad) return At(made->position, Load(kept->second, std::move(args)));
    const Expr otherwise = args.back(), mask = args[args.size() - 2];
    args.resize(args.size() - 2);
    return At(made->position, MaskedLoad(kept->second, std::move(args), mask, otherwise));
  }
  void MutateStmt(const Stmt& s, Block* out) override {
    const auto kept = s->kind == StmtKind::kStore ? kept_.find(s->buffer.get()) : kept_.end();
    if (kept == kept_.end()) return Mutator::MutateStmt(s, out);
    std::vector<Expr> indices{row_};
    for (const Expr& e : s->args) indices.push_back(MutateExpr(e));
    const Expr value = indices.back();
    indices.pop_back();
    out->push_back(
        At(s->position, Store(kept->second, std::move(indices), value, s->mask ? MutateExpr(s->mask) : Expr())));
  }

 private:
  const StmtNode& loop_;
  const size_t at_;
  const StmtNode& strips_;
  Expr first_, count_, row_;
  std::unordered_map<const BufferNode*, Buffer> kept_;  // local variables, of every row
  std::unordered_map<const VarNode*, Buffer> values_;  // named ones, of every row

  static Buffer OfRows(const std::string& name, Type element, const std::vector<Expr>& shape) {
    std::vector<Expr> all{Expr(kRows)};
    all.insert(all.end(), shape.begin(), shape.end());
    return MakeBuffer(name, element, std::move(all), Scope::kLocal);
  }
  void Keep(const StmtNode& s, Block* out) {
    if (s.kind == StmtKind::kAlloc) {
      kept_[s.buffer.get()] = OfRows(s.buffer->name + "_rows", s.buffer->element, s.buffer->shape);
      out->push_back(Alloc(kept_.at(s.buffer.get())));
    } else if (s.kind == StmtKind::kLet) {
      values_[s.var.get()] = OfRows(s.var->name + "_rows", s.var->type, {});
      out->push_back(Alloc(values_.at(s.var.get())));
    }
  }

  template <class Body>
  Stmt ForRows(const Body& body) {
    const Var row = MakeVar(loop_.var->name + "_i", kI64);
    row_ = Expr(row);
    substitution_.clear();
    substitution_[loop_.var.get()] = Sum(first_, row_);
    for (const auto& [var, buffer] : values_) substitution_[var] = Load(buffer, {row_});
    Block out;
    body(&out);
    return For(row, Expr(0), count_, std::move(out));
  }
  void Rewritten(const Stmt& s, Block* out) {
    if (s->kind == StmtKind::kAlloc && kept_.count(s->buffer.get())) return;
    const auto value = s->kind == StmtKind::kLet ? values_.find(s->var.get()) : values_.end();
    if (value != values_.end()) substitution_.erase(s->var.get());
    MutateStmt(s, out);
    if (value != values_.end()) out->push_back(Store(value->second, {row_}, Expr(s->var)));
  }
};

}  // namespace

std::optional<Block> DistributeRows(const StmtNode& loop, const IsIndependent& is_independent) {
  if (loop.kind != StmtKind::kFor || loop.for_kind != ForKind::kSerial || loop.var->type != kI64) return std::nullopt;
  std::optional<Block> strips;
  size_t at = 0;
  for (size_t i = 0; i < loop.body.size(); ++i) {
    const Stmt& s = loop.body[i];
    const bool is_fine = CanDivide(s) && (s->kind != StmtKind::kAlloc || (!strips && IsSmallLocal(*s->buffer))) &&
                         (s->kind == StmtKind::kAlloc || s->kind == StmtKind::kLet || s->kind == StmtKind::kStore ||
                          s->kind == StmtKind::kFor);
    if (!is_fine) return std::nullopt;
    if (s->kind != StmtKind::kFor || is_independent(*s, &loop)) continue;
    if (strips) return std::nullopt;
    strips = DistributeLoop(
        *s, [&](const StmtNode& inner, const StmtNode* outer) { return is_independent(inner, outer ? outer : &loop); });
    if (!strips) return std::nullopt;
    at = i;
  }
  if (!strips) return std::nullopt;
  return GroupWriter(loop, at, *strips->back()).Write();
}

}  // namespace kernpack::sdk::ir
