// Vectors are split into parts that fit into registers of so many bytes. Here of 16:
// Before:
//   func f(x: f32[8]) -> (o: f32[8]) {
//     o[ramp(0, 1, 8)] = x[ramp(0, 1, 8)] * broadcast(2.0, 8)
//   }
// After:
//   func f(x: f32[8]) -> (o: f32[8]) {
//     let part: f32x4 = x[ramp(0, 1, 4)] * broadcast(2.0, 4)
//     let part_1: f32x4 = x[ramp(4, 1, 4)] * broadcast(2.0, 4)
//     o[ramp(0, 1, 4)] = part
//     o[ramp(4, 1, 4)] = part_1
//   }
#include <kernpack/sdk/ir/pass.h>

#include <algorithm>

#include "ir/uses.h"
#include "pass/each.h"

namespace kernpack::sdk::ir {
namespace {

// A wide vector is its parts, of `width` lanes each, in order.
using Parts = std::vector<Expr>;

class VectorSplitter : public Hoister {
 public:
  explicit VectorSplitter(int width) : width_(width) {}

  void MutateStmt(const Stmt& s, Block* out) override {
    const bool stores = s->kind == StmtKind::kStore, evaluates = s->kind == StmtKind::kEvaluate;
    if (s->args.empty() || !IsWide(s->args.back()) || !(stores || evaluates || s->kind == StmtKind::kLet))
      return Hoister::MutateStmt(s, out);
    Block made;
    if (stores) {
      StoreParts(*s, &made);
    } else {
      for (const Expr& part : Split(s->args[0])) made.push_back(evaluates ? Evaluate(part) : LetPart(s->var, part));
    }
    for (Stmt& hoisted : TakeBefore()) out->push_back(std::move(hoisted));
    for (Stmt& one : made) out->push_back(s->position.line ? At(s->position, one) : std::move(one));
  }

  Expr MutateExpr(const Expr& e) override {
    if (e->op == Op::kShuffle && (IsWide(e->args[0]) || IsWide(e->args[1])))
      return Choose(Sources(e), std::get<std::vector<int>>(e->detail));
    if (e->op != Op::kReduceLanes || !IsWide(e->args[0])) return Hoister::MutateExpr(e);
    // Halves are joined lane by lane: as whole parts first.
    Parts parts = Split(e->args[0]);
    const Op op = std::get<Op>(e->detail);
    for (size_t half = parts.size() / 2; half > 0; half /= 2) {
      for (size_t i = 0; i < half; ++i) parts[i] = Binary(op, parts[i], parts[i + half]);
    }
    return ReduceLanes(op, parts[0]);
  }

 private:
  const int width_;
  std::unordered_map<const VarNode*, Parts> parts_;  // of variables that are bound

  bool IsWide(const Expr& e) const { return e->type.lanes > width_; }

  Stmt LetPart(const Var& var, const Expr& value) {
    Parts& parts = parts_[var.get()];
    const Var part = MakeVar(var->name + "_" + std::to_string(parts.size()), value->type);
    parts.push_back(Expr(part));
    return Let(part, value);
  }

  // Every part is computed before the first is stored, where a later one might read it.
  void StoreParts(const StmtNode& s, Block* out) {
    const std::vector<Expr> indices(s.args.begin(), s.args.end() - 1);
    Parts values = Split(s.args.back()), masks = s.mask ? Split(s.mask) : Parts(values.size());
    const std::vector<std::vector<Expr>> at = SplitIndices(indices, values.size());
    for (Expr& value : values) value = Bind("part", value);
    for (Expr& mask : masks) mask = mask ? Bind("mask", mask) : mask;
    for (size_t i = 0; i < values.size(); ++i)
      out->push_back(Store(MutateBuffer(s.buffer), at[i], values[i], masks[i]));
  }

  // The value, evaluated once whatever number of parts use it.
  Expr Once(const Expr& scalar) { return Bind("scalar", MutateExpr(scalar)); }

  Parts Split(const Expr& e) {
    const int lanes = e->type.lanes;
    if (lanes <= width_) return {MutateExpr(e)};
    const auto count = static_cast<size_t>(lanes / width_);
    switch (e->op) {
      case Op::kVar:
        return parts_.at(e->var().get());
      case Op::kBroadcast:
        return Parts(count, Broadcast(Once(e->args[0]), width_));
      case Op::kRamp:
        return SplitRamp(Once(e->args[0]), Once(e->args[1]), count);
      case Op::kShuffle:
        return SplitShuffle(e);
      case Op::kLoad:
      case Op::kMaskedLoad:
        return SplitLoad(e, count);
      default:
        return SplitOperation(e, count);
    }
  }

