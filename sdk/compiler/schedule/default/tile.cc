#include "schedule/default/tile.h"

#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "ir/take_in.h"
#include "pass/shared_reductions.h"
#include "schedule/arithmetic.h"
#include "schedule/default/nests.h"

namespace kernpack::sdk::ir {
namespace {

class TileWriter : public Mutator {
 public:
  TileWriter(const TileLoops& loops, const TileShape& shape, Expr first_row, Expr first_column, Expr limit)
      : loops_(loops),
        shape_(shape),
        first_row_(std::move(first_row)),
        first_column_(std::move(first_column)),
        limit_(std::move(limit)) {}

  Block Write(const Block& body) {
    Block out;
    for (const auto& [buffer, kept] : loops_.kept) {
      const Buffer tile = NewTile(buffer->name + "_tile", buffer->element, {}, &out);
      if (kept.is_read) StoreTile(tile, {}, Value(Load(buffer, kept.indices), &out), &out);
      inside_[buffer.get()] = tile;
    }
    std::vector<Known> known(body.size());
    for (size_t i = 0; i < body.size(); ++i) {
      const std::vector<SharedReduction> shared =
          FindShared(body, i, [&](size_t at, const Expr& e) { return known[at].count(e.get()) != 0; });
      if (shared.size() > 1) {
        std::vector<const ExprNode*> all;
        for (const SharedReduction& one : shared) all.push_back(one.reduction.get());
        place_ = &out;
        const std::vector<Expr> values = Reduced(all);
        place_ = nullptr;
        for (size_t k = 0; k < all.size(); ++k) known[shared[k].statement][all[k]] = values[k];
      }
      known_ = known[i];
      Statement(*body[i], &out);
      known_.clear();
    }
    for (const auto& [buffer, kept] : loops_.kept)
      StoreEach(buffer, kept.indices, Load(inside_.at(buffer.get()), WithPlace({})), {}, &out);
    return out;
  }

  // Expressions of the tile's elements: of the loops' variables, and of the place in the tile.
  Expr MutateExpr(const Expr& e) override {
    if (e->op == Op::kVar) {
      const auto let = lets_.find(e->var().get());
      return let == lets_.end() ? e : let->second;
    }
    if (e->op == Op::kReduce) {
      const auto known = known_.find(e.get());
      return known != known_.end() ? known->second : Reduced({e.get()})[0];
    }
    if (e->op != Op::kLoad && e->op != Op::kMaskedLoad) return Mutator::MutateExpr(e);
    std::vector<Expr> args = MutateAll(e->args);
    if (const auto tile = inside_.find(e->buffer().get()); tile != inside_.end()) {
      if (loops_.kept.count(e->buffer())) args.clear();
      return Load(tile->second, WithPlace(std::move(args)));
    }
    if (!limit_ || !std::any_of(args.begin(), args.end(), [&](const Expr& a) { return IsUsed(loops_.column, a); }))
      return WithArgs(e, std::move(args));
    const Expr in_range = Expr(loops_.column) < limit_;
    if (e->op == Op::kLoad)
      return At(e->position, MaskedLoad(e->buffer(), std::move(args), in_range, Const(e->type, 0)));
    args[args.size() - 2] = args[args.size() - 2] & in_range;
    return WithArgs(e, std::move(args));
  }

 private:
  const TileLoops& loops_;
  const TileShape shape_;
  const Expr first_row_, first_column_, limit_;
  const Var tile_row_ = MakeVar("r", kI64), tile_column_ = MakeVar("c", kI64);
  std::unordered_map<const BufferNode*, Buffer> inside_;  // tiles of local buffers, and of kept ones
  std::unordered_map<const VarNode*, Expr> lets_;
  Block* place_ = nullptr;  // what an expression needs goes here
  using Known = std::unordered_map<const ExprNode*, Expr>;
  Known known_;  // reductions of the statement that were computed with those of others

  Buffer NewTile(const std::string& name, Type element, std::vector<Expr> shape, Block* out) const {
    shape.emplace_back(shape_.rows);
    shape.emplace_back(shape_.columns());
    Buffer tile = MakeBuffer(name, element, std::move(shape), Scope::kLocal);
    out->push_back(Alloc(tile));
    return tile;
  }
  std::vector<Expr> WithPlace(std::vector<Expr> indices) const {
    indices.emplace_back(tile_row_);
    indices.emplace_back(tile_column_);
    return indices;
  }

