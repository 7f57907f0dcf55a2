#include "ir/uniform.h"

#include <algorithm>

namespace kernpack::sdk::ir {

bool HoldsBarrier(const StmtNode& s) {
  const auto holds = [](const Stmt& inner) { return HoldsBarrier(*inner); };
  return s.kind == StmtKind::kBarrier || std::any_of(s.body.begin(), s.body.end(), holds) ||
         std::any_of(s.otherwise.begin(), s.otherwise.end(), holds);
}

Uniform::Uniform(const StmtNode& launch) {
  for (size_t d = 0; d < 3; ++d) {
    if (!IsConstInt(launch.args[3 + d], &threads_[d])) threads_[d] = 0;
  }
  // An earlier statement reads a stored value in the next iteration of a loop.
  do {
    changed_ = false;
    Visit(launch.body, "");
  } while (changed_);
}

void Uniform::Note(std::string* known, const std::string& cause) {
  if (cause.empty() || !known->empty()) return;
  *known = cause;
  changed_ = true;
}

void Uniform::Visit(const Block& block, const std::string& control) {
  for (const Stmt& s : block) {
    std::string inner = control;
    if (s->kind == StmtKind::kLet) {
      lets_[s->var.get()] = s->args[0];
      Note(&vars_[s->var.get()], Cause(s->args[0]));
    }
    if (s->kind == StmtKind::kFor) {
      Note(&vars_[s->var.get()], Cause(s->args[0]));
      if (inner.empty()) inner = Cause(s->args[1]);
    }
    if ((s->kind == StmtKind::kIf || s->kind == StmtKind::kWhile) && inner.empty()) inner = Cause(s->args[0]);
    if ((s->kind == StmtKind::kFor || s->kind == StmtKind::kWhile) && inner.empty()) inner = CauseOfLeaving(s->body);
    if (s->kind == StmtKind::kStore && s->buffer->scope != Scope::kShared && s->buffer->scope != Scope::kGlobal) {
      std::string& own = own_[s->buffer.get()];
      for (const Expr& e : s->args) Note(&own, Cause(e));
      if (s->mask) Note(&own, Cause(s->mask));
      Note(&own, control);
    }
    Visit(s->body, inner);
    Visit(s->otherwise, inner);
  }
}

// Of the conditions under which a loop's body leaves the loop or the round: how far a thread gets.
std::string Uniform::CauseOfLeaving(const Block& body) const {
  for (const Stmt& s : body) {
    if (s->kind != StmtKind::kIf || (!LeavesLoop(s->body) && !LeavesLoop(s->otherwise))) continue;
    for (const std::string& cause : {Cause(s->args[0]), CauseOfLeaving(s->body), CauseOfLeaving(s->otherwise)}) {
      if (!cause.empty()) return cause;
    }
  }
  return "";
}

std::string Uniform::Cause(const Expr& e) const {
  if (e->op == Op::kThreadIndex) {
    return threads_[e->bits()] == 1 ? "" : std::string("thread.") + "xyz"[e->bits()];
  }
  if (e->op == Op::kVar) {
    const auto found = vars_.find(e->var().get());
    return found == vars_.end() ? "" : found->second;
  }
  if (e->op == Op::kLoad || e->op == Op::kMaskedLoad) {
    const auto found = own_.find(e->buffer().get());
    if (found != own_.end() && !found->second.empty()) return found->second;
  }
  for (const Expr& a : e->args) {
    if (std::string cause = Cause(a); !cause.empty()) return cause;
  }
  return "";
}

bool Uniform::GetRange(const Expr& e, Range* out) const {
  constexpr int64_t kMost = int64_t{1} << 30;  // products of two do not overflow
  int64_t value = 0;
  if (IsConstInt(e, &value)) {
    *out = {value, value};
    return value > -kMost && value < kMost;
  }
  if (e->op == Op::kThreadIndex) {
    *out = {0, threads_[e->bits()] - 1};
    return threads_[e->bits()] > 0;
  }
  if (e->op == Op::kVar) {
    const auto let = lets_.find(e->var().get());
    return let != lets_.end() && GetRange(let->second, out);
  }
  if (e->op == Op::kCast && IsInteger(e->args[0]->type) && e->type.bits >= 32) return GetRange(e->args[0], out);
  if (e->op != Op::kAdd && e->op != Op::kSub && e->op != Op::kMul) return false;
  Range a{}, b{};
  if (!GetRange(e->args[0], &a) || !GetRange(e->args[1], &b)) return false;
  if (e->op == Op::kAdd) *out = {a.low + b.low, a.high + b.high};
  if (e->op == Op::kSub) *out = {a.low - b.high, a.high - b.low};
  if (e->op == Op::kMul) {
    const auto [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    *out = {low, high};
  }
  return out->low > -kMost && out->high < kMost;
}

bool Uniform::IsDecided(const Expr& condition) const {
  if (condition->op == Op::kVar) {
    const auto let = lets_.find(condition->var().get());
    return let != lets_.end() && IsDecided(let->second);
  }
  if (ClassOf(condition->op) != OpClass::Compare || !IsInteger(condition->args[0]->type)) return false;
  Range a{}, b{};
  if (!GetRange(condition->args[0], &a) || !GetRange(condition->args[1], &b)) return false;
  switch (condition->op) {
    case Op::kLt:
    case Op::kGe:
      return a.high < b.low || a.low >= b.high;
    case Op::kLe:
    case Op::kGt:
      return a.high <= b.low || a.low > b.high;
    default:
      return a.high < b.low || b.high < a.low;
  }
}

}  // namespace kernpack::sdk::ir
