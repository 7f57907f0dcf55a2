// Random functions of the IR that verify: the same seed gives the same function.
#pragma once

#include "differential/random_row.h"

namespace ir_test {

class RandomFunction {
 public:
  explicit RandomFunction(uint64_t seed, Place place = Place::kHost)
      : s_(seed * 0x9e3779b97f4a7c15u + 1, "fn" + std::to_string(seed), place), suffix_(std::to_string(seed)) {}

  // The function, after those that it calls.
  std::vector<PrimFunc> Make() {
    Draw();
    const Expr n = f_.Dim(e_.Below(2) ? "N..." : "N");
    e_.n = n;
    const Type element = e_.AnyType();
    const Buffer first = f_.Input("x0", element, {n});
    e_.readable.push_back(first);
    std::vector<Buffer> changed;  // what an iteration changes, others must not read
    for (int64_t i = 1; i <= e_.Below(3); ++i) {
      const std::string name = "x" + std::to_string(i);
      if (e_.Below(2))
        e_.readable.push_back(f_.Input(name, Stored(), {n, Expr(4)}));
      else
        changed.push_back(f_.InOut(name, Stored(), {n}));
    }
    for (int64_t i = 0; i < e_.Below(3); ++i) e_.scalars.push_back(f_.Scalar("k" + std::to_string(i), e_.AnyType()));
    s_.out = f_.Result("o", Stored(), {n, Expr(4)});
    s_.second = f_.Result("p", e_.AnyType(), {n});
    if (s_.Has(Feature::kCall) || s_.Has(Feature::kCallInLoop)) Callees(element);
    if (e_.Below(16) == 0) OnHost([&] { f_.Add(Return()); });
    if (s_.Has(Feature::kCall)) Called(first);
    if (s_.Has(Feature::kLocalOfFunction)) Local();
    if (s_.Has(Feature::kWorkspaceOfFunction)) Workspace();
    for (const Buffer& b : changed) Change(b);
    if (s_.Has(Feature::kIf) && e_.Below(8) == 0) {
      OnHost([&] { Rows(); });
    } else {
      Rows();
    }
    made_.push_back(f_.Finish());
    return made_;
  }

 private:
  RandomScope s_;
  RandomExpr& e_ = s_.e;
  FunctionBuilder& f_ = s_.f;
  const std::string suffix_;
  bool flat_ = false;
  std::vector<PrimFunc> made_;

  // Twice the share: not every form of the outer loop has a place for every feature.
  void Draw() {
    flat_ = e_.Below(4) == 0;
    for (const Share& share : kShares)
      s_.features.set(static_cast<size_t>(share.feature), e_.In(2 * share.Percent(s_.place)));
    if (flat_) {
      for (const Feature f : {Feature::kCallInLoop, Feature::kLaunch}) s_.features.reset(static_cast<size_t>(f));
    }
    // A launch has no workspaces inside, and no calls. What needs another feature is drawn where that is.
    if (s_.Has(Feature::kWorkspaceOfLoop)) s_.features.reset(static_cast<size_t>(Feature::kLaunch));
    s_.features.set(static_cast<size_t>(Feature::kCallOfCall), e_.In(30));
    s_.features.set(static_cast<size_t>(Feature::kShared), e_.Below(2) != 0);
    // Memory of a thread that all of a device's function uses makes one thread of it, which cannot call or wait.
    if (s_.place == Place::kDevice && s_.Has(Feature::kLocalOfFunction)) {
      for (const Feature f : {Feature::kCall, Feature::kShared}) s_.features.reset(static_cast<size_t>(f));
    }
    if (s_.Has(Feature::kGather)) e_.gathers = 30;
  }

  // An element type: storage types too.
  Type Stored() {
    static const std::vector<Type> storage = [] {
      std::vector<Type> all;
      for (const char* name : {"f16", "bf16", "f8_e4m3fn", "f8_e5m2"}) TypeFromName(name, &all.emplace_back());
      return all;
    }();
    return e_.Below(4) == 0 ? e_.OneOf(storage) : e_.AnyType();
  }

  // A statement that runs only where scalars say so, without a reduction, which is a loop over memory.
  template <class Body>
  void OnHost(const Body& body) {
    Expr condition;
    e_.widenable = true;
    s_.WithoutMemory([&] { condition = e_.Make(kBool, 2); });
    e_.widenable = false;
    f_.If(condition, body);
  }