  // The statement for every element, in vectors one after another.
  void ForEach(const Stmt& s, Block* out) const {
    const Var row = MakeVar("row", kI64), vector = MakeVar("vector", kI64), lane = MakeVar("lane", kI64);
    const Expr r = shape_.rows == 1 ? Expr(0) : Expr(row);
    const Expr c = shape_.vectors == 1 ? Expr(lane) : Expr(vector) * Expr(int64_t{shape_.lanes}) + Expr(lane);
    std::unordered_map<const VarNode*, Expr> values{{tile_row_.get(), r}, {tile_column_.get(), c}};
    values[loops_.column.get()] = Sum(first_column_, c);
    if (loops_.row) values[loops_.row.get()] = Sum(first_row_, r);
    Stmt loop =
        For(lane, Expr(0), Expr(int64_t{shape_.lanes}), CloneBlock({s}, values), ForKind::kVectorized, shape_.lanes);
    if (shape_.vectors > 1) loop = For(vector, Expr(0), Expr(shape_.vectors), {loop}, ForKind::kUnrolled);
    if (shape_.rows > 1) loop = For(row, Expr(0), Expr(shape_.rows), {loop}, ForKind::kUnrolled);
    out->push_back(loop);
  }
  void StoreEach(const Buffer& buffer, std::vector<Expr> indices, const Expr& value, Position position,
                 Block* out) const {
    const Expr mask = limit_ ? Expr(loops_.column) < limit_ : Expr();
    ForEach(At(position, Store(buffer, std::move(indices), value, mask)), out);
  }
  void StoreTile(const Buffer& tile, std::vector<Expr> indices, const Expr& value, Block* out) const {
    ForEach(Store(tile, WithPlace(std::move(indices)), value), out);
  }

  // Expressions are evaluated where `out` ends.
  Expr Value(const Expr& e, Block* out) {
    Block* const outer = std::exchange(place_, out);
    Expr value = MutateExpr(e);
    place_ = outer;
    return value;
  }
  std::vector<Expr> Values(const std::vector<Expr>& all, size_t count, Block* out) {
    std::vector<Expr> values;
    for (size_t i = 0; i < count; ++i) values.push_back(Value(all[i], out));
    return values;
  }

  void Statement(const StmtNode& s, Block* out) {
    if (s.kind == StmtKind::kAlloc) {
      inside_[s.buffer.get()] = NewTile(s.buffer->name, s.buffer->element, s.buffer->shape, out);
    } else if (s.kind == StmtKind::kLet) {
      const Expr value = Value(s.args[0], out);
      if (IsInteger(value->type) && !ReadsMemory(value)) {  // indices stay recognisable
        lets_[s.var.get()] = value;
        return;
      }
      const Buffer tile = NewTile(s.var->name, value->type, {}, out);
      StoreTile(tile, {}, value, out);
      lets_[s.var.get()] = Load(tile, WithPlace({}));
    } else if (s.kind == StmtKind::kFor) {
      Block inner;
      for (const Stmt& one : s.body) Statement(*one, &inner);
      out->push_back(For(s.var, s.args[0], s.args[1], std::move(inner)));
    } else {
      Stored(s, out);
    }
  }

  void Stored(const StmtNode& s, Block* out) {
    const auto tile = inside_.find(s.buffer.get());
    std::vector<Expr> indices = Values(s.args, s.args.size() - 1, out);
    if (tile == inside_.end())
      return StoreEach(s.buffer, std::move(indices), Value(s.args.back(), out), s.position, out);
    if (loops_.kept.count(s.buffer)) indices.clear();
    StoreTile(tile->second, std::move(indices), Value(s.args.back(), out), out);
  }

