#include "schedule/default/matmul.h"

#include <algorithm>

#include "schedule/default/classes.h"
#include "schedule/default/words.h"

namespace kernpack::sdk::ir {
namespace {

// Fewer rows than this are not worth packing the other matrix for.
constexpr int64_t kFewRows = 4;
constexpr int64_t kBlockColumns = 64;

// A load whose indices are axes, as it is or cast.
const ExprNode* PlainLoad(const Expr& e) {
  const Expr& load = e->op == Op::kCast ? e->args[0] : e;
  if (load->op != Op::kLoad) return nullptr;
  const bool plain = std::all_of(load->args.begin(), load->args.end(), [](const Expr& i) { return i->op == Op::kVar; });
  return plain ? load.get() : nullptr;
}

// The dimension that the variable indexes; -1 when none does.
int FindDim(const ExprNode& load, const Var& var) {
  for (size_t d = 0; d < load.args.size(); ++d) {
    if (load.args[d]->var() == var) return static_cast<int>(d);
  }
  return -1;
}

// The columns of a stage in vectors, one after another without a loop.
void UnrollVectors(Schedule* s, const std::string& stage, const std::string& column, const std::string& around,
                   int lanes, Tail tail) {
  const auto [vector, lane] = s->Split(stage, column, lanes);
  if (!around.empty()) s->Reorder(stage, {around, vector, lane});
  s->Unroll(stage, vector);
  s->Vectorize(stage, lane, lanes, tail);
}

// The stages of a product, by classes or not, and their places in the loops of what is stored.
class Stages {
 public:
  Stages(const Matmul& m, const std::optional<Panels>& panels)
      : m_(m),
        classes_(m.lanes ? std::optional(ByClasses(m, panels)) : std::nullopt),
        schedule(classes_ ? classes_->lifted.program : m.lifted.program),
        local(classes_ ? schedule.CacheWrite(classes_->sums) : SumsApart(&schedule, m)),
        sum(classes_ ? classes_->step : m.sum) {
    if (!panels) return;
    if (m.sums_at) {
      right = m.right;
      left = m.left;
      return;
    }
    right = classes_ ? classes_->right : schedule.Pack(m.right, local, m.right_dim, panels->columns);
    left = classes_ ? classes_->left : schedule.Pack(m.left, local, m.left_dim, panels->rows);
  }

  // Sums are computed at this axis of what is stored.
  void ComputeAt(const std::string& axis, int lanes, Tail tail) {
    const std::string& out = m_.lifted.stage().name;
    if (!classes_) return schedule.ComputeAt(local, out, axis);
    schedule.ComputeAt(classes_->joined, out, axis);
    schedule.ComputeAt(classes_->members, out, axis);
    schedule.ComputeAt(classes_->sums, classes_->members, classes_->group);
    schedule.ComputeAt(local, classes_->sums, classes_->member);
    for (const std::string& stage : {classes_->joined, classes_->members})
      schedule.Vectorize(stage, m_.column, lanes, tail);
    // From the registers that hold them.
    if (!m_.row.empty()) schedule.Unroll(classes_->sums, m_.row);
    UnrollVectors(&schedule, classes_->sums, m_.column, "", lanes, tail);
  }

 private:
  const Matmul& m_;
  const std::optional<InClasses> classes_;

