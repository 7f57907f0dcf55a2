// Random functions of the IR that verify: the same seed gives the same function.
#pragma once

#include "differential/random_expr.h"

namespace ir_test {

class RandomFunction {
 public:
  explicit RandomFunction(uint64_t seed) : e_(seed * 0x9e3779b97f4a7c15u + 1), f_("fn" + std::to_string(seed)) {
    helper_name_ = "h" + std::to_string(seed);
  }

  // The function, and a private one that it may call.
  std::vector<PrimFunc> Make() {
    const Expr n = f_.Dim(e_.Below(2) ? "N..." : "N");
    e_.n = n;
    const Type element = e_.AnyType();
    e_.readable.push_back(f_.Input("x0", element, {n}));
    for (int64_t i = 1; i <= e_.Below(3); ++i) {
      const std::string name = "x" + std::to_string(i);
      e_.readable.push_back(e_.Below(2) ? f_.Input(name, Stored(), {n, Expr(4)}) : f_.InOut(name, Stored(), {n}));
    }
    for (int64_t i = 0; i < e_.Below(3); ++i) e_.scalars.push_back(f_.Scalar("k" + std::to_string(i), e_.AnyType()));
    const Buffer out = f_.Result("o", Stored(), {n, Expr(4)}), second = f_.Result("p", e_.AnyType(), {n});
    std::vector<PrimFunc> made;
    if (e_.Below(4) == 0) made.push_back(Helper(element));
    if (!made.empty()) Called(element, n);
    // What an iteration changes, others must not read.
    std::erase_if(e_.readable,
                  [](const Buffer& b) { return b->shape.size() == 1 && b->name != "x0" && b->name != "t"; });
    Rows(out, second, n);
    made.push_back(f_.Finish());
    return made;
  }

 private:
  RandomExpr e_;
  FunctionBuilder f_;
  std::string helper_name_;

  // An element type: storage types too.
  Type Stored() {
    static const std::vector<Type> storage = [] {
      std::vector<Type> all;
      for (const char* name : {"f16", "bf16", "f8_e4m3fn", "f8_e5m2"}) TypeFromName(name, &all.emplace_back());
      return all;
    }();
    return e_.Below(4) == 0 ? e_.OneOf(storage) : e_.AnyType();
  }

  PrimFunc Helper(Type element) {
    FunctionBuilder h(helper_name_);
    h.Private();
    const Expr m = h.Dim("M");
    const Buffer x = h.Input("x", element, {m}), y = h.Result("y", element, {m});
    RandomExpr inner(static_cast<uint64_t>(e_.Below(1 << 30)));
    inner.readable = {x};
    inner.n = m;
    h.For("i", Expr(0), m, [&](Expr i) {
      inner.scalars = {i};
      h.Store(y, {i}, inner.Make(element, 3));
    });
    return h.Finish();
  }
  void Called(Type element, const Expr& n) {
    const Buffer t = f_.Alloc("t", element, {n}, e_.Below(2) ? Scope::kLocal : Scope::kWorkspace);
    f_.Add(Call(helper_name_, {}, {e_.readable[0], t}));
    e_.readable.push_back(t);
  }

  // One loop over everything, and inside it what one row needs.
  void Rows(const Buffer& out, const Buffer& second, const Expr& n) {
    const ForKind kinds[] = {ForKind::kSerial, ForKind::kParallel, ForKind::kVectorized};
    const ForKind kind = kinds[e_.Below(3)];
    f_.For(
        "i", Expr(0), n,
        [&](Expr i) {
          const auto scalars = e_.scalars.size(), readable = e_.readable.size();
          e_.scalars.push_back(i);
          if (kind == ForKind::kVectorized) {
            e_.widenable = e_.Below(8) != 0;
            Flat(out, second, i);
            e_.widenable = false;
          } else {
            Row(out, second, i);
          }
          e_.scalars.resize(scalars);
          e_.readable.resize(readable);
        },
        kind, kind == ForKind::kVectorized ? 2 << e_.Below(3) : 0, e_.Below(2) ? Tail::kPeeled : Tail::kMasked);
  }

  // What vectors can say.
  void Flat(const Buffer& out, const Buffer& second, const Expr& i) {
    e_.scalars.push_back(f_.Let("a", e_.Make(e_.AnyType(), 3)));
    const auto store = [&] { f_.Store(second, {i}, Value(second), e_.Below(3) ? Expr() : e_.Make(kBool, 2)); };
    if (e_.Below(2)) {
      f_.If(e_.Make(kBool, 2), store, [&] { f_.Store(out, {i, Expr(1)}, Value(out)); });
    } else {
      store();
    }
    f_.Store(out, {i, Expr(e_.Below(4))}, Value(out));
  }

  Expr Value(const Buffer& to) {
    const Type t = to->element;
    return IsStorage(t) ? Cast(t, e_.Make(kF32, 3)) : e_.Make(t, 4);
  }

  void Row(const Buffer& out, const Buffer& second, const Expr& i) {
    e_.scalars.push_back(f_.Let("a", e_.Make(e_.AnyType(), 4)));
    if (e_.Below(2)) Scratch();
    const ForKind kinds[] = {ForKind::kSerial, ForKind::kUnrolled, ForKind::kVectorized, ForKind::kVectorized};
    const ForKind kind = kinds[e_.Below(4)];
    f_.For(
        "j", Expr(0), Expr(4),
        [&](Expr j) {
          e_.scalars.push_back(j);
          f_.Store(out, {i, j}, Value(out));
          e_.scalars.pop_back();
        },
        kind, kind == ForKind::kVectorized ? 2 << e_.Below(3) : 0, e_.Below(2) ? Tail::kPeeled : Tail::kMasked);
    f_.If(
        e_.Make(kBool, 3), [&] { f_.Store(second, {i}, Value(second)); },
        [&] {
          if (e_.Below(2)) f_.Store(second, {i}, e_.Make(second->element, 2), e_.Make(kBool, 2));
        });
  }

  // A local buffer, written as a whole vector or in a loop, then read like any other.
  void Scratch() {
    const Type t = e_.AnyType();
    const Buffer s = f_.Alloc("s", t, {Expr(8)});
    if (e_.Below(2)) {
      f_.Store(s, {Ramp(Expr(0), Expr(1), 8)}, e_.Make(WithLanes(t, 8), 3));
    } else {
      f_.For("k", Expr(0), Expr(8), [&](Expr k) {
        e_.scalars.push_back(k);
        f_.Store(s, {k}, e_.Make(t, 3));
        e_.scalars.pop_back();
      });
    }
    e_.readable.push_back(s);
  }
};

}  // namespace ir_test
