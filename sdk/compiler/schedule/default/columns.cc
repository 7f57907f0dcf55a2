// Loops whose iterations add something up, in tiles of registers: sums down columns, convolutions, products that are
// written as loops.
#include <kernpack/sdk/ir/equal.h>
#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>
#include <functional>

#include "ir/uses.h"
#include "pass/shared_reductions.h"
#include "schedule/arithmetic.h"
#include "schedule/default/nests.h"
#include "schedule/default/tile.h"

namespace kernpack::sdk::ir {
namespace {

constexpr int kMostPartials = 64;
constexpr int64_t kMiddleVectors = 4;
constexpr int64_t kMostTileBytes = 16384;  // of partial results, and of one local buffer

bool IsLocal(const Buffer& b) { return b->scope == Scope::kLocal; }

// How often the index contains the variable, if by sums alone; -1: in another way, or more than once.
int CountSteps(const Var& var, const Expr& e) {
  if (e->op == Op::kVar) return e->var() == var;
  if (!IsUsed(var, e)) return 0;
  if (e->op == Op::kSub) return CountSteps(var, e->args[1]) == 0 ? CountSteps(var, e->args[0]) : -1;
  if (e->op != Op::kAdd) return -1;
  const int a = CountSteps(var, e->args[0]), b = CountSteps(var, e->args[1]);
  return a < 0 || b < 0 || a + b > 1 ? -1 : a + b;
}

// Checks that a body has a form that a tile can run, and finds what it accesses.
class Form : public Visitor {
 public:
  Form(const Var& row, const Var& column) : row_(row), column_(column) {}

  bool is_valid = true;
  bool repeats = false;  // adds something up, over what columns make different
  int64_t partial_bytes = 0;  // per element of a tile: of what isn't in registers
  size_t accumulators = 0;
  std::map<Buffer, TileLoops::Kept> kept;

  void Read(const Block& body) {
    for (const Stmt& s : body) Statement(*s);
    std::erase_if(kept, [&](const auto& k) { return lost_.count(k.first) || !stored_.count(k.first); });
    for (const auto& [buffer, how] : kept) accumulators += repeated_accesses_.count(buffer);
    for (size_t i = 0; i < body.size(); ++i)
      accumulators = std::max(accumulators, FindShared(body, i, [](size_t, const Expr&) { return false; }).size());
  }

  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kReduce) {
      const Reduction& r = std::get<Reduction>(e->detail);
      const int count = PartialResults(*e);
      Fixed(e->args[0]);
      Fixed(e->args[1]);
      is_valid = is_valid && r.var->type == kI64 && count <= kMostPartials && !IsArg(r.op);
      if (count > 1) partial_bytes = std::max<int64_t>(partial_bytes, count * e->type.bits / 8);
      ++repeated_;
      inside_.insert(r.var.get());
      VisitExpr(e->args[2]);
      --repeated_;
      return;
    }
    const bool is_other =
        e->op == Op::kExtern || e->op == Op::kShuffle || e->op == Op::kReduceLanes || e->type.lanes != 1;
    is_valid = is_valid && !is_other;
    if (e->op == Op::kLoad || e->op == Op::kMaskedLoad)
      Access(e->buffer(), {e->args.begin(), e->args.end() - (e->op == Op::kLoad ? 0 : 2)}, false);
    Visitor::VisitExpr(e);
  }

 private:
  const Var row_, column_;
  std::set<const VarNode*> inside_;  // variables of loops and lets of the body
  std::set<Buffer> own_, lost_, stored_, repeated_accesses_;
  std::set<const VarNode*> lets_;
  int repeated_ = 0;