  // Of reductions over one range. Each partial result is computed by itself, in registers; they are joined as `lanes` does.
  std::vector<Expr> Reduced(const std::vector<const ExprNode*>& all) {
    Block* const out = place_;
    const ExprNode& range = *all[0];
    const int count = PartialResults(range);
    if (count == 1) return LoadEach(Accumulated(all, range.args[0], range.args[1], 1, out));
    const Var slot = MakeVar("slot", kI64);
    std::vector<Buffer> partials;
    for (const ExprNode* e : all) partials.push_back(NewTile("partial", e->type, {Expr(int64_t{count})}, out));
    Block turn;
    const std::vector<Expr> ones =
        LoadEach(Accumulated(all, Sum(range.args[0], Expr(slot)), range.args[1], count, &turn));
    for (size_t i = 0; i < all.size(); ++i) StoreTile(partials[i], {Expr(slot)}, ones[i], &turn);
    out->push_back(For(slot, Expr(0), Expr(int64_t{count}), std::move(turn)));
    std::vector<Buffer> joined;
    for (size_t i = 0; i < all.size(); ++i) {
      std::vector<Expr> parts;
      for (int k = 0; k < count; ++k) parts.push_back(Load(partials[i], WithPlace({Expr(int64_t{k})})));
      for (size_t half = parts.size() / 2; half; half /= 2) {
        for (size_t k = 0; k < half; ++k)
          parts[k] = Binary(std::get<Reduction>(all[i]->detail).op, parts[k], parts[k + half]);
      }
      joined.push_back(NewTile("joined", all[i]->type, {}, out));
      StoreTile(joined.back(), {}, parts[0], out);
    }
    return LoadEach(joined);
  }
  std::vector<Expr> LoadEach(const std::vector<Buffer>& tiles) const {
    std::vector<Expr> out;
    for (const Buffer& tile : tiles) out.push_back(Load(tile, WithPlace({})));
    return out;
  }

  // The values at first, first + step, ... before end, taken in one after the other.
  std::vector<Buffer> Accumulated(const std::vector<const ExprNode*>& all, const Expr& first, const Expr& end,
                                  int64_t step, Block* out) {
    std::vector<Buffer> tiles;
    for (const ExprNode* e : all) {
      tiles.push_back(NewTile("sums", e->type, {}, out));
      StoreTile(tiles.back(), {}, Const(e->type, IdentityOf(std::get<Reduction>(e->detail).op, e->type)), out);
    }
    Block turn;
    const Var var = std::get<Reduction>(all[0]->detail).var;
    Var counter = var;
    Expr begin = first, last = end;
    if (step != 1) {
      counter = MakeVar(var->name + "_step", kI64);
      turn.push_back(Let(var, Sum(first, Product(Expr(counter), Expr(step)))));
      begin = Expr(0);
      last = CeilDiv(Difference(end, first), step);
    }
    for (size_t i = 0; i < all.size(); ++i) {
      const Reduction& r = std::get<Reduction>(all[i]->detail);
      if (r.var != var) lets_[r.var.get()] = Expr(var);
      const Expr value = Value(all[i]->args[2], &turn);
      StoreTile(tiles[i], {}, TakeIn(r.op, Load(tiles[i], WithPlace({})), value), &turn);
    }
    out->push_back(For(counter, begin, last, std::move(turn)));
    return tiles;
  }
};

}  // namespace

bool ReadsMemory(const Expr& e) {
  return e->op == Op::kLoad || e->op == Op::kMaskedLoad || e->op == Op::kReduce ||
         std::any_of(e->args.begin(), e->args.end(), ReadsMemory);
}

int PartialResults(const ExprNode& reduce) {
  int lanes = std::max(std::get<Reduction>(reduce.detail).lanes, 1);
  int64_t begin = 0, end = 0;
  if (!IsConstInt(reduce.args[0], &begin) || !IsConstInt(reduce.args[1], &end)) return lanes;
  while (lanes > 1 && lanes / 2 >= end - begin) lanes /= 2;
  return lanes;
}

Block MakeTile(const TileLoops& loops, const Block& body, const TileShape& shape, const Expr& first_row,
               const Expr& first_column, const Expr& limit) {
  // Variables and buffers are bound once, and a body is written for several tiles.
  return CloneBlock(TileWriter(loops, shape, first_row, first_column, limit).Write(body), {});
}

}  // namespace kernpack::sdk::ir
