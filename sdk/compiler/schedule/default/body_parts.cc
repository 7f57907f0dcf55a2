#include "schedule/default/body_parts.h"

#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>
#include <map>
#include <set>

#include "pass/widen.h"

namespace kernpack::sdk::ir {
namespace {

constexpr size_t kMostStatements = 40;

bool IsVariable(const BufferNode& b) {
  int64_t extent = 0;
  return b.scope == Scope::kLocal && std::all_of(b.shape.begin(), b.shape.end(),
                                                 [&](const Expr& e) { return IsConstInt(e, &extent) && extent == 1; });
}

// The buffers and variables of a statement, with all that is inside it.
class Footprint : public Visitor {
 public:
  explicit Footprint(const Stmt& s) { VisitStmt(s); }

  std::set<const BufferNode*> reads, writes, own;
  std::set<const VarNode*> uses;
  bool is_valid = true;

  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kVar) uses.insert(e->var().get());
    if (e->op == Op::kLoad || e->op == Op::kMaskedLoad) reads.insert(e->buffer().get());
    Visitor::VisitExpr(e);
  }
  void VisitStmt(const Stmt& s) override {
    switch (s->kind) {
      case StmtKind::kStore:
        writes.insert(s->buffer.get());
        break;
      case StmtKind::kAlloc:
        own.insert(s->buffer.get());
        break;
      case StmtKind::kLet:
      case StmtKind::kFor:
      case StmtKind::kIf:
      case StmtKind::kWhile:
      case StmtKind::kBreak:
      case StmtKind::kContinue:
        break;
      default:
        is_valid = false;
    }
    Visitor::VisitStmt(s);
  }

  bool Conflicts(const Footprint& other) const {
    const auto touched = [](const Footprint& f, const BufferNode* b) { return f.reads.count(b) || f.writes.count(b); };
    return std::any_of(writes.begin(), writes.end(), [&](const BufferNode* b) { return touched(other, b); }) ||
           std::any_of(other.writes.begin(), other.writes.end(),
                       [&](const BufferNode* b) { return touched(*this, b); });
  }
};

class LocalNamer : public Mutator {
 public:
  explicit LocalNamer(const Block& body) {
    std::set<const BufferNode*> inside;
    for (const Stmt& s : body) {
      const Footprint footprint(s);
      std::set<const BufferNode*>& all = s->kind == StmtKind::kStore && !s->mask ? named_ : inside;
      all.insert(footprint.writes.begin(), footprint.writes.end());
      inside.insert(footprint.own.begin(), footprint.own.end());
    }
    std::erase_if(named_, [&](const BufferNode* b) { return inside.count(b) || !IsVariable(*b); });
  }

  Block Write(const Block& body) {
    Block out;
    for (const Stmt& s : body) {
      out_ = &out;
      if (s->kind != StmtKind::kStore || !named_.count(s->buffer.get())) {
        MutateStmt(s, &out);
        continue;
      }
      std::vector<Expr> indices = s->args;
      Expr value = MutateExpr(indices.back());
      indices.pop_back();
      if (value->op != Op::kVar && value->op != Op::kConst) value = Named(s->buffer->name, value);
      values_[s->buffer.get()] = value;
      out.push_back(At(s->position, Store(s->buffer, std::move(indices), value)));
    }
    return out;
  }

  Expr MutateExpr(const Expr& e) override {
    if (e->op != Op::kLoad || !named_.count(e->buffer().get())) return Mutator::MutateExpr(e);
    Expr& value = values_[e->buffer().get()];
    if (!value) value = Named(e->buffer()->name, e);
    return value;
  }

 private:
  std::set<const BufferNode*> named_;
  std::map<const BufferNode*, Expr> values_;
  Block* out_ = nullptr;  // names go to its end

  Expr Named(const std::string& name, const Expr& value) const {
    const Var var = MakeVar(name, value->type);
    out_->push_back(Let(var, value));
    return Expr(var);
  }
};

class Dependences {
 public:
  Dependences(const StmtNode& loop, const Block& body, const IsIndependent& is_independent)
      : loop_(loop), body_(body), is_independent_(is_independent) {
    for (const Stmt& s : body) footprints_.emplace_back(s);
  }