  Parts SplitRamp(const Expr& base, const Expr& stride, size_t count) const {
    Parts parts{Ramp(base, stride, width_)};
    while (parts.size() < count) {
      const auto lane = static_cast<int64_t>(parts.size()) * width_;
      parts.push_back(Ramp(Ahead(base, stride, lane), stride, width_));
    }
    return parts;
  }

  // base + lane * stride, a constant where it can be one: places of registers are told by constants.
  static Expr Ahead(const Expr& base, const Expr& stride, int64_t lane) {
    int64_t first = 0, step = 0, distance = 0;
    if (!IsConstInt(stride, &step) || __builtin_mul_overflow(step, lane, &distance))
      return base + stride * ConstInt(base->type, lane);
    if (IsConstInt(base, &first) && !__builtin_add_overflow(first, distance, &first))
      return ConstInt(base->type, first);
    return base + ConstInt(base->type, distance);
  }

  // For each part its indices.
  std::vector<std::vector<Expr>> SplitIndices(const std::vector<Expr>& indices, size_t count) {
    std::vector<std::vector<Expr>> out(count);
    for (const Expr& index : indices) {
      const Parts parts = IsWide(index) ? Split(index) : Parts(count, Once(index));
      for (size_t i = 0; i < count; ++i) out[i].push_back(parts[i]);
    }
    return out;
  }

  Parts SplitLoad(const Expr& e, size_t count) {
    const bool masked = e->op == Op::kMaskedLoad;
    const std::vector<Expr> indices(e->args.begin(), e->args.end() - (masked ? 2 : 0));
    const Buffer buffer = MutateBuffer(e->buffer());
    Parts parts;
    for (std::vector<Expr>& at : SplitIndices(indices, count)) parts.push_back(Load(buffer, std::move(at)));
    if (!masked) return parts;
    const Parts masks = Split(e->args[indices.size()]), others = Split(e->args.back());
    for (size_t i = 0; i < count; ++i) parts[i] = MaskedLoad(buffer, parts[i]->args, masks[i], others[i]);
    return parts;
  }

  Parts SplitOperation(const Expr& e, size_t count) {
    std::vector<std::vector<Expr>> args(count);
    for (const Expr& a : e->args) {
      const Parts parts = Split(a);
      for (size_t i = 0; i < count; ++i) args[i].push_back(parts[i]);
    }
    Parts parts;
    for (std::vector<Expr>& own : args) parts.push_back(WithArgs(e, std::move(own)));
    return parts;
  }

  Parts SplitShuffle(const Expr& e) {
    const Parts sources = Sources(e);
    const std::vector<int>& chosen = std::get<std::vector<int>>(e->detail);
    Parts parts;
    for (auto at = chosen.begin(); at != chosen.end(); at += width_)
      parts.push_back(Choose(sources, std::vector<int>(at, at + width_)));
    return parts;
  }

  Parts Sources(const Expr& shuffle) {
    Parts sources;
    for (const Expr& operand : shuffle->args) {
      for (const Expr& part : Split(operand)) sources.push_back(Bind("source", part));
    }
    return sources;
  }

  // Lanes of all sources, as they stand one behind another; `width` of them at most. They are gathered source by source.
  static Expr Choose(const Parts& sources, const std::vector<int>& lanes) {
    Expr result;
    int first_lane = 0;
    for (const Expr& source : sources) {
      const int end_lane = first_lane + source->type.lanes;
      const auto is_own = [&](int lane) { return lane >= first_lane && lane < end_lane; };
      if (std::any_of(lanes.begin(), lanes.end(), is_own)) {
        const Expr so_far = result ? result : source;
        std::vector<int> picked;
        for (size_t i = 0; i < lanes.size(); ++i) {
          // A lane that is in place stays; a lane of a later source is arbitrary until then.
          const int kept = result ? static_cast<int>(i) : 0;
          picked.push_back(is_own(lanes[i]) ? so_far->type.lanes + lanes[i] - first_lane : kept);
        }
        result = Shuffle(so_far, source, std::move(picked));
      }
      first_lane = end_lane;
    }
    return result;
  }
};

}  // namespace

IRModule SplitVectors(const IRModule& module, int bytes) {
  IRModule out = module;
  for (PrimFunc& f : out.functions) f = WithBody(*f, VectorSplitter(CountLanes(f->body, bytes)).MutateBlock(f->body));
  return out;
}

}  // namespace kernpack::sdk::ir