  // One function, or two of which the second calls the first.
  void Callees(Type element) {
    const bool chain = s_.Has(Feature::kCallOfCall);
    if (chain) made_.push_back(Helper("g" + suffix_, element, nullptr));
    const std::optional<Callee> inner = s_.callee;
    made_.push_back(Helper("h" + suffix_, element, inner ? &*inner : nullptr));
  }
  PrimFunc Helper(const std::string& name, Type element, const Callee* calls) {
    RandomScope h(static_cast<uint64_t>(e_.Below(1 << 30)), name, s_.place);
    const Callee made{name, element, e_.AnyType(), e_.Below(3) == 0};
    if (e_.Below(4)) h.f.Private();
    const Expr m = h.f.Dim("M");
    h.e.n = m;
    const Buffer x = made.in_place ? h.f.InOut("x", element, {m}) : h.f.Input("x", element, {m});
    const Expr k = h.f.Scalar("k", made.scalar);
    const Buffer y = made.in_place ? x : h.f.Result("y", element, {m});
    h.e.scalars.push_back(k);
    std::vector<Buffer> read = {x};
    if (calls) {
      const Buffer t = h.f.Alloc("t", element, {m}, e_.Below(2) ? Scope::kLocal : Scope::kWorkspace);
      h.Loop("c", Expr(0), m, [&](Expr c) { h.f.Store(t, {c}, Load(x, {c})); });
      h.callee = *calls;
      h.Call(x, t);
      read.push_back(t);
    }
    // A tensor that it changes is read in place only.
    if (made.in_place) read.erase(read.begin());
    h.e.readable = read;
    const ForKind kind = AnyKind();
    h.Loop(
        "i", Expr(0), m,
        [&](Expr i) {
          if (made.in_place) h.Let("own", Load(x, {i}));
          h.f.Store(y, {i}, h.e.Make(element, 3));
        },
        kind, Lanes(kind));
    s_.callee = made;
    return h.f.Finish();
  }

  void Called(const Buffer& first) {
    const Scope scope = e_.Below(2) ? Scope::kLocal : Scope::kWorkspace;
    const Buffer t = f_.Alloc("t", first->element, {e_.n}, scope);
    const ForKind kind = AnyKind();
    s_.Loop("z", Expr(0), e_.n, [&](Expr z) { f_.Store(t, {z}, Load(first, {z})); }, kind, Lanes(kind));
    s_.WithoutMemory([&] { s_.Call(first, t); });
    e_.readable.push_back(t);
  }

  // Of constant size, for all iterations.
  void Local() {
    Buffer s;
    s_.WithoutMemory([&] { s = s_.Local(); });
    if (e_.Below(2)) f_.If(e_.n > Expr(0), [&] { s_.Inside([&] { s_.Fill(s); }); });
    e_.readable.push_back(s);
  }

  void Workspace() {
    const Type t = e_.AnyType();
    const bool matrix = e_.Below(2) != 0;
    const std::vector<Expr> shape = matrix ? std::vector<Expr>{e_.n, Expr(4)} : std::vector<Expr>{e_.n * Expr(2)};
    const Buffer w = f_.Alloc("w", t, shape, Scope::kWorkspace);
    const ForKind kind = matrix && e_.Below(2) ? ForKind::kParallel : AnyKind();
    s_.Loop(
        "y", Expr(0), e_.n,
        [&](Expr y) {
          for (int64_t part = 0; part < (matrix ? 4 : 2); ++part) {
            const std::vector<Expr> at = matrix ? std::vector{y, Expr(part)} : std::vector{y * Expr(2) + Expr(part)};
            f_.Store(w, at, e_.Make(t, 2));
          }
        },
        kind, Lanes(kind));
    e_.readable.push_back(w);
  }

  // A tensor that the caller gave, element by element.
  void Change(const Buffer& b) {
    const ForKind kind = AnyKind();
    s_.Loop(
        "e", Expr(0), e_.n,
        [&](Expr x) {
          const Expr own = Load(b, {x});
          s_.Let("own", IsStorage(b->element) ? Cast(kF32, own) : own);
          f_.Store(b, {x}, s_.Value(b, 3));
        },
        kind, Lanes(kind));
  }

  // One loop over everything, and inside it what one row needs.
  void Rows() {
    if (s_.Has(Feature::kLaunch)) return LaunchRows();
    const ForKind kind = flat_ ? ForKind::kVectorized : e_.Below(2) ? ForKind::kSerial : ForKind::kParallel;
    s_.Loop(
        "i", Expr(0), e_.n,
        [&](Expr i) {
          e_.bounds.push_back(i);
          RandomRow row(&s_, i);
          if (!flat_) return row.Write();
          e_.widenable = e_.Below(8) != 0;
          row.WriteFlat();
          e_.widenable = false;
        },
        kind, Lanes(kind));
  }

  // A thread a row.
  void LaunchRows() {
    const int64_t block = int64_t{1} << e_.Below(4);
    const Expr one(1);
    f_.Launch({Binary(Op::kFloorDiv, e_.n + Expr(block - 1), Expr(block)), one, one}, {Expr(block), one, one}, [&] {
      s_.Inside([&] {
        const Expr i = s_.Let("i", Cast(kI64, BlockIndex(0)) * Expr(block) + Cast(kI64, ThreadIndex(0)));
        e_.bounds.push_back(i);
        if (s_.Has(Feature::kShared)) Shared(block);
        f_.If(i < e_.n, [&] { RandomRow(&s_, i).Write(); });
      });
    });
  }
  // An element of each thread, for all of the block.
  void Shared(int64_t block) {
    const Buffer shared = f_.Alloc("shared_", e_.AnyType(), {Expr(block)}, Scope::kShared);
    f_.Store(shared, {ThreadIndex(0)}, e_.Make(shared->element, 3));
    f_.Add(Barrier());
    e_.readable.push_back(shared);
  }

  ForKind AnyKind() {
    const ForKind kinds[] = {ForKind::kSerial, ForKind::kParallel, ForKind::kVectorized};
    return kinds[e_.Below(3)];
  }
  int Lanes(ForKind kind) { return kind == ForKind::kVectorized ? 2 << e_.Below(3) : 0; }
};

}  // namespace ir_test