  bool AreKnown() const {
    return body_.size() <= kMostStatements &&
           std::all_of(footprints_.begin(), footprints_.end(),
                       [](const Footprint& f) { return f.is_valid && f.own.empty(); });
  }

  // Which statements wait for which, directly or not.
  void Find(bool asked) {
    const size_t n = body_.size();
    before_.assign(n, std::vector<bool>(n, false));
    for (size_t i = 0; i < n; ++i) {
      before_[i][i] = !footprints_[i].writes.empty() && !AreIndependent(i, i);
      for (size_t j = i + 1; j < n; ++j) {
        const bool uses = body_[i]->kind == StmtKind::kLet && footprints_[j].uses.count(body_[i]->var.get());
        const bool conflicts = footprints_[i].Conflicts(footprints_[j]);
        before_[i][j] = uses || conflicts || (asked && i == 0);
        before_[j][i] = conflicts && !AreIndependent(i, j);
      }
    }
    for (size_t k = 0; k < n; ++k) {
      for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < n; ++j) before_[i][j] = before_[i][j] || (before_[i][k] && before_[k][j]);
      }
    }
  }

  // Statements that wait for each other are one part. Parts for vectors that can be next to each other are one, too.
  std::vector<BodyPart> Divide() const {
    const size_t n = body_.size();
    std::vector<bool> done(n, false);
    std::vector<BodyPart> parts;
    while (std::find(done.begin(), done.end(), false) != done.end()) {
      std::optional<BodyPart> next;
      for (size_t i = 0; i < n; ++i) {
        if (done[i]) continue;
        BodyPart part = PartWith(i);
        if (!IsReady(part, done)) continue;
        const bool joins = part.is_vector && !parts.empty() && parts.back().is_vector;
        if (!next || joins) next = part;
        if (joins) break;
      }
      for (const size_t i : next->statements) done[i] = true;
      if (next->is_vector && !parts.empty() && parts.back().is_vector) {
        std::vector<size_t>& all = parts.back().statements;
        all.insert(all.end(), next->statements.begin(), next->statements.end());
      } else {
        parts.push_back(std::move(*next));
      }
    }
    return parts;
  }

 private:
  const StmtNode& loop_;
  const Block& body_;
  const IsIndependent& is_independent_;
  std::vector<Footprint> footprints_;
  std::vector<std::vector<bool>> before_;

  // In different iterations, with the names that both may use.
  bool AreIndependent(size_t i, size_t j) const {
    Block both;
    for (size_t s = 0; s < body_.size(); ++s) {
      if (s == i || s == j || body_[s]->kind == StmtKind::kLet) both.push_back(body_[s]);
    }
    return is_independent_(*For(loop_.var, loop_.args[0], loop_.args[1], std::move(both)), nullptr);
  }

  BodyPart PartWith(size_t i) const {
    BodyPart part;
    for (size_t j = 0; j < body_.size(); ++j) {
      if (i == j || (before_[i][j] && before_[j][i])) part.statements.push_back(j);
    }
    part.is_vector = !before_[i][i] && CanWiden(Block{body_[i]});
    return part;
  }

  bool IsReady(const BodyPart& part, const std::vector<bool>& done) const {
    const auto& own = part.statements;
    for (size_t i = 0; i < body_.size(); ++i) {
      if (done[i] || std::find(own.begin(), own.end(), i) != own.end()) continue;
      if (std::any_of(own.begin(), own.end(), [&](size_t j) { return before_[i][j]; })) return false;
    }
    return true;
  }
};

}  // namespace

bool CanDivide(const Stmt& s) { return Footprint(s).is_valid; }

Block NameLocalValues(const Block& body) { return LocalNamer(body).Write(body); }

std::optional<std::vector<BodyPart>> DivideBody(const StmtNode& loop, const Block& body, bool asked,
                                                const IsIndependent& is_independent) {
  Dependences dependences(loop, body, is_independent);
  if (!dependences.AreKnown()) return std::nullopt;
  dependences.Find(asked);
  return dependences.Divide();
}

}  // namespace kernpack::sdk::ir
