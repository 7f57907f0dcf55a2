// Which elements of a stage are needed where it is computed, and what its indices can be.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_REGION_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_REGION_H_

#include "ir/polynomial.h"
#include "schedule/state.h"

namespace kernpack::sdk::ir {

// A range of one dimension. Both of what is fixed where the stage is computed.
struct Interval {
  Poly low, size;
  bool is_whole;  // from 0 to the extent of the dimension
};
using Region = std::vector<Interval>;

class Regions {
 public:
  explicit Regions(const ScheduleState& state);

  const Region& Of(const StageState& s) const { return regions_.at(&s); }
  // The polynomial of an extent; one that is not one (a quotient) becomes a variable, the same for equal extents.
  Poly ExtentPoly(const Expr& extent);
  Expr ToExpr(const Poly& p) const;
  // So that ToExpr can name it.
  void Know(const Var& var) { Name(var.get(), Expr(var)); }
  bool Knows(const VarNode* var) const { return vars_.count(var) != 0; }
  // The value of an axis within what is computed, of the variables of loops, and of axes that were fused.
  Poly AxisPoly(const StageState& s, size_t axis) const;
  // The most iterations that the axis can have.
  Poly GetUpperBound(const StageState& s, size_t axis);
  // Variables that are not negative, and nothing else.
  const Facts& Base() const { return base_; }
  // Of the loop of an axis.
  Facts::Range GetRange(const StageState& s, size_t axis);

 private:
  const ScheduleState& state_;
  Facts base_;
  std::set<const VarNode*> of_function_;  // those that have a value everywhere
  struct Named {
    Expr value;
    size_t order;  // of naming: sums are written in it
  };
  std::unordered_map<const VarNode*, Named> vars_;
  std::vector<std::pair<Expr, Var>> atoms_;
  std::unordered_map<const StageState*, Region> regions_;

  void Name(const VarNode* var, Expr value) { vars_.try_emplace(var, Named{std::move(value), vars_.size()}); }
  Region Whole(const StageState& s);
  Region Needed(const StageState& s);
};

// True if these loops contain all loops of the axis's parts.
bool IsCovered(const StageState& s, size_t axis, const std::vector<size_t>& leaves);
// Of the relation that split or fused the axis; null when it is a loop.
const Relation* FindParts(const StageState& s, size_t axis);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_REGION_H_
