#include "ir/race.h"

#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "ir/index_form.h"

namespace kernpack::sdk::ir {
namespace {

// A dimension; a dimension twice that is a remainder by a divisor; or two dimensions that are the quotient and the remainder of one
// expression by a divisor. The value is then what was divided.
using Place = std::tuple<size_t, size_t, std::map<Term, int64_t>>;
// The range of an index of an access: value + low to value + high.
struct Reach {
  Poly value;
  int64_t low = 0, high = 0;
};
struct Access {
  bool writes;
  std::map<Place, Reach> places;  // those that have a form. Empty: the whole buffer
  VarNodes assumed = {};  // what is not 0 there
};

// Buffers that a loop writes, and the `let`s that its indices of them come from.
class Written : public Visitor {
 public:
  Written(const IRModule& module, const Block& body) : module_(module) {
    VisitBlock(body);
    indices_ = true;
    VisitBlock(body);
    while (!open_.empty()) {
      const VarNode* const var = open_.back();
      open_.pop_back();
      if (const auto let = lets_.find(var); let != lets_.end()) Use(let->second);
    }
  }

  bool Has(const BufferNode* buffer) const { return buffers_.count(buffer) != 0; }
  bool IsOfAnIndex(const VarNode* var) const { return used_.count(var) != 0; }

  void VisitExpr(const Expr& e) override {
    const bool loads = e->op == Op::kLoad || e->op == Op::kMaskedLoad;
    if (indices_ && loads && Has(e->buffer().get())) Use(e);
    if (indices_ && e->op == Op::kReduce) UseAll({e->args[0], e->args[1]});
    Visitor::VisitExpr(e);
  }
  void VisitStmt(const Stmt& s) override {
    if (s->kind == StmtKind::kStore) buffers_.insert(s->buffer.get());
    if (s->kind == StmtKind::kLet) lets_[s->var.get()] = s->args[0];
    if (s->kind == StmtKind::kCall) Calls(*s);
    if (indices_ && s->kind == StmtKind::kStore) UseAll({s->args.begin(), s->args.end() - 1});
    if (indices_ && s->kind == StmtKind::kFor) UseAll(s->args);
    Visitor::VisitStmt(s);
  }

 private:
  const IRModule& module_;
  bool indices_ = false;  // the second time, when the buffers are known
  std::set<const BufferNode*> buffers_;
  std::unordered_map<const VarNode*, Expr> lets_;
  VarNodes used_;
  std::vector<const VarNode*> open_;  // whose `let` wasn't looked at

  void Use(const Expr& e) {
    if (e->op == Op::kVar && used_.insert(e->var().get()).second) open_.push_back(e->var().get());
    UseAll(e->args);
  }
  void UseAll(const std::vector<Expr>& all) {
    for (const Expr& e : all) Use(e);
  }
  void Calls(const StmtNode& s) {
    const FuncNode* callee = module_.Find(s.name);
    size_t next = 0;
    for (const Param& p : callee->params) {
      if (!p.buffer || next == s.buffers.size()) continue;
      if (p.role != Role::kInput) buffers_.insert(s.buffers[next].get());
      ++next;
    }
  }
};

class Collector : public Visitor {
 public:
  Collector(const IRModule& module, const Written& written, IndexForms* forms)
      : module_(module), written_(written), forms_(*forms) {}

  std::map<const BufferNode*, std::vector<Access>> accesses;
  std::set<const BufferNode*> inner;  // those that an iteration allocates for itself

  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kLoad || e->op == Op::kMaskedLoad) {
      Add(e->buffer().get(), false, {e->args.begin(), e->args.end() - (e->op == Op::kLoad ? 0 : 2)});
    }
    if (e->op != Op::kReduce) return Visitor::VisitExpr(e);
    VisitExpr(e->args[0]);
    VisitExpr(e->args[1]);
    const VarNodes outside = forms_.Assumed();
    forms_.Count(std::get<Reduction>(e->detail).var, e->args[0], e->args[1]);
    VisitExpr(e->args[2]);
    forms_.Assume(outside);
  }

  void VisitStmt(const Stmt& s) override {
    if (s->kind == StmtKind::kAlloc) inner.insert(s->buffer.get());
    if (s->kind == StmtKind::kStore) Add(s->buffer.get(), true, {s->args.begin(), s->args.end() - 1});
    if (s->kind == StmtKind::kCall) Calls(*s);
    const VarNodes outside = forms_.Assumed();
    if (s->kind == StmtKind::kFor) forms_.Count(s->var, s->args[0], s->args[1]);
    Visitor::VisitStmt(s);
    forms_.Assume(outside);
    if (s->kind == StmtKind::kLet) forms_.Bind(s->var, written_.IsOfAnIndex(s->var.get()) ? s->args[0] : Expr());
  }

 private:
  const IRModule& module_;
  const Written& written_;
  IndexForms& forms_;

