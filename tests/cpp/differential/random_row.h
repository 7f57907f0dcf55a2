// One iteration of a random function's outer loop.
#pragma once

#include "differential/random_scope.h"

namespace ir_test {

class RandomRow {
 public:
  RandomRow(RandomScope* scope, Expr i) : s_(*scope), e_(scope->e), f_(scope->f), i_(std::move(i)) {}

  // In a loop that runs in order or in threads.
  void Write() {
    s_.Let("a", e_.Make(e_.AnyType(), 4));
    Pieces({{Feature::kGather, &RandomRow::Gather},
            {Feature::kAnyOrder, &RandomRow::AnyOrder},
            {Feature::kReduceToBound, &RandomRow::ReduceToBound},
            {Feature::kLocalOfLoop, &RandomRow::Local},
            {Feature::kWorkspaceOfLoop, &RandomRow::Workspace},
            {Feature::kBoundOfLoop, &RandomRow::BoundOfLoop},
            {Feature::kBoundOfValue, &RandomRow::BoundOfValue},
            {Feature::kCallInLoop, &RandomRow::Call},
            {Feature::kWhile, &RandomRow::While},
            {Feature::kBreak, &RandomRow::Break},
            {Feature::kContinue, &RandomRow::Continue},
            {Feature::kArg, &RandomRow::Arg}});
    StoreAll();
    Branches();
  }

  // In a vectorized loop: what vectors can say.
  void WriteFlat() {
    s_.Let("a", e_.Make(e_.AnyType(), 3));
    Pieces({{Feature::kGather, &RandomRow::Gather}});
    const auto store = [&] { f_.Store(s_.second, {i_}, s_.Value(s_.second, 4), Mask()); };
    if (e_.Below(2)) {
      f_.If(e_.Make(kBool, 2), store, [&] { f_.Store(s_.out, {i_, Expr(1)}, s_.Value(s_.out, 4)); });
    } else {
      store();
    }
    f_.Store(s_.out, {i_, Expr(e_.Below(4))}, s_.Value(s_.out, 4));
    Branches();
  }

 private:
  RandomScope& s_;
  RandomExpr& e_;
  FunctionBuilder& f_;
  const Expr i_;

  struct Piece {
    Feature feature;
    void (RandomRow::*write)();
  };

  // Those that the function has, in any order.
  void Pieces(std::vector<Piece> all) {
    for (size_t i = all.size(); i > 1; --i)
      std::swap(all[i - 1], all[static_cast<size_t>(e_.Below(static_cast<int64_t>(i)))]);
    for (const Piece& piece : all) {
      if (s_.Has(piece.feature)) (this->*piece.write)();
    }
  }

  void Gather() { s_.Let("g", e_.Gathered(e_.AnyType())); }
  void AnyOrder() { s_.Let("r", e_.ReducedInAnyOrder(e_.AnyType(), e_.Below(2) != 0)); }
  void ReduceToBound() { s_.Let("b", e_.ReducedToBound(e_.AnyType())); }
  void Arg() { s_.Let("place", e_.Placed(e_.Below(3) != 0)); }
  void Local() { e_.readable.push_back(s_.Local()); }

  // Memory of this iteration, as long as a tensor.
  void Workspace() {
    const Type t = e_.AnyType();
    // A launch has no memory whose size it computes.
    const Expr extent = s_.place == Place::kDevice || e_.Below(2) ? e_.n : e_.n * Expr(2) + Expr(1);
    const Buffer w = f_.Alloc(s_.Name("w"), t, {extent}, Scope::kWorkspace);
    const ForKind kind = e_.Below(2) ? ForKind::kSerial : ForKind::kVectorized;
    s_.Loop("q", Expr(0), extent, [&](Expr q) { f_.Store(w, {q}, e_.Make(t, 3)); }, kind, Lanes(kind));
    e_.readable.push_back(w);
  }

  void BoundOfLoop() { Accumulate(e_.OneOf(e_.bounds), true); }
  void BoundOfValue() { Accumulate(f_.Let(s_.Name("m"), e_.LoadedBound(9)), false); }

  // Loops whose ends are computed; now and then nothing is between them.
  void Accumulate(Expr bound, bool of_loops) {
    const Type t = e_.AnyType();
    if (e_.Below(4) == 0) return Vectors(t, bound);
    const Buffer sums = Sums(t);
    const auto add = [&](const Expr& v) {
      const Expr at = Binary(Op::kFloorMod, v, Expr(4));
      f_.Store(sums, {at}, e_.Joined(Load(sums, {at}), e_.Make(t, 3)), e_.Below(4) ? Expr() : e_.Make(kBool, 1));
    };
    const ForKind kind = e_.Below(4) ? ForKind::kSerial : ForKind::kUnrolled;
    const int64_t form = e_.Below(of_loops ? 4 : 3);
    if (form == 0) {
      s_.Loop("v", Expr(0), bound, add, kind);
    } else if (form == 1) {
      s_.Loop("v", bound - Expr(e_.Below(5)), Binary(Op::kMin, bound * Expr(2), Expr(9)), add, kind);
    } else {
      s_.Loop("u", Expr(0), Expr(4), [&](Expr u) {
        e_.bounds.push_back(u);
        if (form == 2) s_.Loop("v", u, bound, add, kind);
        if (form == 3) s_.Loop("v", Expr(e_.Below(2)), u + Expr(1), add, kind);
      });
    }
    e_.readable.push_back(sums);
  }
  // bound < 32
  void Vectors(Type t, const Expr& bound) {
    const Buffer wide = f_.Alloc(s_.Name("wide"), t, {Expr(32)});
    s_.Fill(wide);
    const auto store = [&](const Expr& v) { f_.Store(wide, {v}, e_.Make(t, 3)); };
    s_.Loop("v", Expr(0), Binary(Op::kMin, bound, Expr(32)), store, ForKind::kVectorized, Lanes(ForKind::kVectorized));
    e_.readable.push_back(wide);
  }