  // Equal in all elements of a tile.
  void Fixed(const Expr& e) {
    is_valid = is_valid && !ReadsMemory(e) && !IsUsed(column_, e) && !(row_ && IsUsed(row_, e)) && !UsesLet(e);
  }
  bool UsesLet(const Expr& e) const {
    return (e->op == Op::kVar && lets_.count(e->var().get())) ||
           std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return UsesLet(a); });
  }
  bool IsOfLoops(const Expr& e) const {
    return !(e->op == Op::kVar && inside_.count(e->var().get())) && e->op != Op::kLoad && e->op != Op::kMaskedLoad &&
           std::all_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return IsOfLoops(a); });
  }

  void Access(const Buffer& buffer, const std::vector<Expr>& indices, bool writes) {
    if (IsLocal(buffer) && own_.count(buffer)) {
      for (const Expr& i : indices) Fixed(i);
      return;
    }
    int steps = 0;
    for (size_t d = 0; d < indices.size(); ++d) {
      const int own = UsesLet(indices[d]) ? -1 : CountSteps(column_, indices[d]);
      is_valid = is_valid && own >= 0 && (own == 0 || d + 1 == indices.size());
      steps = own;
    }
    is_valid = is_valid && (!writes || steps == 1);
    repeats = repeats || (repeated_ && steps == 1);
    const bool same = std::all_of(indices.begin(), indices.end(), [&](const Expr& i) { return IsOfLoops(i); });
    const auto [known, is_new] = kept.try_emplace(buffer, TileLoops::Kept{indices, !writes});
    if (writes) stored_.insert(buffer);
    if (repeated_) repeated_accesses_.insert(buffer);
    if (!same || !std::equal(indices.begin(), indices.end(), known->second.indices.begin(), known->second.indices.end(),
                             [](const Expr& a, const Expr& b) { return Equal(a, b); }))
      lost_.insert(buffer);
    // A loop may not run.
    if (is_new && writes && repeated_) known->second.is_read = true;
  }

  void Statement(const StmtNode& s) {
    switch (s.kind) {
      case StmtKind::kLet:
        VisitExpr(s.args[0]);
        lets_.insert(s.var.get());
        inside_.insert(s.var.get());
        return;
      case StmtKind::kStore:
        is_valid = is_valid && !s.mask && !s.buffer->shape.empty();
        for (const Expr& e : s.args) VisitExpr(e);
        Access(s.buffer, {s.args.begin(), s.args.end() - 1}, true);
        return;
      case StmtKind::kAlloc: {
        int64_t size = s.buffer->element.bits / 8, extent = 0;
        for (const Expr& e : s.buffer->shape) {
          is_valid = is_valid && IsConstInt(e, &extent) && extent <= kMostPartials;
          size *= extent;
        }
        is_valid = is_valid && IsLocal(s.buffer) && size > 0 && size <= kMostPartials * 8;
        own_.insert(s.buffer);
        ++accumulators;
        partial_bytes = std::max(partial_bytes, size);
        return;
      }
      case StmtKind::kFor:
        is_valid = is_valid && s.for_kind == ForKind::kSerial;
        Fixed(s.args[0]);
        Fixed(s.args[1]);
        inside_.insert(s.var.get());
        ++repeated_;
        for (const Stmt& one : s.body) Statement(*one);
        --repeated_;
        return;
      default:
        is_valid = false;
    }
  }
};

// The loops over columns of a body, each the innermost of its nest, as one loop around the whole body. Null where there
// is a statement outside them, or they count differently.
class Columns {
 public:
  Stmt Of(const Block& body) {
    Block inner;
    for (const Stmt& s : body) {
      const std::optional<Block> one = Without(*s);
      if (!one) return nullptr;
      inner.insert(inner.end(), one->begin(), one->end());
    }
    return begin_ ? For(column_, begin_, end_, CloneBlock(inner, {})) : nullptr;
  }

 private:
  const Var column_ = MakeVar("column", kI64);
  Expr begin_, end_;

  std::optional<Block> Without(const StmtNode& s) {
    if (s.kind != StmtKind::kFor || s.for_kind != ForKind::kSerial || s.body.empty()) return std::nullopt;
    if (s.body.back()->kind != StmtKind::kFor) {
      if (s.var->type != kI64 || (begin_ && (!Equal(begin_, s.args[0]) || !Equal(end_, s.args[1]))))
        return std::nullopt;
      begin_ = s.args[0];
      end_ = s.args[1];
      return CloneBlock(s.body, {{s.var.get(), Expr(column_)}});
    }
    Block inner;
    for (const Stmt& one : s.body) {
      const std::optional<Block> part = Without(*one);
      if (!part) return std::nullopt;
      inner.insert(inner.end(), part->begin(), part->end());
    }
    if (begin_ && (IsUsed(s.var, begin_) || IsUsed(s.var, end_))) return std::nullopt;
    return Block{For(s.var, s.args[0], s.args[1], std::move(inner))};
  }
};

class StripWriter {
 public:
  StripWriter(TileLoops loops, const Block& body, const TileShape& shape, bool in_parallel)
      : loops_(std::move(loops)), body_(body), shape_(shape), in_parallel_(in_parallel) {}

  Block Write(const StmtNode* rows, const StmtNode& columns) const {
    if (!rows) return Strips(1, Expr(), columns, !in_parallel_);
    const Expr &begin = rows->args[0], &end = rows->args[1];
    const Var tile = MakeVar(rows->var->name + "_o", kI64), row = MakeVar(rows->var->name, kI64);
    const Expr first = Sum(begin, Product(Expr(tile), Expr(shape_.rows)));
    const Expr past = Sum(first, Expr(shape_.rows));
    const Stmt rest = For(row, first, Smaller(past, end), Strips(1, Expr(row), columns, false));
    const Stmt tiles = For(tile, Expr(0), CeilDiv(Difference(end, begin), shape_.rows),
                           {If(past <= end, Strips(shape_.rows, first, columns, false), {rest})},
                           in_parallel_ ? ForKind::kSerial : ForKind::kParallel, in_parallel_ ? 0 : 1);
    return {tiles};
  }

 private:
  const TileLoops loops_;
  const Block& body_;
  const TileShape shape_;
  const bool in_parallel_;