  void Add(const BufferNode* buffer, bool writes, const std::vector<Expr>& indices) {
    if (!written_.Has(buffer)) return;  // a form may cut the loop's variable into digits that say less of other indices
    Access a{writes, {}, forms_.Assumed()};
    std::map<size_t, Poly> values;
    for (size_t d = 0; d < indices.size(); ++d) {
      const std::optional<Poly> value = forms_.Of(indices[d]);
      if (!value) continue;
      values[d] = *value;
      a.places[{d, d, {}}] = {*value};
    }
    for (const IndexForms::Pair& pair : forms_.Pairs()) {
      for (const auto& [d, rest] : values) {
        if (rest.terms() == Poly(pair.rest).terms()) a.places[{d, d, pair.divisor.terms()}] = {pair.whole};
      }
      for (const auto& [d, quotient] : values) {
        if (quotient.terms() != Poly(pair.quotient).terms()) continue;
        for (const auto& [r, rest] : values) {
          if (rest.terms() == Poly(pair.rest).terms()) a.places[{d, r, pair.divisor.terms()}] = {pair.whole};
        }
      }
    }
    accesses[buffer].push_back(std::move(a));
  }

  void Calls(const StmtNode& s) {
    const FuncNode* callee = module_.Find(s.name);
    size_t next = 0;
    for (const Param& p : callee->params) {
      if (p.buffer && next < s.buffers.size())
        accesses[s.buffers[next++].get()].push_back({p.role != Role::kInput, {}});
    }
  }
};

// Accesses that are compared with each other: equal ones once, and many that differ by constants as one that reaches over
// all of them. Nothing where there are too many.
std::optional<std::vector<Access>> Distinct(const std::vector<Access>& all, const IndexForms& forms) {
  constexpr size_t kMostExact = 32, kMost = 256;
  using Form = std::tuple<bool, VarNodes, std::map<Place, std::map<Term, int64_t>>>;
  for (const bool exact : {true, false}) {
    std::map<Form, Access> distinct;
    for (const Access& given : all) {
      Access a{given.writes, {}, given.assumed};
      Form form{given.writes, given.assumed, {}};
      for (const auto& [place, reach] : given.places) {
        const std::optional<Poly> value = forms.Resolved(reach.value);
        if (!value) continue;
        std::map<Term, int64_t> terms = value->terms();
        int64_t constant = 0;
        if (const auto found = terms.find(Term()); !exact && found != terms.end()) {
          constant = found->second;
          terms.erase(found);
        }
        a.places[place] = {Poly(terms), constant, constant};
        std::get<2>(form)[place] = std::move(terms);
      }
      const auto [known, is_new] = distinct.try_emplace(std::move(form), a);
      for (auto& [place, reach] : known->second.places) {
        reach.low = std::min(reach.low, a.places[place].low);
        reach.high = std::max(reach.high, a.places[place].high);
      }
      if (distinct.size() > (exact ? kMostExact : kMost)) break;
    }
    if (distinct.size() > (exact ? kMostExact : kMost)) continue;
    std::vector<Access> out;
    for (auto& [form, a] : distinct) out.push_back(std::move(a));
    return out;
  }
  return std::nullopt;
}

// Two accesses in two iterations. Iterations differ where a digit of the loop's variable does. One digit after another is
// shown to tell them apart in some place, whatever the digits not yet shown are; then it may be taken as equal in both.
class Comparison {
 public:
  // A race takes both: what is so at either of the two is so.
  Comparison(const Access& a, const Access& b, IndexForms* forms) : forms_(*forms) {
    VarNodes assumed = a.assumed;
    assumed.insert(b.assumed.begin(), b.assumed.end());
    forms->Assume(std::move(assumed));
    for (const auto& [place, reach] : a.places) {
      const auto other = b.places.find(place);
      if (other == b.places.end()) continue;
      const auto& [first, second, divisor] = place;
      const View view{reach, other->second};
      // Equal remainders are of equal numbers where these differ by less than the divisor.
      if (first == second && !divisor.empty() && !Differ(view, Poly(divisor))) continue;
      places_.push_back(view);
    }
  }

  bool NeverMeet() {
    VarNodes left;
    for (const VarNode* digit : forms_.Digits()) {
      if (!forms_.IsSingle(digit)) left.insert(digit);
    }
    while (!left.empty()) {
      const std::vector<View> views = Views();
      if (std::any_of(views.begin(), views.end(), [&](const View& v) { return AreApart(v); })) return true;
      const auto told = std::find_if(left.begin(), left.end(), [&](const VarNode* digit) {
        return std::any_of(views.begin(), views.end(), [&](const View& v) { return IsToldApart(v, digit); });
      });
      if (told == left.end()) return false;
      equal_.insert(*told);
      left.erase(told);
    }
    return true;
  }

 private:
  struct View {
    Reach a, b;
  };
  const IndexForms& forms_;
  std::vector<View> places_;
  VarNodes equal_;  // digits that are taken as the same in both iterations