  // A few rounds, after each of which what they computed decides whether there is another.
  void While() {
    const Type t = e_.AnyType();
    const Buffer round = f_.Alloc(s_.Name("round"), kI64, {Expr(1)}), sums = Sums(t);
    f_.Store(round, {Expr(0)}, Expr(e_.Below(3)));
    const Expr rounds = Load(round, {Expr(0)});
    const Expr goes_on = rounds < Expr(2 + e_.Below(6));
    f_.While(e_.Below(2) ? goes_on : goes_on & e_.Make(kBool, 2), [&] {
      s_.Inside([&] {
        f_.Store(round, {Expr(0)}, rounds + Expr(1 + e_.Below(2)));
        if (e_.Below(3) == 0) f_.If(e_.Make(kBool, 2), [&] { e_.Below(2) ? f_.Break() : f_.Continue(); });
        Add(sums, rounds);
      });
    });
    e_.readable.push_back(sums);
  }
  void Break() {
    LeftLoop([&] { f_.Break(); });
  }
  void Continue() {
    LeftLoop([&] { f_.Continue(); });
  }
  // A loop that some rounds leave early.
  void LeftLoop(const std::function<void()>& leave) {
    const Type t = e_.AnyType();
    const Buffer sums = Sums(t);
    s_.Loop("v", Expr(e_.Below(2)), Expr(3 + e_.Below(6)), [&](Expr v) {
      if (e_.Below(2)) Add(sums, v);
      f_.If(e_.Make(kBool, 2), leave);
      Add(sums, v);
    });
    e_.readable.push_back(sums);
  }
  Buffer Sums(Type t) {
    const Buffer sums = f_.Alloc(s_.Name("sums"), t, {Expr(4)});
    s_.Fill(sums);
    return sums;
  }
  void Add(const Buffer& sums, const Expr& v) {
    const Expr at = Binary(Op::kFloorMod, v, Expr(4));
    f_.Store(sums, {at}, e_.Joined(Load(sums, {at}), e_.Make(sums->element, 3)));
  }

  void Call() {
    const Expr extent(e_.Below(3) ? 8 : 3);
    const Buffer from = f_.Alloc(s_.Name("from"), s_.callee->element, {extent});
    const Buffer to = f_.Alloc(s_.Name("to"), s_.callee->element, {extent});
    s_.Fill(from);
    s_.Fill(to);
    s_.Call(from, to);
    e_.readable.push_back(to);
  }

  void StoreAll() {
    const ForKind kinds[] = {ForKind::kSerial, ForKind::kUnrolled, ForKind::kVectorized, ForKind::kVectorized};
    const ForKind kind = kinds[e_.Below(4)];
    s_.Loop("c", Expr(0), Expr(4), [&](Expr c) { f_.Store(s_.out, {i_, c}, s_.Value(s_.out, 4)); }, kind, Lanes(kind));
    f_.Store(s_.second, {i_}, s_.Value(s_.second, 4), Mask());
  }

  // Changes some of what was stored.
  void Branches() {
    if (s_.Has(Feature::kIf)) Branch(0, false);
    if (s_.Has(Feature::kElse)) Branch(0, true);
    if (s_.Has(Feature::kNestedIf)) Branch(1 + static_cast<int>(e_.Below(2)), e_.Below(2) != 0);
  }
  void Branch(int depth, bool otherwise) {
    const auto side = [&] { s_.Inside([&] { Change(depth); }); };
    f_.If(e_.Make(kBool, 2), side, otherwise ? std::function<void()>(side) : nullptr);
  }
  void Change(int depth) {
    if (e_.Below(2)) s_.Let("d", e_.Make(e_.AnyType(), 2));
    if (!e_.widenable && e_.Below(4) == 0) Local();
    if (depth > 0) Branch(depth - 1, e_.Below(2) != 0);
    if (e_.Below(2)) {
      f_.Store(s_.out, {i_, Expr(e_.Below(4))}, s_.Value(s_.out, 3), Mask());
    } else {
      f_.Store(s_.second, {i_}, e_.Joined(Load(s_.second, {i_}), e_.Make(s_.second->element, 3)));
    }
  }

  Expr Mask() { return e_.Below(3) ? Expr() : e_.Make(kBool, 2); }
  int Lanes(ForKind kind) { return kind == ForKind::kVectorized ? 2 << e_.Below(3) : 0; }
};

}  // namespace ir_test