  Block Strips(int64_t rows, const Expr& first_row, const StmtNode& columns, bool in_parallel) const {
    const Expr &begin = columns.args[0], &end = columns.args[1];
    const Var strip = MakeVar(columns.var->name + "_o", kI64);
    const TileShape whole{rows, shape_.vectors, shape_.lanes}, narrow{rows, 1, shape_.lanes};
    const Expr first = Sum(begin, Product(Expr(strip), Expr(whole.columns())));
    const auto in_parts = [&](const Var& part, const Expr& from, int64_t count, const TileShape& shape,
                              const std::function<Block(const Expr& at)>& tile) {
      const Expr at = Sum(from, Product(Expr(part), Expr(shape.columns())));
      return For(part, Expr(0), Expr(count), {If(at < end, tile(at))});
    };
    const auto one_by_one = [&](const std::string& name, const Expr& from, int64_t count) {
      return in_parts(MakeVar(columns.var->name + name, kI64), from, count, narrow,
                      [&](const Expr& at) { return MakeTile(loops_, body_, narrow, first_row, at, end); });
    };
    // A wide tile that isn't whole is cut into some of four vectors before it is cut into single ones.
    const TileShape middle{rows, kMiddleVectors, shape_.lanes};
    const bool has_middle = whole.vectors > kMiddleVectors && whole.vectors % kMiddleVectors == 0;
    const Stmt rest = !has_middle ? one_by_one("_i", first, whole.vectors)
                                  : in_parts(MakeVar(columns.var->name + "_m", kI64), first,
                                             whole.vectors / kMiddleVectors, middle, [&](const Expr& at) {
                                               return Block{If(Sum(at, Expr(middle.columns())) <= end,
                                                               MakeTile(loops_, body_, middle, first_row, at, Expr()),
                                                               {one_by_one("_i", at, kMiddleVectors)})};
                                             });
    return {For(strip, Expr(0), CeilDiv(Difference(end, begin), whole.columns()),
                {If(Sum(first, Expr(whole.columns())) <= end, MakeTile(loops_, body_, whole, first_row, first, Expr()),
                    {rest})},
                in_parallel ? ForKind::kParallel : ForKind::kSerial, in_parallel ? 1 : 0)};
  }
};

std::optional<Block> MakeTiles(const StmtNode* rows, const StmtNode& columns, bool in_parallel,
                               const Processor& machine) {
  const Block& body = columns.body;
  Form form(rows ? rows->var : nullptr, columns.var);
  form.Read(body);
  if (!form.is_valid || !form.repeats || columns.var->type != kI64 || (rows && rows->var->type != kI64))
    return std::nullopt;
  const int lanes = machine.Lanes(WidestBits(body));
  // As many accumulators as leave registers for operands.
  const int64_t registers = machine.vector_bytes == 64 ? 24 : 12;
  TileShape shape{1, machine.vector_bytes == 64 ? 16 : 8, lanes};
  if (rows) shape.vectors = machine.vector_bytes == 64 ? 4 : 2;
  const int64_t each = std::max<int64_t>(form.accumulators, 1);
  if (rows)
    shape.rows = std::max<int64_t>(registers / shape.vectors / each, 1);
  else
    shape.vectors = std::max<int64_t>(shape.vectors / each, 1);
  const auto bytes = [&] { return form.partial_bytes * shape.rows * shape.columns(); };
  while (shape.rows > 1 && bytes() > kMostTileBytes) --shape.rows;
  while (shape.vectors > 1 && bytes() > kMostTileBytes) shape.vectors /= 2;
  TileLoops loops{rows ? rows->var : nullptr, columns.var, form.kept};
  return StripWriter(std::move(loops), body, shape, in_parallel).Write(rows, columns);
}

// With the loop as rows and the loops inside it, each the innermost, as columns.
std::optional<Block> RowsAndColumns(const StmtNode& loop, const IsIndependent& is_independent, bool in_parallel,
                                    const Processor& machine) {
  const Stmt columns = Columns().Of(loop.body);
  if (!columns || IsUsed(loop.var, columns->args[0]) || IsUsed(loop.var, columns->args[1])) return std::nullopt;
  if (!is_independent(*columns, &loop)) return std::nullopt;
  return MakeTiles(&loop, *columns, in_parallel, machine);
}

}  // namespace

std::optional<Block> ScheduleColumns(const StmtNode& loop, const IsIndependent& is_independent, bool in_parallel,
                                     const Processor& machine) {
  if (machine.kind != Processor::kCpu || loop.kind != StmtKind::kFor || loop.for_kind != ForKind::kSerial ||
      loop.body.empty())
    return std::nullopt;
  if (!is_independent(loop, nullptr)) {  // it adds up, for all columns of the loops inside
    const Stmt columns = Columns().Of({std::make_shared<const StmtNode>(loop)});
    if (!columns || !is_independent(*columns, nullptr)) return std::nullopt;
    return MakeTiles(nullptr, *columns, in_parallel, machine);
  }
  // Rows are the innermost loop that can be: of neighbours in memory, and with all of a column's work inside.
  const StmtNode& inner = *loop.body[0];
  if (loop.body.size() == 1 && inner.kind == StmtKind::kFor && is_independent(inner, &loop) &&
      RowsAndColumns(inner, is_independent, true, machine))
    return std::nullopt;
  if (std::optional<Block> tiles = RowsAndColumns(loop, is_independent, in_parallel, machine)) return tiles;
  return MakeTiles(nullptr, loop, in_parallel, machine);
}

}  // namespace kernpack::sdk::ir