  // The places, and what is left of them by a modulus: a counter that goes in steps of it says nothing of the rest.
  std::vector<View> Views() const {
    std::vector<View> out;
    for (const View& place : places_) {
      out.push_back(place);
      std::set<std::map<Term, int64_t>> tried;
      for (const auto& [term, c] : place.a.value.terms()) {
        Term steps;
        std::copy_if(term.begin(), term.end(), std::back_inserter(steps),
                     [&](const VarNode* v) { return !forms_.Varies(v) || equal_.count(v); });
        if (steps.size() == term.size() || (steps.empty() && (c == 1 || c == -1))) continue;
        const Poly modulus(std::map<Term, int64_t>{{steps, c < 0 ? -c : c}});
        if (!tried.insert(modulus.terms()).second) continue;
        View view = place;
        view.a.value = DivideTerms(place.a.value, modulus, false).rest;
        view.b.value = DivideTerms(place.b.value, modulus, false).rest;
        if (Differ(view, modulus)) out.push_back(std::move(view));
      }
    }
    return out;
  }

  // first + first_constant - second - second_constant
  static std::optional<Poly> Width(const std::optional<Poly>& first, int64_t first_constant,
                                   const std::optional<Poly>& second, int64_t second_constant) {
    int64_t constant = 0;
    if (!first || !second || __builtin_sub_overflow(first_constant, second_constant, &constant)) return std::nullopt;
    const std::optional<Poly> width = Poly::Add(*first, *second, -1);
    return width ? Poly::Add(*width, Poly(constant)) : std::nullopt;
  }
  bool IsLess(const std::optional<Poly>& a, const Poly& b) const {
    const std::optional<Poly> excess = a ? Poly::Add(*a, b, -1) : std::nullopt;
    return excess && forms_.IsNegative(*excess);
  }

  // By less than that, whatever the iterations.
  bool Differ(const View& v, const Poly& limit) const {
    const std::optional<Poly> low_a = forms_.Extreme(v.a.value, false, equal_),
                              low_b = forms_.Extreme(v.b.value, false, equal_);
    const std::optional<Poly> high_a = forms_.Extreme(v.a.value, true, equal_),
                              high_b = forms_.Extreme(v.b.value, true, equal_);
    return IsLess(Width(high_a, v.a.high, low_b, v.b.low), limit) &&
           IsLess(Width(high_b, v.b.high, low_a, v.a.low), limit);
  }

  // All that one reaches is below all that the other does.
  bool AreApart(const View& v) const {
    const auto below = [&](const Reach& x, const Reach& y) {
      return IsLess(Width(forms_.Extreme(x.value, true, equal_), x.high, forms_.Extreme(y.value, false, equal_), y.low),
                    Poly());
    };
    return below(v.a, v.b) || below(v.b, v.a);
  }

  // Steps of the digit are larger than what else there is.
  bool IsToldApart(const View& v, const VarNode* digit) const {
    VarNodes kept = equal_;
    kept.insert(digit);
    struct Side {
      Poly low, high;
    };
    std::optional<Poly> step;
    const auto split = [&](const Reach& reach) -> std::optional<Side> {
      Side side;
      for (const bool largest : {false, true}) {
        const std::optional<Poly> end = forms_.Extreme(reach.value, largest, kept);
        Poly coefficient;
        if (!end || !end->Split(digit, &coefficient, largest ? &side.high : &side.low)) return std::nullopt;
        if (step && step->terms() != coefficient.terms()) return std::nullopt;
        step = coefficient;
      }
      return side;
    };
    const std::optional<Side> a = split(v.a), b = split(v.b);
    if (!a || !b) return false;
    if (forms_.IsNegative(*step)) step = Poly::Add(Poly(), *step, -1);
    return step && IsLess(Width(a->high, v.a.high, b->low, v.b.low), *step) &&
           IsLess(Width(b->high, v.b.high, a->low, v.a.low), *step);
  }
};

bool AreIndependent(const std::vector<Access>& all, IndexForms* forms) {
  const std::optional<std::vector<Access>> distinct = Distinct(all, *forms);
  if (!distinct) return false;
  for (size_t i = 0; i < distinct->size(); ++i) {
    for (size_t j = 0; j <= i; ++j) {
      const Access &a = (*distinct)[i], &b = (*distinct)[j];
      if ((a.writes || b.writes) && !Comparison(a, b, forms).NeverMeet()) return false;
    }
  }
  return true;
}

}  // namespace

const BufferNode* FindRace(const IRModule& module, const StmtNode& loop, Facts* facts) {
  IndexForms forms(facts, loop);
  const Written written(module, loop.body);
  Collector collector(module, written, &forms);
  collector.VisitBlock(loop.body);
  for (const auto& [buffer, all] : collector.accesses) {
    if (collector.inner.count(buffer)) continue;
    if (std::none_of(all.begin(), all.end(), [](const Access& a) { return a.writes; })) continue;
    if (!AreIndependent(all, &forms)) return buffer;
  }
  return nullptr;
}

}  // namespace kernpack::sdk::ir