 public:
  Schedule schedule;
  const std::string local;  // the stage that adds up
  const std::string sum;  // its axis
  std::string left, right;  // packed operands
};

// Columns in vectors that stay in registers, one row after another; the right matrix as it is.
Schedule RowSchedule(const Matmul& m, const Processor& machine) {
  const std::string& out = m.lifted.stage().name;
  const int lanes = machine.Lanes(m.sums().body->type.bits);
  const int64_t columns = lanes * (machine.vector_bytes == 64 ? 16 : 8);
  Stages stages(m, std::nullopt);
  Schedule& s = stages.schedule;
  const auto [outer, inner] = s.Split(out, m.column, columns);
  if (!m.row.empty()) s.Reorder(out, {outer, m.row});
  stages.ComputeAt(m.row.empty() ? outer : m.row, lanes, machine.tail);
  s.Vectorize(out, inner, lanes, machine.tail);
  UnrollVectors(&s, stages.local, m.column, stages.sum, lanes, machine.tail);
  s.Parallel(out, s.Axes(out)[0]);
  return std::move(s);
}

// The sums of what is next to each other: of columns of the right operand, or of its rows.
void SumUp(Schedule* s, const Matmul& m, int lanes) {
  std::vector<std::string> axes = s->Axes(m.excess);  // that of the sum is the last one
  if (m.right_is_transposed) {
    s->Vectorize(m.excess, axes.back(), lanes * 4);
    s->Parallel(m.excess, axes[0]);
    return;
  }
  std::swap(axes[axes.size() - 2], axes.back());
  s->Reorder(m.excess, axes);
  s->Vectorize(m.excess, axes.back(), lanes);
  if (axes.size() > 2) s->Parallel(m.excess, axes[0]);
}

Schedule TileSchedule(const Matmul& matmul, const Processor& machine) {
  const int lanes = machine.Lanes(matmul.sums().body->type.bits);
  // Two vectors wide, and as many rows as leave registers for both operands.
  const int64_t rows = machine.vector_bytes == 64 ? 12 : 6, columns = 2 * lanes;
  // Panels of the right matrix that stay in a cache while those of the left one pass.
  const int64_t block = std::max<int64_t>(kBlockColumns, columns);
  const Panels panels{rows, block};
  const Matmul m = InWords(matmul, panels, machine).value_or(matmul);
  const std::string& out = m.lifted.stage().name;
  Stages stages(m, panels);
  Schedule& s = stages.schedule;
  s.Parallel(stages.right, "panel");
  s.Parallel(stages.left, "panel");
  if (!m.right_is_transposed) s.Vectorize(stages.right, "lane", lanes);
  if (!m.excess.empty()) SumUp(&s, m, lanes);

  const auto [row_tile, row] = s.Split(out, m.row, rows, Tail::kMasked);  // a test per row; the sums are of whole tiles
  const auto [column_block, in_block] = s.Split(out, m.column, block);
  const auto [column_tile, column] = s.Split(out, in_block, columns);
  s.Reorder(out, {column_block, row_tile, column_tile, row, column});
  // Tiles of all blocks are one loop: blocks alone would be too few to share, and the last one is narrow.
  std::string tiles = s.Axes(out)[0];
  while (s.Axes(out)[1] != column_tile) tiles = s.Fuse(out, tiles, s.Axes(out)[1]);
  stages.ComputeAt(column_tile, lanes, Tail::kPeeled);
  s.Vectorize(out, column, lanes);
  s.Parallel(out, tiles);

  s.Reorder(stages.local, {stages.sum, m.row, m.column});
  s.Unroll(stages.local, m.row);
  UnrollVectors(&s, stages.local, m.column, "", lanes, Tail::kPeeled);
  return std::move(s);
}

std::optional<Matmul> MatchSums(const Lifted& lifted) {
  const Stage& stage = lifted.program.stages.front();
  const bool sum = stage.combine && stage.combine->op == Op::kAdd && stage.reduced.size() == 1;
  if (!sum || stage.body->op != Op::kMul || stage.spatial.empty()) return std::nullopt;
  const Var k = stage.reduced[0].var, j = stage.spatial.back().var;
  for (const bool swapped : {false, true}) {
    const ExprNode* left = PlainLoad(stage.body->args[swapped]);
    const ExprNode* right = PlainLoad(stage.body->args[!swapped]);
    if (!left || !right || left->buffer() == right->buffer()) continue;
    if (FindDim(*left, j) >= 0 || FindDim(*right, j) < 0 || FindDim(*left, k) < 0 || FindDim(*right, k) < 0) continue;
    Matmul m;
    m.lifted = lifted;
    m.column = j->name;
    m.sum = k->name;
    m.left = left->buffer()->name;
    m.right = right->buffer()->name;
    m.right_dim = FindDim(*right, j);
    m.right_is_transposed = m.right_dim + 1 != static_cast<int>(right->args.size());
    m.lanes = IsInteger(stage.body->type) ? 0 : stage.combine->lanes;
    if (stage.spatial.size() > 1) {
      const StageAxis& i = stage.spatial[stage.spatial.size() - 2];
      if (FindDim(*left, i.var) >= 0 && FindDim(*right, i.var) < 0) {
        m.row = i.var->name;
        m.rows = i.extent;
        m.left_dim = FindDim(*left, i.var);
      }
    }
    if (m.row.empty() && m.right_is_transposed) continue;
    // Classes cut these dimensions, each by itself.
    if (m.lanes && (TimesUsed(*left, k) > 1 || TimesUsed(*right, k) > 1 || TimesUsed(*right, j) > 1)) continue;
    if (m.lanes && !m.row.empty() && TimesUsed(*left, stage.spatial[stage.spatial.size() - 2].var) > 1) continue;
    return m;
  }
  return std::nullopt;
}

}  // namespace

long TimesUsed(const ExprNode& load, const Var& var) {
  return std::count_if(load.args.begin(), load.args.end(), [&](const Expr& i) { return i->var() == var; });
}

std::optional<Matmul> MatchMatmul(const Surroundings& around, const Stmt& nest) {
  const std::optional<Lifted> lifted = LiftNest(around, nest, true);
  if (!lifted) return std::nullopt;
  if (lifted->stage().combine) return MatchSums(*lifted);
  const std::optional<Lifted> apart = WithoutReduce(*lifted);
  return apart ? MatchSums(*apart) : std::nullopt;
}

std::string SumsApart(Schedule* schedule, const Matmul& matmul) {
  const bool apart = matmul.lifted.program.stages.size() > matmul.sums_at + 1;
  return apart ? matmul.sums().name : schedule->CacheWrite(matmul.lifted.stage().name);
}

Block ScheduleMatmul(const Matmul& matmul, const Processor& machine) {
  const auto by_row = [&] { return LowerNest(matmul.lifted, RowSchedule(matmul, machine)); };
  int64_t rows = 0;
  if (matmul.row.empty() || (IsConstInt(matmul.rows, &rows) && rows < kFewRows && !matmul.right_is_transposed))
    return by_row();
  Block tiles = LowerNest(matmul.lifted, TileSchedule(matmul, machine));
  if (IsConstInt(matmul.rows, &rows) || matmul.right_is_transposed) return tiles;
  return {If(matmul.rows < Expr(kFewRows), by_row(), std::move(tiles))};
}

}  // namespace kernpack::sdk::ir
