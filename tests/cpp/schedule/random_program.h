// Random stage programs, and random primitives to schedule them by.
#pragma once

#include "schedule/support.h"

namespace schedule_test {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(static_cast<std::mt19937::result_type>(seed)) {}
  int Below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  template <class T>
  const T& Of(const std::vector<T>& all) {
    return all[static_cast<size_t>(Below(static_cast<int>(all.size())))];
  }

 private:
  std::mt19937 engine_;
};

// Two to four stages over an input [N, D]: elementwise, with a select, gathered, shifted by one with zeros past the ends,
// a product, a window, and joined along rows or along both axes. Reads of earlier stages are drawn, too.
class RandomProgram {
 public:
  explicit RandomProgram(Random* random)
      : random_(*random),
        type_(random->Of<Type>({kF32, kI32, kF32, kI32, kF64, kI64})),
        p_("f"),
        n_(p_.Dim("N")),
        d_(p_.Dim("D")) {}

  std::vector<std::string> stages;

  StageProgram Make() {
    matrices_.push_back(p_.Input("x", type_, {n_, d_}));
    index_ = p_.Input("at", kI32, {n_});
    weights_ = p_.Input("w", type_, {d_, d_});
    const int count = 2 + random_.Below(3);
    for (int s = 0; s < count; ++s) {
      stages.push_back("s" + std::to_string(s));
      if (s + 1 < count && random_.Below(3) == 0)
        columns_.push_back(Column(stages.back()));
      else
        matrices_.push_back(Matrix(stages.back()));
    }
    p_.Result(matrices_.size() > 1 ? matrices_.back() : columns_.back());
    if (!columns_.empty() && matrices_.size() > 1 && random_.Below(4) == 0) p_.Result(columns_.back());
    return p_.Finish();
  }

 private:
  using Axes = StageBuilder::Axes;
  Random& random_;
  const Type type_;
  StageBuilder p_;
  const Expr n_, d_;
  Buffer index_, weights_;
  std::vector<Buffer> matrices_, columns_;

  Expr Number(int64_t value) const { return ConstInt(type_, value); }
  Op Joined() { return random_.Of<Op>({Op::kAdd, Op::kAdd, Op::kMax, Op::kMin}); }
  int Order() { return random_.Of<int>({0, 0, 4, 8}); }

  // [N]
  Buffer Column(const std::string& name) {
    const Buffer from = random_.Of(matrices_), other = random_.Of(matrices_);
    if (random_.Below(3) == 0) {
      return p_.Reduce(name, Joined(), Order(), {n_}, {d_, Expr(3)}, [&](const Axes& i, const Axes& r) {
        return Load(from, {i[0], r[0]}) * Cast(type_, r[1]) - Load(other, {i[0], r[0]});
      });
    }
    return p_.Reduce(name, Joined(), Order(), {n_}, {d_}, [&](const Axes& i, const Axes& r) {
      return Load(from, {i[0], r[0]}) - Load(other, {i[0], r[0]}) * Number(2);
    });
  }

  // [N, D]
  Buffer Matrix(const std::string& name) {
    const Buffer from = random_.Of(matrices_), other = random_.Of(matrices_);
    const int form = random_.Below(7);
    if (form == 0) {
      return p_.Reduce(name, Joined(), Order(), {n_, d_}, {Expr(2), Expr(3)},
                       [&](const Axes& i, const Axes& r) {  // a window, zero past the ends
                         const Expr row = i[0] + r[0], column = i[1] + r[1] - Expr(1);
                         const Expr mask = (row < n_) & (column >= Expr(0)) & (column < d_);
                         return MaskedLoad(from, {row, column}, mask, Number(0));
                       });
    }
    if (form == 1) {
      return p_.Reduce(name, Op::kAdd, Order(), {n_, d_}, {d_}, [&](const Axes& i, const Axes& r) {
        return Load(from, {i[0], r[0]}) * Load(weights_, {r[0], i[1]});
      });
    }
    return p_.Compute(name, {n_, d_}, [&](const Axes& i) {
      Expr value = Load(from, i) * Number(3);
      if (form == 2) {  // a row that is chosen by memory
        const Expr row = Binary(Op::kFloorMod, Cast(kI64, Load(index_, {i[0]})), n_);
        value = value - Load(other, {row, i[1]});
      } else if (form == 3) {
        const Expr before = i[1] - Expr(1);
        value = value + MaskedLoad(other, {i[0], before}, before >= Expr(0), Number(1));
      } else if (form == 4) {
        value = Select(Load(other, i) < Number(random_.Below(9)), value, Load(other, i) + Cast(type_, i[0] - i[1]));
      }
      return columns_.empty() ? value : value + Load(columns_.back(), {i[0]});
    });
  }
};

// A primitive that may or may not be legal. `device`: bindings, too.
inline Primitive RandomPrimitive(Random* random, const Schedule& s, const std::vector<std::string>& stages,
                                 bool device = false) {
  const std::string stage = random->Of(stages), other = random->Of(stages);
  const std::vector<std::string> axes = s.Axes(stage);
  const std::string axis = random->Of(axes), another = random->Of(axes);
  const std::string tail = random->Below(2) ? "peeled" : "masked";
  switch (random->Below(device ? 13 : 11)) {
    case 0:
    case 1:
      return {"split", {stage, axis, std::to_string(1 + random->Below(5)), tail}};
    case 2:
      return {"fuse", {stage, axis, another}};
    case 3:
    case 4:
      return {"reorder", {stage, axis, another}};
    case 5:
      return {"parallel", {stage, axes[0]}};
    case 6:
      return {"vectorize", {stage, axes.back(), random->Below(2) ? "4" : "8", tail}};
    case 7:
      return {"unroll", {stage, axis}};
    case 8:
      return {"compute_at", {stage, other, random->Of(s.Axes(other))}};
    case 9:
      return random->Below(2) ? Primitive{"cache_write", {stage}} : Primitive{"cache_read", {other, stage}};
    case 10:
      return {"pack", {random->Below(2) ? "x" : other, stage, std::to_string(random->Below(2)), "4"}};
    default:
      return {"bind", {stage, axis, random->Below(2) ? "block.x" : "thread.x"}};
  }
}

// Applies what is legal of some random primitives; gives how many were. A refusal that isn't a ValueError is a mistake.
inline int ApplyRandom(Random* random, int count, std::vector<std::string> stages, Schedule* s, bool device = false) {
  int applied = 0;
  for (int i = 0; i < count; ++i) {
    const Primitive p = RandomPrimitive(random, *s, stages, device);
    try {
      s->Apply(p);
      ++applied;
    } catch (const kernpack::Error& e) {
      if (std::string(e.kind().data, e.kind().size) == "ValueError") continue;
      throw std::runtime_error(p.name + " is refused by another error than a ValueError: " + e.what());
    }
    // The copies are stages, too.
    if (p.name == "cache_write") stages.push_back(p.args[0] + "_local");
    if (p.name == "cache_read") stages.push_back(p.args[0] + "_cache");
    if (p.name == "pack") stages.push_back(p.args[0] + "_pack");
  }
  return applied;
}

}  // namespace schedule_test
